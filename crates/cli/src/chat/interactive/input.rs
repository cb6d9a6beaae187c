//! What the person does: keys, messages, slash commands.

use std::io::Write;

use hermes::core::model::Part;
use tokio_util::sync::CancellationToken;

use crate::chat::editor::Edited;
use crate::chat::interactive::{Chat, Step};
use crate::chat::keys::Key;
use crate::chat::settings::BusyInput;
use crate::chat::slash::{self, Act, After, Reply, SlashCx, SlashDef};
use crate::chat::text::{Line, Style};
use crate::command::Failure;

impl<W: Write> Chat<'_, W> {
    pub(super) async fn key(&mut self, key: Key, turn: Option<&CancellationToken>) -> Result<Step, Failure> {
        if self.questions.is_open() {
            return Ok(self.answer_key(key, turn));
        }
        if let (Key::Ctrl('c'), Some(turn)) = (&key, turn) {
            return Ok(stop(turn));
        }
        let again = std::mem::take(&mut self.leaving);
        match self.editor.key(key, &self.outside) {
            Edited::Changed | Edited::Escape => {}
            Edited::Sent { text, kept } => {
                if kept {
                    self.keep(&text);
                }
                return self.sent(text, turn).await;
            }
            Edited::Interrupt { had_text: false } if again => return Ok(Step::Leave(0)),
            Edited::Interrupt { had_text } => self.leaving = !had_text,
            Edited::Quit => return Ok(Step::Leave(0)),
            Edited::Clear => self.screen.wipe()?,
            Edited::Suspend => {
                self.screen.leave(&[])?;
                self.desk.suspend()?;
                self.screen.resize(self.desk.size());
            }
            Edited::Unfold => {
                let lines = self.show.live.unfolded(self.show.canvas().width);
                self.staying.extend(lines);
            }
        }
        Ok(Step::On)
    }

    /// A key while a question stands there.
    fn answer_key(&mut self, key: Key, turn: Option<&CancellationToken>) -> Step {
        // Somebody was typing a message: half a word must not become a yes.
        if key != Key::Ctrl('c') && self.questions.is_fresh(self.desk.now()) {
            return Step::On;
        }
        if self.questions.is_hidden() && !matches!(key, Key::Escape | Key::Ctrl('c' | 'd')) {
            let lines = self.questions.hidden_key(key);
            self.staying.extend(lines);
            return Step::On;
        }
        match self.answer.key(key, &self.outside) {
            Edited::Sent { text, .. } => {
                self.staying.push(self.questions.prompt(self.desk.now()).with(&text, Style::PLAIN));
                let lines = self.questions.typed(&text);
                self.staying.extend(lines);
            }
            Edited::Escape | Edited::Quit => {
                let lines = self.questions.refuse();
                self.staying.extend(lines);
            }
            Edited::Interrupt { .. } => {
                let lines = self.questions.refuse();
                self.staying.extend(lines);
                return turn.map_or(Step::On, stop);
            }
            _ => {}
        }
        Step::On
    }

    async fn sent(&mut self, text: String, turn: Option<&CancellationToken>) -> Result<Step, Failure> {
        match slash::parse(&text) {
            Some(Ok((def, words))) => {
                let words = words.to_owned();
                self.command(def, &words, turn).await
            }
            Some(Err(unknown)) => {
                // Behind a `/` may also stand the name of a skill.
                let said = crate::skills::message(self.talk, &text);
                if let Ok(Some(message)) = said {
                    if turn.is_some() {
                        self.waiting.push_back(message);
                        return Ok(Step::On);
                    }
                    self.echo(&text);
                    return Ok(Step::Say(vec![Part::Text { text: message }]));
                }
                // What stands in the way of a skill of that name is worth more than that no command has it.
                let reply = self.plugin_command(&text, said.err().unwrap_or(unknown), turn).await?;
                self.staying.extend(reply.lines);
                Ok(Step::On)
            }
            None => match turn {
                None => Ok(self.message(text)),
                Some(turn) => {
                    self.sent_while_busy(text, turn);
                    Ok(Step::On)
                }
            },
        }
    }

    /// A command that none of ours is: a plugin may have it.
    async fn plugin_command(
        &mut self,
        text: &str,
        unknown: String,
        turn: Option<&CancellationToken>,
    ) -> Result<Reply, Failure> {
        let typed = text.strip_prefix('/').unwrap_or(text);
        let (name, words) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let (name, words, talk) = (name.to_lowercase(), words.trim().to_owned(), self.talk);
        if !talk.plugin_commands().iter().any(|command| command.name == name) {
            return Ok(Reply::wrong(unknown));
        }
        if turn.is_some() {
            return Ok(Reply::wrong(format!("/{name} has to wait until the turn is over; Ctrl-C stops it.")));
        }
        let work = Box::pin(async move { Reply::told(talk.plugin_command(name, words).await) });
        let done = self.wait_for("plugin", work).await?;
        Ok(done.unwrap_or_else(|| Reply::wrong("⏹ stopped")))
    }

    fn sent_while_busy(&mut self, text: String, turn: &CancellationToken) {
        match self.settings.busy_input {
            // A slash command that waits cannot be talked to.
            _ if self.working.is_some() => self.waiting.push_back(text),
            BusyInput::Queue => self.waiting.push_back(text),
            BusyInput::Steer => self.steer(text),
            BusyInput::Interrupt => {
                self.waiting.push_back(text);
                self.instead = true;
                turn.cancel();
            }
        }
    }

    fn steer(&mut self, text: String) {
        self.staying.push(Line::faint("↪ ").with(&text, Style::FAINT));
        self.talk.steer(text);
    }

    async fn command(
        &mut self,
        def: &'static SlashDef,
        words: &str,
        turn: Option<&CancellationToken>,
    ) -> Result<Step, Failure> {
        self.staying.push(Line::default());
        self.staying.push(Line::faint(&format!("❯ /{} {words}", def.name())).trimmed());
        let (talk, shell) = (self.talk, self.outside.shell);
        let cx = SlashCx {
            talk,
            shell,
            canvas: self.show.canvas(),
            verbosity: self.show.verbosity,
            reasoning: self.show.reasoning,
            yolo: self.show.status.yolo,
            queued: self.waiting.len(),
        };
        let reply = match def.act() {
            Act::Now(run) => run(&cx, words),
            Act::Wait(_) if turn.is_some() => {
                let text = format!("/{} has to wait until the turn is over; Ctrl-C stops it.", def.name());
                Reply::lines(vec![Line::new(&text, Style::YELLOW)])
            }
            Act::Wait(run) => match self.wait_for(def.name(), run(&cx, words)).await? {
                Some(reply) => reply,
                None => Reply::lines(vec![Line::new("⏹ stopped", Style::YELLOW)]),
            },
        };
        self.staying.extend(reply.lines);
        self.after(reply.after, turn).await
    }

    async fn after(&mut self, after: After, turn: Option<&CancellationToken>) -> Result<Step, Failure> {
        match after {
            After::Nothing => {}
            After::Quit => return Ok(Step::Leave(0)),
            After::Clear => self.screen.wipe()?,
            After::Send(parts) => {
                self.echo(&crate::chat::record::text_of(&parts));
                return Ok(Step::Say(parts));
            }
            After::Queue(text) => self.waiting.push_back(text),
            After::Steer(text) if turn.is_some() => self.steer(text),
            // With no turn to steer it is simply said.
            After::Steer(text) => return Ok(self.message(text)),
            After::Stop => match turn {
                Some(turn) => turn.cancel(),
                None => self.staying.push(Line::faint("Nothing runs.")),
            },
            After::Changed => self.look_again().await,
            After::Verbosity(verbosity) => self.show.verbosity = verbosity,
            After::Reasoning(on) => self.show.reasoning = on,
            After::Yolo(on) => self.show.status.yolo = on,
            After::Run(words) => self.run_command(&words)?,
        }
        Ok(Step::On)
    }

    /// A command of the program itself, which writes its own answer.
    fn run_command(&mut self, words: &[String]) -> Result<(), Failure> {
        let staying = std::mem::take(&mut self.staying);
        self.screen.leave(&staying)?;
        match crate::run_words(words, self.outside.shell) {
            Ok(()) | Err(Failure::Told(_)) => {}
            Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
            Err(failure) => {
                let why = failure.why().unwrap_or_default().to_owned();
                self.staying.extend(why.lines().map(|line| Line::new(line, Style::RED)));
            }
        }
        Ok(())
    }

    /// Writes a line into the history of the home; a home that cannot be written to is no reason
    /// to stop talking.
    fn keep(&mut self, text: &str) {
        let Some(kept) = &self.outside.kept else { return };
        if let Err(wrong) = kept.add(text) {
            self.staying.push(Line::new(&format!("· not kept in the history: {wrong}"), Style::YELLOW));
            self.outside.kept = None;
        }
    }
}

/// Stops a turn; when it was stopped before, leaves.
fn stop(turn: &CancellationToken) -> Step {
    if turn.is_cancelled() {
        return Step::Leave(Failure::INTERRUPTED);
    }
    turn.cancel();
    Step::On
}
