//! What the picker shows and switches.
//!
//! Pure: keys in, switches out. Whether a switch does what it should is not guessed: after each one
//! the code that decides about tools is asked which are on.

use std::collections::BTreeSet;

use hermes::core::toolset::SelectionError;

use crate::chat::keys::Key;
use crate::tools::switches::Switch;

/// Says which tools are on after some switches.
pub(super) type Judge<'a> = &'a dyn Fn(&[Switch]) -> Result<BTreeSet<String>, SelectionError>;

/// A toolset.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) tools: Vec<Item>,
    /// Its tools are shown.
    pub(super) open: bool,
}

/// A tool.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) tokens: u64,
    /// What it needs and does not have here.
    pub(super) missing: Option<String>,
    pub(super) on: bool,
}

/// How much of a toolset is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    On,
    Partly,
    Off,
}

impl Mark {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Partly => "partly",
            Self::Off => "off",
        }
    }

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::On => "[x]",
            Self::Partly => "[-]",
            Self::Off => "[ ]",
        }
    }

    pub(super) const fn of(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl Group {
    pub(super) fn new(name: &str, about: &str) -> Self {
        Self { name: name.to_owned(), about: about.to_owned(), tools: Vec::new(), open: false }
    }

    /// A toolset that nobody has described is what its tools are.
    pub(super) fn named_by_its_tools(mut self) -> Self {
        if self.about.is_empty() {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            self.about = names.join(", ");
        }
        self
    }

    pub(super) fn mark(&self) -> Mark {
        match self.tools.iter().filter(|tool| tool.on).count() {
            0 => Mark::Off,
            all if all == self.tools.len() => Mark::On,
            _ => Mark::Partly,
        }
    }

    /// What all of it costs in every request.
    pub(super) fn tokens(&self) -> u64 {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// What it needs, each need once.
    pub(super) fn missing(&self) -> Vec<&str> {
        let mut needs: Vec<&str> = Vec::new();
        for need in self.tools.iter().filter_map(|tool| tool.missing.as_deref()) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }
}

/// A row of the list: a toolset, or a tool of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) group: usize,
    pub(super) tool: Option<usize>,
}

/// What a key led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    On,
    Save,
    Leave,
}

/// All toolsets of a platform, and where the person is.
pub(super) struct Board<'a> {
    pub(super) platform: String,
    pub(super) groups: Vec<Group>,
    /// The row under the hand.
    pub(super) at: usize,
    /// Only what has these words is shown.
    pub(super) filter: String,
    /// The words are being typed.
    pub(super) typing: bool,
    /// Something the person should know about their last key.
    pub(super) note: Option<String>,
    judge: Judge<'a>,
    first: BTreeSet<String>,
    switches: Vec<Switch>,
}

impl<'a> Board<'a> {
    pub(super) fn new(platform: &str, groups: Vec<Group>, judge: Judge<'a>) -> Result<Self, SelectionError> {
        let first = judge(&[])?;
        let mut board = Self {
            platform: platform.to_owned(),
            groups,
            at: 0,
            filter: String::new(),
            typing: false,
            note: None,
            judge,
            first: first.clone(),
            switches: Vec::new(),
        };
        board.show(&first);
        Ok(board)
    }

    /// What was switched and is not as before.
    pub(super) fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Tools that a session gets, and about how many tokens they cost in every request.
    pub(super) fn total(&self) -> (usize, u64) {
        let there = self.groups.iter().flat_map(|group| &group.tools);
        let there = there.filter(|tool| tool.on && tool.missing.is_none());
        there.fold((0, 0), |(count, tokens), tool| (count + 1, tokens + tool.tokens))
    }

    /// The rows that are shown.
    pub(super) fn rows(&self) -> Vec<Row> {
        let wanted = self.filter.trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let mut rows = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let whole = wanted.is_empty() || has(&group.name);
            let fits = |tool: &Item| !wanted.is_empty() && (has(&tool.name) || has(&tool.about));
            let inside: Vec<usize> = (0..group.tools.len())
                .filter(|place| (whole && group.open) || group.tools.get(*place).is_some_and(&fits))
                .collect();
            if whole || !inside.is_empty() {
                rows.push(Row { group: at, tool: None });
                rows.extend(inside.into_iter().map(|place| Row { group: at, tool: Some(place) }));
            }
        }
        rows
    }

    /// The toolset and perhaps the tool under the hand.
    pub(super) fn here(&self) -> Option<(&Group, Option<&Item>)> {
        let row = self.rows().get(self.at).copied()?;
        let group = self.groups.get(row.group)?;
        Some((group, row.tool.and_then(|place| group.tools.get(place))))
    }

    pub(super) fn key(&mut self, key: &Key) -> Step {
        self.note = None;
        if self.typing {
            self.typed(key);
            return Step::On;
        }
        match key {
            Key::Up | Key::Char('k') => self.at = self.at.saturating_sub(1),
            Key::Down | Key::Char('j') => self.move_to(self.at + 1),
            Key::Home => self.at = 0,
            Key::End => self.move_to(usize::MAX),
            Key::Right | Key::Char('l') => self.unfold(true),
            Key::Left | Key::Char('h') => self.unfold(false),
            Key::Tab => self.unfold(!self.here().is_some_and(|(group, _)| group.open)),
            Key::Char(' ') => self.switch(),
            Key::Char('/') => self.typing = true,
            Key::Enter | Key::Char('s') => return Step::Save,
            Key::Escape if !self.filter.is_empty() => self.find(""),
            Key::Escape | Key::Char('q') | Key::Ctrl('c' | 'd') => return Step::Leave,
            _ => {}
        }
        Step::On
    }

    /// A key of the words that are looked for.
    fn typed(&mut self, key: &Key) {
        match key {
            Key::Char(letter) => self.find(&format!("{}{letter}", self.filter)),
            Key::Backspace => {
                let mut words = self.filter.clone();
                words.pop();
                self.find(&words);
            }
            Key::Escape | Key::Ctrl('c') => {
                self.find("");
                self.typing = false;
            }
            Key::Enter | Key::Up | Key::Down | Key::Tab => self.typing = false,
            _ => {}
        }
    }

    fn find(&mut self, words: &str) {
        words.clone_into(&mut self.filter);
        self.at = 0;
    }

    fn move_to(&mut self, row: usize) {
        self.at = row.min(self.rows().len().saturating_sub(1));
    }

    /// Shows the tools of the toolset under the hand, or hides them.
    fn unfold(&mut self, open: bool) {
        let Some(row) = self.rows().get(self.at).copied() else { return };
        if let Some(group) = self.groups.get_mut(row.group) {
            group.open = open;
        }
        if !open {
            self.at = self.rows().iter().position(|one| one.group == row.group).unwrap_or_default();
        }
    }

    /// Switches what is under the hand.
    fn switch(&mut self) {
        let Some((group, tool)) = self.here() else { return };
        let tried = match tool {
            Some(tool) => self.tool_switched(group, &tool.name, !tool.on),
            None => self.group_switched(group, group.mark() != Mark::On),
        };
        match tried {
            Ok((switches, on)) => {
                self.show(&on);
                // Back where it began there is nothing to write.
                self.switches = if on == self.first { Vec::new() } else { switches };
            }
            Err(why) => self.note = Some(why),
        }
    }

    /// A whole toolset: on means every tool of it.
    fn group_switched(&self, group: &Group, on: bool) -> Result<(Vec<Switch>, BTreeSet<String>), String> {
        let mut switches = with(self.switches.clone(), &group.name, on);
        let mut now = self.judged(&switches)?;
        for tool in &group.tools {
            if now.contains(&tool.name) != on {
                switches = with(switches, &tool.name, on);
                now = self.judged(&switches)?;
            }
        }
        if group.tools.iter().any(|tool| now.contains(&tool.name) != on) {
            return Err(format!("another setting keeps `{}` as it is: `hermes tools explain`", group.name));
        }
        Ok((switches, now))
    }

    /// One tool. Where its toolset is off as a whole, that goes on and the others of it stay out.
    fn tool_switched(
        &self,
        group: &Group,
        name: &str,
        on: bool,
    ) -> Result<(Vec<Switch>, BTreeSet<String>), String> {
        let switches = with(self.switches.clone(), name, on);
        let now = self.judged(&switches)?;
        if now.contains(name) == on {
            return Ok((switches, now));
        }
        let mut switches = with(with(self.switches.clone(), &group.name, true), name, true);
        for other in group.tools.iter().filter(|tool| !tool.on && tool.name != name) {
            switches = with(switches, &other.name, false);
        }
        let now = self.judged(&switches)?;
        if now.contains(name) == on {
            return Ok((switches, now));
        }
        Err(format!("another setting keeps `{name}` as it is: `hermes tools explain {name}`"))
    }

    fn judged(&self, switches: &[Switch]) -> Result<BTreeSet<String>, String> {
        (self.judge)(switches).map_err(|wrong| wrong.to_string())
    }

    fn show(&mut self, on: &BTreeSet<String>) {
        for tool in self.groups.iter_mut().flat_map(|group| &mut group.tools) {
            tool.on = on.contains(&tool.name);
        }
    }
}

/// The switches with one more; what was said of the same name before does not count any more.
fn with(mut switches: Vec<Switch>, name: &str, on: bool) -> Vec<Switch> {
    switches.retain(|switch| switch.name != name);
    switches.push(Switch { name: name.to_owned(), on });
    switches
}
