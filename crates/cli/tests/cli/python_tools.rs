//! Python tool files as a person drops them in: found at the next call, called on the road, absent
//! with a reason, isolated when broken, of a project only once accepted.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::home::{Home, Said};

const SYNC: &str = include_str!("../../../../fixtures/python_tools/weather.py");
const ASYNC: &str = include_str!("../../../../fixtures/python_tools/weather_async.py");
const TASK_ID: &str = include_str!("../../../../fixtures/python_tools/weather_task_id.py");

impl Home {
    /// Drops a file into the home's tools.
    fn tool(self, name: &str, text: &str) -> Self {
        self.drop_tool(name, text);
        self
    }

    fn drop_tool(&self, name: &str, text: &str) -> PathBuf {
        let path = self.state().join("tools").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// With the key that the weather tools want.
    fn keyed(self) -> Self {
        std::fs::write(self.state().join(".env"), "WEATHER_API_KEY=k-1\n").unwrap();
        self
    }

    fn weather(&self) -> Said {
        self.run(&["tools", "call", "weather", r#"{"location": "London"}"#])
    }
}

#[test]
fn the_documented_file_works_as_it_is() {
    let home = Home::new().tool("weather.py", SYNC).keyed();

    let said = home.weather();

    let expected = json!({ "location": "London", "temp": 22, "units": "metric", "sky": "drizzle" });
    assert_eq!((said.code, said.err.as_str(), said.json()), (Some(0), "", expected));
}

#[test]
fn a_coroutine_works_as_well() {
    let home = Home::new().tool("weather.py", ASYNC).keyed();

    let said = home.weather();

    assert_eq!((said.code, &said.json()["sky"]), (Some(0), &json!("drizzle")), "{said:?}");
}

#[test]
fn a_handler_is_told_its_task() {
    let home = Home::new().tool("weather.py", TASK_ID);

    let said = home.run(&["tools", "call", "weather", r#"{"location": "London"}"#, "--session", "s1"]);

    assert_eq!((said.code, &said.json()["task"]), (Some(0), &json!("s1")), "{said:?}");
}

#[test]
fn chat_uses_the_file_without_any_network() {
    for text in [SYNC, ASYNC, TASK_ID] {
        let home = Home::new().tool("weather.py", text).keyed();

        let said = home.run(&["chat", "-q", "Use the weather tool for London"]);

        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.out.contains("drizzle") && said.out.contains("London"), "{said:?}");
    }
}

#[test]
fn without_its_key_the_tool_is_absent_and_explained() {
    let home = Home::new().tool("weather.py", SYNC);

    let why = home.say(&["tools", "explain", "weather"]);
    let schema = home.say(&["tools", "schema"]);
    let said = home.weather();
    let chat = home.run(&["chat", "-q", "Use the weather tool for London"]);

    assert!(why.contains("`weather` is out: not available: needs WEATHER_API_KEY"), "{why}");
    assert!(!schema.contains("\"weather\""), "{schema}");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("WEATHER_API_KEY"), "{said:?}");
    assert!(!chat.out.contains("drizzle"), "{chat:?}");
}

#[test]
fn a_check_that_says_no_is_explained_by_what_the_file_reads() {
    let home = Home::new().tool("weather.py", ASYNC);

    let why = home.say(&["tools", "explain", "weather"]);

    assert!(why.contains("its own check says no; not set: WEATHER_API_KEY"), "{why}");
}

#[test]
fn arguments_are_held_to_the_schema_before_the_handler_sees_them() {
    let home = Home::new().tool("weather.py", SYNC).keyed();

    let said = home.run(&["tools", "call", "weather", r#"{"location": "London", "units": "kelvin"}"#]);

    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("units"), "{said:?}");
}

#[test]
fn a_changed_file_is_another_tool_at_the_next_call() {
    let home = Home::new().tool("weather.py", TASK_ID);
    assert_eq!(home.weather().json()["sky"], "drizzle");

    home.drop_tool("weather.py", &TASK_ID.replace("drizzle", "sunshine, of the brightest sort"));

    assert_eq!(home.weather().json()["sky"], "sunshine, of the brightest sort");
}

#[test]
fn only_the_variables_a_file_asks_for_are_there() {
    let peek = r#"
import json, os
from tools.registry import registry

registry.register(
    name="peek",
    toolset="peek",
    schema={"name": "peek", "description": "Look.", "parameters": {"type": "object", "properties": {}}},
    handler=lambda args, **kw: json.dumps({"seen": sorted(n for n in os.environ if n.endswith("_KEY"))}),
    requires_env=["ONE_KEY"],
)
"#;
    let home = Home::new().tool("peek.py", peek).tool("weather.py", SYNC);
    std::fs::write(home.state().join(".env"), "ONE_KEY=1\nWEATHER_API_KEY=2\nOTHER_KEY=3\n").unwrap();

    let said = home.run(&["tools", "call", "peek"]);

    assert_eq!(said.json(), json!({ "seen": ["ONE_KEY"] }), "{said:?}");
}

#[test]
fn what_lies_in_the_current_folder_is_not_run_because_a_module_has_its_name() {
    let home = Home::new().tool("weather.py", ASYNC).keyed();
    let (project, marker) = (home.project(), home.path().join("ran"));
    for name in ["asyncio", "contextvars", "importlib", "inspect", "json", "queue", "threading", "types"] {
        let stranger = format!("open({marker:?}, 'w').close()\nraise SystemExit('a stranger')\n");
        std::fs::write(project.join(name).with_extension("py"), stranger).unwrap();
    }

    let said = home.weather();

    assert_eq!((said.code, &said.json()["sky"]), (Some(0), &json!("drizzle")), "{said:?}");
    assert!(!marker.exists());
}

#[test]
fn a_broken_file_costs_nobody_but_itself() {
    let home = Home::new()
        .tool("weather.py", TASK_ID)
        .tool("broken.py", "from tools.registry import registry\nregistry.register(undefined)\n")
        .tool("unclosed.py", "from tools.registry import registry\nregistry.register(\n")
        .tool("helper.py", "raise RuntimeError('never run: it registers nothing')\n");

    let said = home.run(&["tools", "list"]);

    assert_eq!((home.weather().code, said.code), (Some(0), Some(0)));
    assert!(said.out.contains("weather"), "{said:?}");
    assert!(said.err.contains("broken.py: NameError: name 'undefined' is not defined (line 2)"), "{said:?}");
    assert!(said.err.contains("unclosed.py: line 2: this bracket is never closed"), "{said:?}");
    assert!(!said.err.contains("helper.py"), "{said:?}");
}

#[test]
fn a_call_of_a_tool_whose_file_is_broken_says_why_it_is_not_there() {
    let broken = TASK_ID.replace("import json", "import json\nimport no_such_module_here");
    let home = Home::new().tool("weather.py", &broken);

    let said = home.weather();

    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("no_such_module_here"), "{said:?}");
    let off = home.command(&["tools", "explain", "weather"]).env("HERMES_SAFE_MODE", "1").output().unwrap();
    let off = Said::of(off);
    assert!(off.out.contains("HERMES_SAFE_MODE switches"), "{off:?}");
}

#[test]
fn a_number_that_is_longer_than_numbers_here_loses_no_digit() {
    let long = SYNC.replace("22", "123456789012345678901234567890");
    let home = Home::new().tool("weather.py", &long).keyed();

    let said = home.weather();

    assert_eq!(said.json()["temp"], "123456789012345678901234567890", "{said:?}");
}

#[test]
fn what_a_handler_prints_goes_to_the_log() {
    let noisy = TASK_ID.replace(
        "    task_id = kw",
        "    import os\n    print('loud')\n    os.write(1, b'raw\\n')\n    task_id = kw",
    );
    let home = Home::new().tool("weather.py", &noisy);

    let said = home.weather();

    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let log = std::fs::read_to_string(home.state().join("logs/tools.log")).unwrap();
    assert!(log.contains("loud") && log.contains("raw"), "{log}");
}

#[test]
fn a_second_start_runs_no_python() {
    let home = Home::new().tool("weather.py", TASK_ID);
    home.say(&["tools", "list"]);

    // A search path without Python: whoever needed it now would say so.
    let mut command = home.command(&["tools", "list"]);
    command.env("PATH", home.path());
    let said = Said::of(command.output().unwrap());

    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.out.contains("weather"), "{said:?}");
}

#[test]
fn without_python_the_reason_is_told() {
    let home = Home::new().tool("weather.py", TASK_ID);

    let mut command = home.command(&["tools", "list"]);
    command.env("PATH", home.path());
    let said = Said::of(command.output().unwrap());

    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("cannot start `python3`: it is not installed"), "{said:?}");
}

#[test]
fn files_of_a_project_count_once_they_are_accepted_and_until_they_change() {
    let home = Home::new().file(".hermes/tools/weather.py", TASK_ID);
    let path = home.project().join(".hermes/tools/weather.py");
    let said = home.run(&["tools", "list"]);
    assert!(said.err.contains("weather.py is not accepted; `hermes plugins trust"), "{said:?}");
    assert_eq!(home.weather().code, Some(2));

    home.say(&["plugins", "trust", path.to_str().unwrap()]);
    assert_eq!(home.weather().json()["sky"], "drizzle");

    std::fs::write(&path, TASK_ID.replace("drizzle", "evil")).unwrap();
    assert_eq!(home.weather().code, Some(2));
    let said = home.run(&["tools", "list"]);
    assert!(said.err.contains("weather.py changed since it was accepted"), "{said:?}");
}

#[test]
fn files_of_a_project_are_found_from_every_folder_of_its_repository() {
    let home = Home::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".hermes/tools/weather.py", TASK_ID)
        .file("deep/inside/notes.txt", "")
        .file("deep/.hermes/tools/tide.py", TASK_ID.replace("weather", "tide"));
    for file in [".hermes/tools/weather.py", "deep/.hermes/tools/tide.py"] {
        home.say(&["plugins", "trust", home.project().join(file).to_str().unwrap()]);
    }
    let called = |tool: &str| {
        let mut command = home.command(&["tools", "call", tool, r#"{"location": "Oslo"}"#]);
        Said::of(command.current_dir(home.project().join("deep/inside")).output().unwrap())
    };

    for tool in ["weather", "tide"] {
        assert_eq!(called(tool).json()["sky"], "drizzle");
    }
}

#[test]
fn a_file_of_a_project_imports_only_what_was_accepted_with_it() {
    let tool = TASK_ID.replace("from tools.registry", "from tools.helper import SKY\nfrom tools.registry");
    let tool = tool.replace("\"drizzle\"", "SKY");
    let home =
        Home::new().file(".hermes/tools/weather.py", &tool).file(".hermes/tools/helper.py", "SKY = 'mild'\n");
    let folder = home.project().join(".hermes/tools");
    let trust = |name: &str| home.say(&["plugins", "trust", folder.join(name).to_str().unwrap()]);
    trust("weather.py");
    let said = home.run(&["tools", "list"]);
    assert!(said.err.contains("helper.py is not accepted; `hermes plugins trust"), "{said:?}");

    trust("helper.py");
    assert_eq!(home.weather().json()["sky"], "mild");

    std::fs::write(folder.join("helper.py"), "SKY = 'evil'\n").unwrap();
    let said = home.weather();
    assert!(!said.out.contains("evil") && said.code != Some(0), "{said:?}");
    trust("helper.py");
    assert_eq!(home.weather().json()["sky"], "evil");
}

#[test]
fn files_that_cannot_be_called_so_and_odd_bytes_cost_nobody_else() {
    let home = Home::new().tool("registry.py", TASK_ID).tool("weather.py", &format!("\u{feff}{TASK_ID}"));

    let said = home.run(&["tools", "list"]);

    assert!(said.err.contains("a tool file cannot be called registry.py"), "{said:?}");
    assert_eq!(home.weather().json()["sky"], "drizzle");
    assert_eq!(home.run(&["tools", "new", "registry"]).code, Some(2));
}

#[test]
fn why_a_tool_is_missing_is_told_of_files_that_are_not_even_run() {
    let home = Home::new()
        .tool("unclosed.py", "from tools.registry import registry\nregistry.register(\n")
        .file(".hermes/tools/weather.py", TASK_ID);

    let broken = home.say(&["tools", "explain", "unclosed"]);
    let strange = home.say(&["tools", "explain", "weather"]);

    assert!(broken.contains("this bracket is never closed"), "{broken}");
    assert!(strange.contains("is not accepted; `hermes plugins trust"), "{strange}");
}

#[test]
fn where_a_handler_raised_is_shown_by_a_test_and_kept_in_the_log() {
    let home = Home::new()
        .tool("weather.py", &TASK_ID.replace("    task_id = kw", "    kw['nothing']\n    task_id = kw"));
    let path = home.state().join("tools/weather.py");

    let said = home.run(&["tools", "test", path.to_str().unwrap(), "--args", r#"{"location": "x"}"#]);

    let line = "kw['nothing']";
    assert!(said.code == Some(1) && said.out.contains("Traceback") && said.out.contains(line), "{said:?}");
    let log = std::fs::read_to_string(home.state().join("logs/tools.log")).unwrap();
    assert!(log.contains(line), "{log}");
}

#[test]
fn a_name_that_is_taken_is_not_taken_away() {
    let home = Home::new().tool("mine.py", &TASK_ID.replace("name=\"weather\"", "name=\"read_file\""));

    let said = home.run(&["tools", "list"]);

    assert!(said.err.contains("would shadow"), "{said:?}");
    let info = home.json(&["tools", "info", "read_file"]);
    assert_eq!(info["source"], "builtin");
}

#[test]
fn a_template_works_as_it_is_written() {
    let home = Home::new();

    home.say(&["tools", "new", "shout"]);
    let said = home.run(&["tools", "call", "shout", r#"{"text": "hi", "loud": true}"#]);
    let path = home.state().join("tools/shout.py");
    let tested = home.json(&["tools", "test", path.to_str().unwrap()]);

    assert_eq!(said.json(), json!({ "text": "HI" }), "{said:?}");
    assert_eq!(
        (&tested["ok"], &tested["tools"][0]["call"]["result"]),
        (&json!(true), &json!({ "text": "text" }))
    );
    assert_eq!(home.run(&["tools", "new", "shout"]).code, Some(2));
    assert_eq!(home.run(&["tools", "new", "read_file"]).code, Some(2));
    assert_eq!(home.run(&["tools", "new", "No Name"]).code, Some(2));
}

#[test]
fn a_test_of_a_file_says_what_is_wrong_with_it() {
    let home =
        Home::new().file("bad.py", "from tools.registry import registry\nregistry.register(name='x')\n");
    let home = home.file("none.py", "x = 1\n").file("weather.py", SYNC);

    let bad = home.run(&["tools", "test", "bad.py"]);
    let none = home.run(&["tools", "test", "none.py"]);
    let keyless = home.run(&["tools", "test", "weather.py", "--json"]);

    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.err.contains("TypeError") && bad.err.contains("line 2"), "{bad:?}");
    assert!(none.err.contains("no `registry.register(...)` at its top level"), "{none:?}");
    assert_eq!(
        (keyless.code, keyless.json()["tools"][0]["reason"].clone()),
        (Some(1), json!("needs WEATHER_API_KEY"))
    );
    assert_eq!(keyless.json()["tools"][0]["call"], Value::Null);
}
