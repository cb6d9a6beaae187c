//! Every key that this program uses: its type, its default, and what it is for.
//!
//! `hermes config` explains, completes and checks from this table. That its defaults are the ones
//! that are really used is a test below.

use super::path::KeyPath;
use super::{known, tool_keys};

/// One key, or a family of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyDef {
    /// Dotted path; `*` stands for any name.
    pub path: &'static str,
    /// What may stand there, in words.
    pub kind: KeyKind,
    /// The default as YAML; empty when there is none.
    pub default: &'static str,
    /// What it is for.
    pub about: &'static str,
}

/// What may stand at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Count,
    /// A number of seconds.
    Seconds,
    /// Any number.
    Number,
    /// A share from 0 to 1, or percent.
    Share,
    /// Any text.
    Text,
    /// One of several words, separated by `|`.
    Word(&'static str),
    /// A list of texts.
    Texts,
    /// `true`, `false`, or a list of texts.
    FlagOrTexts,
    /// A list of maps.
    Maps,
    /// A map of settings.
    Map,
}

impl KeyKind {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Count => "a whole number".to_owned(),
            Self::Seconds => "seconds".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Share => "a share from 0 to 1".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Word(words) => format!("one of {}", words.replace('|', ", ")),
            Self::Texts => "a list of texts".to_owned(),
            Self::FlagOrTexts => "true, false, or a list of texts".to_owned(),
            Self::Maps => "a list of maps".to_owned(),
            Self::Map => "a map of settings".to_owned(),
        }
    }
}

/// What is known about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// This program uses it.
    Used(&'static KeyDef),
    /// It is a map with keys that this program uses.
    Above,
    /// The original has it, or may have it; this program leaves it alone.
    LeftAlone,
    /// Nobody knows it.
    Unknown {
        /// The known key it is most like.
        near: Option<&'static str>,
    },
}

pub(super) const fn key(
    path: &'static str,
    kind: KeyKind,
    default: &'static str,
    about: &'static str,
) -> KeyDef {
    KeyDef { path, kind, default, about }
}

use KeyKind::{Count, Flag, Maps, Seconds, Share, Text, Texts, Word};

/// Every key, in the order in which people meet things; those of single tools last.
pub fn keys() -> impl Iterator<Item = &'static KeyDef> + Clone {
    KEYS.iter().chain(tool_keys::KEYS)
}

/// Those that the program itself uses.
static KEYS: &[KeyDef] = &[
    key("model.default", Text, "", "the model that is talked to"),
    key(
        "model.provider",
        Text,
        "",
        "who serves it: a known provider, one of `providers`, `custom` or `auto`",
    ),
    key(
        "model.base_url",
        Text,
        "",
        "the address of the model, for `custom` and to override a provider's own",
    ),
    key("model.api_key", Text, "", "the key itself; better kept in `.env`"),
    key("model.key_env", Text, "", "the variable that holds the key"),
    key(
        "model.api_mode",
        Word("chat_completions|codex_responses|anthropic_messages"),
        "",
        "the wire, where the address does not tell",
    ),
    key("model.context_length", Count, "", "size of the context in tokens, where it cannot be found out"),
    key("model.max_tokens", Count, "", "most tokens of an answer"),
    key("model.timeout", Seconds, "", "seconds until a model must have answered"),
    key("providers.*.base_url", Text, "", "address of an endpoint of your own (also `api`, `url`)"),
    key("providers.*.key_env", Text, "", "the variable that holds its key"),
    key("providers.*.api_key", Text, "", "its key; better kept in `.env`"),
    key(
        "providers.*.api_mode",
        Word("chat_completions|codex_responses|anthropic_messages"),
        "",
        "its wire (also `transport`)",
    ),
    key("providers.*.default_model", Text, "", "the model used there"),
    key("providers.*.enabled", Flag, "true", "whether it is used at all"),
    key("providers.*.extra_headers.*", Text, "", "headers added to every request"),
    key("providers.*.extra_body", Maps, "", "fields added to every request"),
    key("providers.*.models.*.context_length", Count, "", "size of a model's context there"),
    key("custom_providers", Maps, "", "the same as `providers`, as a list with `name`"),
    key("fallback_providers", Maps, "", "models tried in this order when the first does not answer"),
    key("fallback_model", Maps, "", "the older way to name one fallback"),
    key("auxiliary.*.provider", Text, "auto", "who serves the model for a side job"),
    key("auxiliary.*.model", Text, "", "the model for a side job (`compression`, `approval`, …)"),
    key("auxiliary.*.base_url", Text, "", "its address"),
    key("auxiliary.*.api_key", Text, "", "its key"),
    key("auxiliary.*.timeout", Seconds, "", "seconds until it must have answered"),
    key("agent.max_turns", Count, "90", "most model calls of one turn"),
    key("agent.api_max_retries", Count, "3", "how often a failed model call is made again"),
    key("agent.turn_timeout", Seconds, "7200", "seconds until a turn is over; 0 is no limit"),
    key("agent.stall_timeout", Seconds, "180", "a model that says nothing for so long has stalled"),
    key("agent.reasoning_effort", Text, "", "how hard the model is to think"),
    key("agent.disabled_toolsets", Texts, "[]", "out on every platform, whatever else is said"),
    key("agent.disabled_tools", Texts, "[]", "single tools that are out on every platform"),
    key("compression.enabled", Flag, "true", "whether a long conversation is shortened"),
    key("compression.threshold", Share, "0.75", "share of the context from which it is shortened"),
    key("memory.memory_enabled", Flag, "true", "notes about the work, which last beyond a session"),
    key("memory.user_profile_enabled", Flag, "true", "notes about you"),
    key("memory.memory_char_limit", Count, "2200", "most characters of all notes about the work"),
    key("memory.user_char_limit", Count, "1375", "most characters of all notes about you"),
    key("hooks.*", Maps, "", "programs that are told about an event: command, matcher, timeout, policy"),
    key("hooks_auto_accept", Flag, "false", "whether hooks run without somebody having agreed"),
    key("skills.external_dirs", Texts, "[]", "folders with skills beside the home's own"),
    key("skills.disabled", Texts, "[]", "skills that are not offered"),
    key("skills.platform_disabled.*", Texts, "", "skills that are not offered on a platform"),
    key("skills.template_vars", Flag, "true", "whether `${HERMES_SKILL_DIR}` and the like are filled in"),
    key("delegation.max_iterations", Count, "50", "how often the model of one task may be asked"),
    key("delegation.max_concurrent_children", Count, "3", "most tasks of one call"),
    key("delegation.max_spawn_depth", Count, "1", "how many generations of tasks there may be"),
    key("delegation.max_summary_chars", Count, "24000", "most characters of a report"),
    key("delegation.child_timeout_seconds", Seconds, "0", "a task is stopped after that; 0 means never"),
    key(
        "delegation.subagent_auto_approve",
        Flag,
        "false",
        "whether risky commands of tasks run without a question",
    ),
    key("delegation.model", Text, "", "the model for tasks, instead of the session's own"),
    key("delegation.provider", Text, "", "its provider"),
    key("timezone", Text, "", "the time zone that times are meant in, such as Europe/Berlin"),
    key("cron.output_retention", Count, "50", "how many answers of a job are kept"),
    key("cron.max_parallel_jobs", Count, "4", "how many jobs run at once"),
    key("cron.script_timeout", Seconds, "3600", "seconds until the script of a job is stopped"),
    key("cron.run_timeout", Seconds, "7200", "seconds until a run of a job is stopped; 0 means never"),
    key("toolsets", Texts, "[hermes-cli]", "what a session without a platform uses"),
    key("platform_toolsets.*", Texts, "", "the toolsets or tools of a platform"),
    key("plugins.enabled", Texts, "", "plugins that are switched on, by name or key"),
    key("plugins.disabled", Texts, "", "plugins that stay off, whatever else says so"),
    key(
        "plugins.entries.*.allow_tool_override",
        Flag,
        "false",
        "whether tools of this plugin may stand in for built-in ones",
    ),
    key("known_plugin_toolsets.*", Texts, "", "plugin toolsets that were there at the last save"),
    key("approvals.mode", Word("manual|smart|off|deny"), "smart", "who is asked before something risky runs"),
    key("approvals.timeout", Seconds, "60", "seconds until no answer is a no"),
    key(
        "approvals.cron_mode",
        Word("deny|approve"),
        "deny",
        "what happens in scheduled runs, where nobody can be asked",
    ),
    key("approvals.deny", Texts, "[]", "patterns of commands that never run"),
    key("approvals.rules", Maps, "[]", "your own rules"),
    key("approvals.mcp_reload_confirm", Flag, "true", "ask before MCP servers are reloaded"),
    key(
        "approvals.destructive_slash_confirm",
        Flag,
        "true",
        "ask before a slash command that loses something",
    ),
    key("command_allowlist", Texts, "[]", "what you have allowed for good"),
    key("terminal.fence", Word("off|workspace|strict"), "off", "what commands of this machine are kept from"),
    key("terminal.fence_paths", Texts, "[]", "what commands behind the fence may write beside the workspace"),
    key(
        "tools.tool_search.enabled",
        Word("auto|on|off"),
        "auto",
        "whether rarely used tools are found by search",
    ),
    key(
        "tools.tool_search.threshold_pct",
        Count,
        "10",
        "with `auto`: percent of the context from which tools are left out",
    ),
    key("tools.tool_search.search_default_limit", Count, "5", "matches when the model names no number"),
    key("tools.tool_search.max_search_limit", Count, "20", "most matches it can ask for"),
    key("tools.tool_search.include_core", Flag, "false", "whether core tools may be left out too"),
    key("tools.limits.batch_timeout", Seconds, "420", "seconds until all calls of one answer must be done"),
    key("tools.limits.interrupt_grace", Seconds, "3", "how long a running call may take to stop"),
    key("tools.limits.max_parallel", Count, "8", "calls running at once"),
    key("tools.limits.result_chars", Count, "100000", "a longer result goes to a file"),
    key("tools.limits.turn_chars", Count, "200000", "most characters of all results of one answer"),
    key("tools.limits.preview_chars", Count, "1500", "how much of a result in a file is shown"),
    key("tools.limits.spill_mb", Count, "64", "most megabytes of such files per session"),
    key("tools.limits.spill_days", Count, "7", "how long such files are kept"),
    key("tool_output.max_bytes", Count, "50000", "most characters of a command's output"),
    key("tool_output.max_lines", Count, "2000", "most lines of one file read"),
    key("tool_output.max_line_length", Count, "2000", "longer lines are cut"),
    key("file_read_max_chars", Count, "100000", "most characters one file read returns"),
    key("tool_loop_guardrails.warnings_enabled", Flag, "true", "tell the model when it goes in circles"),
    key("tool_loop_guardrails.hard_stop_enabled", Flag, "false", "refuse a call that was repeated too often"),
    key("tool_loop_guardrails.warn_after.exact_failure", Count, "2", "the same call failed"),
    key("tool_loop_guardrails.warn_after.same_tool_failure", Count, "3", "the same tool failed"),
    key(
        "tool_loop_guardrails.warn_after.idempotent_no_progress",
        Count,
        "2",
        "the same look gave the same answer",
    ),
    key("tool_loop_guardrails.hard_stop_after.exact_failure", Count, "5", "the same call failed"),
    key("tool_loop_guardrails.hard_stop_after.same_tool_failure", Count, "8", "the same tool failed"),
    key(
        "tool_loop_guardrails.hard_stop_after.idempotent_no_progress",
        Count,
        "5",
        "the same look gave the same answer",
    ),
    key("mcp_servers.*", KeyKind::Map, "", "an MCP server: `command` and `args`, or `url`; see docs/mcp.md"),
    key("mcp_discovery_timeout", Seconds, "", "how long a start waits for new MCP servers"),
    key("checkpoints.enabled", Flag, "true", "whether the old content of files is kept before they change"),
    key("checkpoints.max_snapshots", Count, "20", "most snapshots per folder"),
    key("checkpoints.max_total_size_mb", Count, "500", "most megabytes of all"),
    key("checkpoints.max_file_size_mb", Count, "10", "larger files are not kept"),
    key("checkpoints.retention_days", Count, "7", "how long they are kept"),
];

/// What is known about a place in the file.
pub fn standing(path: &KeyPath) -> Standing {
    let parts: Vec<&str> = path.keys().iter().map(String::as_str).collect();
    if let Some(found) = keys().find(|def| matches(def.path, &parts)) {
        return Standing::Used(found);
    }
    if keys().any(|def| begins(def.path, &parts)) {
        return Standing::Above;
    }
    // Below a list or a map that is taken whole.
    let whole = |def: &&KeyDef| {
        matches!(def.kind, Maps | KeyKind::Map | Texts | KeyKind::FlagOrTexts) && below(def.path, &parts)
    };
    if let Some(found) = keys().find(whole) {
        return Standing::Used(found);
    }
    let top = parts.first().copied().unwrap_or_default();
    let known_top = known::TOP_LEVEL.iter().chain(known::PLATFORMS).any(|known| *known == top);
    let text = path.to_string();
    let near = known::nearest(&text, keys().map(|def| def.path))
        .or_else(|| known::nearest(top, known::TOP_LEVEL.iter().copied()).filter(|_| !known_top));
    if known_top && near.is_none() { Standing::LeftAlone } else { Standing::Unknown { near } }
}

fn matches(pattern: &str, parts: &[&str]) -> bool {
    pattern.split('.').count() == parts.len() && begins(pattern, parts)
}

/// Whether the parts lead to the pattern, or some way towards it.
fn begins(pattern: &str, parts: &[&str]) -> bool {
    let mut names = pattern.split('.');
    parts.iter().all(|part| names.next().is_some_and(|name| name == "*" || name == *part))
}

fn below(pattern: &str, parts: &[&str]) -> bool {
    let length = pattern.split('.').count();
    parts.get(..length).is_some_and(|above| length < parts.len() && begins(pattern, above))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Config, Settings};
    use super::*;

    fn stands(text: &str) -> Standing {
        standing(&text.parse().unwrap())
    }

    #[test]
    fn every_default_in_the_table_is_the_one_that_is_used() {
        for def in keys().filter(|def| !def.default.is_empty() && !def.path.contains('*')) {
            let yaml: Vec<String> = def
                .path
                .split('.')
                .enumerate()
                .map(|(depth, name)| format!("{}{name}:", "  ".repeat(depth)))
                .collect();
            let text = format!("{} {}\n", yaml.join("\n"), def.default);
            let config = Config::parse(Path::new("config.yaml"), &text, &|_| None).unwrap();

            assert_eq!(config.settings, Settings::default(), "{text}");
            assert_eq!(config.warnings, [], "{text}");
        }
    }

    #[test]
    fn a_place_is_used_left_alone_or_unknown() {
        assert!(matches!(stands("model.default"), Standing::Used(def) if def.path == "model.default"));
        assert!(matches!(stands("providers.work.api_mode"), Standing::Used(_)));
        assert!(matches!(stands("approvals.rules.0.then"), Standing::Used(_)));
        assert!(matches!(stands("mcp_servers.files.tools.include"), Standing::Used(_)));
        assert_eq!(stands("mcp_servers"), Standing::Above);
        assert_eq!(stands("agent"), Standing::Above);
        assert_eq!(stands("voice.beep_enabled"), Standing::LeftAlone);
        assert!(matches!(stands("browser.command_timeout"), Standing::Used(def) if def.default == "30"));
        assert!(matches!(stands("tts.openai.voice"), Standing::Used(def) if def.path == "tts.*.voice"));
        let own = "tts.providers.mine.command";
        assert!(matches!(stands(own), Standing::Used(def) if def.path == "tts.providers.*.command"));
        assert_eq!(
            stands("browser.comand_timeout"),
            Standing::Unknown { near: Some("browser.command_timeout") }
        );
        assert_eq!(stands("model.defualt"), Standing::Unknown { near: Some("model.default") });
        assert_eq!(stands("modle"), Standing::Unknown { near: Some("model") });
        assert_eq!(stands("frobnicate"), Standing::Unknown { near: None });
    }
}
