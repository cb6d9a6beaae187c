//! Files put elsewhere: moving, copying, linking.

use super::Handler;
use super::opts::{Parsed, Spec, parse};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::places;
use crate::walk::{Arg, Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "mv" | "gmv" => relocate,
        "cp" | "gcp" | "install" | "ginstall" | "ditto" => copy,
        "ln" | "gln" | "link" | "symlink" => link,
        _ => return None,
    })
}

/// Sources and destination of `mv`, `cp`, `install`, `ln`.
fn ends<'a>(parsed: &Parsed<'a>) -> (Vec<&'a Arg<'a>>, Option<String>) {
    let mut sources: Vec<&Arg<'_>> = parsed.rest().collect();
    if let Some(folder) = parsed.value("t", "target-directory") {
        return (sources, Some(format!("{}/", folder.trim_end_matches('/'))));
    }
    if sources.len() < 2 {
        return (sources, None);
    }
    let last = sources.pop().map(|arg| arg.text.to_string());
    (sources, last)
}

const COPY: Spec =
    Spec { short: "tSmogZ", long: &["target-directory", "suffix", "mode", "owner", "group"], stops: false };

/// The paths a destination stands for: the destination itself and, if it is a folder, the names
/// of the sources in it.
fn landing(walk: &Walk<'_>, sources: &[&Arg<'_>], destination: &str, exact: bool) -> Vec<String> {
    let mut out = vec![destination.to_owned()];
    if exact {
        return out;
    }
    let target = walk.target(destination);
    if target.place == Place::Sink {
        return Vec::new();
    }
    let folder = destination.ends_with('/')
        || matches!(
            target.place,
            Place::HomeTop
                | Place::WorkspaceTop
                | Place::SystemTop
                | Place::Root
                | Place::Startup
                | Place::SystemConfig
                | Place::GitData
        )
        || !target.text.rsplit('/').next().unwrap_or_default().contains('.')
        || matches!(destination, "." | "..");
    if folder {
        for source in sources.iter().take(64) {
            let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            out.push(format!("{}/{name}", destination.trim_end_matches('/')));
        }
    }
    out
}

const MOVES: &str = "moves a file onto another";
const FORCES: &str = "copies a file onto another, whatever that is";

fn relocate(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, COPY);
    let (sources, destination) = ends(&parsed);
    let Some(destination) = destination else { return Flow::none() };
    let away = walk.target(&destination);
    let nowhere = away.text == "/dev/null";
    for source in &sources {
        let target = walk.target(&source.text);
        let weighty = matches!(
            target.place,
            Place::Root
                | Place::SystemTop
                | Place::HomeTop
                | Place::System
                | Place::SystemConfig
                | Place::Device
                | Place::WorkspaceTop
                | Place::GitData
                | Place::Credential
                | Place::AgentConfig
                | Place::Startup
        );
        if nowhere || matches!(target.place, Place::Root | Place::SystemTop | Place::HomeTop) {
            walk.emit_on(
                Kind::Delete,
                "moves things away",
                source.span,
                vec![target],
                How { recursive: true, ..How::default() },
            );
        } else if weighty {
            let place = Place::SystemConfig;
            walk.emit_on(
                Kind::Write,
                "moves things away",
                source.span,
                vec![Target { place, ..target }],
                How::default(),
            );
        } else if (away.place == Place::Temp || places::TEMP.contains(&&*away.text))
            && matches!(target.place, Place::Home | Place::Elsewhere)
        {
            walk.emit_on(Kind::Delete, "moves things away", source.span, vec![target], How::default());
        }
    }
    place_all(walk, &sources, &destination, parsed.has("T", "no-target-directory"), MOVES, call.span);
    for source in &sources {
        let from = walk.path(&source.text);
        if walk.scope.runnable.contains(&from) {
            let to = walk.path(&destination);
            walk.scope.runnable.insert(to);
        }
        if let Some(flow) = walk.scope.files.remove(&from) {
            let to = walk.path(&destination);
            walk.scope.files.insert(to, flow);
        }
    }
    Flow::known(String::new())
}

fn place_all(
    walk: &mut Walk<'_>,
    sources: &[&Arg<'_>],
    destination: &str,
    exact: bool,
    what: &'static str,
    span: Span,
) {
    // Who moves it, or does so by force, knows that another one is there.
    let template = match sources {
        [source] if what != MOVES && what != FORCES => Some(&*source.text),
        _ => None,
    };
    for path in landing(walk, sources, destination, exact) {
        let target = walk.target(&path);
        let started = template.is_some_and(|source| is_template(source, &target.text));
        if target.place == Place::Sink
            || (started && target.place == Place::ProjectEnv && !super::database::production(&target.text))
        {
            continue;
        }
        walk.emit_on(Kind::Write, what, span, vec![target], How::default());
    }
}

/// `.env.example` and its kin, which are there to be copied onto the file they are named for. What is
/// only called `defaults.yml` may be anything.
fn is_template(path: &str, file: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let file = file.rsplit('/').next().unwrap_or(file);
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
    ["example", "sample", "template", "dist", "default"].iter().any(|sign| name.contains(sign))
        && name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == stem)
        && !name.contains("credential")
}

fn copy(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, COPY);
    if call.name == "install" && parsed.has("d", "directory") {
        if let Some(mode) = parsed.value("m", "mode").filter(|mode| super::perms::world_writable(mode)) {
            walk.emit_names(Kind::Permissions, "makes a folder everybody may write to", call.span, &[mode]);
        }
        return Flow::none();
    }
    let (sources, destination) = ends(&parsed);
    let Some(destination) = destination else { return Flow::none() };
    let mut flow = Flow::none();
    for source in &sources {
        flow = walk.read_file(&source.text, source.span);
        if &*source.text == "/dev/null" {
            walk.write_file(
                &destination,
                Flow::known(String::new()),
                false,
                "empties a file by redirection of nothing",
                call.span,
            );
        }
    }
    place_all(
        walk,
        &sources,
        &destination,
        parsed.has("T", "no-target-directory"),
        if parsed.has("f", "force") { FORCES } else { "copies a file onto another" },
        call.span,
    );
    let to = walk.path(&destination);
    if sources.len() == 1 && flow.exact().is_some() || flow.origin.network || flow.origin.decoded {
        walk.scope.files.insert(to.clone(), flow);
    }
    if call.name == "install" || parsed.has("p", "preserve") {
        let mode = parsed.value("m", "mode").unwrap_or("755");
        if call.name == "install" {
            super::perms::mode(walk, mode, &[destination.as_str()], false, call.span);
        }
    }
    if let [source] = sources.as_slice() {
        let name = super::base_name(&source.text).to_owned();
        if source.text.contains("bin/") && super::lookup(&name).is_some() {
            // A copied program keeps its teeth under its new name.
            let new = super::base_name(&destination).to_owned();
            walk.scope.aliases.insert(destination.clone(), name.clone().into());
            walk.scope.aliases.entry(new).or_insert_with(|| name.into());
        }
    }
    Flow::known(String::new())
}

fn link(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "tS", long: &["target-directory", "suffix"], stops: false });
    let (sources, destination) = ends(&parsed);
    let Some(destination) = destination else { return Flow::none() };
    let forced = parsed.has("f", "force");
    for path in landing(walk, &sources, &destination, parsed.has("T", "") || parsed.has("n", "")) {
        let target = walk.target(&path);
        let place = target.place;
        let counts =
            matches!(place, Place::Startup | Place::SystemConfig | Place::AgentConfig | Place::Credential);
        if forced || counts {
            walk.emit_on(
                Kind::Write,
                "puts a link in place of a file",
                call.span,
                vec![target],
                How::default(),
            );
        }
    }
    if forced && sources.iter().any(|source| &*source.text == "/dev/null") {
        super::files::emptied(walk, &[destination.as_str()], call.span);
    }
    if !parsed.has("s", "symbolic") {
        for source in &sources {
            walk.read_file(&source.text, source.span);
        }
    }
    if let [source] = sources.as_slice() {
        let from = walk.target(&source.text);
        let to = walk.path(&destination);
        // Through a link to a sensitive place, a harmless name reaches it.
        if matches!(
            from.place,
            Place::Root
                | Place::SystemTop
                | Place::HomeTop
                | Place::Credential
                | Place::Startup
                | Place::SystemConfig
                | Place::Device
                | Place::AgentConfig
        ) {
            walk.scope.links.push((to, walk.path(&source.text)));
        } else if from.text.contains("/bin/") {
            let name = super::base_name(&source.text).to_owned();
            walk.scope.aliases.insert(destination.clone(), name.clone().into());
            walk.scope.aliases.insert(super::base_name(&destination).to_owned(), name.into());
        }
    }
    Flow::known(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_one_of_the_file_it_is_named_for() {
        for (path, file) in [
            (".env.example", "/p/.env"),
            ("env.sample", "/p/.env"),
            ("conf/config.example.yaml", "/p/config.yaml"),
            ("config.yaml.dist", "/p/config.yaml"),
            (".env.example", "/p/.env.local"),
        ] {
            assert!(is_template(path, file), "{path} {file}");
        }
        for (path, file) in [
            ("defaults.yml", "/p/config.yaml"),
            ("example.txt", "/p/.env"),
            ("config.yaml", "/p/config.yaml"),
            ("env.credentials.example", "/p/.env"),
        ] {
            assert!(!is_template(path, file), "{path} {file}");
        }
    }
}
