//! Who gives the right to ask a server, and where: RFC 9728, RFC 8414, `OpenID` Connect discovery, and
//! the way it was before those.

use hermes_net::{Http, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::web::document;
use super::{Challenge, OAuthError};

/// What the server and its authority say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// What the right is for, as the server names itself; nothing where it does not.
    pub(super) resource: Option<String>,
    /// Scopes that the server lists.
    pub(super) scopes: Vec<String>,
    /// Its authority.
    pub(super) authority: Endpoints,
}

/// Where an authority is asked for what.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Endpoints {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    pub(super) scopes_supported: Vec<String>,
    pub(super) token_endpoint_auth_methods_supported: Vec<String>,
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    pub(super) client_id_metadata_document_supported: bool,
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// Asks the server, then its authority.
pub(super) async fn discover(http: &Http, server: &Url, challenge: &Challenge) -> Result<Found, OAuthError> {
    let Some(told) = resource(http, server, challenge).await? else {
        // Before servers described themselves they were their own authority.
        let base = server.with_path("/");
        let authority = match endpoints(http, &base, Named::Freely).await? {
            Some(authority) => authority,
            None => usual(&base),
        };
        return Ok(Found { resource: None, scopes: Vec::new(), authority });
    };
    let named = text(&told, "resource").ok_or_else(|| wrong("the server does not say what it is"))?;
    if !covers(&named, server) {
        return Err(wrong(&format!("the server says it is {named}, which it is not")));
    }
    let authorities = texts(&told, "authorization_servers");
    let issuer = match authorities.first() {
        Some(issuer) => Url::parse(issuer).ok_or_else(|| wrong("its authority has no proper address"))?,
        None => server.with_path("/"),
    };
    let authority = endpoints(http, &issuer, Named::Exactly).await?;
    let authority = authority.ok_or_else(|| wrong(&format!("{} does not describe itself", issuer.text())))?;
    Ok(Found { resource: Some(named), scopes: texts(&told, "scopes_supported"), authority })
}

/// What the server says of itself; nothing where it says nothing.
async fn resource(http: &Http, server: &Url, challenge: &Challenge) -> Result<Option<Value>, OAuthError> {
    if let Some(address) = &challenge.resource_metadata {
        let url =
            Url::parse(address).ok_or_else(|| wrong("the server's description has no proper address"))?;
        if let Some(told) = document(http, &url).await? {
            return Ok(Some(told));
        }
    }
    let path = path_of(server);
    for place in [
        format!("/.well-known/oauth-protected-resource{path}"),
        "/.well-known/oauth-protected-resource".to_owned(),
    ] {
        if let Some(told) = document(http, &server.with_path(&place)).await? {
            return Ok(Some(told));
        }
    }
    Ok(None)
}

/// The path without query and trailing slash.
fn path_of(url: &Url) -> String {
    url.path.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned()
}

/// Whether an authority has to call itself what it was found as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Exactly,
    /// Before servers named their authority there was nothing to compare with.
    Freely,
}

/// What an authority says of itself, checked; nothing where it says nothing.
async fn endpoints(http: &Http, issuer: &Url, named: Named) -> Result<Option<Endpoints>, OAuthError> {
    described(http, issuer).await?.map(|found| checked(found, issuer, named)).transpose()
}

/// Where a company's directory is asked. Nobody is sent to a page of it, so less has to be there.
pub(super) async fn token_endpoint(http: &Http, issuer: &str) -> Result<String, OAuthError> {
    let url = Url::parse(issuer).ok_or_else(|| wrong("the directory has no proper address"))?;
    let found = described(http, &url).await?.filter(|found| !found.token_endpoint.is_empty());
    let found = found.ok_or_else(|| wrong(&format!("{} does not say where to ask", url.text())))?;
    if found.issuer.trim_end_matches('/') != url.text().trim_end_matches('/') {
        return Err(wrong(&format!("{} describes itself as {}", url.text(), found.issuer)));
    }
    Ok(found.token_endpoint)
}

/// What somebody says of itself where authorities do; nothing where nothing is said.
async fn described(http: &Http, issuer: &Url) -> Result<Option<Endpoints>, OAuthError> {
    let path = path_of(issuer);
    let mut places = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    for place in places {
        let Some(told) = document(http, &issuer.with_path(&place)).await? else { continue };
        let found: Endpoints = serde_json::from_value(told)
            .map_err(|error| wrong(&format!("{} describes itself badly: {error}", issuer.text())))?;
        return Ok(Some(found));
    }
    Ok(None)
}

/// The description is the issuer's own, and complete.
fn checked(found: Endpoints, issuer: &Url, named: Named) -> Result<Endpoints, OAuthError> {
    let same = |a: &str, b: &str| a.trim_end_matches('/') == b.trim_end_matches('/');
    if named == Named::Exactly && !found.issuer.is_empty() && !same(&found.issuer, &issuer.text()) {
        return Err(wrong(&format!("{} describes itself as {}", issuer.text(), found.issuer)));
    }
    if found.authorization_endpoint.is_empty() || found.token_endpoint.is_empty() {
        return Err(wrong(&format!("{} does not say where to ask", issuer.text())));
    }
    match &found.code_challenge_methods_supported {
        Some(methods) if methods.iter().any(|method| method == "S256") => Ok(found),
        _ => Err(wrong(&format!("{} does not protect the way back (PKCE with S256)", issuer.text()))),
    }
}

/// Where the endpoints were before there were descriptions.
fn usual(base: &Url) -> Endpoints {
    let at = |path: &str| base.with_path(path).text();
    Endpoints {
        authorization_endpoint: at("/authorize"),
        token_endpoint: at("/token"),
        registration_endpoint: Some(at("/register")),
        ..Endpoints::default()
    }
}

/// Whether the name that a server gives itself is its own: the same host, and a path above or equal.
fn covers(named: &str, server: &Url) -> bool {
    let Some(named) = Url::parse(named) else { return false };
    let same = (named.tls, &named.host, named.port) == (server.tls, &server.host, server.port);
    let (above, own) = (path_of(&named), path_of(server));
    same && (own == above || own.strip_prefix(&above).is_some_and(|rest| rest.starts_with('/')))
}

fn text(map: &Value, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

fn texts(map: &Value, key: &str) -> Vec<String> {
    let items = map.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

fn wrong(why: &str) -> OAuthError {
    OAuthError::Wrong(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_name_itself_or_what_is_above_it() {
        let server = Url::parse("https://a.example/x/mcp").unwrap();

        for own in
            ["https://a.example/x/mcp", "https://a.example/x", "https://a.example/", "https://a.example"]
        {
            assert!(covers(own, &server), "{own}");
        }
        for other in ["https://b.example/x/mcp", "http://a.example/x/mcp", "https://a.example/x/mc", "evil"] {
            assert!(!covers(other, &server), "{other}");
        }
    }

    #[test]
    fn an_authority_that_speaks_for_another_is_refused() {
        let issuer = Url::parse("https://auth.example").unwrap();
        let good = Endpoints {
            issuer: "https://auth.example/".to_owned(),
            authorization_endpoint: "https://auth.example/a".to_owned(),
            token_endpoint: "https://auth.example/t".to_owned(),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..Endpoints::default()
        };

        assert!(checked(good.clone(), &issuer, Named::Exactly).is_ok());
        let other = Endpoints { issuer: "https://evil.example".to_owned(), ..good.clone() };
        assert!(checked(other, &issuer, Named::Exactly).is_err());
        let unprotected = Endpoints { code_challenge_methods_supported: None, ..good };
        assert!(checked(unprotected, &issuer, Named::Exactly).is_err());
    }
}
