//! What is run where a program of this machine listens, worked out before anything is done. Pure, so that
//! what is declared is what happens.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_core::effect::{Command, Effect};
use hermes_core::keys::Keys;
use serde_json::Value;

use super::engines::ENGINES;
use crate::template::filled;

/// How long a program may listen, and the longest that the settings can let it.
const PATIENCE: Duration = Duration::from_mins(5);
pub(super) const LONGEST: Duration = Duration::from_mins(30);

/// The name of a command in `stt.command`.
pub(super) const COMMAND: &str = "command";

/// A program that listens.
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    /// Lower is taken first when the settings name none.
    pub(crate) order: u8,
    /// What must be on the search path for it to be taken by itself; nothing where it has to be named.
    pub(crate) program: Option<&'static str>,
    /// How it is had, in words.
    pub(crate) had_by: &'static str,
    /// A script that it needs, put into a file first.
    pub(crate) script: Option<&'static str>,
    /// The command that writes the text to [`Wish::text`].
    pub(crate) line: fn(&Wish<'_>) -> Result<String, String>,
}

impl Engine {
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }
}

/// What is to be written down, and where.
pub(crate) struct Wish<'a> {
    /// The program, by its whole path where that is known.
    pub(crate) program: &'a str,
    pub(crate) input: &'a Path,
    /// The recording's path without its ending.
    pub(crate) base: &'a Path,
    pub(crate) model: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) python: Option<String>,
}

impl Wish<'_> {
    /// Where the text goes.
    pub(crate) fn text(&self) -> PathBuf {
        self.base.with_extension("txt")
    }

    /// Where the script goes.
    pub(crate) fn script(&self) -> PathBuf {
        self.base.with_extension("py")
    }

    /// Where the recording goes in a plainer form.
    pub(crate) fn plain(&self) -> PathBuf {
        self.base.with_extension("plain.wav")
    }
}

/// What will be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) input: PathBuf,
    /// A file that the command needs beside the recording.
    pub(crate) script: Option<(PathBuf, &'static str)>,
    pub(crate) command: Command,
    /// The text, where the command writes a file; else it is what the command prints.
    pub(crate) text: PathBuf,
    pub(crate) model: String,
    pub(crate) limit: Duration,
    /// What a person calls it, and how it is had.
    pub(crate) program: (&'static str, &'static str),
    /// Files that are gone afterwards.
    pub(crate) left: Vec<PathBuf>,
}

/// Where it is done.
pub(crate) struct Around<'a> {
    pub(crate) keys: &'a dyn Keys,
    /// Where the recording and the text are put meanwhile.
    pub(crate) folder: &'a Path,
    /// Where commands run, and from which directory.
    pub(crate) environment: &'a str,
    pub(crate) workdir: &'a Path,
}

impl Plan {
    /// For an engine, `command`, or one of `stt.providers`; `program` is where the engine was found.
    pub(crate) fn of(
        listener: &str,
        program: Option<&str>,
        recording: &str,
        around: &Around<'_>,
    ) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if recording.is_empty() || recording.starts_with('.') || !recording.chars().all(plain) {
            return Err(format!("{recording:?} is no name for a recording"));
        }
        let keys = around.keys;
        let engine = ENGINES.iter().find(|engine| engine.name == listener);
        let usual = engine.and_then(|engine| engine.program).unwrap_or_default();
        let program = program.filter(|path| Path::new(path).file_name().is_some_and(|name| name == usual));
        let section = section(listener, engine.is_some());
        let text = |key: &str| keys.text(&format!("{section}.{key}"));
        let input = around.folder.join(recording);
        let base = input.with_extension("");
        let wish = Wish {
            program: program.unwrap_or(usual),
            input: &input,
            base: &base,
            model: text("model"),
            language: text("language").or_else(|| keys.text("stt.language")),
            python: keys.text("stt.local.python"),
        };
        let line = match engine {
            Some(engine) => (engine.line)(&wish)?,
            None => own(&wish, &text("command").ok_or_else(|| format!("{section}.command is not set"))?),
        };
        let seconds = keys.setting(&format!("{section}.timeout")).as_ref().and_then(Value::as_u64);
        let limit = seconds.filter(|it| *it > 0).map_or(PATIENCE, Duration::from_secs).min(LONGEST);
        let script = engine.and_then(|engine| Some((wish.script(), engine.script?)));
        Ok(Self {
            command: Command {
                text: line,
                environment: around.environment.to_owned(),
                workdir: around.workdir.to_path_buf(),
            },
            text: wish.text(),
            left: vec![input.clone(), wish.text(), wish.script(), wish.plain()],
            script,
            model: wish.model.clone().unwrap_or_default(),
            limit,
            program: engine.map_or(("the command", "see stt.command"), |it| (it.name, it.had_by)),
            input,
        })
    }

    /// What a call with this plan declares.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.left.iter().cloned().map(Effect::Write).collect();
        effects.extend([Effect::Read(self.text.clone()), Effect::Exec(self.command.clone())]);
        effects
    }
}

/// Where the settings of a listener stand.
pub(super) fn section(listener: &str, is_engine: bool) -> String {
    match listener {
        _ if is_engine => "stt.local".to_owned(),
        COMMAND => "stt.command".to_owned(),
        own => format!("stt.providers.{own}"),
    }
}

fn own(wish: &Wish<'_>, command: &str) -> String {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let folder = wish.base.parent().unwrap_or(wish.base);
    let values = [
        ("input_path", path(wish.input)),
        ("output_path", path(&wish.text())),
        ("output_dir", path(folder)),
        ("language", wish.language.clone().unwrap_or_else(|| "en".to_owned())),
        ("model", wish.model.clone().unwrap_or_else(|| "base".to_owned())),
    ];
    filled(command, &values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transcribe::tests::Given;

    fn plan(settings: Value, listener: &str) -> Result<Plan, String> {
        let keys = Given(settings, &[]);
        let folder = Path::new("/h/cache/audio");
        let around = Around { keys: &keys, folder, environment: "local", workdir: Path::new("/w") };
        Plan::of(listener, None, "recording_1.ogg", &around)
    }

    fn line(settings: Value, listener: &str) -> String {
        plan(settings, listener).unwrap().command.text
    }

    #[test]
    fn every_engine_is_told_in_its_own_words() {
        let german =
            json!({ "stt": { "language": "de", "local": { "model": "small", "python": "/v/bin/python" } } });

        assert_eq!(
            line(json!({}), "whisper"),
            "whisper /h/cache/audio/recording_1.ogg --model base --output_format txt --output_dir /h/cache/audio"
        );
        assert!(line(german.clone(), "whisper-ctranslate2").ends_with("--language de"));
        assert_eq!(
            line(german.clone(), "faster-whisper"),
            "/v/bin/python /h/cache/audio/recording_1.py /h/cache/audio/recording_1.ogg \
             /h/cache/audio/recording_1.txt small de"
        );
        let cpp = line(german, "whisper-cli");
        assert!(cpp.starts_with("ffmpeg ") && cpp.contains(" && whisper-cli -m small "), "{cpp}");
        assert!(plan(json!({}), "whisper-cli").unwrap_err().contains("stt.local.model"));
    }

    #[test]
    fn a_command_of_ones_own_gets_words_that_cannot_leave_their_place() {
        let settings = json!({ "stt": { "language": "a; rm x", "providers": { "mine": {
            "command": "hear {input_path} {language} > {output_path}", "timeout": 9999,
        } } } });

        let plan = plan(settings, "mine").unwrap();

        let (input, output) = ("/h/cache/audio/recording_1.ogg", "/h/cache/audio/recording_1.txt");
        assert_eq!(plan.command.text, format!("hear {input} 'a; rm x' > {output}"));
        assert_eq!(plan.limit, LONGEST);
        assert!(plan.effects().contains(&Effect::Exec(plan.command.clone())));
    }

    #[test]
    fn a_recording_cannot_be_named_out_of_its_folder() {
        let around = Around {
            keys: &Given(json!({}), &[]),
            folder: Path::new("/h"),
            environment: "local",
            workdir: Path::new("/w"),
        };

        for bad in ["../x.ogg", "/etc/x", "", ".x", "a b.ogg"] {
            assert!(Plan::of("whisper", None, bad, &around).is_err(), "{bad}");
        }
        // Nor can another program be slipped in for the one that is meant.
        let started =
            |program: &str| Plan::of("whisper", Some(program), "a.ogg", &around).unwrap().command.text;
        assert!(started("/v/bin/whisper").starts_with("/v/bin/whisper "));
        assert!(started("/bin/sh").starts_with("whisper "));
    }
}
