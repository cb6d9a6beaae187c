//! The command that runs a script.
//!
//! It holds the whole script, so that policy judges, and a person reads, exactly what will run. Python
//! and its like get the script on their standard input; a shell's script is the command itself.

/// Marks the end of the script in the command.
const END: &str = "HERMES_CODE";

/// What a script's first line asks for.
enum Interpreter<'a> {
    /// One that takes a script on its standard input, and reads all of it before it begins.
    Reads(&'a str),
    Shell,
}

/// The command, or why there is none.
pub(crate) fn command(code: &str) -> Result<String, String> {
    match interpreter(code)? {
        Interpreter::Shell => Ok(code.to_owned()),
        Interpreter::Reads(program) => {
            let mut end = END.to_owned();
            while code.lines().any(|line| line == end) {
                end.push('_');
            }
            let gap = if code.ends_with('\n') { "" } else { "\n" };
            Ok(format!("exec {program} - <<'{end}'\n{code}{gap}{end}\n"))
        }
    }
}

/// The program that must be there for a script to run; a shell always is.
pub(crate) fn needs(code: &str) -> Option<String> {
    match interpreter(code) {
        Ok(Interpreter::Reads(program)) => Some(program.to_owned()),
        Ok(Interpreter::Shell) | Err(_) => None,
    }
}

/// Python, unless the first line names another one.
fn interpreter(code: &str) -> Result<Interpreter<'_>, String> {
    let Some(line) = code.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        return Ok(Interpreter::Reads("python3"));
    };
    let named = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let named =
        named.skip_while(|word| *word == "env" || word.starts_with('-')).find(|word| !word.contains('='));
    match named.unwrap_or_default() {
        "python" => Ok(Interpreter::Reads("python3")),
        name if is_python(name) => Ok(Interpreter::Reads(name)),
        "bash" | "dash" | "ksh" | "sh" | "zsh" => Ok(Interpreter::Shell),
        name @ ("node" | "perl" | "ruby") => Ok(Interpreter::Reads(name)),
        other => Err(format!(
            "scripts cannot be run by `{other}`: use Python, or a first line that names sh, bash, node, perl or ruby"
        )),
    }
}

/// `python3`, `python3.12`: nothing that a shell would read otherwise.
fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").unwrap_or("?");
    version.starts_with('3') && version.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_python_unless_it_says_otherwise() {
        assert_eq!(command("print(1)").unwrap(), "exec python3 - <<'HERMES_CODE'\nprint(1)\nHERMES_CODE\n");
        assert!(command("#!/usr/bin/env python\nx\n").unwrap().starts_with("exec python3 - <<"));
        assert!(command("#!/usr/bin/python3.12\nx").unwrap().starts_with("exec python3.12 - <<"));
        assert!(command("#!/usr/bin/env -S node --x\nx").unwrap().starts_with("exec node - <<"));
        assert_eq!(command("#!/bin/sh -e\nls").unwrap(), "#!/bin/sh -e\nls");
        for odd in ["#!/bin/cat\n", "#!\n", "#!/usr/bin/python3;rm\n", "#!/usr/bin/python2\n"] {
            assert!(command(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_script_cannot_end_itself_early() {
        let code = "a\nHERMES_CODE\nrm -rf /\nHERMES_CODE_\n";

        let text = command(code).unwrap();

        assert_eq!(text, format!("exec python3 - <<'HERMES_CODE__'\n{code}HERMES_CODE__\n"));
    }

    proptest::proptest! {
        #[test]
        fn the_script_stands_whole_between_its_marks(code in "(HERMES_CODE_{0,3}\n?|[a-z'\"$\\\\\n]){0,12}") {
            let text = command(&code).unwrap();

            let (first, rest) = text.split_once('\n').unwrap();
            let mark = first.trim_end_matches('\'').rsplit('\'').next().unwrap();
            let body: Vec<&str> = rest.split('\n').take_while(|line| *line != mark).collect();
            let body = body.join("\n");
            proptest::prop_assert_eq!(body.trim_end_matches('\n'), code.trim_end_matches('\n'));
        }
    }
}
