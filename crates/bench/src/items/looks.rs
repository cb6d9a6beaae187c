//! `looks`: what the system takes to tell the dates of the files of fifty plugins, once. Whoever wants to know whether
//! plugins have changed pays at least that.

use std::path::{Path, PathBuf};

use crate::item::{ItemDef, Numbers, Work};
use crate::process;
use crate::timing::{micros, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("looks", measure);

const PLUGINS: usize = 50;
const FILES: [&str; 2] = ["__init__.py", "plugin.yaml"];

fn measure(work: &Work) -> Result<Numbers, String> {
    let paths = furnish(&work.folder.join("looks/plugins"))?;
    // Once, as a program that starts does: a second time would find everything at hand.
    let (there, took) = timed(|| paths.iter().filter(|path| process::is_there(path)).count());
    if there != paths.len() {
        return Err(format!("only {there} of {} are there", paths.len()));
    }
    Ok(vec![("once_us", micros(took))])
}

/// The folders and files of all plugins, made where there are none.
fn furnish(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folders: Vec<PathBuf> = (0..PLUGINS).map(|number| root.join(format!("plugin{number}"))).collect();
    let files = |folder: &Path| FILES.map(|name| folder.join(name));
    if !process::is_there(root) {
        for folder in &folders {
            process::make(folder)?;
            files(folder).iter().try_for_each(|file| process::keep(file, "\n"))?;
        }
    }
    let of_plugin = |folder: PathBuf| files(&folder).into_iter().chain([folder]);
    Ok(folders.into_iter().flat_map(of_plugin).chain([root.to_owned()]).collect())
}
