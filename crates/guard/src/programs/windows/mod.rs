//! Windows: `cmd` and PowerShell.
//!
//! `pieces`, `values`, `expressions` and `power` follow PowerShell text, `cmd` that of the older shell;
//! `commands` and `cmdlets` know what their commands do.

mod cmd;
mod cmd_lines;
mod cmdlets;
mod commands;
mod expressions;
mod pieces;
mod power;
mod values;

use super::code;
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};
pub(super) use cmdlets::known;

/// What looking up a command costs, in steps.
const LOOKED_UP: usize = 48;

/// A Windows program or cmdlet; `None` when the name is not one.
pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>) -> Option<Flow> {
    // Its tables are long, and words are compared in lower case.
    if !walk.spend(LOOKED_UP + 8 * call.args.len()) {
        return Some(Flow::none());
    }
    let name = call.name.to_ascii_lowercase();
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    match name.as_str() {
        "cmd" => shell(walk, call),
        "powershell" | "pwsh" => powershell(walk, call),
        "invoke-webrequest" | "invoke-restmethod" | "start-bitstransfer" => {
            return Some(fetched(walk, &words, call.span));
        }
        "start-process" | "saps"
            if words.iter().any(|word| {
                let path = walk.path(&posix(word));
                walk.scope.files.get(&path).is_some_and(|flow| flow.origin.network)
            }) =>
        {
            walk.emit_names(Kind::RunDownloaded, "starts a program that was just fetched", call.span, &words);
        }
        "invoke-command" | "icm" | "start-job" | "foreach-object"
            if words.iter().any(|word| word.starts_with('{')) =>
        {
            let at = words.iter().position(|word| word.starts_with('{')).unwrap_or_default();
            power::text(walk, &words.get(at..).unwrap_or_default().join(" "), call.span);
        }
        _ => {
            let known = cmdlets::verb(walk, &name, &words, call.span, call.stdin);
            if !known && takes_away(call.name) {
                walk.emit_names(Kind::Cloud, "removes, stops or resets something", call.span, &words);
                return Some(Flow::none());
            }
            return known.then(|| Flow::unknown(call.stdin.origin));
        }
    }
    Some(Flow::unknown(Origin { local: true, ..Origin::default() }))
}

/// A text that only PowerShell or `cmd` can mean is read as they would, besides.
pub(crate) fn whole(walk: &mut Walk<'_>, source: &str) {
    let start = source.trim_start_matches([' ', '\t', '\n', '\r', '@', '(']);
    let span = Span::new(0, source.len());
    let before = walk.effects.len();
    if power_speaks(start) {
        power::text(walk, source, span);
    } else if cmd_speaks(start) {
        cmd::text(walk, source, span);
    }
    // What was found by the first reading is not told twice.
    let found = walk.effects.split_off(before.min(walk.effects.len()));
    for effect in found {
        let known = walk.effects.iter().take(before).any(|old| {
            old.kind == effect.kind && old.targets == effect.targets && (old.how.grave || !effect.how.grave)
        });
        if !known {
            walk.effects.push(effect);
        }
    }
}

/// `$x = …`, `[Type]::…`, `& (…)`, `Get-Thing …`.
fn power_speaks(start: &str) -> bool {
    match start.as_bytes() {
        [b'$', rest @ ..] => {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let after = start.get(name + 1..).unwrap_or_default().trim_start();
            name > 0 && (after.starts_with('=') && !after.starts_with("==") || after.starts_with(".Delete"))
        }
        [b'[', rest @ ..] => rest.first().is_some_and(u8::is_ascii_alphabetic) && start.contains("]::"),
        [b'&' | b'.', rest @ ..] => {
            matches!(
                rest,
                [b'(' | b'\'' | b'"' | b'{' | b'$', ..] | [b' ', b'(' | b'\'' | b'"' | b'{' | b'$', ..]
            ) && (start.starts_with('&') || start.contains("-f ") || start.contains("gcm"))
        }
        [first, ..] => {
            let word = start.split([' ', '\t', '|', ';', ')', '\n']).next().unwrap_or_default();
            let verb = word.split_once('-').is_some_and(|(verb, noun)| {
                first.is_ascii_uppercase()
                    && verb.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && noun.starts_with(|c: char| c.is_ascii_uppercase())
                    && noun.bytes().all(|byte| byte.is_ascii_alphabetic())
            });
            verb || matches!(word, "gci" | "iex" | "iwr" | "irm" | "sal" | "icm" | "ri")
        }
        [] => false,
    }
}

/// `set x=del& %x% …`, `for %f in …`, `if exist …`, `%x% …`.
fn cmd_speaks(start: &str) -> bool {
    let begins = |word: &str| start.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    match start.as_bytes().first() {
        Some(b'%') => start.get(1..).is_some_and(|rest| rest.contains('%')),
        Some(b'f' | b'F') => begins("for /") || begins("for %"),
        Some(b'i' | b'I') => begins("if exist ") || begins("if not exist ") || begins("if defined "),
        Some(b's' | b'S') => {
            begins("start /") || begins("set ") && start.contains('=') && start.contains(['%', '!'])
        }
        Some(b'e' | b'E') => begins("echo off"),
        Some(b'c' | b'C') if begins("call ") => start.contains('%'),
        _ => names_folder(start),
    }
}

/// Whether a variable that every Windows machine has stands in the text: `%TEMP%`.
fn names_folder(text: &str) -> bool {
    let mut rest = text;
    for _ in 0..16 {
        let Some((_, after)) = rest.split_once('%') else { return false };
        let name = after.split('%').next().unwrap_or_default();
        if (4..24).contains(&name.len())
            && name.len() < after.len()
            && values::held(&format!("env:{name}")).is_some()
        {
            return true;
        }
        rest = after;
    }
    false
}

/// `cmd /c text`.
fn shell(walk: &mut Walk<'_>, call: Call<'_>) {
    let switch = |text: &str| {
        let text = text.trim_start_matches('/');
        text.get(..1).is_some_and(|letter| ["c", "k", "r"].contains(&&*letter.to_ascii_lowercase()))
    };
    let at = call.args.iter().position(|arg| arg.text.starts_with('/') && switch(&arg.text));
    let Some(at) = at else {
        if call.stdin.present() {
            cmd::fed(walk, call.stdin, call.span);
        }
        return;
    };
    let glued =
        call.args.get(at).and_then(|arg| arg.text.trim_start_matches('/').get(1..)).unwrap_or_default();
    let line = format!("{glued} {}", joined(call.args.get(at + 1..).unwrap_or_default()));
    if !line.trim().is_empty() && line.chars().all(|c| c == HOLE || c.is_whitespace()) {
        code::unseen(walk, walk.last_unknown, call.span);
    }
    cmd::text(walk, line.trim(), call.span);
}

/// Arguments as one line, quoted again where there are several.
fn joined(args: &[Arg<'_>]) -> String {
    if let [only] = args {
        return only.text.to_string();
    }
    let quoted = |arg: &Arg<'_>| {
        if arg.text.contains(' ') && !arg.text.contains(['"', '\'', '&', '|', ';', '{', '(']) {
            format!("\"{}\"", arg.text)
        } else {
            arg.text.to_string()
        }
    };
    args.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A program that a Windows shell starts: a script the text wrote itself, or one known by name.
fn program(walk: &mut Walk<'_>, name: &str, words: &[&str], stdin: &Flow, span: Span) -> Flow {
    let args: Vec<Arg<'_>> = words.iter().map(|word| Arg { text: (*word).into(), span }).collect();
    for ending in ["", ".bat", ".cmd", ".exe", ".ps1"] {
        let path = walk.path(&posix(&format!("{name}{ending}")));
        let Some(flow) = walk.scope.files.get(&path).cloned() else { continue };
        if flow.origin.network {
            walk.emit_names(Kind::RunDownloaded, "starts a program that was just fetched", span, &[name]);
        } else if path.ends_with(".ps1") {
            power::text(walk, flow.seen(), span);
        } else {
            cmd::text(walk, flow.seen(), span);
        }
        return Flow::none();
    }
    if name.contains(HOLE) {
        let mut all = vec![Arg { text: name.into(), span }];
        all.extend(args);
        return super::run(walk, &all, stdin, span);
    }
    let base = super::base_name(name).to_ascii_lowercase();
    super::named(walk, &base, &args, stdin, span)
}

/// The same for a program and a line of arguments.
fn program_line(walk: &mut Walk<'_>, name: &str, line: &str, span: Span) {
    let base = super::base_name(name).to_ascii_lowercase();
    let args: Vec<Arg<'_>> = line.split_whitespace().map(|word| Arg { text: word.into(), span }).collect();
    let call = Call { name: &base, args: &args, span, stdin: &Flow::none() };
    match base.as_str() {
        "cmd" => shell(walk, call),
        "powershell" | "pwsh" => powershell(walk, call),
        _ => {
            let words: Vec<&str> = line.split_whitespace().collect();
            program(walk, name, &words, &Flow::none(), span);
        }
    }
}

/// A file is fetched, and perhaps kept.
fn fetched(walk: &mut Walk<'_>, words: &[&str], span: Span) -> Flow {
    let file = words
        .iter()
        .position(|word| ["-outfile", "-destination", "-o", "-of"].contains(&&*word.to_ascii_lowercase()))
        .and_then(|at| words.get(at + 1))
        .or_else(|| words.iter().filter(|word| !word.starts_with('-')).nth(1));
    let flow = Flow::unknown(Origin { network: true, ..Origin::default() });
    if let Some(file) = file {
        walk.write_file(&posix(file), flow.clone(), false, "keeps what it fetched", span);
    }
    flow
}

/// A file is written by redirection.
fn written(walk: &mut Walk<'_>, file: &str, content: Flow, append: bool, span: Span) {
    if matches!(cmdlets::windows_place(file), Place::SystemTop | Place::Root) {
        let target = Target { text: file.to_owned(), place: Place::SystemConfig };
        walk.emit_on(Kind::Write, "writes a file of the system", span, vec![target], How::default());
    } else {
        let what = if append { "appends by redirection" } else { "overwrites by redirection" };
        walk.write_file(&posix(file), content, append, what, span);
    }
}

/// Whether a cmdlet nobody here knows says by its verb that something will be gone: `Remove-Vm`.
/// What it acts on must not be a thing of the shell itself.
fn takes_away(name: &str) -> bool {
    let Some((verb, noun)) = name.split_once('-') else { return false };
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    capital(verb)
        && capital(noun)
        && noun.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && matches!(
            verb,
            "Remove"
                | "Uninstall"
                | "Disable"
                | "Stop"
                | "Reset"
                | "Revoke"
                | "Unregister"
                | "Dismount"
                | "Clear"
                | "Restart"
                | "Suspend"
        )
        && !matches!(
            noun,
            "Variable"
                | "Module"
                | "Host"
                | "Job"
                | "PSSession"
                | "PSDrive"
                | "Transcript"
                | "Event"
                | "PSBreakpoint"
                | "TypeData"
                | "Alias"
                | "CimSession"
                | "PSSnapin"
                | "History"
        )
}

/// A Windows path as others write it.
fn posix(path: &str) -> String {
    let mut out = path.replace('\\', "/");
    for home in ["$env:USERPROFILE", "%USERPROFILE%", "$HOME", "$env:userprofile", "%userprofile%"] {
        if let Some(rest) = out.strip_prefix(home) {
            out = format!("~{rest}");
        }
    }
    for folder in ["%TEMP%", "%TMP%", "$env:TEMP", "$env:TMP", "%temp%"] {
        if let Some(rest) = out.strip_prefix(folder) {
            out = format!("/tmp{rest}");
        }
    }
    if let Some((_, rest)) = out.split_once("/Users/")
        && let Some((_, inner)) = rest.split_once('/')
    {
        out = format!("~/{inner}");
    }
    if out.as_bytes().get(1) == Some(&b':') && out.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        out.insert(0, '/');
    }
    out
}

/// `powershell [options] text`.
fn powershell(walk: &mut Walk<'_>, call: Call<'_>) {
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        let plain = arg.text.replace('^', "");
        let flag = plain.trim_start_matches(['-', '/', '\u{2013}', '\u{2014}']).to_ascii_lowercase();
        let dashed = flag.len() < plain.len() && !flag.is_empty();
        let (flag, glued) = flag.split_once(':').map_or((flag.clone(), None), |(flag, _)| {
            (flag.to_owned(), plain.split_once(':').map(|(_, value)| value.to_owned()))
        });
        if !dashed {
            break;
        }
        let encoded = flag == "ec" || "encodedcommand".starts_with(&flag);
        if encoded {
            walk.emit(Kind::RunDecoded, "runs an encoded PowerShell command", arg.span);
            let given = glued.or_else(|| call.args.get(at + 1).map(|arg| arg.text.to_string()));
            let decoded = given.and_then(|text| super::encode::decode64(&text));
            if let Some(bytes) = decoded {
                power::text(walk, &values::spelled(&bytes), call.span);
            }
            return;
        }
        if "command".starts_with(&flag) || "commandwithargs".starts_with(&flag) {
            spoken(walk, call, at + 1);
            return;
        }
        if "file".starts_with(&flag) {
            script(walk, call, at + 1);
            return;
        }
        at += if [
            "executionpolicy",
            "windowstyle",
            "version",
            "inputformat",
            "outputformat",
            "configurationname",
            "workingdirectory",
        ]
        .iter()
        .any(|name| flag.len() >= 2 && name.starts_with(&flag))
            || matches!(flag.as_str(), "ep" | "ex" | "w")
        {
            2
        } else {
            1
        };
    }
    spoken(walk, call, at);
}

/// The words from a place on are statements; without any, or with a dash, they come from the input.
fn spoken(walk: &mut Walk<'_>, call: Call<'_>, from: usize) {
    let line = joined(call.args.get(from..).unwrap_or_default());
    if line.is_empty() || line == "-" {
        if call.stdin.present() {
            code::fed(walk, call.stdin, call.span);
            power::text(walk, call.stdin.seen(), call.span);
        }
        return;
    }
    if line.chars().all(|c| c == HOLE || c.is_whitespace()) {
        code::unseen(walk, walk.last_unknown, call.span);
    }
    power::text(walk, &line, call.span);
}

/// A script in a file: of the project, or of somebody else.
fn script(walk: &mut Walk<'_>, call: Call<'_>, at: usize) {
    if bypasses(call) {
        walk.emit(Kind::Security, "runs a script past the execution policy", call.span);
    }
    let Some(file) = call.args.get(at) else { return };
    if &*file.text == "-" {
        spoken(walk, call, at);
        return;
    }
    let path = walk.path(&posix(&file.text));
    if let Some(flow) = walk.scope.files.get(&path).cloned() {
        if flow.origin.network {
            walk.emit(Kind::RunDownloaded, "runs a script that was just fetched", call.span);
        }
        power::text(walk, flow.seen(), call.span);
        return;
    }
    let project = crate::place::within(&path, &walk.context.workspace);
    if file.text.starts_with("\\\\")
        || file.text.starts_with("//")
        || !project
        || crate::places::named_for_loss(&path)
    {
        walk.emit_names(Kind::RunUnseen, "runs a script nobody has seen", call.span, &[&file.text]);
    }
}

fn bypasses(call: Call<'_>) -> bool {
    call.args
        .iter()
        .any(|arg| arg.text.eq_ignore_ascii_case("bypass") || arg.text.eq_ignore_ascii_case("unrestricted"))
}
