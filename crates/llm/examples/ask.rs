//! Asks a model at an address once: `ask http://127.0.0.1:8099/v1 [question]`. Says how long the first
//! word took from the start of `main`.
#![expect(clippy::disallowed_methods, reason = "a program reads its arguments and the clock")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program talks to people")]

use std::sync::OnceLock;
use std::time::Instant;

use hermes_core::model::{Message, Model as _, ModelEvent, ModelRequest};
use hermes_llm::{Endpoint, HttpModel, providers};
use hermes_net::{Http, HttpSettings};

fn main() {
    let begun = Instant::now();
    let mut words = std::env::args().skip(1);
    let url = words.next().unwrap_or_else(|| "http://127.0.0.1:8099/v1".into());
    let question = words.next().unwrap_or_else(|| "Hello".into());
    let Some(provider) = providers::find("custom") else { return };
    let model =
        HttpModel::new(Endpoint::of(provider, "m", None).at(&url), Http::new(HttpSettings::default()));
    let request = ModelRequest {
        system: "Be brief.".into(),
        messages: vec![Message::user(question)],
        tools: "[]".into(),
        max_tokens: None,
        effort: None,
        session: None,
    };
    let first = OnceLock::new();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let reply = runtime.block_on(model.ask(&request, &|event| {
        first.get_or_init(|| begun.elapsed());
        if let ModelEvent::Text(text) = event {
            print!("{text}");
        }
    }));
    println!();
    match reply {
        Ok(_) => eprintln!(
            "first word after {:?}, done after {:?}",
            first.get().copied().unwrap_or_default(),
            begun.elapsed()
        ),
        Err(error) => eprintln!("{error}"),
    }
}
