//! `cronjob`: work that the clock starts, later or again and again.

use std::sync::Arc;

use hermes_core::cron::{Draft, Job, JobBook, JobError, Step};
use hermes_core::cx::ToolCx;
use hermes_core::deliver::Origin;
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::set;
use crate::toolsets::cronjob;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Cronjob>("cronjob", &cronjob::TOOLSET)
    .emoji("⏰")
    .gate(|| Gate::given::<Arc<dyn JobBook>>("a state folder that keeps jobs"));

/// What calls of this tool share.
const JOBS: &str = "jobs";

/// Most characters of a prompt in a question to the person.
const SHOWN: usize = 300;

/// What is said when nobody is there to run jobs.
const NOBODY: &str = " No scheduler runs for this home now: the person starts one with `hermes cron serve`, or \
     lets `hermes cron tick` run every minute.";

/// Plan work for later or again and again: a fresh session gets the prompt at each time and its answer is
/// kept or delivered. It knows nothing of this conversation, so the prompt must say everything. Actions:
/// create (schedule and prompt), list, update, pause, resume, run (at the next look), remove; all but
/// create and list need `job_id`. Schedules: `30m`, `2h` or a time such as 2027-01-31T09:00 (once), `every 2h`,
/// `0 9 * * mon-fri`, `@daily`; `TZ=Europe/Berlin ` in front names a time zone. To tell the person only
/// when there is news, have the prompt answer `[SILENT]` otherwise.
#[derive(Deserialize, JsonSchema)]
struct Cronjob {
    /// What to do: create, list, update, pause, resume, run or remove
    action: String,
    /// The job that is meant: its id or its name
    job_id: Option<String>,
    /// What the agent is asked at each time, complete in itself
    prompt: Option<String>,
    /// When it runs
    schedule: Option<String>,
    /// What people call it
    name: Option<String>,
    /// How often it runs in all; leave out for always
    repeat: Option<i64>,
    /// Where the answer goes: local (a file), origin (this conversation), or targets with commas between
    deliver: Option<String>,
    /// Skills that it follows
    skills: Option<Vec<String>>,
    /// The model it uses, instead of the usual one
    model: Option<Model>,
    /// A script in the folder `scripts` of the home that runs first; what it prints goes to the agent
    script: Option<String>,
    /// What the script prints is the answer, and no model is asked
    #[serde(default)]
    no_agent: bool,
    /// Jobs whose last answers it is shown
    context_from: Option<Vec<String>>,
    /// The toolsets it has, instead of the usual ones
    enabled_toolsets: Option<Vec<String>>,
    /// The folder it works in
    workdir: Option<String>,
    /// Whether its answer belongs to this conversation
    attach_to_session: Option<bool>,
}

/// A model.
#[derive(Deserialize, JsonSchema)]
struct Model {
    /// Its provider
    provider: Option<String>,
    /// Its name
    model: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Create,
    List,
    Update,
    Pause,
    Resume,
    Run,
    Remove,
}

impl Action {
    fn read(word: &str) -> Result<Self, ToolError> {
        Ok(match word.trim().to_ascii_lowercase().as_str() {
            "create" | "add" => Self::Create,
            "list" => Self::List,
            "update" | "edit" => Self::Update,
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "run" | "run_now" | "trigger" => Self::Run,
            "remove" | "delete" => Self::Remove,
            _ => {
                let all = "create, list, update, pause, resume, run or remove";
                return Err(ToolError::Arguments(format!("action: `{word}` is none of {all}")));
            }
        })
    }
}

impl Tool for Cronjob {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let job = self.job_id.as_deref().unwrap_or_default();
        let detail = match Action::read(&self.action) {
            Ok(Action::List) | Err(_) => return vec![Effect::ReadSlot(JOBS)],
            Ok(Action::Pause) => return vec![Effect::WriteSlot(JOBS)],
            Ok(Action::Create) => format!("a new job: {}", self.wishes()),
            Ok(Action::Update) => format!("changes of the job `{job}`: {}", self.wishes()),
            Ok(Action::Resume) => format!("the paused job `{job}` runs again at its times"),
            Ok(Action::Run) => format!("the job `{job}` runs now"),
            Ok(Action::Remove) => format!("the job `{job}` is removed and runs no more"),
        };
        vec![Effect::Act(Act { kind: ActKind::Schedule, detail })]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let action = Action::read(&self.action)?;
        let Some(book) = cx.service::<Arc<dyn JobBook>>() else {
            return Err(ToolError::Failed("there is no state folder that could keep jobs".to_owned()));
        };
        let named = self.job_id.clone().filter(|name| !name.trim().is_empty());
        let name = || {
            let missing = || ToolError::Arguments("job_id is needed: the job that is meant".to_owned());
            named.clone().ok_or_else(missing)
        };
        let job = match action {
            Action::List => return Ok(listed(&book.all().await.map_err(failure)?)),
            Action::Create => book.create(self.draft(cx)).await,
            Action::Update => {
                let (name, draft) = (name()?, self.draft(cx));
                book.change(&name, Step::Update(Box::new(draft))).await
            }
            Action::Pause => book.change(&name()?, Step::Pause(None)).await,
            Action::Resume => book.change(&name()?, Step::Resume).await,
            Action::Run => book.change(&name()?, Step::RunSoon).await,
            Action::Remove => book.remove(&name()?).await,
        };
        let job = job.map_err(failure)?;
        let mut answer = told(action, &job, book.is_served());
        let plans = matches!(action, Action::Create | Action::Update | Action::Resume | Action::Run);
        if let Some(why) = book.undeliverable(&job).filter(|_| plans) {
            let warning =
                format!("as things are, answers would be {why}; they are kept in files in any case");
            set(&mut answer, "warning", json!(warning));
        }
        Ok(answer)
    }
}

impl Cronjob {
    fn draft(self, cx: &ToolCx) -> Draft {
        let creates = Action::read(&self.action).is_ok_and(|action| action == Action::Create);
        let folder = |path: String| {
            if path.trim().is_empty() { path } else { cx.place().resolve(&path).display().to_string() }
        };
        let (model, provider) = match self.model {
            Some(Model { provider, model }) => (Some(model), Some(provider.unwrap_or_default())),
            None => (None, None),
        };
        Draft {
            prompt: self.prompt,
            schedule: self.schedule,
            name: self.name,
            repeat: self.repeat,
            deliver: self.deliver,
            skills: self.skills,
            model,
            provider,
            script: self.script,
            // The argument is false when it was left out, which is no wish to change it.
            no_agent: self.no_agent.then_some(true),
            context_from: self.context_from,
            enabled_toolsets: self.enabled_toolsets,
            workdir: self.workdir.map(folder),
            attach_to_session: self.attach_to_session,
            timezone: None,
            misfire: None,
            origin: creates.then(|| origin(cx)),
        }
    }

    /// What is wished, for a person who has to agree.
    fn wishes(&self) -> String {
        let short = |text: &String| -> String {
            let cut: String = text.chars().take(SHOWN).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        };
        let list = |names: &Vec<String>| names.join(", ");
        let mut parts: Vec<String> = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            parts.extend(value.map(|value| format!("{name} {value}")));
        };
        add("at", self.schedule.as_ref().map(|text| format!("`{}`", text.trim())));
        add("asks", self.prompt.as_ref().map(|text| format!("\"{}\"", short(text))));
        add("named", self.name.clone());
        add("runs the script", self.script.clone());
        add("without a model:", self.no_agent.then(|| "the script's output is the answer".to_owned()));
        add("follows the skills", self.skills.as_ref().map(list));
        add("with the toolsets", self.enabled_toolsets.as_ref().map(list));
        add("in the folder", self.workdir.clone());
        add("by the model", self.model.as_ref().map(|it| it.model.clone()));
        add("times:", self.repeat.map(|times| times.to_string()));
        add("answers to", self.deliver.clone());
        parts.join("; ")
    }
}

/// Where a job comes from: the session, and the chat that it is held in.
fn origin(cx: &ToolCx) -> Value {
    let mut origin = json!({ "session_id": cx.session_id() });
    if let Some(Origin(chat)) = cx.service::<Origin>() {
        set(&mut origin, "platform", json!(chat.platform));
        set(&mut origin, "chat_id", json!(chat.chat));
        set(&mut origin, "thread_id", json!(chat.thread));
    }
    origin
}

/// What is wrong with wishes can be mended; what is wrong with the store cannot.
fn failure(wrong: JobError) -> ToolError {
    match wrong {
        JobError::Store(why) => ToolError::Failed(why),
        other => ToolError::Arguments(other.to_string()),
    }
}

fn listed(jobs: &[Job]) -> Value {
    let jobs: Vec<Value> = jobs.iter().map(described).collect();
    json!({ "success": true, "count": jobs.len(), "jobs": jobs })
}

/// A job as the model sees it.
fn described(job: &Job) -> Value {
    let mut value = serde_json::to_value(job).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("id");
        fields.remove("origin");
        fields.insert("job_id".to_owned(), json!(job.id));
        fields.insert("schedule".to_owned(), json!(job.schedule_display));
        fields.insert("repeat".to_owned(), json!(repeats(job)));
        fields.retain(|_, value| !value.is_null());
    }
    value
}

/// How often, in words.
fn repeats(job: &Job) -> String {
    match job.repeat.times {
        None => "forever".to_owned(),
        Some(1) => "once".to_owned(),
        Some(times) => format!("{} of {times}", job.repeat.completed),
    }
}

fn told(action: Action, job: &Job, served: bool) -> Value {
    let next = job.next_run_at.as_deref().unwrap_or("never");
    let nobody = if served { "" } else { NOBODY };
    let message = match action {
        Action::Create => format!("The job `{}` was made; it first runs at {next}.{nobody}", job.name),
        Action::Update => format!("The job `{}` was changed; it next runs at {next}.{nobody}", job.name),
        Action::Pause => format!("The job `{}` is paused.", job.name),
        Action::Resume => format!("The job `{}` goes on; it next runs at {next}.{nobody}", job.name),
        Action::Run => format!("The job `{}` is due now.{nobody}", job.name),
        Action::Remove => format!("The job `{}` was removed; its earlier answers are kept.", job.name),
        Action::List => String::new(),
    };
    json!({
        "success": true,
        "job_id": job.id,
        "name": job.name,
        "schedule": job.schedule_display,
        "repeat": repeats(job),
        "deliver": job.deliver,
        "next_run_at": job.next_run_at,
        "job": described(job),
        "message": message,
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn effects(arguments: Value) -> Vec<Effect> {
        let place = Place { cwd: PathBuf::from("/"), home: None };
        serde_json::from_value::<Cronjob>(arguments).unwrap().effects(&place)
    }

    #[test]
    fn what_schedules_is_asked_about_in_words_a_person_can_judge() {
        let wish = json!({ "action": "create", "schedule": "@daily", "prompt": "Look", "script": "a.sh" });

        let [Effect::Act(act)] = &effects(wish)[..] else { panic!("one act") };

        assert_eq!(act.kind, ActKind::Schedule);
        assert_eq!(act.detail, "a new job: at `@daily`; asks \"Look\"; runs the script a.sh");
        for action in ["update", "resume", "run", "trigger", "remove"] {
            let effects = effects(json!({ "action": action, "job_id": "x" }));
            assert!(matches!(&effects[..], [Effect::Act(act)] if act.detail.contains("`x`")), "{action}");
        }
    }

    #[test]
    fn looking_at_jobs_changes_nothing() {
        assert!(effects(json!({ "action": "list" })).iter().all(Effect::is_read_only));
        assert!(effects(json!({ "action": "explode" })).iter().all(Effect::is_read_only));
        assert!(Action::read("explode").is_err());
    }
}
