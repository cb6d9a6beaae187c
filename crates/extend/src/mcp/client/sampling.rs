//! A server asks the model, in the name of a call of it that runs.
//!
//! Off unless configured; then the person is asked, and a budget holds: so many requests a minute, so
//! many tokens an answer, so many answers in a row that only use tools of the server.

#![expect(deprecated, reason = "servers of older versions of the protocol ask for samples")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::approval_words::visible;
use hermes_core::clarify::{Answer, Asker, Question};
use hermes_core::cx::ToolCx;
use hermes_core::host::Host;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, Role, SamplingContent, SamplingMessage,
    SamplingMessageContentBlock as Block, ToolChoiceMode,
};
use serde_json::Value;

use super::config::{LogLevel, Sampling, ServerConfig};
use super::log::Log;
use super::{Outside, Sample, SampleTool, Sampled, Sampler};

/// Letters of one message that are shown, and written down.
const SHOWN: usize = 2000;

/// Messages that are shown: the first ones and the last ones.
const FIRST: usize = 4;
const LAST: usize = 8;

/// When servers asked the model, by their names: one that is started again has asked as often as before.
#[derive(Default)]
pub struct Asked(Mutex<BTreeMap<String, VecDeque<Duration>>>);

impl Asked {
    /// Whether a server may ask once more, if so many times a minute are the most; then it has.
    fn once_more(&self, server: &str, most: u32, now: Duration) -> bool {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = servers.entry(server.to_owned()).or_default();
        times.retain(|at| now.saturating_sub(*at) < Duration::from_mins(1));
        let within = times.len() < most as usize;
        if within {
            times.push_back(now);
        }
        within
    }
}

/// What one server asks the model.
pub(super) struct Samples {
    server: String,
    config: Sampling,
    log: Arc<Log>,
    host: Arc<dyn Host>,
    asked: Arc<Asked>,
    /// Sessions whose person said that it may go on asking their model.
    agreed: Mutex<BTreeSet<String>>,
    /// Answers in a row that were only calls of the server's tools.
    rounds: AtomicU32,
}

impl Samples {
    /// None was asked over this connection so far.
    pub(super) fn new(config: &ServerConfig, log: &Arc<Log>, outside: &Outside) -> Self {
        Self {
            server: config.name.clone(),
            config: config.sampling.clone(),
            log: Arc::clone(log),
            host: Arc::clone(&outside.host),
            asked: Arc::clone(&outside.asked),
            agreed: Mutex::default(),
            rounds: AtomicU32::new(0),
        }
    }

    /// Whether the configuration allows any.
    pub(super) fn are_allowed(&self) -> bool {
        self.config.enabled
    }

    /// Whether the model may be offered tools of the server.
    pub(super) fn may_have_tools(&self) -> bool {
        self.config.max_tool_rounds > 0
    }

    /// What the model says, or why it is not asked.
    pub(super) async fn answer(
        &self,
        request: CreateMessageRequestParams,
        cx: Option<&ToolCx>,
    ) -> Result<CreateMessageResult, String> {
        let answer = self.ask(request, cx).await;
        match &answer {
            Err(why) => self.note(LogLevel::Warning, || format!("asking the model was refused: {why}")),
            Ok(said) => self.note(LogLevel::Info, || {
                format!("the model was asked: {} answered ({})", said.model, reason(said))
            }),
        }
        answer
    }

    async fn ask(
        &self,
        request: CreateMessageRequestParams,
        cx: Option<&ToolCx>,
    ) -> Result<CreateMessageResult, String> {
        if !self.config.enabled {
            let allows = format!("`mcp_servers.{}.sampling.enabled` allows it", self.server);
            self.told(cx, &allows);
            return Err("it may not ask the model: `sampling.enabled` is not set".to_owned());
        }
        let cx = cx.ok_or("no call of its runs now")?;
        let sampler = cx.service::<Arc<dyn Sampler>>().cloned();
        let sampler = sampler.ok_or_else(|| self.told(Some(cx), "there is no model to ask"))?;
        if !self.asked.once_more(&self.server, self.config.per_minute, self.host.now()) {
            return Err(format!("it has asked {} times in a minute", self.config.per_minute));
        }
        let tools = self.tools(&request)?;
        self.may_ask(cx, &request).await?;
        self.note(LogLevel::Debug, || format!("it asks the model: {}", shown(&request)));
        let sample = Sample {
            system: request.system_prompt.clone(),
            messages: request.messages.iter().map(said).collect(),
            max_tokens: request.max_tokens.min(self.config.max_tokens),
            model: self.config.model.clone().or_else(|| self.wished(&request)),
            allowed_models: self.config.allowed_models.clone(),
            tools,
        };
        let limit = self.host.sleep(self.config.timeout);
        match select(sampler.sample(sample), limit).await {
            Either::Left((answer, _)) => Ok(self.counted(answer?)),
            Either::Right(_) => Err("the model took too long".to_owned()),
        }
    }

    /// The tools that the model is offered; why not, when it has used them too often in a row.
    fn tools(&self, request: &CreateMessageRequestParams) -> Result<Vec<SampleTool>, String> {
        let unwanted =
            request.tool_choice.as_ref().is_some_and(|choice| choice.mode == Some(ToolChoiceMode::None));
        let offered = request.tools.as_deref().unwrap_or_default();
        if offered.is_empty() || unwanted {
            return Ok(Vec::new());
        }
        let most = self.config.max_tool_rounds;
        if most == 0 {
            return Err("the model may not use tools for it: `sampling.max_tool_rounds` is 0".to_owned());
        }
        if self.rounds.load(Ordering::Relaxed) >= most {
            self.rounds.store(0, Ordering::Relaxed);
            return Err(format!(
                "the model has used its tools {most} times in a row (`sampling.max_tool_rounds`)"
            ));
        }
        let tool = |tool: &rmcp::model::Tool| SampleTool {
            name: tool.name.to_string(),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            schema: Value::Object((*tool.input_schema).clone()),
        };
        Ok(offered.iter().map(tool).collect())
    }

    /// The answer in the protocol's words; whether it was one more round of tools is counted.
    fn counted(&self, answer: Sampled) -> CreateMessageResult {
        if answer.calls.is_empty() {
            self.rounds.store(0, Ordering::Relaxed);
            let message = SamplingMessage::assistant_text(answer.text);
            return CreateMessageResult::new(message, answer.model)
                .with_stop_reason(CreateMessageResult::STOP_REASON_END_TURN);
        }
        self.rounds.fetch_add(1, Ordering::Relaxed);
        let words = (!answer.text.is_empty()).then(|| Block::text(answer.text));
        let uses = answer.calls.into_iter().map(|call| Block::tool_use(call.id, call.name, call.arguments));
        let blocks: Vec<Block> = words.into_iter().chain(uses).collect();
        let message = SamplingMessage::new_multiple(Role::Assistant, blocks);
        CreateMessageResult::new(message, answer.model)
            .with_stop_reason(CreateMessageResult::STOP_REASON_TOOL_USE)
    }

    /// Asks the person whether the server may ask the model.
    async fn may_ask(&self, cx: &ToolCx, request: &CreateMessageRequestParams) -> Result<(), String> {
        let agreed = || self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if agreed().contains(cx.session_id()) {
            return Ok(());
        }
        let asker = cx.service::<Arc<dyn Asker>>().ok_or_else(|| {
            self.told(
                Some(cx),
                "nobody can be asked here; `hermes tools call` and `hermes chat` ask at a terminal",
            );
            "nobody is there to agree to it"
        })?;
        let words = shown(request);
        let text = format!("MCP server `{}` wants your model to answer this:\n{words}\nMay it?", self.server);
        let choices =
            ["Yes, this once", "Yes, for the rest of the session", "No"].map(str::to_owned).to_vec();
        match asker.ask(Question { text, choices, patience: None }).await {
            Answer::Said(said) if said.starts_with("Yes, for") => {
                agreed().insert(cx.session_id().to_owned());
                Ok(())
            }
            Answer::Said(said) if said.starts_with("Yes") => Ok(()),
            Answer::Said(_) => Err("the person said no".to_owned()),
            Answer::Nobody => Err("nobody is there to agree to it".to_owned()),
            Answer::TimedOut => Err("nobody answered in time".to_owned()),
        }
    }

    /// Tells the person of a question that they were not asked about, and hands the reason back.
    fn told<'a>(&self, cx: Option<&ToolCx>, why: &'a str) -> &'a str {
        if let Some(cx) = cx {
            cx.note(format!(
                "MCP server `{}` asked your model something and was declined: {why}",
                self.server
            ));
        }
        why
    }

    /// The model the server would like best of those it may have. Without a list it has no choice: a
    /// name of its own would be somebody's money.
    fn wished(&self, request: &CreateMessageRequestParams) -> Option<String> {
        let hints = request.model_preferences.as_ref()?.hints.as_ref()?;
        let mut names = hints.iter().filter_map(|hint| hint.name.as_ref());
        names.find(|name| self.config.allowed_models.contains(name)).cloned()
    }

    /// Writes a line into the server's log, if it is of interest.
    fn note(&self, level: LogLevel, line: impl FnOnce() -> String) {
        if level >= self.config.log_level {
            self.log.line(&format!("[sampling] {}", line()));
        }
    }
}

fn reason(said: &CreateMessageResult) -> &str {
    said.stop_reason.as_deref().unwrap_or_default()
}

/// All that the model would read. What is left out is told with its size.
fn shown(request: &CreateMessageRequestParams) -> String {
    let mut lines = Vec::new();
    if let Some(system) = &request.system_prompt {
        lines.push(format!("[system] {}", cut(system)));
    }
    let said: Vec<(String, String)> = request.messages.iter().map(said).collect();
    let hidden = said.len().saturating_sub(FIRST + LAST);
    for (at, (role, words)) in said.iter().enumerate() {
        if hidden > 0 && at == FIRST {
            let letters: usize =
                said.iter().skip(FIRST).take(hidden).map(|(_, words)| words.chars().count()).sum();
            lines.push(format!("… ({hidden} more messages, {letters} letters) …"));
        }
        if at < FIRST || at >= FIRST + hidden {
            lines.push(format!("[{role}] {}", cut(words)));
        }
    }
    let tools: Vec<&str> = request.tools.iter().flatten().map(|tool| tool.name.as_ref()).collect();
    if !tools.is_empty() {
        lines.push(format!("[tools it may call] {}", visible(&tools.join(", "))));
    }
    lines.join("\n")
}

/// A text as it is, or its beginning and its end, with how much is between them.
fn cut(text: &str) -> String {
    let visible = |text: &str| text.split('\n').map(visible).collect::<Vec<_>>().join("\n");
    let count = text.chars().count();
    if count <= SHOWN {
        return visible(text);
    }
    let head: String = text.chars().take(SHOWN / 2).collect();
    let tail: String = text.chars().skip(count - SHOWN / 2).collect();
    let more = count - 2 * (SHOWN / 2);
    format!("{} … ({more} more letters) … {}", visible(&head), visible(&tail))
}

/// Who said a message, and its words. Calls of tools and what came of them are told in words too.
fn said(message: &SamplingMessage) -> (String, String) {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::User => "user",
    };
    let words = match &message.content {
        SamplingContent::Single(block) => block_words(block),
        SamplingContent::Multiple(blocks) => blocks.iter().map(block_words).collect::<Vec<_>>().join("\n"),
    };
    (role.to_owned(), words)
}

fn block_words(block: &Block) -> String {
    match block {
        Block::Text(text) => text.text.clone(),
        Block::ToolUse(call) => {
            format!("[call {} of {}: {}]", call.id, call.name, Value::Object(call.input.clone()))
        }
        Block::ToolResult(result) => {
            let value = serde_json::to_value(&result.content).unwrap_or_default();
            let texts = value.as_array().into_iter().flatten().filter_map(|item| item.get("text")?.as_str());
            let failed = if result.is_error == Some(true) { ", which failed" } else { "" };
            let words = texts.collect::<Vec<_>>().join("\n");
            format!("[result of call {}{failed}: {words}]", result.tool_use_id)
        }
        _ => "[not text]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_that_the_model_reads_is_shown_and_what_is_cut_is_told() {
        let message =
            |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
        let request = |system: &str, messages: Vec<Value>| -> CreateMessageRequestParams {
            let value = json!({ "messages": messages, "maxTokens": 9, "systemPrompt": system });
            serde_json::from_value(value).unwrap()
        };

        let short = request("Obey\u{202e} me.", vec![message("user", "first"), message("assistant", "last")]);
        assert_eq!(shown(&short), "[system] Obey\\u{202e} me.\n[user] first\n[assistant] last");

        let long = shown(&request(&format!("{}end", "x".repeat(5000)), vec![message("user", "q")]));
        assert!(long.contains("x … (3003 more letters) … x") && long.contains("end\n[user] q"), "{long}");

        let many = (0..30).map(|n| message("user", &format!("m{n:02}"))).collect();
        let many = shown(&request("s", many));
        assert!(many.contains("[user] m03\n… (18 more messages, 54 letters) …\n[user] m22\n"), "{many}");
        assert!(many.ends_with("[user] m29"), "{many}");
    }
}
