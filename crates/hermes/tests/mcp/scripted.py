"""An MCP server that misbehaves when asked to. Needs nothing but Python.

    scripted.py NOTES [--delay SECONDS] [--ends slowly|never]

Every call that is really carried out leaves a line in the file NOTES, so that a test can tell
how often something ran.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

NOTES = sys.argv[1]
DELAY = float(sys.argv[sys.argv.index("--delay") + 1]) if "--delay" in sys.argv else 0.0
ENDS = sys.argv[sys.argv.index("--ends") + 1] if "--ends" in sys.argv else ""
OUT = threading.Lock()
WAITING = {}
READS = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}, "seconds": {"type": "number"}}}
FORECAST = {"type": "object", "properties": {"high": {"type": "number"}}, "required": ["high"]}
description = os.environ.get("SCRIPTED_DESCRIPTION", "Say something back.")


def note(word):
    with open(NOTES, "a") as notes:
        notes.write(word + "\n")


def send(message):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(method, params):
    """Asks the client and waits for its answer."""
    number = f"s{len(WAITING)}"
    done = threading.Event()
    WAITING[number] = [done, None]
    send({"id": number, "method": method, "params": params})
    done.wait(20)
    return WAITING[number][1]


def wait_for(file):
    while not os.path.exists(file):
        time.sleep(0.02)


def tools():
    def tool(name, words="", schema=TEXT, **hints):
        return {"name": name, "description": words, "inputSchema": schema, "annotations": hints}

    return [
        tool("echo", description, **READS),
        tool("act", "Do something once."),
        tool("die", "End without an answer."),
        tool("die_once", "End without an answer the first time.", idempotentHint=True),
        tool("hang", "Never answer."),
        tool("freeze", "Never answer anything again."),
        tool("slow", "Take a second.", **READS),
        tool("slow_act", "Take a second to do something."),
        tool("flood", "Answer with far too much.", **READS),
        tool("chatter", "Complain a lot.", **READS),
        tool("garbage", "Print things that are no messages.", **READS),
        tool("progress", "Tell how far it is.", **READS),
        tool("change", "Change what echo says about itself.", **READS),
        tool("grow", "Get one more tool.", **READS),
        tool("fail", "Answer with an error.", **READS),
        tool("refuse", "Answer with an error of the protocol.", **READS),
        tool("roots", "Ask what may be looked at.", **READS),
        tool("sample", "Ask the model.", **READS),
        tool("sample_tools", "Ask the model again and again, with a tool.", **READS),
        tool("elicit", "Ask the person.", **READS),
        tool("forget", "Ask the person, and take it back once the file is there.", **READS),
        tool("wait", "Answer once the file is there.", **READS),
        tool("visit", "Send the person to a page.", **READS),
        tool("gated", "Answer once somebody was at a page."),
        tool("leave", "Start something that hides.", **READS),
        tool("env", "Tell the names of all variables.", **READS),
        tool("foo-bar", "One of two.", **READS),
        tool("foo_bar", "The other.", **READS),
        {**tool("weather", "Answer with this structure.", **READS), "outputSchema": FORECAST},
        {**tool("vague", "It promises nonsense.", **READS), "outputSchema": {"required": ["a"], "enum": []}},
        tool("picture", "Hand over a picture, a sound and a file.", **READS),
        tool("crooked", "Its schema is wrong further down.", {"type": "object", "properties": {"a": {"type": "strang"}}}),
        tool("", "It has no name."),
        {"name": "broken", "description": "Its schema is none.", "inputSchema": {"type": "string"}},
    ] + ([tool("grown", "Was not there before.", **READS)] if grown else [])


grown = False
frozen = threading.Event()
asked_for = {}
answered_once = os.path.exists(NOTES) and "die_once" in open(NOTES).read()


def call(number, name, arguments, meta):
    global description, grown
    text = arguments.get("text", "")

    def answer(words, **more):
        send({"id": number, "result": {"content": [{"type": "text", "text": words}], **more}})

    note(f"{name} {text}".strip())
    if name == "die" or (name == "die_once" and not answered_once):
        os._exit(3)
    elif name == "freeze":
        return frozen.set()
    elif name == "hang":
        return
    elif name in ("slow", "slow_act"):
        time.sleep(arguments.get("seconds", 1))
    elif name == "flood":
        return answer("x" * (40 * 1024 * 1024))
    elif name == "chatter":
        for line in range(50_000):
            sys.stderr.write(f"complaint {line} {'y' * 200}\n")
        sys.stderr.flush()
    elif name == "garbage":
        with OUT:
            sys.stdout.write("Starting up...\n{\"half\": \n\x00\x01\n[1, 2]\n" + "z" * 100_000 + "\n\n")
    elif name == "progress":
        for step in (1, 2, 3):
            token = (meta or {}).get("progressToken")
            params = {"progressToken": token, "progress": step, "total": 4, "message": f"step {step}"}
            send({"method": "notifications/progress", "params": params})
            time.sleep(0.2)
    elif name == "change":
        description = text
        send({"method": "notifications/tools/list_changed"})
    elif name == "grow":
        grown = True
        send({"method": "notifications/tools/list_changed"})
    elif name == "fail":
        return answer("no such thing", isError=True)
    elif name == "weather" and text:
        return answer("Sunny.", structuredContent=json.loads(text))
    elif name == "picture":
        blob = {"uri": "file:///../../etc/x", "mimeType": "application/pdf", "blob": "JVBERg=="}
        blocks = [
            {"type": "image", "data": "AAEC", "mimeType": "image/png"},
            {"type": "audio", "data": "AwQ=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": blob},
        ]
        return send({"id": number, "result": {"content": blocks}})
    elif name == "refuse":
        return send({"id": number, "error": {"code": -32602, "message": "not with these arguments"}})
    elif name == "roots":
        return answer(json.dumps(ask("roots/list", {})))
    elif name == "sample":
        message = {"role": "user", "content": {"type": "text", "text": "What is 2 + 2?"}}
        return answer(json.dumps(ask("sampling/createMessage", {"messages": [message], "maxTokens": 9000})))
    elif name == "sample_tools":
        add = {"name": "add", "description": "Add.", "inputSchema": {"type": "object"}}
        messages = [{"role": "user", "content": {"type": "text", "text": "What is 2 + 3?"}}]
        rounds = []
        while len(rounds) < 5 and not (rounds and "error" in rounds[-1]):
            rounds.append(ask("sampling/createMessage", {"messages": messages, "maxTokens": 9, "tools": [add]}))
            result = {"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "5"}]}
            messages += [{"role": "assistant", "content": rounds[-1].get("content", [])}, {"role": "user", "content": [result]}]
        return answer(json.dumps(rounds))
    elif name == "wait":
        wait_for(text)
    elif name == "forget":
        send({"id": "forgotten", "method": "elicitation/create", "params": {"message": "Who are you?", "requestedSchema": {"type": "object", "properties": {}}}})
        wait_for(text)
        send({"method": "notifications/cancelled", "params": {"requestId": "forgotten"}})
    elif name == "visit":
        return answer(json.dumps(ask("elicitation/create", {"mode": "url", "message": "Pay here", "url": text, "elicitationId": "e1"})))
    elif name == "gated" and asked_for.get(text, 0) < arguments.get("times", 1):
        asked_for[text] = asked_for.get(text, 0) + 1
        pages = [{"mode": "url", "elicitationId": "e2", "url": text, "message": "Log in"}]
        return send({"id": number, "error": {"code": -32042, "message": "log in", "data": {"elicitations": pages}}})
    elif name == "elicit":
        schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 7}}}
        return answer(json.dumps(ask("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})))
    elif name == "leave":
        # Its parent is gone, its session is its own, and nothing is among its variables.
        script = "env -i setsid sleep 1000 </dev/null >/dev/null & echo $!"
        return answer(subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True).stdout.strip())
    elif name == "env":
        return answer(" ".join(sorted(os.environ)))
    answer(f"{name}: {text}")


def asked_to_end(*_):
    note("asked to end")
    os._exit(0)


if ENDS:
    signal.signal(signal.SIGTERM, asked_to_end)
note("started")
if DELAY:
    time.sleep(DELAY)
    note("awake")
for line in sys.stdin:
    if frozen.is_set():
        time.sleep(1000)
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        done = WAITING.get(number)
        if done is None:
            continue
        done[1] = message.get("result", {"error": message.get("error")})
        done[0].set()
    elif method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "scripted", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        send({"id": number, "result": result})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": tools()}})
    elif method == "tools/call":
        given = (number, params["name"], params.get("arguments") or {}, params.get("_meta"))
        threading.Thread(target=call, args=given, daemon=True).start()
    elif method == "notifications/cancelled":
        note(f"cancelled {params.get('requestId')}")
    elif method == "ping":
        note("ping")
        send({"id": number, "result": {}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})
if ENDS:
    note("nothing more to read")
    time.sleep(0.3 if ENDS == "slowly" else 1000)
    note("ended by itself")
