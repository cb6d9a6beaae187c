//! A server that listens, for as long as a test wants it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;

/// A running `hermes mcp serve --http`.
pub(crate) struct Served {
    child: Child,
    /// Where it is.
    pub(crate) url: String,
    /// What else it said before it was ready.
    pub(crate) said: String,
    errors: BufReader<std::process::ChildStderr>,
}

impl Served {
    /// Starts one on a free port.
    pub(crate) fn start(home: &Home, words: &[&str]) -> Self {
        let words = [&["mcp", "serve", "--http", "127.0.0.1:0", "--toolsets", "file,terminal,todo"], words];
        let mut command = home.command(&words.concat());
        command.env("MCP_TOKEN", "a-token-that-is-long-enough").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut lines = String::new();
        while !lines.contains("Ctrl-C") {
            assert_ne!(errors.read_line(&mut lines).unwrap(), 0, "the server did not start: {lines}");
        }
        let url = lines.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        Self { child, url, said: lines, errors }
    }

    /// Its address without the scheme and the path.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    /// Ends it as Ctrl-C does; what it wrote to standard output, and how it ended.
    pub(crate) fn interrupt(mut self) -> (String, ExitStatus) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let ended = self.child.wait().unwrap();
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (out, ended)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut rest = String::new();
        let _ = self.errors.read_to_string(&mut rest);
        if !rest.is_empty() {
            eprintln!("the server said: {rest}");
        }
    }
}
