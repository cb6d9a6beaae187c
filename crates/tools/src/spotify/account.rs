//! Who we are at Spotify: a login that is kept in the home, or given by variables, and renewed when it is
//! no longer accepted.
//!
//! Renewing hands out a new token to renew with, and makes the old one worthless. So whoever finds that
//! a token was refused looks first whether somebody else has renewed it meanwhile.

use std::sync::Arc;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use hermes_core::logins::Logins;
use serde_json::{Map, Value, json};

use super::SERVICE;
use crate::api::{Api, ApiError, Ask, address};

/// The name of its login.
pub(crate) const NAME: &str = "spotify";

const API: &str = "https://api.spotify.com/v1";
const ACCOUNTS: &str = "https://accounts.spotify.com";

/// The person's account, for one call.
pub(crate) struct Account<'a> {
    cx: &'a ToolCx,
    login: Login,
}

/// What renewing needs, and what it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Login {
    client: String,
    access: Option<String>,
    renewal: Option<String>,
    api: String,
    accounts: String,
}

impl Login {
    /// The kept login, or what variables say.
    fn new(kept: Option<&Map<String, Value>>, keys: &dyn Keys) -> Option<Self> {
        let text = |name: &str| {
            let text = kept?.get(name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let variable = || keys.key("HERMES_SPOTIFY_CLIENT_ID").or_else(|| keys.key("SPOTIFY_CLIENT_ID"));
        let (access, mut renewal) = (text("access_token"), text("refresh_token"));
        if kept.is_none() {
            renewal = keys.key("SPOTIFY_REFRESH_TOKEN");
        }
        if access.is_none() && renewal.is_none() {
            return None;
        }
        let at = |field: &str, variable: &str, usual: &str| {
            address(keys, variable, &text(field).unwrap_or_else(|| usual.to_owned()))
        };
        Some(Self {
            client: text("client_id").or_else(variable).unwrap_or_default(),
            access,
            renewal,
            api: at("api_base_url", "HERMES_SPOTIFY_API_BASE_URL", API),
            accounts: at("accounts_base_url", "HERMES_SPOTIFY_ACCOUNTS_BASE_URL", ACCOUNTS),
        })
    }
}

impl<'a> Account<'a> {
    /// The account that somebody has logged in to.
    pub(crate) async fn open(cx: &'a ToolCx) -> Result<Self, ToolError> {
        let none =
            || ToolError::Failed("nobody is logged in to Spotify; `hermes auth spotify` does it".to_owned());
        let login = read(cx).await?.ok_or_else(none)?;
        let mut account = Self { cx, login };
        if account.login.access.is_none() {
            account.renew().await?;
        }
        Ok(account)
    }

    /// Asks, once more with a new token if the old one is not accepted.
    pub(crate) async fn ask(&mut self, ask: Ask) -> Result<Value, ApiError> {
        match self.api()?.ask(ask.clone()).await {
            Err(error) if error.status() == Some(401) => {
                self.renew().await?;
                self.api()?.ask(ask).await
            }
            other => other,
        }
    }

    /// Has something done, likewise. What was refused for the token was not done.
    pub(crate) async fn tell(&mut self, ask: Ask) -> Result<Value, ApiError> {
        match self.api()?.tell(ask.clone()).await {
            Err(error) if error.status() == Some(401) => {
                self.renew().await?;
                self.api()?.tell(ask).await
            }
            other => other,
        }
    }

    fn api(&self) -> Result<Api<'a>, ToolError> {
        let token = self.login.access.as_deref().unwrap_or_default();
        Ok(Api::new(self.cx, &SERVICE, &self.login.api)?.bearer(token))
    }

    /// Gets a new token: the one that somebody else got meanwhile, or one of our own.
    async fn renew(&mut self) -> Result<(), ToolError> {
        if self.somebody_has_renewed().await? {
            return Ok(());
        }
        let Some(renewal) = self.login.renewal.clone() else {
            let why =
                "the login at Spotify has ended and cannot be renewed; `hermes auth spotify` makes a new one";
            return Err(ToolError::Failed(why.to_owned()));
        };
        let form =
            [("grant_type", "refresh_token"), ("refresh_token", &renewal), ("client_id", &self.login.client)];
        let accounts = Api::new(self.cx, &SERVICE, &self.login.accounts)?;
        let answer = match accounts.ask(Ask::post(&["api", "token"]).form(&form)).await {
            Ok(answer) => answer,
            // Another process may have been a little faster.
            Err(ApiError::Refused(refused)) if refused.status == 400 => {
                if self.somebody_has_renewed().await? {
                    return Ok(());
                }
                let why = format!(
                    "the login at Spotify has ended ({}); `hermes auth spotify` makes a new one",
                    refused.said
                );
                return Err(ToolError::Failed(why));
            }
            Err(other) => return Err(other.into()),
        };
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(access) = text("access_token") else {
            return Err(ToolError::Failed("Spotify renewed the login without a token".to_owned()));
        };
        self.login.renewal = text("refresh_token").or(Some(renewal));
        self.login.access = Some(access);
        self.keep(&answer).await
    }

    /// Whether what is kept is no longer what was refused.
    async fn somebody_has_renewed(&mut self) -> Result<bool, ToolError> {
        let Some(fresh) = read(self.cx).await? else { return Ok(false) };
        let is_new = fresh.access.is_some() && fresh.access != self.login.access;
        if is_new {
            self.login = fresh;
        }
        Ok(is_new)
    }

    async fn keep(&self, answer: &Value) -> Result<(), ToolError> {
        let Some(logins) = self.cx.service::<Arc<dyn Logins>>() else { return Ok(()) };
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("access_token", json!(self.login.access));
        set("refresh_token", json!(self.login.renewal));
        set("client_id", json!(self.login.client));
        set("token_type", answer.get("token_type").cloned().unwrap_or_default());
        set("expires_in", answer.get("expires_in").cloned().unwrap_or_default());
        // When that is, is not known here; whoever wants to know renews once too often.
        set("expires_at", Value::Null);
        set("obtained_at", Value::Null);
        logins.renew(NAME, fields).await.map_err(|why| ToolError::Failed(why.to_string()))
    }
}

/// The login as it is now.
async fn read(cx: &ToolCx) -> Result<Option<Login>, ToolError> {
    let kept = match cx.service::<Arc<dyn Logins>>() {
        Some(logins) => logins.login(NAME).await.map_err(|why| ToolError::Failed(why.to_string()))?,
        None => None,
    };
    Ok(Login::new(kept.as_ref(), cx.keys()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Variables(&'static [(&'static str, &'static str)]);

    impl Keys for Variables {
        fn key(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn setting(&self, _key: &str) -> Option<Value> {
            None
        }
    }

    #[test]
    fn what_is_kept_comes_before_what_variables_say() {
        let variables = Variables(&[("SPOTIFY_REFRESH_TOKEN", "r0"), ("SPOTIFY_CLIENT_ID", "c0")]);
        let kept = json!({ "access_token": "a1", "refresh_token": "r1", "client_id": "c1" });
        let login = Login::new(kept.as_object(), &variables).unwrap();

        assert_eq!((login.client.as_str(), login.renewal.as_deref()), ("c1", Some("r1")));
        assert_eq!(login.api, API);
        let login = Login::new(None, &variables).unwrap();
        assert_eq!((login.client.as_str(), login.access, login.renewal.as_deref()), ("c0", None, Some("r0")));
        assert_eq!(Login::new(None, &Variables(&[])), None);
    }
}
