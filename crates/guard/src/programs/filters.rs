//! Programs that only print: their output is computed when it can be, and passed on when not.

use super::opts::{Spec, parse};
use super::{Handler, encode};
use crate::shell::decode_escapes;
use crate::walk::{Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

/// The filter with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "echo" => echo,
        "printf" => printf,
        "cat" | "tac" | "less" | "more" | "bat" | "batcat" | "nl" | "zcat" | "bzcat" | "xzcat"
        | "zstdcat" | "gzcat" | "strings" | "pr" | "expand" | "most" | "view" => cat,
        "head" | "tail" => ends,
        "rev" => rev,
        "tr" => encode::translate,
        "base64" | "base32" | "base16" | "basenc" | "gbase64" | "uudecode" | "b64decode" => encode::base,
        "xxd" | "hexdump" | "od" | "hd" => encode::hex,
        "openssl" => encode::openssl,
        "gpg" | "gpg2" | "age" | "sops" | "ansible-vault" => encode::decrypt,
        "gunzip" | "gzip" | "bunzip2" | "bzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lz4" | "lzma"
        | "unlzma" | "brotli" | "uncompress" | "zlib-flate" | "pigz" => encode::unpack,
        "cut" => cut,
        "which" | "type" | "whence" => which,
        "basename" => basename,
        "dirname" => dirname,
        "pwd" => pwd,
        "realpath" | "readlink" => realpath,
        "seq" => seq,
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ugrep" => grep,
        "wc" | "sort" | "uniq" | "fold" | "fmt" | "paste" | "column" | "jq" | "yq" | "xq" | "comm"
        | "diff" | "join" | "shuf" | "tsort" | "iconv" | "sponge" | "pv" | "md5sum" | "sha1sum"
        | "sha256sum" | "sha512sum" | "cksum" | "b2sum" | "shasum" | "cmp" | "csplit" | "split" => pass,
        "whoami" | "id" | "hostname" | "uname" | "date" | "ls" | "ps" | "df" | "du" | "stat" | "file"
        | "tree" | "pgrep" | "pidof" | "lsof" | "who" | "w" | "uptime" | "free" | "arch" | "nproc"
        | "tty" | "groups" | "locale" | "cal" | "lsblk" | "exa" | "eza" | "fd" | "fdfind" | "locate"
        | "mdfind" => listing,
        _ => return None,
    })
}

fn echo(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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
    let mut out = String::new();
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&arg.text);
    }
    if escapes || (out.contains('\\') && out.contains("\\x")) {
        out = decode_escapes(&out);
    }
    if newline {
        out.push('\n');
    }
    walk.spend(out.len() / 8);
    Flow { text: Some(out.into()), origin: walk.last_unknown }
}

fn printf(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
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
    let decoded = if format.contains('\\') { decode_escapes(format) } else { format.to_owned() };
    let mut letters = decoded.chars().peekable();
    while let Some(letter) = letters.next() {
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
                out.push_str(&values.next().map_or_else(String::new, |arg| decode_escapes(&arg.text)))
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

/// The text a filter reads: its files, or standard input.
pub(crate) fn source(walk: &mut Walk<'_>, files: &[&Arg<'_>], stdin: &Flow) -> Flow {
    let mut out: Option<Flow> = None;
    for file in files.iter().take(64) {
        let flow = if &*file.text == "-" { stdin.clone() } else { walk.read_file(&file.text, file.span) };
        out = Some(match out {
            None => flow,
            Some(before) => Flow {
                text: Some(format!("{}{}", before.seen(), flow.seen()).into()),
                origin: before.origin.and(flow.origin),
            },
        });
    }
    out.unwrap_or_else(|| stdin.clone())
}

fn cat(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let files: Vec<&Arg<'_>> =
        call.args.iter().filter(|arg| !arg.text.starts_with('-') || &*arg.text == "-").collect();
    let mut flow = source(walk, &files, call.stdin);
    match call.name {
        "tac" => {
            if let Some(text) = flow.exact() {
                let lines: Vec<&str> = text.lines().rev().collect();
                flow.text = Some((lines.join("\n") + "\n").into());
            }
        }
        "zcat" | "bzcat" | "xzcat" | "zstdcat" | "gzcat" => {
            flow = Flow::unknown(Origin { decoded: true, file: false, ..flow.origin });
        }
        _ => {}
    }
    flow
}

fn ends(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "ncs", long: &["lines", "bytes", "pid", "sleep-interval"], stops: false },
    );
    let files: Vec<&Arg<'_>> = parsed.rest().collect();
    let flow = source(walk, &files, call.stdin);
    let Some(text) = flow.exact() else { return flow };
    let first = call.name == "head";
    let digits =
        call.args.first().and_then(|arg| arg.text.strip_prefix('-')).and_then(|n| n.parse::<usize>().ok());
    let out = if let Some(count) = parsed.value("c", "bytes") {
        let Ok(count) = count.trim_start_matches(['-', '+']).parse::<usize>() else { return flow };
        let length = text.len();
        let from = parsed.value("c", "bytes").is_some_and(|c| c.starts_with('+'));
        let range = if first {
            0..count.min(length)
        } else if from {
            count.saturating_sub(1).min(length)..length
        } else {
            length.saturating_sub(count)..length
        };
        text.get(range).unwrap_or_default().to_owned()
    } else {
        let given = parsed.value("n", "lines");
        let count = digits
            .or_else(|| given.and_then(|n| n.trim_start_matches(['-', '+']).parse().ok()))
            .unwrap_or(10);
        let lines: Vec<&str> = text.lines().collect();
        let from = given.is_some_and(|n| n.starts_with('+'));
        let kept = if first {
            lines.get(..count.min(lines.len()))
        } else if from {
            lines.get(count.saturating_sub(1).min(lines.len())..)
        } else {
            lines.get(lines.len().saturating_sub(count)..)
        };
        kept.unwrap_or_default().join("\n") + "\n"
    };
    Flow { text: Some(out.into()), origin: flow.origin }
}

fn rev(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let files: Vec<&Arg<'_>> = call.args.iter().collect();
    let flow = source(walk, &files, call.stdin);
    let Some(text) = flow.exact() else { return flow };
    let lines: Vec<String> = text.lines().map(|line| line.chars().rev().collect()).collect();
    Flow { text: Some((lines.join("\n") + "\n").into()), origin: flow.origin }
}

fn cut(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec {
            short: "dfcb",
            long: &["delimiter", "fields", "characters", "bytes", "output-delimiter"],
            stops: false,
        },
    );
    let files: Vec<&Arg<'_>> = parsed.rest().collect();
    let flow = source(walk, &files, call.stdin);
    let Some(text) = flow.exact() else { return flow };
    let Some(list) = parsed
        .value("c", "characters")
        .or_else(|| parsed.value("b", "bytes"))
        .or_else(|| parsed.value("f", "fields"))
    else {
        return flow;
    };
    let by_field = parsed.value("f", "fields").is_some();
    let mark = parsed.value("d", "delimiter").unwrap_or("\t").to_owned();
    let mut out = String::new();
    for line in text.lines() {
        if by_field {
            let fields: Vec<&str> = line.split(&*mark).collect();
            let kept: Vec<&str> = fields
                .iter()
                .enumerate()
                .filter(|(at, _)| in_list(list, at + 1))
                .map(|(_, field)| *field)
                .collect();
            out.push_str(&kept.join(&mark));
        } else {
            out.extend(
                line.chars().enumerate().filter(|(at, _)| in_list(list, at + 1)).map(|(_, letter)| letter),
            );
        }
        out.push('\n');
    }
    walk.spend(out.len());
    Flow { text: Some(out.into()), origin: flow.origin }
}

/// Whether a list such as `1,3-5,7-` holds a number.
fn in_list(list: &str, number: usize) -> bool {
    list.split(',').take(64).any(|range| match range.split_once('-') {
        None => range.parse() == Ok(number),
        Some((low, high)) => {
            number >= low.parse().unwrap_or(1) && number <= high.parse().unwrap_or(usize::MAX)
        }
    })
}

fn which(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let names: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    Flow::known(names.join("\n") + "\n")
}

fn basename(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().find(|arg| !arg.text.starts_with('-')) else { return Flow::none() };
    Flow::known(format!("{}\n", path.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default()))
}

fn dirname(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().find(|arg| !arg.text.starts_with('-')) else { return Flow::none() };
    let folder = match path.text.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    };
    Flow::known(format!("{folder}\n"))
}

fn pwd(walk: &mut Walk<'_>, _call: Call<'_>) -> Flow {
    Flow::known(format!("{}\n", walk.scope.cwd))
}

fn realpath(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let Some(path) = call.args.iter().rev().find(|arg| !arg.text.starts_with('-')) else {
        return Flow::none();
    };
    Flow::known(format!("{}\n", walk.path(&path.text)))
}

fn seq(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if let [only] = call.args
        && let Ok(last) = only.text.parse::<u32>()
        && last <= 32
    {
        return Flow::known((1..=last).map(|n| format!("{n}\n")).collect());
    }
    Flow::known("1\n2\n".to_owned())
}

fn grep(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "efmABCdDgtTjE",
        long: &[
            "regexp",
            "file",
            "max-count",
            "after-context",
            "before-context",
            "context",
            "include",
            "exclude",
            "exclude-dir",
            "glob",
            "type",
            "pre",
            "pager",
            "hostname-bin",
            "pre-glob",
        ],
        stops: false,
    };
    let parsed = parse(call.args, spec);
    for option in ["pre", "pager", "hostname-bin"] {
        for (program, span) in parsed.values("", option) {
            walk.emit_names(
                crate::effect::Kind::ToolProgram,
                "makes a search run a program",
                span,
                &[program],
            );
            walk.run_text(program, &Flow::none(), span);
        }
    }
    let skip =
        usize::from(!parsed.has("e", "regexp") && !parsed.has("f", "file") && !parsed.has("", "files"));
    let recursive =
        parsed.has("r", "recursive") || parsed.has("R", "") || matches!(call.name, "rg" | "ag" | "ack");
    let quiet = parsed.has("q", "quiet") || parsed.has("l", "files-with-matches") || parsed.has("c", "count");
    let files: Vec<&Arg<'_>> = if quiet { Vec::new() } else { parsed.rest().skip(skip).collect() };
    let flow = source(walk, &files, call.stdin);
    let _ = recursive;
    Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin }
}

/// Data goes through, changed or not.
fn pass(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec {
            short: "oktSTdfwLl",
            long: &[
                "output",
                "compress-program",
                "files0-from",
                "key",
                "buffer-size",
                "temporary-directory",
                "filter",
            ],
            stops: false,
        },
    );
    for (program, span) in parsed.values("", "compress-program") {
        if !matches!(program, "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "lzop" | "pigz") {
            walk.emit_names(crate::effect::Kind::ToolProgram, "makes sort run a program", span, &[program]);
            walk.run_text(program, &Flow::none(), span);
        }
    }
    if call.name == "split" {
        for (program, span) in parsed.values("", "filter") {
            walk.run_text(program, call.stdin, span);
        }
    }
    if matches!(call.name, "sort" | "shuf")
        && let Some(path) = parsed.value("o", "output")
    {
        walk.write_file(
            path,
            Flow::unknown(Origin::default()),
            false,
            "writes its output to a file",
            call.span,
        );
    }
    if call.name == "sponge"
        && let Some(file) = parsed.operand(0)
    {
        walk.write_file(
            &file.text,
            call.stdin.clone(),
            parsed.has("a", ""),
            "writes standard input to a file",
            file.span,
        );
        return Flow::none();
    }
    let skip = usize::from(matches!(call.name, "jq" | "yq" | "xq"));
    let files: Vec<&Arg<'_>> = parsed.rest().skip(skip).filter(|arg| !arg.text.is_empty()).collect();
    let flow = source(walk, &files, call.stdin);
    let keeps = matches!(call.name, "fold" | "fmt" | "column" | "pv" | "iconv" | "uniq" | "shuf")
        || (call.name == "sort" && flow.seen().lines().count() <= 1);
    if keeps { flow } else { Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin } }
}

fn listing(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    match call.name {
        "ls" => {
            let folder = call.args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| &*arg.text);
            if folder.is_empty() {
                return Flow {
                    text: Some(HOLE_STR.into()),
                    origin: Origin { local: true, ..Origin::default() },
                };
            }
            Flow {
                text: Some(format!("{folder}\n").into()),
                origin: Origin { local: true, ..Origin::default() },
            }
        }
        _ => Flow::unknown(Origin { local: true, ..Origin::default() }),
    }
}

/// A program nobody knows: its output is unknown, and carries where its input came from.
pub(crate) fn unknown(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let settings = call.args.iter().any(|arg| {
        matches!(
            &*arg.text,
            "init"
                | "hook"
                | "completion"
                | "completions"
                | "shellenv"
                | "env"
                | "activate"
                | "export"
                | "docker-env"
                | "-s"
                | "shell-init"
                | "init-shell"
                | "--completion"
                | "alias"
                | "print-env"
                | "printenv"
                | "integrate"
                | "podman-env"
                | "--export"
                | "--bash"
                | "--zsh"
                | "gen-completions"
                | "--show-completion"
                | "config"
                | "shell-hook"
        )
    }) || matches!(
        call.name,
        "ssh-agent"
            | "dircolors"
            | "lesspipe"
            | "thefuck"
            | "keychain"
            | "register-python-argcomplete"
            | "docker-machine"
            | "resize"
            | "brew"
    );
    let hidden = call.stdin.origin;
    let from_input = call.stdin.present();
    Flow::unknown(Origin { settings: settings && !from_input, ..hidden })
}

/// Whether a text is nothing but unknown.
pub(crate) fn is_unknown(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == HOLE || c.is_whitespace())
}
