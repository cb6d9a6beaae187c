//! Programs that only print: their output is computed when it can be, and passed on when not.

use super::opts::{Parsed, Spec, parse};
use super::print::{basename, dirname, echo, printf, pwd, realpath, seq, which, yes};
use super::search::grep;
use super::{Handler, amount, encode, letters};
use crate::place::Place;
use crate::walk::{ALL_PIDS, Arg, Call, Flow, HOLE, HOLE_STR, Origin, Walk};

/// The filter with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "echo" => echo,
        "printf" => printf,
        "cat" | "tac" | "less" | "more" | "bat" | "batcat" | "nl" | "zcat" | "bzcat" | "xzcat"
        | "zstdcat" | "gzcat" | "strings" | "pr" | "expand" | "most" | "vis" => cat,
        "head" | "tail" => ends,
        "rev" => rev,
        "tr" => letters::translate,
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
        "wc" | "sort" | "uniq" | "fold" | "fmt" | "paste" | "column" | "jq" | "yq" | "xq" | "envsubst"
        | "comm" | "diff" | "join" | "shuf" | "tsort" | "iconv" | "sponge" | "pv" | "md5sum" | "sha1sum"
        | "sha256sum" | "sha512sum" | "cksum" | "b2sum" | "shasum" | "cmp" | "csplit" | "split" => pass,
        // They search code for a pattern of code.
        "semgrep" | "opengrep" | "ast-grep" | "comby" | "weggli" | "coccigrep" => listing,
        "xclip" => clipboard,
        "yes" => yes,
        "whoami" | "logname" | "id" => super::users::who,
        "hostname" | "uname" | "ls" | "ps" | "df" | "du" | "stat" | "file" | "tree" | "pgrep" | "pidof"
        | "lsof" | "who" | "w" | "uptime" | "free" | "arch" | "nproc" | "tty" | "findmnt" | "pbpaste"
        | "wl-paste" | "xsel" | "groups" | "locale" | "cal" | "lsblk" | "exa" | "eza" | "locate"
        | "mdfind" => listing,
        _ => return None,
    })
}

/// `xclip file`: the files it is given end up where every program can take them.
fn clipboard(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let value = |at: usize| {
        at.checked_sub(1).and_then(|before| call.args.get(before)).is_some_and(|arg| {
            arg.text.starts_with("-sel") || matches!(&*arg.text, "-t" | "-target" | "-d" | "-l")
        })
    };
    for (at, arg) in call.args.iter().enumerate() {
        if !arg.text.starts_with('-') && !value(at) {
            walk.read_file(&arg.text, arg.span);
        }
    }
    listing(walk, call)
}

/// The text a filter reads: its files, or standard input.
pub(crate) fn source(walk: &mut Walk<'_>, files: &[&Arg<'_>], stdin: &Flow) -> Flow {
    let mut out: Option<Flow> = None;
    if let Some(command) = files.iter().find_map(|file| file.text.strip_prefix("+!")) {
        walk.run_text(command, &Flow::none(), crate::effect::Span::default());
    }
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
    if files.is_empty() && !call.stdin.present() {
        return Flow::unknown(Origin::default());
    }
    let mut flow = source(walk, &files, call.stdin);
    if call.name == "cat"
        && call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains(['n', 'b']))
        && let Some(text) = flow.exact()
    {
        let lines: Vec<String> =
            text.lines().zip(1..).map(|(line, at)| format!("{at:>6}\t{line}\n")).collect();
        flow.text = Some(lines.concat().into());
    }
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
    let mut flow = source(walk, &files, call.stdin);
    let first = call.name == "head";
    if flow.origin.endless {
        if first {
            // What comes out has an end, but that may lie beyond any disk.
            flow.origin.endless = parsed.value("c", "bytes").is_some_and(amount::is_huge);
        } else {
            walk.emit(crate::effect::Kind::Kernel, "keeps data without end in memory", call.span);
        }
    }
    let Some(text) = flow.exact() else { return flow };
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
    Flow { text: Some((lines.join("\n") + "\n").into()), origin: Origin { decoded: true, ..flow.origin } }
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

/// What `jq` and `paste` make of text that is known.
fn computed(call: Call<'_>, parsed: &Parsed<'_>, flow: &Flow) -> Option<Flow> {
    if call.name == "jq"
        && parsed.text(0) == "."
        && parsed.has("r", "raw-output")
        && let Some(text) = flow.exact().and_then(|text| text.trim().strip_prefix('"')?.strip_suffix('"'))
        && !text.contains(['"', '\\'])
    {
        return Some(Flow { text: Some(format!("{text}\n").into()), origin: flow.origin });
    }
    if call.name == "paste"
        && parsed.has("s", "serial")
        && let Some(text) = flow.exact()
    {
        let lines: Vec<&str> = text.lines().collect();
        let joined = lines.join(parsed.value("d", "delimiters").unwrap_or("\t")) + "\n";
        return Some(Flow { text: Some(joined.into()), origin: flow.origin });
    }
    if call.name == "jq"
        && let Some(text) =
            parsed.text(0).strip_suffix("@base64d").and_then(|text| text.trim_end().strip_suffix('|'))
        && let Some(text) = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'))
        && let Some(bytes) = encode::decode64(text)
    {
        let text = format!("{}\n", String::from_utf8_lossy(&bytes));
        return Some(Flow { text: Some(text.into()), origin: Origin { decoded: true, ..Origin::default() } });
    }
    if call.name == "jq"
        && parsed.flags.iter().any(|flag| flag.is("n", "null-input"))
        && let Some(text) = parsed.text(0).strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !text.contains(['"', '\\'])
    {
        return Some(Flow::known(format!("{text}\n")));
    }
    None
}

/// Data goes through, changed or not.
fn pass(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let short = if call.name == "split" { "bnCal" } else { "oktSTdfwLl" };
    let parsed = parse(
        call.args,
        Spec {
            short,
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
    if matches!(call.name, "sort" | "shuf" | "pv" | "iconv")
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
    if let Some(known) = computed(call, &parsed, &flow) {
        return known;
    }
    if matches!(call.name, "jq" | "yq" | "xq" | "envsubst") {
        if call.name == "yq" && (parsed.has("i", "inplace") || parsed.has("", "in-place")) {
            for file in files.iter().filter(|arg| arg.text.contains('.')) {
                let target = walk.target(&file.text);
                walk.emit_on(
                    crate::effect::Kind::Write,
                    "edits a file in place",
                    file.span,
                    vec![target],
                    crate::effect::How::default(),
                );
            }
        }
        return Flow { text: Some(HOLE_STR.into()), origin: flow.origin };
    }
    if call.name == "csplit"
        && let Some(prefix) = parsed.value("f", "prefix")
    {
        walk.write_file(prefix, Flow::unknown(Origin::default()), false, "writes parts of a file", call.span);
    }
    if matches!(call.name, "split" | "uniq")
        && let Some(prefix) = parsed.operand(1)
    {
        walk.write_file(
            &prefix.text,
            Flow::unknown(Origin::default()),
            false,
            "writes parts of a file",
            prefix.span,
        );
    }
    let keeps = matches!(call.name, "fold" | "fmt" | "column" | "pv" | "iconv" | "uniq" | "shuf")
        || (call.name == "sort" && flow.seen().lines().count() <= 1);
    if keeps { flow } else { Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin } }
}

pub(super) fn listing(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    match call.name {
        "ls" => {
            let folder = call.args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| &*arg.text);
            if folder.is_empty() {
                let here = walk.target(".");
                let text = if here.place >= Place::SystemTop && here.place != Place::Device {
                    format!("{}/*\n", here.text.trim_end_matches('/')).into()
                } else {
                    HOLE_STR.into()
                };
                return Flow {
                    text: Some(text),
                    origin: Origin { local: true, listed: true, ..Origin::default() },
                };
            }
            let names = if folder.contains(['*', '?', '[', HOLE])
                || call.args.iter().any(|arg| lists_itself(&arg.text))
            {
                folder.to_owned()
            } else {
                super::find::everything_in(folder)
            };
            Flow {
                text: Some(format!("{names}\n").into()),
                origin: Origin { local: true, listed: true, ..Origin::default() },
            }
        }
        _ if names_disks(call) => Flow {
            text: Some(format!("/dev/sd{HOLE}\n").into()),
            origin: Origin { local: true, ..Origin::default() },
        },
        _ => {
            let text =
                if names_all_processes(call) { format!("{HOLE}{ALL_PIDS}") } else { HOLE_STR.to_owned() };
            Flow { text: Some(text.into()), origin: Origin { local: true, ..Origin::default() } }
        }
    }
}

/// Whether disks are listed by their paths.
fn names_disks(call: Call<'_>) -> bool {
    let words = || call.args.iter().map(|arg| &*arg.text);
    match call.name {
        "lsblk" => words().any(|word| {
            word == "--paths" || word.starts_with('-') && !word.starts_with("--") && word.contains('p')
        }),
        "findmnt" => words().any(|word| word.eq_ignore_ascii_case("source")),
        "df" => words().any(|word| word == "--output=source"),
        _ => false,
    }
}

/// Whether the numbers of all processes are printed, and nothing else.
fn names_all_processes(call: Call<'_>) -> bool {
    let words = || call.args.iter().map(|arg| &*arg.text);
    match call.name {
        "pgrep" => call.args.len() == 1 && words().all(super::processes::everybody),
        "ps" => {
            words().any(|word| {
                matches!(word, "-e" | "-A" | "ax" | "-ax" | "aux")
                    || word.starts_with("-eo")
                    || word.starts_with("-Ao")
                    || word.starts_with("axo")
            }) && words().any(|word| {
                matches!(word.trim_start_matches("-o").trim_end_matches('='), "pid" | "-eopid" | "-Aopid")
            })
        }
        _ => false,
    }
}

/// Whether `ls` is told to name folders and not what is in them.
fn lists_itself(option: &str) -> bool {
    option == "--directory" || option.starts_with('-') && !option.starts_with("--") && option.contains('d')
}

/// A program nobody knows: its output is unknown, and carries where its input came from.
pub(crate) fn unknown(_walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let settings = prints_settings(call);
    let mut hidden = call.stdin.origin;
    hidden.secret = false;
    Flow::unknown(Origin { settings, ..hidden })
}

/// Whether a program is asked to print settings for a shell, as `direnv hook bash` is.
pub(crate) fn prints_settings(call: Call<'_>) -> bool {
    if call.stdin.present() {
        return false;
    }
    call.args.iter().take(4).any(|arg| {
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
    )
}

/// Whether a text is nothing but unknown.
pub(crate) fn is_unknown(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == HOLE || c.is_whitespace())
}
