//! `import`: registering every built-in tool.

use hermes_core::registry::{Registry, Scope};

use crate::item::{ItemDef, Numbers, Work};
use crate::process::peak_mb;
use crate::timing::{micros, per_call};

pub(crate) const ITEM: ItemDef = ItemDef::new("import", measure);

fn measure(_work: &Work) -> Result<Numbers, String> {
    register()?;
    let rss_mb = peak_mb()?;
    let built = per_call(200, register)?;
    Ok(vec![("registry_build_us", micros(built)), ("rss_mb", rss_mb)])
}

fn register() -> Result<(), String> {
    let scope = Scope::built_in(hermes_tools::tools(), hermes_tools::toolsets(), hermes_tools::core_tools());
    Registry::new(scope).map(drop).map_err(|wrong| wrong.to_string())
}
