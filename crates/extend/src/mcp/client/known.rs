//! What is known of a server between starts, and what a person has agreed to.
//!
//! The definitions that a model may see are pinned: the first ones are taken as they come, and one
//! that is different later is held back until somebody has looked at the change. Its words reach a
//! model's prompt, so a server that is updated behind one's back must not be able to change them.

use std::collections::{BTreeMap, BTreeSet};

use hermes_core::approval_words::visible;
use hermes_core::json::{Dialect, FIT_RULES, JsonText, is_fit, sanitize};
use hermes_core::tool::Fit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;
use crate::digest::digest;
use crate::is_default;

/// The rules that definitions are judged by.
const RULES: (u32, u32) = (schema::RULES, FIT_RULES);

/// How the pages go on in which a server lists its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// One after the other, as many as are asked for.
    #[default]
    On,
    /// One leads back to one before it, so that they have no end.
    InACircle,
}

/// What is known of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// Fingerprint of the configuration that it was learnt with.
    pub identity: String,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// What the server calls itself.
    pub server: Option<String>,
    /// What it tells its users.
    pub instructions: Option<String>,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
    /// Its tools as it last listed them.
    pub tools: Vec<Listed>,
    /// Whether it has more tools than are taken.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// How the pages went on in which it lists them.
    #[serde(skip_serializing_if = "is_default")]
    pub pages: Pages,
    /// What was agreed to, by the name of the tool.
    pub accepted: BTreeMap<String, Listed>,
    /// Of these, the tools that are still listed so: they are written by name, and read from the list.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    as_listed: BTreeSet<String>,
    /// The server, as it was configured, that could not say in time what it offers. It is not waited
    /// for again.
    pub tried: String,
    /// Tools that came after the first ones and that nobody has looked at yet. They can be called.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub new: BTreeSet<String>,
    /// Why it could not be asked, unless it answered since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<LastTrouble>,
    /// What is wrong with definitions, by the name of the tool: judged once, when they are learnt.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    faults: BTreeMap<String, String>,
    /// The tools whose schemas are fit to be handed on to a model as they are written.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    fit: BTreeSet<String>,
    /// What is handed on in the place of the others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    made_fit: BTreeMap<String, JsonText>,
    /// The rules that they were judged by: what is wrong, and what is fit.
    judged: u32,
    fit_by: u32,
}

/// Why a server could not be asked the last time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastTrouble {
    /// Fingerprint of the configuration that it had then.
    pub identity: String,
    /// Whether somebody has to log in.
    pub login: bool,
    /// What happened, in words.
    pub why: String,
}

/// A tool as the server lists it; only what matters to us.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listed {
    /// Its name on the server.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: JsonText,
    /// Hints about what it does.
    #[serde(skip_serializing_if = "is_default")]
    pub hints: Hints,
    /// JSON schema that the structure of its answers follows, where it promises one. No model sees it, so nobody
    /// is asked to agree to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<JsonText>,
}

/// What a server says its tool does. It is taken at its word no further than the person allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// It changes nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub read_only: bool,
    /// Twice is the same as once.
    #[serde(skip_serializing_if = "is_default")]
    pub idempotent: bool,
}

/// A tool whose definition is not the one that was agreed to.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed<'a> {
    /// What was agreed to.
    pub before: &'a Listed,
    /// What the server says now.
    pub now: &'a Listed,
}

impl Listed {
    /// Fingerprint of everything that a model or the policy gets to see.
    pub fn digest(&self) -> String {
        let (name, description, schema, hints) = self.shown();
        let mut text = format!("{name}\n{description}\n{}{}\n", hints.read_only, hints.idempotent);
        write_sorted(schema.value(), &mut text);
        digest(text.as_bytes())
    }

    /// Everything that a model or the policy gets to see.
    fn shown(&self) -> (&str, &str, &JsonText, Hints) {
        let Self { name, description, schema, hints, output: _ } = self;
        (name, description, schema, *hints)
    }

    /// What of it is agreed to.
    fn pinned(&self) -> Self {
        Self { output: None, ..self.clone() }
    }

    /// Whether a call that may or may not have run may be sent again.
    pub fn may_repeat(&self) -> bool {
        self.hints.read_only || self.hints.idempotent
    }

    /// What is wrong with it, if something is.
    pub(crate) fn fault(&self) -> Option<String> {
        schema::fault(&self.name, &self.description, self.schema.value())
    }

    /// The definition as lines for a person, to be compared. What would not show is written out.
    pub fn lines(&self) -> String {
        let schema = serde_json::to_string_pretty(self.schema.value()).unwrap_or_default();
        let Hints { read_only, idempotent } = self.hints;
        let hints = format!("read only: {read_only}, idempotent: {idempotent}");
        let lines = self.description.trim_end().split('\n').chain([hints.as_str()]).chain(schema.split('\n'));
        lines.map(|line| visible(line) + "\n").collect()
    }
}

/// Whether a definition is another one. Most are the same to the letter, which is quickly seen.
fn is_other(before: &Listed, now: &Listed) -> bool {
    before.shown() != now.shown() && before.digest() != now.digest()
}

/// JSON with the members of every object in order, so that only a real change changes it.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            for (key, value) in sorted {
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write_sorted(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

impl Known {
    /// What was written down, if it can be read.
    pub fn read(text: &str) -> Option<Self> {
        let mut known: Self = serde_json::from_str(text).ok()?;
        let as_listed = std::mem::take(&mut known.as_listed);
        for tool in known.tools.iter().filter(|tool| as_listed.contains(&tool.name)) {
            known.accepted.entry(tool.name.clone()).or_insert_with(|| tool.pinned());
        }
        if (known.judged, known.fit_by) != RULES {
            known.judge();
            // It may be written in another way than a model should read it.
            known.tools.iter_mut().for_each(|tool| tool.schema = tool.schema.value().clone().into());
        }
        Some(known)
    }

    /// As it is written down.
    pub fn text(&self) -> String {
        let mut written = self.clone();
        let mut listed: BTreeMap<&str, &Listed> = BTreeMap::new();
        for tool in &self.tools {
            listed.entry(&tool.name).or_insert(tool);
        }
        let is_listed = |name: &String, pinned: &Listed| {
            listed.get(name.as_str()).is_some_and(|now| now.pinned() == *pinned)
        };
        written.as_listed = self
            .accepted
            .iter()
            .filter(|(name, it)| is_listed(name, it))
            .map(|(name, _)| name.clone())
            .collect();
        written.accepted.retain(|name, _| !written.as_listed.contains(name));
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// Takes over what a server lists now. The first tools are agreed to as they are, and so is one that
    /// was never seen before, but it is remembered as new; one that was seen before is not agreed to.
    pub fn learn(&mut self, tools: Vec<Listed>) {
        let first = self.accepted.is_empty();
        for tool in &tools {
            if !self.accepted.contains_key(&tool.name) {
                self.accepted.insert(tool.name.clone(), tool.pinned());
                if !first {
                    self.new.insert(tool.name.clone());
                }
            }
        }
        self.tools = tools;
        self.judge();
        (self.judged, self.fit_by) = RULES;
    }

    /// That its tools are perhaps not all of them, in words.
    pub fn cut_off(&self) -> Option<String> {
        let count = self.tools.len();
        if !self.more && self.pages == Pages::InACircle {
            return Some(format!(
                "the pages in which it lists its tools repeat: what the first ones list is taken, {count} in all"
            ));
        }
        self.more.then(|| format!("it offers more tools than are taken: only the first {count}"))
    }

    fn judge(&mut self) {
        let fault = |tool: &Listed| Some((tool.name.clone(), tool.fault()?));
        self.faults = self.tools.iter().filter_map(fault).collect();
        let (fit, others): (Vec<&Listed>, Vec<&Listed>) =
            self.tools.iter().partition(|tool| is_fit(tool.schema.value()));
        self.fit = fit.into_iter().map(|tool| tool.name.clone()).collect();
        let others = others.into_iter().filter(|tool| !self.faults.contains_key(&tool.name));
        let made = |tool: &Listed| sanitize(tool.schema.value(), Dialect::Lenient).into_owned().into();
        self.made_fit = others.map(|tool| (tool.name.clone(), made(tool))).collect();
    }

    /// What is known of a tool's schema as providers want it.
    pub(crate) fn fit(&self, tool: &str) -> Fit {
        match self.made_fit.get(tool) {
            _ if self.fit.contains(tool) => Fit::AsWritten,
            Some(made) => Fit::As(Box::new(made.clone())),
            None => Fit::Unknown,
        }
    }

    /// What is wrong with a tool's definition, if something is.
    pub fn fault(&self, tool: &str) -> Option<&str> {
        self.faults.get(tool).map(String::as_str)
    }

    /// Its tools that nobody has looked at since they came.
    pub fn unseen(&self) -> impl Iterator<Item = &Listed> {
        self.tools.iter().filter(|tool| self.new.contains(&tool.name))
    }

    /// The same, with what was agreed to elsewhere meanwhile: what is written down counts.
    #[must_use]
    pub(crate) fn with_agreements_of(mut self, kept: &Self) -> Self {
        let agreed = kept.accepted.iter().map(|(name, tool)| (name.clone(), tool.clone()));
        self.accepted.extend(agreed);
        self.new.retain(|name| !kept.accepted.contains_key(name));
        self.new.extend(kept.new.iter().cloned());
        self
    }

    /// What is different from what was agreed to.
    pub fn changed(&self) -> impl Iterator<Item = Changed<'_>> {
        self.tools
            .iter()
            .filter(|now| self.holds(now))
            .filter_map(|now| Some(Changed { before: self.accepted.get(&now.name)?, now }))
    }

    /// Whether a call of this tool that may or may not have run may be sent again.
    pub fn may_repeat(&self, tool: &str) -> bool {
        self.listed(tool).is_some_and(Listed::may_repeat)
    }

    /// The schema that the structure of a tool's answers follows, where it promises one.
    pub fn output(&self, tool: &str) -> Option<&JsonText> {
        self.listed(tool)?.output.as_ref()
    }

    fn listed(&self, tool: &str) -> Option<&Listed> {
        self.tools.iter().find(|listed| listed.name == tool)
    }

    /// Whether a tool that is listed is held back because its definition has changed.
    pub(crate) fn holds(&self, listed: &Listed) -> bool {
        self.accepted.get(&listed.name).is_some_and(|before| is_other(before, listed))
    }

    /// The same by its name.
    pub fn holds_back(&self, tool: &str) -> bool {
        self.listed(tool).is_some_and(|listed| self.holds(listed))
    }

    /// The changed tools among these, or among all, as they are now.
    pub(crate) fn to_agree(&self, only: &[String]) -> Vec<Listed> {
        let meant = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
        self.changed().filter(|changed| meant(&changed.now.name)).map(|changed| changed.now.clone()).collect()
    }

    /// A person has looked at these tools, or at all, and agrees to the changed ones.
    pub(crate) fn agree(&mut self, only: &[String], changed: &[Listed]) {
        self.new.retain(|name| !only.is_empty() && !only.contains(name));
        self.accepted.extend(changed.iter().map(|tool| (tool.name.clone(), tool.pinned())));
    }

    /// Whether nothing is different as far as a model can tell.
    pub fn same_offer(&self, other: &Self) -> bool {
        (self.resources, self.prompts, &self.accepted, &self.new)
            == (other.resources, other.prompts, &other.accepted, &other.new)
            && self.tools.iter().map(Listed::shown).eq(other.tools.iter().map(Listed::shown))
    }
}

/// A schema that takes anything, for a tool that is not offered.
pub(crate) fn any_object() -> Value {
    let mut map = Map::new();
    map.insert("type".to_owned(), "object".into());
    Value::Object(map)
}

#[cfg(test)]
mod tests;
