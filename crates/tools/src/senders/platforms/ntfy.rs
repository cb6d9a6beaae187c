//! ntfy: notifications by topic, on ntfy.sh or one's own server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::deliver::{DeliverError, Letter, Measure, Sent};
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use hermes_core::outcome::Attachment;
use hermes_core::web::{WebReply, WebRequest};
use serde_json::{Value, json};

use crate::media::service::at;
use crate::senders::sender::{Posting, Sender, partly, request};

pub(crate) const SENDER: Sender = Sender::new("ntfy", &[], send)
    .home(&["NTFY_HOME_CHANNEL", "NTFY_PUBLISH_TOPIC", "NTFY_TOPIC"])
    .also(&["NTFY_SERVER_URL", "NTFY_TOKEN"])
    .limit(4096, Measure::Bytes)
    .gated(|| Gate::any_env(["NTFY_HOME_CHANNEL", "NTFY_PUBLISH_TOPIC", "NTFY_TOPIC", "NTFY_SERVER_URL"]))
    .check(check);

fn check(topic: &str) -> Result<(), String> {
    let is_topic = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=64).contains(&topic.len()) && topic.chars().all(is_topic) {
        return Ok(());
    }
    Err(format!("{topic:?} is no topic: letters, digits, - and _, at most 64 of them"))
}

fn send<'a>(posting: &'a Posting<'a>, letter: &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>> {
    Box::pin(async move {
        let texts = posting.pieces(&letter.text);
        let (mut done, all) = (0, texts.len() + letter.files.len());
        if all == 0 {
            return Err(posting.refused("there is nothing to send"));
        }
        let mut last = None;
        for text in texts {
            let body = message(posting, text, letter.subject.as_deref());
            let request = request(server(posting), &body);
            last = went_out(posting, request).await.map_err(|why| partly(done, all, why))?;
            done += 1;
        }
        for file in &letter.files {
            let request = upload(posting, file);
            last = went_out(posting, request).await.map_err(|why| partly(done, all, why))?;
            done += 1;
        }
        Ok(posting.sent(last, done))
    })
}

fn server(posting: &Posting<'_>) -> String {
    format!("{}/", posting.base("NTFY_SERVER_URL", "platforms.ntfy.server_url", "https://ntfy.sh"))
}

fn message(posting: &Posting<'_>, text: &str, title: Option<&str>) -> Value {
    let mut body = json!({ "topic": posting.chat(), "message": text });
    if let Some(fields) = body.as_object_mut() {
        if let Some(title) = title {
            fields.insert("title".to_owned(), json!(title));
        }
        if is_on(posting.keys(), "NTFY_MARKDOWN") {
            fields.insert("markdown".to_owned(), json!(true));
        }
    }
    body
}

fn is_on(keys: &dyn Keys, name: &str) -> bool {
    keys.key(name).is_some_and(|value| {
        matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
    })
}

fn upload(posting: &Posting<'_>, file: &Attachment) -> WebRequest {
    let mut request = request(format!("{}{}", server(posting), posting.chat()), &Value::Null);
    request.body = file.bytes.to_vec();
    request.headers.clear();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = file.name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    request.method("PUT").header("filename", name).timeout(std::time::Duration::from_mins(2))
}

/// The key: a token, or `user:password`.
fn with_key(posting: &Posting<'_>, request: WebRequest) -> WebRequest {
    match posting.keys().key("NTFY_TOKEN") {
        Some(user) if user.contains(':') => {
            request.header("authorization", format!("Basic {}", STANDARD.encode(user.trim())))
        }
        Some(token) => request.header("authorization", format!("Bearer {}", token.trim())),
        None => request,
    }
}

/// Sends one message; its name.
async fn went_out(posting: &Posting<'_>, request: WebRequest) -> Result<Option<String>, DeliverError> {
    id(posting, &posting.fetch(with_key(posting, request)).await?)
}

fn id(posting: &Posting<'_>, reply: &WebReply) -> Result<Option<String>, DeliverError> {
    let answer = reply.json().unwrap_or_default();
    if reply.is_ok() {
        return Ok(at(&answer, "/id").as_str().map(str::to_owned));
    }
    Err(posting.refused(match at(&answer, "/error").as_str() {
        Some(why) => format!("{why} (status {})", reply.status),
        None => format!("status {}", reply.status),
    }))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn topics_are_short_words() {
        assert_eq!(check("my_alerts-1"), Ok(()));
        for topic in ["", "a/b", "a b", &"x".repeat(65)] {
            assert!(check(topic).is_err(), "{topic}");
        }
    }
}
