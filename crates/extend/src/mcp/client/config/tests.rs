use serde_json::json;

use super::*;

fn read(value: &Value) -> Read {
    let variable = |name: &str| (name == "KEY").then(|| "k1".to_owned());
    read_servers(Some(value), &variable)
}

#[test]
fn a_command_with_its_variables_is_read_and_they_are_filled_in() {
    let read = read(&json!({ "fs": {
        "command": "npx", "args": ["-y", "server", 1], "env": { "A": "${KEY}", "B": "${env:KEY}x", "C": "${NO}" },
    } }));

    let env = [("A", "k1"), ("B", "k1x"), ("C", "${NO}")];
    let env = env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let args = ["-y", "server", "1"].map(str::to_owned).to_vec();
    assert_eq!(
        read.servers[0].transport,
        Transport::Stdio(Stdio { command: "npx".to_owned(), args, env, cwd: None })
    );
    assert_eq!(read.servers[0].timeout, Duration::from_mins(5));
    assert!(!read.servers[0].sampling.enabled && read.servers[0].elicitation.is_none());
}

#[test]
fn an_address_wins_over_a_command_and_the_transport_may_be_the_old_one() {
    let read = read(&json!({
        "a": { "url": "https://a.example/mcp", "command": "x" },
        "b": { "url": "http://localhost:1/sse", "transport": "sse", "enabled": "off", "timeout": "2.5" },
    }));

    assert_eq!(read.servers.iter().map(ServerConfig::kind).collect::<Vec<_>>(), ["http", "sse"]);
    assert!(!read.servers[1].enabled);
    assert_eq!(read.servers[1].timeout, Duration::from_millis(2500));
}

#[test]
fn encryption_is_as_usual_unless_something_else_is_said() {
    let one = |more: Value| {
        let mut server = json!({ "url": "https://a.example/mcp" });
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read = read(&json!({ "a": server }));
        match read.servers.into_iter().next().map(|server| server.transport) {
            Some(Transport::Http(remote)) => Ok(remote.tls),
            _ => Err(read.misread.into_iter().map(|wrong| wrong.why).collect::<String>()),
        }
    };
    let pair = |certificate: &str, key: &str| RemoteTls {
        identity: Some((certificate.to_owned(), key.to_owned())),
        ..RemoteTls::default()
    };

    assert_eq!(one(json!({})), Ok(RemoteTls::default()));
    assert_eq!(one(json!({ "ssl_verify": "yes" })), Ok(RemoteTls::default()));
    assert_eq!(
        one(json!({ "ssl_verify": false })),
        Ok(RemoteTls { unverified: true, ..RemoteTls::default() })
    );
    let ca_file = Some("/etc/ca.pem".to_owned());
    assert_eq!(
        one(json!({ "ssl_verify": "/etc/ca.pem" })),
        Ok(RemoteTls { ca_file, ..RemoteTls::default() })
    );
    assert_eq!(one(json!({ "client_cert": "a.pem" })), Ok(pair("a.pem", "a.pem")));
    assert_eq!(one(json!({ "client_cert": "a.pem", "client_key": "b.pem" })), Ok(pair("a.pem", "b.pem")));
    assert_eq!(one(json!({ "client_cert": ["a.pem", "b.pem"] })), Ok(pair("a.pem", "b.pem")));
    assert!(one(json!({ "client_cert": ["a", "b", "c"] })).unwrap_err().contains("without one"));
    assert!(one(json!({ "client_key": "b" })).unwrap_err().contains("client_cert"));
}

#[test]
fn one_broken_server_is_told_and_the_others_stay() {
    let read = read(&json!({ "a": {}, "b": { "command": "x" }, "c": 3, "d": { "url": "ftp://x" } }));

    assert_eq!(read.servers.len(), 1);
    assert_eq!(
        read.complaints(),
        [
            "MCP server `a`: it has neither `command` nor `url`",
            "MCP server `c`: it is not a map",
            "MCP server `d`: `url` is no http address"
        ]
    );
}

#[test]
fn variables_that_are_not_set_are_told_unless_a_shell_reads_them() {
    let read = read(&json!({
        "a": { "command": "x", "args": ["${NO}", "${KEY}"], "env": { "B": "${env:NEITHER}", "C": "${NO}" } },
        "b": { "url": "http://h/", "headers": { "Authorization": "Bearer ${GONE}" } },
        "c": { "command": "sh", "args": ["-c", "echo ${i}"] },
        "d": { "command": "x", "args": ["${NO}"], "enabled": false },
    }));

    assert_eq!(
        read.complaints(),
        [
            "MCP server `a` is given `${NEITHER}`, `${NO}` as it is written: no such variable is set",
            "MCP server `b` is given `${GONE}` as it is written: no such variable is set",
        ]
    );
    assert_eq!(read.servers[0].place, "x ${NO} ${KEY}");
}

#[test]
fn include_wins_over_exclude() {
    let filter = |include: &[&str], exclude: &[&str]| Filter {
        include: include.iter().map(|&name| name.to_owned()).collect(),
        exclude: exclude.iter().map(|&name| name.to_owned()).collect(),
        resources: true,
        prompts: true,
    };

    assert!(filter(&["a"], &["a"]).takes("a"));
    assert!(!filter(&["a"], &[]).takes("b"));
    assert!(!filter(&[], &["b"]).takes("b"));
    assert!(filter(&[], &["b"]).takes("a"));
}
