//! Logging a person in at Spotify, whose tools then act for them: they agree on a page of Spotify, and what
//! comes back is kept in the home.
//!
//! The application is the person's own and has no secret: what proves that the answer is ours is a number
//! that only we know (PKCE).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::future::{Either, select};
use hermes_core::wait::wait;
use hermes_extend::mcp::client::OAuth;
use hermes_extend::mcp::oauth::{Browser, Pasted, Person, Show};
use hermes_net::{Call, Http, Limits, Url};
use hermes_store::HomeLogins;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::inside::Inside;
use crate::runtime::Runtime;

/// The name of the login, and where Spotify logs people in.
const NAME: &str = "spotify";
const ACCOUNTS: &str = "https://accounts.spotify.com";

/// Where the browser comes back to, unless something else is said. Spotify has to be told of it before.
const REDIRECT: &str = "http://127.0.0.1:43827/spotify/callback";

/// What the tools need to be allowed.
const SCOPES: &str = "user-read-playback-state user-modify-playback-state user-read-currently-playing \
                      user-read-recently-played user-library-read user-library-modify playlist-read-private \
                      playlist-read-collaborative playlist-modify-private playlist-modify-public";

/// How long the person may take, and how long the exchange that follows.
const PATIENCE: Duration = Duration::from_mins(5);
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(15), idle: Duration::from_secs(30), total: Duration::from_mins(1) };

/// Longest answer that is read.
const MAX_ANSWER: usize = 256 * 1024;

/// Who logs in, by which application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpotifyLogin {
    /// Id of the person's own application.
    pub client_id: String,
    /// Where the browser comes back to, as that application has it.
    pub redirect_uri: Option<String>,
}

/// Why nobody is logged in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoginFailed(pub String);

impl Runtime {
    /// Takes a person to Spotify's page and keeps what they agree to. Waits until they have.
    pub fn log_in_to_spotify(
        &self,
        login: &SpotifyLogin,
        show: Show,
        pasted: Option<Pasted>,
    ) -> Result<(), LoginFailed> {
        let failed = |why: &str| LoginFailed(why.to_owned());
        let home = self.home().ok_or_else(|| failed("there is no home to keep the login in"))?;
        let handle = self.machine().handle().ok_or_else(|| failed("the system gives us no threads"))?;
        let redirect = login.redirect_uri.clone().unwrap_or_else(|| REDIRECT.to_owned());
        let work = async {
            let wishes = OAuth { redirect_uri: Some(redirect.clone()), ..OAuth::default() };
            let browser = Browser::open(&wishes, show, pasted).await.map_err(LoginFailed)?;
            let agreed = Box::pin(self.agreed(&login.client_id, &redirect, &browser));
            match select(agreed, self.host().sleep(PATIENCE)).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => Err(failed("nobody logged in in time")),
            }
        };
        let answer = wait(Inside { runtime: handle, work: Box::pin(work) })?;
        let fields = kept(&answer, &login.client_id, &redirect)?;
        HomeLogins::write(&home, NAME, fields).map_err(|why| LoginFailed(why.to_string()))?;
        self.announce(&hermes_core::availability::Change::Environment);
        Ok(())
    }

    /// The person's yes, exchanged for tokens.
    async fn agreed(&self, client: &str, redirect: &str, person: &dyn Person) -> Result<Value, LoginFailed> {
        let env = |name: &str| self.world(|world| world.variable(name).map(str::to_owned));
        let accounts = env("HERMES_SPOTIFY_ACCOUNTS_BASE_URL").unwrap_or_else(|| ACCOUNTS.to_owned());
        let accounts = accounts.trim().trim_end_matches('/');
        let (verifier, state) = (secret::<48>()?, secret::<16>()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let query = [
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", redirect),
            ("scope", SCOPES),
            ("state", &state),
            ("code_challenge_method", "S256"),
            ("code_challenge", &challenge),
        ];
        let back =
            person.visit(&format!("{accounts}/authorize?{}", form(&query))).await.map_err(LoginFailed)?;
        let code = code(&back, &state)?;
        let given = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", redirect),
            ("client_id", client),
            ("code_verifier", &verifier),
        ];
        let http = Http::from_env(env);
        exchange(&http, &format!("{accounts}/api/token"), form(&given)).await
    }
}

fn secret<const N: usize>() -> Result<String, LoginFailed> {
    let bytes = hermes_net::random::<N>();
    let none = || LoginFailed("this machine has no random numbers to give".to_owned());
    bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).ok_or_else(none)
}

async fn exchange(http: &Http, address: &str, body: String) -> Result<Value, LoginFailed> {
    let url = Url::parse(address).ok_or_else(|| LoginFailed(format!("{address} is no http address")))?;
    let call = Call::post(&url, body, LIMITS)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "application/json");
    let told = |why: hermes_net::HttpError| LoginFailed(why.to_string());
    let mut reply = http.send(call).await.map_err(told)?;
    let body = reply.read(MAX_ANSWER).await.map_err(told)?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if reply.status.is_success() {
        return Ok(answer);
    }
    let said = answer.get("error_description").or_else(|| answer.get("error")).and_then(Value::as_str);
    Err(LoginFailed(format!("Spotify answered {}: {}", reply.status.as_u16(), said.unwrap_or_default())))
}

/// The code in the address that the browser came back to, if it answers our question.
fn code(back: &str, state: &str) -> Result<String, LoginFailed> {
    let (_, query) = back.split_once('?').unwrap_or((back, ""));
    let value = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next()
    };
    if value("state").as_deref() != Some(state) {
        return Err(LoginFailed("what came back answers another question".to_owned()));
    }
    if let Some(error) = value("error") {
        return Err(LoginFailed(format!("the answer was no: {error}")));
    }
    let none = || LoginFailed("what came back has no code in it".to_owned());
    let code = value("code").filter(|code| !code.is_empty());
    code.filter(|code| code.chars().all(|c| c.is_ascii_graphic())).ok_or_else(none)
}

/// What is kept: the fields that an earlier Hermes kept.
fn kept(answer: &Value, client: &str, redirect: &str) -> Result<Map<String, Value>, LoginFailed> {
    if !answer.get("access_token").is_some_and(Value::is_string) {
        return Err(LoginFailed("Spotify sent no token".to_owned()));
    }
    let mut fields = Map::new();
    for name in ["access_token", "refresh_token", "token_type", "expires_in", "scope"] {
        fields.insert(name.to_owned(), answer.get(name).cloned().unwrap_or_default());
    }
    for (name, value) in [("client_id", client), ("redirect_uri", redirect), ("auth_type", "oauth_pkce")] {
        fields.insert(name.to_owned(), json!(value));
    }
    for name in ["expires_at", "obtained_at"] {
        fields.insert(name.to_owned(), Value::Null);
    }
    Ok(fields)
}

/// A form as it is sent.
fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        let one = |byte: u8| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        };
        text.bytes().map(one).collect::<Vec<_>>().concat()
    };
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_our_question_is_taken() {
        assert_eq!(code("/spotify/callback?code=AQ-x&state=s", "s").unwrap(), "AQ-x");
        for bad in
            ["?code=x&state=t", "?code=x", "?state=s", "?state=s&code=", "?state=s&error=access_denied", ""]
        {
            assert!(code(bad, "s").is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_kept_without_a_token() {
        assert!(kept(&json!({ "token_type": "Bearer" }), "c", "r").is_err());
        let fields = kept(&json!({ "access_token": "a", "refresh_token": "r" }), "c", "r").unwrap();
        assert_eq!((&fields["client_id"], &fields["expires_at"]), (&json!("c"), &Value::Null));
    }
}
