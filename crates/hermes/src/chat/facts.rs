//! What the system prompt of a new session is made from: found out once, here, and never again.

use std::time::UNIX_EPOCH;

use hermes_agent::prompt::{self, PromptFacts, Text, Workspace};
use hermes_core::definitions::Toolbox;
use hermes_core::memory::MemoryBlocks;
use hermes_core::skills::{Beside, index};
use hermes_env::project;
use hermes_store::HomeMemory;
use hermes_store::sessions::Moment;

use super::models::Models;
use super::open::Terms;
use crate::host::{Machine, aside};
use crate::runtime::Runtime;
use crate::session::Session;

/// Characters of a token, about.
const CHARS_PER_TOKEN: u64 = 4;

/// The project's instructions may take this share of the context, in percent.
const PROJECT_SHARE: u64 = 6;

/// And this many characters in any case.
const PROJECT_LEAST: u64 = 20_000;
const PROJECT_MOST: u64 = 500_000;

/// The system prompt of a new session.
pub(super) async fn system_prompt(
    runtime: &Runtime,
    terms: &Terms,
    session: &Session,
    models: &Models,
) -> String {
    let toolbox = session.current_toolbox().await;
    let place = runtime.place();
    let cwd = terms.cwd.as_ref().unwrap_or(&place.cwd);
    let found = project::look(cwd);
    let home = runtime.home();
    // A few small files: to have a thread read them would take longer.
    let (MemoryBlocks { memory, user }, skills) = aside(|| (notes(runtime), skills(runtime, &toolbox)));
    let model = models.choice.name.strip_prefix(&format!("{}/", models.choice.provider));
    prompt::build(&PromptFacts {
        soul: home.as_ref().and_then(|home| home.soul_text().ok().flatten()),
        tools: toolbox.offered().iter().map(|tool| tool.name().to_string()).collect(),
        model: model.unwrap_or(&models.choice.name).to_owned(),
        provider: models.choice.provider.clone(),
        host: Some(format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        home: place.home.as_ref().map(|home| home.display().to_string()),
        cwd: Some(cwd.display().to_string()),
        date: Some(today()),
        workspace: found.repository.map(|root| Workspace {
            root: root.display().to_string(),
            kind: None,
            git: found.branch.map(|branch| format!("branch {branch}")),
        }),
        project: found.instructions.map(|(path, text)| Text {
            name: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            text,
        }),
        project_limit: models.choice.context_tokens.map(|tokens| {
            let share = tokens.saturating_mul(CHARS_PER_TOKEN) * PROJECT_SHARE / 100;
            // A small context has no room for a long text, whatever is usual.
            let least = PROJECT_LEAST.min(tokens);
            usize::try_from(share.clamp(least, PROJECT_MOST)).unwrap_or(usize::MAX)
        }),
        memory,
        user,
        skills,
        profile: home.as_ref().and_then(|home| home.profile().map(str::to_owned)),
        platform: terms.platform.clone(),
        caller: terms.note.clone(),
        ..PromptFacts::default()
    })
}

/// What was noted about the work and about the person, as it is now.
fn notes(runtime: &Runtime) -> MemoryBlocks {
    runtime.memory().map(HomeMemory::blocks_now).unwrap_or_default()
}

/// The skills that make sense beside these tools, in lines of bounded size.
fn skills(runtime: &Runtime, toolbox: &Toolbox) -> Vec<String> {
    let Some(skills) = runtime.skills() else { return Vec::new() };
    let beside = Beside::of(toolbox);
    if !beside.tools.contains("skill_view") {
        return Vec::new();
    }
    index(&skills.list_now(Some(&beside)), &skills.categories_now())
}

/// The date, without the time: the prompt stays the same all day.
fn today() -> String {
    let since = Machine::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Moment::from_seconds(since.as_secs_f64()).to_string();
    now.split([' ', 'T']).next().unwrap_or_default().to_owned()
}
