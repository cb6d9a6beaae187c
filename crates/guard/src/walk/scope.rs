//! What is known while walking: variables, functions, aliases, the working directory, files
//! written on the way.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::flow::{Flow, HOLE_STR, OWN_PID, Origin};

/// A variable: a few values it may have, or a list.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// Values it may have at this point, latest first; several after branches.
    pub(crate) values: Vec<Rc<str>>,
    /// Elements, when it is an array.
    pub(crate) list: Vec<(String, Rc<str>)>,
}

/// Most values kept for one variable.
const MOST_VALUES: usize = 6;
/// Where the separators of `IFS=, read …` are kept: no variable can have this name.
pub(crate) const IFS_BEFORE: &str = "IFS before";

/// The name of the user whose home this is.
pub(crate) fn user(home: &str) -> &str {
    home.rsplit('/').next().unwrap_or(home)
}

/// Everything remembered.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    variables: BTreeMap<String, Variable>,
    /// Where unknown values of variables came from.
    pub(crate) origins: BTreeMap<String, Origin>,
    /// Functions by name: the text of their body.
    pub(crate) functions: BTreeMap<String, Rc<str>>,
    /// Names that stand for other variables: `declare -n`.
    pub(crate) references: BTreeMap<String, String>,
    /// Aliases by name.
    pub(crate) aliases: BTreeMap<String, Rc<str>>,
    /// `$1`, `$2` …
    pub(crate) arguments: Vec<Rc<str>>,
    /// The working directory.
    pub(crate) cwd: String,
    /// Where `cd -` goes.
    pub(crate) last_cwd: Option<String>,
    /// Files written by the text itself, by normal path.
    pub(crate) files: BTreeMap<String, Flow>,
    /// Readers behind `>( … )`, by the name they were given.
    pub(crate) sinks: BTreeMap<String, Rc<str>>,
    /// Folders and files made by the text itself.
    pub(crate) made: BTreeSet<String>,
    /// Folders fetched from elsewhere by the text itself.
    pub(crate) cloned: BTreeSet<String>,
    /// Links to sensitive places, made by the text: from, to.
    pub(crate) links: Vec<(String, String)>,
    /// Files made executable by the text itself.
    pub(crate) runnable: BTreeSet<String>,
    /// Which of several values is looked at in this pass.
    pub(crate) pick: usize,
    /// Whether any variable has several values.
    pub(crate) several: bool,
    /// Depth of loops whose rounds are not known.
    pub(crate) rounds: u16,
    /// Depth of branches that may or may not run.
    pub(crate) branches: u16,
}

impl Scope {
    /// Nothing known but the working directory.
    pub(crate) fn at(cwd: &str) -> Self {
        Self { cwd: cwd.to_owned(), ..Self::default() }
    }

    /// Sets a variable. Inside a branch the old values stay possible.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let value: Rc<str> = value.into();
        if let Some(known) = self.variables.get_mut(name) {
            if self.branches == 0 {
                known.values.clear();
            }
            if !known.values.contains(&value) {
                known.values.insert(0, value);
                known.values.truncate(MOST_VALUES);
            }
            self.several |= known.values.len() > 1;
            return;
        }
        self.variables.insert(name.to_owned(), Variable { values: vec![value], list: Vec::new() });
    }

    /// Sets a whole array.
    pub(crate) fn set_list(&mut self, name: &str, items: Vec<(String, Rc<str>)>) {
        let first = items.first().map_or_else(|| Rc::from(""), |(_, value)| Rc::clone(value));
        self.variables.insert(name.to_owned(), Variable { values: vec![first], list: items });
    }

    /// Takes a variable away: from then on it is known to be nothing.
    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
        if name != "IFS" && !name.starts_with('-') {
            self.set(name, "");
        }
    }

    /// The variable itself.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// Whether the text set this variable itself.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Whether a variable holds a text that runs the variable again, beside itself.
    pub(crate) fn starts_itself(&self) -> bool {
        self.variables.iter().take(64).any(|(name, variable)| {
            variable.values.iter().any(|value| {
                value.contains('&')
                    && [format!("${name}"), format!("${{{name}}}")].iter().any(|own| value.contains(own))
            })
        })
    }

    /// Every variable name the text set that begins with `prefix`.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        self.variables.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }

    /// The value of a variable: set by the text, or standing in every shell.
    pub(crate) fn value(&self, name: &str, home: &str) -> Option<Cow<'static, str>> {
        let name = if self.references.is_empty() {
            name
        } else {
            self.references.get(name).map_or(name, String::as_str)
        };
        if let Some(variable) = self.variables.get(name) {
            let count = variable.values.len().max(1);
            return variable.values.get(self.pick % count).map(|value| Cow::Owned(value.to_string()));
        }
        let fixed = match name {
            "HOME" => return Some(Cow::Owned(home.to_owned())),
            "PWD" => return Some(Cow::Owned(self.cwd.clone())),
            "OLDPWD" => return self.last_cwd.clone().map(Cow::Owned),
            "USER" | "LOGNAME" | "USERNAME" => return Some(Cow::Owned(user(home).to_owned())),
            "PROFILE" => return Some(Cow::Owned(format!("{home}/.config/powershell/profile.ps1"))),
            "HISTFILE" => return Some(Cow::Owned(format!("{home}/.bash_history"))),
            "0" | "BASH" | "SHELL" => "/bin/bash",
            "IFS" => " \t\n",
            "PATH" => "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => "/tmp",
            "OSTYPE" => "linux-gnu",
            "UID" | "EUID" => "1000",
            "?" => "0",
            "#" => return Some(Cow::Owned(self.arguments.len().to_string())),
            "-" => "himBHs",
            "PPID" | "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" => HOLE_STR,
            "!" | "$" | "BASHPID" => return Some(Cow::Owned(OWN_PID.to_string())),
            _ => {
                let place: usize = name.parse().ok()?;
                let argument = self.arguments.get(place.checked_sub(1)?);
                return Some(Cow::Owned(argument.map_or_else(String::new, ToString::to_string)));
            }
        };
        Some(Cow::Borrowed(fixed))
    }

    /// Whether `path` or a folder above it was made by the text.
    pub(crate) fn made_here(&self, path: &str) -> bool {
        if self.made.is_empty() {
            return false;
        }
        let mut path = path;
        for _ in 0..16 {
            if self.made.contains(path) {
                return true;
            }
            match path.rsplit_once('/') {
                Some((parent, _)) if !parent.is_empty() => path = parent,
                _ => return false,
            }
        }
        false
    }
}
