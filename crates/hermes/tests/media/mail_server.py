"""A mail server for tests: aiosmtpd with STARTTLS and a login; takes one folder as its argument.

Prints its port on one line and serves until its standard input ends. Every mail becomes a line of
JSON in mails.jsonl of that folder; cert.pem there is the certificate it is known by.
"""

import email
import email.policy
import json
import pathlib
import socket
import ssl
import subprocess
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

folder = pathlib.Path(sys.argv[1])
cert, key = folder / "cert.pem", folder / "key.pem"
subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
     "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
     "-keyout", key, "-out", cert],
    check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Handler:
    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        body = message.get_body(preferencelist=("plain",))
        files = [(part.get_filename(), len(part.get_content())) for part in message.iter_attachments()]
        row = {
            "from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": message["subject"],
            "date": message["date"], "text": body.get_content().replace("\r\n", "\n"), "files": files,
            "tls": session.ssl is not None, "id": message["message-id"],
        }
        with open(folder / "mails.jsonl", "a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        return "250 queued as 1"


def check(server, session, envelope, mechanism, data):
    good = data.login == b"bot@example.org" and data.password == b"pass word"
    return AuthResult(success=good, handled=False)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
# It connects to itself when it starts, so it must know its port: one that was free a moment ago.
with socket.create_server(("127.0.0.1", 0)) as probe:
    port = probe.getsockname()[1]
controller = Controller(
    Handler(), hostname="127.0.0.1", port=port, tls_context=context, require_starttls=True,
    authenticator=check, auth_required=True)
controller.start()
print(port, flush=True)
sys.stdin.read()
