//! Asking the person, and taking what comes back: the authorisation code with PKCE.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::client::client;
use super::discover::{Found, discover};
use super::token::{Tokens, exchange};
use super::web::{fields, form};
use super::{Authority, Challenge, OAuthError, Person};
use crate::mcp::client::Kept;

impl Authority {
    /// The whole way: who gives the right, who we are to them, the person's yes, the right itself.
    pub(super) async fn log_in(
        &self,
        person: &dyn Person,
        challenge: &Challenge,
        before: Option<&str>,
    ) -> Result<Tokens, OAuthError> {
        let found = discover(&self.http, &self.url, challenge).await?;
        let scope = scope(self.config.scope.as_deref(), challenge, &found, before);
        let redirect = person.redirect_uri();
        let kept = self.vault.read(&self.server, Kept::Tokens).and_then(|text| Tokens::read(&text));
        let known =
            kept.filter(|kept| kept.authority.issuer == found.authority.issuer).map(|kept| kept.client);
        let known = known.as_ref();
        let us =
            client(&self.http, &self.config, &found.authority, &redirect, known, scope.as_deref()).await?;
        let secrets = Secrets::new()?;
        let mut query = vec![
            ("response_type", "code".to_owned()),
            ("client_id", us.id.clone()),
            ("redirect_uri", redirect.clone()),
            ("state", secrets.state.clone()),
            ("code_challenge", secrets.challenge()),
            ("code_challenge_method", "S256".to_owned()),
        ];
        if let Some(scope) = &scope {
            query.push(("scope", scope.clone()));
            if scope.split(' ').any(|word| word == "offline_access") {
                query.push(("prompt", "consent".to_owned()));
            }
        }
        let resource = found.resource.clone().or_else(|| Some(self.url.text()));
        if let Some(resource) = &resource {
            query.push(("resource", resource.clone()));
        }
        let page = &found.authority.authorization_endpoint;
        let joint = if page.contains('?') { '&' } else { '?' };
        let page = format!("{page}{joint}{}", form(&query));
        let back = person.visit(&page).await.map_err(OAuthError::Refused)?;
        let code = code(&back, &secrets.state, &found)?;
        let given = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", secrets.verifier),
        ];
        let mut tokens = exchange(&self.http, &found.authority, &us, resource.as_deref(), given).await?;
        tokens.scope = tokens.scope.or(scope);
        self.keep(&tokens)?;
        Ok(tokens)
    }
}

impl Authority {
    /// The right of a client that asks in its own name, with its secret or its key.
    pub(super) async fn in_own_name(&self, challenge: &Challenge) -> Result<Tokens, OAuthError> {
        let found = discover(&self.http, &self.url, challenge).await?;
        let scope = scope(self.config.scope.as_deref(), challenge, &found, None);
        let us = client(&self.http, &self.config, &found.authority, "", None, scope.as_deref()).await?;
        let mut given = vec![("grant_type", "client_credentials".to_owned())];
        given.extend(scope.map(|scope| ("scope", scope)));
        let resource = found.resource.clone().or_else(|| Some(self.url.text()));
        let tokens = exchange(&self.http, &found.authority, &us, resource.as_deref(), given).await?;
        self.keep(&tokens)?;
        Ok(tokens)
    }
}

/// What nobody else knows about this one question.
struct Secrets {
    verifier: String,
    state: String,
}

impl Secrets {
    fn new() -> Result<Self, OAuthError> {
        let wrong = || OAuthError::Wrong("this machine has no random numbers to give".to_owned());
        let verifier = URL_SAFE_NO_PAD.encode(hermes_net::random::<32>().ok_or_else(wrong)?);
        let state = URL_SAFE_NO_PAD.encode(hermes_net::random::<16>().ok_or_else(wrong)?);
        Ok(Self { verifier, state })
    }

    fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()))
    }
}

/// What is asked for: what the configuration wants, else what the server wants now together with what
/// there was before, else what it lists, else nothing in particular.
pub(super) fn scope(
    configured: Option<&str>,
    challenge: &Challenge,
    found: &Found,
    before: Option<&str>,
) -> Option<String> {
    if let Some(scope) = configured {
        return Some(scope.to_owned());
    }
    let mut words: Vec<String> = Vec::new();
    let mut add = |scope: &str| {
        for word in scope.split_whitespace() {
            if !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
    };
    match &challenge.scope {
        Some(wanted) => {
            if challenge.wants_more() {
                add(before.unwrap_or_default());
            }
            add(wanted);
        }
        None => add(&found.scopes.join(" ")),
    }
    if words.is_empty() {
        return None;
    }
    // Without it some authorities give nothing to renew the right with.
    if found.authority.scopes_supported.iter().any(|word| word == "offline_access") {
        add_offline(&mut words);
    }
    Some(words.join(" "))
}

fn add_offline(words: &mut Vec<String>) {
    if !words.iter().any(|word| word == "offline_access") {
        words.push("offline_access".to_owned());
    }
}

/// The code in the address that came back, if it is the answer to our question.
fn code(back: &str, state: &str, found: &Found) -> Result<String, OAuthError> {
    let query = back.split_once('?').map_or(back, |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let told = fields(query);
    if told.get("state").map(String::as_str) != Some(state) {
        return Err(OAuthError::Wrong("what came back is not the answer to this question".to_owned()));
    }
    let issuer = &found.authority.issuer;
    let other = match told.get("iss") {
        Some(iss) => !issuer.is_empty() && iss != issuer,
        None => found.authority.authorization_response_iss_parameter_supported,
    };
    if other {
        return Err(OAuthError::Wrong("what came back is from another authority".to_owned()));
    }
    if let Some(error) = told.get("error") {
        let why = told.get("error_description").unwrap_or(error);
        return Err(OAuthError::Refused(format!("the answer was no: {why}")));
    }
    told.get("code").cloned().ok_or_else(|| OAuthError::Wrong("what came back has no code in it".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::discover::Endpoints;
    use super::*;

    fn found(listed: &[&str], offline: bool) -> Found {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let scopes_supported = if offline { words(&["offline_access"]) } else { Vec::new() };
        let authority =
            Endpoints { scopes_supported, issuer: "https://a".to_owned(), ..Endpoints::default() };
        Found { resource: None, scopes: words(listed), authority }
    }

    #[test]
    fn the_scope_is_what_is_wanted_now_and_not_less_than_before() {
        let none = Challenge::default();
        let wanted = Challenge { scope: Some("b".to_owned()), ..Challenge::default() };
        let more = Challenge { error: Some("insufficient_scope".to_owned()), ..wanted.clone() };

        assert_eq!(scope(Some("c"), &wanted, &found(&["x"], false), None).as_deref(), Some("c"));
        assert_eq!(scope(None, &wanted, &found(&["x"], false), Some("a")).as_deref(), Some("b"));
        assert_eq!(scope(None, &more, &found(&["x"], false), Some("a b")).as_deref(), Some("a b"));
        assert_eq!(
            scope(None, &none, &found(&["x", "y"], true), None).as_deref(),
            Some("x y offline_access")
        );
        assert_eq!(scope(None, &none, &found(&[], false), None), None);
    }

    #[test]
    fn an_answer_to_another_question_or_from_another_authority_is_refused() {
        let found = found(&[], false);

        assert_eq!(code("http://localhost/callback?code=x&state=s", "s", &found).unwrap(), "x");
        assert_eq!(
            code("http://localhost/callback?code=x&state=s&iss=https%3A%2F%2Fa", "s", &found).unwrap(),
            "x"
        );
        for bad in [
            "?code=x&state=t",
            "?code=x",
            "?state=s&error=access_denied",
            "?state=s",
            "?code=x&state=s&iss=https%3A%2F%2Fb",
        ] {
            assert!(code(bad, "s", &found).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_challenge_is_the_one_of_the_rfc() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();

        let secrets = Secrets { verifier, state: String::new() };

        assert_eq!(secrets.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
