//! What every command says, in words and in JSON.

use serde_json::{Value, json};

use crate::home::Home;

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

/// The line of a table that begins with this name, without the padding.
fn line_of(table: &str, name: &str) -> String {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let found = table.lines().map(words).find(|words| words.first().is_some_and(|first| first == name));
    found.unwrap_or_else(|| panic!("{name} in {table}")).join(" ")
}

#[test]
fn the_version_is_one_line() {
    let said = Home::new().say(&["--version"]);

    assert_eq!(said, format!("hermes {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn where_there_is_nothing_to_list_it_is_said_what_to_do_next() {
    let home = Home::new();
    for (what, next) in [
        ("mcp", "There are no MCP servers; `hermes mcp add NAME -- COMMAND` adds one."),
        ("plugins", "and switch it on with `hermes plugins enable NAME`."),
        ("skills", "There are no skills; `hermes skills install DIR` installs one."),
        ("hooks", "then run `hermes hooks accept --all`."),
    ] {
        let said = home.run(&[what, "list"]);
        assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
        assert!(said.err.trim_end().ends_with(next) && said.err.lines().count() == 1, "{said:?}");
        assert_eq!(home.json(&[what, "list"]), json!([]));
    }
}

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let said = Home::new().say(&["--help"]);

    for word in ["tools", "toolsets", "completion", "--json", "--profile", "Exit codes: 0 done"] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert!(Home::new().say(&["tools", "call", "--help"]).contains("@query.json"));
}

#[test]
fn tools_alone_tells_of_every_toolset_what_it_costs_and_what_it_lacks() {
    let home = Home::new();

    let told = home.json(&["tools"]);

    let toolset = |name: &str| {
        let all = told["toolsets"].as_array().unwrap().iter();
        all.clone().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} in {told}")).clone()
    };
    assert_eq!(toolset("file")["state"], "on");
    assert_eq!(toolset("homeassistant")["missing"], json!(["needs HASS_TOKEN"]));
    let file = toolset("file");
    let tokens: u64 = file["tools"].as_array().unwrap().iter().map(|it| it["tokens"].as_u64().unwrap()).sum();
    assert_eq!(file["tokens"], tokens);
    let costs = home.json(&["tools", "cost"]);
    for name in names(&costs["toolsets"]) {
        toolset(name);
    }
    // The same for whoever reads it in a pipe.
    let said = home.say(&["tools"]);
    assert!(said.lines().next().unwrap().starts_with("cli: "), "{said}");
    assert!(said.lines().any(|line| line.starts_with("[x]  file")), "{said}");
    assert!(said.contains("needs HASS_TOKEN"), "{said}");
    let wrong = home.run(&["tools", "--platform", "telegram", "list"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert_eq!(home.run(&["tools", "--platform", "nowhere"]).code, Some(2));
}

#[test]
fn list_tells_what_is_on_and_what_is_off() {
    let home = Home::new();

    let said = home.say(&["tools", "list", "--toolsets", "todo"]);

    assert_eq!(line_of(&said, "todo"), "todo todo on Keep a task list for this session");
    assert_eq!(
        line_of(&said, "read_file"),
        "read_file file off Read a text file with line numbers, page by page"
    );
    let list = home.json(&["tools", "list"]);
    assert!(names(&list).is_sorted());
    let todo = list.as_array().unwrap().iter().find(|tool| tool["name"] == "todo").unwrap();
    assert_eq!(todo["toolset"], "todo");
    assert_eq!(todo["emoji"], "📋");
    assert_eq!(todo["source"], "builtin");
    assert_eq!((&todo["enabled"], &todo["available"]), (&json!(true), &json!(true)));
}

/// What a person reads about `read_file`.
const READ_FILE: &str = "\
📖 read_file
Read a text file with line numbers, page by page. Use this instead of cat, head or tail. Lines come as `number|text`; `total_lines` and `next_offset` say how to go on. Notebooks, Word documents, spreadsheets and PDF files are shown as text. PNG, JPEG, GIF and WebP images are shown as images to models that see; other binary files are recognised and not shown.

toolset         file
from            builtin
available       yes
changes         nothing, it only looks
beside others   unless they touch the same things
longest answer  unlimited
tokens          about 201

path    string   required     Path of the file: absolute, relative to the working directory, or ~/path
offset  integer  default 1    First line to read, counted from 1
limit   integer  default 500  Most lines to read
";

#[test]
fn info_tells_a_person_what_a_tool_takes() {
    let home = Home::new();

    assert_eq!(home.say(&["tools", "info", "read_file"]), READ_FILE);
    let info = home.json(&["tools", "info", "search_files"]);
    assert_eq!(info["max_result"], 100_000);
    assert_eq!(info["core"], true);
    assert_eq!(info["available"], true);
    assert_eq!(info["parameters"]["required"], json!(["pattern"]));
}

#[test]
fn schema_is_the_same_bytes_every_time() {
    let home = Home::new();

    let first = home.say(&["tools", "schema"]);

    assert_eq!(home.say(&["tools", "schema", "--json"]), first);
    let functions: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(functions[0]["type"], "function");
    let names: Vec<&str> =
        functions.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"read_file") && names.is_sorted(), "{names:?}");
}

#[test]
fn schema_can_be_narrowed_and_written_for_strict_providers() {
    let home = Home::new();
    let listed = |words: &[&str]| {
        let found = home.json(&[&["tools", "schema"], words].concat());
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };

    assert_eq!(listed(&["--toolsets", "todo"]), ["todo"]);
    assert_eq!(listed(&["--toolsets", "search_files, todo", "--disable", "todo"]), ["search_files"]);
    assert!(!listed(&["--toolsets", "file", "--disable", "read_file"]).contains(&"read_file".to_owned()));
    assert_eq!(listed(&["--toolsets", ""]), Vec::<String>::new());
    assert_eq!(listed(&["todo", "read_file"]), ["todo", "read_file"]);
    assert!(listed(&["--toolsets", "file_tools"]).contains(&"search_files".to_owned()));
    // What needs something that is not here is shown only with `--all`.
    let (mut all, here) = (listed(&["--all", "--provider", "strict"]), listed(&[]));
    for missing in ["clarify", "delegate_task", "kanban_list", "read_terminal"].map(str::to_owned) {
        assert!(all.contains(&missing) && !here.contains(&missing), "{missing}");
    }
    all.retain(|name| here.contains(name));
    assert_eq!(all, here);
}

#[test]
fn definitions_can_be_put_behind_the_search() {
    let config = "tools:\n  tool_search:\n    enabled: on\n    include_core: true\n";
    let home = Home::configured(config);

    let found = home.json(&["tools", "schema"]);

    let found: Vec<&str> =
        found.as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(found, ["tool_search", "tool_describe", "tool_call"]);
    assert_eq!(
        home.say(&["tools", "explain", "todo"]),
        "`todo` is in through `hermes-cli`, to be found by searching\n"
    );
    assert_eq!(home.json(&["tools", "schema", "todo"])[0]["function"]["name"], "todo");
}

#[test]
fn explain_is_a_table_without_and_a_sentence_with_a_name() {
    let home = Home::new();

    let said = home.say(&["tools", "explain", "--toolsets", "coding", "--disable", "todo"]);
    assert_eq!(line_of(&said, "read_file"), "read_file in through `coding`");
    assert_eq!(line_of(&said, "todo"), "todo out `todo` is disabled (else it would be in through `coding`)");
    assert_eq!(home.say(&["tools", "explain", "todo"]), "`todo` is in through `hermes-cli`\n");
    assert_eq!(
        home.say(&["tools", "explain", "todo", "--toolsets", "file"]),
        "`todo` is out: nothing selected has it (toolset `todo` does)\n"
    );
    assert_eq!(
        home.json(&["tools", "explain", "read_file"]),
        json!({
            "name": "read_file", "toolset": "file", "built": true, "offered": true, "deferred": false,
            "why": "through `hermes-cli`",
        })
    );
    let all = home.json(&["tools", "explain"]);
    assert!(names(&all["tools"]).contains(&"todo"));
}

#[test]
fn explain_follows_the_configuration() {
    let home =
        Home::configured("platform_toolsets:\n  telegram: [file]\nagent:\n  disabled_tools: [read_file]\n");

    assert_eq!(
        home.say(&["tools", "explain", "read_file", "--platform", "telegram"]),
        "`read_file` is out: `read_file` is disabled (else it would be in through `file`)\n"
    );
}

#[test]
fn cost_adds_up() {
    let home = Home::new();

    let cost = home.json(&["tools", "cost"]);

    let toolsets = cost["toolsets"].as_array().unwrap();
    let sum: u64 = toolsets.iter().map(|toolset| toolset["tokens"].as_u64().unwrap()).sum();
    assert_eq!(cost["total_tokens"].as_u64(), Some(sum));
    assert!(sum > 100, "{cost}");
    let said = home.say(&["tools", "cost", "--toolsets", "todo"]);
    assert!(said.starts_with("todo  ") && said.contains("\nall  "), "{said}");
    assert_eq!(home.json(&["tools", "cost", "--toolsets", ""])["total_tokens"], 0);
}

#[test]
fn toolsets_are_listed_with_what_is_built() {
    let home = Home::new();

    let said = home.say(&["toolsets", "list"]);

    assert!(said.lines().any(|line| line.starts_with("todo ") && line.contains("1/1")), "{said}");
    let list = home.json(&["toolsets", "list"]);
    // 57 of the contract, and four that its documentation names.
    assert_eq!(list.as_array().unwrap().len(), 61);
    assert!(names(&list).is_sorted());
}

#[test]
fn resolve_tells_through_what_a_tool_comes() {
    let home = Home::new();

    let said = home.say(&["toolsets", "resolve", "hermes-acp", "todo"]);

    assert!(said.lines().any(|line| line.starts_with("hermes-acp  todo ")), "{said}");
    assert!(said.ends_with("todo        todo                built  todo\n"), "{said}");
    assert_eq!(home.json(&["toolsets", "resolve", "todo"])["built"], json!(["todo"]));
    assert_eq!(names(&home.json(&["toolsets", "resolve", "web", "file"])), ["web", "file"]);
    assert_eq!(home.json(&["toolsets", "resolve", "all"])["tools"].as_array().unwrap().len(), 91);
}

#[test]
fn listing_and_explaining_leave_no_trace() {
    let home = Home::new();
    std::fs::remove_dir(home.state()).unwrap();

    home.say(&["tools", "list"]);
    home.say(&["tools", "explain"]);
    home.say(&["tools", "call", "todo"]);

    assert!(!home.state().exists());
}
