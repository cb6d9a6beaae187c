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

    /// Any of several, by their numbers; none when nothing is typed. Asked again until all are numbers of
    /// the list.
    pub(crate) fn choices(&mut self, question: &str, options: &[String]) -> Result<Vec<usize>, Failure> {
        self.tell(question)?;
        for (at, option) in options.iter().enumerate() {
            self.tell(&format!("  {:>2}  {option}", at + 1))?;
        }
        loop {
            let typed = self.line("numbers with commas between, empty for none", "")?;
            match places(&typed, options.len()) {
                Some(places) => return Ok(places),
                None => self.tell(&format!("Please type numbers from 1 to {}.", options.len()))?,
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

/// The places that numbers name, in a list of so many; nothing when one of them is no number of it.
fn places(typed: &str, count: usize) -> Option<Vec<usize>> {
    let numbers = typed.split([',', ' ']).filter(|word| !word.is_empty());
    numbers
        .map(|word| word.parse::<usize>().ok().filter(|n| (1..=count).contains(n)).map(|n| n - 1))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_with_commas_name_places_of_a_list() {
        assert_eq!(super::places(" 1, 3 ", 3), Some(vec![0, 2]));
        assert_eq!(super::places("", 3), Some(Vec::new()));
        for wrong in ["0", "4", "1,x", "-1"] {
            assert_eq!(super::places(wrong, 3), None, "{wrong}");
        }
    }
}
