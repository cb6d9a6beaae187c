use serde_json::json;

use super::*;
use crate::mcp::client::expanded;

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
    let takes = |tools: Value, tool: &str| {
        server("s", &json!({ "command": "x", "tools": tools })).unwrap().filter.takes(tool)
    };

    assert!(takes(json!({ "include": ["a"], "exclude": ["a"] }), "a"));
    assert!(!takes(json!({ "include": "a" }), "b"));
    assert!(!takes(json!({ "exclude": ["b"] }), "b"));
    assert!(takes(json!({ "exclude": null }), "a"));
    assert!(!takes(json!({ "include": [] }), "a"));
}

#[test]
fn a_filter_that_cannot_be_read_lets_nothing_through() {
    for (tools, why) in [
        (
            json!(["a"]),
            "`tools` is not a map: names of tools go below it, into a list `include` or `exclude`",
        ),
        (json!({ "include": { "a": true } }), "`tools.include` is not a list of names"),
        (json!({ "exclude": [["a"]] }), "`tools.exclude` is not a list of names"),
    ] {
        assert_eq!(server("s", &json!({ "command": "x", "tools": tools })).unwrap_err(), why);
    }
}

#[test]
fn a_place_that_is_no_text_is_told_as_it_is_written() {
    for (written, why) in [
        (json!({}), "it has neither `command` nor `url`"),
        (
            json!({ "command": ["npx", "x"] }),
            "`command` is no text: [\"npx\",\"x\"]; all but the program goes into `args`",
        ),
        (json!({ "command": true }), "`command` is no text: true; in quotes it is one"),
        (json!({ "url": ["https://x"] }), "`url` is no text: [\"https://x\"]"),
    ] {
        assert_eq!(server("s", &written).unwrap_err(), why);
    }
}

#[test]
fn a_limit_of_nothing_is_none() {
    let none = json!({ "enabled": true, "timeout": 0 });
    let unlimited = json!({ "command": "x", "timeout": 0, "sampling": none, "elicitation": none });

    let config = server("s", &unlimited).unwrap();

    assert_eq!((config.timeout, config.sampling.timeout), (Duration::MAX, Duration::MAX));
    assert_eq!(config.elicitation, Some(Duration::MAX));
}

#[test]
fn a_list_of_what_is_taken_with_nothing_behind_it_takes_nothing_and_is_told() {
    let one = |tools: Value| server("s", &json!({ "command": "x", "tools": tools })).unwrap();

    let (include, exclude) = (one(json!({ "include": null })), one(json!({ "exclude": null })));

    assert_eq!((include.filter.takes("a"), exclude.filter.takes("a")), (false, true));
    assert_eq!(
        include.notes,
        ["`tools.include` has nothing behind it, so no tool is taken; without it all are"]
    );
    assert_eq!(exclude.notes, ["`tools.exclude` has nothing behind it, so no tool is left out"]);
}

#[test]
fn a_filter_with_nothing_behind_it_takes_nothing_and_is_told() {
    let one = |server: Value| super::server("s", &server).unwrap();

    let nothing = one(json!({ "command": "x", "tools": null }));
    let (empty, absent) = (one(json!({ "command": "x", "tools": {} })), one(json!({ "command": "x" })));

    assert!(!nothing.filter.takes("a"));
    assert_eq!(nothing.notes, ["`tools` has nothing behind it, so no tool is taken; without it all are"]);
    for all in [empty, absent] {
        assert_eq!((all.filter.takes("a"), all.notes), (true, Vec::new()));
    }
}

#[test]
fn a_variable_that_is_not_set_or_empty_has_the_default_that_is_written_with_it() {
    let variable = |name: &str| match name {
        "KEY" => Some("k1".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let text = |text: &str| expanded(&json!(text), &variable);

    assert_eq!(text("a${NO:-b}c"), "abc");
    assert_eq!(text("${KEY:-b}"), "k1");
    assert_eq!(text("${EMPTY:-b}${EMPTY}"), "b");
    assert_eq!(text("${env:NO:-https://h:1/}"), "https://h:1/");
    assert_eq!(text("${NO:-}"), "");
    assert_eq!(text("${NO:-${KEY}}${NO:-${NEITHER:-x}}"), "k1x");
    assert_eq!(text("${NO:-${NEITHER}} ${input:x:-y} ${NO"), "${NEITHER} ${input:x:-y} ${NO");
}

#[test]
fn whatever_is_not_filled_in_is_told_wherever_a_server_is_given_it() {
    let read = read(&json!({
        "a": {
            "command": "x", "args": ["${input:x}", "${NO:-fine}", "${KEY-odd}"], "cwd": "${FOLDER}",
            "env": { "A": "${KEY:-fine}", "B": "${NO:-${NEITHER}}" },
        },
        "b": {
            "url": "http://h/", "ssl_verify": "${CA}", "client_cert": ["${CERT}", "x"], "client_key": "${PRIVATE}",
        },
        "c": { "command": "bash", "args": ["-c", "for i in 1 2; do echo ${i:-0} ${i%x} ${KEY}; done"] },
    }));

    assert_eq!(
        read.complaints(),
        [
            "MCP server `a` is given `${FOLDER}`, `${KEY-odd}`, `${NEITHER}`, `${input:x}` as it is written: no such variable is set",
            "MCP server `b` is given `${CA}`, `${CERT}`, `${PRIVATE}` as it is written: no such variable is set",
        ]
    );
    let Transport::Stdio(shell) = &read.servers[2].transport else { panic!("it is a program") };
    assert_eq!(shell.args[1], "for i in 1 2; do echo ${i:-0} ${i%x} k1; done");
}

#[test]
fn a_variable_that_cannot_be_handed_on_is_passed_over() {
    let written = json!({ "command": "x", "env": { "": "a", "A=B": "b", "C\0": "c", "D": "d\0", "E": "e" } });

    let Transport::Stdio(program) = server("s", &written).unwrap().transport else {
        panic!("it is a program")
    };

    assert_eq!(program.env.keys().collect::<Vec<_>>(), ["E"]);
}

#[test]
fn a_server_is_used_unless_either_word_for_it_says_no() {
    let enabled = |more: Value| {
        let mut server = json!({ "command": "x" });
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        super::server("s", &server).unwrap().enabled
    };

    assert!(enabled(json!({})));
    assert!(enabled(json!({ "disabled": false, "enabled": null })));
    assert!(!enabled(json!({ "disabled": true })));
    assert!(!enabled(json!({ "disabled": "yes" })));
    assert!(!enabled(json!({ "disabled": true, "enabled": true })));
    assert!(!enabled(json!({ "disabled": false, "enabled": "off" })));
}

#[test]
fn a_server_of_which_nobody_knows_whether_it_is_wanted_is_not_used() {
    for (written, why) in [
        (json!({ "command": "x", "enabled": "maybe" }), "`enabled` is neither yes nor no: \"maybe\""),
        (json!({ "command": "x", "enabled": "${NO}" }), "`enabled` is neither yes nor no: \"${NO}\""),
        (json!({ "command": "x", "disabled": [true] }), "`disabled` is neither yes nor no: [true]"),
    ] {
        assert_eq!(server("s", &written).unwrap_err(), why);
    }
}
