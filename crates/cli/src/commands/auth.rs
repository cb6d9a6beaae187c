//! `hermes auth`: logins that last, at services whose tools act for the person.

use std::io::{IsTerminal as _, stdin};

use hermes::SpotifyLogin;
use hermes::core::host;
use hermes::extend::mcp::oauth::Pasted;
use hermes::store::HomeLogins;
use serde_json::json;

use crate::command::{CommandDef, Failure, Run};
use crate::output;
use crate::shell::Shell;

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Auth>("auth", "Log in to services that tools act at, and out again");

/// The name of the login.
const SPOTIFY: &str = "spotify";

#[derive(clap::Args)]
struct Auth {
    #[command(subcommand)]
    service: Service,
}

#[derive(clap::Subcommand)]
enum Service {
    /// Log in to Spotify
    Spotify(Spotify),
}

#[derive(clap::Args)]
struct Spotify {
    /// Id of your own application (<https://developer.spotify.com/dashboard>)
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Where the browser comes back to, as that application has it
    #[arg(long, value_name = "URL")]
    redirect_uri: Option<String>,
    /// Only tell whether somebody is logged in
    #[arg(long, conflicts_with_all = ["client_id", "redirect_uri"])]
    status: bool,
    /// Forget the login
    #[arg(long, conflicts_with_all = ["client_id", "redirect_uri", "status"])]
    forget: bool,
}

impl Run for Auth {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let Service::Spotify(spotify) = self.service;
        if spotify.status {
            return status(shell);
        }
        if spotify.forget {
            let was_there = HomeLogins::forget(&shell.home()?, SPOTIFY)?;
            return told(shell, if was_there { "forgotten" } else { "nobody was logged in" });
        }
        spotify.log_in(shell)
    }
}

impl Spotify {
    fn log_in(self, shell: &Shell) -> Result<(), Failure> {
        let known = HomeLogins::read(&shell.home()?, SPOTIFY)?.unwrap_or_default();
        let known = known.get("client_id").and_then(|id| id.as_str()).map(str::to_owned);
        let variables = ["HERMES_SPOTIFY_CLIENT_ID", "SPOTIFY_CLIENT_ID"];
        let variable = variables.iter().find_map(|name| shell.variable(name)).map(str::to_owned);
        let Some(client_id) = self.client_id.or(known).or(variable).filter(|id| !id.trim().is_empty()) else {
            return Err(Failure::usage(
                "whose application? --client-id ID, from https://developer.spotify.com/dashboard; its redirect \
                 address has to be http://127.0.0.1:43827/spotify/callback",
            ));
        };
        let runtime = shell.runtime()?;
        let show = Box::new(|page: &str| {
            output::say(&format!(
                "Open this page and agree:\n\n{page}\n\nWhere the browser runs on another machine, paste the address it ends at here."
            ));
        });
        let host = runtime.host();
        let pasted: Option<Pasted> = stdin().is_terminal().then(|| -> Pasted {
            Box::pin(async move {
                let line = host::blocking(&host, || {
                    let mut line = String::new();
                    stdin().read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
                });
                line.await.ok().flatten().map(|line| line.trim().to_owned()).filter(|line| line.contains('?'))
            })
        });
        let login = SpotifyLogin { client_id: client_id.trim().to_owned(), redirect_uri: self.redirect_uri };
        runtime.log_in_to_spotify(&login, show, pasted).map_err(Failure::failed)?;
        told(shell, "logged in")
    }
}

fn status(shell: &Shell) -> Result<(), Failure> {
    let is_there = HomeLogins::read(&shell.home()?, SPOTIFY)?.is_some();
    told(shell, if is_there { "logged in" } else { "nobody is logged in" })
}

fn told(shell: &Shell, status: &str) -> Result<(), Failure> {
    if shell.out.wants_json() {
        return shell.out.json(&json!({ "service": SPOTIFY, "status": status }));
    }
    shell.out.text(&format!("Spotify: {status}"))
}
