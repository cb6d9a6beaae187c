//! What is got, kept and renewed.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_net::{Http, Url, unix_now};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OAuthError;
use super::assertion::{self, assertion};
use super::client::{Client, Proof};
use super::discover::Endpoints;
use super::web::{encoded, form, post};

/// A right is renewed when it has less than this left, in seconds.
const MARGIN: u64 = 30;

/// The right to ask a server, with all that is needed to renew it.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    /// Seconds since 1970.
    pub(super) until: Option<u64>,
    pub(super) scope: Option<String>,
    /// What it is for.
    pub(super) resource: Option<String>,
    pub(super) client: Client,
    pub(super) authority: Endpoints,
}

/// Leaves out everything secret.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("until", &self.until)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// What was written down, if it can be read.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|tokens: &Self| !tokens.access.is_empty())
    }

    /// As it is written down.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Whether it is, or will soon be, over.
    pub fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| until <= now.saturating_add(MARGIN))
    }
}

/// Asks the authority for a right in exchange for what `fields` say.
pub(super) async fn exchange(
    http: &Http,
    authority: &Endpoints,
    client: &Client,
    resource: Option<&str>,
    mut fields: Vec<(&str, String)>,
) -> Result<Tokens, OAuthError> {
    let wrong = || OAuthError::Wrong("its authority has no proper address to ask".to_owned());
    let url = Url::parse(&authority.token_endpoint).ok_or_else(wrong)?;
    let mut headers = Vec::new();
    match (client.proof(authority), &client.secret) {
        (Proof::Basic, Some(secret)) => {
            let pair = STANDARD.encode(format!("{}:{}", encoded(&client.id), encoded(secret)));
            headers.push(("authorization".to_owned(), format!("Basic {pair}")));
        }
        (Proof::Post, Some(secret)) => {
            fields.push(("client_id", client.id.clone()));
            fields.push(("client_secret", secret.clone()));
        }
        (Proof::Signed, _) => {
            // Authorities want to be meant by their own name; one without a name by its address.
            let name = [&authority.issuer, &authority.token_endpoint].into_iter().find(|it| !it.is_empty());
            let key = client.key.as_deref().unwrap_or(Path::new(""));
            let signed = assertion(&client.id, key, name.map(String::as_str).unwrap_or_default())?;
            fields.push(("client_id", client.id.clone()));
            fields.push(("client_assertion_type", assertion::KIND.to_owned()));
            fields.push(("client_assertion", signed));
        }
        _ => fields.push(("client_id", client.id.clone())),
    }
    if let Some(resource) = resource {
        fields.push(("resource", resource.to_owned()));
    }
    let kind = "application/x-www-form-urlencoded";
    let (status, told) = post(http, &url, headers, form(&fields), kind).await?;
    let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(access) = text("access_token").filter(|_| status.is_success()) else {
        let why =
            text("error_description").or_else(|| text("error")).unwrap_or_else(|| format!("HTTP {status}"));
        return Err(OAuthError::Refused(format!("its authority said no: {why}")));
    };
    let lasts = told.get("expires_in").and_then(|it| it.as_u64().or_else(|| it.as_str()?.parse().ok()));
    Ok(Tokens {
        access,
        refresh: text("refresh_token"),
        until: lasts.map(|lasts| unix_now().saturating_add(lasts)),
        scope: text("scope"),
        resource: resource.map(str::to_owned),
        client: client.clone(),
        authority: authority.clone(),
    })
}

/// A new right in place of an old one.
pub(super) async fn refresh(http: &Http, known: &Tokens) -> Result<Tokens, OAuthError> {
    let token = known.refresh.clone().ok_or(OAuthError::NeedsPerson)?;
    let fields = vec![("grant_type", "refresh_token".to_owned()), ("refresh_token", token.clone())];
    let mut fresh =
        exchange(http, &known.authority, &known.client, known.resource.as_deref(), fields).await?;
    // An authority that gives no new one means the old one to be used again.
    fresh.refresh = fresh.refresh.or(Some(token));
    fresh.scope = fresh.scope.or_else(|| known.scope.clone());
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_shows_nothing() {
        let tokens = Tokens {
            access: "very-secret".to_owned(),
            refresh: Some("also-secret".to_owned()),
            until: Some(1000),
            ..Tokens::default()
        };

        assert_eq!(Tokens::read(&tokens.text()), Some(tokens.clone()));
        assert!(!format!("{tokens:?}").contains("secret"));
        assert!(tokens.is_over(980) && !tokens.is_over(900));
        assert_eq!(Tokens::read("{}"), None);
    }
}
