//! `hermes chat` at a terminal: one loop that owns the screen.
//!
//! Keys, ticks, events of the agent and questions arrive in one queue and are handled one by one,
//! so that nothing is drawn or read from anywhere else. While a turn runs the same loop goes on;
//! the turn is merely polled beside it.

mod busy;
mod draw;
mod input;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use hermes::core::model::Part;
use hermes::core::wait::wait;
use tokio_util::sync::CancellationToken;

use crate::approval::ScreenSudo;
use crate::chat::args::ChatArgs;
use crate::chat::ask::{Questions, ScreenApprover, ScreenAsker};
use crate::chat::editor::{Editor, History, Offers};
use crate::chat::files::Place;
use crate::chat::happening::{Desk, Happening};
use crate::chat::live::{Live, Verbosity};
use crate::chat::markdown::Canvas;
use crate::chat::open::{Person, open};
use crate::chat::screen::Screen;
use crate::chat::settings::Settings;
use crate::chat::show::Show;
use crate::chat::status::Status;
use crate::chat::talk::Talk;
use crate::chat::terminal::Terminal;
use crate::chat::text::{Line, Style};
use crate::command::Failure;
use crate::output;
use crate::shell::Shell;
use crate::slash::COMMANDS;
use crate::table::on_one_line;

/// Talks until the person leaves.
pub(crate) fn run(shell: &Shell, args: &ChatArgs) -> Result<(), Failure> {
    let place = Place { cwd: shell.cwd().to_owned(), user_home: shell.user_home() };
    let images = args.images(&place)?;
    let (queue, inbox) = unbounded();
    let person = Person {
        approver: Arc::new(ScreenApprover { queue: queue.clone() }),
        asker: Arc::new(ScreenAsker { queue: queue.clone() }),
        sudo: Arc::new(ScreenSudo { queue: queue.clone() }),
    };
    let talk = open(shell, args, Some(person))?;
    let mut settings = Settings::read(shell);
    if args.verbose {
        settings.verbosity = Verbosity::Verbose;
    }
    let kept = shell.home().ok().map(|home| hermes::store::History::of(&home));
    let lines =
        kept.as_ref().and_then(|kept| kept.read().map_err(|wrong| output::warn(&wrong.to_string())).ok());
    let terminal = Terminal::hold(&queue)
        .map_err(|wrong| Failure::failed(format!("the terminal cannot be used: {wrong}")))?;
    let screen = Screen::new(io::stdout(), terminal.size(), shell.colour());
    let of_plugins = of_plugins(talk.as_ref());
    let outside = Outside { shell, place, kept, of_plugins };
    let mail = Mail { queue, inbox };
    let mut chat =
        Chat::new(talk.as_ref(), &terminal, outside, screen, mail, settings, lines.unwrap_or_default());
    chat.images = images;
    chat.show.status.yolo = args.yolo;
    let code = wait(chat.run());
    let goodbye = chat.goodbye();
    let left = chat.screen.leave(&goodbye);
    drop(chat);
    drop(terminal);
    for wrong in talk.close() {
        output::warn(&wrong);
    }
    left?;
    match code? {
        0 => Ok(()),
        code => Err(Failure::Told(code)),
    }
}

/// What the chat reaches beyond the screen and the agent.
pub(crate) struct Outside<'a> {
    shell: &'a Shell,
    place: Place,
    kept: Option<hermes::store::History>,
    /// Commands of plugins, as they were when the chat began, and what each does.
    of_plugins: Vec<(String, String)>,
}

/// The commands of plugins, and what each does.
fn of_plugins(talk: &dyn Talk) -> Vec<(String, String)> {
    talk.plugin_commands().into_iter().map(|it| (it.name, it.about)).collect()
}

impl Offers for Outside<'_> {
    fn commands(&self) -> Vec<(String, String)> {
        let own = COMMANDS.iter().map(|def| (def.name().to_owned(), def.about().to_owned()));
        own.chain(self.of_plugins.iter().cloned()).collect()
    }

    fn words(&self, command: &str) -> Vec<String> {
        let def = COMMANDS.iter().find(|def| def.name() == command || def.aliases().contains(&command));
        def.map(|def| def.known_words().iter().map(|word| (*word).to_owned()).collect()).unwrap_or_default()
    }

    fn folder(&self, path: &str) -> Vec<String> {
        self.place.names(path)
    }
}

/// Both ends of the queue of happenings.
struct Mail {
    queue: UnboundedSender<Happening>,
    inbox: UnboundedReceiver<Happening>,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
enum Step {
    /// Go on as before.
    On,
    /// Say this.
    Say(Vec<Part>),
    /// Leave, with this exit code.
    Leave(u8),
}

/// A chat on a screen.
struct Chat<'a, W> {
    talk: &'a dyn Talk,
    desk: &'a dyn Desk,
    outside: Outside<'a>,
    screen: Screen<W>,
    mail: Mail,
    settings: Settings,
    show: Show,
    editor: Editor,
    /// What is typed as the answer to a question.
    answer: Editor,
    questions: Questions,
    /// Messages that wait for their turn.
    waiting: VecDeque<String>,
    /// Pictures for the next message.
    images: Vec<Part>,
    /// Lines that are to stay and are not on the screen yet.
    staying: Vec<Line>,
    /// A slash command that takes its time, and since when.
    working: Option<(&'static str, Duration)>,
    /// When the screen was last drawn.
    drawn: Duration,
    /// Ctrl-C was pressed with nothing to stop: again means leaving.
    leaving: bool,
    said: bool,
    /// The turn was stopped to say something else.
    instead: bool,
}

impl<'a, W: Write> Chat<'a, W> {
    fn new(
        talk: &'a dyn Talk,
        desk: &'a dyn Desk,
        outside: Outside<'a>,
        screen: Screen<W>,
        mail: Mail,
        settings: Settings,
        lines: Vec<String>,
    ) -> Self {
        let canvas = Canvas { width: screen.width(), colour: screen.colour() };
        let status =
            Status { model: talk.model_name(), context_tokens: talk.context_tokens(), ..Status::default() };
        let mut show = Show::new(canvas, status, Live::new(talk.tools()));
        show.verbosity = settings.verbosity;
        show.reasoning = settings.reasoning;
        Self {
            talk,
            desk,
            outside,
            screen,
            mail,
            settings,
            show,
            editor: Editor::new(History::new(lines), settings.fold_pastes),
            answer: Editor::default(),
            questions: Questions::default(),
            waiting: VecDeque::new(),
            images: Vec::new(),
            staying: Vec::new(),
            working: None,
            drawn: Duration::ZERO,
            leaving: false,
            said: false,
            instead: false,
        }
    }

    /// The exit code, once the person leaves.
    async fn run(&mut self) -> Result<u8, Failure> {
        self.greet();
        self.recall().await;
        self.look_again().await;
        self.draw_now()?;
        loop {
            self.waiting.extend(self.talk.injected());
            let step = match self.waiting.pop_front() {
                Some(text) => self.message(text),
                None => self.idle().await?,
            };
            let step = match step {
                Step::Say(parts) => self.turn(parts).await?,
                other => other,
            };
            if let Step::Leave(code) = step {
                return Ok(code);
            }
        }
    }

    /// Until there is something to say, or nobody to say it.
    async fn idle(&mut self) -> Result<Step, Failure> {
        while let Some(happening) = self.mail.inbox.next().await {
            let step = self.happened(happening, None).await?;
            self.draw_now()?;
            self.waiting.extend(self.talk.injected());
            if step != Step::On || !self.waiting.is_empty() {
                return Ok(step);
            }
        }
        Ok(Step::Leave(0))
    }

    /// Something happened; `turn` stops the turn that runs.
    async fn happened(
        &mut self,
        happening: Happening,
        turn: Option<&CancellationToken>,
    ) -> Result<Step, Failure> {
        match happening {
            Happening::Key(key) => self.key(key, turn).await,
            Happening::Tick => {
                let lines = self.questions.expire(self.desk.now());
                self.staying.extend(lines);
                Ok(Step::On)
            }
            Happening::Resized => {
                self.screen.resize(self.desk.size());
                let colour = self.screen.colour();
                self.show.resize(Canvas { width: self.screen.width(), colour });
                Ok(Step::On)
            }
            Happening::Closed => Ok(Step::Leave(0)),
            Happening::Signal(code) => Ok(Step::Leave(code)),
            Happening::Agent(event) => {
                let lines = self.show.event(event, self.desk.now());
                self.staying.extend(lines);
                Ok(Step::On)
            }
            Happening::Ask(request, answer) => {
                self.questions.add(*request, answer);
                Ok(Step::On)
            }
            Happening::Clarify(question, answer) => {
                self.questions.add_clarify(question, answer);
                Ok(Step::On)
            }
            Happening::Password(question, answer) => {
                self.questions.add_password(question, answer);
                Ok(Step::On)
            }
            Happening::Warning(what) => {
                self.staying.push(Line::new(&on_one_line(&format!("⚠ {what}")), Style::YELLOW));
                Ok(Step::On)
            }
        }
    }

    /// The message as parts, put on the screen as said.
    fn message(&mut self, text: String) -> Step {
        self.echo(&text);
        let mut parts = vec![Part::Text { text }];
        parts.append(&mut self.images);
        Step::Say(parts)
    }

    fn echo(&mut self, text: &str) {
        self.staying.push(Line::default());
        for (at, line) in text.lines().enumerate() {
            let mark = if at == 0 { "❯ " } else { "  " };
            self.staying.push(Line::new(mark, Style::CYAN.and(Style::BOLD)).with(line, Style::BOLD));
        }
        self.staying.push(Line::default());
    }

    /// Asks the agent for what the status line tells.
    async fn look_again(&mut self) {
        let all = self.talk.usage().await;
        let status = &mut self.show.status;
        status.model = self.talk.model_name();
        status.context_tokens = self.talk.context_tokens();
        status.usage = all.usage;
        status.cost_usd = all.cost_usd;
        status.context_used = all.context_used;
    }
}

#[cfg(test)]
mod tests;
