//! Ways to run a command by other means, and to write its words differently.

/// Programs that run the program behind them.
const RUNNERS: [&str; 29] = [
    "sudo",
    "sudo -u root -E",
    "doas",
    "env",
    "env A=1 -u B",
    "nice -n 5",
    "ionice -c3",
    "nohup",
    "timeout 9",
    "timeout -s KILL 1m",
    "time",
    "/usr/bin/time -v",
    "xargs -0",
    "watch -n 1",
    "setsid -f",
    "stdbuf -oL",
    "chroot /srv/root",
    "unshare -r",
    "busybox",
    "command",
    "exec",
    "builtin command",
    "parallel",
    "strace -f",
    "flock /tmp/lock",
    "systemd-run --user",
    "ssh -p 22 host",
    "docker exec -it web",
    "kubectl exec pod -c main --",
];

/// How many ways [`wrap`] knows.
pub(crate) const fn ways() -> usize {
    RUNNERS.len() + SHAPES
}

/// How many ways of its own [`shape`] knows.
const SHAPES: usize = 58;

/// How many ways [`respell`] knows.
pub(crate) const RESPELLINGS: usize = 19;

/// One way to run a command by other means.
pub(crate) fn wrap(way: usize, command: &str) -> String {
    match RUNNERS.get(way) {
        Some(runner) => format!("{runner} sh -c {}", single(command)),
        None => shape(way - RUNNERS.len(), command),
    }
}

/// Ways that are more than a program in front.
fn shape(way: usize, command: &str) -> String {
    let quoted = single(command);
    match way {
        0 => format!("bash -c {quoted}"),
        1 => format!("bash -lc {}", double(command)),
        2 => format!("eval {quoted}"),
        3 => format!("echo {quoted} | sh"),
        4 => format!("bash <<< {quoted}"),
        5 => format!("printf '%s\\n' {quoted} | sudo bash -s"),
        6 => format!("env A=1 nohup timeout 9 bash -c {quoted}"),
        7 => format!("x={quoted}; eval \"$x\""),
        8 => format!("f() {{\n{command}\n}}\nf"),
        9 => format!("(\n{command}\n)"),
        10 => format!("{{\n{command}\n}}"),
        11 => format!("if true; then\n{command}\nfi"),
        12 => format!("for i in 1; do\n{command}\ndone"),
        13 => format!("true && {command}"),
        14 => format!("echo $(\n{command}\n)"),
        15 => format!("cat <<'EOF' | bash\n{command}\nEOF"),
        16 => format!("printf '%s' {quoted} > s.sh; bash s.sh"),
        17 => format!("printf '%s' {quoted} > s.sh; . ./s.sh"),
        18 => format!("trap {quoted} EXIT"),
        19 => format!("source <(printf '%s' {quoted})"),
        20 => format!("python3 -c {}", single(&format!("import os; os.system({command:?})"))),
        21 => format!("watch {quoted}"),
        22 => format!("alias z={quoted}; z"),
        23 => format!("diff <(\n{command}\n) x"),
        24 => format!("while true; do\n{command}\nbreak\ndone"),
        25 => format!("case x in x)\n{command}\n;; esac"),
        26 => format!("{{\n{command}\n}} & wait"),
        27 => format!("false || {{\n{command}\n}}"),
        28 => format!("su - root -c {quoted}"),
        29 => format!("script -qc {quoted} /dev/null"),
        30 => format!("git -c core.pager={quoted} log"),
        31 => format!("git -c {} x", single(&format!("alias.x=!{command}"))),
        32 => format!("find . -maxdepth 0 -exec sh -c {quoted} \\;"),
        33 => format!("echo a | xargs -I{{}} sh -c {quoted}"),
        34 => format!("ssh host {quoted}"),
        35 => format!("perl -e {}", single(&format!("system({})", plain_string(command)))),
        36 => format!("ruby -e {}", single(&format!("system({})", plain_string(command)))),
        37 => format!("php -r {}", single(&format!("system({});", plain_string(command)))),
        38 => format!("node -e {}", single(&format!("require('child_process').execSync({command:?})"))),
        39 => format!("awk {}", single(&format!("BEGIN {{ system({command:?}) }}"))),
        40 => format!("lua -e {}", single(&format!("os.execute({command:?})"))),
        41 => format!("eval $'{}'", hex_escapes(command)),
        42 => format!("eval $\"{}\"", double(command).trim_matches('"')),
        43 => format!("echo {} | base64 -d | sh", base64(command)),
        44 => format!("eval \"$(echo {} | base64 --decode)\"", base64(command)),
        45 => format!("echo {} | xxd -r -p | bash", hex(command)),
        46 => format!("echo {} | tr 'a-zA-Z' 'n-za-mN-ZA-M' | sh", single(&rotated(command))),
        47 => format!("bash <<E\n$(printf '%s' {quoted})\nE"),
        48 => format!("echo {quoted} | tee s.sh > /dev/null; sh s.sh"),
        49 => format!("busybox sh -c {quoted}"),
        50 => format!("f() {{ eval \"$1\"; }}; f {quoted}"),
        51 => format!("x=`printf '%s' {}`; eval \"$x\"", in_backquotes(&quoted)),
        52 => format!("docker run --rm -v /:/h alpine sh -c {quoted}"),
        53 => format!("echo {quoted} | at now"),
        // Read line by line, so only for one line.
        54 if one_line(command) => format!("vim -c {}", single(&format!(":!{command}"))),
        55 if one_line(command) => {
            format!("echo {} | rev | sh", single(&command.chars().rev().collect::<String>()))
        }
        56 if one_line(command) => format!("sed {} x", single(&format!("1e {command}"))),
        57 if one_line(command) && !command.contains(['\'', '"', '\\']) => {
            format!("xargs -I{{}} sh -c '{{}}' <<< {quoted}")
        }
        _ => format!("echo start\n{command}\necho end"),
    }
}

/// One way to write the words of a command differently.
pub(crate) fn respell(way: usize, command: &str) -> String {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (head, tail) = first.split_at(1);
    let plain = !command.contains(['|', ',', '{', '=']);
    match way {
        0 => format!("{head}''{tail} {rest}"),
        1 => format!("\\{first} {rest}"),
        2 => format!("\"{head}\"{tail} {rest}"),
        3 => format!("command {first} {rest}"),
        4 => format!("p={first}; $p {rest}"),
        5 => format!("$(echo {first}) {rest}"),
        6 => format!("{head}${{none}}{tail} {rest}"),
        7 => format!("/usr/bin/{first} {rest}"),
        8 => format!("$'{}' {rest}", hex_escapes(first)),
        9 => format!("a={head}; b={tail}; $a$b {rest}"),
        10 => format!("{head}\\\n{tail} {rest}"),
        11 => format!("${{none:-{first}}} {rest}"),
        12 => format!("`echo {first}` {rest}"),
        13 => format!("$(printf '%s%s' {head} {tail}) {rest}"),
        14 => format!("$(rev <<< {}) {rest}", first.chars().rev().collect::<String>()),
        15 => format!("$\"{first}\" {rest}"),
        16 if plain => command.replace(' ', "${IFS}"),
        17 if plain => format!("{{{}}}", command.replace(' ', ",")),
        _ => command.to_owned(),
    }
}

fn one_line(command: &str) -> bool {
    !command.contains('\n')
}

/// The text in single quotes, for a shell.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The text in double quotes, for a shell.
fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        if matches!(letter, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(letter);
    }
    out + "\""
}

/// The text as it must be written between backquotes.
fn in_backquotes(text: &str) -> String {
    text.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$")
}

/// The text as a string of perl, ruby or php in which nothing is live.
fn plain_string(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn hex_escapes(text: &str) -> String {
    text.bytes().fold(String::new(), |hex, byte| hex + &format!("\\x{byte:02x}"))
}

/// Each letter thirteen places on.
fn rotated(text: &str) -> String {
    let turn = |letter: char, from: u8| char::from((letter as u8 - from + 13) % 26 + from);
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => turn(letter, b'a'),
            'A'..='Z' => turn(letter, b'A'),
            other => other,
        })
        .collect()
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            if place > chunk.len() {
                out.push('=');
            } else {
                let letter = LETTERS.get((bits >> (18 - 6 * place)) as usize % 64);
                out.extend(letter.map(|letter| char::from(*letter)));
            }
        }
    }
    out
}
