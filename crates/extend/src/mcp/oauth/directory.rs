//! The right of somebody whom a company's directory vouches for: what they got when they logged in there
//! is exchanged for a letter to the server's authority (RFC 8693), and that for the right (RFC 7523).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_net::Url;
use serde_json::Value;

use super::client::client;
use super::discover::{Endpoints, discover, token_endpoint};
use super::flow::scope;
use super::token::{Tokens, exchange};
use super::web::{encoded, form, post};
use super::{Authority, Challenge, OAuthError};
use crate::mcp::client::Directory;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const LETTER: &str = "urn:ietf:params:oauth:token-type:id-jag";
const LOGIN: &str = "urn:ietf:params:oauth:token-type:id_token";
const WITH_LETTER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

impl Authority {
    /// The right that comes of the directory's letter.
    pub(super) async fn vouched_for(
        &self,
        directory: &Directory,
        challenge: &Challenge,
    ) -> Result<Tokens, OAuthError> {
        let found = discover(&self.http, &self.url, challenge).await?;
        let scope = scope(self.config.scope.as_deref(), challenge, &found, None);
        let resource = found.resource.clone().unwrap_or_else(|| self.url.text());
        let us = client(&self.http, &self.config, &found.authority, "", None, scope.as_deref()).await?;
        let letter = self.letter(directory, &found.authority, &resource, scope.as_deref()).await?;
        let mut given = vec![("grant_type", WITH_LETTER.to_owned()), ("assertion", letter)];
        given.extend(scope.map(|scope| ("scope", scope)));
        let tokens = exchange(&self.http, &found.authority, &us, Some(&resource), given).await?;
        self.keep(&tokens)?;
        Ok(tokens)
    }

    /// Asks the directory for a letter to the authority.
    async fn letter(
        &self,
        directory: &Directory,
        authority: &Endpoints,
        resource: &str,
        scope: Option<&str>,
    ) -> Result<String, OAuthError> {
        let wrong = |why: &str| OAuthError::Wrong(why.to_owned());
        let login = directory.id_token.clone().ok_or(OAuthError::NeedsPerson)?;
        let address = match (&directory.token_endpoint, &directory.issuer) {
            (Some(address), _) => address.clone(),
            (None, Some(issuer)) => token_endpoint(&self.http, issuer).await?,
            (None, None) => return Err(wrong("the directory has no address")),
        };
        let url = Url::parse(&address).ok_or_else(|| wrong("the directory has no proper address"))?;
        let mut fields = vec![
            ("grant_type", EXCHANGE.to_owned()),
            ("requested_token_type", LETTER.to_owned()),
            ("audience", authority.issuer.clone()),
            ("resource", resource.to_owned()),
            ("subject_token", login),
            ("subject_token_type", LOGIN.to_owned()),
        ];
        fields.extend(scope.map(|scope| ("scope", scope.to_owned())));
        let mut headers = Vec::new();
        match (&directory.client_id, &directory.client_secret) {
            (Some(id), Some(secret)) => {
                let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
                headers.push(("authorization".to_owned(), format!("Basic {pair}")));
            }
            (Some(id), None) => fields.push(("client_id", id.clone())),
            (None, _) => {}
        }
        let kind = "application/x-www-form-urlencoded";
        let (status, told) = post(&self.http, &url, headers, form(&fields), kind).await?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        match text("access_token") {
            Some(letter) if status.is_success() && text("issued_token_type").as_deref() == Some(LETTER) => {
                Ok(letter)
            }
            Some(_) if status.is_success() => {
                Err(wrong("the directory answered with something else than a letter"))
            }
            _ => {
                let why = text("error_description").or_else(|| text("error"));
                let why = why.unwrap_or_else(|| format!("HTTP {status}"));
                Err(OAuthError::Refused(format!("the directory does not vouch for this login: {why}")))
            }
        }
    }
}
