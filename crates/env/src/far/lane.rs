//! Shells over there that run one command after the other for us.
//!
//! Starting a program by way of a client costs a client here, a session there, and what lies between. A
//! shell that is there already is only told what to run next. One carries one command at a time; a second
//! at the same time gets another, and a few that are free are kept.

use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::environment::{EnvError, Input, Output, Process, Stream, Streams};

use crate::far::facts::Facts;
use crate::far::filter::Filter;
use crate::far::quote::quoted;
use crate::far::scripts::{COMMAND, COMMAND_SH, LANE, LANE_SH};
use crate::far::{Call, Reach};
use crate::process::{MARK, secret_word};

/// Most shells that are kept while they have nothing to do.
const MOST_FREE: usize = 2;

/// The shells of one opening.
pub(super) struct Lanes {
    free: Mutex<Vec<Lane>>,
    /// The mark these shells carry.
    mark: String,
}

/// A shell over there.
pub(super) struct Lane {
    pub(super) client: Box<dyn Process>,
    /// Whether it has run a command before.
    pub(super) used: bool,
    switch: Arc<Switch>,
    word: String,
}

impl Lanes {
    pub(super) fn new(mark: String) -> Arc<Self> {
        Arc::new(Self { free: Mutex::default(), mark })
    }

    /// A shell that has nothing to do: one that is there, or a new one.
    pub(super) async fn take(&self, reach: &Arc<dyn Reach>, facts: &Facts) -> Result<Lane, EnvError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(lane) = free {
            return Ok(lane);
        }
        let word = secret_word();
        let file = format!("{}/s/l{word}", facts.folder);
        let (lane, script) = if facts.bash { (LANE, COMMAND) } else { (LANE_SH, COMMAND_SH) };
        let mark = format!("{MARK}={}", self.mark);
        let words = ["env", &mark, &facts.shell, "-c", lane, facts.shell_name(), &word, &file, &facts.shell];
        let more = [facts.shell_name(), facts.setsid_word(), script];
        let switch = Arc::new(Switch::default());
        let call = Call {
            words: words.into_iter().chain(more).map(str::to_owned).collect(),
            input: Input::Open,
            streams: Streams::Separate,
            output: Arc::clone(&switch) as Arc<_>,
        };
        Ok(Lane { client: reach.start(call).await?, used: false, switch, word })
    }

    /// Takes back one whose command is over.
    pub(super) fn give_back(&self, mut lane: Lane) {
        lane.used = true;
        lane.switch.turn(None);
        // The shell lets go of whatever still holds the pipe of that command.
        let well = lane.client.write(b"ok\n".to_vec()).is_ok();
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if well && free.len() < MOST_FREE {
            free.push(lane);
        }
    }
}

impl Lane {
    /// Tells the shell what to run next, and who listens; it begins when it is told to.
    pub(super) fn ask(&self, request: &[String], filter: &Arc<Filter>) -> Result<(), EnvError> {
        self.switch.turn(Some(Arc::clone(filter)));
        let words: Vec<String> = request.iter().map(|word| quoted(word)).collect();
        self.client.write(format!("{}\n#{}\n", words.join(" "), self.word).into_bytes())
    }
}

/// Hands what comes from a shell to whoever listens to the command it runs.
#[derive(Default)]
struct Switch(Mutex<Option<Arc<Filter>>>);

impl Switch {
    fn turn(&self, to: Option<Arc<Filter>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }
}

impl Output for Switch {
    fn take(&self, from: Stream, bytes: &[u8]) {
        let listening = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(filter) = listening {
            filter.take(from, bytes);
        }
    }
}
