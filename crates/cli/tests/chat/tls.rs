//! A model behind TLS whose certificate only its owner trusts, served by `openssl`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::home::Home;
use crate::stage::{config, finished, until};

/// A server that answers one request and is gone with its owner.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn openssl(folder: &Path, words: &str) {
    let done = Command::new("openssl").args(words.split(' ')).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// An authority, and a certificate it gave to this machine.
fn certificates(folder: &Path) {
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(folder, &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2"));
    openssl(folder, &format!("req {key} -keyout leaf.key -out leaf.csr -subj /CN=leaf"));
    openssl(
        folder,
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out leaf.pem -days 2 -extfile names",
    );
}

fn serve(folder: &Path) -> Server {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new("openssl")
        .args(["s_server", "-quiet", "-cert", "leaf.pem", "-key", "leaf.key", "-accept"])
        .arg(format!("127.0.0.1:{port}"))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let (mut heard, mut some) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&heard).contains("\r\n\r\n{") {
            match output.read(&mut some) {
                Ok(count) if count > 0 => heard.extend_from_slice(&some[..count]),
                _ => return,
            }
        }
        let message = json!({ "role": "assistant", "content": "Safely said." });
        let body =
            json!({ "id": "1", "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] })
                .to_string();
        let head = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        let _ = write!(input, "HTTP/1.1 200 OK\r\n{head}\r\nconnection: close\r\n\r\n{body}");
        let _ = input.flush();
        // The server stays until it is killed: a closed input would end it before the answer is out.
        let _ = output.read_to_end(&mut heard);
    });
    let server = Server { child, port };
    until("the server", || TcpListener::bind(("127.0.0.1", port)).is_err());
    server
}

fn asked(home: &Home, trusted: Option<&Path>) -> crate::home::Said {
    let mut command = home.command(&["chat", "-q", "Say it"]);
    if let Some(trusted) = trusted {
        command.env("SSL_CERT_FILE", trusted);
    }
    finished(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_named_and_only_then() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let server = serve(folder.path());
    let url = format!("https://127.0.0.1:{}/v1", server.port);
    let config = config(&url).replace("  default: m\n", "  default: m\n  context_length: 64000\n");
    let home = Home::configured(&config);

    let strange = asked(&home, None);
    assert_eq!(strange.code, Some(4), "{strange:?}");
    assert!(strange.err.to_lowercase().contains("certificate"), "{strange:?}");

    let known = asked(&home, Some(&folder.path().join("ca.pem")));
    assert_eq!((known.code, known.out.trim()), (Some(0), "Safely said."), "{known:?}");
}
