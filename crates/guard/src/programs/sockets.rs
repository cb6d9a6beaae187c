//! Connections, mail, names that are looked up, and servers of files.

use super::Handler;
use super::network::from_network;
use super::opts::{Spec, parse};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional" => netcat,
        "socat" => socat,
        "telnet" => telnet,
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" => mail,
        "dig" | "nslookup" | "host" | "ping" => lookup,
        "ftp" | "tftp" | "lftp" => ftp,
        "serve" | "http-server" | "live-server" | "httpd" | "darkhttpd" | "webfsd" | "miniserve" | "dufs"
        | "updog" | "twistd" | "simple-http-server" | "static-web-server" | "thttpd" | "mini_httpd" => served,
        _ => return None,
    })
}

fn netcat(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "eciopqsTwxXIOGgm", long: &["exec", "sh-exec", "lua-exec", "ssl-cert"], stops: false },
    );
    let program = parsed.values("e", "exec").chain(parsed.values("c", "sh-exec")).next();
    if let Some((program, span)) = program {
        walk.emit_names(Kind::ReverseShell, "connects a program to the network", span, &[program]);
        return Flow::none();
    }
    if parsed.has("z", "") && !call.stdin.present() {
        return Flow::none();
    }
    let here = parsed.rest().any(|arg| matches!(&*arg.text, "localhost" | "127.0.0.1" | "::1"));
    if call.stdin.present() {
        let said = call.stdin.seen().to_ascii_lowercase();
        if ["flush_all", "flushall", "flushdb", "shutdown", "delete /"].iter().any(|verb| said.contains(verb))
        {
            walk.emit(Kind::Database, "tells a server to empty itself", call.span);
        }
        if call.stdin.origin.credential || call.stdin.origin.secret {
            walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
        } else if call.stdin.origin.local && !here {
            walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
        }
    }
    from_network()
}

fn socat(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let mut remote = false;
    for arg in call.args {
        let upper = arg.text.to_ascii_uppercase();
        remote |= ["TCP", "UDP", "OPENSSL", "SSL", "SCTP"].iter().any(|kind| upper.starts_with(kind));
    }
    for arg in call.args {
        let upper = arg.text.to_ascii_uppercase();
        if upper.starts_with("EXEC:") || upper.starts_with("SYSTEM:") {
            let command = arg
                .text
                .split_once(':')
                .map_or("", |(_, command)| command.split(',').next().unwrap_or(command))
                .trim_matches(['\'', '"']);
            if remote {
                walk.emit_names(
                    Kind::ReverseShell,
                    "connects a program to the network",
                    arg.span,
                    &[command],
                );
            }
            walk.run_text(command, &Flow::none(), arg.span);
        } else if let Some((_, file)) = arg.text.split_once(':').filter(|(kind, _)| {
            ["FILE", "OPEN", "GOPEN", "RDONLY"].iter().any(|known| kind.eq_ignore_ascii_case(known))
        }) {
            let flow = walk.read_file(file, arg.span);
            if remote && (flow.origin.credential || flow.origin.local) {
                walk.emit(Kind::SendOut, "sends a local file to another machine", call.span);
            }
        }
    }
    if call.stdin.present() && call.stdin.origin.local && remote {
        walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
    }
    from_network()
}

fn telnet(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if call.stdin.origin.local {
        walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
    }
    from_network()
}

fn mail(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "sacbrSA", long: &["attach", "subject"], stops: false });
    let mut leaks = call.stdin.origin.credential || call.stdin.origin.local;
    for (file, span) in parsed.values("a", "attach").chain(parsed.values("A", "")) {
        leaks |= walk.read_file(file, span).origin.local;
    }
    if leaks {
        walk.emit(Kind::SendOut, "mails local data", call.span);
    }
    Flow::none()
}

/// A server of files: what it lays open matters.
pub(super) fn served(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let open = call.args.iter().find(|arg| {
        let path = arg.text.split_once('=').map_or(&*arg.text, |(_, value)| value);
        path.starts_with(['/', '~', '.'])
            && matches!(
                walk.target(path).place,
                Place::HomeTop | Place::Root | Place::SystemTop | Place::SystemConfig
            )
    });
    if let Some(folder) = open {
        walk.emit_names(Kind::SendOut, "lets others read a whole folder", folder.span, &[&folder.text]);
    }
    Flow::unknown(Origin::default())
}

/// Data hidden in a name that is looked up.
fn lookup(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let leaks = call.args.iter().any(|arg| arg.text.contains(HOLE) && arg.text.contains('.'));
    if leaks && (walk.last_unknown.credential || walk.last_unknown.local || walk.last_unknown.secret) {
        walk.emit(Kind::SendOut, "sends local data in a name that is looked up", call.span);
    }
    from_network()
}

fn ftp(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "ceuTp", long: &[], stops: false });
    if call.name == "tftp"
        && let Some(at) = call.args.iter().position(|arg| &*arg.text == "put")
        && let Some(file) = call.args.get(at + 1)
    {
        walk.read_file(&file.text, call.span);
        walk.emit(Kind::SendOut, "sends a local file to another machine", call.span);
    }
    let script: Vec<&str> = parsed
        .values("e", "")
        .map(|(text, _)| text)
        .chain(parsed.values("c", "").map(|(text, _)| text))
        .chain([call.stdin.seen()])
        .collect();
    for line in script.iter().flat_map(|text| text.split([';', '\n'])) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["put" | "mput" | "send", file, ..] => {
                walk.read_file(file, call.span);
                walk.emit(Kind::SendOut, "sends a local file to another machine", call.span);
            }
            ["rm" | "mrm" | "rmdir" | "delete" | "mdelete", _, ..] => {
                walk.emit(Kind::Cloud, "deletes files on another machine", call.span);
            }
            ["mirror", flag, ..] if flag.contains('R') => {
                walk.emit(Kind::SendOut, "sends a folder to another machine", call.span);
            }
            [first, ..] if first.starts_with('!') => {
                walk.run_text(line.trim().trim_start_matches('!'), &Flow::none(), call.span);
            }
            _ => {}
        }
    }
    from_network()
}
