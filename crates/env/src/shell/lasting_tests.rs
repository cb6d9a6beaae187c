//! What is taken for harmless is held against what bash really does.

#![expect(clippy::disallowed_methods, reason = "bash itself is asked")]

use std::process::Command;

use super::*;

fn known(variables: &[(&str, &str)]) -> Known {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Known { variables, rest: None }
}

fn leaves(command: &str) -> bool {
    !leaves_nothing(command, &known(&[]))
}

#[test]
fn words_of_the_shell_are_sorted_and_complete() {
    assert!(SHELL_WORDS.is_sorted());
    let said = Command::new("bash").args(["-c", "compgen -b; compgen -k"]).output().unwrap();
    for word in String::from_utf8(said.stdout).unwrap().split_whitespace() {
        let listed = SHELL_WORDS.binary_search(&word).is_ok() || HARMLESS.contains(&word);
        assert!(listed || matches!(word, "printf" | "!"), "{word}");
    }
}

#[test]
fn commands_that_only_start_programs_leave_nothing() {
    for command in [
        "true",
        "ls -la /tmp",
        "git log --oneline | head -5; git status",
        "cargo build 2>&1 | tail -n 20",
        "RUST_LOG=debug A='1 2' ./run --flag=\"$HOME/x\" && echo done || echo 'it failed'",
        "grep -rn 'fn main() {' src &> out.txt",
        "printf '%s\\n' a b > file",
        "> file",
        "sleep 1 & echo $! $?",
        "python3 -c 'import os; os.chdir(\"/\")'",
        "echo \"a \\\" b\" a\\ b {x,y}",
        "",
    ] {
        assert!(!leaves(command), "{command}");
    }
}

#[test]
fn whatever_might_change_something_does() {
    for command in [
        "cd /",
        "export A=1",
        "A=1",
        "A=1 B=2",
        "x=1 >f",
        "f() { :; }",
        "function f { :; }",
        "alias l=ls",
        ". ./env",
        "source env",
        "eval x",
        "builtin cd /",
        "command cd /",
        "\\cd /",
        "'cd' /",
        "c\"d\" /",
        "$x /",
        "{ cd /; }",
        "if true; then cd /; fi",
        "! cd /",
        "time cd /",
        "true; cd /",
        "true && cd /",
        "true | cd /",
        "true\ncd /",
        "echo ${x:=1}",
        "echo $((x=1))",
        "echo $[x=1]",
        "echo \"${x:=1}\"",
        "echo \"$((x=1))\"",
        "echo `x`",
        "printf -v x 1",
        "printf \"$o\" x 1",
        "printf '-v' x 1",
        "read x",
        "mapfile x",
        "cat <<E\nE",
        "cat <<<x",
        "exec 3>f {x}>f",
        "true {x}>f",
        "true # '\ncd /",
        "e*o x",
        "~/x$(cd /)",
        "cat <(cd /)",
        "(cd /)",
        "true\\\ncd",
        "echo $'\\'' ; cd /",
        "echo 'open",
        "echo \"open",
        "> f cd /",
        "2>&1 cd /",
        "a[0]=1",
        "a+=1",
        "set -a",
        "unset HOME",
        "case x in x) cd /;; esac",
        "%1",
    ] {
        assert!(leaves(command), "{command}");
    }
}

#[test]
fn functions_aliases_and_switches_of_the_session_count() {
    let rest = b"f () \n{ \n    cd /\n}\nalias l='cd'\nalias -- -x='cd'\n";

    assert!(!only_starts_a_program(&["f"], rest));
    assert!(!only_starts_a_program(&["l", "x"], rest));
    assert!(!only_starts_a_program(&["A=1", "-x"], rest));
    assert!(only_starts_a_program(&["ls"], rest));
    assert!(!passes_on(rest) && passes_on(b"f () \n{ \n    :\n}\ndeclare -fx f\n"));
    assert!(!leaves_nothing("true", &known(&[("BASH_ENV", "x")])));
}

/// What bash would write down after a command, in an empty folder.
fn state_after(command: &str) -> String {
    let script = "eval \"$1\" >/dev/null 2>&1 </dev/null\nunset _; export -p; declare -f; alias -p; pwd";
    let folder = tempfile::tempdir().unwrap();
    let said = Command::new("/bin/bash")
        .args(["-O", "expand_aliases", "-c", script, "bash", command])
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", "/nonexistent"), ("x", "1"), ("HOME", "/")])
        .output()
        .unwrap();
    String::from_utf8_lossy(&said.stdout)
        .replace(&*folder.path().canonicalize().unwrap().to_string_lossy(), "HERE")
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 300, ..proptest::test_runner::Config::default() })]

    #[test]
    fn bash_agrees(pieces in proptest::collection::vec(0..PIECES.len(), 1..9)) {
        let command: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        if !leaves(&command) {
            let ended_early = command.contains("exit");
            let after = state_after(&command);
            assert!(after == state_after("true") || (ended_early && after.is_empty()), "{command:?}: {after}");
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in ".{0,80}") {
        let _ = leaves(&text);
    }
}

/// Commands are made of these.
const PIECES: [&str; 46] = [
    "true",
    "cd",
    " / ",
    "x=2",
    "x",
    "=",
    "export ",
    " ",
    " ",
    " ",
    ";",
    "&&",
    "|",
    "&",
    "\n",
    "'",
    "\"",
    "\\",
    "$x",
    "$",
    "{",
    "}",
    "${x:=3}",
    "(",
    ")",
    ">f",
    "<",
    "2>",
    "&1",
    "#",
    "`",
    "echo ",
    "printf ",
    "-v ",
    "unset x",
    "f()",
    "alias a=b",
    "!",
    "exit",
    "~",
    "eval ",
    "[[",
    "]]",
    "a",
    ":",
    "$((x=5))",
];
