//! `transcribe`: has a program of this machine listen. No model is shown it and no toolset has it; it is a
//! tool so that the command takes the same road as every other, with its rules and its record.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::environment::Environments;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::files::{Change, Expect};
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::MOST;
use super::plan::{Around, LONGEST, Plan};
use crate::media::program::{Runs, near, output};
use crate::media::shelf::{self, MediaSettings};
use crate::toolsets::tts;

pub(super) static TOOL: ToolDef = ToolDef::of::<Transcribe>("transcribe", &tts::TOOLSET)
    .max_result(MaxSize::Unlimited)
    .timeout(LONGEST.saturating_add(Duration::from_mins(1)));

/// The recording of one call. Whoever makes the call hands it to its session.
pub struct Recording(pub Vec<u8>);

/// Write down what is said in a recording, by a program of this machine that listens.
#[derive(Deserialize, JsonSchema)]
struct Transcribe {
    /// Who listens: an engine, `command`, or one of `stt.providers`
    listener: String,
    /// Where its program was found
    program: Option<String>,
    /// What the recording is called meanwhile
    recording: String,
}

impl Transcribe {
    fn plan(
        &self,
        keys: &dyn Keys,
        place: &Place,
        environments: &Environments,
        settings: Option<&MediaSettings>,
    ) -> Result<Plan, String> {
        let folder = shelf::folder(settings, place, "audio");
        let environment = near(environments);
        let around = Around { keys, folder: &folder, environment: &environment, workdir: &place.cwd };
        Plan::of(&self.listener, self.program.as_deref(), &self.recording, &around)
    }
}

impl Tool for Transcribe {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let Some(keys) = services.service::<Arc<dyn Keys>>() else { return Vec::new() };
        let plan = self.plan(keys.as_ref(), place, &services.environments, services.service());
        // What cannot be planned does nothing but say why.
        plan.map(|plan| plan.effects()).unwrap_or_default()
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let plan = self.plan(cx.keys()?, &cx.place(), cx.environments(), cx.service());
        let plan = plan.map_err(ToolError::Failed)?;
        let recording = cx.service::<Recording>();
        let recording = recording.ok_or_else(|| ToolError::Failed("there is no recording".to_owned()))?;
        let heard = listen(cx, &plan, &recording.0).await;
        for file in &plan.left {
            // One that was never made cannot be removed either.
            let _ = remove(cx, file).await;
        }
        Ok(json!({ "success": true, "text": heard?.trim(), "model": plan.model }))
    }
}

async fn listen(cx: &ToolCx, plan: &Plan, recording: &[u8]) -> Result<String, ToolError> {
    shelf::put(cx, &plan.input, recording.to_vec()).await?;
    if let Some((file, script)) = &plan.script {
        shelf::put(cx, file, script.as_bytes().to_vec()).await?;
    }
    let (name, had_by) = plan.program;
    let printed = output(cx, &plan.command, Vec::new(), Runs { name, had_by, limit: plan.limit }).await?;
    let written = cx.files().whole(&plan.text, u64::try_from(MOST).unwrap_or(u64::MAX)).await;
    let text = written.map_or(printed, |text| text.bytes);
    let text = String::from_utf8_lossy(&text).into_owned();
    if text.trim().is_empty() {
        return Err(ToolError::Failed(format!("{name} heard nothing")));
    }
    Ok(text)
}

async fn remove(cx: &ToolCx, file: &Path) -> Result<(), ToolError> {
    let permit = cx.may_write(&cx.files().real_path(&file.to_string_lossy()))?;
    cx.files().change(vec![Change::Remove { permit, expect: Expect::Anything }]).await.map(drop)
}
