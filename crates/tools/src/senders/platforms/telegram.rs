//! Telegram: the Bot API over HTTP.

use futures::future::BoxFuture;
use hermes_core::deliver::{DeliverError, Letter, Measure, Sent};
use hermes_core::outcome::Attachment;
use hermes_core::web::{Reach, WebReply, WebRequest};
use serde_json::{Value, json};

use crate::media::service::at;
use crate::multipart::Form;
use crate::senders::SERVICE;
use crate::senders::sender::{Posting, Sender, partly, request};

pub(crate) const SENDER: Sender = Sender::new("telegram", &["TELEGRAM_BOT_TOKEN"], send)
    .home(&["TELEGRAM_HOME_CHANNEL"])
    .limit(4096, Measure::Utf16)
    .check(check);

/// A number, or `@name` of a public channel.
fn check(chat: &str) -> Result<(), String> {
    let digits = chat.strip_prefix('-').unwrap_or(chat);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_word =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_number || chat.strip_prefix('@').is_some_and(is_word) {
        return Ok(());
    }
    Err(format!("{chat:?} is no chat; it takes the number of one, or the @name of a public channel"))
}

fn send<'a>(posting: &'a Posting<'a>, letter: &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>> {
    Box::pin(async move {
        let heading = letter.subject.as_ref().map(|subject| format!("{subject}\n\n")).unwrap_or_default();
        let text = format!("{heading}{}", letter.text);
        let texts = posting.pieces(&text);
        let (mut done, all) = (0, texts.len() + letter.files.len());
        if all == 0 {
            return Err(posting.refused("there is nothing to send"));
        }
        let mut last = None;
        for text in texts {
            let body = addressed(posting, json!({ "text": text }));
            let request = request(address(posting, "sendMessage"), &body);
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

fn address(posting: &Posting<'_>, method: &str) -> String {
    let base = posting.base("TELEGRAM_BASE_URL", "platforms.telegram.base_url", "https://api.telegram.org");
    format!("{base}/bot{}/{method}", posting.key("TELEGRAM_BOT_TOKEN"))
}

fn addressed(posting: &Posting<'_>, mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        let chat = posting.chat();
        let chat = chat.parse::<i64>().map_or_else(|_| json!(chat), |number| json!(number));
        fields.insert("chat_id".to_owned(), chat);
        if let Some(thread) = posting.target.thread.as_ref().and_then(|it| it.parse::<i64>().ok()) {
            fields.insert("message_thread_id".to_owned(), json!(thread));
        }
    }
    body
}

/// The method for a kind of file, and the field it comes in.
fn way(media_type: &str) -> (&'static str, &'static str) {
    match media_type {
        "image/png" | "image/jpeg" | "image/webp" => ("sendPhoto", "photo"),
        "image/gif" => ("sendAnimation", "animation"),
        "audio/ogg" => ("sendVoice", "voice"),
        "audio/mpeg" | "audio/mp4" => ("sendAudio", "audio"),
        "video/mp4" => ("sendVideo", "video"),
        _ => ("sendDocument", "document"),
    }
}

fn upload(posting: &Posting<'_>, file: &Attachment) -> WebRequest {
    let (method, field) = way(&file.media_type);
    let mut form = Form::default().text("chat_id", posting.chat());
    if let Some(thread) = &posting.target.thread {
        form = form.text("message_thread_id", thread);
    }
    let (kind, body) = form.file(field, &file.name, &file.media_type, &file.bytes).finish();
    let mut request = WebRequest::get(address(posting, method), Reach::Configured(SERVICE)).method("POST");
    request.body = body;
    request.header("content-type", kind).timeout(std::time::Duration::from_mins(2))
}

/// Sends one message; its number.
async fn went_out(posting: &Posting<'_>, request: WebRequest) -> Result<Option<String>, DeliverError> {
    message(posting, &posting.fetch(request).await?)
}

/// The number of the message that went out.
fn message(posting: &Posting<'_>, reply: &WebReply) -> Result<Option<String>, DeliverError> {
    let answer = reply.json().unwrap_or_default();
    if reply.is_ok() && at(&answer, "/ok").as_bool() == Some(true) {
        return Ok(at(&answer, "/result/message_id").as_i64().map(|id| id.to_string()));
    }
    let why = at(&answer, "/description")
        .as_str()
        .map_or_else(|| format!("status {}", reply.status), str::to_owned);
    Err(posting.refused(match at(&answer, "/parameters/retry_after").as_u64() {
        Some(seconds) => format!("{why} (it wants to be left alone for {seconds} s)"),
        None => why,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_numbers_or_public_names() {
        for chat in ["12345", "-100987", "@my_channel"] {
            assert_eq!(check(chat), Ok(()), "{chat}");
        }
        for chat in ["", "-", "ann", "@", "@a/b", "1/../sendPhoto"] {
            assert!(check(chat).is_err(), "{chat}");
        }
    }

    #[test]
    fn each_kind_of_file_goes_its_own_way() {
        assert_eq!(way("audio/ogg"), ("sendVoice", "voice"));
        assert_eq!(way("image/png"), ("sendPhoto", "photo"));
        assert_eq!(way("application/pdf"), ("sendDocument", "document"));
    }
}
