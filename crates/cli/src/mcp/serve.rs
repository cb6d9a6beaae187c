//! `hermes mcp serve`: the tools of this program for any MCP client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use hermes::McpServer;
use hermes::extend::mcp::server::{Access, HttpSettings, Token};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::command::{Failure, Run};
use crate::interrupt::Interrupt;
use crate::shell::Shell;
use crate::tools::Choice;
use crate::{input, output};

/// Below the options.
const AFTER_HELP: &str = "\
Without --http the client is at the other end of standard input and output, and the server ends with it. \
With --http clients show a token: `Authorization: Bearer …`. One that nobody chose is made for this run \
and told on standard error.

Examples:
  hermes mcp serve
  hermes mcp serve --toolsets file,terminal
  hermes mcp serve --http 127.0.0.1:8642 --token-env HERMES_MCP_TOKEN";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Serve {
    #[command(flatten)]
    choice: Choice,
    /// Listen on this address (`PORT`, `localhost:PORT` or `IP:PORT`) instead of standard input
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Read the token from this file
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "token_env")]
    token_file: Option<PathBuf>,
    /// Read the token from this variable
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,
    /// A name by which clients may call the server, beside `localhost`; needed to listen where other
    /// machines can reach it
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
}

impl Run for Serve {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let http = self.http_settings(shell)?;
        let runtime = shell.serving_runtime()?;
        let selection = self.choice.selection(&runtime)?;
        if shell.is_of_an_agent() {
            runtime.mcp_problems().iter().for_each(|left_out| output::warn(left_out));
        }
        let server = McpServer::new(&runtime, selection)?.record_sessions().trouble(output::warn);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        // Where signals cannot be listened to, Ctrl-C still ends the program, only less politely.
        let interrupt = Interrupt::watch(move || stopped.cancel()).ok();
        match http {
            None => server.stdio(stop),
            Some((settings, made)) => server.http(settings, |at| greet(shell, at, made.as_ref()), stop),
        }
        .map_err(Failure::failed)?;
        match interrupt.as_ref().and_then(Interrupt::exit_code) {
            None => Ok(()),
            Some(code) => Err(Failure::Told(code)),
        }
    }
}

impl Serve {
    /// How the server is reached over HTTP, and the token if it was made here.
    fn http_settings(&self, shell: &Shell) -> Result<Option<(HttpSettings, Option<Token>)>, Failure> {
        let Some(address) = &self.http else { return Ok(None) };
        let address = listen_on(address, !self.allow_host.is_empty())?;
        let chosen = match (&self.token_file, &self.token_env) {
            (Some(file), _) => Some(token_in(file, shell)?),
            (None, Some(name)) => {
                let value = shell.variable(name).filter(|value| !value.is_empty());
                Some(
                    value
                        .ok_or_else(|| Failure::usage(format!("the variable `{name}` is not set")))?
                        .to_owned(),
                )
            }
            (None, None) => None,
        };
        let (token, made) = if let Some(text) = chosen {
            (Token::new(&text).map_err(Failure::usage)?, None)
        } else {
            let token = Token::random().map_err(Failure::failed)?;
            (token.clone(), Some(token))
        };
        let names = self.allow_host.iter().map(|name| host_name(name)).collect::<Result<Vec<_>, _>>()?;
        let access = Access::Token(token);
        Ok(Some((HttpSettings { address, access, names }, made)))
    }
}

/// What the file holds, as text.
fn token_in(file: &Path, shell: &Shell) -> Result<String, Failure> {
    let name = file.display().to_string();
    String::from_utf8(input::bytes(&name, shell.cwd())?)
        .map_err(|_| Failure::usage(format!("cannot read {name}: it is not UTF-8 text")))
}

/// The address that was meant. Other machines are let in only by somebody who says under which name.
fn listen_on(text: &str, named: bool) -> Result<SocketAddr, Failure> {
    let local = |port: &str| Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?));
    let address = text
        .parse::<SocketAddr>()
        .ok()
        .or_else(|| local(text))
        .or_else(|| local(text.strip_prefix("localhost:")?))
        .ok_or_else(|| {
            Failure::usage(format!("`{text}` is no address; write PORT, localhost:PORT or IP:PORT"))
        })?;
    if address.ip().is_loopback() || named {
        Ok(address)
    } else {
        Err(Failure::usage(format!(
            "{address} can be reached from other machines, and what is sent is not encrypted; listen on \
             127.0.0.1, or say with --allow-host by which name the server may be called"
        )))
    }
}

/// The name of a host, as clients call it. With anything around it, no client ever would.
fn host_name(text: &str) -> Result<String, Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match bare {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !text.is_empty() && text.chars().all(plain),
    };
    if is_host {
        return Ok(text.to_owned());
    }
    Err(Failure::usage(format!(
        "`{text}` is no name of a host: write it alone, without `http://`, a path or a port"
    )))
}

/// Says where the server is: to the person, and to a program that asked for JSON.
fn greet(shell: &Shell, address: SocketAddr, made: Option<&Token>) {
    output::say(&welcome(address, made));
    if shell.out.wants_json() {
        let token = made.map(Token::reveal);
        // Whoever does not read it can still reach the server.
        let _ = shell.out.json(&json!({ "url": url(address), "token": token }));
    }
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

/// What the person needs to reach the server.
fn welcome(address: SocketAddr, made: Option<&Token>) -> String {
    let token = match made {
        Some(token) => format!("token (for this run): {}", token.reveal()),
        None => "token: the one that was given".to_owned(),
    };
    format!("serving MCP at {}\n{token}\nCtrl-C ends it", url(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_or_a_port_of_this_machine() {
        let port = |text: &str| listen_on(text, false).unwrap().to_string();

        assert_eq!(port("8642"), "127.0.0.1:8642");
        assert_eq!(port("localhost:0"), "127.0.0.1:0");
        assert_eq!(port("[::1]:8642"), "[::1]:8642");
        for wrong in ["", "localhost", "example.com:80", "70000", "127.0.0.1"] {
            assert!(matches!(listen_on(wrong, true), Err(Failure::Usage(_))), "{wrong}");
        }
    }

    #[test]
    fn other_machines_come_in_only_where_somebody_said_so() {
        assert!(matches!(listen_on("0.0.0.0:80", false), Err(Failure::Usage(_))));
        assert!(matches!(listen_on("192.168.1.2:80", false), Err(Failure::Usage(_))));
        assert_eq!(listen_on("0.0.0.0:80", true).unwrap().to_string(), "0.0.0.0:80");
    }

    #[test]
    fn the_name_of_a_host_stands_alone() {
        for good in ["build.example", "host-1", "192.168.1.2", "[fe80::1]"] {
            assert_eq!(host_name(good).unwrap(), good);
        }
        for wrong in ["", "http://build.example/", "build.example:8642", "a b", "fe80::1", "[x]", "*"] {
            assert!(matches!(host_name(wrong), Err(Failure::Usage(_))), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_told_only_when_it_was_made_here() {
        let token = Token::new("0123456789abcdef").unwrap();
        let address = "127.0.0.1:8642".parse().unwrap();

        assert!(welcome(address, Some(&token)).contains("0123456789abcdef"));
        assert!(!welcome(address, None).contains("0123456789abcdef"));
    }
}
