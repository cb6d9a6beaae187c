//! What programs do, by name: the tables and small readers that turn arguments into effects.
//!
//! Every file here knows one family. A program nobody knows is taken to do nothing dangerous;
//! a program whose name cannot be known is an effect of its own.

mod agent;
mod archive;
mod builtins;
mod cloud;
mod code;
mod containers;
mod credentials;
mod database;
mod devices;
mod editors;
mod encode;
mod environment;
mod files;
mod filters;
mod find;
mod git;
mod inline;
mod kernel;
mod network;
mod opts;
mod packages;
mod perms;
mod processes;
mod scripting;
mod services;
mod shells;
mod stream;
mod sync;
mod tokens;
mod unseen;
mod users;
mod windows;
mod wrappers;

use crate::effect::Span;
use crate::walk::{Arg, Call, Flow, HOLE, Walk};

pub(crate) use environment::set as environment;

/// Runs one program: finds out which, and lets its family state what it does.
pub(crate) fn run(walk: &mut Walk<'_>, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    let Some((first, rest)) = args.split_first() else { return Flow::none() };
    let raw = &*first.text;
    if raw.contains(HOLE) {
        return unseen::run(walk, raw, args, stdin, span);
    }
    if raw.contains('/') {
        if let Some(flow) = shells::known_script(walk, raw, rest, stdin, span) {
            return flow;
        }
    }
    let name = base_name(raw);
    if name.contains(['*', '?', '[']) || raw.contains(['*', '?']) {
        return unseen::globbed(walk, raw, rest, stdin, span);
    }
    named(walk, name, rest, stdin, span)
}

/// Runs a program whose name is known.
pub(crate) fn named(walk: &mut Walk<'_>, name: &str, args: &[Arg<'_>], stdin: &Flow, span: Span) -> Flow {
    if walk.programs.len() < 200 {
        walk.programs.push((name.to_owned(), span));
    }
    let call = Call { name, args, span, stdin };
    if let Some(handler) = lookup(name) {
        return handler(walk, call);
    }
    if let Some(flow) = windows::run(walk, call) {
        return flow;
    }
    filters::unknown(walk, call)
}

/// A family's reader.
pub(crate) type Handler = fn(&mut Walk<'_>, Call<'_>) -> Flow;

/// The reader for a program, tried family by family.
pub(crate) fn lookup(name: &str) -> Option<Handler> {
    builtins::handler(name)
        .or_else(|| filters::handler(name))
        .or_else(|| files::handler(name))
        .or_else(|| git::handler(name))
        .or_else(|| shells::handler(name))
        .or_else(|| wrappers::handler(name))
        .or_else(|| stream::handler(name))
        .or_else(|| inline::handler(name))
        .or_else(|| network::handler(name))
        .or_else(|| perms::handler(name))
        .or_else(|| processes::handler(name))
        .or_else(|| services::handler(name))
        .or_else(|| containers::handler(name))
        .or_else(|| packages::handler(name))
        .or_else(|| devices::handler(name))
        .or_else(|| users::handler(name))
        .or_else(|| kernel::handler(name))
        .or_else(|| database::handler(name))
        .or_else(|| cloud::handler(name))
        .or_else(|| archive::handler(name))
        .or_else(|| editors::handler(name))
        .or_else(|| sync::handler(name))
        .or_else(|| credentials::handler(name))
        .or_else(|| agent::handler(name))
}

/// The last part of a path, without a Windows ending.
pub(crate) fn base_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((stem, end))
            if !stem.is_empty() && (end.eq_ignore_ascii_case(".exe") || end.eq_ignore_ascii_case(".com")) =>
        {
            stem
        }
        _ => name,
    }
}
