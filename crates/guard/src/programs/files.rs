//! Files: deleting, emptying, making.

use super::Handler;
use super::opts::{Spec, parse};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "rm" | "grm" | "unlink" | "rmdir" | "srm" | "trash" | "trash-put" | "trash-empty" | "gvfs-trash"
        | "gio" | "kioclient" | "kioclient5" | "rimraf" | "del-cli" | "wipe" | "safe-rm" => remove,
        "shred" | "scrub" | "nwipe" => shred,
        "tee" | "gtee" => tee,
        "truncate" | "fallocate" => truncate,
        "mkdir" | "touch" => make,
        "mktemp" => temporary,
        "patch" => patch,
        _ => return None,
    })
}

fn remove(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "", long: &["interactive"], stops: false });
    // What is found in a folder may be many files in many folders.
    // So may be the lines of a file.
    let listed = walk.found || walk.last_unknown.listed || walk.last_unknown.file;
    let recursive = listed
        || parsed.has("r", "recursive")
        || parsed.has("R", "")
        || matches!(call.name, "rimraf" | "wipe")
        || (call.name == "rm" && parsed.has("d", "dir"));
    if call.name == "trash-empty" {
        walk.emit(Kind::Delete, "empties the trash", call.span);
        return Flow::known(String::new());
    }
    if call.name == "rmdir"
        && call
            .args
            .iter()
            .any(|arg| arg.text.eq_ignore_ascii_case("/s") || arg.text.eq_ignore_ascii_case("/q"))
    {
        return super::windows::run(walk, call).unwrap_or_else(Flow::none);
    }
    let desktop = matches!(call.name, "gio" | "kioclient" | "kioclient5");
    if desktop && !matches!(parsed.text(0), "remove" | "trash") {
        return Flow::known(String::new());
    }
    if parsed.has("", "help") || parsed.has("", "version") {
        return Flow::known(String::new());
    }
    if call.name == "rmdir" && !parsed.rest().any(|arg| arg.text.starts_with(['/', '~'])) {
        // Only empty folders go, so nothing of the project is lost.
        return Flow::known(String::new());
    }
    if desktop && parsed.has("", "empty") {
        walk.emit(Kind::Delete, "empties the trash", call.span);
    }
    let skip = usize::from(desktop);
    let whole: Vec<Arg<'_>> = if listed { parsed.rest().map(all_of).collect() } else { Vec::new() };
    let mut targets: Vec<&Arg<'_>> = if listed { whole.iter().collect() } else { parsed.rest().collect() };
    targets.drain(..skip.min(targets.len()));
    let glued = Arg { text: "/".into(), span: call.span };
    if parsed.has("/", "") {
        // `-rf/`: a look-alike or a missing blank.
        targets.push(&glued);
    }
    if parsed.has("", "no-preserve-root") && recursive && targets.iter().any(|arg| unknown_root(&arg.text)) {
        // Who says so means the root.
        let root = vec![walk.target("/")];
        walk.emit_on(Kind::Delete, "deletes folders with everything in them", call.span, root, ALL);
    }
    delete(walk, &targets, recursive, call.span);
    Flow::known(String::new())
}

/// Everything in a folder, folders too.
const ALL: How = How { recursive: true, all: false, grave: false };

/// Whether a path may be the root, for all that is known.
fn unknown_root(path: &str) -> bool {
    path.contains(HOLE) && path.chars().all(|c| matches!(c, HOLE | '/' | '.' | '*'))
}

/// What is found in a folder is as good as the folder.
fn all_of<'a>(arg: &'a Arg<'a>) -> Arg<'a> {
    let text = arg.text.strip_suffix(HOLE).and_then(|text| text.strip_suffix('/')).unwrap_or(&arg.text);
    let text = if text.is_empty() && arg.text.starts_with('/') { "/" } else { text };
    Arg { text: text.into(), span: arg.span }
}

/// Files that people write by hand, told by how their names end.
const BY_HAND: [&str; 27] = [
    "rs", "go", "py", "js", "ts", "tsx", "jsx", "c", "h", "cpp", "hpp", "cc", "java", "kt", "rb", "php",
    "swift", "cs", "sh", "md", "rst", "tex", "sql", "db", "sqlite", "toml", "docx",
];

/// Whether a name is one that people write by hand, or keep.
pub(crate) fn by_hand(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(
        name,
        "Makefile"
            | "Dockerfile"
            | "README"
            | "LICENSE"
            | "package.json"
            | "package-lock.json"
            | "Cargo.lock"
    ) || name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && BY_HAND.contains(&end))
}

/// Whether a wildcard stands for everything in a folder, or for every file of a language.
fn sweeps(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("!(")
        || path.contains('/') && matches!(name, "*" | "*.*" | "**")
        || name.starts_with('*') && by_hand(&format!("x{name}"))
}

/// Notes that these paths are deleted.
pub(crate) fn delete(walk: &mut Walk<'_>, paths: &[&Arg<'_>], recursive: bool, span: Span) {
    let mut targets: Vec<Target> = Vec::new();
    let mut all = false;
    for path in paths.iter().take(512) {
        let target = walk.target(&path.text);
        all |= target.place == Place::Workspace && sweeps(&path.text);
        if target.place == Place::Sink {
            continue;
        }
        targets.push(target);
    }
    if paths.len() > 512 {
        walk.emit(Kind::Unreadable, "deletes more things than can be listed", span);
    }
    if !targets.is_empty() {
        let what = if recursive { "deletes folders with everything in them" } else { "deletes files" };
        walk.emit_on(
            Kind::Delete,
            what,
            span,
            targets,
            How { recursive, all: all && !recursive, ..How::default() },
        );
    }
}

/// Notes that nothing is left in these files, unless that is no loss.
pub(crate) fn emptied(walk: &mut Walk<'_>, paths: &[&str], span: Span) {
    for path in paths.iter().take(64) {
        let target = walk.target(path);
        let listed = target.place == Place::Unseen && (walk.found || walk.last_unknown.listed);
        let kept =
            matches!(target.place, Place::Workspace | Place::WorkspaceTop | Place::Elsewhere | Place::Home);
        if (kept || listed) && !target.text.ends_with(".log") {
            let how = How { all: true, ..How::default() };
            walk.emit_on(Kind::Delete, "empties a file", span, vec![target], how);
        }
    }
}

fn shred(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "nsp", long: &["iterations", "size", "random-source", "pattern"], stops: false },
    );
    let listed = walk.found || walk.last_unknown.listed;
    let targets: Vec<Target> = parsed
        .rest()
        .map(|arg| if listed { walk.target(&all_of(arg).text) } else { walk.target(&arg.text) })
        .collect();
    let device = targets.iter().any(|target| target.place == Place::Device);
    if device {
        walk.emit_on(
            Kind::Device,
            "overwrites a device",
            call.span,
            targets,
            How { grave: true, ..How::default() },
        );
    } else if !targets.is_empty() {
        let all =
            targets.iter().any(|target| !matches!(target.place, Place::Temp | Place::Rebuilt | Place::Made));
        walk.emit_on(
            Kind::Delete,
            "overwrites files beyond recovery",
            call.span,
            targets,
            How { all, recursive: listed, ..How::default() },
        );
    }
    Flow::none()
}

fn tee(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec::default());
    let append = parsed.has("a", "append");
    for file in parsed.rest() {
        let what = if append { "appends to a file" } else { "overwrites a file" };
        walk.write_file(&file.text, call.stdin.clone(), append, what, file.span);
    }
    call.stdin.clone()
}

fn truncate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "srlon", long: &["size", "reference", "length", "offset"], stops: false },
    );
    if call.name == "fallocate" && parsed.value("l", "length").is_some_and(super::amount::is_huge) {
        walk.emit(Kind::Device, "takes more room than a disk has", call.span);
    }
    let holes = call.name == "fallocate" && ["p", "z", "c"].iter().any(|flag| parsed.has(flag, ""))
        || ["punch-hole", "zero-range", "collapse-range"].iter().any(|flag| parsed.has("", flag));
    for file in parsed.rest() {
        let target = walk.target(&file.text);
        let emptied_here = parsed.value("s", "size").is_some_and(|size| size == "0");
        if emptied_here && (walk.found || walk.last_unknown.listed) {
            emptied(walk, &[&file.text], file.span);
        }
        if matches!(target.place, Place::Elsewhere | Place::Home | Place::Unseen)
            && (holes || parsed.value("s", "size").is_some_and(|size| size == "0"))
            && !target.text.ends_with(".log")
        {
            walk.emit_on(
                Kind::Delete,
                "empties a file",
                file.span,
                vec![target],
                How { all: true, ..How::default() },
            );
        } else {
            if target.text.contains("/log/")
                || target.text.ends_with(".log") && target.place == Place::Elsewhere
            {
                walk.emit_on(Kind::Traces, "empties a log", file.span, vec![target.clone()], How::default());
            }
            walk.write_file(&file.text, Flow::known(String::new()), false, "empties a file", file.span);
        }
    }
    Flow::none()
}

fn make(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "mrtd", long: &["mode", "reference", "date"], stops: false });
    for path in parsed.rest() {
        let place = walk.target(&path.text).place;
        let fresh = !parsed.has("p", "parents") || matches!(place, Place::Workspace | Place::Elsewhere);
        if call.name == "mkdir" && fresh && !path.text.contains(HOLE) {
            walk.made(&path.text);
        }
        if parsed.value("m", "mode").is_some_and(|mode| {
            mode.ends_with('7') || mode.ends_with('6') || mode.contains("o+w") || mode.contains("a+w")
        }) && call.name == "mkdir"
        {
            let mode = parsed.value("m", "mode").unwrap_or_default().to_owned();
            super::perms::mode(walk, &mode, &[&path.text], false, path.span);
        }
        if matches!(place, Place::SystemConfig | Place::Startup | Place::System) {
            let target = walk.target(&path.text);
            walk.emit_on(Kind::Write, "makes a file", path.span, vec![target], How::default());
        }
    }
    Flow::known(String::new())
}

fn temporary(_walk: &mut Walk<'_>, _call: Call<'_>) -> Flow {
    Flow { text: Some(format!("/tmp/tmp.{HOLE}\n").into()), origin: Origin::default() }
}

fn patch(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "pidDFoBVYzr", long: &["strip", "input", "directory", "output"], stops: false },
    );
    if let Some(folder) = parsed.value("d", "directory") {
        let target = walk.target(&format!("{folder}/x"));
        walk.emit_on(Kind::Write, "patches files", call.span, vec![target], How::default());
    }
    if let Some(file) = parsed.operand(0) {
        let target = walk.target(&file.text);
        walk.emit_on(Kind::Write, "patches a file", file.span, vec![target], How::default());
    } else if parsed.value("d", "directory").is_none() && !parsed.has("", "dry-run") {
        patched_below(walk, ".", call.span);
    }
    Flow::none()
}

/// Notes that a patch, which names its files itself, is applied in a folder that is no place for just any changes.
pub(super) fn patched_below(walk: &mut Walk<'_>, folder: &str, span: Span) {
    let target = walk.target(folder);
    if matches!(
        target.place,
        Place::AgentConfig | Place::Startup | Place::Credential | Place::SystemConfig | Place::SystemTop
    ) {
        walk.emit_on(Kind::Write, "patches files", span, vec![target], How::default());
    }
}
