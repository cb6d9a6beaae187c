//! A program nobody here knows, judged by how it is called.
//!
//! Its name says nothing, but its words may: a verb that destroys, another program among its
//! arguments, an option whose value is code, an output file in a place that matters. What it is
//! handed is judged as if it ran, and only asked about: the program may as well just print it.

use super::{base_name, harms, looks, scripting, signs, verbs};
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::rules::rule_for;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, Walk};

/// From how many arguments on not every one is looked at.
const MANY: usize = 512;

/// The arguments of a very long line that can tell something: the first ones, options and paths.
fn telling<'a>(args: &'a [Arg<'a>]) -> Vec<Arg<'a>> {
    let tells = |text: &str| {
        matches!(text.as_bytes().first(), Some(b'-' | b'/' | b'~')) || text.len() > 2 && text.contains('=')
    };
    args.iter()
        .enumerate()
        .filter(|(at, arg)| *at < MANY / 2 || tells(&arg.text))
        .map(|(_, arg)| arg.shared())
        .collect()
}

/// Runs it: its output is unknown, and carries where its input came from. `loss` tells that its
/// very name says it removes things.
pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>, loss: bool) -> Flow {
    let few;
    let call = if call.args.len() > MANY {
        few = telling(call.args);
        Call { args: &few, ..call }
    } else {
        call
    };
    if !call.args.is_empty() && !verbs::only_shows(call.args) && !talks(call.name) {
        outputs(walk, call);
        handed(walk, call);
        addressed(walk, call);
        if verbs::destroys(call.name, call.args) {
            let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
            walk.emit_names(Kind::Cloud, "tells a program to delete or destroy things", call.span, &words);
        }
        if let Some((kind, what)) =
            harms::of(call.name, call.args).or_else(|| looks::touches(call.name, call.args))
        {
            walk.emit_names(kind, what, call.span, &[call.name]);
        }
        if signs::look(walk, call) || signs::given(walk, call).origin.credential {
            return Flow::unknown(Origin { credential: true, ..Origin::default() });
        }
    }
    if talked_to(call.name)
        && call.stdin.exact().is_some_and(|text| text.split(['\n', ';']).any(verbs::begins_with_loss))
    {
        walk.emit_names(
            Kind::Database,
            "tells a program to delete or destroy things",
            call.span,
            &[call.name],
        );
    }
    if loss && !verbs::only_shows(call.args) {
        walk.emit_names(Kind::Cloud, "runs a program made to remove things", call.span, &[call.name]);
    }
    if let Some(text) = call.stdin.exact()
        && !talks(call.name)
        && super::sql::looks_destructive(text)
    {
        super::sql::judge(walk, text, call.span);
    }
    super::filters::unknown(walk, call)
}

/// Things a program is told to install or add from an address, and coins it is told to mine.
fn addressed(walk: &mut Walk<'_>, call: Call<'_>) {
    let args = call.args.get(..call.args.len().min(64)).unwrap_or_default();
    if args.iter().any(|arg| arg.text.contains("stratum+")) {
        walk.emit_names(Kind::Kernel, "makes the machine work for others", call.span, &[call.name]);
    }
    let installs = call.args.iter().take(4).any(|arg| {
        matches!(
            &*arg.text,
            "install" | "add" | "--install" | "--add" | "--install-extension" | "install-plugin"
        )
    });
    let address = args
        .iter()
        .map(|arg| &*arg.text)
        .find(|text| text.starts_with("http://") || text.starts_with("https://") || text.starts_with("git+"));
    if let Some(address) = address.filter(|_| installs && !verbs::names_things(call.args)) {
        walk.emit_names(Kind::RunDownloaded, "installs something from an address", call.span, &[address]);
    }
}

/// Programs that only say or look up what they are given.
fn talks(name: &str) -> bool {
    matches!(
        name,
        "cowsay"
            | "figlet"
            | "toilet"
            | "lolcat"
            | "say"
            | "espeak"
            | "espeak-ng"
            | "notify-send"
            | "logger"
            | "zenity"
            | "dialog"
            | "whiptail"
            | "gum"
            | "wall"
            | "write"
            | "tldr"
            | "cheat"
            | "cht.sh"
            | "howdoi"
            | "navi"
            | "man"
            | "info"
            | "apropos"
            | "last"
            | "lastb"
            | "ri"
            | "perldoc"
            | "pydoc"
            | "pydoc3"
            | "whatis"
            | "whereis"
            | "explain"
            | "thefuck"
            | "help"
            | "shellcheck"
            | "shfmt"
            | "pbcopy"
            | "xclip"
            | "xsel"
            | "wl-copy"
            | "clip"
            | "expr"
            | "task"
            | "todo"
            | "todo.sh"
            | "jrnl"
            | "note"
            | "spd-say"
            | "banner"
            | "sl"
            | "dmenu"
            | "rofi"
            | "fzf"
            | "sk"
            | "dpkg-query"
            | "apt-cache"
            | "apt-file"
            | "file-rename"
            | "codespell"
            | "aspell"
            | "terminal-notifier"
            | "osd_cat"
            | "xmessage"
            | "kdialog"
            | "glow"
            | "mdcat"
            | "boxes"
            | "sqlformat"
            | "sqlfluff"
            | "pg_format"
            | "sql-formatter"
            | "pygmentize"
            | "highlight"
    )
}

/// Programs that are told what to do on their standard input.
fn talked_to(name: &str) -> bool {
    ["console", "shell", "cli", "ctl", "admin", "client", "repl", "sh"].iter().any(|end| name.ends_with(end))
}

/// Programs that only look at disks.
fn reads_devices(name: &str) -> bool {
    matches!(
        name,
        "smartctl"
            | "blkid"
            | "findmnt"
            | "udevadm"
            | "lshw"
            | "iostat"
            | "iotop"
            | "blockdev"
            | "dumpe2fs"
            | "xfs_info"
            | "photorec"
            | "testdisk"
            | "sginfo"
            | "sg_inq"
            | "lsscsi"
            | "hwinfo"
            | "inxi"
            | "fatlabel"
            | "e2label"
            | "minicom"
            | "picocom"
            | "cu"
            | "esptool"
            | "esptool.py"
            | "avrdude"
            | "arduino-cli"
            | "stty"
            | "setserial"
            | "v4l2-ctl"
            | "fio"
            | "ioping"
            | "cdrdao"
            | "eject"
            | "isoinfo"
            | "xfs_db"
            | "lsdvd"
            | "vlc"
            | "mpv"
    )
}

/// Options that name an output file, in the spellings most programs share.
fn outputs(walk: &mut Walk<'_>, call: Call<'_>) {
    let mut edits = false;
    for (at, arg) in call.args.iter().enumerate() {
        let text = &*arg.text;
        if !text.starts_with('-') && !text.starts_with("of=") {
            continue;
        }
        let file = match text {
            "-o" | "-out" | "--out" | "--output" | "--outfile" | "--output-file" | "--dest"
            | "--output-dir" | "--out-dir" | "--outdir" | "--save" | "-outfile" => {
                call.args.get(at + 1).map(|next| &*next.text)
            }
            _ => ["--output=", "--out=", "--outfile=", "--output-file=", "--dest=", "--save=", "of="]
                .iter()
                .find_map(|option| text.strip_prefix(option)),
        };
        edits |=
            matches!(text, "-i" | "--in-place" | "--inplace" | "--set" | "--write" | "--del" | "--merge");
        if let Some(file) = file {
            let target = walk.target(file);
            if target.place == Place::Device {
                let how = How { grave: true, ..How::default() };
                walk.emit_on(Kind::Device, "overwrites a device", arg.span, vec![target], how);
            } else if target.place != Place::Credential {
                walk.write_file(file, Flow::unknown(Origin::default()), false, "writes its output", arg.span);
            }
        }
    }
    let benchmarks = call.name == "fio" && call.args.iter().any(|arg| arg.text.contains("write"));
    if !reads_devices(call.name) || benchmarks {
        let devices: Vec<Target> = call
            .args
            .iter()
            .filter(|arg| arg.text.len() > 5)
            .map(|arg| arg.text.split_once('=').map_or(&*arg.text, |(_, value)| value))
            .filter(|path| path.starts_with("/dev/"))
            .map(|path| walk.target(path))
            .filter(|target| target.place == Place::Device)
            .collect();
        if !devices.is_empty() {
            walk.emit_on(
                Kind::Device,
                "hands a disk to a program nobody knows",
                call.span,
                devices,
                How::default(),
            );
        }
    }
    if edits {
        for arg in call.args.iter().filter(|arg| arg.text.starts_with(['/', '~'])) {
            let target = walk.target(&arg.text);
            walk.emit_on(Kind::Write, "edits a file in place", arg.span, vec![target], How::default());
        }
    }
}

/// Programs and code among the arguments.
fn handed(walk: &mut Walk<'_>, call: Call<'_>) {
    if !walk.down(call.span) {
        return;
    }
    let mut after_dashes = false;
    for (at, arg) in call.args.iter().enumerate().take(24) {
        let text = &*arg.text;
        if text == "--" {
            after_dashes = true;
            continue;
        }
        let first = !text.starts_with('-');
        if (starts_command(base_name(text)) || std::mem::take(&mut after_dashes) && first)
            && at + 1 < call.args.len()
        {
            let tail = call.args.get(at..).unwrap_or_default();
            if trial(walk, call.span, |walk| drop(super::run(walk, tail, &Flow::none(), call.span))) {
                break;
            }
        }
        // A file that the text wrote itself, or `<( … )`, is as good as what is in it.
        let code = code_in(call.args, at).map(|code| {
            let written = walk.scope.files.get(&walk.path(code)).and_then(Flow::exact);
            written.unwrap_or(code).to_owned()
        });
        if let Some(code) = code.as_deref()
            && code.contains([' ', '(', '`', '|', ';'])
            && !code.contains(HOLE)
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
