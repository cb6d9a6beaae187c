//! `python`: a call of a Python tool file whose handler does nothing, so that all its time is ours; the
//! start with fifty plugins switched on.

use std::path::Path;

use hermes::Runtime;
use hermes::store::Home;
use serde_json::json;

use crate::item::{ItemDef, Numbers, Work, called};
use crate::process;
use crate::timing::{millis, per_call, side_by_side};

pub(crate) const ITEM: ItemDef = ItemDef::new("python", measure);

/// Calls of one measurement.
const CALLS: u32 = 200;

/// Starts of one measurement.
const STARTS: u32 = 20;

/// Plugins that are switched on and not needed.
const MANY: usize = 50;

const FILE: &str = r#"
from tools.registry import registry

PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

registry.register(
    name="nothing",
    toolset="nothing",
    schema={"name": "nothing", "description": "Does nothing.", "parameters": PARAMETERS},
    handler=lambda args, **kw: "{}",
)
"#;

fn measure(work: &Work) -> Result<Numbers, String> {
    let runtime = work.runtime(&ITEM)?;
    let tools = runtime.home().map(|home| home.tools()).ok_or("there is no home")?;
    hermes::store::foreign::create(&tools.join("nothing.py"), FILE).map_err(|wrong| wrong.to_string())?;
    runtime.wait_for_tool("nothing");
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    let took = per_call(CALLS, || called(&session, "nothing", &json!({ "text": "x" })).map(drop))?;

    let (none, many) = (work.folder.join("home-plugins-none"), work.folder.join("home-plugins-many"));
    process::make(&none)?;
    // What an earlier run learnt of files that it wrote itself does not count.
    process::remove(&many)?;
    fifty(&many)?;
    let names: Vec<String> = (0..MANY).map(name).collect();
    let learning = open(&many, work)?;
    learning.try_plugins(&names);
    if learning.tools().tool("tool49").is_none() {
        return Err(learning.foreign_problems().join("; "));
    }
    let start = |home: &Path| open(home, work).map(|runtime| drop(runtime.tools()));
    let (alone, loaded) = side_by_side(STARTS, || start(&none), || start(&many))?;
    Ok(vec![("call_ms", millis(took)), ("start_0_ms", millis(alone)), ("start_50_ms", millis(loaded))])
}

fn name(number: usize) -> String {
    format!("plugin{number}")
}

/// A home with fifty plugins, each with a tool.
fn fifty(home: &Path) -> Result<(), String> {
    for number in 0..MANY {
        let folder = home.join("plugins").join(name(number));
        process::make(&folder)?;
        process::keep(&folder.join("plugin.yaml"), &format!("name: {}\n", name(number)))?;
        let schema = format!("{{'name': 'tool{number}', 'parameters': {{'type': 'object'}}}}");
        let code = format!(
            "def register(ctx):\n    ctx.register_tool('tool{number}', 'many', {schema}, lambda args, **kw: '{{}}')\n"
        );
        process::keep(&folder.join("__init__.py"), &code)?;
    }
    let names: Vec<String> = (0..MANY).map(name).collect();
    process::keep(&home.join("config.yaml"), &json!({ "plugins": { "enabled": names } }).to_string())
}

fn open(home: &Path, work: &Work) -> Result<Runtime, String> {
    let builder = Runtime::builder().cwd(&work.folder).home(Home::at(home)).env(process::variables());
    builder.build().map_err(|wrong| wrong.to_string())
}
