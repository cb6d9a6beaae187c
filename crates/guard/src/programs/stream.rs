//! Programs with a language of their own for text: `sed`, `awk`, `find`, `man` and the like.

use super::filters::source;
use super::opts::{Spec, parse};
use super::{Handler, find};
use crate::effect::{How, Kind};
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "sed" | "gsed" => sed,
        "awk" | "gawk" | "mawk" | "nawk" => awk,
        "find" | "gfind" | "bfs" => find::find,
        "fd" | "fdfind" => find::fd,
        "man" => man,
        "dc" | "bc" => dc,
        "m4" => m4,
        _ => return None,
    })
}

fn sed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed =
        parse(call.args, Spec { short: "efl", long: &["expression", "file", "line-length"], stops: false });
    let mut operands: Vec<&Arg<'_>> = parsed.rest().collect();
    let mut scripts: Vec<String> =
        parsed.values("e", "expression").map(|(text, _)| text.to_owned()).collect();
    if let Some(file) = parsed.value("f", "file") {
        scripts.push(walk.read_file(file, call.span).seen().to_owned());
    } else if scripts.is_empty() && !operands.is_empty() {
        scripts.push(operands.remove(0).text.to_string());
    }
    let in_place = parsed.flags.iter().any(|flag| flag.is("i", "in-place"))
        || parsed.flags.iter().any(|flag| !flag.long && flag.name == "I");
    for script in &scripts {
        if let Some(command) = executed(script) {
            walk.emit(Kind::ToolProgram, "makes sed run a command", call.span);
            // `e` alone runs what sed has read.
            let read = call.stdin.exact().filter(|_| command == HOLE_STR);
            walk.run_text(read.unwrap_or(&command), &Flow::none(), call.span);
        }
        for file in written(script) {
            walk.write_file(
                &file,
                Flow::unknown(Origin::default()),
                false,
                "writes a file from sed",
                call.span,
            );
        }
    }
    if in_place {
        if scripts.iter().any(|script| deletes_all(script)) {
            let files: Vec<&str> = operands.iter().map(|file| &*file.text).collect();
            super::files::emptied(walk, &files, call.span);
        }
        for file in &operands {
            let target = walk.target(&file.text);
            if target.text.starts_with("/var/log/") {
                let how = How::default();
                walk.emit_on(Kind::Traces, "edits a log", file.span, vec![target.clone()], how);
            }
            walk.emit_on(Kind::Write, "edits a file in place", file.span, vec![target], How::default());
        }
        return Flow::none();
    }
    let flow = source(walk, &operands, call.stdin);
    match (flow.exact(), scripts.as_slice()) {
        (Some(text), scripts) if !scripts.is_empty() => {
            match scripts.iter().try_fold(text.to_owned(), |text, script| substitute(&text, script)) {
                Some(text) => Flow { text: Some(text.into()), origin: flow.origin },
                None => Flow { text: Some(HOLE_STR.into()), origin: flow.origin },
            }
        }
        (None, scripts) if !scripts.is_empty() => {
            match scripts.iter().try_fold(flow.seen().to_owned(), |text, script| around(&text, script)) {
                Some(text) => Flow { text: Some(text.into()), origin: flow.origin },
                None => flow,
            }
        }
        _ => flow,
    }
}

/// What a script puts around each line, whatever that is: `s/.*/text & text/`, `s/^/text/`, `s/$/text/`.
fn around(text: &str, script: &str) -> Option<String> {
    let (_, fields) = s_command(script.trim())?;
    let [pattern, with, flags] = fields.as_slice() else { return None };
    if !text.contains(HOLE) || text.len() > 1024 || !flags.bytes().all(|b| b == b'g') {
        return None;
    }
    match pattern.as_str() {
        "^" if !with.contains(['\\', '&']) => Some(each(text, |line| format!("{with}{line}"))),
        "$" if !with.contains(['\\', '&']) => Some(each(text, |line| format!("{line}{with}"))),
        ".*" | "^.*" | ".*$" | "^.*$" | "\\(.*\\)" | "(.*)" | "^\\(.*\\)$" | "^(.*)$" => {
            let with = with.replace("\\&", "&").replace("\\1", "&").replace("\\0", "&");
            (!with.contains('\\') && with.len() < 256).then(|| each(text, |line| with.replace('&', line)))
        }
        _ => None,
    }
}

/// Whether a script leaves nothing of what it is given.
fn deletes_all(script: &str) -> bool {
    let compact: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    matches!(
        compact.as_str(),
        "d" | "1,$d" | "0,$d" | "1!d;d" | "s/.*//" | "s/.*//g" | "/.*/d" | "/./d" | "/^/d" | "c" | "Q"
    )
}

/// The command of `s/…/…/e` or of the `e` command.
fn executed(script: &str) -> Option<String> {
    for line in script.lines() {
        // `e command` takes the rest of its line, separators and all.
        let bare =
            line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!'));
        if let Some(command) = bare.strip_prefix("e ") {
            return Some(command.to_owned());
        }
    }
    for part in script.split(['\n', ';']) {
        let part = part.trim();
        if let Some((mark, fields)) = s_command(part)
            && fields
                .get(2)
                .is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_alphanumeric()) && flags.contains('e'))
        {
            let _ = mark;
            return fields.get(1).map(|with| with.replace('&', ""));
        }
        let command =
            part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!'));
        if let Some(rest) = command.strip_prefix("e ") {
            return Some(rest.to_owned());
        }
        if command == "e" {
            return Some(HOLE_STR.to_owned());
        }
    }
    None
}

/// `s`, its separator and its fields.
fn s_command(text: &str) -> Option<(char, Vec<String>)> {
    let start = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' '));
    let rest = start.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace())?;
    let mut fields = vec![String::new()];
    let mut letters = rest.chars().skip(1);
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            let next = letters.next();
            if let Some(last) = fields.last_mut() {
                if next != Some(mark) {
                    last.push('\\');
                }
                last.extend(next);
            }
        } else if letter == mark && fields.len() < 3 {
            fields.push(String::new());
        } else if let Some(last) = fields.last_mut() {
            last.push(letter);
        }
    }
    Some((mark, fields))
}

/// Files that `w` commands write.
fn written(script: &str) -> Vec<String> {
    let mut out = Vec::new();
    for part in script.split(['\n', ';']) {
        let part = part.trim();
        if let Some((_, fields)) = s_command(part)
            && let Some((_, file)) = fields.get(2).and_then(|flags| flags.split_once("w "))
        {
            out.push(file.trim().to_owned());
        } else if let Some(file) =
            part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$')).strip_prefix("w ")
        {
            out.push(file.trim().to_owned());
        }
    }
    out
}

/// Applies a plain `s/text/text/`; `None` when it is more than that.
fn substitute(text: &str, script: &str) -> Option<String> {
    let mut text = text.to_owned();
    for part in script.split(';') {
        let part = part.trim();
        if part.is_empty() || part == "p" {
            continue;
        }
        let (_, fields) = s_command(part)?;
        let [pattern, with, flags] = fields.as_slice() else { return None };
        if with.contains('\\') || pattern.contains(['[', '*', '+', '\\', '(']) {
            return None;
        }
        let all = flags.contains('g');
        // What was found stands where the sign is.
        let with = &with.replace('&', pattern.trim_start_matches('^').trim_end_matches('$'));
        text = match pattern.as_str() {
            "^" => each(&text, |line| format!("{with}{line}")),
            "$" => each(&text, |line| format!("{line}{with}")),
            "." if all => return None,
            plain => {
                let plain = plain.trim_start_matches('^').trim_end_matches('$');
                if plain.contains('.') {
                    return None;
                }
                text.lines()
                    .map(|line| {
                        (if all { line.replace(plain, with) } else { line.replacen(plain, with, 1) }) + "\n"
                    })
                    .collect()
            }
        };
    }
    Some(text)
}

/// Every line changed.
fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    let lines: Vec<String> = text.lines().map(change).collect();
    lines.join("\n") + "\n"
}

fn awk(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec {
            short: "Fvfei",
            long: &["field-separator", "assign", "file", "source", "include"],
            stops: true,
        },
    );
    let mut operands: Vec<&Arg<'_>> = parsed.rest().collect();
    let program = match parsed.value("e", "source") {
        Some(text) => text.to_owned(),
        None if parsed.value("f", "file").is_some() => {
            let file = parsed.value("f", "file").unwrap_or_default();
            walk.read_file(file, call.span).exact().unwrap_or_default().to_owned()
        }
        None if operands.is_empty() => return Flow::none(),
        None => operands.remove(0).text.to_string(),
    };
    // `-v name=value` sets a variable before anything runs.
    let mut set = String::new();
    for (name, value) in parsed.values("v", "assign").filter_map(|(text, _)| text.split_once('=')) {
        set.push_str(&[name, "=\"", &value.replace('"', "\\\""), "\";"].concat());
    }
    super::inline::judge(walk, "awk", &format!("{set}{program}"), call.span);
    if call
        .args
        .windows(2)
        .any(|pair| matches!(pair, [flag, value] if &*flag.text == "-i" && &*value.text == "inplace"))
    {
        for file in call.args.iter().skip(3) {
            let target = walk.target(&file.text);
            walk.emit_on(Kind::Write, "edits a file in place", file.span, vec![target], How::default());
        }
    }
    let files: Vec<&Arg<'_>> =
        operands.into_iter().filter(|arg| !super::wrappers::is_assignment(&arg.text)).collect();
    let flow = source(walk, &files, call.stdin);
    let input = flow.exact().filter(|text| walk.spend(2 * text.len()));
    if let Some(text) =
        super::awk::output(&format!("{set}{program}"), parsed.value("F", "field-separator"), input)
    {
        return Flow { text: Some(text.into()), origin: flow.origin };
    }
    if flow.present()
        && flow.exact().is_none()
        && let Some(text) = super::awk::shape(&format!("{set}{program}"))
    {
        return Flow { text: Some(text.into()), origin: flow.origin };
    }
    let begin_only = program.trim_start().starts_with("BEGIN") && !program.contains("printf");
    if begin_only && let Some(text) = super::inline::printed(&program) {
        return Flow::known(text);
    }
    let whole = program.trim() == "1"
        || program.replace(' ', "") == "{print}"
        || program.replace(' ', "") == "{print$0}";
    if whole { flow } else { Flow { text: Some(HOLE_STR.into()), origin: flow.origin } }
}

fn man(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "PHpMmsSCLer", long: &["pager", "html", "manpath", "sections"], stops: false },
    );
    for (program, span) in parsed.values("P", "pager").chain(parsed.values("H", "html")) {
        if !matches!(program, "cat" | "less" | "more" | "bat" | "most" | "less -R") {
            walk.emit_names(Kind::ToolProgram, "makes man run a program", span, &[program]);
            walk.run_text(program, &Flow::none(), span);
        }
    }
    Flow::unknown(Origin::default())
}

fn dc(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let text: String =
        call.args.iter().map(|arg| &*arg.text).chain([call.stdin.seen()]).collect::<Vec<_>>().join("\n");
    for line in text.lines() {
        if let Some(command) = line.trim().strip_prefix('!') {
            walk.run_text(command, &Flow::none(), call.span);
        }
    }
    Flow::unknown(Origin::default())
}

fn m4(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let text = call.stdin.seen().to_owned();
    for macro_name in ["syscmd(", "esyscmd("] {
        if let Some((_, rest)) = text.split_once(macro_name) {
            walk.run_text(
                rest.split(')').next().unwrap_or(rest).trim_matches(['`', '\'']),
                &Flow::none(),
                call.span,
            );
        }
    }
    Flow { text: call.stdin.text.clone(), origin: call.stdin.origin }
}
