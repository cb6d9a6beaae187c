//! Encryption with a real server on the other side: `openssl s_server`, whose certificate comes from an
//! authority of its own, and which may want to know who we are.

#![expect(clippy::disallowed_methods, reason = "the tests start a server and write its certificates")]
#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hermes_net::{Call, Http, HttpSettings, Identity, Limits, TlsSettings, Url};

const LIMIT: Duration = Duration::from_secs(20);

/// A server that is gone with its owner.
struct Server {
    child: Child,
    url: Url,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it; with `asks` it wants a certificate of its own authority.
    fn start(folder: &Path, asks: bool) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-www", "-quiet", "-cert", "server.pem", "-key", "server.key", "-accept"]);
        command.arg(format!("127.0.0.1:{port}"));
        if asks {
            command.args(["-Verify", "1", "-verify_return_error", "-CAfile", "ca.pem"]);
        }
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, url: Url::parse(&format!("https://127.0.0.1:{port}/")).unwrap() }
    }

    fn asked(&self, tls: TlsSettings) -> Result<u16, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let http = Http::new(HttpSettings { tls, ..HttpSettings::default() });
        let limits = Limits { connect: LIMIT, idle: LIMIT, total: LIMIT };
        let reply = runtime.block_on(http.send(Call::get(&self.url, limits)));
        reply.map(|reply| reply.status.as_u16()).map_err(|wrong| wrong.to_string())
    }
}

fn openssl(folder: &Path, words: &str) {
    let done = Command::new("openssl").args(words.split(' ')).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// An authority, and what it gave to the server and to us.
fn certificates(folder: &Path) {
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(folder, &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2"));
    for who in ["server", "us"] {
        openssl(folder, &format!("req {key} -keyout {who}.key -out {who}.csr -subj /CN={who}"));
        let signed = format!("x509 -req -in {who}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2");
        openssl(folder, &format!("{signed} -out {who}.pem -extfile names"));
    }
}

#[test]
fn an_authority_is_trusted_when_it_is_named_and_anybody_when_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let server = Server::start(folder.path(), false);

    let named = TlsSettings { ca_file: Some(folder.path().join("ca.pem")), ..TlsSettings::default() };
    let anybody = TlsSettings { unverified: true, ..TlsSettings::default() };

    assert_eq!(server.asked(named), Ok(200));
    assert_eq!(server.asked(anybody), Ok(200));
    let refused = server.asked(TlsSettings::default()).unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
}

#[test]
fn a_server_that_wants_to_know_who_we_are_is_shown_our_certificate() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let server = Server::start(folder.path(), true);
    let with = |identity: Option<Identity>| TlsSettings {
        ca_file: Some(folder.path().join("ca.pem")),
        identity,
        ..TlsSettings::default()
    };
    let file = |name: &str| folder.path().join(name);
    let both = std::fs::read(file("us.pem")).unwrap();
    let key = std::fs::read(file("us.key")).unwrap();
    std::fs::write(file("one.pem"), [both, key].concat()).unwrap();

    let known = server.asked(with(Some(Identity { certificate: file("us.pem"), key: file("us.key") })));
    let in_one = server.asked(with(Some(Identity { certificate: file("one.pem"), key: file("one.pem") })));
    let stranger = server.asked(with(None));
    let missing = server.asked(with(Some(Identity { certificate: file("no.pem"), key: file("us.key") })));

    assert_eq!((known, in_one), (Ok(200), Ok(200)));
    assert!(stranger.is_err(), "{stranger:?}");
    assert!(missing.unwrap_err().contains("no.pem"));
}
