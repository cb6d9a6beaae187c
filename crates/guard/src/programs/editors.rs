//! Editors driven from the command line or by a script on standard input.

use super::Handler;
use crate::effect::{How, Kind, Span};
use crate::walk::{Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "vi" | "vim" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" => vim,
        "ed" | "red" => ed,
        "emacs" | "emacsclient" => emacs,
        "nano" | "pico" | "micro" | "joe" | "mcedit" | "hx" | "helix" | "kak" | "ne" | "jed" | "gedit"
        | "kate" | "mousepad" | "xed" | "leafpad" => plain,
        _ => return None,
    })
}

/// An editor that somebody types into: with more rights, whatever it opens may be changed.
fn plain(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    opened(walk, call);
    Flow::none()
}

/// What an editor opens with more rights is there to be changed.
fn opened(walk: &mut Walk<'_>, call: Call<'_>) {
    let looks = call.name == "view" || call.args.iter().any(|arg| matches!(&*arg.text, "-R" | "-v"));
    if !walk.elevated || looks {
        return;
    }
    for file in call.args.iter().filter(|arg| !arg.text.starts_with(['-', '+'])) {
        let target = walk.target(&file.text);
        walk.emit_on(Kind::Write, "edits a file with more rights", file.span, vec![target], How::default());
    }
}

fn vim(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    opened(walk, call);
    let mut next = false;
    let mut files: Vec<String> = Vec::new();
    let mut saves = false;
    for arg in call.args {
        let text = &*arg.text;
        if std::mem::take(&mut next) {
            saves |= command(walk, text, arg.span);
            continue;
        }
        if let Some(inline) = text.strip_prefix('+').filter(|rest| !rest.is_empty()) {
            saves |= command(walk, inline, arg.span);
        } else if matches!(text, "-c" | "--cmd" | "-S" | "-s")
            || (text.starts_with('-') && !text.starts_with("--") && text.len() <= 5 && text.ends_with('c'))
        {
            next = text == "--cmd" || text.ends_with('c');
        } else if let Some(inline) = text.strip_prefix("-c").filter(|rest| !rest.is_empty()) {
            saves |= command(walk, inline, arg.span);
        } else if !text.starts_with('-') {
            let settings = walk.scope.files.get(&walk.path(text)).filter(|flow| flow.origin.network).cloned();
            if let Some(settings) = settings.filter(|_| text.starts_with("/dev/fd/")) {
                // What an editor is started with is run by it.
                super::code::fed(walk, &settings, arg.span);
            }
            files.push(text.to_owned());
        }
    }
    for file in &files {
        walk.read_file(file, call.span);
    }
    let script: Vec<String> = call.stdin.seen().lines().take(200).map(str::to_owned).collect();
    for line in &script {
        saves |= command(walk, line, call.span);
    }
    if saves && (call.args.iter().any(|arg| wipes(&arg.text)) || script.iter().any(|line| wipes(line))) {
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        super::files::emptied(walk, &names, call.span);
    }
    if saves {
        for file in files {
            let target = walk.target(&file);
            walk.emit_on(Kind::Write, "edits a file", call.span, vec![target], How::default());
        }
    }
    Flow::none()
}

/// Whether an editor command takes every line away: a range of all lines and `d`, or the keys for it.
fn wipes(text: &str) -> bool {
    // What is taken away is a few letters; what is put in their place may be long.
    text.len() < 128 && text.split('|').any(wipes_all)
}

fn wipes_all(part: &str) -> bool {
    let mut part = part.trim_start_matches(['+', ':', ' ']).trim_end();
    for word in ["silent! ", "silent ", "sil! ", "argdo ", "bufdo ", "windo ", "tabdo ", "exe ", "execute "] {
        part = part.strip_prefix(word).unwrap_or(part).trim_start_matches([' ', ':', '"', '\'']);
    }
    let keys = ["normal! ", "normal ", "norm! ", "norm "].iter().find_map(|verb| part.strip_prefix(verb));
    if let Some(keys) = keys {
        return matches!(
            keys.trim_matches([' ', '"', '\'']),
            "ggdG" | "ggVGd" | "ggVGx" | "gg0dG" | "1GdG" | ":%d"
        );
    }
    let compact: String = part.chars().filter(|c| !c.is_whitespace() && *c != '!').collect();
    let Some(verb) = ["%", "1,$", "0,$", ",", "g/^/", "g/./", "g/.*/", "g/$/", "v/a^/"]
        .iter()
        .find_map(|range| compact.strip_prefix(range))
    else {
        return compact.starts_with("calldeletebufline(") && compact.ends_with("1,'$')");
    };
    matches!(verb, "d" | "d_" | "de" | "del" | "delete" | "delete_")
}

/// One editor command; answers whether it saves.
fn command(walk: &mut Walk<'_>, text: &str, span: Span) -> bool {
    let mut saves = false;
    for part in text.split('|') {
        let part = part
            .trim_start_matches([':', ' ', '%'])
            .trim_start_matches("silent ")
            .trim_start_matches("silent!")
            .trim_start();
        if let Some(shell) = part
            .strip_prefix('!')
            .or_else(|| part.strip_prefix("r !"))
            .or_else(|| part.strip_prefix("r!"))
            .or_else(|| part.strip_prefix("term "))
            .or_else(|| part.strip_prefix("terminal "))
            .or_else(|| part.strip_prefix("set shell="))
            .or_else(|| part.strip_prefix("w !"))
        {
            let whole = text.split_once('!').map_or(shell, |(_, rest)| rest);
            walk.run_text(whole, &Flow::none(), span);
            return saves;
        }
        for call in ["system(", "systemlist(", "jobstart(", "termopen("] {
            if let Some((_, rest)) = part.split_once(call) {
                let inner =
                    rest.trim_start_matches(['"', '\'', '[']).split(['"', '\'']).next().unwrap_or_default();
                walk.run_text(inner, &Flow::none(), span);
            }
        }
        for (verb, language) in [
            ("py3 ", "python"),
            ("python3 ", "python"),
            ("py ", "python"),
            ("python ", "python"),
            ("lua ", "lua"),
            ("ruby ", "ruby"),
            ("perl ", "perl"),
        ] {
            if let Some(code) = part.strip_prefix(verb) {
                super::inline::judge(walk, language, code, span);
            }
        }
        if part.starts_with("call delete(") {
            let path = part.split(['"', '\'']).nth(1).unwrap_or_default();
            walk.run_text(&format!("rm -rf {}", crate::walk::quote(path)), &Flow::none(), span);
        }
        if let Some(file) = part
            .strip_prefix("w ")
            .or_else(|| part.strip_prefix("w! "))
            .or_else(|| part.strip_prefix("saveas "))
        {
            walk.write_file(
                file.trim(),
                Flow::unknown(crate::walk::Origin::default()),
                false,
                "writes a file from an editor",
                span,
            );
        }
        saves |= matches!(part.trim_end_matches('!'), "w" | "wq" | "x" | "wqa" | "xa" | "wa" | "update");
    }
    saves
}

fn ed(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    opened(walk, call);
    let lines: Vec<String> = call.stdin.seen().lines().take(200).map(str::to_owned).collect();
    let mut files: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    let mut saves = false;
    for line in &lines {
        let line = line.trim();
        if let Some(shell) = line
            .strip_prefix('!')
            .or_else(|| line.strip_prefix("r !"))
            .or_else(|| line.strip_prefix("e !"))
            .or_else(|| line.split_once("w !").map(|(_, rest)| rest))
        {
            walk.run_text(shell, &Flow::none(), call.span);
        } else if let Some(file) = ["e ", "E ", "f "].iter().find_map(|verb| line.strip_prefix(verb)) {
            files.push(file.trim());
        }
        if let Some(file) = line.strip_prefix("w ") {
            walk.write_file(
                file,
                Flow::unknown(crate::walk::Origin::default()),
                false,
                "writes a file from an editor",
                call.span,
            );
        }
        saves |= matches!(line.trim_start_matches(['%', ',']), "w" | "wq" | "x");
    }
    let written = lines.iter().find_map(|line| line.trim().strip_prefix("w ")).map(str::trim);
    if (saves || written.is_some()) && leaves_nothing(&lines) {
        let emptied: Vec<&str> = written.into_iter().chain(files.iter().copied().filter(|_| saves)).collect();
        super::files::emptied(walk, &emptied, call.span);
    }
    for file in files {
        if let Some(shell) = file.strip_prefix('!') {
            walk.run_text(shell, &Flow::none(), call.span);
        } else if saves {
            let target = walk.target(file);
            walk.emit_on(Kind::Write, "edits a file", call.span, vec![target], How::default());
        }
    }
    Flow::none()
}

/// Whether a script of `ed` takes every line away and puts none in their place.
fn leaves_nothing(lines: &[String]) -> bool {
    let (mut gone, mut typing) = (false, false);
    for line in lines {
        let line = line.trim();
        if typing {
            typing = line != ".";
            gone &= !typing;
            continue;
        }
        let address = line.strip_suffix(['a', 'i', 'c']);
        if address.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b",.$+-;%".contains(&b))) {
            typing = true;
            gone |= matches!(line, ",c" | "%c" | "1,$c");
        } else if wipes(line) {
            gone = true;
        } else if line.starts_with("r ") || line == "u" {
            gone = false;
        }
    }
    gone
}

fn emacs(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    opened(walk, call);
    let says = |word: &str| call.args.iter().any(|arg| arg.text.contains(word));
    if (says("(erase-buffer)") || says("(delete-region (point-min) (point-max))"))
        && (says("save-buffer")
            || says("save-some-buffers")
            || says("write-file")
            || says("basic-save-buffer"))
    {
        let value = |at: usize| {
            at > 0 && call.args.get(at - 1).is_some_and(|flag| matches!(&*flag.text, "-f" | "-l" | "--eval"))
        };
        let named =
            call.args.iter().enumerate().filter(|(at, arg)| !arg.text.starts_with(['-', '(']) && !value(*at));
        let mut files: Vec<&str> = named.map(|(_, arg)| &*arg.text).collect();
        files.extend(
            call.args
                .iter()
                .filter(|arg| arg.text.contains("find-file"))
                .filter_map(|arg| arg.text.split('"').nth(1)),
        );
        super::files::emptied(walk, &files, call.span);
    }
    for (at, arg) in call.args.iter().enumerate() {
        let text = match arg.text.split_once('=') {
            Some(("--eval" | "--execute", value)) => value.to_owned(),
            _ if matches!(&*arg.text, "--eval" | "-eval" | "--execute" | "-e") => {
                call.args.get(at + 1).map_or_else(String::new, |arg| arg.text.to_string())
            }
            _ => continue,
        };
        for verb in [
            "shell-command",
            "term",
            "ansi-term",
            "compile",
            "shell-command-to-string",
            "async-shell-command",
            "call-process",
            "start-process",
            "delete-directory",
            "delete-file",
            "call-process-shell-command",
        ] {
            if let Some((_, rest)) = text.split_once(&format!("({verb} ")) {
                let strings: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
                let line = match verb {
                    "delete-directory" | "delete-file" => {
                        format!("rm -rf {}", strings.first().copied().unwrap_or_default())
                    }
                    "call-process" | "start-process" => strings.join(" "),
                    _ => strings.first().copied().unwrap_or_default().to_owned(),
                };
                walk.run_text(&line, &Flow::none(), arg.span);
            }
        }
    }
    Flow::none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_goes_by_a_range_of_all_or_the_keys_for_it() {
        for text in
            ["%d", "1,$d", ",d", ":%delete _", "g/^/d", "argdo %d | w", "normal! ggdG", "norm ggVGd", "%d|x"]
        {
            assert!(wipes(text), "{text}");
        }
        for text in ["d", "$d", "5,$d", "g/TODO/d", "%s/a/b/", "normal gg=G", "%!sort", "%j", "dd"] {
            assert!(!wipes(text), "{text}");
        }
    }

    #[test]
    fn what_is_typed_into_ed_is_no_command() {
        let script = |text: &str| leaves_nothing(&text.lines().map(str::to_owned).collect::<Vec<_>>());

        assert!(script(",d\nw") && script("H\n1,$d\nw\nq") && script(",c\n.\nw"));
        assert!(!script("a\n,d\n.\nw") && !script(",d\na\nnew\n.\nw") && !script(",c\nnew\n.\nw"));
    }
}
