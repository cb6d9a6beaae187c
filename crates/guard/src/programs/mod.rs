//! What programs do, by name: the tables and small readers that turn arguments into effects.
//!
//! Every file here knows one family. A program nobody knows is taken to do nothing dangerous;
//! a program whose name cannot be known is an effect of its own.

mod addresses;
mod agent;
mod amount;
mod archive;
mod awk;
mod batch;
mod builtins;
mod cloud;
mod clusters;
mod code;
mod containers;
mod controllers;
mod copies;
mod credentials;
mod database;
mod devices;
mod disks;
mod each;
mod editors;
mod encode;
mod environment;
mod files;
mod filters;
mod find;
mod forge;
mod git;
mod git_verbs;
mod handed;
mod harms;
mod infrastructure;
mod inline;
mod kernel;
mod letters;
mod looks;
mod loss_names;
mod managers;
mod network;
mod odd;
mod opts;
mod outputs;
mod packages;
mod peeks;
mod perms;
mod print;
mod processes;
mod removals;
mod scripting;
mod search;
mod services;
mod sessions;
mod shells;
mod signs;
mod sockets;
mod sql;
mod sql_rows;
mod stranger;
mod stream;
mod sync;
mod tokens;
mod unseen;
mod users;
mod verbs;
mod windows;
mod wrappers;

use crate::effect::Span;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

pub(crate) use environment::set as environment;

/// Notes that nothing is left in a file.
pub(crate) fn emptied(walk: &mut Walk<'_>, path: &str, span: Span) {
    files::emptied(walk, &[path], span);
}

pub(crate) use windows::whole as other_shells;

/// Runs one program: finds out which, and lets its family state what it does.
pub(crate) fn run(walk: &mut Walk<'_>, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    let args = unstacked(args);
    let Some((first, rest)) = args.split_first() else { return Flow::none() };
    let raw = &*first.text;
    if raw.starts_with("https://") || raw.starts_with("http://") {
        walk.emit_names(crate::effect::Kind::RunDownloaded, "runs text from the network", span, &[raw]);
        return Flow::unknown(Origin { network: true, ..Origin::default() });
    }
    if raw.contains(HOLE) {
        return unseen::run(walk, raw, args, stdin, span);
    }
    if raw.contains('/')
        && let Some(flow) = shells::known_script(walk, raw, rest, stdin, span)
    {
        return flow;
    }
    let name = base_name(raw);
    if raw.contains('^') {
        // `cmd` drops them: `d^el`.
        let plain = raw.replace('^', "");
        return named(walk, base_name(&plain), rest, stdin, span);
    }
    if let Some(glued) = raw.get(3..).filter(|rest| {
        rest.starts_with('/') && raw.get(..3).is_some_and(|cmd| cmd.eq_ignore_ascii_case("cmd"))
    }) {
        // `cmd/c del x`
        let mut all = vec![Arg { text: glued.into(), span: first.span }];
        all.extend(rest.iter().map(Arg::shared));
        return named(walk, "cmd", &all, stdin, span);
    }
    if raw.as_bytes().get(1) == Some(&b':') && !raw.contains(['/', '\\']) {
        // A Windows path whose backslashes another shell took away.
        let lower = raw.to_ascii_lowercase();
        if let Some(shell) = ["powershell", "pwsh", "cmd"]
            .iter()
            .find(|shell| lower.trim_end_matches(".exe").ends_with(*shell))
        {
            return named(walk, shell, rest, stdin, span);
        }
    }
    if raw.starts_with("/etc/init.d/") || raw.starts_with("/etc/rc.d/") {
        return named(walk, "service", rest, stdin, span);
    }
    if name != "[" && raw.bytes().any(|b| matches!(b, b'*' | b'?' | b'[')) && is_glob(name, raw) {
        return unseen::globbed(walk, raw, rest, stdin, span);
    }
    if raw.contains('/') && !raw.starts_with('/') && !in_system_folder(&walk.path(raw)) {
        return own_program(walk, raw, name, rest, stdin, span);
    }
    named(walk, name, rest, stdin, span)
}

/// Whether a name, or the folder it is in, is written with wildcards.
fn is_glob(name: &str, raw: &str) -> bool {
    name.contains(['*', '?', '[']) || raw.contains(['*', '?'])
}

/// A wrapper that runs itself again and again is as good as one.
fn unstacked<'a, 'b>(args: &'a [Arg<'b>]) -> &'a [Arg<'b>] {
    let mut args = args;
    while let [first, second, _, ..] = args
        && first.text == second.text
        && matches!(
            &*first.text,
            "env"
                | "nohup"
                | "nice"
                | "command"
                | "builtin"
                | "exec"
                | "setsid"
                | "busybox"
                | "time"
                | "sudo"
                | "doas"
        )
    {
        args = args.get(1..).unwrap_or_default();
    }
    args
}

/// Whether a path leads into a folder that holds the system's programs.
fn in_system_folder(path: &str) -> bool {
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/system/bin/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// A program of the project's own, which only shares a name with one we know. Interpreters and
/// the plainest file tools are still taken for what they are called.
fn own_program(
    walk: &mut Walk<'_>,
    raw: &str,
    name: &str,
    args: &[Arg<'_>],
    stdin: &Flow,
    span: Span,
) -> Flow {
    let installed =
        raw.contains("node_modules/.bin/") || raw.contains("venv/bin/") || raw.contains("vendor/bin/");
    if installed
        || shells::handler(name).is_some()
        || inline::handler(name).is_some()
        || agent::handler(name).is_some()
        || matches!(
            name,
            "rm" | "dd"
                | "shred"
                | "busybox"
                | "toybox"
                | "sudo"
                | "env"
                | "rails"
                | "rake"
                | "artisan"
                | "mix"
        )
    {
        return named(walk, name, args, stdin, span);
    }
    walk.programs.push((name.to_owned(), span));
    if args.iter().take(64).any(|arg| arg.text.contains("stratum+")) {
        walk.emit(crate::effect::Kind::Kernel, "makes the machine work for others", span);
    }
    if walk.scope.cloned.iter().any(|folder| crate::place::within(&walk.path(raw), folder))
        && !shells::everyday_script(raw)
    {
        walk.emit(crate::effect::Kind::RunDownloaded, "runs a script that was just fetched", span);
    }
    Flow::unknown(Origin { endless: false, ..stdin.origin })
}

/// Runs a program whose name is known.
pub(crate) fn named(walk: &mut Walk<'_>, name: &str, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    if walk.programs.len() < 200 {
        walk.programs.push((name.to_owned(), span));
    }
    let call = Call { name, args, span, stdin };
    let met = remembered(walk, name);
    if peeks::help(name, args) || met.peeks && peeks::only(name, args) {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    if let Some(handler) = met.handler {
        if !walk.down(span) {
            return Flow::none();
        }
        if args.len() > 16 {
            walk.spend(4 * args.len());
        }
        let before = walk.effects.len();
        let mut flow = handler(walk, call);
        walk.up();
        disks::glanced(walk, name, before);
        outputs::of_known(walk, call, before);
        if met.tool && walk.effects.len() == before {
            handed::to_known(walk, call);
            handed::by_files(walk, call);
        }
        if met.harm
            && walk.effects.len() == before
            && !verbs::only_shows(args)
            && let Some((kind, what)) = harms::of(name, args).or_else(|| looks::touches(name, args))
        {
            walk.emit_names(kind, what, span, &[name]);
        }
        if flow.seen().contains(HOLE) && filters::prints_settings(call) {
            flow.origin.settings = true;
        }
        return amount::handed_on(call, flow);
    }
    if !walk.scope.files.is_empty()
        && let Some(path) = walk
            .scope
            .files
            .keys()
            .find(|path| {
                path.ends_with(name) && path.strip_suffix(name).is_some_and(|folder| folder.ends_with("bin/"))
            })
            .cloned()
        && let Some(flow) = shells::known_script(walk, &path, args, stdin, span)
    {
        return flow;
    }
    let before = walk.effects.len();
    if met.windows
        && let Some(flow) = windows::run(walk, call)
    {
        if met.harm
            && walk.effects.len() == before
            && !verbs::only_shows(args)
            && let Some((kind, what)) = harms::of(name, args)
        {
            walk.emit_names(kind, what, span, &[name]);
        }
        return flow;
    }
    amount::handed_on(call, stranger::run(walk, call, met))
}

/// What a name alone says about a program.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing the name tells, or does not")]
pub(crate) struct Met {
    handler: Option<Handler>,
    /// Whether it is a tool with options of its own, not a part of the shell or a filter of text.
    tool: bool,
    /// Whether nobody but a Windows shell may know it.
    windows: bool,
    /// Whether it does harm with certain words.
    harm: bool,
    /// Whether it only looks with certain words.
    peeks: bool,
    /// Whether nobody knows it, and its name says that it removes things.
    loss: bool,
    /// Whether its `remove` and `stop` are part of everyday work.
    tame: bool,
}

/// What the name of a program says, found out once for each name in a text.
fn remembered(walk: &mut Walk<'_>, name: &str) -> Met {
    if let Some((_, met)) = walk.met.iter().find(|(known, _)| known == name) {
        return *met;
    }
    let handler = lookup(name);
    let stranger = handler.is_none();
    let met = Met {
        handler,
        harm: harms::knows(name) || looks::knows(name),
        peeks: peeks::knows(name),
        tool: !stranger && !handles_text(name),
        windows: stranger && windows::known(name),
        loss: stranger && loss_names::named_for_loss(name),
        tame: stranger && removals::tame(name),
    };
    if walk.met.len() >= 16 {
        walk.met.remove(0);
    }
    walk.met.push((name.to_owned(), met));
    met
}

/// Whether words after a program's name are text to it, as to the shell's own commands.
fn handles_text(name: &str) -> bool {
    name == "git" || builtins::handler(name).or_else(|| filters::handler(name)).is_some()
}

/// A family's reader.
pub(crate) type Handler = fn(&mut Walk<'_>, Call<'_>) -> Flow;

/// The reader for a program, tried family by family.
pub(crate) fn lookup(name: &str) -> Option<Handler> {
    builtins::handler(name)
        .or_else(|| filters::handler(name))
        .or_else(|| files::handler(name))
        .or_else(|| copies::handler(name))
        .or_else(|| git::handler(name))
        .or_else(|| shells::handler(name))
        .or_else(|| wrappers::handler(name))
        .or_else(|| stream::handler(name))
        .or_else(|| inline::handler(name))
        .or_else(|| network::handler(name))
        .or_else(|| sockets::handler(name))
        .or_else(|| perms::handler(name))
        .or_else(|| processes::handler(name))
        .or_else(|| services::handler(name))
        .or_else(|| containers::handler(name))
        .or_else(|| clusters::handler(name))
        .or_else(|| packages::handler(name))
        .or_else(|| devices::handler(name))
        .or_else(|| users::handler(name))
        .or_else(|| kernel::handler(name))
        .or_else(|| database::handler(name))
        .or_else(|| cloud::handler(name))
        .or_else(|| infrastructure::handler(name))
        .or_else(|| archive::handler(name))
        .or_else(|| editors::handler(name))
        .or_else(|| sync::handler(name))
        .or_else(|| credentials::handler(name))
        .or_else(|| agent::handler(name))
}

/// The last part of a path, without a Windows ending.
pub(crate) fn base_name(path: &str) -> &str {
    let name =
        memchr::memrchr2(b'/', b'\\', path.as_bytes()).and_then(|at| path.get(at + 1..)).unwrap_or(path);
    match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((stem, end))
            if !stem.is_empty() && (end.eq_ignore_ascii_case(".exe") || end.eq_ignore_ascii_case(".com")) =>
        {
            stem
        }
        _ => name,
    }
}
