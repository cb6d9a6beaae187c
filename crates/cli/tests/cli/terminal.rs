//! Colours, widths, completion scripts: what depends on where the output goes.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::home::{Home, Said};

/// What a command writes on a terminal of so many columns.
fn on_a_terminal(home: &Home, columns: u16, words: &[&str], variables: &[(&str, &str)]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave =
        rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, rustix::fs::Mode::empty()).unwrap();
    let mut child = {
        // The command owns our last copy of the terminal's other end; it goes with it.
        let mut command = home.command(words);
        command.envs(variables.iter().copied()).stdout(File::from(slave)).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut written = Vec::new();
    // Linux reports the end of the other side as an error.
    let _ = File::from(master).read_to_end(&mut written);
    assert!(child.wait().unwrap().success());
    String::from_utf8(written).unwrap().replace("\r\n", "\n")
}

#[test]
fn a_person_gets_headings_colours_and_lines_that_fit() {
    let home = Home::new();

    let shown = on_a_terminal(&home, 50, &["tools", "list"], &[("TERM", "xterm")]);

    assert!(shown.contains("\u{1b}[2mTOOLSET\u{1b}[0m"), "{shown:?}");
    assert!(shown.contains("\u{1b}[32mon\u{1b}[0m"), "{shown:?}");
    assert!(shown.lines().any(|line| line.ends_with('…')), "{shown:?}");
    let shown = on_a_terminal(&home, 80, &["tools", "call", "todo"], &[]);
    assert!(shown.starts_with("{\n  \"todos\": [],\n"), "{shown:?}");
}

/// The commands that a help names.
fn commands(help: &str) -> Vec<String> {
    let after = help.split_once("\nCommands:\n").map_or("", |(_, after)| after);
    let lines = after.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_sentences_of_a_help_fill_the_lines_of_the_terminal() {
    const COLUMNS: u16 = 60;
    let home = Home::new();
    let help = |words: &[&str]| on_a_terminal(&home, COLUMNS, &[words, &["--help"]].concat(), &[]);
    let mut pages = vec![help(&[])];
    for command in commands(&pages[0]) {
        let page = help(&[&command]);
        pages.extend(commands(&page).iter().map(|action| help(&[&command, action])));
        pages.push(page);
    }

    assert!(pages.len() > 80, "{}", pages.len());
    for page in pages {
        let lines: Vec<&str> = page.lines().collect();
        for pair in lines.windows(2).filter(|pair| !pair[0].ends_with(':')) {
            let is_prose = |line: &str| line.starts_with(|letter: char| !letter.is_whitespace());
            if let [line, next] = pair
                && is_prose(line)
                && is_prose(next)
            {
                let word = next.split(' ').next().unwrap_or_default();
                let length = line.chars().count() + 1 + word.chars().count();
                assert!(length > usize::from(COLUMNS), "{word:?} has room behind {line:?} in {page}");
            }
        }
    }
}

#[test]
fn what_helps_is_not_cut_off_by_the_edge_of_the_terminal() {
    let home = Home::new();

    let shown = on_a_terminal(&home, 60, &["doctor", "--offline"], &[]);

    let said: Vec<&str> = shown.split_whitespace().collect();
    assert!(said.join(" ").contains("`hermes config set terminal.fence workspace`"), "{shown}");
    let plain = shown.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
    assert!(plain.lines().all(|line| line.chars().count() <= 60 && !line.ends_with('…')), "{shown}");
}

#[test]
fn colours_can_be_refused() {
    let home = Home::new();
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = on_a_terminal(&home, 80, &["tools", "list"], &[variable]);

        assert!(shown.starts_with("TOOL ") && !shown.contains('\u{1b}'), "{variable:?}: {shown:?}");
    }
}

#[test]
fn what_is_piped_has_neither_colours_nor_headings() {
    let home = Home::new();
    let commands: [&[&str]; 5] = [
        &["tools", "list"],
        &["tools", "explain"],
        &["tools", "cost"],
        &["toolsets", "list"],
        &["tools", "info", "todo"],
    ];
    for words in commands {
        let said = home.say(words);
        assert!(
            !said.contains('\u{1b}') && !said.contains("TOOLSET") && !said.contains("WHAT FOR"),
            "{said}"
        );
        assert!(said.lines().all(|line| line == line.trim_end()), "{said}");
    }
}

#[test]
fn every_shell_gets_a_completion_script() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.say(&["completion", shell]);

        for word in ["tools", "toolsets", "completion", "explain", "--json"] {
            let known = script.contains(word) || script.contains(word.trim_start_matches('-'));
            assert!(known, "{word} for {shell}");
        }
        assert_eq!(home.json(&["completion", shell])["shell"], shell);
    }
}

/// Lets the shell read its script without running it; shells that are not installed cannot.
#[test]
fn completion_scripts_are_understood_by_their_shells() {
    let home = Home::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = home.say(&["completion", shell]);
        let home = Home::new().file("script", script);
        let there = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .any(|folder| Path::new(&folder).join(shell).is_file());
        assert!(there || shell != "bash", "bash is needed");
        if there {
            let said = Said::of(home.program(shell, &[check, "script"]).output().unwrap());
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{shell}: {said:?}");
        }
    }
}

#[test]
fn bash_completes_what_is_typed() {
    let script = Home::new().say(&["completion", "bash"]);
    let home = Home::new().file("script", script);
    let asked = "source ./script; COMP_WORDS=(hermes tools ex); COMP_CWORD=2; COMP_LINE='hermes tools ex'; \
                 _hermes hermes ex tools; echo \"${COMPREPLY[@]}\"";

    let said = Said::of(home.program("bash", &["-c", asked]).output().unwrap());

    assert_eq!(said.out, "explain\n", "{said:?}");
}
