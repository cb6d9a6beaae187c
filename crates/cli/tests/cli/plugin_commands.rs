//! Commands that plugins add: whose name counts, what they print and what they read.

use crate::home::Home;

#[test]
fn a_command_that_is_ours_is_told_as_not_the_plugins() {
    let home = Home::new();
    let lines = "def register(ctx):\n    ctx.register_command('help', lambda words: 'mine')\n    \
                 ctx.register_command('mine', lambda words: 'mine')\n    \
                 ctx.register_cli_command('tools', help='Mine', handler_fn=lambda args: print('mine'))\n";
    home.plugin("greedy", lines);
    home.say(&["plugins", "enable", "greedy"]);

    let info = home.say(&["plugins", "info", "greedy"]);

    assert!(info.contains("`/help` is a command of Hermes, which counts"), "{info}");
    assert!(info.contains("`hermes tools` is a command of Hermes, which counts"), "{info}");
    assert!(!info.contains("`/mine`") && !home.say(&["--help"]).contains("Commands of plugins:"));
}

/// The lines of a plugin with commands that print and read in every way there is.
const LOUD: &str = r#"
import os, subprocess, sys

def everything(chosen):
    print("printed")
    subprocess.run(["echo", "by a child"])
    sys.stdout.buffer.write("as b\u00fctes\n".encode())
    os.system("echo by a shell; echo beside it >/dev/stderr; echo and here >/dev/stdout")
    if os.fork() == 0:
        print("by a fork")
        sys.exit(0)
    os.wait()
    print("the end")
    return 3

def much(chosen):
    print("x" * 300_000)
    subprocess.Popen(["sleep", "1000"])

def floods(chosen):
    for _ in range(40):
        print("x" * 1_000_000, end="")
    return 4

def breaks(chosen):
    print("before")
    raise ValueError("then")

def reads(chosen):
    print(repr(input()))
    subprocess.run(["cat"]) if chosen.by == "child" else print(repr(sys.stdin.read()))

def register(ctx):
    def by(parser):
        parser.add_argument("by", nargs="?")
    for handler in (everything, much, floods, breaks, reads):
        ctx.register_cli_command(handler.__name__, "", by, handler)
"#;

#[test]
fn whatever_a_command_of_a_plugin_or_its_children_write_reaches_the_person() {
    let home = Home::new();
    home.plugin("loud", LOUD);
    home.say(&["plugins", "enable", "loud"]);

    let all = home.run(&["everything"]);
    let much = home.run(&["much"]);
    let broken = home.run(&["breaks"]);

    let lines = "printed\nby a child\nas b\u{fc}tes\nby a shell\nand here\nby a fork\nthe end\n";
    assert_eq!((all.out.as_str(), all.err.as_str(), all.code), (lines, "beside it\n", Some(3)));
    assert_eq!((much.out.len(), much.code), (300_001, Some(0)));
    assert_eq!((broken.out.as_str(), broken.code), ("before\n", Some(1)), "{broken:?}");
    assert_eq!(broken.err, "error: ValueError: then\n");
}

#[test]
fn of_a_command_that_prints_without_end_the_beginning_is_told_and_that_there_was_more() {
    let home = Home::new();
    home.plugin("loud", LOUD);
    home.say(&["plugins", "enable", "loud"]);

    let said = home.run(&["floods"]);

    let warning =
        "warning: standard output of the command is cut: only its first 29356544 letters are told\n";
    assert_eq!((said.code, said.err.as_str(), said.out.len()), (Some(4), warning, 29_356_544));
}

#[test]
fn a_command_of_a_plugin_reads_what_is_piped_to_hermes() {
    let home = Home::new();
    home.plugin("loud", LOUD);
    home.say(&["plugins", "enable", "loud"]);

    let read = home.run_with(&["reads"], "first\nsecond\nth\u{ef}rd".as_bytes());
    let child = home.run_with(&["reads", "child"], b"first\n");
    let none = home.run(&["reads"]);
    // Nobody closes this pipe, and nobody waits for that.
    let mut open = home.command(&["much"]);
    let open = open.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn();
    let mut open = open.unwrap();

    assert_eq!(read.out, "'first'\n'second\\nth\u{ef}rd'\n", "{read:?}");
    assert_eq!((child.out.as_str(), child.code), ("'first'\n", Some(0)), "{child:?}");
    assert!(none.err.contains("EOFError") && none.code == Some(1), "{none:?}");
    let held = open.stdin.take();
    assert!(open.wait().unwrap().success());
    drop(held);
}
