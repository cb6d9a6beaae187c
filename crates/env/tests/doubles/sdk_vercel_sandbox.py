"""Vercel's own SDK against the double: what it does is what Vercel does, so both must agree.

Usage: sdk_vercel_sandbox.py PORT. Prints `agreed` at the end.
"""

import subprocess
import sys

from vercel.sandbox import SandboxApiError, SandboxCredentials
from vercel.sandbox.sync import SandboxQueryByName, SandboxServiceOptions, SyncSandboxClient

url = f"http://127.0.0.1:{sys.argv[1]}/api"


def client(token):
    credentials = SandboxCredentials(token=token, team_id="team", project_id="project")
    options = SandboxServiceOptions(base_url=url, credentials_factory=lambda: credentials)
    return SyncSandboxClient.create(options=options)


vercel = client("right")
box = vercel.create_sandbox(name="sdk", persistent=True, env={"X": "1"}, tags={"a": "b"})
assert vercel.get_sandbox(name="sdk").name == "sdk"
query = SandboxQueryByName(name_prefix="sd")
assert [one.name for one in vercel.query_sandboxes(query=query)] == ["sdk"]

ran = box.run_process("sh", ["-c", "echo $X; echo bad >&2; exit 3"], capture_output=True)
assert (ran.returncode, ran.stdout, ran.stderr) == (3, "1\n", "bad\n"), ran

ran = box.run_process("cat", input=b"in\n", capture_output=True)
assert (ran.returncode, ran.stdout) == (0, "in\n"), ran

process = box.create_process("sh", ["-c", "read a; echo got $a; exit 4"], stdin=subprocess.PIPE)
process.stdin.write(b"word\n")
assert process.wait() == 4
assert process.stdout.read() == "got word\n"

process = box.create_process("sleep", ["100"])
process.kill()
assert process.wait() == 137

with box.open_interactive("sh", ["-c", "stty size; read x; echo [$x]; exit 5"], cols=100, rows=30) as terminal:
    terminal.stream.write(b"typed\n")
    seen = terminal.stream.read()
    assert terminal.wait() == 5
assert b"30 100" in seen and b"[typed]" in seen, seen

box.run_process("sh", ["-c", "echo kept > ~/file"])
box.stop()
box = vercel.resume_sandbox(name="sdk")
assert box.run_process("sh", ["-c", "cat ~/file"], capture_output=True).stdout == "kept\n"
box.destroy()
try:
    vercel.get_sandbox(name="sdk")
    raise AssertionError("it is still there")
except SandboxApiError as wrong:
    assert wrong.status_code == 404, wrong
try:
    client("wrong").get_sandbox(name="sdk")
    raise AssertionError("a wrong token is accepted")
except SandboxApiError as wrong:
    assert wrong.status_code == 401, wrong
print("agreed")
