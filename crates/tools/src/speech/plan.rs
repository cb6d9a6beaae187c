//! What will be done for a text, worked out before anything is done: who speaks, which commands run,
//! where the file goes. Pure, so that what is declared is what happens.

use std::path::{Path, PathBuf};

use hermes_core::effect::{Command, Effect};
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use serde_json::Value;

use super::voice::{Format, Own, Provider, Voice, Way, chosen};
use crate::hash::sha256_hex;
use crate::media::service::spends;
use crate::template;

/// What is to be spoken, and where it is done.
pub(crate) struct Order<'a> {
    pub(crate) text: &'a str,
    /// Where the model wants the file.
    pub(crate) output: Option<&'a str>,
    pub(crate) keys: &'a dyn Keys,
    pub(crate) place: &'a Place,
    /// Where files go when the model does not say.
    pub(crate) folder: &'a Path,
    /// Where commands run.
    pub(crate) environment: &'a str,
}

/// What will be done.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) voice: Voice,
    /// The text, as much of it as the voice takes.
    pub(crate) text: String,
    /// How many characters were left out.
    pub(crate) left_out: usize,
    pub(crate) format: Format,
    /// The file, with the ending of the format.
    pub(crate) file: PathBuf,
    /// Speaks, where a program does.
    pub(crate) speak: Option<Command>,
    /// Makes another kind of file of what was spoken, if it must be.
    pub(crate) convert: Option<Command>,
    /// The text as a file, for commands that want one.
    pub(crate) input: Option<PathBuf>,
}

impl Plan {
    pub(crate) fn of(order: &Order<'_>) -> Result<Self, String> {
        let setting = |key: &str| order.keys.setting(key);
        let voice = chosen(&setting)?;
        let text = order.text.trim();
        if text.is_empty() {
            return Err("text is empty".to_owned());
        }
        let most = voice.most(&setting);
        let spoken: String = text.chars().take(most).collect();
        let left_out = text.chars().count().saturating_sub(most);
        let (format, file) = target(order, &voice, &spoken);
        let command = |words: String| Command {
            text: words,
            environment: order.environment.to_owned(),
            workdir: order.place.cwd.clone(),
        };
        let (mut speak, mut convert, mut input) = (None, None, None);
        match &voice {
            Voice::Known(provider) => {
                if let Way::Program(program) = provider.way() {
                    speak = Some(command(template::line(&(program.line)(order.keys))));
                }
                // What a service cannot make, a program here can.
                convert = conversion(format).map(command);
            }
            Voice::Own(own) => {
                let text_file = file.with_extension("txt");
                speak = Some(command(filled(own, &text_file, &file, format)?));
                input = Some(text_file);
            }
        }
        Ok(Self { voice, text: spoken, left_out, format, file, speak, convert, input })
    }

    /// What a call with this plan declares.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        // Where the wanted kind cannot be made, the file gets the ending of what it is.
        let endings = Format::ALL.map(Format::ending);
        let mut effects: Vec<Effect> =
            endings.iter().map(|ending| Effect::Write(self.file.with_extension(ending))).collect();
        effects.extend(self.input.clone().map(Effect::Write));
        effects.extend([&self.speak, &self.convert].into_iter().flatten().cloned().map(Effect::Exec));
        if let Voice::Known(provider) = &self.voice
            && let Way::Service(..) = provider.way()
        {
            effects.extend(spends(paid(provider, &self.text)));
        }
        effects
    }
}

/// What it costs, in words a person can judge.
fn paid(provider: &Provider, text: &str) -> String {
    format!("{} characters spoken by {}", text.chars().count(), provider.name())
}

/// The kind of file, and where it goes.
fn target(order: &Order<'_>, voice: &Voice, text: &str) -> (Format, PathBuf) {
    let wanted = order.output.map(str::trim).filter(|path| !path.is_empty());
    let by_path =
        |path: &str| Path::new(path).extension().and_then(|it| Format::by_ending(&it.to_string_lossy()));
    let own = match voice {
        Voice::Own(own) => {
            own.section.get("output_format").and_then(Value::as_str).and_then(Format::by_ending)
        }
        Voice::Known(_) => None,
    };
    let by_settings = || order.keys.text("tts.format").as_deref().and_then(Format::by_ending);
    let format = wanted.and_then(by_path).or(own).or_else(by_settings).unwrap_or(Format::Mp3);
    let file = if let Some(path) = wanted {
        order.place.resolve(path).with_extension(format.ending())
    } else {
        let parts = [voice.name(), text, &order.keys.setting("tts").unwrap_or_default().to_string()];
        let digest: String = sha256_hex(&parts.map(str::as_bytes)).chars().take(16).collect();
        order.folder.join(format!("tts_{digest}.{}", format.ending()))
    };
    (format, file)
}

/// The command that makes another kind of file of any sound; WAV is what programs make anyway.
fn conversion(format: Format) -> Option<String> {
    let codec = match format {
        Format::Mp3 => "-c:a libmp3lame -q:a 4 -f mp3",
        Format::Ogg => "-c:a libopus -b:a 48k -ac 1 -f ogg",
        Format::Flac => "-c:a flac -f flac",
        Format::Wav => return None,
    };
    Some(format!("ffmpeg -hide_banner -loglevel error -nostdin -i pipe:0 -vn {codec} pipe:1"))
}

/// A command of the person's own, with its placeholders filled in; every value is one word of the shell.
fn filled(own: &Own, input: &Path, output: &Path, format: Format) -> Result<String, String> {
    let text = |key: &str| {
        own.section.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let command = text("command").filter(|command| !command.trim().is_empty());
    let command = command.ok_or_else(|| format!("tts.providers.{}.command is not set", own.name))?;
    let values = [
        ("input_path", input.to_string_lossy().into_owned()),
        ("output_path", output.to_string_lossy().into_owned()),
        ("voice", text("voice").unwrap_or_default()),
        ("model", text("model").unwrap_or_default()),
        ("format", format.ending().to_owned()),
        ("speed", text("speed").unwrap_or_else(|| "1.0".to_owned())),
    ];
    Ok(template::filled(&command, &values))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Settings(Value);

    impl Keys for Settings {
        fn key(&self, _: &str) -> Option<String> {
            None
        }

        fn setting(&self, key: &str) -> Option<Value> {
            self.0.pointer(&format!("/{}", key.replace('.', "/"))).cloned()
        }
    }

    fn plan(settings: Value, text: &str, output: Option<&str>) -> Plan {
        let (keys, place) = (Settings(settings), Place { cwd: "/w".into(), home: None });
        let order = Order {
            text,
            output,
            keys: &keys,
            place: &place,
            folder: Path::new("/h/cache/audio"),
            environment: "local",
        };
        Plan::of(&order).unwrap()
    }

    #[test]
    fn a_program_reads_the_text_and_writes_the_sound() {
        let plan = plan(json!({ "tts": { "espeak": { "voice": "de" } } }), "Guten Tag; rm -rf /", None);

        assert_eq!(plan.speak.unwrap().text, "espeak-ng --stdin --stdout -v de");
        assert!(plan.convert.unwrap().text.contains("libmp3lame"));
        let file = plan.file.display();
        assert!(plan.file.to_string_lossy().starts_with("/h/cache/audio/tts_"), "{file}");
        assert_eq!(plan.file.extension().unwrap(), "mp3", "{file}");
    }

    #[test]
    fn the_ending_of_the_path_says_what_is_wanted() {
        let wav = plan(json!({}), "x", Some("out/a.wav"));
        let voice = plan(json!({}), "x", Some("a.opus"));

        assert_eq!((wav.format, wav.file, wav.convert), (Format::Wav, "/w/out/a.wav".into(), None));
        assert_eq!((voice.format, voice.file), (Format::Ogg, "/w/a.ogg".into()));
    }

    #[test]
    fn what_is_too_long_is_left_out_and_counted() {
        let plan = plan(json!({ "tts": { "espeak": { "max_text_length": 3 } } }), "abcdef", None);

        assert_eq!((plan.text.as_str(), plan.left_out), ("abc", 3));
    }

    #[test]
    fn a_command_of_ones_own_gets_words_that_cannot_leave_their_place() {
        let own = json!({ "tts": { "provider": "mine", "providers": { "mine": {
            "command": "say -v {voice} -o {output_path} < {input_path} {unknown}", "voice": "a'; rm x",
            "output_format": "wav",
        } } } });

        let plan = plan(own, "hello", Some("x.wav"));

        assert_eq!(plan.speak.unwrap().text, r"say -v 'a'\''; rm x' -o /w/x.wav < /w/x.txt {unknown}");
        assert_eq!(plan.input.unwrap(), Path::new("/w/x.txt"));
    }

    #[test]
    fn only_services_cost() {
        let costs = |settings: Value| {
            plan(settings, "hello", None).effects().iter().any(|effect| matches!(effect, Effect::Act(_)))
        };

        assert!(!costs(json!({})));
        assert!(costs(json!({ "tts": { "provider": "openai" } })));
    }
}
