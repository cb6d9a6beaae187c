//! `python`: a call of a Python tool file whose handler does nothing, so that all its time is ours.

use serde_json::json;

use crate::item::{ItemDef, Numbers, Work, called};
use crate::timing::{millis, per_call};

pub(crate) const ITEM: ItemDef = ItemDef::new("python", measure);

/// Calls of one measurement.
const CALLS: u32 = 200;

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

    Ok(vec![("call_ms", millis(took))])
}
