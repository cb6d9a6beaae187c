//! `hermes plugins trust`: accepts tool files and plugins of a project by the digest of their content.

use std::path::{Path, PathBuf};

use hermes::extend::plugins::manifest::Manifest;
use hermes::plugin_key;
use hermes::store::{Named, Trust, foreign};
use serde_json::json;

use crate::command::Failure;
use crate::shell::Shell;
use crate::table::{Cell, Tone};

/// What says that a folder is a plugin.
const MANIFESTS: [&str; 2] = ["plugin.yaml", "plugin.yml"];

/// Accepts a tool file or plugin exactly as it is now.
pub(crate) fn accept(shell: &Shell, path: &Path) -> Result<(), Failure> {
    let path = clean(shell, path);
    let (digest, policy) = digest(&path)?;
    Trust::accept_as(&shell.home()?, &path, &digest, policy)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "path": path, "digest": digest }));
    }
    shell.out.text(&format!("Accepted {} as it is now", path.display()))?;
    shell.out.remark(&format!("sha256 {digest}; a change of it has to be accepted again"))
}

/// Takes back what was accepted at a path, whether or not anything is there still.
pub(crate) fn revoke(shell: &Shell, path: &Path) -> Result<(), Failure> {
    let (home, given, path) = (shell.home()?, written(shell, path), clean(shell, path));
    // It may have been accepted by the name of a link.
    if !Trust::revoke(&home, &path)? && !Trust::revoke(&home, &given)? {
        return Err(Failure::usage(format!("nothing was accepted at {}", path.display())));
    }
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "path": path, "revoked": true }));
    }
    shell.out.text(&format!("{} is not accepted any more", path.display()))
}

/// Shows all that is accepted.
pub(crate) fn accepted(shell: &Shell) -> Result<(), Failure> {
    let trust = Trust::read(&shell.home()?)?;
    if shell.out.wants_json() {
        return shell.out.json(&json!(trust.accepted()));
    }
    let rows: Vec<Vec<Cell>> = trust
        .accepted()
        .iter()
        .map(|it| vec![Cell::new(it.path.display().to_string()), Cell::new(&it.digest).tone(Tone::Faint)])
        .collect();
    shell.out.table(&["ACCEPTED", "SHA256"], &rows)
}

/// The digest of what lies there, and what it goes by if it is a plugin with a say in what may run.
fn digest(path: &Path) -> Result<(String, Option<Named>), Failure> {
    if foreign::stamp(path).is_some() {
        if path.extension().is_none_or(|end| end != "py") {
            return Err(Failure::usage(format!(
                "{} is neither a Python file nor the folder of a plugin",
                path.display()
            )));
        }
        let folder = path.parent().unwrap_or(path);
        if MANIFESTS.iter().any(|name| foreign::stamp(&folder.join(name)).is_some()) {
            let folder = folder.display();
            return Err(Failure::usage(format!(
                "{} is a file of a plugin, which is accepted whole: `hermes plugins trust {folder}`",
                path.display()
            )));
        }
        let text = foreign::text(path)?.unwrap_or_default();
        return Ok((foreign::digest(&text), None));
    }
    if foreign::is_folder(path) {
        let manifest = checked_manifest(path)?;
        let named = || Named { key: plugin_key(path, &manifest.name), name: manifest.name.clone() };
        return Ok((foreign::tree_digest(path)?, manifest.policy.then(named)));
    }
    Err(Failure::usage(format!("there is nothing at {}", path.display())))
}

/// The manifest of a plugin which can be accepted at all.
fn checked_manifest(folder: &Path) -> Result<Manifest, Failure> {
    let read = |name: &str| foreign::text(&folder.join(name)).ok().flatten();
    let Some(text) = MANIFESTS.iter().find_map(|name| read(name)) else {
        return Err(Failure::usage(format!("{} has no plugin.yaml", folder.display())));
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let manifest = foreign::yaml(&text).and_then(|said| Manifest::read(&said, &name));
    let manifest = manifest.map_err(|wrong| Failure::failed(format!("plugin.yaml: {wrong}")))?;
    match manifest.leads_out() {
        Some(word) => Err(Failure::failed(format!(
            "`run` says `{word}`, which is not in the folder and could change unnoticed; programs of the \
             system are named without a path"
        ))),
        None => Ok(manifest),
    }
}

/// The path as the runtime will find it.
fn clean(shell: &Shell, path: &Path) -> PathBuf {
    foreign::in_project(&written(shell, path))
}

/// The path as it was given, from the root on.
fn written(shell: &Shell, path: &Path) -> PathBuf {
    hermes::core::effect::lexical(&path.to_string_lossy(), shell.cwd(), None)
}
