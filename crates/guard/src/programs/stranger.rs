//! A program nobody here knows, judged by how it is called.
//!
//! Its name says nothing, but its words may: a verb that destroys, another program among its
//! arguments, an option whose value is code, an output file in a place that matters. What it is
//! handed is judged as if it ran, and only asked about: the program may as well just print it.

use super::{Met, controllers, handed, harms, looks, outputs, removals, signs, verbs};
use crate::effect::Kind;
use crate::walk::{Arg, Call, Flow, Origin, Walk};

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

/// Runs it: its output is unknown, and carries where its input came from. `met` is what its very
/// name says.
pub(crate) fn run(walk: &mut Walk<'_>, call: Call<'_>, met: Met) -> Flow {
    let few;
    let call = if call.args.len() > MANY {
        few = telling(call.args);
        Call { args: &few, ..call }
    } else {
        call
    };
    if !call.args.is_empty() && !talks(call.name) {
        // What it is given to run may run in a rehearsal too.
        handed::to_stranger(walk, call);
    }
    if !call.args.is_empty() && !verbs::only_shows(call.args) && !talks(call.name) {
        outputs::of_stranger(walk, call);
        addressed(walk, call);
        if verbs::destroys(call.name, call.args) {
            let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
            walk.emit_names(Kind::Cloud, "tells a program to delete or destroy things", call.span, &words);
        }
        let listed = met
            .harm
            .then(|| harms::of(call.name, call.args).or_else(|| looks::touches(call.name, call.args)));
        let told = || (!met.tame).then(|| removals::of(call.args)).flatten();
        if let Some((kind, what)) =
            listed.flatten().or_else(|| controllers::stops(call.name, call.args)).or_else(told)
        {
            walk.emit_names(kind, what, call.span, &[call.name]);
        }
        if signs::look(walk, call) || signs::given(walk, call).origin.credential {
            return Flow::unknown(Origin { credential: true, ..Origin::default() });
        }
    }
    handed::by_files(walk, call);
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
    if met.loss && !verbs::only_shows(call.args) {
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
            | "Select-String"
            | "Get-Help"
            | "Write-Host"
            | "Write-Output"
    )
}

/// Programs that are told what to do on their standard input.
fn talked_to(name: &str) -> bool {
    ["console", "shell", "cli", "ctl", "admin", "client", "repl", "sh"].iter().any(|end| name.ends_with(end))
}
