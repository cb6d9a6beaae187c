//! Who we are to an authority: a client it knows from the configuration, from a document, or because
//! we registered.

use std::path::PathBuf;

use hermes_net::{Http, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::OAuthError;
use super::discover::Endpoints;
use super::web::post;
use crate::mcp::client::OAuth;

/// A client that an authority knows.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// A file with the key that it signs with, instead of a secret.
    pub(super) key: Option<PathBuf>,
    /// How it proves to be itself, where the authority said.
    pub(super) method: Option<String>,
}

/// Leaves out the secret.
impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("id", &self.id).field("method", &self.method).finish_non_exhaustive()
    }
}

/// The client to be: the configured one, a document's, one that was registered before, or a new one.
pub(super) async fn client(
    http: &Http,
    config: &OAuth,
    authority: &Endpoints,
    redirect: &str,
    before: Option<&Client>,
    scope: Option<&str>,
) -> Result<Client, OAuthError> {
    if let Some(id) = &config.client_id {
        return Ok(Client {
            id: id.clone(),
            secret: config.client_secret.clone(),
            key: config.private_key.as_ref().map(PathBuf::from),
            method: None,
        });
    }
    if authority.client_id_metadata_document_supported
        && let Some(document) = &config.client_metadata_url
    {
        let key = config.private_key.as_ref().map(PathBuf::from);
        return Ok(Client { id: document.clone(), secret: None, key, method: Some("none".to_owned()) });
    }
    if let Some(before) = before {
        return Ok(before.clone());
    }
    register(http, config, authority, redirect, scope).await
}

/// Registers a new client (RFC 7591).
async fn register(
    http: &Http,
    config: &OAuth,
    authority: &Endpoints,
    redirect: &str,
    scope: Option<&str>,
) -> Result<Client, OAuthError> {
    let closed = || {
        OAuthError::Wrong(
            "its authority takes no new clients; set `oauth.client_id` for the server in config.yaml"
                .to_owned(),
        )
    };
    let address = authority.registration_endpoint.as_deref().ok_or_else(closed)?;
    let url = Url::parse(address).ok_or_else(closed)?;
    let supported = &authority.token_endpoint_auth_methods_supported;
    let takes = |method: &&str| supported.is_empty() || supported.iter().any(|known| known == method);
    let method =
        ["none", "client_secret_basic", "client_secret_post"].into_iter().find(takes).unwrap_or("none");
    let mut wish = json!({
        "client_name": config.client_name.as_deref().unwrap_or("hermes"),
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native",
    });
    if let (Some(scope), Some(wish)) = (scope, wish.as_object_mut()) {
        wish.insert("scope".to_owned(), scope.into());
    }
    let (status, told) = post(http, &url, Vec::new(), wish.to_string(), "application/json").await?;
    let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
    match text("client_id") {
        Some(id) if status.is_success() => {
            let told_method = text("token_endpoint_auth_method");
            Ok(Client {
                id,
                secret: text("client_secret"),
                key: None,
                method: told_method.or_else(|| Some(method.to_owned())),
            })
        }
        _ => {
            let why = text("error_description")
                .or_else(|| text("error"))
                .unwrap_or_else(|| format!("HTTP {status}"));
            Err(OAuthError::Refused(format!("its authority would not register this program: {why}")))
        }
    }
}

impl Client {
    /// How it proves to be itself at this authority.
    pub(super) fn proof(&self, authority: &Endpoints) -> Proof {
        if self.key.is_some() {
            return Proof::Signed;
        }
        if self.secret.is_none() {
            return Proof::None;
        }
        let supported = &authority.token_endpoint_auth_methods_supported;
        let listed = |method: &str| supported.iter().any(|known| known == method);
        match self.method.as_deref() {
            Some("client_secret_post") => Proof::Post,
            Some("client_secret_basic") => Proof::Basic,
            Some("none") => Proof::None,
            _ if supported.is_empty() || listed("client_secret_basic") => Proof::Basic,
            _ if listed("client_secret_post") => Proof::Post,
            _ => Proof::None,
        }
    }
}

/// How a client proves to be itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// It does not: the way back is protected instead.
    None,
    /// In a header.
    Basic,
    /// In the form.
    Post,
    /// By a signed statement.
    Signed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_proves_itself_as_it_was_registered_or_as_the_authority_likes() {
        let endpoints = |methods: &[&str]| Endpoints {
            token_endpoint_auth_methods_supported: methods.iter().map(|&it| it.to_owned()).collect(),
            ..Endpoints::default()
        };
        let client = |secret: Option<&str>, method: Option<&str>| Client {
            id: "c".to_owned(),
            secret: secret.map(str::to_owned),
            key: None,
            method: method.map(str::to_owned),
        };

        assert_eq!(client(None, Some("client_secret_basic")).proof(&endpoints(&[])), Proof::None);
        assert_eq!(client(Some("s"), Some("client_secret_post")).proof(&endpoints(&[])), Proof::Post);
        assert_eq!(client(Some("s"), None).proof(&endpoints(&[])), Proof::Basic);
        assert_eq!(client(Some("s"), None).proof(&endpoints(&["client_secret_post"])), Proof::Post);
        assert_eq!(client(Some("s"), None).proof(&endpoints(&["none"])), Proof::None);
        let signs = Client { key: Some("key.pem".into()), ..client(None, Some("none")) };
        assert_eq!(signs.proof(&endpoints(&["private_key_jwt"])), Proof::Signed);
    }
}
