//! Webhook: a signed JSON document to an address that the settings name.
//!
//! `platforms.webhook.deliver.NAME` has a `url` and perhaps a `secret` (else `WEBHOOK_SECRET`). Only
//! names can be targets: an address that a model wrote is never posted to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::deliver::{DeliverError, Letter, Sent};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use serde_json::{Value, json};

use crate::hash::{hmac_hex, sha256_hex};
use crate::senders::sender::{Posting, Sender, request};

pub(crate) const SENDER: Sender = Sender::new("webhook", &[], send)
    .home(&["WEBHOOK_HOME_CHANNEL"])
    .also(&["WEBHOOK_SECRET"])
    .gated(|| Gate::Config(DELIVER.into()))
    .others(names)
    .check(check);

/// Where the settings name addresses.
const DELIVER: &str = "platforms.webhook.deliver";

/// Those that can be used as a target.
fn names(keys: &dyn Keys) -> Vec<String> {
    let Some(Value::Object(named)) = keys.setting(DELIVER) else { return Vec::new() };
    named.keys().filter(|name| check(name).is_ok()).cloned().collect()
}

fn check(name: &str) -> Result<(), String> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
        return Ok(());
    }
    Err(format!("{name:?} is no name; it takes the name of an address in {DELIVER}"))
}

fn send<'a>(posting: &'a Posting<'a>, letter: &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>> {
    Box::pin(async move {
        let platform = || posting.sender.name().to_owned();
        let at = format!("{DELIVER}.{}", posting.chat());
        let not_set = |what: &str| DeliverError::NotConfigured {
            platform: platform(),
            missing: format!("{at}{what} must be set"),
        };
        let url = posting.keys().text(&format!("{at}.url")).ok_or_else(|| not_set(".url"))?;
        let secret = posting.keys().text(&format!("{at}.secret"));
        let secret = secret.or_else(|| posting.keys().key("WEBHOOK_SECRET"));
        let (body, id) = document(letter);
        let mut request =
            request(url, &Value::Null).header("x-hermes-delivery", &id).header("x-hermes-event", "message");
        if let Some(secret) = secret {
            let signature = format!("sha256={}", hmac_hex(secret.as_bytes(), body.as_bytes()));
            request = request.header("x-hub-signature-256", signature);
        }
        request.body = body.into_bytes();
        request.redirects = 0;
        let reply = posting.fetch(request).await?;
        if !reply.is_ok() {
            let said: String = reply.text().trim().chars().take(200).collect();
            return Err(posting.refused(format!("status {} {said}", reply.status)));
        }
        Ok(posting.sent(Some(id), 1))
    })
}

/// The document, and a name for it that is the same for the same letter.
fn document(letter: &Letter) -> (String, String) {
    let file = |file: &hermes_core::outcome::Attachment| json!({ "name": file.name, "media_type": file.media_type, "data": STANDARD.encode(&file.bytes) });
    let files: Vec<Value> = letter.files.iter().map(file).collect();
    let body = json!({ "text": letter.text, "subject": letter.subject, "files": files }).to_string();
    let id = sha256_hex(&[body.as_bytes()]).chars().take(32).collect();
    (body, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_holds_everything_and_names_are_no_addresses() {
        let (body, id) = document(&Letter::text("hello"));

        assert_eq!(body, r#"{"text":"hello","subject":null,"files":[]}"#);
        assert_eq!(id.len(), 32);
        assert!(check("alerts").is_ok() && check("https://a.example/").is_err());
    }
}
