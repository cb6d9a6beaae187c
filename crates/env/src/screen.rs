//! A person's own terminal, joined to a shell in a place that no program of this machine leads to.

#![expect(
    clippy::disallowed_methods,
    reason = "a person at the command line types into a shell of theirs; nothing of it goes through an agent"
)]

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use hermes_core::environment::{Output, Process, Screen, Size, Stream};
use hermes_core::host::Host;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use hermes_core::wait::wait_at_most;

/// How long what was typed may lie.
const SOON: Duration = Duration::from_millis(10);

/// The terminal this program was started from.
pub fn screen() -> Screen {
    Screen { size: size().unwrap_or(Size::USUAL), output: Arc::new(Shown) }
}

/// Hands what is typed to a process that shows itself on [`screen`], until it ends; its code.
pub fn converse(mut process: Box<dyn Process>, host: &Arc<dyn Host>) -> Result<i32, String> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err("a shell needs a terminal, and this is none".to_owned());
    }
    let _raw = Raw::begin().map_err(|wrong| format!("the terminal cannot be used: {wrong}"))?;
    let typed = typed();
    let mut shown = size();
    loop {
        if let Some(end) = wait_at_most(process.ended(), SOON, host) {
            return end.map(hermes_core::environment::End::code).map_err(|wrong| wrong.to_string());
        }
        loop {
            match typed.try_recv() {
                Ok(bytes) => process.write(bytes).map_err(|wrong| wrong.to_string())?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    process.close_input();
                    break;
                }
            }
        }
        let now = size();
        if now != shown {
            shown = now;
            process.resize(now.unwrap_or(Size::USUAL));
        }
    }
}

fn size() -> Option<Size> {
    let found = tcgetwinsize(std::io::stdout()).ok()?;
    (found.ws_row > 0).then_some(Size { rows: found.ws_row, columns: found.ws_col })
}

/// What is typed, as it comes. The thread that reads it goes with the program.
fn typed() -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = std::io::stdin().read(&mut buffer) {
            if tell.send(buffer.iter().take(read).copied().collect()).is_err() {
                break;
            }
        }
    });
    told
}

/// The terminal hands every key over as it is, until this is dropped.
struct Raw(Termios);

impl Raw {
    fn begin() -> rustix::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, &self.0);
    }
}

/// Shows what comes.
struct Shown;

impl Output for Shown {
    fn take(&self, _: Stream, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        // A terminal that is gone shows nothing.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }
}
