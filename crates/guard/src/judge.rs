//! From a text to a judgement.

use std::borrow::Cow;

use serde::Serialize;

use crate::effect::{Effect, Kind, Span};
use crate::reveal;
use crate::rules::{self, Hold};
use crate::user_rules::UserRules;
use crate::walk::Walk;

/// What the caller knows about where the command would run.
#[derive(Debug, Clone)]
pub struct Context {
    /// The working directory, absolute.
    pub cwd: String,
    /// The user's home, absolute.
    pub home: String,
    /// The folder the work is about; usually the working directory.
    pub workspace: String,
    /// The agent's own folder under every name it has, beside `.hermes` in a home.
    pub agent: Vec<String>,
    /// Folders with skills beside those in it.
    pub skills: Vec<String>,
    /// The user's own rules.
    pub user_rules: UserRules,
}

impl Context {
    /// The working directory is the workspace, and there are no rules of the user's.
    pub fn new(cwd: impl Into<String>, home: impl Into<String>) -> Self {
        let cwd = tidy(cwd.into());
        let home = tidy(home.into());
        let (agent, skills, user_rules) = Default::default();
        Self { workspace: cwd.clone(), cwd, home, agent, skills, user_rules }
    }

    /// The same with another workspace.
    pub fn workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = tidy(workspace.into());
        self
    }

    /// The same with an agent whose folder has these names.
    pub fn agent(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.agent = names.into_iter().map(tidy).collect();
        self
    }

    /// The same with skills in these folders too.
    pub fn skills(mut self, folders: impl IntoIterator<Item = String>) -> Self {
        self.skills = folders.into_iter().map(tidy).collect();
        self
    }

    /// The same with the user's own rules.
    pub fn rules(mut self, rules: UserRules) -> Self {
        self.user_rules = rules;
        self
    }
}

/// Without a slash at the end, except for the root itself.
fn tidy(path: String) -> String {
    let short = path.trim_end_matches('/');
    if short.len() == path.len() {
        return path;
    }
    if short.is_empty() { "/".to_owned() } else { short.to_owned() }
}

/// What may happen with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// Somebody has to say yes first.
    Ask,
    /// It may not run.
    Deny,
}

/// One effect and what the rules make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What would happen.
    pub effect: Effect,
    /// The rule it falls under, by name; `None` when nobody minds.
    pub rule: Option<&'static str>,
    /// The user's own rule it falls under, as its place in their list.
    pub user_rule: Option<usize>,
    /// What that makes of it.
    pub verdict: Verdict,
}

/// The answer for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The strictest verdict of all findings.
    pub verdict: Verdict,
    /// Whether it is on the list that no mode and no grant opens.
    pub never: bool,
    /// Everything found, in the order of the text.
    pub findings: Vec<Finding>,
    /// Why, in a sentence.
    pub why: String,
}

impl Judgement {
    /// The findings that stand in the way.
    pub fn against(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.verdict > Verdict::Allow)
    }
}

impl Judgement {
    /// Whether a part of the text was beyond what can be followed.
    pub fn is_unread(&self) -> bool {
        self.findings.iter().any(|finding| finding.effect.kind == Kind::Unreadable)
    }
}

/// Judges a command.
pub fn judge(text: &str, context: &Context) -> Judgement {
    judged(text, context).0
}

/// How many steps judging a text takes. A step is some ten nanoseconds of work; their number
/// never grows faster than the text, which is what this is here to show.
pub fn steps(text: &str, context: &Context) -> usize {
    judged(text, context).1
}

fn judged(text: &str, context: &Context) -> (Judgement, usize) {
    let clean = reveal::clean(text);
    let mut walk = Walk::new(context, text);
    walk.whole(&clean);
    let mut effects = std::mem::take(&mut walk.effects);
    let mut programs = walk.take_programs();
    let (mut steps, left) = walk.account();
    if let Some(sign) = reveal::hiding(text) {
        effects.push(hidden(sign, Span::new(0, text.len())));
    }
    if let Some(shown) = reveal::shown(&clean) {
        // What a careless reader, or a careless program, would take the text for.
        let mut second = Walk::new(context, &shown);
        second.limit(left);
        second.whole(&shown);
        steps += second.account().0;
        let mut others = second.take_programs();
        let known = effects.len();
        for mut effect in second.effects {
            effect.span = Span::new(0, text.len());
            let new = !effects
                .iter()
                .take(known)
                .any(|old| old.kind == effect.kind && old.targets == effect.targets);
            if new && rules::rule_for(&effect).is_some() {
                effects.push(effect);
            }
        }
        if effects.len() > known {
            effects.push(hidden("letters that look like others", Span::new(0, text.len())));
        }
        programs.append(&mut others);
    }
    for effect in &mut effects {
        effect.span.end = effect.span.end.min(text.len());
        effect.span.start = effect.span.start.min(effect.span.end);
    }
    (settle(effects, &programs, context), steps)
}

fn hidden(what: &'static str, span: Span) -> Effect {
    Effect {
        kind: Kind::Hidden,
        targets: Vec::new(),
        span,
        how: crate::effect::How::default(),
        what: Cow::Borrowed(what),
    }
}

/// Matches effects against the rules and the user's own.
fn settle(effects: Vec<Effect>, programs: &[(String, Span)], context: &Context) -> Judgement {
    let mut findings: Vec<Finding> = Vec::with_capacity(effects.len());
    let mut never = false;
    for effect in effects {
        let rule = rules::rule_for(&effect);
        let held = rule.is_some_and(|rule| rule.hold == Hold::Never);
        never |= held;
        let mut verdict = match rule.map(|rule| rule.hold) {
            None => Verdict::Allow,
            Some(Hold::Ask) => Verdict::Ask,
            Some(Hold::Never) => Verdict::Deny,
        };
        let user_rule = if held { None } else { context.user_rules.for_effect(&effect, &context.home) };
        if let Some((_, own)) = user_rule {
            verdict = own;
        }
        findings.push(Finding {
            effect,
            rule: rule.map(|rule| rule.name),
            user_rule: user_rule.map(|(at, _)| at),
            verdict,
        });
    }
    for (name, span) in programs {
        if let Some((at, verdict)) = context.user_rules.for_program(name) {
            let effect = Effect {
                kind: Kind::Run,
                targets: vec![crate::effect::Target { text: name.clone(), place: crate::place::Place::Name }],
                span: *span,
                how: crate::effect::How::default(),
                what: Cow::Borrowed("runs a program"),
            };
            findings.push(Finding { effect, rule: None, user_rule: Some(at), verdict });
        }
    }
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Allow);
    let why = explain(&findings, verdict, context);
    Judgement { verdict, never, findings, why }
}

/// A sentence for the worst findings.
fn explain(findings: &[Finding], verdict: Verdict, context: &Context) -> String {
    if verdict == Verdict::Allow {
        return "nothing in it needs a question".to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.verdict == verdict) {
        let mut part = finding.effect.what.to_string();
        let names: Vec<&str> =
            finding.effect.targets.iter().take(3).map(|target| target.text.as_str()).collect();
        if !names.is_empty() {
            part.push_str(": ");
            part.push_str(&names.join(", "));
        }
        match (finding.rule, finding.user_rule) {
            (_, Some(at)) => {
                part.push_str(" (your rule ");
                part.push_str(&context.user_rules.title(at));
                part.push(')');
            }
            (Some(rule), None) => {
                part.push_str(" (rule ");
                part.push_str(rule);
                part.push(')');
            }
            _ => {}
        }
        if !parts.contains(&part) {
            parts.push(part);
        }
        if parts.len() == 3 {
            break;
        }
    }
    parts.join("; ")
}
