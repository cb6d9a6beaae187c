//! What a program is given to run: other programs, command lines and scripts among its arguments.
//!
//! It is judged as if it ran, and only asked about: the program may as well just print it.

use super::{base_name, scripting};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::rules::rule_for;
use crate::walk::{Arg, Call, Flow, HOLE, Walk};

/// How many arguments are looked at.
const MOST: usize = 24;

/// What a look at an argument costs, and what finding out whether the text wrote a file of that name does.
const LOOK: usize = 4;
const OPEN: usize = 24;

/// Programs and code among the arguments.
pub(super) fn to_stranger(walk: &mut Walk<'_>, call: Call<'_>) {
    // What is looked at is looked at again for each program that is found in front of it.
    let looked = call.args.len().min(MOST);
    if !walk.spend(looked * if walk.scope.files.is_empty() { LOOK } else { LOOK + OPEN })
        || !walk.down(call.span)
    {
        return;
    }
    let mut after_dashes = false;
    for (at, arg) in call.args.iter().enumerate().take(MOST) {
        let text = &*arg.text;
        if text == "--" {
            after_dashes = true;
            continue;
        }
        let first = !text.starts_with('-');
        let starts = starts_command(base_name(text)) && !super::verbs::is_task_name(call.name, call.args, at);
        if (starts || std::mem::take(&mut after_dashes) && first) && at + 1 < call.args.len() {
            let tail = call.args.get(at..).unwrap_or_default();
            if !walk.spend(LOOK * tail.len()) {
                break;
            }
            if trial(walk, call.span, |walk| drop(super::run(walk, tail, &Flow::none(), call.span))) {
                break;
            }
        }
        // A file that the text wrote itself, or `<( … )`, is as good as what is in it.
        let code = code_in(call.args, at).map(|code| {
            let written = walk.scope.files.get(&walk.path(code)).and_then(Flow::exact);
            written.unwrap_or(code).to_owned()
        });
        if script_in(walk, text, call.span)
            || embedded(walk, text, arg.span)
            || setting_in(walk, call.name, text, arg.span)
        {
            break;
        }
        if let Some(code) = code.as_deref()
            && code.contains([' ', '(', '`', '|', ';'])
            && !code.contains(HOLE)
            && !super::verbs::names_tasks(call.name)
        {
            let language = if code.contains('(') { "ruby" } else { "" };
            if REMOVES.iter().any(|verb| code.contains(verb)) {
                walk.emit_names(Kind::Delete, "hands a program code that deletes", arg.span, &[call.name]);
                break;
            }
            let bad = trial(walk, arg.span, |walk| {
                walk.run_text(code, &Flow::none(), arg.span);
                if !language.is_empty() {
                    scripting::judge(walk, language, code, arg.span);
                }
            });
            if bad {
                break;
            }
        }
    }
    walk.up();
}

/// Long options of a known program that hold a command line its own reader may not know.
pub(super) fn to_known(walk: &mut Walk<'_>, call: Call<'_>) {
    for (at, arg) in call.args.iter().enumerate().take(24) {
        let text = &*arg.text;
        let runs = text.strip_prefix("--").is_some_and(|option| {
            let name = option.split('=').next().unwrap_or(option);
            matches!(name, "exec" | "eval" | "pipe" | "config")
                || ["-command", "-cmd", "-hook", "-program", "-exec"].iter().any(|end| name.ends_with(end))
        });
        if !runs {
            continue;
        }
        let next = call.args.get(at + 1).map_or("", |arg| &*arg.text);
        let code = text.split_once('=').map_or(next, |(_, value)| value);
        // `alias.x=!command`, `%(command)`
        let code = code.split_once("=!").map_or(code, |(_, command)| command).trim_start_matches('!');
        let code = code.strip_prefix("%(").map_or(code, |inner| inner.trim_end_matches(')'));
        if code.contains(' ') && !code.contains(HOLE) && walk.down(arg.span) {
            let bad = trial(walk, arg.span, |walk| drop(walk.run_text(code, &Flow::none(), arg.span)));
            walk.up();
            if bad {
                return;
            }
        }
    }
}

/// A script that the text wrote and made executable itself, given by its name: as an argument, the
/// value of an option, or of a variable.
pub(super) fn script_in(walk: &mut Walk<'_>, text: &str, span: Span) -> bool {
    if walk.scope.runnable.is_empty() {
        return false;
    }
    let path = text.rsplit('=').next().unwrap_or(text);
    let normal = walk.path(path);
    if !walk.scope.runnable.contains(&normal) {
        return false;
    }
    let Some(script) = walk.scope.files.get(&normal).and_then(Flow::exact).map(str::to_owned) else {
        return false;
    };
    trial(walk, span, |walk| drop(walk.run_text(&script, &Flow::none(), span)))
}

/// A file of settings that the text wrote itself: programs run what such files tell them to.
fn setting_in(walk: &mut Walk<'_>, name: &str, text: &str, span: Span) -> bool {
    if walk.scope.files.is_empty() || checks(name) {
        return false;
    }
    let path = text.rsplit('=').next().unwrap_or(text);
    let prose = [".md", ".txt", ".rst", ".html", ".log", ".csv", ".tex", ".adoc", ".org"];
    if prose.iter().any(|end| path.ends_with(end)) {
        return false;
    }
    let normal = walk.path(path);
    let Some(content) = walk.scope.files.get(&normal).and_then(Flow::exact).map(str::to_owned) else {
        return false;
    };
    commands_in(walk, &content, span)
}

/// Tools, and the files in the working directory that tell them what to run.
const PROJECTS: [(&[&str], &[&str]); 11] = [
    (&["npm", "pnpm", "yarn", "bun"], &["package.json"]),
    (&["composer"], &["composer.json"]),
    (&["bundle"], &["Gemfile"]),
    (&["rake"], &["Rakefile"]),
    (&["cmake"], &["CMakeLists.txt"]),
    (&["just"], &["justfile", "Justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["cargo"], &["build.rs"]),
    (&["pip", "pip3"], &["setup.py"]),
    (&["gradle"], &["build.gradle", "build.gradle.kts"]),
    (&["vagrant"], &["Vagrantfile"]),
];

/// Tools that run what the files they are given say.
const RUNNERS: [&str; 4] = ["ansible-playbook", "wg-quick", "apt-get", "apt"];

/// What a tool is told by files that the text wrote itself.
pub(super) fn by_files(walk: &mut Walk<'_>, call: Call<'_>) {
    if walk.scope.files.is_empty() || !walk.down(call.span) {
        return;
    }
    let files =
        PROJECTS.iter().find(|(names, _)| names.contains(&call.name)).map_or(&[][..], |(_, files)| files);
    for file in files {
        let content = walk.scope.files.get(&walk.path(file)).and_then(Flow::exact).map(str::to_owned);
        if content.is_some_and(|content| commands_in(walk, &content, call.span)) {
            break;
        }
    }
    if RUNNERS.contains(&call.name) {
        for arg in call.args.iter().take(24) {
            setting_in(walk, call.name, &arg.text, arg.span);
        }
    }
    walk.up();
}

/// The command lines that stand somewhere in the lines of a file.
fn commands_in(walk: &mut Walk<'_>, content: &str, span: Span) -> bool {
    content.lines().take(64).filter(|line| line.len() < 2048).any(|line| {
        let starts = line.char_indices().filter(|(at, _)| {
            !line
                .get(..*at)
                .is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || "-_./".contains(c)))
        });
        let command = starts.take(64).find_map(|(at, _)| {
            let rest = line.get(at..)?;
            let word = rest.split(|c: char| c.is_whitespace()).next()?;
            (rest.len() > word.len() && starts_command(base_name(word))).then_some(rest)
        });
        command.is_some_and(|rest| {
            let rest = rest.split(['"', '\'', '`', ')', '}', ']']).next().unwrap_or(rest).to_owned();
            trial(walk, span, |walk| drop(walk.run_text(&rest, &Flow::none(), span)))
        })
    })
}

/// Programs that look at a file without doing what it says.
fn checks(name: &str) -> bool {
    super::verbs::names_tasks(name)
        || ["lint", "fmt", "format", "check", "valid", "diff", "view", "dos2unix", "pandoc", "bat", "scan"]
            .iter()
            .any(|part| name.contains(part))
}

/// Calls in little languages of which only this much is known: what stands in the brackets is a
/// command line.
const CALLS: [&str; 8] =
    ["execute(", "execute-silent(", "become(", "write18{", "system(", "shell(", "popen(", "callCommand "];

/// A command line inside an argument that is something else: `enter:execute(command)`.
fn embedded(walk: &mut Walk<'_>, text: &str, span: Span) -> bool {
    if text.len() < 8 || text.len() > 4096 || text.contains(HOLE) {
        return false;
    }
    let Some(inner) = CALLS.iter().find_map(|call| text.split_once(call).map(|(_, inner)| inner)) else {
        return false;
    };
    let inner = inner.split(['}', ')']).next().unwrap_or(inner).trim_matches(['"', '\'', ' ']).to_owned();
    inner.contains(' ') && trial(walk, span, |walk| drop(walk.run_text(&inner, &Flow::none(), span)))
}

/// What functions that delete are called in languages nobody here reads.
const REMOVES: [&str; 9] = [
    "delete-directory",
    "delete-file",
    "remove-directory",
    "deleteRecursively",
    "delete_recursive",
    "remove_dir_all",
    "rmtree",
    "removeItem(",
    "deleteDir",
];

/// Names that are rarely anything but the start of a command.
fn starts_command(name: &str) -> bool {
    matches!(
        name,
        "rm" | "dd"
            | "shred"
            | "wipefs"
            | "sh"
            | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "sudo"
            | "doas"
            | "su"
            | "chmod"
            | "chown"
            | "xargs"
            | "busybox"
            | "env"
            | "nohup"
            | "systemctl"
            | "killall"
            | "pkill"
            | "unlink"
            | "python3"
            | "perl"
            | "ruby"
            | "mkswap"
            | "poweroff"
            | "iptables"
            | "crontab"
            | "cmd"
            | "powershell"
            | "pwsh"
    ) || name.starts_with("mkfs")
}

/// The value of an option that usually holds code or a command line.
fn code_in<'a>(args: &'a [Arg<'a>], at: usize) -> Option<&'a str> {
    let text = &*args.get(at)?.text;
    let option = text.strip_prefix('-')?;
    let (name, glued) = match option.trim_start_matches('-').split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option.trim_start_matches('-'), None),
    };
    let holds = matches!(
        name,
        "e" | "c"
            | "x"
            | "E"
            | "C"
            | "eval"
            | "exec"
            | "execute"
            | "command"
            | "cmd"
            | "run"
            | "shell"
            | "script"
            | "hook"
            | "pre"
            | "post"
            | "expr"
            | "ex"
            | "evaluate"
            | "do"
            | "then"
            | "call"
            | "code"
            | "program"
            | "g"
            | "goal"
            | "batch"
    ) || ["-command", "-cmd", "-exec", "-program", "-hook", "-script", "-run", "exec-"]
        .iter()
        .any(|part| name.contains(part));
    if !holds {
        return None;
    }
    glued.or_else(|| args.get(at + 1).map(|next| &*next.text))
}

/// Walks something without keeping its effects; when a rule holds one of them, that is noted as
/// one effect that asks.
fn trial(walk: &mut Walk<'_>, span: Span, act: impl FnOnce(&mut Walk<'_>)) -> bool {
    let before = walk.effects.len();
    act(walk);
    let found: Vec<_> = walk.effects.drain(before.min(walk.effects.len())..).collect();
    let Some(worst) = found.into_iter().find(|effect| rule_for(effect).is_some()) else { return false };
    walk.emit_on(
        Kind::RunUnseen,
        format!("hands a program nobody knows something that {}", worst.what),
        span,
        worst.targets.into_iter().map(|target| Target { place: Place::Name, ..target }).collect(),
        How::default(),
    );
    true
}
