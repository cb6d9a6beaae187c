//! The few requests that getting a right needs: documents, forms, and nothing that follows redirects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hermes_net::{Call, Http, Limits, StatusCode, Url};
use serde_json::Value;

use super::{Challenge, OAuthError};

const LIMITS: Limits = Limits {
    connect: Duration::from_secs(15),
    idle: Duration::from_secs(30),
    total: Duration::from_secs(60),
};

/// Longest document that is read.
const MAX_DOCUMENT: usize = 1024 * 1024;

/// A JSON document; nothing when there is none at this address.
pub(super) async fn document(http: &Http, url: &Url) -> Result<Option<Value>, OAuthError> {
    safe(url)?;
    let call = Call::get(url, LIMITS)
        .header("accept", "application/json")
        .header("mcp-protocol-version", "2025-11-25");
    let mut reply = http.send(call).await.map_err(|error| OAuthError::Unreachable(error.to_string()))?;
    if !reply.status.is_success() {
        return Ok(None);
    }
    let body = reply.read(MAX_DOCUMENT).await.map_err(|error| OAuthError::Unreachable(error.to_string()))?;
    Ok(serde_json::from_slice(&body).ok().filter(Value::is_object))
}

/// Sends a form or a document; the status and the document that came back.
pub(super) async fn post(
    http: &Http,
    url: &Url,
    headers: Vec<(String, String)>,
    body: String,
    kind: &str,
) -> Result<(StatusCode, Value), OAuthError> {
    safe(url)?;
    let call = Call::post(url, body, LIMITS)
        .header("content-type", kind)
        .header("accept", "application/json")
        .headers(headers)
        .once();
    let mut reply = http.send(call).await.map_err(|error| OAuthError::Unreachable(error.to_string()))?;
    let status = reply.status;
    let body = reply.read(MAX_DOCUMENT).await.map_err(|error| OAuthError::Unreachable(error.to_string()))?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Rights travel encrypted, or stay on this machine.
pub(super) fn safe(url: &Url) -> Result<(), OAuthError> {
    if url.tls || url.is_loopback() {
        return Ok(());
    }
    Err(OAuthError::Wrong(format!("{} is not encrypted, and not on this machine", url.text())))
}

/// Asks the server without a right, to hear what it wants.
pub(super) async fn challenge_of(
    http: &Http,
    url: &Url,
    headers: &BTreeMap<String, String>,
) -> Result<Challenge, OAuthError> {
    let probe = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
    let call = Call::post(url, probe, LIMITS)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .headers(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    let reply = http.send(call).await.map_err(|error| OAuthError::Unreachable(error.to_string()))?;
    Ok(reply.header("www-authenticate").map(Challenge::read).unwrap_or_default())
}

/// A form as it is sent.
pub(super) fn form(fields: &[(&str, String)]) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

/// Text that can stand in a form or a query.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The fields of a query.
pub(super) fn fields(query: &str) -> BTreeMap<String, String> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name), decoded(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|it| u8::try_from(it).ok());
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let mut ahead = bytes.clone();
                if let (Some(high), Some(low)) = (digit(ahead.next()), digit(ahead.next())) {
                    out.push(high * 16 + low);
                    bytes = ahead;
                } else {
                    out.push(byte);
                }
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_into_a_form_comes_out_again(name in ".{1,20}", value in ".{0,40}") {
            let read = fields(&form(&[(&name, value.clone())]));

            prop_assert_eq!(read.get(&name), Some(&value));
        }

        #[test]
        fn any_query_can_be_read(query in ".{0,100}") {
            fields(&query);
        }
    }

    #[test]
    fn rights_travel_encrypted_or_stay_here() {
        assert!(safe(&Url::parse("https://a.example").unwrap()).is_ok());
        assert!(safe(&Url::parse("http://127.0.0.1:3").unwrap()).is_ok());
        assert!(safe(&Url::parse("http://a.example").unwrap()).is_err());
    }
}
