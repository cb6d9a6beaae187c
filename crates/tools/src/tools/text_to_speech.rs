//! `text_to_speech`: a text as a sound file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::environment::Environments;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::media::program::{self, MOST, Runs, output};
use crate::media::service::Asking;
use crate::media::{ending, kind_of, shelf};
use crate::speech::plan::{Order, Plan};
use crate::speech::voice::{self, Program, Voice, Way, Wish};
use crate::speech::wave::mended;
use crate::toolsets::tts;

pub(crate) const TOOL: ToolDef = ToolDef::of::<TextToSpeech>("text_to_speech", &tts::TOOLSET)
    .emoji("🔊")
    .gate(|| Gate::check("tts", |probe| async move { voice::ready(probe.as_ref()) }))
    .variables(voice::variables)
    .timeout(Duration::from_mins(6));

/// How long a program may take, and the longest that the settings can let it take.
const PATIENCE: Duration = Duration::from_mins(2);
const LONGEST: Duration = Duration::from_mins(5);

/// Makes other kinds of sound files.
const FFMPEG: Runs = Runs { name: "ffmpeg", had_by: "on Debian: apt install ffmpeg", limit: PATIENCE };

/// Speak a text: it becomes a sound file. The answer names the file and a MEDIA tag; put the tag into your
/// reply where the person should get the sound.
#[derive(Deserialize, JsonSchema)]
struct TextToSpeech {
    /// What to say, in plain words without markup
    text: String,
    /// Where to put the file; its ending says which kind (.mp3, .ogg, .wav, .flac). Usually left out
    output_path: Option<String>,
}

/// Where commands run, and where files go.
struct Surroundings {
    environment: String,
    folder: PathBuf,
}

impl Surroundings {
    fn of(environments: &Environments, settings: Option<&shelf::MediaSettings>, place: &Place) -> Self {
        // Only sound comes back, so any place will do; one on this machine is nearer.
        Self { environment: program::near(environments), folder: shelf::folder(settings, place, "audio") }
    }
}

impl TextToSpeech {
    fn plan(&self, keys: &dyn Keys, place: &Place, around: &Surroundings) -> Result<Plan, String> {
        Plan::of(&Order {
            text: &self.text,
            output: self.output_path.as_deref(),
            keys,
            place,
            folder: &around.folder,
            environment: &around.environment,
        })
    }
}

impl Tool for TextToSpeech {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let around = Surroundings::of(&services.environments, services.service(), place);
        let Some(keys) = services.service::<Arc<dyn Keys>>() else { return Vec::new() };
        // What cannot be planned does nothing but say why.
        self.plan(keys.as_ref(), place, &around).map(|plan| plan.effects()).unwrap_or_default()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let around = Surroundings::of(cx.environments(), cx.service(), &cx.place());
        let plan = match self.plan(cx.keys()?, &cx.place(), &around) {
            Ok(plan) => plan,
            Err(why) => return Ok(json!({ "success": false, "error": why })),
        };
        match speak(cx, &plan).await {
            Ok((file, note)) => Ok(told(&plan, &file, note)),
            Err(ToolError::Failed(why)) => {
                Ok(json!({ "success": false, "error": why, "provider": plan.voice.name() }))
            }
            Err(other) => Err(other),
        }
    }
}

/// Speaks, and keeps the sound; where it is, and what is not as it was wanted.
async fn speak(cx: &ToolCx, plan: &Plan) -> Result<(PathBuf, Option<String>), ToolError> {
    let sound = match &plan.voice {
        Voice::Own(_) => return own_command(cx, plan).await.map(|file| (file, None)),
        Voice::Known(provider) => match provider.way() {
            Way::Service(_, speak) => {
                let asking = Asking::new(cx)?;
                speak(&asking, Wish { text: &plan.text, format: plan.format }).await?
            }
            Way::Program(Program { name, had_by, .. }) => {
                let command = plan.speak.as_ref().ok_or_else(|| failed("there is no command"))?;
                let program = Runs { name, had_by, limit: PATIENCE };
                mended(output(cx, command, plan.text.clone().into_bytes(), program).await?)
            }
        },
    };
    let kind = kind_of(&sound).filter(|kind| kind.starts_with("audio/"));
    let kind = kind.ok_or_else(|| failed("what came back is no sound"))?;
    let is = ending(kind);
    if is == plan.format.ending() {
        return Ok((shelf::put(cx, &plan.file, sound).await?, None));
    }
    let converted = match &plan.convert {
        Some(command) => output(cx, command, sound.clone(), FFMPEG).await,
        None => Err(failed("nothing here makes it a WAV file")),
    };
    match converted {
        Ok(converted) if kind_of(&converted).is_some_and(|kind| ending(kind) == plan.format.ending()) => {
            Ok((shelf::put(cx, &plan.file, converted).await?, None))
        }
        Err(ToolError::Cancelled) => Err(ToolError::Cancelled),
        other => {
            let why =
                other.err().map_or_else(|| "ffmpeg made something else".to_owned(), |why| why.to_string());
            let note = format!("it is a {is} file and not {}: {why}", plan.format.ending());
            Ok((shelf::put(cx, &plan.file.with_extension(is), sound).await?, Some(note)))
        }
    }
}

/// A command of the person's own: it reads a file and writes one.
async fn own_command(cx: &ToolCx, plan: &Plan) -> Result<PathBuf, ToolError> {
    let (Some(command), Some(input)) = (&plan.speak, &plan.input) else {
        return Err(failed("there is no command"));
    };
    shelf::put(cx, input, plan.text.clone().into_bytes()).await?;
    let program = Runs { name: "the command", had_by: "see tts.providers", limit: patience(&plan.voice) };
    output(cx, command, Vec::new(), program).await?;
    let file = cx.files().real_path(&plan.file.to_string_lossy());
    let written = cx.files().whole(&file, u64::try_from(MOST).unwrap_or(u64::MAX)).await;
    match written {
        Ok(sound) if !sound.bytes.is_empty() => Ok(file),
        _ => Err(failed(&format!("the command did not write {}", file.display()))),
    }
}

/// How long a command may take: as long as its own settings say, within what a call may.
fn patience(voice: &Voice) -> Duration {
    let own = match voice {
        Voice::Own(own) => own.section.get("timeout").and_then(Value::as_u64),
        Voice::Known(_) => None,
    };
    own.filter(|seconds| *seconds > 0).map_or(PATIENCE, Duration::from_secs).min(LONGEST)
}

fn failed(why: &str) -> ToolError {
    ToolError::Failed(why.to_owned())
}

fn told(plan: &Plan, file: &Path, note: Option<String>) -> Value {
    let path = file.to_string_lossy();
    let tag = if path.contains(char::is_whitespace) {
        format!("MEDIA:\"{path}\"")
    } else {
        format!("MEDIA:{path}")
    };
    let is_voice = file.extension().is_some_and(|ending| ending == "ogg");
    let mut answer = json!({
        "success": true,
        "file_path": path,
        "media_tag": tag,
        "provider": plan.voice.name(),
        "voice_compatible": is_voice,
    });
    let cut = (plan.left_out > 0)
        .then(|| format!("the last {} characters were left out: the text is too long", plan.left_out));
    let notes: Vec<String> = note.into_iter().chain(cut).collect();
    if let (Some(fields), false) = (answer.as_object_mut(), notes.is_empty()) {
        fields.insert("note".to_owned(), json!(notes.join("; ")));
    }
    answer
}
