//! What can be said about a job on the command line: the same for a new one and for a change.

use hermes::core::cron::Draft;
use hermes::core::effect::lexical;
use hermes::core::schedule::Misfire;

use crate::shell::Shell;

/// Options of `create` and `edit`.
#[derive(clap::Args)]
pub(crate) struct Wishes {
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// How often it runs in all; 0 for always
    #[arg(long, value_name = "N")]
    repeat: Option<i64>,
    /// Where its answer goes: `local` is a file in the home; several with commas between
    #[arg(long, value_name = "TARGET")]
    deliver: Option<String>,
    /// A skill that it follows; may be given several times
    #[arg(long = "skill", value_name = "NAME")]
    skills: Option<Vec<String>>,
    /// The model it uses, instead of the usual one
    #[arg(long)]
    model: Option<String>,
    /// The provider of that model
    #[arg(long)]
    provider: Option<String>,
    /// A script in the home's folder `scripts` that runs first; what it prints goes to the agent
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// What the script prints is the answer, and no model is asked
    #[arg(long)]
    no_agent: bool,
    /// Show it the last answer of this job; may be given several times
    #[arg(long, value_name = "JOB")]
    context_from: Option<Vec<String>>,
    /// Only these toolsets or tools
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    toolsets: Option<Vec<String>>,
    /// The folder it works in; else where the scheduler was started
    #[arg(long, value_name = "FOLDER")]
    workdir: Option<String>,
    /// The time zone of its schedule, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// What becomes of missed times: grace, skip, `run_once` or `catch_up`
    #[arg(long, value_name = "RULE")]
    misfire: Option<Misfire>,
}

impl Wishes {
    /// Together with what and when.
    pub(crate) fn draft(self, shell: &Shell, schedule: Option<String>, prompt: Option<String>) -> Draft {
        let home = shell.user_home();
        let folder = |path: String| {
            if path.is_empty() {
                path
            } else {
                lexical(&path, shell.cwd(), home.as_deref()).display().to_string()
            }
        };
        Draft {
            prompt,
            schedule,
            name: self.name,
            repeat: self.repeat,
            deliver: self.deliver,
            skills: self.skills,
            model: self.model,
            provider: self.provider,
            script: self.script,
            no_agent: self.no_agent.then_some(true),
            context_from: self.context_from,
            enabled_toolsets: self.toolsets,
            workdir: self.workdir.map(folder),
            attach_to_session: None,
            timezone: self.timezone,
            misfire: self.misfire,
            origin: None,
        }
    }
}
