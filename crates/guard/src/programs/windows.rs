//! Windows: `cmd` and PowerShell, in the categories people know.

use super::cmdlets::{names, verb};
use super::code;
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// A Windows program or cmdlet; `None` when the name is not one.
pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>) -> Option<Flow> {
    let name = call.name.to_ascii_lowercase();
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    match name.as_str() {
        "cmd" => shell(walk, call, &["/c", "/k", "/r"]),
        "powershell" | "pwsh" => powershell(walk, call),
        "invoke-webrequest" | "invoke-restmethod" | "start-bitstransfer" => {
            let file = words
                .iter()
                .position(|word| ["-outfile", "-destination"].contains(&&*word.to_ascii_lowercase()))
                .and_then(|at| words.get(at + 1));
            let flow = Flow::unknown(Origin { network: true, ..Origin::default() });
            if let Some(file) = file {
                walk.write_file(&posix(file), flow.clone(), false, "keeps what it fetched", call.span);
            }
            return Some(flow);
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
            text(walk, &words.get(at..).unwrap_or_default().join(" "), call.span);
        }
        _ => {
            let known = verb(walk, &name, &words, call.span, call.stdin);
            if !known && takes_away(call.name) {
                walk.emit_names(Kind::Cloud, "removes, stops or resets something", call.span, &words);
                return Some(Flow::none());
            }
            return known.then(|| Flow::unknown(call.stdin.origin));
        }
    }
    Some(Flow::unknown(Origin { local: true, ..Origin::default() }))
}

fn shell(walk: &mut Walk<'_>, call: Call<'_>, switches: &[&str]) {
    let at = call.args.iter().position(|arg| {
        switches.iter().any(|switch| {
            arg.text.eq_ignore_ascii_case(switch) || arg.text.to_ascii_lowercase().starts_with("//c")
        })
    });
    let Some(at) = at else {
        if call.stdin.present() {
            text(walk, call.stdin.seen(), call.span);
        }
        return;
    };
    let words: Vec<&str> = call.args.iter().skip(at + 1).map(|arg| &*arg.text).collect();
    text(walk, &words.join(" "), call.span);
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

/// Text of `cmd` or PowerShell, split at its separators.
pub(super) fn text(walk: &mut Walk<'_>, source: &str, span: Span) {
    if !walk.spend(source.len() + 16) {
        return;
    }
    let mut previous: Vec<String> = Vec::new();
    let source = &unfolded(source);
    // `& ($x + "x")`: what is called is put together first.
    let called = source.split_once("& (").and_then(|(_, after)| after.split(')').next());
    if called.is_some_and(|name| ["+", "-join", "-f ", "$"].iter().any(|sign| name.contains(sign))) {
        walk.emit(Kind::RunUnseen, "runs a program that cannot be known beforehand", span);
    }
    for part in source.split(['&', '|', ';', '\n', '{', '}']) {
        let clean: String = part
            .chars()
            .map(|c| {
                if matches!(c, '"' | '\'' | '(' | ')' | '`' | '^') {
                    if matches!(c, '`' | '^') { '\u{0}' } else { ' ' }
                } else {
                    c
                }
            })
            .filter(|c| *c != '\u{0}')
            .collect();
        let words: Vec<&str> = clean.split_whitespace().collect();
        let Some((first, rest)) = words.split_first() else { continue };
        let name = super::base_name(first).to_ascii_lowercase();
        if name == "for"
            && let Some(at) = words.iter().position(|word| word.eq_ignore_ascii_case("do"))
        {
            // `for %d in (a b) do @rd %d`: once for each.
            let line = words.get(at + 1..).unwrap_or_default().join(" ");
            let things: Vec<&str> = words
                .iter()
                .take(at)
                .skip_while(|word| !word.eq_ignore_ascii_case("in"))
                .skip(1)
                .copied()
                .collect();
            let variable = words.iter().find(|word| word.starts_with('%')).copied().unwrap_or("%");
            text(walk, &line.trim_start_matches('@').replace(variable, &things.join(" ")), span);
            continue;
        }
        if let Some(bare) = first.strip_prefix('@').filter(|bare| !bare.is_empty()) {
            text(walk, &format!("{bare} {}", rest.join(" ")), span);
            continue;
        }
        written(walk, &words, span);
        if matches!(name.as_str(), "call" | "start" | "." | "@" | "do") && rest.len() > 1 {
            text(walk, &rest.join(" "), span);
            continue;
        }
        if matches!(
            name.as_str(),
            "write-output"
                | "write-host"
                | "echo"
                | "get-help"
                | "get-command"
                | "get-content"
                | "rem"
                | "help"
        ) {
            if name == "get-content" {
                for word in rest {
                    walk.read_file(&posix(word), span);
                }
            }
            continue;
        }
        if matches!(name.as_str(), "type" | "gc" | "more" | "cat" | "select-string" | "findstr") {
            for word in rest {
                walk.read_file(&posix(word), span);
            }
            continue;
        }
        let fetched = previous.iter().any(|word| {
            matches!(
                word.as_str(),
                "iwr" | "irm" | "invoke-webrequest" | "curl" | "wget" | "start-bitstransfer"
            ) || word.contains("downloadfile")
        });
        let input = Flow { text: None, origin: Origin { network: fetched, ..Origin::default() } };
        if !verb(walk, &name, rest, span, &input) {
            if takes_away(first) {
                walk.emit_names(Kind::Cloud, "removes, stops or resets something", span, rest);
            }
            nested(walk, &words, &previous, span);
        }
        previous.extend(words.iter().map(|word| word.to_ascii_lowercase()));
    }
}

/// A redirection into the folder of the system itself.
fn written(walk: &mut Walk<'_>, words: &[&str], span: Span) {
    for (at, word) in words.iter().enumerate() {
        let Some((_, glued)) = word.split_once('>') else { continue };
        let glued = glued.trim_start_matches('>');
        let file = if glued.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { glued };
        let lower = file.to_ascii_lowercase().replace('/', "\\");
        let system = ["%windir%", "%systemroot%", "$env:windir", "$env:systemroot", "c:\\windows"];
        if system.iter().any(|folder| lower.starts_with(folder)) && !lower.contains("\\temp\\") {
            let target = Target { text: file.to_owned(), place: Place::SystemConfig };
            walk.emit_on(Kind::Write, "writes a file of the system", span, vec![target], How::default());
        }
    }
}

/// The text with its constants put together: `'Rem'+'ove-Item'`, `set x=del` with `%x%` or `!x!`,
/// and `$x = 'del'` with `$x`.
fn unfolded(source: &str) -> String {
    let mut text = source.to_owned();
    for glue in ["'+'", "' + '", "\"+\"", "\" + \""] {
        if text.contains(glue) {
            text = text.replace(glue, "");
        }
    }
    for part in source.split(['&', '|', ';', '\n']) {
        let part = part.trim();
        let set = part.get(..4).filter(|word| word.eq_ignore_ascii_case("set ")).and_then(|_| part.get(4..));
        let Some((name, value)) =
            set.or_else(|| part.strip_prefix('$')).and_then(|rest| rest.split_once('='))
        else {
            continue;
        };
        let (name, value) = (name.trim().trim_matches('"'), value.trim().trim_matches(['\'', '"']));
        if name.is_empty()
            || value.len() > 256
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        {
            continue;
        }
        for form in [format!("%{name}%"), format!("!{name}!"), format!("${name} ")] {
            if text.contains(&form) {
                text = text.replace(&form, &format!("{value} "));
            }
        }
    }
    text
}

/// A Windows path under the home folder, written as others write it.
fn posix(path: &str) -> String {
    let mut out = path.replace('\\', "/");
    for home in ["$env:USERPROFILE", "%USERPROFILE%", "$HOME", "$env:userprofile", "%userprofile%"] {
        if let Some(rest) = out.strip_prefix(home) {
            out = format!("~{rest}");
        }
    }
    if let Some((_, rest)) = out.split_once("/Users/")
        && let Some((_, inner)) = rest.split_once('/')
    {
        out = format!("~/{inner}");
    }
    out
}

/// Calls inside an expression: `iex (iwr url)`, `(New-Object Net.WebClient).DownloadString(...) | iex`.
fn nested(walk: &mut Walk<'_>, words: &[&str], previous: &[String], span: Span) {
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let runs = lower.iter().any(|word| matches!(word.as_str(), "iex" | "invoke-expression" | "&"));
    let all = lower.iter().chain(previous);
    let downloads = all.clone().any(|word| {
        word.contains("downloadstring")
            || matches!(
                word.as_str(),
                "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod" | "curl" | "wget"
            )
    });
    if runs && downloads {
        walk.emit(Kind::RunDownloaded, "runs text from the network", span);
    }
    if let Some(class) = lower.iter().find(|word| word.contains("::delete")) {
        let class = class.clone();
        walk.emit_on(
            Kind::Delete,
            "deletes files",
            span,
            names(words),
            How { recursive: true, ..How::default() },
        );
        let _ = class;
    }
    for (at, word) in lower.iter().enumerate() {
        if at > 0
            && (matches!(
                word.as_str(),
                "remove-item"
                    | "stop-computer"
                    | "restart-computer"
                    | "format-volume"
                    | "clear-disk"
                    | "del"
                    | "rd"
                    | "erase"
            ) || word == "ri" && lower.iter().any(|word| word.starts_with("-r")))
        {
            verb(walk, word, words.get(at + 1..).unwrap_or_default(), span, &Flow::none());
        }
    }
}

fn powershell(walk: &mut Walk<'_>, call: Call<'_>) {
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        let flag = arg.text.trim_start_matches(['-', '/']).to_ascii_lowercase();
        let dashed = arg.text.starts_with(['-', '/']) && arg.text.len() > 1;
        if !dashed {
            break;
        }
        let encoded = matches!(flag.as_str(), "e" | "ec" | "enc")
            || (flag.len() > 2 && "encodedcommand".starts_with(&flag));
        if encoded {
            let decoded = call
                .args
                .get(at + 1)
                .and_then(|arg| super::encode::decode64(&arg.text))
                .map(|bytes| wide(&bytes));
            walk.emit(Kind::RunDecoded, "runs an encoded PowerShell command", arg.span);
            if let Some(decoded) = decoded {
                text(walk, &decoded, call.span);
            }
            return;
        }
        if !flag.is_empty() && "command".starts_with(&flag) {
            let words: Vec<&str> = call.args.iter().skip(at + 1).map(|arg| &*arg.text).collect();
            let joined = words.join(" ");
            if joined.chars().all(|c| c == HOLE || c.is_whitespace()) && !joined.is_empty() {
                code::unseen(walk, walk.last_unknown, call.span);
            }
            if joined == "-" {
                text(walk, call.stdin.seen(), call.span);
            }
            text(walk, &joined, call.span);
            return;
        }
        if "file".starts_with(&flag) {
            if bypasses(call) {
                walk.emit(Kind::Security, "runs a script past the execution policy", call.span);
            }
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
    let words: Vec<&str> = call.args.iter().skip(at).map(|arg| &*arg.text).collect();
    if words.is_empty() {
        if call.stdin.present() {
            code::fed(walk, call.stdin, call.span);
            text(walk, call.stdin.seen(), call.span);
        }
    } else {
        text(walk, &words.join(" "), call.span);
    }
}

fn bypasses(call: Call<'_>) -> bool {
    call.args
        .iter()
        .any(|arg| arg.text.eq_ignore_ascii_case("bypass") || arg.text.eq_ignore_ascii_case("unrestricted"))
}

/// UTF-16 text as bytes.
fn wide(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| {
            u16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)])
        })
        .collect();
    String::from_utf16_lossy(&units)
}
