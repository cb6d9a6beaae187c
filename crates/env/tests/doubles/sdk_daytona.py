"""Daytona's own SDK against the double: what it does is what Daytona does, so both must agree.

Usage: sdk_daytona.py PORT. Prints `agreed` at the end.
"""

import asyncio
import os
import sys

os.environ["DAYTONA_USE_DEPRECATED_POLLING"] = "true"

from daytona import CreateSandboxFromImageParams, Daytona, DaytonaConfig, DaytonaError  # noqa: E402
from daytona import FileUpload, ListSandboxesQuery, SessionExecuteRequest  # noqa: E402
from daytona.common.pty import PtySize  # noqa: E402

url = f"http://127.0.0.1:{sys.argv[1]}/api"
client = Daytona(DaytonaConfig(api_key="right", api_url=url))
box = client.create(CreateSandboxFromImageParams(
    image="debian:12", name="sdk", labels={"a": "b"}, env_vars={"X": "1"}, auto_stop_interval=0))

assert [one.id for one in client.list(ListSandboxesQuery(labels={"a": "b"}))] == [box.id]
assert client.get("sdk").id == box.id

ran = box.process.exec("echo $X; exit 3")
assert (ran.exit_code, ran.result) == (3, "1\n"), ran

box.process.create_session("s")
started = box.process.execute_session_command("s", SessionExecuteRequest(
    command="read a; echo got $a; echo bad >&2; exit 4", run_async=True, suppress_input_echo=True))
box.process.send_session_command_input("s", started.cmd_id, "word")
out, err = [], []
asyncio.run(box.process.get_session_command_logs_async("s", started.cmd_id, out.append, err.append))
assert ("".join(out), "".join(err)) == ("got word\n", "bad\n"), (out, err)
assert box.process.get_session_command("s", started.cmd_id).exit_code == 4
box.process.delete_session("s")

box.fs.upload_files([FileUpload(source=b"\x00\xff", destination="f")])
assert box.fs.download_file("f") == b"\x00\xff"
box.fs.upload_files([FileUpload(source=b"x", destination="g")])
box.fs.delete_file("g")
assert box.process.exec("ls").result == "f\n"

seen = bytearray()
terminal = box.process.create_pty_session("t", pty_size=PtySize(cols=100, rows=30), envs={"Y": "2"})
terminal.send_input("stty size; echo y=$Y; exit 5\n")
result = terminal.wait(on_data=seen.extend)
assert b"30 100" in seen and b"y=2" in seen, seen
assert result.exit_code == 5, result

box.stop()
assert client.get("sdk").state.value == "stopped"
box.start()
assert box.process.exec("cat f | wc -c").result.strip() == "2"
box.delete()
try:
    client.get("sdk")
    raise AssertionError("it is still there")
except DaytonaError:
    pass
try:
    Daytona(DaytonaConfig(api_key="wrong", api_url=url)).get("sdk")
    raise AssertionError("a wrong key is accepted")
except DaytonaError as wrong:
    assert "Invalid credentials" in str(wrong), wrong
print("agreed")
