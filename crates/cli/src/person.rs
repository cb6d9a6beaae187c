//! Questions to the person at the terminal, outside of a turn: a line, a secret, a choice.

#![expect(
    clippy::disallowed_methods,
    reason = "the person is reached through their terminal, not through our streams"
)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::command::Failure;
use crate::table::harmless;

/// The person at the terminal this process was started from.
pub(crate) struct Person {
    screen: File,
    keys: BufReader<File>,
}

impl Person {
    /// Reaches them, if there is a terminal.
    pub(crate) fn at_terminal() -> Option<Self> {
        let screen = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let keys = BufReader::new(screen.try_clone().ok()?);
        Some(Self { screen, keys })
    }

    /// Tells something.
    pub(crate) fn tell(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(self.screen, "{}", harmless(text))?;
        Ok(())
    }

    /// A line; an empty one means `default`.
    pub(crate) fn line(&mut self, question: &str, default: &str) -> Result<String, Failure> {
        let hint = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        write!(self.screen, "{}{}: ", harmless(question), harmless(&hint))?;
        self.screen.flush()?;
        let typed = self.typed()?;
        Ok(if typed.is_empty() { default.to_owned() } else { typed })
    }

    /// A line that is not shown while it is typed.
    pub(crate) fn secret(&mut self, question: &str) -> Result<String, Failure> {
        write!(self.screen, "{} (not shown): ", harmless(question))?;
        self.screen.flush()?;
        let before = tcgetattr(&self.screen).map_err(Failure::failed)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&self.screen, OptionalActions::Flush, &quiet).map_err(Failure::failed)?;
        let typed = self.typed();
        tcsetattr(&self.screen, OptionalActions::Now, &before).map_err(Failure::failed)?;
        writeln!(self.screen)?;
        typed
    }

    /// One of several, by its number; asked again until it is one.
    pub(crate) fn choice(
        &mut self,
        question: &str,
        options: &[String],
        default: usize,
    ) -> Result<usize, Failure> {
        self.tell(question)?;
        for (at, option) in options.iter().enumerate() {
            self.tell(&format!("  {:>2}  {option}", at + 1))?;
        }
        loop {
            let typed = self.line("number", &(default + 1).to_string())?;
            match typed.parse::<usize>() {
                Ok(number) if (1..=options.len()).contains(&number) => return Ok(number - 1),
                _ => self.tell(&format!("Please type a number from 1 to {}.", options.len()))?,
            }
        }
    }

    fn typed(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.keys.read_line(&mut line)? == 0 {
            return Err(Failure::failed("the terminal was closed; nothing was changed"));
        }
        Ok(line.trim().to_owned())
    }
}
