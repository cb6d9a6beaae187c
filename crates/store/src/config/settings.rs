//! The settings this program uses, with their defaults.
//!
//! Only values live here; reading them out of the file is `read.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::models::{EndpointSettings, ModelSettings, TurnSettings};

/// What `config.yaml` says, complete with defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// `toolsets`: what a session without a platform uses.
    pub toolsets: Vec<String>,
    /// `platform_toolsets.<platform>`: only the platforms that are listed; an empty list is empty.
    pub platform_toolsets: BTreeMap<String, Vec<String>>,
    /// `known_plugin_toolsets.<platform>`: plugin toolsets that were there at the last save.
    pub known_plugin_toolsets: BTreeMap<String, Vec<String>>,
    /// `agent`.
    pub agent: AgentSettings,
    /// `tools`.
    pub tools: ToolsSettings,
    /// `tool_output`.
    pub tool_output: ToolOutput,
    /// `file_read_max_chars`: most characters one file read returns.
    pub file_read_max_chars: u64,
    /// `tool_loop_guardrails`.
    pub tool_loop_guardrails: Guardrails,
    /// `approvals`.
    pub approvals: Approvals,
    /// `command_allowlist`: commands that may always run.
    pub command_allowlist: Vec<String>,
    /// `terminal`.
    pub terminal: TerminalSettings,
    /// `model`.
    pub model: ModelSettings,
    /// `providers` and `custom_providers`.
    pub endpoints: Vec<EndpointSettings>,
    /// `fallback_providers`: tried in this order when the model does not answer.
    pub fallbacks: Vec<ModelSettings>,
    /// `auxiliary.<task>`: models for side jobs.
    pub auxiliary: BTreeMap<String, ModelSettings>,
    /// Limits of a turn, in `agent` and `compression`.
    pub turn: TurnSettings,
    /// `memory`.
    pub memory: MemorySettings,
    /// `delegation`.
    pub delegation: Delegation,
    /// `cron`.
    pub cron: CronSettings,
    /// `timezone`: the zone that times are meant in, by its IANA name; else this machine's.
    pub timezone: Option<String>,
    /// `skills`.
    pub skills: SkillsSettings,
    /// `plugins`.
    pub plugins: PluginsSettings,
    /// `hooks.<event>`.
    pub hooks: Vec<HookSettings>,
    /// `hooks_auto_accept`: whether hooks run without somebody having agreed.
    pub hooks_auto_accept: bool,
}

/// One entry of `hooks.<event>`: a program that is told about something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSettings {
    /// The event.
    pub event: String,
    /// `command`: the program and its arguments, without a shell.
    pub command: String,
    /// `matcher`: which tools it is for.
    pub matcher: Option<String>,
    /// `timeout`: how long it may take.
    pub timeout: Duration,
    /// `policy`: whether a call is denied when the hook fails.
    pub policy: bool,
}

impl HookSettings {
    /// How long a hook may take when nothing is said.
    pub const TIMEOUT: Duration = Duration::from_mins(1);
    /// How long it may take at most.
    pub const MAX_TIMEOUT: Duration = Duration::from_mins(5);
}

/// `plugins`: which of them are switched on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginsSettings {
    /// `enabled`: those that are, by name or key.
    pub enabled: Vec<String>,
    /// `disabled`: those that stay off, whatever else says so.
    pub disabled: Vec<String>,
}

/// `skills`: written-down know-how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsSettings {
    /// `external_dirs`: folders with skills beside the home's own.
    pub external_dirs: Vec<String>,
    /// `disabled`: skills that are not offered.
    pub disabled: Vec<String>,
    /// `platform_disabled.<platform>`: skills that are not offered there.
    pub platform_disabled: BTreeMap<String, Vec<String>>,
    /// `template_vars`: whether `${HERMES_SKILL_DIR}` and the like are filled in.
    pub template_vars: bool,
}

/// `memory`: notes that last beyond a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySettings {
    /// `memory_enabled`: notes about the work.
    pub memory_enabled: bool,
    /// `user_profile_enabled`: notes about the person.
    pub user_profile_enabled: bool,
    /// `memory_char_limit`: most characters of all notes about the work.
    pub memory_char_limit: u64,
    /// `user_char_limit`: most characters of all notes about the person.
    pub user_char_limit: u64,
}

/// `delegation`: work that is handed to other agents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delegation {
    /// `max_iterations`, 1 to 10,000: how often the model of one task may be asked.
    pub max_iterations: u64,
    /// `max_concurrent_children`, 1 to 64: most tasks of one call.
    pub max_concurrent_children: u64,
    /// `max_spawn_depth`, 0 to 8: how many generations of tasks there may be; 0 is none at all.
    pub max_spawn_depth: u64,
    /// `max_summary_chars`: most characters of a report; the rest goes to a file.
    pub max_summary_chars: u64,
    /// `child_timeout_seconds`: a task is stopped after that; 0 means never (`None`).
    pub child_timeout: Option<Duration>,
    /// `subagent_auto_approve`: whether risky commands of tasks run without a question; else they
    /// do not run.
    pub subagent_auto_approve: bool,
    /// `model`: for tasks, instead of the session's own.
    pub model: Option<String>,
    /// `provider`: for tasks, instead of the session's own.
    pub provider: Option<String>,
}

/// `cron`: work that the clock starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CronSettings {
    /// `output_retention`, 1 to 10,000: how many answers of a job are kept.
    pub output_retention: u64,
    /// `max_parallel_jobs`, 1 to 64: how many jobs run at once.
    pub max_parallel_jobs: u64,
    /// `script_timeout`: a script is stopped after that.
    pub script_timeout: Duration,
    /// `run_timeout`: a run is stopped after that; 0 means never (`None`).
    pub run_timeout: Option<Duration>,
}

/// `terminal`: where and how commands run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalSettings {
    /// `terminal.fence`.
    pub fence: FenceLevel,
    /// `terminal.fence_paths`: what commands behind the fence may write beside the workspace.
    pub fence_paths: Vec<String>,
}

/// `terminal.fence`: what commands of this machine are kept from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FenceLevel {
    /// Nothing.
    #[default]
    Off,
    /// Writes outside the workspace, reads of credentials.
    Workspace,
    /// Also the network, and signals to processes outside.
    Strict,
}

/// `agent`: what is taken away from every selection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSettings {
    /// `agent.disabled_toolsets`.
    pub disabled_toolsets: Vec<String>,
    /// `agent.disabled_tools`: single tools, whatever toolset brings them in.
    pub disabled_tools: Vec<String>,
}

/// `tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsSettings {
    /// `tools.tool_search`.
    pub tool_search: ToolSearch,
    /// `tools.limits`.
    pub limits: Limits,
}

/// `tools.tool_search`: whether rarely used tools are found by search instead of being declared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSearch {
    /// `enabled`: `auto` (also `true`), `on`, `off` (also `false`).
    pub enabled: Switch,
    /// `threshold_pct`, 0 to 100: with `auto`, the share of the context at which searching starts.
    pub threshold_pct: u8,
    /// `search_default_limit`, 1 to the largest limit: hits when the model does not say.
    pub search_default_limit: u8,
    /// `max_search_limit`, 1 to 50: most hits the model may ask for.
    pub max_search_limit: u8,
    /// `include_core`: whether core tools may be deferred too.
    pub include_core: bool,
}

/// On, off, or decided from the size of what is at hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Switch {
    /// Decide by size.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// `tools.limits`: how long calls may take and how large results may be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// `batch_timeout`, seconds: a batch of calls must end by then; 0 means no limit (`None`).
    pub batch_timeout: Option<Duration>,
    /// `interrupt_grace`, seconds: how long a running call may take to stop.
    pub interrupt_grace: Duration,
    /// `max_parallel`, 1 to 64: most calls running at once.
    pub max_parallel: u64,
    /// `result_chars`: a longer result goes to a file.
    pub result_chars: u64,
    /// `turn_chars`: most characters of all results of a batch together.
    pub turn_chars: u64,
    /// `preview_chars`: how much of a result in a file is shown.
    pub preview_chars: u64,
    /// `spill_mb`: most megabytes of such files per session.
    pub spill_mb: u64,
    /// `spill_days`: how long such files are kept.
    pub spill_days: u64,
}

/// `tool_output`: caps on what commands and reads return.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// `max_bytes`: most characters of a command's output.
    pub max_bytes: u64,
    /// `max_lines`: most lines of one file read.
    pub max_lines: u64,
    /// `max_line_length`: longer lines are cut.
    pub max_line_length: u64,
}

/// `tool_loop_guardrails`: when a model repeats itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guardrails {
    /// `warnings_enabled`.
    pub warnings_enabled: bool,
    /// `hard_stop_enabled`.
    pub hard_stop_enabled: bool,
    /// `warn_after`.
    pub warn_after: Repeats,
    /// `hard_stop_after`.
    pub hard_stop_after: Repeats,
}

/// How many repeats are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// `exact_failure`: the same call failed.
    pub exact_failure: u64,
    /// `same_tool_failure`: the same tool failed.
    pub same_tool_failure: u64,
    /// `idempotent_no_progress`: the same read gave the same result.
    pub idempotent_no_progress: u64,
}

/// `approvals`: who is asked before something risky runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approvals {
    /// `mode`.
    pub mode: ApprovalMode,
    /// `timeout`, seconds: how long an answer is waited for, then it is no.
    pub timeout: Duration,
    /// `cron_mode`: what happens in scheduled runs, where nobody can be asked.
    pub cron_mode: CronMode,
    /// `deny`: command patterns that never run.
    pub deny: Vec<String>,
    /// `mcp_reload_confirm`: ask before MCP servers are reloaded.
    pub mcp_reload_confirm: bool,
    /// `destructive_slash_confirm`: ask before a slash command that loses something.
    pub destructive_slash_confirm: bool,
}

/// How risky commands are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalMode {
    /// A person is asked.
    Manual,
    /// A second model may approve what is of low risk; the rest is asked.
    Smart,
    /// Nobody is asked; only what is never allowed is stopped.
    Off,
    /// Nobody is asked; only what was granted before runs.
    Deny,
}

/// What happens to risky commands in scheduled runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronMode {
    /// They do not run.
    Deny,
    /// They run.
    Approve,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            toolsets: vec!["hermes-cli".to_owned()],
            platform_toolsets: BTreeMap::new(),
            known_plugin_toolsets: BTreeMap::new(),
            agent: AgentSettings::default(),
            tools: ToolsSettings::default(),
            tool_output: ToolOutput::default(),
            file_read_max_chars: 100_000,
            tool_loop_guardrails: Guardrails::default(),
            approvals: Approvals::default(),
            command_allowlist: Vec::new(),
            terminal: TerminalSettings::default(),
            model: ModelSettings::default(),
            endpoints: Vec::new(),
            fallbacks: Vec::new(),
            auxiliary: BTreeMap::new(),
            turn: TurnSettings::default(),
            memory: MemorySettings::default(),
            delegation: Delegation::default(),
            cron: CronSettings::default(),
            timezone: None,
            skills: SkillsSettings::default(),
            plugins: PluginsSettings::default(),
            hooks: Vec::new(),
            hooks_auto_accept: false,
        }
    }
}

impl Default for CronSettings {
    fn default() -> CronSettings {
        CronSettings {
            output_retention: 50,
            max_parallel_jobs: 4,
            script_timeout: Duration::from_hours(1),
            run_timeout: Some(Duration::from_hours(2)),
        }
    }
}

impl Default for MemorySettings {
    fn default() -> MemorySettings {
        MemorySettings {
            memory_enabled: true,
            user_profile_enabled: true,
            memory_char_limit: 2200,
            user_char_limit: 1375,
        }
    }
}

impl Default for SkillsSettings {
    fn default() -> SkillsSettings {
        SkillsSettings {
            external_dirs: Vec::new(),
            disabled: Vec::new(),
            platform_disabled: BTreeMap::new(),
            template_vars: true,
        }
    }
}

impl Default for Delegation {
    fn default() -> Delegation {
        Delegation {
            max_iterations: 50,
            max_concurrent_children: 3,
            max_spawn_depth: 1,
            max_summary_chars: 24_000,
            child_timeout: None,
            subagent_auto_approve: false,
            model: None,
            provider: None,
        }
    }
}

impl Default for ToolSearch {
    fn default() -> ToolSearch {
        ToolSearch {
            enabled: Switch::Auto,
            threshold_pct: 10,
            search_default_limit: 5,
            max_search_limit: 20,
            include_core: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            batch_timeout: Some(Duration::from_mins(7)),
            interrupt_grace: Duration::from_secs(3),
            max_parallel: 8,
            result_chars: 100_000,
            turn_chars: 200_000,
            preview_chars: 1500,
            spill_mb: 64,
            spill_days: 7,
        }
    }
}

impl Default for ToolOutput {
    fn default() -> ToolOutput {
        ToolOutput { max_bytes: 50_000, max_lines: 2000, max_line_length: 2000 }
    }
}

impl Default for Guardrails {
    fn default() -> Guardrails {
        Guardrails {
            warnings_enabled: true,
            hard_stop_enabled: false,
            warn_after: Repeats { exact_failure: 2, same_tool_failure: 3, idempotent_no_progress: 2 },
            hard_stop_after: Repeats { exact_failure: 5, same_tool_failure: 8, idempotent_no_progress: 5 },
        }
    }
}

impl Default for Approvals {
    fn default() -> Approvals {
        Approvals {
            mode: ApprovalMode::Smart,
            timeout: Duration::from_mins(1),
            cron_mode: CronMode::Deny,
            deny: Vec::new(),
            mcp_reload_confirm: true,
            destructive_slash_confirm: true,
        }
    }
}
