//! The user's own rules: allow, ask or deny by effect, program or path.
//!
//! A rule matches when everything it names matches. Among the rules that match one effect deny
//! beats ask and ask beats allow; the never list is not open to them.

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::judge::Verdict;
use crate::place::within;
use crate::walk::glob_matches;

/// One rule as the user writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRule {
    /// What to do: `allow`, `ask` or `deny`.
    pub then: String,
    /// The kind of effect, such as `delete` or `git`, or the name of a built-in rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The program, by name; `*` and `?` stand for anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The folder every target must be in; `~` is the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why, for whoever reads the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct RuleFault {
    /// The line in the file it was read from, counted from 1; 0 when that is not known.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// Checked rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserRules {
    rules: Vec<(UserRule, Verdict)>,
}

impl UserRules {
    /// Checks rules, each with the line it was read from. All faults are told at once.
    pub fn check(rules: impl IntoIterator<Item = (UserRule, usize)>) -> Result<Self, Vec<RuleFault>> {
        let mut checked = Vec::new();
        let mut faults = Vec::new();
        for (rule, line) in rules {
            match verdict(&rule) {
                Ok(verdict) => checked.push((rule, verdict)),
                Err(why) => faults.push(RuleFault { line, why }),
            }
        }
        if faults.is_empty() { Ok(Self { rules: checked }) } else { Err(faults) }
    }

    /// What the rules say about an effect, and which of them says it.
    pub(crate) fn for_effect(&self, effect: &Effect, home: &str) -> Option<(usize, Verdict)> {
        self.best(|rule| {
            rule.program.is_none()
                && (rule.effect.is_some() || rule.path.is_some())
                && fits(rule, effect, home)
        })
    }

    /// What the rules say about a program, and which of them says it.
    pub(crate) fn for_program(&self, name: &str) -> Option<(usize, Verdict)> {
        if self.rules.is_empty() {
            return None;
        }
        self.best(|rule| {
            rule.effect.is_none()
                && rule.path.is_none()
                && rule.program.as_deref().is_some_and(|pattern| glob_matches(pattern, name))
        })
    }

    fn best(&self, fits: impl Fn(&UserRule) -> bool) -> Option<(usize, Verdict)> {
        self.rules
            .iter()
            .enumerate()
            .filter(|(_, (rule, _))| fits(rule))
            .map(|(at, (_, verdict))| (at, *verdict))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// How to call a rule in an explanation.
    pub(crate) fn title(&self, at: usize) -> String {
        match self.rules.get(at).and_then(|(rule, _)| rule.because.clone()) {
            Some(reason) => reason,
            None => format!("number {}", at + 1),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

fn verdict(rule: &UserRule) -> Result<Verdict, String> {
    if rule.effect.is_none() && rule.program.is_none() && rule.path.is_none() {
        return Err("a rule needs at least one of `effect`, `program`, `path`".to_owned());
    }
    if rule.program.is_some() && (rule.effect.is_some() || rule.path.is_some()) {
        return Err(
            "`program` stands alone: effects and paths belong to what a command does, not to its name"
                .to_owned(),
        );
    }
    if let Some(name) = &rule.effect
        && !known_effect(name)
    {
        return Err(format!("there is no effect or rule called `{name}`; `hermes policy rules` lists them"));
    }
    if let Some(path) = &rule.path
        && !path.starts_with(['/', '~'])
    {
        return Err(format!("`path` must begin with `/` or `~`, and `{path}` does not"));
    }
    match rule.then.as_str() {
        "allow" => Ok(Verdict::Allow),
        "ask" => Ok(Verdict::Ask),
        "deny" => Ok(Verdict::Deny),
        other => Err(format!("`then` must be allow, ask or deny, not `{other}`")),
    }
}

fn known_effect(name: &str) -> bool {
    crate::rules::rule(name).is_some()
        || serde_json::from_value::<crate::effect::Kind>(serde_json::Value::String(name.to_owned())).is_ok()
}

fn fits(rule: &UserRule, effect: &Effect, home: &str) -> bool {
    if let Some(name) = &rule.effect
        && effect.kind.name() != name
        && !crate::rules::rule(name).is_some_and(|rule| (rule.matches)(effect))
    {
        return false;
    }
    let Some(path) = &rule.path else { return true };
    let folder = match path.strip_prefix('~') {
        Some(rest) => format!("{home}{rest}"),
        None => path.clone(),
    };
    let folder = folder.trim_end_matches('/');
    let inside = |text: &str| within(text, folder);
    // An allow must cover every target; a deny or a question needs only one.
    if rule.then == "allow" {
        !effect.targets.is_empty()
            && effect.targets.iter().all(|target| inside(&target.text) && !target.text.contains('…'))
    } else {
        effect.targets.iter().any(|target| inside(&target.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Context, judge};

    fn rule(then: &str, effect: Option<&str>, program: Option<&str>, path: Option<&str>) -> UserRule {
        let own = |text: Option<&str>| text.map(str::to_owned);
        UserRule {
            then: then.into(),
            effect: own(effect),
            program: own(program),
            path: own(path),
            because: None,
        }
    }

    fn context(rules: Vec<UserRule>) -> Context {
        Context::new("/work/project", "/home/me").rules(UserRules::check(rules.into_iter().zip(1..)).unwrap())
    }

    #[test]
    fn the_user_can_allow_what_would_be_asked() {
        let context = context(vec![rule("allow", Some("delete"), None, Some("/srv/scratch"))]);

        assert_eq!(judge("rm -rf /srv/scratch/a", &context).verdict, Verdict::Allow);
        assert_eq!(judge("rm -rf /srv/scratch/a /srv/b", &context).verdict, Verdict::Ask);
    }

    #[test]
    fn deny_beats_allow() {
        let context = context(vec![
            rule("allow", Some("git"), None, None),
            rule("deny", Some("git_force_push"), None, None),
        ]);

        assert_eq!(judge("git push -f", &context).verdict, Verdict::Deny);
        assert_eq!(judge("git reset --hard", &context).verdict, Verdict::Allow);
    }

    #[test]
    fn programs_can_be_denied_however_they_are_started() {
        let context = context(vec![rule("deny", None, Some("npm"), None)]);

        assert_eq!(judge("sudo env A=1 npm install", &context).verdict, Verdict::Deny);
        assert_eq!(judge("echo npm", &context).verdict, Verdict::Allow);
    }

    #[test]
    fn the_never_list_is_not_open_to_users() {
        let context = context(vec![rule("allow", Some("delete"), None, None)]);

        assert!(judge("rm -rf /", &context).never);
    }

    #[test]
    fn faults_name_the_line_and_the_remedy() {
        let faults = UserRules::check([
            (rule("maybe", Some("delete"), None, None), 7),
            (rule("deny", Some("explode"), None, None), 9),
        ])
        .unwrap_err();

        assert_eq!(faults[0].to_string(), "line 7: `then` must be allow, ask or deny, not `maybe`");
        assert_eq!(faults[1].line, 9);
    }
}
