//! Notices commands that would never come back: servers, watchers, and what is sent to the
//! background by the shell. They belong into the background of the runtime, where they can be
//! looked after.
//!
//! A hint for the model, not a rule of safety: a command it does not know simply runs into its
//! time limit.

use crate::command::words::{Join, Simple, simple_commands};

/// How deep `sh -c '…'` is followed.
const MAX_DEPTH: usize = 3;

/// Why the command would not end by itself, or would leave something running, in words.
pub(crate) fn why_it_blocks(text: &str) -> Option<String> {
    blocks(text, 0)
}

fn blocks(text: &str, depth: usize) -> Option<String> {
    let commands = simple_commands(text);
    let waits = commands.iter().any(|command| command.words.first().is_some_and(|word| word == "wait"));
    let reason = |command: &Simple| {
        if command.then == Join::Background && !waits {
            return Some("`&` leaves a process running that nobody looks after".to_owned());
        }
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        simple(&words, depth)
    };
    commands.iter().find_map(reason)
}

fn simple(words: &[&str], depth: usize) -> Option<String> {
    let words = without_prefixes(words)?;
    let (program, arguments) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if arguments.iter().any(|word| matches!(*word, "--help" | "--version"))
        || matches!(arguments.last(), Some(&("-h" | "-v" | "-V")))
    {
        return None;
    }
    match program {
        "nohup" | "disown" => Some(format!("`{program}` leaves a process running that nobody looks after")),
        "setsid" if !has(arguments, &["-w", "--wait"]) => {
            Some("`setsid` leaves a process running that nobody looks after".to_owned())
        }
        "sh" | "bash" | "zsh" | "dash" if depth < MAX_DEPTH => {
            let at = arguments.iter().position(|word| word.starts_with('-') && word.ends_with('c'))?;
            blocks(arguments.get(at + 1)?, depth + 1)
        }
        _ => is_endless(program, arguments)
            .then(|| format!("`{}` does not end by itself", shown(program, arguments))),
    }
}

/// The command without assignments and the programs that only run another one. Nothing is left of
/// a command that `timeout` will end.
fn without_prefixes<'a, 'b>(mut words: &'a [&'b str]) -> Option<&'a [&'b str]> {
    loop {
        let (first, rest) = words.split_first()?;
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let after_options = || {
            let at = rest.iter().position(|word| !word.starts_with('-') && !word.contains('='));
            rest.get(at.unwrap_or(rest.len())..)
        };
        words = match *first {
            _ if is_assignment => rest,
            "timeout" => return None,
            "{" | "}" | "!" | "then" | "else" | "do" | "if" | "while" | "until" | "elif" | "time"
            | "command" | "builtin" | "exec" | "npx" | "bunx" => rest,
            "sudo" | "env" | "doas" | "nice" | "ionice" | "stdbuf" => after_options()?,
            "poetry" | "pipenv" | "uv" | "pdm" | "rye" if rest.first() == Some(&"run") => rest.get(1..)?,
            "bundle" | "pnpm" if matches!(rest.first(), Some(&("exec" | "dlx"))) => rest.get(1..)?,
            _ => return Some(words),
        };
    }
}

fn is_endless(program: &str, arguments: &[&str]) -> bool {
    let first = arguments.iter().find(|word| !word.starts_with('-')).copied();
    let second = arguments.iter().filter(|word| !word.starts_with('-')).nth(1).copied();
    let follows = || has_flag(arguments, 'f') || has(arguments, &["--follow"]);
    let watches = || has(arguments, &["-w", "--watch", "--watchAll"]);
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => {
            let script = if first == Some("run") { second } else { first };
            matches!(script, Some("dev" | "start" | "serve" | "watch"))
        }
        "docker-compose" => compose(arguments),
        "docker" | "podman" if first == Some("compose") => {
            let at = arguments.iter().position(|word| *word == "compose").unwrap_or_default();
            compose(arguments.get(at + 1..).unwrap_or_default())
        }
        "docker" | "podman" => first == Some("logs") && follows(),
        "kubectl" => first == Some("port-forward") || (first == Some("logs") && follows()),
        "next" | "astro" | "nuxt" => matches!(first, Some("dev" | "start" | "preview")),
        "vite" => arguments.first().is_none_or(|word| {
            word.starts_with('-') && !has(arguments, &["--version", "-v", "--help", "-h"])
                || matches!(*word, "dev" | "serve" | "preview")
        }),
        "nodemon" | "uvicorn" | "hypercorn" | "live-server" | "http-server" | "mongod" | "watch" => true,
        "gunicorn" => !has(arguments, &["-D", "--daemon", "--check-config", "--print-config"]),
        "redis-server" => !arguments.windows(2).any(|pair| pair == ["--daemonize", "yes"]),
        "python" | "python3" => python(arguments),
        "php" => has(arguments, &["-S"]),
        "flask" | "streamlit" | "caddy" => first == Some("run"),
        "rails" => matches!(first, Some("server" | "s")),
        "ng" | "jekyll" | "mkdocs" | "gatsby" => matches!(first, Some("serve" | "develop")),
        "hugo" => matches!(first, Some("server" | "serve")),
        "webpack" => first == Some("serve") || watches(),
        "tsc" | "jest" | "vitest" | "rollup" | "sass" => watches(),
        "cargo" | "dotnet" => first == Some("watch"),
        "jupyter" => matches!(first, Some("notebook" | "lab" | "server")),
        "tail" => follows() || has_flag(arguments, 'F') || has(arguments, &["--retry"]),
        "journalctl" | "dmesg" => follows() || (program == "dmesg" && watches()),
        "sleep" => matches!(first, Some("infinity" | "inf")),
        _ => false,
    }
}

/// Options before the verb of `docker compose` that take a value.
const COMPOSE_VALUES: [&str; 9] = [
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--profile",
    "--env-file",
    "--project-directory",
    "--parallel",
    "--ansi",
];

fn compose(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if COMPOSE_VALUES.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            let follows = has_flag(arguments, 'f') || has(arguments, &["--follow"]);
            return (word == "up" && !detaches(arguments)) || (word == "logs" && follows);
        }
    }
    false
}

fn python(arguments: &[&str]) -> bool {
    let module = arguments.iter().position(|word| *word == "-m").and_then(|at| arguments.get(at + 1..));
    match module {
        Some(["http.server", ..]) => true,
        Some([module, rest @ ..]) => is_endless(module, rest),
        _ => arguments
            .windows(2)
            .any(|pair| matches!(pair, [file, "runserver"] if file.ends_with("manage.py"))),
    }
}

fn detaches(arguments: &[&str]) -> bool {
    const ENDING: [&str; 6] =
        ["-d", "--detach", "--no-start", "--wait", "--abort-on-container-exit", "--exit-code-from"];
    arguments.iter().any(|word| ENDING.contains(&word.split('=').next().unwrap_or(word)))
}

fn has(arguments: &[&str], wanted: &[&str]) -> bool {
    arguments.iter().any(|word| wanted.contains(word))
}

/// Whether a bundle of short options holds this one.
fn has_flag(arguments: &[&str], flag: char) -> bool {
    let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
    arguments.iter().filter(short).any(|word| word.contains(flag))
}

fn shown(program: &str, arguments: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once(program).chain(arguments.iter().take(2).copied()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::why_it_blocks;

    #[test]
    fn what_never_ends_is_noticed() {
        for text in [
            "uvicorn app:main --reload",
            "FOO=1 sudo -E uvicorn app:main",
            "cd x && npm run dev",
            "npm start",
            "docker compose -f x.yml up",
            "vite",
            "npx vite --port 3000",
            "python -m http.server 8000",
            "python3 -m uvicorn app:main",
            "python manage.py runserver",
            "poetry run flask run",
            "rails s",
            "tail -f log",
            "tail -n 5 -F log | grep x",
            "watch ls",
            "sleep 5&",
            "(sleep 1 &)",
            "make && ./server &",
            "nohup ./x",
            "setsid ./x",
            "bash -lc 'npm run dev'",
            "journalctl -u x -f",
            "kubectl logs -f pod",
            "tsc --watch",
            "sleep infinity",
            "if true; then nodemon; fi",
        ] {
            assert!(why_it_blocks(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_only_mentions_such_programs_passes() {
        for text in [
            "pip install uvicorn",
            "grep uvicorn req.txt",
            "docker compose up -d",
            "docker compose up --exit-code-from=web",
            "vite build",
            "npm run start:prod",
            "npm run build",
            "npm install",
            "echo 'npm run dev'",
            "git commit -m \"run uvicorn & nodemon\"",
            "cat <<EOF > run.sh\nnohup ./server &\nEOF",
            "uvicorn --help",
            "gunicorn --version",
            "timeout 5 tail -f log",
            "tail -n 5 log",
            "ls # then &",
            "make 2>&1 | tee log",
            "make &> log",
            "a & b & wait",
            "which nohup",
            "setsid --wait ./x",
            "sleep 5",
            "kill -9 1 && echo done",
            "watchman version",
        ] {
            assert_eq!(why_it_blocks(text), None, "{text}");
        }
    }
}
