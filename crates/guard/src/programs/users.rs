//! Accounts, passwords, groups, and who may become root.

use super::Handler;
use crate::effect::Kind;
use crate::walk::{Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "userdel" | "deluser" | "groupdel" | "delgroup" | "useradd" | "adduser" | "usermod" | "groupadd"
        | "addgroup" | "groupmod" | "gpasswd" | "chpasswd" | "newusers" | "vipw" | "vigr" | "visudo"
        | "chsh" | "chage" | "dscl" | "sysadminctl" | "dseditgroup" | "htpasswd" | "kadmin" | "smbpasswd"
        | "pwconv" | "usermgr" | "pw" => account,
        "passwd" => passwd,
        "faillock" | "pam-auth-update" | "authconfig" => account,
        "ssh-copy-id" => key,
        _ => return None,
    })
}

fn account(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if super::verbs::only_shows(call.args) {
        return Flow::none();
    }
    if words.iter().any(|word| matches!(*word, "--help" | "--version" | "-l" | "--list" | "-c"))
        && matches!(call.name, "chage" | "visudo" | "chsh")
        && !words.contains(&"-M")
    {
        return Flow::none();
    }
    if call.name == "dscl"
        && !words.iter().any(|word| {
            word.contains("delete")
                || word.contains("create")
                || word.contains("passwd")
                || word.contains("append")
                || word.contains("change")
        })
    {
        return Flow::none();
    }
    if call.name == "htpasswd" && !call.args.iter().any(|arg| arg.text.starts_with("/etc")) {
        return Flow::none();
    }
    if call.name == "pw" && !words.first().is_some_and(|word| word.contains("user") || word.contains("group"))
    {
        return Flow::none();
    }
    let what = match call.name {
        "userdel" | "deluser" | "groupdel" | "delgroup" => "removes an account or group",
        "visudo" => "changes who may become root",
        "chpasswd" => "changes passwords",
        _ => "changes accounts or groups",
    };
    walk.emit_names(Kind::Users, what, call.span, &words);
    Flow::none()
}

fn passwd(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if !call.args.iter().any(|arg| matches!(&*arg.text, "-S" | "--status" | "--help")) {
        walk.emit(Kind::Users, "changes a password", call.span);
    }
    Flow::none()
}

fn key(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    walk.emit(Kind::Users, "lets a key log in to another machine", call.span);
    Flow::none()
}

/// `whoami`, `id -un`: the name of the user; everything else about them is unknown.
pub(super) fn who(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.name == "id" && call.args.iter().any(|arg| matches!(&*arg.text, "0" | "root")) {
        let flag = |letter: char, long: &str| {
            call.args.iter().any(|arg| {
                &*arg.text == long
                    || arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains(letter)
            })
        };
        if flag('u', "--user") || flag('g', "--group") {
            return Flow::known(if flag('n', "--name") { "root\n" } else { "0\n" }.to_owned());
        }
    }
    let named = match call.args {
        [] => call.name != "id",
        [first] => &*first.text == "-un" || &*first.text == "-nu",
        [first, second] => {
            matches!(&*first.text, "-u" | "-n" | "--user" | "--name")
                && matches!(&*second.text, "-u" | "-n" | "--user" | "--name")
                && first.text != second.text
        }
        _ => false,
    };
    if named && !walk.elevated {
        return Flow::known(format!("{}\n", crate::walk::user(&walk.context.home)));
    }
    super::filters::listing(walk, call)
}
