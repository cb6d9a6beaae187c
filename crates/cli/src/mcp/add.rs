//! `hermes mcp add NAME`: writes a server into `config.yaml`, after it has been seen to work or to want a
//! login.

use std::sync::Arc;

use hermes::McpMemory;
use hermes::extend::mcp::client::Status;
use hermes::store::ConfigFile;
use hermes::store::config::KeyPath;
use serde_json::{Map, Value, json};

use crate::command::{Failure, Run};
use crate::mcp::{names, trouble};
use crate::output;
use crate::shell::Shell;

/// Below the options.
const AFTER_HELP: &str = "\
Examples:
  hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/work
  hermes mcp add github --url https://api.githubcopilot.com/mcp/ --header 'Authorization: Bearer ${GITHUB_TOKEN}'
  hermes mcp add linear --url https://mcp.linear.app/mcp --auth oauth

Values may name variables as ${NAME}; they stay in the file as they are, and the values in .env.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Add {
    /// What to call it
    name: String,
    /// Its address, for a server that is reached over HTTP
    #[arg(long, conflicts_with = "words")]
    url: Option<String>,
    /// The address is one of the older kind, with a stream of events
    #[arg(long)]
    sse: bool,
    /// A header to send with every request
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// How to log in
    #[arg(long, value_parser = ["oauth"])]
    auth: Option<String>,
    /// A variable for the program
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Seconds that it may take to begin to talk
    #[arg(long, value_name = "SECONDS")]
    connect_timeout: Option<u64>,
    /// Replace a server of the same name
    #[arg(long)]
    force: bool,
    /// Do not start it to see whether it works
    #[arg(long)]
    no_test: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<String>,
}

impl Run for Add {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let entry = self.entry()?;
        let runtime = shell.runtime()?;
        let told = Arc::new(McpMemory::default());
        let candidate = runtime.mcp_candidate(&self.name, &entry, &told).map_err(Failure::usage)?;
        if names(&runtime).contains(&self.name) && !self.force {
            let name = &self.name;
            return Err(Failure::usage(format!(
                "there is an MCP server `{name}` already; add --force to replace it"
            )));
        }
        let wrong = || Failure::usage("the name cannot be a key");
        let path = KeyPath::new(["mcp_servers", self.name.as_str()]).ok_or_else(wrong)?;
        if let Some(complaint) = candidate.config().complaint() {
            output::warn(&complaint);
        }
        let status = (!self.no_test).then(|| runtime.mcp().start_blocking(&candidate));
        if let Some(status @ Status::Failed(_)) = &status {
            output::warn(&format!(
                "MCP server `{}` is not added (--no-test adds it all the same):",
                self.name
            ));
            return Err(trouble(&candidate, status).unwrap_or_else(|| Failure::failed("it does not work")));
        }
        ConfigFile::update(&shell.home()?, |file| file.set(&path, &entry).map(drop))?;
        runtime.mcp().adopt(&self.name, &told);
        // One that wants a login is kept: logging in comes next.
        if let Some(failure) = status.as_ref().and_then(|status| trouble(&candidate, status)) {
            output::warn(&format!("MCP server `{}` is in config.yaml, but:", self.name));
            return Err(failure);
        }
        self.told(shell, status.map(|status| (status, candidate.known().tools.len())))
    }
}

impl Add {
    /// Whether the options belong to the kind of server that is meant.
    fn fits(&self) -> Result<(), Failure> {
        let strange = if self.url.is_some() {
            [(!self.env.is_empty()).then_some("--env"), None, None]
        } else {
            [
                self.sse.then_some("--sse"),
                (!self.header.is_empty()).then_some("--header"),
                self.auth.is_some().then_some("--auth"),
            ]
        };
        let (has, kind) = if self.url.is_some() {
            ("an address", "a program: give a command after `--` instead of --url")
        } else {
            ("a program", "a server with an address: give --url")
        };
        match strange.into_iter().flatten().next() {
            Some(option) => {
                Err(Failure::usage(format!("{option} means nothing for {has}; it is for {kind}")))
            }
            None => Ok(()),
        }
    }

    /// The server as it stands in the file.
    fn entry(&self) -> Result<Value, Failure> {
        self.fits()?;
        let mut entry = Map::new();
        match (&self.url, self.words.split_first()) {
            (Some(url), _) => {
                entry.insert("url".to_owned(), json!(url));
                if self.sse {
                    entry.insert("transport".to_owned(), json!("sse"));
                }
                let headers = pairs(&self.header, ':')?;
                if !headers.is_empty() {
                    entry.insert("headers".to_owned(), headers.into());
                }
                if let Some(auth) = &self.auth {
                    entry.insert("auth".to_owned(), json!(auth));
                }
            }
            (None, Some((command, args))) => {
                entry.insert("command".to_owned(), json!(command));
                if !args.is_empty() {
                    entry.insert("args".to_owned(), json!(args));
                }
                let env = pairs(&self.env, '=')?;
                if !env.is_empty() {
                    entry.insert("env".to_owned(), env.into());
                }
            }
            (None, None) => return Err(Failure::usage("give --url, or a command after `--`")),
        }
        if let Some(seconds) = self.connect_timeout {
            entry.insert("connect_timeout".to_owned(), json!(seconds));
        }
        Ok(Value::Object(entry))
    }

    fn told(&self, shell: &Shell, seen: Option<(Status, usize)>) -> Result<(), Failure> {
        if shell.out.wants_json() {
            let (status, tools) = seen.unzip();
            let status = status.as_ref().map(Status::word);
            return shell.out.json(&json!({ "name": self.name, "status": status, "tools": tools }));
        }
        let name = &self.name;
        shell.out.text(&match seen {
            Some((_, tools)) => format!("MCP server `{name}` works and has {tools} tools"),
            None => format!("MCP server `{name}` is in config.yaml"),
        })
    }
}

/// `NAME<sign>VALUE` pairs.
fn pairs(words: &[String], sign: char) -> Result<Map<String, Value>, Failure> {
    let pair = |word: &String| {
        let (name, value) = word
            .split_once(sign)
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or_else(|| Failure::usage(format!("`{word}` is not NAME{sign}VALUE")))?;
        Ok((name.trim().to_owned(), json!(value.trim())))
    };
    words.iter().map(pair).collect()
}
