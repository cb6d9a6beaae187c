"""Modal's own SDK against the double: what it does is what Modal does, so both must agree.

Usage: sdk_modal.py PORT. Prints `agreed` at the end.
"""

import os
import sys

os.environ.update(
    MODAL_SERVER_URL=f"http://127.0.0.1:{sys.argv[1]}", MODAL_TOKEN_ID="right", MODAL_TOKEN_SECRET="right",
    MODAL_CONFIG_PATH="/dev/null",
)

import modal  # noqa: E402

app = modal.App.lookup("hermes-agent", create_if_missing=True)
image = modal.Image.debian_slim()
box = modal.Sandbox.create("sleep", "infinity", app=app, image=image, timeout=600, tags={"a": "b"})
assert [one.object_id for one in modal.Sandbox.list(app_id=app.app_id, tags={"a": "b"})] == [box.object_id]

ran = box.exec("sh", "-c", "echo out; echo err >&2; exit 3")
assert (ran.stdout.read(), ran.stderr.read(), ran.wait()) == ("out\n", "err\n", 3)

ran = box.exec("sh", "-c", "read a; echo got $a; cat")
ran.stdin.write(b"word\nrest\n")
ran.stdin.write_eof()
ran.stdin.drain()
assert (ran.stdout.read(), ran.wait()) == ("got word\nrest\n", 0)

box.exec("sh", "-c", "echo kept > ~/file").wait()
kept = box.snapshot_filesystem()
box.terminate()
box = modal.Sandbox.create("sleep", "infinity", app=app, image=kept, timeout=600)
ran = box.exec("sh", "-c", "cat ~/file")
assert (ran.stdout.read(), ran.wait()) == ("kept\n", 0)
box.terminate()
assert list(modal.Sandbox.list(app_id=app.app_id)) == []
try:
    client = modal.Client.from_credentials("wrong", "wrong")
    modal.Sandbox.create("true", app=app, image=image, client=client)
    raise AssertionError("a wrong key is accepted")
except modal.exception.AuthError:
    pass
print("agreed")
