//! Conversations with the scripted model, for the items that measure them.

use hermes::Runtime;
use hermes::agent::TurnStatus;
use hermes::chat::Chat;
use hermes::core::model::Part;
use hermes::store::Home;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::item::{ItemDef, Work};
use crate::process;

/// What the scripted model of this address is asked for, and the home that knows it.
pub(crate) struct Scripted<'a> {
    base_url: &'a str,
    work: &'a Work,
    item: &'a ItemDef,
}

impl<'a> Scripted<'a> {
    /// The model that the work is done with.
    pub(crate) fn of(work: &'a Work, item: &'a ItemDef) -> Result<Self, String> {
        let base_url = work.model.as_deref().ok_or("--base-url is needed: the scripted model")?;
        Ok(Self { base_url, work, item })
    }

    /// What it answers from now on.
    pub(crate) fn begin(&self, scenario: &Value) -> Result<(), String> {
        process::post(self.base_url, "/__reset", &scenario.to_string())
    }

    /// A runtime with an empty home in which this model is configured.
    pub(crate) fn runtime(&self) -> Result<Runtime, String> {
        let folder = self.work.folder.join(format!("home-{}", self.item.name()));
        process::remove(&folder)?;
        process::make(&folder)?;
        let config = json!({
            "model": {
                "default": "fake-model",
                "provider": "custom",
                "base_url": format!("{}/v1", self.base_url.trim_end_matches('/')),
                "api_key": "dummy",
                "context_length": 200_000,
            },
            "approvals": { "mode": "off" },
        });
        // JSON is YAML too.
        process::keep(&folder.join("config.yaml"), &config.to_string())?;
        let builder = Runtime::builder().cwd(&self.work.folder).home(Home::at(&folder)).record_calls();
        builder.env(process::variables()).build().map_err(|wrong| wrong.to_string())
    }
}

/// A new conversation with every tool.
pub(crate) fn open(runtime: &Runtime) -> Result<Chat, String> {
    runtime.chat().open_blocking().map_err(|wrong| wrong.to_string())
}

/// Says something, and insists on an answer: a quick failure is not a good number.
pub(crate) async fn say(chat: &Chat, text: &str) -> Result<(), String> {
    let input = vec![Part::Text { text: text.to_owned() }];
    let end = chat.turn(input, &|_| {}, &CancellationToken::new()).await;
    match end.status {
        TurnStatus::Answered => Ok(()),
        _ => Err(end.error.unwrap_or_else(|| "the turn had no answer".to_owned())),
    }
}
