//! What an MCP server asks while `hermes tools call` calls it: the person at the terminal is asked, and where there
//! is none they are told what was declined.

use std::fmt::Write as _;

use hermes_testkit::Answer;

use crate::home::HERMES;
use crate::screen::Terminal;
use crate::stage::Stage;

/// A server whose tools ask before they answer: `who` the person, `think` the model.
const SERVER: &str = r#"
import json, sys

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def ask(method, params):
    send({"id": "q", "method": method, "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == "q":
            return message.get("result") or message["error"]

tools = [{"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}} for name in ("who", "think")]
form = {"message": "Who are you?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
thought = {"messages": [{"role": "user", "content": {"type": "text", "text": "2 + 2?"}}], "maxTokens": 9}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if message.get("id") is None:
        continue
    result = {"error": {"code": -32601, "message": "no such method"}}
    if method == "initialize":
        info = {"name": "asking", "version": "1"}
        result = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    elif method == "tools/list":
        result = {"result": {"tools": tools}}
    elif method == "tools/call":
        who = message["params"]["name"] == "who"
        answer = ask("elicitation/create", form) if who else ask("sampling/createMessage", thought)
        result = {"result": {"content": [{"type": "text", "text": json.dumps(answer)}]}}
    send({"id": message["id"], **result})
"#;

/// A user with that server, which may ask what is `allowed`.
fn stage(answers: Vec<Answer>, allowed: &[&str]) -> Stage {
    let stage = Stage::saying(answers);
    std::fs::write(stage.project().join("asking.py"), SERVER).unwrap();
    let mut config = stage.config_text();
    config.push_str("mcp_servers:\n  s:\n    command: python3\n    args: [asking.py]\n");
    for what in allowed {
        writeln!(config, "    {what}:\n      enabled: true").unwrap();
    }
    std::fs::write(stage.config(), config).unwrap();
    stage
}

#[test]
fn what_a_server_asks_is_asked_at_the_terminal_of_the_call() {
    let stage = stage(vec![Answer::text("It is four.")], &["elicitation", "sampling"]);
    let Some(terminal) = Terminal::open(&stage) else { return };

    terminal.type_line(&format!("{HERMES} tools call mcp__s__who"));
    terminal.until_shown("answer (Ctrl-D declines) >");
    terminal.type_line("Ann");
    let filled = terminal.until_shown("accept");
    terminal.type_line(&format!("clear; {HERMES} tools call mcp__s__think"));
    // The question before it is gone from the screen by then.
    terminal.until_shown("2 + 2?");
    let asked = terminal.until_shown("answer (Ctrl-D declines) >");
    terminal.type_line("1");
    let thought = terminal.until_shown("It is four.");
    terminal.type_line(&format!("clear; {HERMES} tools call mcp__s__who; echo code=$?"));
    terminal.until_shown("Who are you?");
    terminal.until_shown("answer (Ctrl-D declines) >");
    terminal.press("C-d");
    let declined = terminal.until_shown("code=0");

    assert!(filled.contains("MCP server `s` asks: Who are you?") && filled.contains("Ann"), "{filled}");
    assert!(asked.contains("[user] 2 + 2?") && asked.contains("1  Yes, this once"), "{asked}");
    assert!(!thought.contains("warning"), "{thought}");
    assert!(declined.contains("decline") && !declined.contains("warning"), "{declined}");
}

#[test]
fn where_nobody_can_be_asked_the_caller_is_told_what_was_declined_and_what_helps() {
    let open = stage(vec![], &["elicitation", "sampling"]);
    let closed = stage(vec![], &[]);
    let told = |stage: &Stage, tool: &str| {
        let said = stage.run(&["tools", "call", tool]);
        assert_eq!(said.code, Some(0), "{said:?}");
        said.err
    };
    let nobody = "nobody can be asked here; `hermes tools call` and `hermes chat` ask at a terminal";
    let who = "warning: MCP server `s` asked you something (\"Who are you?\") and was declined";
    let think = "warning: MCP server `s` asked your model something and was declined";

    assert_eq!(told(&open, "mcp__s__who"), format!("{who}: {nobody}\n"));
    assert_eq!(told(&open, "mcp__s__think"), format!("{think}: {nobody}\n"));
    assert_eq!(
        told(&closed, "mcp__s__who"),
        format!("{who}: `mcp_servers.s.elicitation.enabled` allows it\n")
    );
    assert_eq!(
        told(&closed, "mcp__s__think"),
        format!("{think}: `mcp_servers.s.sampling.enabled` allows it\n")
    );
}
