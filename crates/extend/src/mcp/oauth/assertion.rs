//! A client that proves to be itself by signing a statement, instead of showing a secret (RFC 7523).

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_net::{SigningKey, unix_now};
use serde_json::{Value, json};

use super::OAuthError;

/// The kind of statement, for the authority.
pub(super) const KIND: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Seconds a statement holds: as long as one request may take.
const HOLDS: u64 = 120;

/// That we are this client, signed for one authority and one request.
pub(super) fn assertion(client: &str, key: &Path, audience: &str) -> Result<String, OAuthError> {
    let key = SigningKey::read(key).map_err(OAuthError::Wrong)?;
    let wrong = || OAuthError::Wrong("this machine has no random numbers to give".to_owned());
    let number = URL_SAFE_NO_PAD.encode(hermes_net::random::<16>().ok_or_else(wrong)?);
    let now = unix_now();
    let claims = json!({
        "iss": client, "sub": client, "aud": audience, "jti": number, "iat": now, "exp": now + HOLDS,
    });
    signed(&key, &claims).map_err(OAuthError::Wrong)
}

fn signed(key: &SigningKey, claims: &Value) -> Result<String, String> {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(&json!({ "alg": key.name(), "typ": "JWT" })), part(claims));
    let signature = key.sign(text.as_bytes())?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
