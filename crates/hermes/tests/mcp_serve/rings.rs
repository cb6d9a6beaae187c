//! A hermes whose MCP servers lead back to itself, at once or by way of another one.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hermes::core::toolset::Selection;
use hermes::core::wait::wait;
use hermes::extend::mcp::client::Status;
use hermes::extend::mcp::server::{Access, HttpSettings};
use hermes::{McpServer, Runtime};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client::{configured, post, session};

/// A hermes that serves, and what it says to its person.
struct Serving {
    runtime: Runtime,
    address: SocketAddr,
    told: mpsc::Receiver<String>,
    thread: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

/// An address that nobody listens on.
fn free() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap()
}

/// Serves at this address, with a server of this name in the configuration.
fn serving(address: SocketAddr, name: &str, named: SocketAddr, stop: &CancellationToken) -> Serving {
    let dir = tempfile::tempdir().unwrap();
    let config = format!("mcp_servers:\n  {name}:\n    url: http://{named}/mcp\n");
    let runtime = configured(&dir, &config).build().unwrap();
    let (tell, told) = mpsc::channel();
    let server = McpServer::new(&runtime, Selection::everything()).unwrap();
    let server = server.trouble(move |what| drop(tell.send(what.to_owned())));
    let settings = HttpSettings { address, access: Access::Anyone, names: Vec::new() };
    let (ready, wait) = mpsc::channel();
    let stop = stop.clone();
    let thread =
        thread::spawn(move || server.http(settings, |address| ready.send(address).unwrap(), stop).unwrap());
    wait.recv().unwrap();
    Serving { runtime, address, told, thread, _dir: dir }
}

impl Serving {
    /// Has it ask its server what that offers, anew.
    fn asks(&self, name: &str) -> Result<(), String> {
        self.runtime.tools();
        let server = self.runtime.mcp().server(name).unwrap();
        wait(server.close());
        let asked = wait(server.start()).map_err(|trouble| trouble.to_string());
        self.runtime.tools();
        asked
    }

    /// What a client is told about its tools.
    fn listed(&self) -> String {
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        post(self.address, Some(&session(self.address)), &list)
    }
}

#[test]
fn a_hermes_that_names_itself_as_a_server_has_its_tools_once_and_says_so() {
    let (stop, address) = (CancellationToken::new(), free());
    let it = serving(address, "me", address, &stop);

    let refused = it.asks("me").unwrap_err();

    assert!(refused.contains("this hermes itself") && refused.contains("`mcp_servers.me`"), "{refused}");
    assert!(it.told.recv().unwrap().contains("MCP server me: it is this hermes itself"));
    let listed = it.listed();
    assert!(listed.contains("\"read_file\"") && !listed.contains("mcp__me__"), "{listed}");
    let params = json!({ "name": "todo", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params });
    assert!(post(address, Some(&session(address)), &call).contains("hermes/status\":\"ok"));
    let standing = it.runtime.mcp().server("me").unwrap().standing();
    assert!(matches!(&standing, Status::Failed(why) if why.contains("this hermes itself")), "{standing:?}");
    stop.cancel();
    it.thread.join().unwrap();
}

#[test]
fn two_that_name_each_other_have_the_tools_of_the_other_and_not_their_own_by_way_of_it() {
    let (stop, addresses) = (CancellationToken::new(), [free(), free()]);
    let one = serving(addresses[0], "other", addresses[1], &stop);
    let other = serving(addresses[1], "one", addresses[0], &stop);

    one.asks("other").unwrap();
    other.asks("one").unwrap();
    one.asks("other").unwrap();
    other.asks("one").unwrap();

    for (it, name, back) in [(&one, "other", "one"), (&other, "one", "other")] {
        let listed = it.listed();
        assert!(listed.contains(&format!("\"mcp__{name}__read_file\"")), "{listed}");
        assert!(!listed.contains(&format!("mcp__{name}__mcp__{back}__")), "{listed}");
    }
    stop.cancel();
    one.thread.join().unwrap();
    other.thread.join().unwrap();
}
