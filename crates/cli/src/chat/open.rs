//! Where the chat meets the agent.

use std::sync::Arc;

use futures::future::BoxFuture;
use hermes::Runtime;
use hermes::agent::{Event, EventSink, TurnEnd};
use hermes::chat::{Chat, ModelWish, OpenError, Opening};
use hermes::core::clarify::Asker;
use hermes::core::model::{Message, Part, Usage};
use hermes::core::policy::Approver;
use hermes::core::skills::{Beside, Skill, SkillError, View};
use hermes::core::sudo::SudoAsker;
use hermes::core::toolset::Selection;
use tokio_util::sync::CancellationToken;

use crate::chat::args::ChatArgs;
use crate::chat::consent;
use crate::chat::slash;
use crate::chat::talk::{PluginLine, SessionLine, Talk, Told, ToolLine, ToolsetLine, Totals};
use crate::command::Failure;
use crate::output;
use crate::shell::Shell;
use crate::tools::call::SERVERS_AT_THE_END;
use crate::tools::{first_sentence, misconfigured};

/// How answers are shown, for the model.
const SHOWN: &str =
    "Answers are shown in a terminal; Markdown is rendered. Keep them short and to the point.";

/// Sessions in a list.
const MOST_SESSIONS: u32 = 20;

/// Somebody on the other side of the screen.
pub(crate) struct Person {
    /// Asked about risky calls.
    pub(crate) approver: Arc<dyn Approver>,
    /// Asked what the agent wants to know.
    pub(crate) asker: Arc<dyn Asker>,
    /// Asked for the password of `sudo`.
    pub(crate) sudo: Arc<dyn SudoAsker>,
}

/// Opens the conversation that was asked for. Without a `person` risky calls are asked about through
/// the terminal, if there is one.
pub(crate) fn open(shell: &Shell, args: &ChatArgs, person: Option<Person>) -> Result<Box<dyn Talk>, Failure> {
    let runtime = match &person {
        Some(person) => shell.recording_runtime_with(Arc::clone(&person.sudo))?,
        None => shell.recording_runtime()?,
    };
    if args.accept_hooks {
        runtime.set_env("HERMES_ACCEPT_HOOKS", Some("1"));
    }
    // Whoever wants nothing but the answer is told nothing else.
    let problems = if args.oneshot.is_some() { Vec::new() } else { consent::look(shell, &runtime) };
    if args.yolo {
        runtime.run_unasked(true);
    }
    let (approver, asker) = match person {
        Some(person) => (person.approver, Some(person.asker)),
        None => (shell.approver(&runtime), None),
    };
    let mut builder = runtime
        .chat()
        .approver(approver)
        .source(args.source.as_deref().unwrap_or("cli"))
        .model(ModelWish {
            provider: args.provider.clone(),
            model: args.model.clone(),
            ..ModelWish::default()
        })
        .opening(opening(args));
    builder = match &args.toolsets {
        Some(names) => builder.select(Selection::of(named(names)).without(named(&args.disable))),
        None => builder.select_for("cli", named(&args.disable)),
    };
    if let Some(name) = &args.environment {
        runtime.environments().site(name).map_err(Failure::usage)?;
        builder = builder.environment(name);
    }
    if let Some(turns) = args.max_turns {
        builder = builder.max_turns(turns);
    }
    builder = match asker {
        Some(asker) => builder.asker(asker),
        // Whoever has no screen has a question.
        None => builder.asked_at_once(),
    };
    let chat = builder.shown(SHOWN).open_blocking().map_err(|wrong| match wrong {
        // What was typed is told as such; what stands in the lists can be taken out of them.
        OpenError::Selection(wrong)
            if args.toolsets.is_none() && runtime.way_out_of(&wrong, "cli").is_some() =>
        {
            misconfigured(&runtime, "cli", wrong)
        }
        other => other.into(),
    })?;
    for warning in chat.model().warnings {
        output::warn(&warning);
    }
    if !args.quiet
        && args.oneshot.is_none()
        && let Some(news) = runtime.mcp().news()
    {
        shell.out.aside(&news);
    }
    for problem in &problems {
        output::warn(problem);
    }
    let servers = Servers(runtime.clone());
    Ok(Box::new(Agent { runtime, chat, problems, _servers: servers }))
}

fn opening(args: &ChatArgs) -> Opening {
    match (&args.resume, args.go_on.as_deref()) {
        (Some(name), _) => Opening::Resume(name.clone()),
        (None, Some("")) => Opening::Continue,
        (None, Some(name)) => Opening::Resume(name.to_owned()),
        (None, None) => Opening::New,
    }
}

/// The names of a list as it was typed: `a, b,` is two.
fn named(list: &[String]) -> Vec<String> {
    list.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

impl From<OpenError> for Failure {
    fn from(wrong: OpenError) -> Self {
        match wrong {
            OpenError::Selection(wrong) => wrong.into(),
            OpenError::Session(wrong) => wrong.into(),
            OpenError::NothingToContinue => Self::usage(wrong),
            OpenError::Model(wrong) if wrong.is_misspelt() => Self::usage(wrong),
            OpenError::Model(wrong) => Self::Coded(Self::PROVIDER, wrong.to_string()),
            other => Self::failed(other),
        }
    }
}

/// The agent, as the screen wants it.
struct Agent {
    runtime: Runtime,
    chat: Chat,
    /// What is wrong with its hooks from the beginning.
    problems: Vec<String>,
    /// Goes last.
    _servers: Servers,
}

/// The program ends with the chat, and servers over the network are told.
struct Servers(Runtime);

impl Drop for Servers {
    fn drop(&mut self) {
        self.0.end_servers_blocking(SERVERS_AT_THE_END);
    }
}

impl Talk for Agent {
    fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn close(self: Box<Self>) -> Vec<String> {
        self.chat.close()
    }

    fn plugin_commands(&self) -> Vec<PluginLine> {
        let commands = self.runtime.plugin_commands().into_iter();
        let commands = commands.filter(|it| slash::named(&it.name.to_lowercase()).is_none());
        commands.map(|it| PluginLine { name: it.name, usage: it.usage, about: it.description }).collect()
    }

    fn plugin_command(&self, name: String, words: String) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            let said = self.runtime.run_plugin_command(&name, &words, self.chat.session()).await;
            said.unwrap_or_else(|| Err(format!("no plugin has /{name} any more")))
        })
    }

    fn skills(&self) -> Vec<Skill> {
        let Some(skills) = self.runtime.skills() else { return Vec::new() };
        skills.list_now(Some(&Beside::of(&self.chat.session().toolbox_blocking())))
    }

    fn skill(&self, name: &str) -> Result<View, SkillError> {
        let none = || SkillError::Unknown { name: name.to_owned(), near: Vec::new() };
        let view = self.runtime.skills().ok_or_else(none)?.view_now(name, &self.chat.session_id())?;
        self.chat.session().pass_variables(view.needs.names());
        Ok(view)
    }

    fn injected(&self) -> Vec<String> {
        self.runtime.injected_messages().into_iter().map(|message| message.content).collect()
    }

    fn session_id(&self) -> String {
        self.chat.session_id()
    }

    fn model_name(&self) -> String {
        self.chat.model().name
    }

    fn context_tokens(&self) -> Option<u64> {
        self.chat.model().context_tokens
    }

    fn turn<'a>(
        &'a self,
        prompt: Vec<Part>,
        events: EventSink<'a>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, TurnEnd> {
        Box::pin(async move {
            let (prompt, notes) = self.chat.attached(prompt).await;
            for text in notes {
                events(Event::Notice { text });
            }
            self.chat.turn(prompt, events, &cancel).await
        })
    }

    fn steer(&self, text: String) {
        self.chat.steer(&text);
    }

    fn compress(&self, topic: Option<String>) -> BoxFuture<'_, Told> {
        Box::pin(async move { self.chat.compress(topic.as_deref(), &CancellationToken::new()).await })
    }

    fn undo(&self, turns: usize) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            let turns = u32::try_from(turns).unwrap_or(u32::MAX);
            match self.chat.undo(turns).await? {
                Some(said) => Ok(format!("took back: {said}")),
                None => Err("there is nothing to take back".to_owned()),
            }
        })
    }

    fn last_user_message(&self) -> BoxFuture<'_, Option<Vec<Part>>> {
        Box::pin(async move {
            let messages = self.chat.messages().await.ok()?;
            messages.into_iter().rev().find_map(|message| match message {
                Message::User { content } => Some(content),
                _ => None,
            })
        })
    }

    fn rename(&self, title: String) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            let title = self.chat.rename(&title).await?;
            Ok(format!("the session is now `{title}`"))
        })
    }

    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<SessionLine>, String>> {
        Box::pin(async move {
            let sessions = self.chat.sessions(MOST_SESSIONS).await?;
            let line = |record: hermes::store::sessions::SessionRecord| SessionLine {
                id: record.id,
                title: record.title,
                when: record.active_at.to_string(),
                messages: u64::try_from(record.message_count).unwrap_or_default(),
            };
            Ok(sessions.into_iter().map(line).collect())
        })
    }

    fn open(&self, name: String) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            self.chat.go_on_with(&name).await.map_err(|wrong| wrong.to_string())?;
            Ok(format!("session {}", self.chat.session_id()))
        })
    }

    fn new_session(&self) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            self.chat.start_anew().await.map_err(|wrong| wrong.to_string())?;
            Ok(format!("session {}", self.chat.session_id()))
        })
    }

    fn fork(&self, title: Option<String>) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            self.chat.fork(title.as_deref()).await.map_err(|wrong| wrong.to_string())?;
            Ok(format!("session {}, a copy of the one before", self.chat.session_id()))
        })
    }

    fn set_model(&self, name: String) -> BoxFuture<'_, Told> {
        Box::pin(async move {
            let wish = ModelWish { model: Some(name), ..ModelWish::default() };
            let choice = self.chat.change_model(wish).await.map_err(|wrong| wrong.to_string())?;
            Ok(format!("{} answers from now on", choice.name))
        })
    }

    fn set_effort(&self, effort: Option<String>) {
        self.chat.set_effort(effort);
    }

    fn usage(&self) -> BoxFuture<'_, Totals> {
        Box::pin(async move {
            let Ok(used) = self.chat.usage().await else { return Totals::default() };
            let count = |tokens: i64| u64::try_from(tokens).unwrap_or_default();
            let total = used.total;
            Totals {
                usage: Usage {
                    input: count(total.input_tokens),
                    output: count(total.output_tokens),
                    cache_read: count(total.cache_read_tokens),
                    cache_write: count(total.cache_write_tokens),
                    reasoning: count(total.reasoning_tokens),
                },
                cost_usd: (total.cost_usd > 0.0).then_some(total.cost_usd),
                model_calls: count(total.api_calls),
                tool_calls: used.tool_calls,
                context_used: used.context_used,
            }
        })
    }

    fn toolsets(&self) -> Vec<ToolsetLine> {
        let toolbox = self.chat.session().toolbox_blocking();
        let has = |name: &str| toolbox.offered().iter().any(|tool| tool.entry().toolset().as_ref() == name);
        let snapshot = self.runtime.tools();
        let catalog = snapshot.catalog();
        let line = |name: &str| ToolsetLine {
            name: name.to_owned(),
            about: catalog.built_in(name).map(|toolset| toolset.description).unwrap_or_default().to_owned(),
            on: has(name),
        };
        catalog.names().map(line).collect()
    }

    fn tools(&self) -> Vec<ToolLine> {
        let toolbox = self.chat.session().current_toolbox_blocking();
        let line = |tool: &hermes::core::definitions::Offered| ToolLine {
            name: tool.name().to_string(),
            emoji: tool.entry().emoji_text().to_owned(),
            toolset: tool.entry().toolset().to_string(),
            about: first_sentence(tool.description()).to_owned(),
        };
        toolbox.offered().iter().map(line).collect()
    }

    fn set_yolo(&self, on: bool) {
        self.runtime.run_unasked(on);
    }

    fn history(&self) -> BoxFuture<'_, Vec<Message>> {
        Box::pin(async move { self.chat.messages().await.unwrap_or_default() })
    }
}
