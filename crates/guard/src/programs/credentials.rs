//! Stores of secrets and the tools that print them.

use super::Handler;
use crate::effect::{How, Kind};
use crate::place::Place;
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "security" | "secret-tool" | "pass" | "bw" | "lpass" | "keyring" | "gopass" | "1password"
        | "kwallet-query" | "cmdkey" | "keepassxc-cli" => store,
        "ssh-add" | "ssh-keygen" => keys,
        "getent" => getent,
        "unshadow" | "john" | "hashcat" | "mimikatz" | "hydra" | "responder" | "msfconsole" | "msfvenom"
        | "xmrig" | "minerd" | "sqlmap" | "arpspoof" | "ettercap" | "bettercap" | "hping3" | "tcpkill"
        | "masscan" | "nikto" | "crackmapexec" | "netexec" | "aircrack-ng" | "slowloris" | "medusa"
        | "evil-winrm" | "lazagne" | "laZagne" | "laZagne.py" | "mimipenguin" | "gcore" | "procdump"
        | "linpeas.sh" | "pspy" | "beef" | "t50" => attack,
        _ => return None,
    })
}

fn store(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let prints = match call.name {
        "security" => words.iter().any(|word| {
            matches!(*word, "find-generic-password" | "find-internet-password" | "dump-keychain" | "export")
        }),
        "secret-tool" => words.first().is_some_and(|verb| matches!(*verb, "lookup" | "search")),
        "pass" | "gopass" => {
            !words.is_empty()
                && !matches!(
                    words.first(),
                    Some(
                        &("ls"
                            | "list"
                            | "git"
                            | "init"
                            | "insert"
                            | "generate"
                            | "find"
                            | "grep"
                            | "help"
                            | "version")
                    )
                )
        }
        "bw" | "lpass" => words.iter().any(|word| matches!(*word, "get" | "show" | "export" | "list")),
        "keyring" => words.first() == Some(&"get"),
        _ => words.iter().any(|word| matches!(*word, "show" | "export" | "/list" | "clip")),
    };
    if prints {
        walk.emit_names(Kind::ReadCredential, "prints stored secrets", call.span, &words);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    if call.name == "security"
        && words.iter().any(|word| {
            matches!(
                *word,
                "add-trusted-cert" | "authorizationdb" | "set-key-partition-list" | "remove-trusted-cert"
            )
        })
    {
        walk.emit_names(Kind::Security, "changes whom the system trusts", call.span, &words);
    }
    if words.iter().any(|word| word.starts_with("delete") || *word == "rm" || *word == "clear") {
        walk.emit_names(Kind::Delete, "deletes stored secrets", call.span, &words);
    }
    Flow::none()
}

fn getent(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.args.first().is_some_and(|arg| matches!(&*arg.text, "shadow" | "gshadow")) {
        walk.emit(Kind::ReadCredential, "prints password hashes", call.span);
    }
    if let [what, who] = call.args
        && &*what.text == "passwd"
    {
        // Where the home folder is stands in the sixth field.
        let own = walk.context.home.rsplit('/').next().unwrap_or_default();
        let home = match &*who.text {
            "root" => "/root".to_owned(),
            name if name == own || name.contains(HOLE) => walk.context.home.clone(),
            name => format!("/home/{name}"),
        };
        let name = if who.text.contains(HOLE) { own } else { &who.text };
        let text = format!("{name}:x:1000:1000::{home}:/bin/bash\n");
        return Flow { text: Some(text.into()), origin: Origin { local: true, ..Origin::default() } };
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

fn keys(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.name == "ssh-keygen" {
        if call.args.iter().any(|arg| &*arg.text == "-R") {
            walk.emit(Kind::Security, "forgets the key of another machine", call.span);
        }
        if call.args.iter().any(|arg| matches!(&*arg.text, "-y" | "-p")) {
            walk.emit(Kind::ReadCredential, "reads or changes a private key", call.span);
        }
        if let Some(file) =
            call.args.iter().position(|arg| &*arg.text == "-f").and_then(|at| call.args.get(at + 1))
            && walk.target(&file.text).place == Place::Device
        {
            let target = walk.target(&file.text);
            let how = How { grave: true, ..How::default() };
            walk.emit_on(Kind::Device, "overwrites a device", file.span, vec![target], how);
        }
        // With `-f` an existing key may be replaced, which the program itself asks about, unless
        // the answer is already there.
        if call.stdin.present()
            && let Some(file) = call
                .args
                .iter()
                .position(|arg| &*arg.text == "-f")
                .and_then(|at| call.args.get(at + 1))
                .filter(|file| walk.target(&file.text).place == Place::Credential)
        {
            let target = walk.target(&file.text);
            walk.emit_on(Kind::Write, "replaces a key", file.span, vec![target], How::default());
        }
        for (at, arg) in call.args.iter().enumerate() {
            if &*arg.text == "-D"
                && let Some(library) = call.args.get(at + 1)
            {
                walk.emit_names(Kind::RunUnseen, "loads code from a library", arg.span, &[&library.text]);
            }
        }
    }
    Flow::none()
}

fn attack(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    walk.emit_names(Kind::ReadCredential, "runs a tool made to attack", call.span, &[call.name]);
    Flow::none()
}
