//! What a provider of speech is, and which one the settings mean.

use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use hermes_core::gate::Probe;
use hermes_core::keys::Keys;
use serde_json::Value;

use super::providers::PROVIDERS;
use crate::media::service::Asking;

/// Somebody who speaks.
#[derive(Clone, Copy)]
pub(crate) struct Provider {
    name: &'static str,
    /// Most characters that it takes.
    most: usize,
    way: Way,
}

/// How a provider is asked.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// A service that wants one of these variables.
    Service(&'static [&'static str], Speak),
    /// A program of this machine: it reads the text and writes a sound file.
    Program(Program),
}

/// A program that speaks.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// How it is had, in words.
    pub(crate) had_by: &'static str,
    pub(crate) line: CommandLine,
}

/// Has a service speak.
pub(crate) type Speak = for<'a> fn(&'a Asking<'a>, Wish<'a>) -> BoxFuture<'a, Result<Vec<u8>, ToolError>>;

/// The words that start a program which reads the text from its input and writes a sound file to its
/// output.
pub(crate) type CommandLine = fn(&dyn Keys) -> Vec<String>;

/// What is to be spoken, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish<'a> {
    pub(crate) text: &'a str,
    /// The kind of file that is wanted, if the service can make it.
    pub(crate) format: Format,
}

/// Kinds of sound files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Mp3,
    /// Opus in Ogg: what chat platforms play as a voice message.
    Ogg,
    Wav,
    Flac,
}

impl Format {
    pub(crate) const ALL: [Self; 4] = [Self::Mp3, Self::Ogg, Self::Wav, Self::Flac];

    /// How a file of it ends.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Mp3 => "mp3",
            Self::Ogg => "ogg",
            Self::Wav => "wav",
            Self::Flac => "flac",
        }
    }

    /// By the ending of a file.
    pub(crate) fn by_ending(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "opus" | "oga" => Some(Self::Ogg),
            other => Self::ALL.into_iter().find(|format| format.ending() == other),
        }
    }
}

/// Which one speaks.
#[derive(Clone)]
pub(crate) enum Voice {
    /// One of those in `providers/`.
    Known(&'static Provider),
    /// A command of the person's own, `tts.providers.NAME`.
    Own(Own),
}

/// A command of the person's own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Own {
    pub(crate) name: String,
    pub(crate) section: Value,
}

impl Provider {
    pub(crate) const fn new(name: &'static str, most: usize, way: Way) -> Self {
        Self { name, most, way }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }
}

impl Voice {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Known(provider) => provider.name,
            Self::Own(own) => &own.name,
        }
    }

    /// Most characters that it takes: what the settings say, or its own limit.
    pub(crate) fn most(&self, setting: &Setting<'_>) -> usize {
        let set = setting(&format!("tts.{}.max_text_length", self.name())).and_then(|it| it.as_u64());
        let own = match self {
            Self::Known(provider) => provider.most,
            Self::Own(own) => {
                own.section.get("max_text_length").and_then(Value::as_u64).map_or(5_000, usize_of)
            }
        };
        set.filter(|most| *most > 0).map_or(own, usize_of)
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The variables of the services that speak.
pub(crate) fn variables() -> Vec<&'static str> {
    let keys = PROVIDERS.iter().map(|provider| match provider.way {
        Way::Service(keys, _) => keys,
        Way::Program(..) => &[],
    });
    keys.flatten().copied().collect()
}

/// A value of the settings.
pub(crate) type Setting<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Providers of the original that have no published protocol, or need their own libraries; whoever has
/// one of them in their settings gets the program of this machine that speaks.
const ELSEWHERE: [&str; 3] = ["edge", "neutts", "kittentts"];

/// Who speaks by these settings.
pub(crate) fn chosen(setting: &Setting<'_>) -> Result<Voice, String> {
    let named =
        setting("tts.provider").and_then(|value| value.as_str().map(str::trim).map(str::to_lowercase));
    let named = named.filter(|name| !name.is_empty() && !ELSEWHERE.contains(&name.as_str()));
    let Some(name) = named else {
        let has_model = setting("tts.piper.model").is_some_and(|value| value.is_string());
        return known(if has_model { "piper" } else { "espeak" })
            .ok_or_else(|| "nobody speaks here".to_owned());
    };
    if let Some(section) = setting(&format!("tts.providers.{name}")).filter(Value::is_object) {
        return Ok(Voice::Own(Own { name, section }));
    }
    known(&name).ok_or_else(|| {
        let all: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
        format!("tts.provider is `{name}`, which is none of {}, nor one of tts.providers", all.join(", "))
    })
}

fn known(name: &str) -> Option<Voice> {
    PROVIDERS.iter().find(|provider| provider.name == name).map(|provider| Voice::Known(provider))
}

/// Says what is missing for the voice that the settings mean.
pub(crate) fn ready(probe: &dyn Probe) -> Result<(), String> {
    let setting = |key: &str| probe.config(key);
    match chosen(&setting)? {
        Voice::Own(own) => match own.section.get("command").and_then(Value::as_str) {
            Some(command) if !command.trim().is_empty() => Ok(()),
            _ => Err(format!("tts.providers.{}.command is not set", own.name)),
        },
        Voice::Known(Provider { way: Way::Service(keys, _), name, .. }) => {
            if keys.iter().any(|key| probe.env(key)) {
                return Ok(());
            }
            Err(format!("{name} needs {}", keys.join(" or ")))
        }
        Voice::Known(Provider { way: Way::Program(Program { name, had_by, .. }), .. }) => {
            if probe.program(name) {
                return Ok(());
            }
            Err(format!("needs the program {name} ({had_by}), or a service in tts.provider"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name(settings: &Value) -> Result<String, String> {
        let setting = |key: &str| settings.pointer(&format!("/{}", key.replace('.', "/"))).cloned();
        chosen(&setting).map(|voice| voice.name().to_owned())
    }

    #[test]
    fn without_a_word_of_the_person_this_machine_speaks() {
        assert_eq!(name(&json!({})).unwrap(), "espeak");
        assert_eq!(name(&json!({ "tts": { "provider": "edge" } })).unwrap(), "espeak");
        assert_eq!(name(&json!({ "tts": { "piper": { "model": "en.onnx" } } })).unwrap(), "piper");
    }

    #[test]
    fn the_person_may_name_a_service_or_a_command_of_their_own() {
        assert_eq!(name(&json!({ "tts": { "provider": "OpenAI" } })).unwrap(), "openai");
        let own = json!({ "tts": { "provider": "mine", "providers": { "mine": { "command": "say" } } } });
        assert_eq!(name(&own).unwrap(), "mine");
        let wrong = name(&json!({ "tts": { "provider": "nobody" } })).unwrap_err();
        assert!(wrong.contains("none of") && wrong.contains("espeak"), "{wrong}");
    }
}
