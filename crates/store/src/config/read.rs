//! Which value of the file is which setting: one function per section.

use std::ops::RangeInclusive;

use hermes_core::hook::EventKind;

use super::known;
use super::models;
use super::reader::{Keys, Reader, Section};
use super::settings::{
    AgentSettings, ApprovalMode, Approvals, CronMode, CronSettings, Delegation, FenceLevel, Guardrails,
    HookSettings, Limits, MemorySettings, PluginsSettings, Repeats, Settings, SkillsSettings, Switch,
    TerminalSettings, ToolOutput, ToolSearch, ToolsSettings,
};
use super::tree::Kind;

/// The settings of a file, complete with defaults.
pub(super) fn settings<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Settings {
    let default = Settings::default();
    let known: Vec<&str> = known::TOP_LEVEL.iter().chain(known::PLATFORMS).copied().collect();
    reader.check_keys(root, &known, Keys::All);

    let agent = reader.section(root, "agent", "agent");
    let keys = [
        "disabled_toolsets",
        "disabled_tools",
        "max_turns",
        "api_max_retries",
        "turn_timeout",
        "stall_timeout",
        "reasoning_effort",
    ];
    reader.check_keys(agent, &keys, Keys::Some);

    Settings {
        toolsets: reader.texts(root, "toolsets").unwrap_or(default.toolsets),
        platform_toolsets: reader.text_lists(root, "platform_toolsets"),
        known_plugin_toolsets: reader.text_lists(root, "known_plugin_toolsets"),
        agent: AgentSettings {
            disabled_toolsets: reader.texts(agent, "disabled_toolsets").unwrap_or_default(),
            disabled_tools: reader.texts(agent, "disabled_tools").unwrap_or_default(),
        },
        tools: tools(reader, root),
        tool_output: tool_output(reader, root),
        file_read_max_chars: reader.count(
            root,
            "file_read_max_chars",
            default.file_read_max_chars,
            1..=100_000_000,
        ),
        tool_loop_guardrails: guardrails(reader, root),
        approvals: approvals(reader, root),
        command_allowlist: reader.texts(root, "command_allowlist").unwrap_or_default(),
        terminal: terminal(reader, root),
        model: models::model(reader, root),
        endpoints: models::endpoints(reader, root),
        fallbacks: models::fallbacks(reader, root),
        auxiliary: models::auxiliary(reader, root),
        turn: models::turn(reader, root, agent),
        memory: memory(reader, root),
        delegation: delegation(reader, root),
        cron: cron(reader, root),
        timezone: reader.text(root, "timezone").filter(|name| !name.trim().is_empty()),
        skills: skills(reader, root),
        plugins: plugins(reader, root),
        hooks: hooks(reader, root),
        hooks_auto_accept: reader.flag(root, "hooks_auto_accept", default.hooks_auto_accept),
    }
}

fn memory<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> MemorySettings {
    const RANGE: RangeInclusive<u64> = 100..=100_000;
    let default = MemorySettings::default();
    let section = reader.section(root, "memory", "memory");
    let keys = ["memory_enabled", "user_profile_enabled", "memory_char_limit", "user_char_limit"];
    reader.check_keys(section, &keys, Keys::Some);
    MemorySettings {
        memory_enabled: reader.flag(section, "memory_enabled", default.memory_enabled),
        user_profile_enabled: reader.flag(section, "user_profile_enabled", default.user_profile_enabled),
        memory_char_limit: reader.count(section, "memory_char_limit", default.memory_char_limit, RANGE),
        user_char_limit: reader.count(section, "user_char_limit", default.user_char_limit, RANGE),
    }
}

/// Every hook, in the order of the file. What is not known as an event is told about and passed over.
fn hooks<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Vec<HookSettings> {
    /// A setting of the original that stands among the events.
    const OUTPUT_SPILL: &str = "output_spill";
    let section = reader.section(root, "hooks", "hooks");
    let known: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).chain([OUTPUT_SPILL]).collect();
    reader.check_keys(section, &known, Keys::All);
    // One that is meant to decide must not be passed over.
    reader.check_flag(section, &known, "policy");
    reader.check_flag_where_repeated(root, "hooks", "policy");
    for misspelt in Reader::unknown_like(root, known::TOP_LEVEL, "hooks") {
        reader.check_flag(misspelt, &[], "policy");
    }
    let mut hooks = Vec::new();
    for kind in EventKind::ALL {
        for item in reader.items(section, kind.name()) {
            reader.check_keys(item, &["command", "matcher", "timeout", "policy"], Keys::All);
            let most = HookSettings::MAX_TIMEOUT;
            let timeout = reader.seconds(item, "timeout", HookSettings::TIMEOUT).min(most);
            let (matcher, policy) = (reader.text(item, "matcher"), reader.flag(item, "policy", false));
            match reader.text(item, "command") {
                Some(command) => hooks.push(HookSettings {
                    event: kind.name().to_owned(),
                    command,
                    matcher,
                    timeout: if timeout.is_zero() { HookSettings::TIMEOUT } else { timeout },
                    policy,
                }),
                None => reader.missing(item, "command"),
            }
        }
    }
    hooks
}

fn plugins<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> PluginsSettings {
    let section = reader.section(root, "plugins", "plugins");
    reader.check_keys(section, &["enabled", "disabled", "entries"], Keys::Some);
    PluginsSettings {
        enabled: reader.names_or_one(section, "enabled").unwrap_or_default(),
        disabled: reader.names_or_one(section, "disabled").unwrap_or_default(),
    }
}

fn skills<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> SkillsSettings {
    let section = reader.section(root, "skills", "skills");
    reader.check_keys(
        section,
        &["external_dirs", "disabled", "platform_disabled", "template_vars"],
        Keys::Some,
    );
    SkillsSettings {
        external_dirs: reader.names_or_one(section, "external_dirs").unwrap_or_default(),
        disabled: reader.names_or_one(section, "disabled").unwrap_or_default(),
        platform_disabled: reader.name_lists(section, "platform_disabled"),
        template_vars: reader.flag(section, "template_vars", SkillsSettings::default().template_vars),
    }
}

fn cron<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> CronSettings {
    let default = CronSettings::default();
    let section = reader.section(root, "cron", "cron");
    let keys = ["output_retention", "max_parallel_jobs", "script_timeout", "run_timeout"];
    reader.check_keys(section, &keys, Keys::Some);
    let limit = reader.seconds(section, "run_timeout", default.run_timeout.unwrap_or_default());
    CronSettings {
        output_retention: reader.count(section, "output_retention", default.output_retention, 1..=10_000),
        max_parallel_jobs: reader.count(section, "max_parallel_jobs", default.max_parallel_jobs, 1..=64),
        script_timeout: reader.seconds(section, "script_timeout", default.script_timeout),
        run_timeout: (!limit.is_zero()).then_some(limit),
    }
}

fn delegation<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Delegation {
    let default = Delegation::default();
    let section = reader.section(root, "delegation", "delegation");
    let keys = [
        "max_iterations",
        "max_concurrent_children",
        "max_spawn_depth",
        "max_summary_chars",
        "child_timeout_seconds",
        "subagent_auto_approve",
        "model",
        "provider",
    ];
    reader.check_keys(section, &keys, Keys::Some);
    let mut count = |key, default, range| reader.count(section, key, default, range);
    let max_iterations = count("max_iterations", default.max_iterations, 1..=10_000);
    let max_concurrent_children = count("max_concurrent_children", default.max_concurrent_children, 1..=64);
    let max_spawn_depth = count("max_spawn_depth", default.max_spawn_depth, 0..=8);
    let max_summary_chars = count("max_summary_chars", default.max_summary_chars, 1000..=1_000_000);
    let timeout = reader.seconds(section, "child_timeout_seconds", default.child_timeout.unwrap_or_default());
    Delegation {
        max_iterations,
        max_concurrent_children,
        max_spawn_depth,
        max_summary_chars,
        child_timeout: (!timeout.is_zero()).then_some(timeout),
        subagent_auto_approve: reader.flag(section, "subagent_auto_approve", default.subagent_auto_approve),
        model: reader.text(section, "model"),
        provider: reader.text(section, "provider"),
    }
}

fn terminal<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> TerminalSettings {
    const LEVELS: &[(&str, FenceLevel)] = &[
        ("off", FenceLevel::Off),
        ("workspace", FenceLevel::Workspace),
        ("strict", FenceLevel::Strict),
        // Without quotes, `off` is false to other YAML readers, and may have been saved as that.
        ("false", FenceLevel::Off),
    ];
    let section = reader.section(root, "terminal", "terminal");
    reader.check_keys(section, &["fence", "fence_paths"], Keys::Some);
    TerminalSettings {
        fence: reader.word(section, "fence", LEVELS).unwrap_or_default(),
        fence_paths: reader.texts(section, "fence_paths").unwrap_or_default(),
    }
}

fn tools<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> ToolsSettings {
    let tools = reader.section(root, "tools", "tools");
    reader.check_keys(tools, &["tool_search", "limits"], Keys::Some);
    ToolsSettings { tool_search: tool_search(reader, tools), limits: limits(reader, tools) }
}

fn tool_search<'t>(reader: &mut Reader<'t>, tools: Section<'t>) -> ToolSearch {
    const WORDS: &[(&str, Switch)] = &[
        ("auto", Switch::Auto),
        ("on", Switch::On),
        ("off", Switch::Off),
        ("true", Switch::Auto),
        ("false", Switch::Off),
        ("yes", Switch::On),
        ("no", Switch::Off),
        ("1", Switch::On),
        ("0", Switch::Off),
    ];
    let default = ToolSearch::default();
    let is_map = Reader::raw(tools, "tool_search").is_some_and(|node| matches!(node.kind, Kind::Map(_)));
    if !is_map {
        let enabled = reader.word(tools, "tool_search", WORDS).unwrap_or(default.enabled);
        return ToolSearch { enabled, ..default };
    }
    let search = reader.section(tools, "tool_search", "tools.tool_search");
    let keys = ["enabled", "threshold_pct", "search_default_limit", "max_search_limit", "include_core"];
    reader.check_keys(search, &keys, Keys::All);
    let mut small = |key, default: u8, high: u8| {
        let low = u64::from(key != "threshold_pct");
        let used = reader.count(search, key, u64::from(default.min(high)), low..=u64::from(high));
        u8::try_from(used).unwrap_or(high)
    };
    let threshold_pct = small("threshold_pct", default.threshold_pct, 100);
    let max_search_limit = small("max_search_limit", default.max_search_limit, 50);
    let search_default_limit = small("search_default_limit", default.search_default_limit, max_search_limit);
    ToolSearch {
        enabled: reader.word(search, "enabled", WORDS).unwrap_or(default.enabled),
        threshold_pct,
        search_default_limit,
        max_search_limit,
        include_core: reader.flag(search, "include_core", default.include_core),
    }
}

fn limits<'t>(reader: &mut Reader<'t>, tools: Section<'t>) -> Limits {
    const SIZE: RangeInclusive<u64> = 1000..=100_000_000;
    let default = Limits::default();
    let section = reader.section(tools, "limits", "tools.limits");
    let keys = [
        "batch_timeout",
        "interrupt_grace",
        "max_parallel",
        "result_chars",
        "turn_chars",
        "preview_chars",
        "spill_mb",
        "spill_days",
    ];
    reader.check_keys(section, &keys, Keys::All);
    let batch = reader.seconds(section, "batch_timeout", default.batch_timeout.unwrap_or_default());
    Limits {
        batch_timeout: (!batch.is_zero()).then_some(batch),
        interrupt_grace: reader.seconds(section, "interrupt_grace", default.interrupt_grace),
        max_parallel: reader.count(section, "max_parallel", default.max_parallel, 1..=64),
        result_chars: reader.count(section, "result_chars", default.result_chars, SIZE),
        turn_chars: reader.count(section, "turn_chars", default.turn_chars, SIZE),
        preview_chars: reader.count(section, "preview_chars", default.preview_chars, 0..=100_000),
        spill_mb: reader.count(section, "spill_mb", default.spill_mb, 1..=100_000),
        spill_days: reader.count(section, "spill_days", default.spill_days, 0..=3650),
    }
}

fn tool_output<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> ToolOutput {
    const RANGE: RangeInclusive<u64> = 1..=100_000_000;
    let default = ToolOutput::default();
    let section = reader.section(root, "tool_output", "tool_output");
    reader.check_keys(section, &["max_bytes", "max_lines", "max_line_length"], Keys::All);
    ToolOutput {
        max_bytes: reader.count(section, "max_bytes", default.max_bytes, RANGE),
        max_lines: reader.count(section, "max_lines", default.max_lines, RANGE),
        max_line_length: reader.count(section, "max_line_length", default.max_line_length, RANGE),
    }
}

fn guardrails<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Guardrails {
    let default = Guardrails::default();
    let section = reader.section(root, "tool_loop_guardrails", "tool_loop_guardrails");
    let keys = ["warnings_enabled", "hard_stop_enabled", "warn_after", "hard_stop_after"];
    reader.check_keys(section, &keys, Keys::All);
    let warn = reader.section(section, "warn_after", "tool_loop_guardrails.warn_after");
    let stop = reader.section(section, "hard_stop_after", "tool_loop_guardrails.hard_stop_after");
    Guardrails {
        warnings_enabled: reader.flag(section, "warnings_enabled", default.warnings_enabled),
        hard_stop_enabled: reader.flag(section, "hard_stop_enabled", default.hard_stop_enabled),
        warn_after: repeats(reader, warn, default.warn_after),
        hard_stop_after: repeats(reader, stop, default.hard_stop_after),
    }
}

fn repeats<'t>(reader: &mut Reader<'t>, section: Section<'t>, default: Repeats) -> Repeats {
    const RANGE: RangeInclusive<u64> = 1..=1000;
    let keys = ["exact_failure", "same_tool_failure", "idempotent_no_progress"];
    reader.check_keys(section, &keys, Keys::All);
    Repeats {
        exact_failure: reader.count(section, "exact_failure", default.exact_failure, RANGE),
        same_tool_failure: reader.count(section, "same_tool_failure", default.same_tool_failure, RANGE),
        idempotent_no_progress: reader.count(
            section,
            "idempotent_no_progress",
            default.idempotent_no_progress,
            RANGE,
        ),
    }
}

fn approvals<'t>(reader: &mut Reader<'t>, root: Section<'t>) -> Approvals {
    const MODES: &[(&str, ApprovalMode)] = &[
        ("manual", ApprovalMode::Manual),
        ("smart", ApprovalMode::Smart),
        ("off", ApprovalMode::Off),
        ("deny", ApprovalMode::Deny),
        // Without quotes, `off` is false to other YAML readers, and may have been saved as that.
        ("false", ApprovalMode::Off),
    ];
    const CRON: &[(&str, CronMode)] = &[("deny", CronMode::Deny), ("approve", CronMode::Approve)];
    let default = Approvals::default();
    let section = reader.section(root, "approvals", "approvals");
    let keys =
        ["mode", "timeout", "cron_mode", "deny", "rules", "mcp_reload_confirm", "destructive_slash_confirm"];
    reader.check_keys(section, &keys, Keys::Some);
    Approvals {
        mode: reader.word(section, "mode", MODES).unwrap_or(default.mode),
        timeout: reader.seconds(section, "timeout", default.timeout),
        cron_mode: reader.word(section, "cron_mode", CRON).unwrap_or(default.cron_mode),
        deny: reader.texts(section, "deny").unwrap_or_default(),
        mcp_reload_confirm: reader.flag(section, "mcp_reload_confirm", default.mcp_reload_confirm),
        destructive_slash_confirm: reader.flag(
            section,
            "destructive_slash_confirm",
            default.destructive_slash_confirm,
        ),
    }
}
