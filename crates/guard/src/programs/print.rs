//! Programs whose output follows from their arguments alone.

use crate::shell::decode_escapes;
use crate::walk::{Arg, Call, Flow, HOLE_STR, Origin, Walk};

pub(super) fn echo(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut args = call.args;
    let mut newline = true;
    let mut escapes = false;
    while let Some((first, rest)) = args.split_first() {
        let text = &*first.text;
        if text.len() < 2
            || !text.starts_with('-')
            || !text.bytes().skip(1).all(|b| matches!(b, b'n' | b'e' | b'E'))
        {
            break;
        }
        newline &= !text.contains('n');
        escapes |= text.contains('e');
        args = rest;
    }
    let mut out = String::with_capacity(args.iter().map(|arg| arg.text.len() + 1).sum::<usize>() + 1);
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&arg.text);
    }
    if escapes {
        out = decode_escapes(&out);
    } else if out.contains("\\0") || out.contains("\\x") {
        // Some shells decode without being asked: both readings are possible.
        let decoded = decode_escapes(&out);
        out.push('\n');
        out.push_str(&decoded);
    }
    if newline {
        out.push('\n');
    }
    walk.spend(out.len() / 8);
    Flow { text: Some(out.into()), origin: walk.last_unknown }
}

pub(super) fn printf(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut args = call.args;
    let mut into = None;
    if let [flag, name, rest @ ..] = args
        && &*flag.text == "-v"
    {
        into = Some(name.text.to_string());
        args = rest;
    } else if let [flag, rest @ ..] = args
        && &*flag.text == "--"
    {
        args = rest;
    }
    let Some((format, values)) = args.split_first() else { return Flow::none() };
    let mut out = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        format_once(&format.text, &mut values, &mut out);
        if values.len() == 0 || values.len() == before || out.len() > 64 * 1024 {
            break;
        }
    }
    walk.spend(out.len() / 8);
    if let Some(name) = into {
        walk.scope.set(&name, &out);
        return Flow::none();
    }
    Flow { text: Some(out.into()), origin: walk.last_unknown }
}

/// One pass over the format.
fn format_once<'a>(format: &str, values: &mut std::slice::Iter<'a, Arg<'a>>, out: &mut String) {
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            // A percent sign that an escape stands for is only a percent sign.
            let mut piece = String::from(letter);
            piece.extend(letters.next());
            while let Some(next) = letters.next_if(|c| *c != '%' && *c != '\\') {
                piece.push(next);
            }
            escaped(&piece, out);
            continue;
        }
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let mut precision = None;
        let mut dotted = false;
        let kind = loop {
            match letters.next() {
                None => break None,
                Some('.') => dotted = true,
                Some(digit @ '0'..='9') if dotted => {
                    precision =
                        Some(precision.unwrap_or(0) * 10 + digit.to_digit(10).map_or(0, |d| d as usize));
                }
                Some('-' | '+' | ' ' | '#' | '0'..='9' | '*') => {}
                Some('(') => {
                    letters.by_ref().find(|c| *c == ')');
                }
                Some(kind) => break Some(kind),
            }
        };
        match kind {
            Some('%') => out.push('%'),
            Some('b') => {
                out.push_str(&values.next().map_or_else(String::new, |arg| decode_escapes(&arg.text)));
            }
            Some('c') => out.extend(values.next().and_then(|arg| arg.text.chars().next())),
            Some('x') => {
                let number: Option<u64> = values.next().and_then(|arg| arg.text.parse().ok());
                out.push_str(&number.map_or_else(String::new, |n| format!("{n:x}")));
            }
            Some('o') => {
                let number: Option<u64> = values.next().and_then(|arg| arg.text.parse().ok());
                out.push_str(&number.map_or_else(String::new, |n| format!("{n:o}")));
            }
            Some('T') => out.push_str(HOLE_STR),
            Some(_) => {
                let text = values.next().map_or("", |arg| &*arg.text);
                match precision {
                    Some(most) => out.extend(text.chars().take(most)),
                    None => out.push_str(text),
                }
            }
            None => out.push('%'),
        }
    }
}

/// One escape and the letters after it. A zero byte, which `printf '%s\0'` puts between values, is
/// kept.
fn escaped(piece: &str, out: &mut String) {
    let digits = piece.get(1..).unwrap_or_default().bytes().take_while(|b| (b'0'..=b'7').contains(b)).count();
    match piece.get(2..).filter(|_| digits == 1 && piece.starts_with("\\0")) {
        Some(rest) => {
            out.push('\0');
            out.push_str(rest);
        }
        None => out.push_str(&decode_escapes(piece)),
    }
}

pub(super) fn yes(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let line = if words.is_empty() { "y".to_owned() } else { words.join(" ") };
    let origin = Origin { endless: true, ..Origin::default() };
    Flow { text: Some(format!("{line}\n{line}\n").into()), origin }
}

pub(super) fn which(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let names: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    if call.name == "which" {
        return Flow::known(names.iter().map(|name| super::builtins::found_at(name)).collect());
    }
    Flow::known(names.join("\n") + "\n")
}

pub(super) fn basename(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().find(|arg| !arg.text.starts_with('-')) else { return Flow::none() };
    Flow::known(format!("{}\n", path.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default()))
}

pub(super) fn dirname(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().find(|arg| !arg.text.starts_with('-')) else { return Flow::none() };
    let folder = match path.text.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    };
    Flow::known(format!("{folder}\n"))
}

pub(super) fn pwd(walk: &mut Walk<'_>, _call: Call<'_>) -> Flow {
    Flow::known(format!("{}\n", walk.scope.cwd))
}

pub(super) fn realpath(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().rev().find(|arg| !arg.text.starts_with('-')) else {
        return Flow::none();
    };
    Flow::known(format!("{}\n", walk.path(&path.text)))
}

pub(super) fn seq(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if let [only] = call.args
        && let Ok(last) = only.text.parse::<u32>()
        && last <= 32
    {
        let lines: Vec<String> = (1..=last).map(|n| n.to_string()).collect();
        return Flow::known(lines.join("\n") + "\n");
    }
    let endless = call.args.iter().any(|arg| matches!(&*arg.text, "inf" | "infinity" | "Inf"));
    Flow { origin: Origin { endless, ..Origin::default() }, ..Flow::known("1\n2\n".to_owned()) }
}
