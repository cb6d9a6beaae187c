//! Toolsets and tools that are switched on or off for a platform, and how that gets into `config.yaml`.

use hermes::Runtime;
use hermes::core::toolset::{Catalog, PlatformLists, SelectionError};
use hermes::store::config::KeyPath;
use hermes::store::{Change, ConfigFile, Home, StoreError};
use serde_json::json;

use crate::command::Failure;
use crate::tools::of_server::{self, ServerSwitch};

/// One name, switched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Switch {
    /// A toolset or a tool, or `SERVER:TOOL`.
    pub(crate) name: String,
    pub(crate) on: bool,
}

/// The lists after these switches, one after the other.
pub(crate) fn applied(
    before: &PlatformLists,
    catalog: &Catalog,
    platform: &str,
    switches: &[Switch],
) -> Result<PlatformLists, SelectionError> {
    switches.iter().try_fold(before.clone(), |lists, switch| {
        let turn = if switch.on { PlatformLists::with } else { PlatformLists::without };
        turn(&lists, catalog, platform, &switch.name)
    })
}

/// The file as it would be.
pub(crate) fn tried(
    home: &Home,
    runtime: &Runtime,
    platform: &str,
    switches: &[Switch],
) -> Result<Change, Failure> {
    let mut file = ConfigFile::open(home)?;
    wanted(runtime, platform, switches)?.write(&mut file, platform)?;
    Ok(file.change())
}

/// Writes them down; everything else in the file stays as it is.
pub(crate) fn saved(
    home: &Home,
    runtime: &Runtime,
    platform: &str,
    switches: &[Switch],
) -> Result<Change, Failure> {
    // A name that is wrong is told before anything is locked or made.
    wanted(runtime, platform, switches)?;
    let mut refused = None;
    let change = ConfigFile::update(home, |file| {
        // Somebody else may have switched something since we looked: look again, now that nobody can.
        runtime.refresh()?;
        match wanted(runtime, platform, switches) {
            Ok(wanted) => wanted.write(file, platform),
            Err(wrong) => {
                refused = Some(wrong);
                Ok(())
            }
        }
    })?;
    match refused {
        Some(wrong) => Err(wrong),
        None => Ok(change),
    }
}

/// What is to be written.
struct Wanted {
    /// The lists of the platform as they are and as they are to be.
    before: PlatformLists,
    after: PlatformLists,
    of_servers: Vec<ServerSwitch>,
}

impl Wanted {
    fn write(&self, file: &mut ConfigFile, platform: &str) -> Result<(), StoreError> {
        write_lists(file, platform, &self.before, &self.after)?;
        self.of_servers.iter().try_for_each(|switch| switch.write(file))
    }
}

fn wanted(runtime: &Runtime, platform: &str, switches: &[Switch]) -> Result<Wanted, Failure> {
    let (of_servers, switches): (Vec<Switch>, Vec<Switch>) =
        switches.iter().cloned().partition(|switch| of_server::is_meant(runtime, &switch.name));
    let before = runtime.platform_lists(platform);
    let after = applied(&before, runtime.tools().catalog(), platform, &switches)?;
    let of_servers = of_servers.iter().map(|switch| ServerSwitch::of(runtime, switch));
    Ok(Wanted { before, after, of_servers: of_servers.collect::<Result<_, _>>()? })
}

/// Writes what is different, line by line, so that comments in the lists stay.
fn write_lists(
    file: &mut ConfigFile,
    platform: &str,
    before: &PlatformLists,
    after: &PlatformLists,
) -> Result<(), StoreError> {
    if let Some(path) = KeyPath::new(["platform_toolsets", platform])
        && let Some(wanted) = &after.toolsets
    {
        match &before.toolsets {
            Some(known) if !known.is_empty() && !wanted.is_empty() => edit(file, &path, known, wanted)?,
            _ => drop(file.set(&path, &json!(wanted))?),
        }
    }
    for (key, known, wanted) in [
        ("disabled_toolsets", &before.disabled_toolsets, &after.disabled_toolsets),
        ("disabled_tools", &before.disabled_tools, &after.disabled_tools),
    ] {
        if let Some(path) = KeyPath::new(["agent", key]) {
            edit(file, &path, known, wanted)?;
        }
    }
    Ok(())
}

fn edit(
    file: &mut ConfigFile,
    path: &KeyPath,
    known: &[String],
    wanted: &[String],
) -> Result<(), StoreError> {
    for gone in known.iter().filter(|name| !wanted.contains(name)) {
        file.remove_from_list(path, gone)?;
    }
    for new in wanted.iter().filter(|name| !known.contains(name)) {
        file.add_to_list(path, new)?;
    }
    Ok(())
}
