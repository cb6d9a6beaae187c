//! What `config.yaml` may say, and what is said about it when it is wrong.

#![expect(clippy::disallowed_methods, reason = "a test sets up files and processes of its own")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails like a test")]

use std::path::Path;
use std::time::Duration;

use hermes_store::config::{ApprovalMode, CronMode, KeyPath, Secret, Switch};
use hermes_store::{Config, Home, Settings, StoreError};
use serde_json::json;

fn read(text: &str) -> Result<Config, StoreError> {
    Config::parse(Path::new("config.yaml"), text, &|_| None)
}

fn key(text: &str) -> KeyPath {
    text.parse().unwrap()
}

fn problems(text: &str) -> Vec<String> {
    match read(text) {
        Err(StoreError::Config { problems, .. }) => problems.iter().map(ToString::to_string).collect(),
        other => panic!("expected problems, got {other:?}"),
    }
}

fn warnings(text: &str) -> Vec<String> {
    read(text).unwrap().warnings.iter().map(ToString::to_string).collect()
}

fn syntax(text: &str) -> (u64, u64, String) {
    match read(text) {
        Err(StoreError::Syntax { line, column, why, .. }) => (line, column, why),
        other => panic!("expected a syntax error, got {other:?}"),
    }
}

#[test]
fn an_absent_or_empty_file_is_the_default() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(&dir.path().join("none"));

    assert_eq!(Config::read(&home, &|_| None).unwrap().settings, Settings::default());
    for text in ["", "\n", "# only a comment\n", "---\n", "{}\n", "~\n"] {
        let config = read(text).unwrap();
        assert_eq!(config.settings, Settings::default(), "{text:?}");
        assert_eq!(config.values(), &json!({}), "{text:?}");
    }
    assert!(!home.path().exists());
}

#[test]
fn one_name_about_skills_needs_no_list() {
    let text = "skills:\n  external_dirs: ~/more\n  disabled: quiet\n  platform_disabled: {cli: loud}\n";
    let skills = read(text).unwrap().settings.skills;

    assert_eq!(
        (skills.external_dirs, skills.disabled),
        (vec!["~/more".to_owned()], vec!["quiet".to_owned()])
    );
    assert_eq!(skills.platform_disabled["cli"], ["loud"]);
    assert_eq!(
        problems("skills:\n  disabled: a, b\n"),
        ["line 2: `skills.disabled` must be a list, not the text `a, b` (write `[a, b]`)"]
    );
}

#[test]
fn every_setting_is_read() {
    let config = read(
        "toolsets: [hermes-cli, web]
platform_toolsets: {cli: [], telegram: [web, gh]}
known_plugin_toolsets:
  cli: [spotify]
agent:
  max_turns: 9
  disabled_toolsets: [browser]
  disabled_tools:
    - patch
tools:
  tool_search: {enabled: on, threshold_pct: 20, search_default_limit: 3, max_search_limit: 7, include_core: yes}
  limits: {batch_timeout: 0, interrupt_grace: 1.5, max_parallel: 2, result_chars: 5000, turn_chars: 6000, preview_chars: 7, spill_mb: 8, spill_days: 9}
tool_output: {max_bytes: 1, max_lines: 2, max_line_length: 3}
file_read_max_chars: 4
tool_loop_guardrails:
  warnings_enabled: false
  hard_stop_enabled: true
  warn_after: {exact_failure: 1, same_tool_failure: 2, idempotent_no_progress: 3}
  hard_stop_after: {exact_failure: 4, same_tool_failure: 5, idempotent_no_progress: 6}
approvals: {mode: off, timeout: 5, cron_mode: approve, deny: ['rm *'], mcp_reload_confirm: false, destructive_slash_confirm: false}
command_allowlist: [ls]
",
    )
    .unwrap();

    assert_eq!(config.warnings, []);
    let s = config.settings;
    assert_eq!(s.toolsets, ["hermes-cli", "web"]);
    assert_eq!(s.platform_toolsets["cli"], Vec::<String>::new());
    assert_eq!(s.platform_toolsets["telegram"], ["web", "gh"]);
    assert_eq!(s.known_plugin_toolsets["cli"], ["spotify"]);
    assert_eq!(s.agent.disabled_toolsets, ["browser"]);
    assert_eq!(s.agent.disabled_tools, ["patch"]);
    let search = s.tools.tool_search;
    assert_eq!((search.enabled, search.threshold_pct, search.include_core), (Switch::On, 20, true));
    assert_eq!((search.search_default_limit, search.max_search_limit), (3, 7));
    let limits = s.tools.limits;
    assert_eq!((limits.batch_timeout, limits.interrupt_grace), (None, Duration::from_millis(1500)));
    assert_eq!((limits.max_parallel, limits.result_chars, limits.turn_chars), (2, 5000, 6000));
    assert_eq!((limits.preview_chars, limits.spill_mb, limits.spill_days), (7, 8, 9));
    let output = s.tool_output;
    assert_eq!((output.max_bytes, output.max_lines, output.max_line_length), (1, 2, 3));
    assert_eq!(s.file_read_max_chars, 4);
    let rails = s.tool_loop_guardrails;
    assert_eq!((rails.warnings_enabled, rails.hard_stop_enabled), (false, true));
    assert_eq!((rails.warn_after.exact_failure, rails.warn_after.idempotent_no_progress), (1, 3));
    assert_eq!((rails.hard_stop_after.same_tool_failure, rails.warn_after.same_tool_failure), (5, 2));
    let approvals = s.approvals;
    assert_eq!((approvals.mode, approvals.cron_mode), (ApprovalMode::Off, CronMode::Approve));
    assert_eq!((approvals.timeout, approvals.deny), (Duration::from_secs(5), vec!["rm *".to_owned()]));
    assert!(!approvals.mcp_reload_confirm && !approvals.destructive_slash_confirm);
    assert_eq!(s.command_allowlist, ["ls"]);
}

#[test]
fn tool_search_takes_a_switch_in_all_its_spellings() {
    let cases = [
        ("true", Switch::Auto),
        ("false", Switch::Off),
        ("auto", Switch::Auto),
        ("on", Switch::On),
        ("'on'", Switch::On),
        ("OFF", Switch::Off),
        ("'true'", Switch::Auto),
        ("\"off\"", Switch::Off),
        ("{enabled: off}", Switch::Off),
        ("{enabled: 'on'}", Switch::On),
        ("{}", Switch::Auto),
        ("~", Switch::Auto),
    ];
    for (text, wanted) in cases {
        let settings = read(&format!("tools:\n  tool_search: {text}\n")).unwrap().settings;
        assert_eq!(settings.tools.tool_search.enabled, wanted, "{text}");
    }
}

#[test]
fn numbers_out_of_range_are_moved_into_it_with_a_warning() {
    let text = "tools:
  tool_search:
    threshold_pct: 250
    max_search_limit: 0
    search_default_limit: 9
  limits:
    batch_timeout: -5
    max_parallel: 99999999999999999999
";
    let shown = read(text);

    // A number too long for any integer is no whole number at all.
    assert!(shown.is_err());
    let config = read(&text.replace("99999999999999999999", "1000")).unwrap();
    let search = &config.settings.tools.tool_search;
    assert_eq!((search.threshold_pct, search.max_search_limit, search.search_default_limit), (100, 1, 1));
    assert_eq!(config.settings.tools.limits.max_parallel, 64);
    assert_eq!(config.settings.tools.limits.batch_timeout, None);
    let lines: Vec<u64> = config.warnings.iter().map(|w| w.line).collect();
    assert_eq!(lines, [3, 4, 5, 7, 8]);
}

#[test]
fn a_lowered_largest_limit_lowers_the_default_without_a_warning() {
    let config = read("tools: {tool_search: {max_search_limit: 3}}").unwrap();

    assert_eq!(config.settings.tools.tool_search.search_default_limit, 3);
    assert_eq!(config.warnings, []);
}

#[test]
fn a_text_where_a_list_belongs_is_an_error_with_line_and_hint() {
    assert_eq!(
        problems("# c\nplatform_toolsets:\n  cli: web, file\n"),
        ["line 3: `platform_toolsets.cli` must be a list, not the text `web, file` (write `[web, file]`)"]
    );
}

#[test]
fn all_wrong_values_are_reported_at_once_in_the_order_of_the_file() {
    let text = "command_allowlist: ls
agent: 3
toolsets: [web, 12, [x]]
tool_output: {max_lines: many, max_bytes: 1.5}
tool_loop_guardrails: {warnings_enabled: maybe}
approvals:
  mode: sometimes
  timeout: soon
  cron_mode: on
tools: {tool_search: [on]}
";
    let found = problems(text);

    let lines: Vec<&str> = found.iter().map(|p| p.split_once(':').unwrap().0).collect();
    let wanted = [1, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10].map(|n| format!("line {n}"));
    assert_eq!(lines, wanted);
    assert!(found[2].contains("toolsets.1") && found[2].contains("in quotes"), "{}", found[2]);
    assert_eq!(
        found[7],
        "line 7: `approvals.mode` must be one of manual, smart, off, deny, not the text `sometimes`"
    );
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_known_one() {
    let found = warnings("model: x\nplatform_toolset:\n  cli: [web]\nzebra: 1\ntelegram: {token: x}\n");

    assert_eq!(
        found,
        [
            "line 2: `platform_toolset` is not a known key (did you mean `platform_toolsets`?)",
            "line 4: `zebra` is not a known key",
        ]
    );
    assert_eq!(
        warnings("agent:\n  max_turns: 1\n  disabled_toolset: [x]\n"),
        ["line 3: `agent.disabled_toolset` is not a known key (did you mean `agent.disabled_toolsets`?)"]
    );
    assert_eq!(
        warnings("tool_output: {max_byte: 3}"),
        ["line 1: `tool_output.max_byte` is not a known key (did you mean `tool_output.max_bytes`?)"]
    );
}

#[test]
fn a_misspelt_platform_is_told_and_one_of_somebody_else_is_not() {
    let said = warnings(
        "platform_toolsets: {telegrm: [file], ourchat: [file]}\nskills: {platform_disabled: {clii: a}}\n",
    );

    assert_eq!(
        said,
        [
            "line 1: `platform_toolsets.telegrm` is not a known key (did you mean `platform_toolsets.telegram`?)",
            "line 2: `platform_disabled.clii` is not a known key (did you mean `platform_disabled.cli`?)",
        ]
    );
}

#[test]
fn warnings_about_unknown_keys_end_at_a_hundred() {
    let text: String =
        (0..500).flat_map(|i| ["zebra".to_owned(), i.to_string(), ": v\n".to_owned()]).collect();

    assert_eq!(warnings(&text).len(), 100);
}

#[test]
fn a_repeated_key_counts_last_and_is_reported() {
    let config = read("toolsets: [a]\nmodel: x\ntoolsets: [b]\n").unwrap();

    assert_eq!(config.settings.toolsets, ["b"]);
    assert_eq!(config.warnings.len(), 1);
    assert_eq!((config.warnings[0].line, config.warnings[0].key.as_str()), (3, "toolsets"));
}

#[test]
fn variables_are_replaced_once_and_unknown_ones_stay() {
    let lookup = |name: &str| match name {
        "N" => Some("7".to_owned()),
        "YES" => Some("true".to_owned()),
        "TRICK" => Some("${N}".to_owned()),
        _ => None,
    };
    let text = "model: {api_key: 'k-${N}-${NONE}-${TRICK}-${not a name}-${', base_url: plain}
file_read_max_chars: ${N}
tool_loop_guardrails: {hard_stop_enabled: \"${YES}\"}
";
    let config = Config::parse(Path::new("c"), text, &lookup).unwrap();

    assert_eq!(config.get(&key("model.api_key")), Some(json!("k-7-${NONE}-${N}-${not a name}-${")));
    let written = json!("k-${N}-${NONE}-${TRICK}-${not a name}-${");
    assert_eq!(config.written(&key("model.api_key")), Some(written));
    assert_eq!(config.written(&key("model.none")), None);
    assert_eq!(config.settings.file_read_max_chars, 7);
    assert!(config.settings.tool_loop_guardrails.hard_stop_enabled);
}

#[test]
fn a_value_from_a_variable_is_not_shown_in_an_error() {
    let lookup = |_: &str| Some("hush".to_owned());

    let error = Config::parse(Path::new("c"), "file_read_max_chars: ${K}\n", &lookup).unwrap_err();

    assert!(error.to_string().contains("line 1") && !error.to_string().contains("hush"), "{error}");
}

#[test]
fn debug_output_shows_no_value_that_may_be_a_key() {
    let config = read("model: {api_key: hush}\ntoolsets: [web]\n").unwrap();

    let shown = format!("{config:?}");

    assert!(shown.contains("web") && !shown.contains("hush"), "{shown}");
}

#[test]
fn every_value_can_be_looked_up_with_its_line() {
    let config = read("a: &x\n  - {b: 1}\n  - 2.5\n1: yes\nc: *x\nd: .inf\ne: 2024-01-01\n").unwrap();

    assert_eq!(config.get(&key("a.0.b")), Some(json!(1)));
    assert_eq!(config.get(&key("c.1")), Some(json!(2.5)));
    assert_eq!(config.get(&key("1")), Some(json!(true)));
    assert_eq!(config.get(&key("d")), Some(json!(".inf")));
    assert_eq!(config.get(&key("a.5")), None);
    assert_eq!(config.line(&key("a.1")), Some(3));
    assert_eq!(config.line(&key("c")), Some(5));
    assert_eq!(config.line(&key("nope")), None);
}

#[test]
fn a_file_that_is_not_yaml_is_an_error_with_its_place() {
    assert_eq!(syntax("a: 1\nb: [1, 2\n").0, 2);
    assert_eq!(syntax("a:\n\tb: 1\n").0, 2);
    let (line, column, why) = syntax("a: 1\nb: c: d\n");
    assert_eq!((line, column), (2, 5));
    assert!(!why.is_empty() && !why.contains("line 2"), "{why}");
    assert!(syntax("a: 1\n---\nb: 2\n").2.contains("one document"));
    assert!(syntax("- a\n- b\n").2.contains("not a list"));
    assert!(syntax("just words\n").2.contains("not a text"));
}

#[test]
fn a_hostile_file_is_refused_quickly() {
    let nested = format!("a: {}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let indented: String = (0..500).flat_map(|i| [" ".repeat(i), "a:\n".to_owned()]).collect();
    let ten = |item: &str| [item; 10].join(",");
    let layer = |i: usize| format!("a{i}: &a{i} [{}]\n", ten(&format!("*a{}", i - 1)));
    let bomb = format!("a0: &a0 [{}]\n", ten("x")) + &(1..12).map(layer).collect::<Vec<_>>().concat();
    let wide: String =
        (0..100_000).flat_map(|i| ["k".to_owned(), i.to_string(), ": v\n".to_owned()]).collect();
    let tail = "? ".repeat(100_000);

    for (name, text) in
        [("nested", nested), ("indented", indented), ("bomb", bomb), ("wide", wide), ("tail", tail)]
    {
        assert!(matches!(read(&text), Err(StoreError::Syntax { .. })), "{name}");
    }
    let ten_megabytes = format!("a: '{}'\n", "x".repeat(10_000_000));
    assert!(matches!(read(&ten_megabytes), Err(StoreError::TooLarge { .. })));
}

#[test]
fn a_file_as_deep_as_allowed_fits_a_small_stack() {
    let deep = format!("a: {}1{}", "[".repeat(22), "]".repeat(22));

    let worker = std::thread::Builder::new().stack_size(1024 * 1024);
    let read = worker.spawn(move || read(&deep).map(|_| ())).unwrap().join().unwrap();

    assert!(read.is_ok(), "{read:?}");
}

#[test]
fn a_large_file_on_disk_is_not_read_into_memory() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    std::fs::File::create(home.config()).unwrap().set_len(1 << 40).unwrap();

    assert!(matches!(Config::read(&home, &|_| None), Err(StoreError::TooLarge { .. })));
}

#[test]
fn models_are_read_in_all_their_spellings() {
    let config = read(
        "model:
  default: big
  provider: custom
  base_url: http://127.0.0.1:9/v1
  context_length: 8192
providers:
  work: {api: https://work.example/v1, key_env: WORK_KEY, default_model: m, transport: anthropic_messages,
    extra_headers: {x-team: blue}, extra_body: {top_k: 4}, models: {m: {context_length: 32000}}}
  off: {url: https://off.example, enabled: false}
custom_providers:
- {name: home, base_url: http://box.local:1/v1, model: small}
fallback_providers:
- {provider: openrouter, model: other}
auxiliary:
  compression: {provider: auto, model: cheap}
  vision: {provider: auto}
agent: {max_turns: 5, api_max_retries: 0, turn_timeout: 0}
compression: {threshold: 0.5}
",
    )
    .unwrap();
    let settings = config.settings;

    assert_eq!(settings.model.name.as_deref(), Some("big"));
    assert_eq!(settings.model.context_length, Some(8192));
    let [work, off, home] = settings.endpoints.as_slice() else { panic!("{:?}", settings.endpoints) };
    assert_eq!((work.name.as_str(), work.model.name.as_deref()), ("work", Some("m")));
    assert_eq!(work.model.base_url.as_deref(), Some("https://work.example/v1"));
    assert_eq!(work.model.api_mode.as_deref(), Some("anthropic_messages"));
    assert_eq!(work.extra_headers.get("x-team").map(Secret::reveal), Some("blue"));
    assert_eq!(work.extra_body.as_ref().map(Secret::reveal), Some(r#"{"top_k":4}"#));
    assert_eq!(work.contexts.get("m"), Some(&32000));
    assert!(!off.enabled && home.enabled);
    assert_eq!(home.model.name.as_deref(), Some("small"));
    assert_eq!(settings.fallbacks.len(), 1);
    assert_eq!(settings.auxiliary.keys().collect::<Vec<_>>(), ["compression"]);
    assert_eq!((settings.turn.max_turns, settings.turn.turn_timeout), (5, None));
    assert_eq!(settings.turn.compression_percent, 50);
}

#[test]
fn a_model_can_be_just_a_name_and_what_is_wrong_about_it_has_a_line() {
    assert_eq!(read("model: tiny\n").unwrap().settings.model.name.as_deref(), Some("tiny"));
    assert_eq!(read("model: {api_key: '${NO_SUCH}'}\n").unwrap().settings.model.api_key, None);
    let told = problems("model:\n  context_length: much\ncustom_providers:\n- {base_url: x}\nproviders: 3\n");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("model.context_length"), "{told:?}");
    assert!(told[1].contains("custom_providers.name"), "{told:?}");
    assert!(warnings("model: {base_ulr: x}\n")[0].contains("model.base_url"));
}

#[test]
fn notes_and_delegation_are_read_with_their_defaults() {
    let read = read(
        "memory: {memory_enabled: false, user_char_limit: 900, provider: mem0}\n\
         delegation: {max_concurrent_children: 99, child_timeout_seconds: 30, model: ' fast ', provider: ''}\n",
    )
    .unwrap();

    let Settings { memory, delegation, .. } = read.settings;
    assert_eq!((memory.memory_enabled, memory.user_profile_enabled), (false, true));
    assert_eq!((memory.memory_char_limit, memory.user_char_limit), (2200, 900));
    assert_eq!((delegation.max_concurrent_children, delegation.max_iterations), (64, 50));
    assert_eq!(delegation.child_timeout, Some(Duration::from_secs(30)));
    assert_eq!((delegation.model.as_deref(), delegation.provider), (Some("fast"), None));
    assert_eq!(
        read.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["line 2: `delegation.max_concurrent_children` is 99, outside 1 to 64; 64 is used"]
    );
    assert_eq!(Settings::default().delegation.child_timeout, None);
}

#[test]
fn a_model_that_is_not_a_text_is_an_error() {
    assert_eq!(
        problems("delegation: {model: 7}"),
        ["line 1: `delegation.model` must be a text, not `7` (put it in quotes if it is a name)"]
    );
}
