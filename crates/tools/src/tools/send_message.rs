//! `send_message`: a message to a person, in the user's name.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::cx::{Services, ToolCx};
use hermes_core::deliver::{Deliver, DeliverError, Destination, Letter, Sent, Target, media_tags};
use hermes_core::effect::{Act, ActKind, Effect};
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::keys::Keys;
use hermes_core::outcome::Attachment;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use hermes_core::web::{Dial, WebError, WebReply, WebRequest, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::media;
use crate::senders::{self, Carriers, Courier, SERVICE};
use crate::toolsets::messaging;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SendMessage>("send_message", &messaging::TOOLSET)
    .emoji("📨")
    .gate(senders::gate)
    .variables(senders::variables)
    .alone();

/// Most characters of a message that are shown to the person who is asked.
const PREVIEW: usize = 200;

/// Most files with one message, and most bytes of each.
const FILES: usize = 10;
const FILE_BYTES: u64 = 20 * 1024 * 1024;

/// Send a message to a person in the user's name, or list where messages can go. Use list first when you
/// do not know the target. A file goes along when the message says MEDIA: and its path.
#[derive(Deserialize, JsonSchema)]
struct SendMessage {
    /// send (the default) or list
    #[serde(default)]
    action: Action,
    /// Where to: a platform alone for its home chat, platform:chat, or platform:chat:thread, such as
    /// telegram, telegram:-100123:17 or email:ann@example.org
    target: Option<String>,
    /// The text of the message
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Send,
    List,
}

impl SendMessage {
    fn target(&self) -> Result<Target, ToolError> {
        let needed = "target is needed: where the message goes; `list` shows what there is";
        let text = self.target.as_deref().ok_or_else(|| ToolError::Arguments(needed.to_owned()))?;
        text.parse().map_err(|wrong: DeliverError| ToolError::Arguments(wrong.to_string()))
    }

    /// The words, and the files that they name.
    fn parts(&self) -> (String, Vec<String>) {
        media_tags(self.message.as_deref().unwrap_or_default())
    }

    fn declared(&self, place: &Place, to: &str) -> Vec<Effect> {
        if self.action == Action::List {
            return Vec::new();
        }
        let (text, files) = self.parts();
        let detail = format!("a message to {to}: {}", shown(&text, files.len()));
        let reads = files.iter().map(|file| Effect::Read(place.resolve(file)));
        let acts = [Effect::Connect(SERVICE.to_owned()), Effect::Act(Act { kind: ActKind::Send, detail })];
        acts.into_iter().chain(reads).collect()
    }
}

/// What a person has to see of a message before they agree to it.
fn shown(text: &str, files: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = flat.chars().take(PREVIEW).collect();
    let more = if short.len() < flat.len() {
        format!("… ({} characters in all)", text.chars().count())
    } else {
        String::new()
    };
    let with = match files {
        0 => String::new(),
        1 => " with 1 file".to_owned(),
        many => format!(" with {many} files"),
    };
    format!("\u{201c}{short}{more}\u{201d}{with}")
}

impl Tool for SendMessage {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        self.declared(place, self.target.as_deref().unwrap_or("nobody"))
    }

    fn effects_with(&self, place: &Place, services: &Services) -> Vec<Effect> {
        let (keys, live) = (services.service::<Arc<dyn Keys>>(), services.service().cloned());
        let resolved = keys
            .zip(self.target().ok())
            .and_then(|(keys, target)| Carriers::new(live, Unsent(keys.as_ref())).resolve(&target).ok());
        match resolved {
            Some(target) => self.declared(place, &target.to_string()),
            None => self.effects(place),
        }
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let keys = cx.keys()?;
        let carriers = Carriers::new(cx.service().cloned(), OfCall { cx, keys });
        if self.action == Action::List {
            let all = carriers.destinations();
            return Ok(json!({ "success": true, "targets": all.iter().map(row).collect::<Vec<_>>() }));
        }
        let target = self.target()?;
        let (text, files) = self.parts();
        if text.is_empty() && files.is_empty() {
            return Err(ToolError::Arguments("message is needed: the text of the message".to_owned()));
        }
        let letter = Letter { text, subject: None, files: enclosed(cx, &files).await? };
        carriers
            .send(&target, &letter)
            .await
            .map(|sent| told(&sent))
            .map_err(|wrong| ToolError::Failed(wrong.to_string()))
    }
}

/// The files that a message names.
async fn enclosed(cx: &ToolCx, files: &[String]) -> Result<Vec<Attachment>, ToolError> {
    if files.len() > FILES {
        return Err(ToolError::Arguments(format!("a message takes at most {FILES} files")));
    }
    let mut found = Vec::new();
    for file in files {
        let path: PathBuf = cx.place().resolve(file);
        let bytes = cx.files().whole(&path, FILE_BYTES).await?.bytes;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let media_type = media::kind_of(&bytes).unwrap_or("application/octet-stream").to_owned();
        found.push(Attachment { media_type, name, bytes: bytes.into() });
    }
    Ok(found)
}

fn row(destination: &Destination) -> Value {
    json!({
        "target": destination.target.to_string(),
        "platform": destination.target.platform,
        "name": destination.name,
        "home": destination.is_home,
        "available": destination.missing.is_none(),
        "missing": destination.missing,
    })
}

fn told(sent: &Sent) -> Value {
    let mut answer = json!({
        "success": true,
        "platform": sent.platform,
        "chat_id": sent.chat_id,
        "message_id": sent.message_id,
    });
    if let Some(fields) = answer.as_object_mut() {
        if sent.parts > 1 {
            fields.insert("parts".to_owned(), json!(sent.parts));
        }
        if let Some(note) = &sent.note {
            fields.insert("note".to_owned(), json!(note));
        }
    }
    answer
}

/// A courier with the permits of one call.
struct OfCall<'a> {
    cx: &'a ToolCx,
    keys: &'a dyn Keys,
}

impl Courier for OfCall<'_> {
    fn keys(&self) -> &dyn Keys {
        self.keys
    }

    fn fetch(&self, request: WebRequest) -> BoxFuture<'_, Result<WebReply, WebError>> {
        Box::pin(async move { self.cx.web().map_err(plain)?.fetch(request).await.map_err(plain) })
    }

    fn connect(&self, dial: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        Box::pin(async move { self.cx.web().map_err(plain)?.connect(dial).await.map_err(plain) })
    }
}

fn plain(wrong: ToolError) -> WebError {
    match wrong {
        ToolError::Web(wrong) => wrong,
        other => WebError::Failed(other.to_string()),
    }
}

/// A courier that only knows the settings: for saying where a message would go.
struct Unsent<'a>(&'a dyn Keys);

impl Courier for Unsent<'_> {
    fn keys(&self) -> &dyn Keys {
        self.0
    }

    fn fetch(&self, _: WebRequest) -> BoxFuture<'_, Result<WebReply, WebError>> {
        Box::pin(async { Err(WebError::Failed("nothing is sent yet".to_owned())) })
    }

    fn connect(&self, _: Dial) -> BoxFuture<'_, Result<Box<dyn Wire>, WebError>> {
        Box::pin(async { Err(WebError::Failed("nothing is sent yet".to_owned())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { cwd: "/w".into(), home: None }
    }

    fn message(arguments: Value) -> SendMessage {
        serde_json::from_value(arguments).unwrap()
    }

    #[test]
    fn a_person_sees_the_target_the_text_and_the_files() {
        let call = message(json!({ "target": "telegram:7", "message": "Dinner\nis  ready MEDIA:a.png" }));

        let effects = call.effects(&place());

        let detail = "a message to telegram:7: \u{201c}Dinner is ready\u{201d} with 1 file".to_owned();
        assert_eq!(
            effects,
            [
                Effect::Connect(SERVICE.to_owned()),
                Effect::Act(Act { kind: ActKind::Send, detail }),
                Effect::Read("/w/a.png".into()),
            ]
        );
    }

    #[test]
    fn a_long_message_is_cut_and_says_how_long_it_is() {
        let text = "x".repeat(500);

        let shown = shown(&text, 0);

        assert!(shown.contains("(500 characters in all)") && shown.len() < 300, "{shown}");
    }

    #[test]
    fn a_list_does_nothing() {
        assert_eq!(message(json!({ "action": "list" })).effects(&place()), []);
    }
}
