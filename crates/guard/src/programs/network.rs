//! Downloads and uploads by request.

use super::Handler;
use super::opts::{Parsed, Spec, parse};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, HOLE, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "curl" => curl,
        "wget" | "wget2" | "aria2c" | "axel" => wget,
        "http" | "https" | "xh" | "httpie" | "lynx" | "w3m" | "links" | "GET" | "fetch" => page,
        _ => return None,
    })
}

const CURL: Spec = Spec {
    short: "AbcCdDeEFhHKmoPQrTtuUwxXyYz",
    long: &[
        "output",
        "data",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "form",
        "header",
        "request",
        "upload-file",
        "user",
        "user-agent",
        "config",
        "proxy",
        "cookie",
        "cookie-jar",
        "max-time",
        "connect-timeout",
        "retry",
        "retry-delay",
        "referer",
        "range",
        "cert",
        "key",
        "cacert",
        "write-out",
        "url",
        "json",
        "resolve",
        "limit-rate",
        "interface",
        "unix-socket",
        "output-dir",
    ],
    stops: false,
};

/// Text from another machine.
pub(super) fn from_network() -> Flow {
    Flow::unknown(Origin { network: true, ..Origin::default() })
}

/// Whether an address is this machine.
fn is_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or(url);
    let host = host.split(['/', '?']).next().unwrap_or(host);
    let host = host.rsplit('@').next().unwrap_or(host);
    host.starts_with("localhost")
        || host.starts_with("127.")
        || host.starts_with("[::1]")
        || host.starts_with("0.0.0.0")
}

/// Whether an address has the port of a database that is spoken to by requests.
fn is_database(url: &str) -> bool {
    [":9200", ":5984", ":8086", ":6333", ":8500", ":2379", ":7700", ":8108", ":8983", ":8529", ":7474"]
        .iter()
        .any(|port| url.contains(port))
}

/// Whether an address is one where anybody can leave files for anybody.
fn is_drop(url: &str) -> bool {
    const DROPS: [&str; 27] = [
        "discord.com/api/webhooks",
        "hooks.slack.com",
        "api.telegram.org",
        "transfer.sh",
        "file.io",
        "0x0.st",
        "pastebin.com",
        "paste.rs",
        "termbin.com",
        "ix.io",
        "sprunge.us",
        "bashupload.com",
        "webhook.site",
        "requestbin",
        "pipedream.net",
        "hookbin.com",
        "temp.sh",
        "catbox.moe",
        "gofile.io",
        "anonfiles.com",
        "oshi.at",
        "dpaste.",
        "hastebin.com",
        "ngrok",
        "interact.sh",
        "oast.",
        "burpcollaborator",
    ];
    DROPS.iter().any(|host| url.contains(host))
}

fn curl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, CURL);
    let urls: Vec<&str> =
        parsed.rest().map(|arg| &*arg.text).chain(parsed.values("", "url").map(|(url, _)| url)).collect();
    let local = !urls.is_empty() && urls.iter().all(|url| is_local(url));
    sent(
        walk,
        &parsed,
        call,
        if local {
            To::Here
        } else if urls.iter().any(|url| is_drop(url)) {
            To::Anybody
        } else {
            To::There
        },
    );
    let deletes = parsed
        .value("X", "request")
        .is_some_and(|method| ["DELETE", "PURGE"].iter().any(|known| method.eq_ignore_ascii_case(known)));
    let changes = parsed.value("X", "request").is_some_and(|method| {
        ["POST", "PUT", "PATCH"].iter().any(|known| method.eq_ignore_ascii_case(known))
    });
    let told = changes
        && !local
        && urls.iter().any(|url| {
            let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
            let last = path.rsplit('/').next().unwrap_or_default();
            last.ends_with("Delete")
                || last.starts_with("delete")
                || matches!(
                    last,
                    "leave"
                        | "shutdown"
                        | "delete"
                        | "destroy"
                        | "purge"
                        | "wipe"
                        | "flush"
                        | "poweroff"
                        | "reboot"
                )
        });
    // What is asked of a cluster through a proxy on this machine is asked of the cluster.
    let cluster =
        deletes && urls.iter().any(|url| url.contains("/api/v1/namespaces") || url.contains("/apis/"));
    if deletes && !local || told || cluster {
        walk.emit_names(Kind::Cloud, "asks a server to delete something", call.span, &urls);
    }
    if (deletes || changes)
        && parsed.value("", "unix-socket").is_some_and(|socket| {
            ["docker.sock", "podman.sock", "containerd.sock"].iter().any(|end| socket.ends_with(end))
        })
        && !urls
            .iter()
            .any(|url| url.ends_with("/start") || url.contains("/create") || url.contains("/build"))
    {
        walk.emit_names(
            Kind::Container,
            "tells the container engine to stop or delete something",
            call.span,
            &urls,
        );
    }
    if changes
        && urls.iter().any(|url| url.contains("/git/refs/"))
        && call.args.iter().any(|arg| arg.text.contains("force"))
    {
        walk.emit_names(Kind::Git, "overwrites history on the remote by request", call.span, &urls);
    }
    let settings =
        changes && urls.iter().any(|url| url.contains("/_cluster/settings") || url.ends_with("/_close"));
    if settings
        || urls.iter().any(|url| url.contains("_delete_by_query") || url.contains("/_cluster/reroute"))
    {
        walk.emit_names(Kind::Database, "deletes entries of an index", call.span, &urls);
    }
    if deletes && local && urls.iter().any(|url| is_database(url)) {
        walk.emit_names(Kind::Database, "deletes an index", call.span, &urls);
    }
    for url in &urls {
        if let Some(path) = url.strip_prefix("file://") {
            let flow = walk.read_file(path, call.span);
            if parsed.value("o", "output").is_none() {
                return flow;
            }
        }
        metadata(walk, url, call);
    }
    saved(walk, &parsed, &urls, call, parsed.has("O", "remote-name"));
    if let Some(file) = parsed.value("K", "config")
        && matches!(walk.target(file).place, Place::Temp | Place::Elsewhere)
    {
        walk.emit_names(Kind::RunUnseen, "takes options from a file nobody has seen", call.span, &[file]);
    }
    if parsed.has("K", "config") || parsed.value("o", "output").is_some_and(|file| file != "-") {
        return Flow::known(String::new());
    }
    from_network()
}

/// Credentials of the machine itself, at the address clouds give them out.
fn metadata(walk: &mut Walk<'_>, url: &str, call: Call<'_>) {
    if ["169.254.169.254", "metadata.google.internal", "100.100.100.200", "fd00:ec2::254"]
        .iter()
        .any(|host| url.contains(host))
    {
        walk.emit_names(
            Kind::ReadCredential,
            "asks the cloud for this machine's credentials",
            call.span,
            &[url],
        );
    }
}

/// What a download is saved as.
fn saved(walk: &mut Walk<'_>, parsed: &Parsed<'_>, urls: &[&str], call: Call<'_>, by_name: bool) {
    let folder =
        parsed.value("", "output-dir").or_else(|| parsed.value("P", "directory-prefix")).unwrap_or(".");
    let mut files: Vec<String> = if call.name == "curl" {
        parsed.values("o", "output").map(|(file, _)| file.to_owned()).collect()
    } else {
        Vec::new()
    };
    if by_name && files.is_empty() {
        for url in urls {
            let name = url.split(['?', '#']).next().unwrap_or(url).rsplit('/').next().unwrap_or_default();
            if !name.is_empty() {
                files.push(format!("{folder}/{name}"));
            }
        }
    }
    for file in files.iter().filter(|file| *file != "-") {
        walk.write_file(file, from_network(), false, "saves a download", call.span);
        walk.made(file);
    }
}

/// Where a request goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// This machine.
    Here,
    /// A place where anybody can fetch it.
    Anybody,
    /// Another machine.
    There,
}

/// Whether a file is a copy of data, an archive or a key rather than the body of a request.
fn is_bulk(file: &str) -> bool {
    [".sql", ".dump", ".bak", ".tar", ".gz", ".tgz", ".zip", ".7z", ".xz", ".pem", ".key", ".kdbx"]
        .iter()
        .any(|end| file.ends_with(end))
        || crate::places::keeps_data(file)
}

/// Local data that leaves in a request.
fn sent(walk: &mut Walk<'_>, parsed: &Parsed<'_>, call: Call<'_>, to: To) {
    let local = to == To::Here;
    let unknown = walk.last_unknown;
    let mut credential = unknown.credential;
    let mut bulk = false;
    for flag in &parsed.flags {
        let Some(value) = flag.value else { continue };
        let carries = flag.is("d", "data")
            || flag.name.starts_with("data") && flag.long
            || flag.is("F", "form")
            || flag.is("", "json");
        let upload = flag.is("T", "upload-file");
        let file = if upload {
            Some(value)
        } else if carries {
            value
                .rsplit_once('@')
                .filter(|(before, _)| {
                    before.is_empty() || before.ends_with('=') || flag.name == "data-urlencode"
                })
                .map(|(_, file)| file.split(';').next().unwrap_or(file))
        } else {
            None
        };
        let Some(file) = file else { continue };
        if file == "-" || file == "." {
            credential |= call.stdin.origin.credential;
            bulk |= call.stdin.origin.local && !call.stdin.origin.network;
            continue;
        }
        let written = walk.scope.files.contains_key(&walk.path(file));
        let flow = walk.read_file(file, flag.span);
        credential |= flow.origin.credential;
        bulk |= !local && (flow.origin.whole || written && flow.origin.local && !flow.origin.file);
        let outside = matches!(
            walk.target(file).place,
            Place::SystemConfig
                | Place::System
                | Place::Home
                | Place::Startup
                | Place::AgentConfig
                | Place::ProjectEnv
        );
        bulk |= (upload || outside || to == To::Anybody || is_bulk(file)) && !local;
    }
    if local {
        return;
    }
    if credential {
        walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
    } else if bulk
        || unknown.local
            && parsed.flags.iter().any(|flag| {
                flag.value.is_some_and(|value| value.contains(HOLE))
                    && (flag.is("d", "data") || flag.name.starts_with("data"))
            })
    {
        walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
    } else if unknown.credential
        || (unknown.local
            && (unknown.file || unknown.whole)
            && !call.args.iter().any(|arg| arg.text.starts_with(HOLE))
            && parsed.rest().any(|arg| arg.text.contains(HOLE)))
    {
        walk.emit(Kind::SendOut, "sends local data in an address", call.span);
    }
}

fn wget(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "OoPaetTwQUDIRAXBild",
        long: &[
            "output-document",
            "output-file",
            "directory-prefix",
            "post-file",
            "post-data",
            "body-file",
            "header",
            "user-agent",
            "tries",
            "timeout",
            "input-file",
            "execute",
            "use-askpass",
            "method",
            "out",
            "dir",
        ],
        stops: false,
    };
    let parsed = parse(call.args, spec);
    let urls: Vec<&str> = parsed.rest().map(|arg| &*arg.text).collect();
    for option in ["post-file", "body-file"] {
        for (file, span) in parsed.values("", option) {
            let flow = walk.read_file(file, span);
            if !urls.iter().all(|url| is_local(url)) {
                let what = if flow.origin.credential {
                    "sends credentials to another machine"
                } else {
                    "sends a local file to another machine"
                };
                walk.emit(Kind::SendOut, what, call.span);
            }
        }
    }
    if parsed.value("", "post-data").is_some_and(|data| data.contains(HOLE))
        && (walk.last_unknown.local || walk.last_unknown.credential)
    {
        walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
    }
    let unknown = walk.last_unknown;
    if (unknown.credential || unknown.local && unknown.file)
        && urls.iter().any(|url| url.contains(HOLE) && !url.starts_with(HOLE) && !is_local(url))
    {
        walk.emit(Kind::SendOut, "sends local data in an address", call.span);
    }
    for (program, span) in parsed.values("", "use-askpass") {
        walk.emit_names(Kind::ToolProgram, "makes wget run a program", span, &[program]);
        walk.run_text(program, &Flow::none(), span);
    }
    for url in &urls {
        metadata(walk, url, call);
    }
    if parsed.value("", "method").is_some_and(|method| method.eq_ignore_ascii_case("DELETE"))
        && !urls.iter().all(|url| is_local(url))
    {
        walk.emit_names(Kind::Cloud, "asks a server to delete something", call.span, &urls);
    }
    let to = parsed
        .value("O", "output-document")
        .or_else(|| parsed.value("o", "out").filter(|_| call.name == "aria2c"));
    match to {
        Some("-" | "/dev/stdout") => return from_network(),
        Some(file) => {
            walk.write_file(file, from_network(), false, "saves a download", call.span);
            walk.made(file);
        }
        None if parsed.flags.iter().any(|flag| !flag.long && flag.name == "O" && flag.value == Some("-")) => {
            return from_network();
        }
        None => saved(walk, &parsed, &urls, call, true),
    }
    Flow::known(String::new())
}

fn page(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let urls: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    if let [method, rest @ ..] = urls.as_slice()
        && method.eq_ignore_ascii_case("DELETE")
        && !rest.first().is_some_and(|url| {
            (is_local(url) || url.starts_with(':')) && !url.ends_with("/_all") && !url.ends_with("/*")
        })
    {
        walk.emit_names(Kind::Cloud, "asks a server to delete something", call.span, &urls);
    }
    for arg in call.args {
        if let Some((name, file)) = arg.text.split_once('@')
            && (name.is_empty() || name.ends_with('=') || file.starts_with(['~', '/', '.']))
            && walk.read_file(file, arg.span).origin.credential
        {
            walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
        }
    }
    if call.stdin.origin.credential {
        walk.emit(Kind::SendOut, "sends credentials to another machine", call.span);
    }
    from_network()
}
