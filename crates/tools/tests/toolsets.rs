//! The toolsets against the recorded contract, and the platform rules on the real tables.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers here are part of the tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use hermes_core::toolset::{
    Catalog, CatalogParts, DynamicToolset, Explanation, PlatformSettings, Selection, SelectionError, Toolset,
    Verdict, platform_selection,
};
use serde_json::Value;

static CONTRACT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../fixtures/toolsets.json")).unwrap());

/// Toolsets that the documentation lists beyond the recorded contract.
static DOCUMENTED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../fixtures/documented.json")).unwrap());

fn is_documented(name: &str) -> bool {
    DOCUMENTED["toolsets"].get(name).is_some()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

fn contract(field: &str) -> BTreeMap<&'static str, &'static Value> {
    CONTRACT[field].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value)).collect()
}

fn ours(name: &str) -> &'static Toolset {
    hermes_tools::toolsets().iter().find(|toolset| toolset.name == name).unwrap()
}

/// Those of the contract that are as wanted.
fn names(wanted: impl Fn(&Toolset) -> bool) -> BTreeSet<&'static str> {
    let all = hermes_tools::toolsets().iter().filter(|toolset| !is_documented(toolset.name));
    all.filter(|toolset| wanted(toolset)).map(|toolset| toolset.name).collect()
}

/// The parts of a catalog with every tool of the contract registered.
fn parts() -> CatalogParts {
    let mut tools = Vec::new();
    for (toolset, members) in contract("registry_toolsets") {
        tools.extend(words(members).into_iter().map(|tool| (Arc::from(tool), Arc::from(toolset))));
    }
    let (toolsets, core) = (hermes_tools::toolsets(), hermes_tools::core_tools());
    CatalogParts { toolsets, core, tools, ..CatalogParts::default() }
}

/// The same with three MCP servers, of which `fs` has not connected, and two plugins.
fn catalog() -> Catalog {
    let mut parts = parts();
    parts.dynamic = vec![
        DynamicToolset::mcp("gh", vec![]),
        DynamicToolset::mcp("fs", vec![]),
        DynamicToolset::mcp("db", vec![]),
        DynamicToolset { name: "weather".into(), ..DynamicToolset::default() },
    ];
    parts.platforms = vec!["irc".into()];
    for (tool, toolset) in [
        ("mcp__gh__search", "mcp-gh"),
        ("mcp__gh__issue", "mcp-gh"),
        ("mcp__db__query", "mcp-db"),
        ("forecast", "weather"),
        ("my_search", "web"),
        ("irc_topic", "irc"),
    ] {
        parts.tools.push((tool.into(), toolset.into()));
    }
    Catalog::new(parts)
}

const MCP: [&str; 3] = ["mcp__db__query", "mcp__gh__issue", "mcp__gh__search"];

/// The tools that a platform gets for a list, in order.
fn on(platform: &str, list: Option<&[&str]>) -> Result<Vec<String>, SelectionError> {
    let plan = selection(platform, list)?.plan(&catalog())?;
    Ok(plan.tools().iter().map(|tool| tool.as_ref().to_owned()).collect())
}

fn selection(platform: &str, list: Option<&[&str]>) -> Result<Selection, SelectionError> {
    let list: Option<Vec<String>> = list.map(|list| list.iter().map(|&name| name.to_owned()).collect());
    let settings = PlatformSettings { platform, toolsets: list.as_deref(), ..PlatformSettings::default() };
    platform_selection(&catalog(), &settings)
}

fn explained(platform: &str, list: Option<&[&str]>) -> Explanation {
    selection(platform, list).unwrap().explain(&catalog()).unwrap()
}

fn sorted<'a>(lists: &[&[&'a str]]) -> Vec<&'a str> {
    lists.iter().flat_map(|list| list.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What a core preset gives by default: no devices of the house, which are off by default.
fn core() -> Vec<&'static str> {
    hermes_tools::core_tools().iter().copied().filter(|tool| !tool.starts_with("ha_")).collect()
}

#[test]
fn every_toolset_of_the_contract_is_here_and_no_other() {
    let theirs: BTreeSet<&str> = contract("toolsets").into_keys().collect();

    assert_eq!(names(|_| true), theirs);
    assert_eq!(names(|_| true).len(), 57);
    for (name, documented) in DOCUMENTED["toolsets"].as_object().unwrap() {
        assert_eq!(ours(name).tools, words(&documented["tools"]), "{name}");
        assert!(ours(name).configurable && ours(name).default_off, "{name}");
    }
    assert!(hermes_tools::toolsets().is_sorted_by_key(|toolset| toolset.name));
}

#[test]
fn tools_includes_and_posture_are_those_of_the_contract() {
    for (name, theirs) in contract("toolsets") {
        let ours = ours(name);

        assert_eq!(ours.tools, words(&theirs["tools"]), "{name}");
        assert_eq!(ours.includes, words(&theirs["includes"]), "{name}");
        assert_eq!(ours.posture, theirs["posture"].as_bool().unwrap_or(false), "{name}");
    }
}

/// What a toolset of the contract comes to, by the plainest way of counting.
fn closure(name: &str) -> BTreeSet<&'static str> {
    let (theirs, registered) = (contract("toolsets"), contract("registry_toolsets"));
    let mut found: BTreeSet<&str> = words(&theirs[name]["tools"]).into_iter().collect();
    found.extend(registered.get(name).map(|tools| words(tools)).unwrap_or_default());
    found.extend(words(&theirs[name]["includes"]).into_iter().flat_map(closure));
    found
}

#[test]
fn every_toolset_resolves_to_the_members_of_the_contract() {
    let catalog = Catalog::new(parts());
    for toolset in hermes_tools::toolsets().iter().filter(|toolset| !is_documented(toolset.name)) {
        let resolved = catalog.resolve(toolset.name).unwrap();
        let tools: Vec<&str> = resolved.tools.iter().map(|member| member.tool.as_ref()).collect();

        assert_eq!(tools, Vec::from_iter(closure(toolset.name)), "{}", toolset.name);
        assert!(resolved.missing.is_empty() && resolved.dangling.is_empty(), "{}", toolset.name);
    }
    assert_eq!(catalog.resolve("all").unwrap().tools.len(), 79);
    assert_eq!(catalog.resolve("browser-cdp").unwrap().tools.len(), 2);
}

#[test]
fn the_core_list_is_that_of_the_contract() {
    assert_eq!(hermes_tools::core_tools(), words(&CONTRACT["core_tools"]));
    assert_eq!(ours("hermes-webhook").tools, words(&CONTRACT["webhook_safe_tools"]));
}

#[test]
fn old_names_stand_for_the_tools_of_the_contract() {
    let legacy: BTreeMap<&str, &[&str]> = hermes_tools::toolsets()
        .iter()
        .filter_map(|toolset| toolset.legacy.map(|legacy| (legacy.name, legacy.tools)))
        .collect();
    assert_eq!(legacy.len(), contract("legacy_names").len());
    for (name, tools) in contract("legacy_names") {
        assert_eq!(legacy[name], words(tools), "{name}");
    }

    let plan = Selection::of(["terminal_tools"]).plan(&Catalog::new(parts())).unwrap();
    assert_eq!(plan.tools(), [Arc::from("terminal")]);
}

#[test]
fn switches_are_those_of_the_contract() {
    let theirs = |field: &str| words(&CONTRACT[field]).into_iter().collect::<BTreeSet<_>>();

    assert_eq!(names(|toolset| toolset.configurable), theirs("configurable"));
    assert_eq!(names(|toolset| toolset.default_off), theirs("default_off"));
    assert_eq!(names(|toolset| toolset.restricted), BTreeSet::from(["hermes-webhook"]));
}

#[test]
fn platforms_are_those_of_the_contract() {
    let restricted = names(|toolset| !toolset.only_on.is_empty());
    assert_eq!(restricted, contract("platform_restrictions").into_keys().collect());
    for (name, platforms) in contract("platform_restrictions") {
        assert_eq!(ours(name).only_on, words(platforms), "{name}");
    }

    let ours: BTreeMap<&str, &str> = hermes_tools::toolsets()
        .iter()
        .flat_map(|toolset| toolset.preset_of.iter().map(|&platform| (platform, toolset.name)))
        .collect();
    let theirs: BTreeMap<&str, &str> = contract("platform_presets")
        .into_iter()
        .map(|(platform, preset)| (platform, preset["default_toolset"].as_str().unwrap()))
        .collect();
    assert_eq!(ours, theirs);
}

#[test]
fn every_toolset_is_described_in_one_sentence() {
    for toolset in hermes_tools::toolsets() {
        let text = toolset.description;
        let one = text.ends_with('.') && text.matches('.').count() == 1;

        assert!(one && text.len() < 110, "{}: {text}", toolset.name);
    }
}

#[test]
fn without_a_list_a_platform_gets_its_preset_plugins_and_mcp_servers() {
    assert_eq!(on("cli", None).unwrap(), sorted(&[&core(), &MCP, &["forecast", "my_search"]]));

    let enabled = selection("cli", None).unwrap().enabled.unwrap();
    assert_eq!(enabled[0], "hermes-cli");
    assert_eq!(enabled.len(), 1 + 16 + 1, "16 that setup offers and kanban: {enabled:?}");
    assert_eq!(enabled.last().unwrap(), "kanban");
}

#[test]
fn an_empty_list_is_nothing() {
    assert_eq!(on("cli", Some(&[])).unwrap(), Vec::<String>::new());
    assert_eq!(on("cli", Some(&["no_mcp"])).unwrap(), Vec::<String>::new());
}

#[test]
fn a_list_is_exact_but_for_mcp_servers() {
    let web = ["my_search", "web_extract", "web_search"];
    let with = |more: &[&str], tools: &[&'static str]| {
        let list: Vec<&str> = ["web"].iter().chain(more).copied().collect();
        assert_eq!(on("cli", Some(&list)).unwrap(), sorted(&[&web, tools]), "{list:?}");
    };

    with(&[], &MCP);
    with(&["gh"], &["mcp__gh__issue", "mcp__gh__search"]);
    with(&["mcp-db"], &["mcp__db__query"]);
    with(&["mcp__gh__issue"], &["mcp__gh__issue"]);
    with(&["no_mcp"], &[]);
    with(&["gh", "no_mcp"], &[]);
}

#[test]
fn a_server_that_has_not_connected_still_makes_the_list_say_which_are_allowed() {
    assert_eq!(on("cli", Some(&["todo", "fs"])).unwrap(), ["todo"]);
    assert_eq!(on("cli", Some(&["todo", "mcp__fs__read"])).unwrap(), ["todo"]);
}

#[test]
fn a_preset_in_a_list_is_expanded_and_the_rest_added() {
    let with_spotify = on("cli", Some(&["hermes-cli", "spotify", "no_mcp"])).unwrap();
    let spotify = words(&CONTRACT["toolsets"]["spotify"]["tools"]);
    assert_eq!(with_spotify, sorted(&[&core(), &spotify, &["forecast", "my_search"]]));

    let house = on("cli", Some(&["hermes-cli", "homeassistant", "no_mcp"])).unwrap();
    assert_eq!(house, sorted(&[hermes_tools::core_tools(), &["forecast", "my_search"]]));
}

#[test]
fn a_list_that_begins_with_the_own_preset_takes_nothing_else_away() {
    let (list, unlocked) = (["hermes-cli".to_owned(), "!todo".to_owned()], ["x_search".to_owned()]);
    let settings = |toolsets| PlatformSettings {
        platform: "cli",
        toolsets,
        unlocked: &unlocked,
        ..PlatformSettings::default()
    };
    let tools = |settings: PlatformSettings<'_>| -> Vec<String> {
        let plan = platform_selection(&catalog(), &settings).unwrap().plan(&catalog()).unwrap();
        plan.tools().iter().map(ToString::to_string).collect()
    };

    let rest: Vec<String> = tools(settings(None)).into_iter().filter(|tool| tool != "todo").collect();
    assert_eq!(tools(settings(Some(&list))), rest);
    assert!(rest.contains(&"forecast".to_owned()) && rest.contains(&"x_search".to_owned()));
    let of_another = on("cli", Some(&["hermes-telegram", "!todo"])).unwrap();
    assert!(!of_another.contains(&"forecast".to_owned()), "that one was not what it gets by itself");
}

#[test]
fn a_typo_is_an_error_that_says_what_was_meant() {
    assert_eq!(
        on("cli", Some(&["web", "hermes", "termnal"])).unwrap_err().to_string(),
        "in the list of toolsets, `hermes` is not known; did you mean `hermes-acp` or `hermes-cli` or \
         `hermes-irc`? `termnal` is not known; did you mean `terminal`?"
    );
    assert_eq!(
        on("telegrm", None).unwrap_err().to_string(),
        "platform `telegrm` is not known; did you mean `telegram`?"
    );
}

#[test]
fn things_can_be_left_out_of_a_list() {
    assert_eq!(on("cli", Some(&["web", "!web_extract", "no_mcp"])).unwrap(), ["my_search", "web_search"]);
    assert_eq!(on("cli", Some(&["file", "todo", "!file", "!gh"])).unwrap(), ["mcp__db__query", "todo"]);
    assert_eq!(
        on("cli", Some(&["!web"])).unwrap_err().to_string(),
        "the list for `cli` only leaves things out; put `hermes-cli` in front to start from what it gets by \
         default"
    );
}

#[test]
fn a_restricted_platform_gets_only_what_is_named() {
    let safe = ["clarify", "vision_analyze", "web_extract", "web_search"];

    assert_eq!(on("webhook", None).unwrap(), safe);
    assert_eq!(on("webhook", Some(&["todo"])).unwrap(), ["todo"]);
    assert_eq!(
        on("webhook", Some(&["hermes-webhook", "db"])).unwrap(),
        sorted(&[&safe, &["mcp__db__query"]])
    );
    assert_eq!(
        explained("webhook", Some(&["all"])).of("mcp__db__query").unwrap().verdict,
        Verdict::McpNotAllowed
    );
}

#[test]
fn toolsets_of_one_platform_stay_there() {
    let has = |platform: &str, list: Option<&[&str]>, tool: &str| {
        on(platform, list).unwrap().iter().any(|name| name == tool)
    };

    assert!(has("discord", None, "discord"), "its own toolset is on");
    assert!(!has("discord", None, "discord_admin"), "this one is off by default");
    assert!(has("discord", Some(&["discord_admin"]), "discord_admin"));
    assert!(!has("cli", Some(&["all"]), "discord"));
    assert!(has("cli", Some(&["all"]), "spotify_search"), "off by default, but `all` means it");
    assert!(!has("cli", Some(&["hermes-gateway"]), "discord"));
    assert_eq!(
        on("telegram", Some(&["web", "discord"])).unwrap_err().to_string(),
        "toolset `discord` does not work on `telegram`, only on discord"
    );
}

#[test]
fn a_platform_of_a_plugin_gets_the_core_tools_and_its_own() {
    let tools = on("irc", None).unwrap();

    assert_eq!(tools, sorted(&[&core(), &MCP, &["forecast", "irc_topic", "my_search"]]));
    assert_eq!(
        explained("irc", None).of("irc_topic").unwrap().to_string(),
        "`irc_topic` is in through `hermes-irc` → `irc`"
    );
}

#[test]
fn other_settings_can_unlock_what_is_off_by_default() {
    let unlocked = ["homeassistant".to_owned(), "x_search".to_owned(), "discord".to_owned()];
    let settings = PlatformSettings { platform: "cli", unlocked: &unlocked, ..PlatformSettings::default() };
    let plan = platform_selection(&catalog(), &settings).unwrap().plan(&catalog()).unwrap();

    assert!(plan.contains("ha_get_state") && plan.contains("x_search"));
    assert!(!plan.contains("discord"), "unlocking does not make it work elsewhere");
}

#[test]
fn what_is_disabled_everywhere_is_out_whatever_the_list_says() {
    let (list, disabled) = (["web".to_owned(), "todo".to_owned()], ["web".to_owned(), "gh".to_owned()]);
    let settings = PlatformSettings {
        platform: "cli",
        toolsets: Some(&list),
        disabled: &disabled,
        kanban_task: true,
        ..PlatformSettings::default()
    };
    let plan = platform_selection(&catalog(), &settings).unwrap().plan(&catalog()).unwrap();

    let kanban = words(&CONTRACT["toolsets"]["kanban"]["tools"]);
    let tools: Vec<&str> = plan.tools().iter().map(AsRef::as_ref).collect();
    assert_eq!(tools, sorted(&[&kanban, &["mcp__db__query", "todo"]]));
}

#[test]
fn disabling_a_preset_or_a_posture_leaves_the_core_tools() {
    let catalog = Catalog::new(parts());
    let left =
        |disabled: &str| Selection::of(["hermes-discord"]).without([disabled]).plan(&catalog).unwrap().len();

    assert_eq!(left("hermes-cli"), 54);
    assert_eq!(left("coding"), 54);
    assert_eq!(left("hermes-discord"), 52);
    assert_eq!(left("debugging"), 54 - 8, "terminal, process, four file tools, two web tools");
    assert_eq!(left("all"), 0);
}
