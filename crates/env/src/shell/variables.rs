//! Which variables a child gets.
//!
//! A name passes when nothing speaks against it: it is not one of ours, not in the home's `.env`,
//! and does not look like a secret. Names people need and that merely sound like one are listed;
//! whatever else is wanted is passed on request, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use crate::shell::withheld;

/// Words in a name that speak of a secret.
const SECRET_WORDS: [&str; 16] = [
    "APIKEY",
    "AUTH",
    "BEARER",
    "COOKIE",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "KEY",
    "PASSWD",
    "PASSWORD",
    "PRIVATE",
    "SECRET",
    "TOKEN",
    "WEBHOOK",
];

/// Names that sound like a secret and are none.
const HARMLESS: [&str; 7] =
    ["GIT_ASKPASS", "GPG_TTY", "KEYTIMEOUT", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_AUTH_SOCK", "XAUTHORITY"];

/// What opens places of ours to whoever has it: accounts of vendors, and this machine. Beside the names of
/// the contract, these are not for a session that asks.
const VENDORS: [&str; 6] = [
    "DAYTONA_API_KEY",
    "DAYTONA_JWT_TOKEN",
    "MODAL_TOKEN_SECRET",
    "SUDO_PASSWORD",
    "VERCEL_OIDC_TOKEN",
    "VERCEL_TOKEN",
];

/// Directories a search path should not be without.
const PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// What decides about the variables of children.
#[derive(Debug, Clone, Default)]
pub struct ChildVariables {
    /// The variables of this process.
    pub process: BTreeMap<String, String>,
    /// Names from the home's `.env`: ours, whatever they are called.
    pub secret: BTreeSet<String>,
    /// Names that are passed because somebody asked for it.
    pub passed: BTreeSet<String>,
    /// What the home's `.env` says, for what a session asks for by name.
    pub kept: BTreeMap<String, String>,
    /// Names of the keys to models, which no session gets by asking.
    pub keys: BTreeSet<String>,
}

impl ChildVariables {
    /// The variables every child gets.
    pub(crate) fn allowed(&self) -> Vec<(OsString, OsString)> {
        let mut allowed: BTreeMap<&str, String> = self
            .process
            .iter()
            .filter(|(name, _)| self.passes(name))
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let path = allowed.remove("PATH").unwrap_or_default();
        allowed.insert("PATH", with_usual_directories(&path));
        allowed.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// What start-up files set, as far as it may be passed on.
    pub(crate) fn filtered(&self, set: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        set.into_iter().filter(|(name, _)| name.to_str().is_some_and(|name| self.passes(name))).collect()
    }

    /// Those of these variables that a child does not get anyway.
    pub(crate) fn beyond_usual(&self, names: &BTreeSet<String>) -> Vec<(OsString, OsString)> {
        if names.is_empty() { Vec::new() } else { self.asked_for(names, &self.allowed()) }
    }

    /// Those of these variables that are set and that `given` does not have yet. What belongs to us is not
    /// for whoever asks, but for those whom the person allowed it.
    pub(crate) fn asked_for(
        &self,
        names: &BTreeSet<String>,
        given: &[(OsString, OsString)],
    ) -> Vec<(OsString, OsString)> {
        let ours =
            |name: &String| self.keys.contains(name) || VENDORS.contains(&name.as_str()) || is_ours(name);
        let wanted = names.iter().filter(|name| self.passed.contains(*name) || !ours(name));
        let wanted = wanted.filter(|name| given.iter().all(|(known, _)| known != name.as_str()));
        let value = |name: &String| self.kept.get(name).or_else(|| self.process.get(name));
        wanted.filter_map(|name| Some((name.into(), value(name)?.into()))).collect()
    }

    fn passes(&self, name: &str) -> bool {
        if self.passed.contains(name) {
            return true;
        }
        let ours = self.secret.contains(name) || is_ours(name);
        !ours && (HARMLESS.contains(&name) || !sounds_secret(name))
    }
}

/// Whether a variable is ours by its name: keys of providers, of platforms, of what we do ourselves.
fn is_ours(name: &str) -> bool {
    withheld::NAMES.binary_search(&name).is_ok()
        || name.starts_with("AUXILIARY_")
        || name.starts_with("_HERMES_")
        // Functions come back through the start-up files and the session, not through here.
        || name.starts_with("BASH_FUNC_")
}

/// Whether a part of the name is a word for a secret; `KEYBOARD` is not, `API_KEY` and `apikey` are.
fn sounds_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_word = |part: &str| {
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
        SECRET_WORDS.contains(&part) || part.strip_suffix('S').is_some_and(|one| SECRET_WORDS.contains(&one))
    };
    let glued = ["APIKEY", "PASSWORD", "PASSWD", "SECRET", "TOKEN"];
    upper.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word)
        || glued.iter().any(|word| upper.contains(word))
}

/// The search path without empty and doubled entries, and with the usual directories at its end.
fn with_usual_directories(path: &str) -> String {
    let mut entries: Vec<&str> = Vec::new();
    for entry in path.split(':').chain(PATH) {
        if !entry.is_empty() && !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &ChildVariables) -> Vec<String> {
        variables.allowed().into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    fn given(names: &[&str]) -> ChildVariables {
        let process = names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).collect();
        ChildVariables { process, ..ChildVariables::default() }
    }

    #[test]
    fn keys_of_providers_and_what_sounds_like_one_stay_here() {
        let variables = given(&[
            "ANTHROPIC_API_KEY",
            "AUXILIARY_X_BASE_URL",
            "AWS_SECRET_ACCESS_KEY",
            "MY_TOKEN_2",
            "OPENROUTER_API_KEY",
            "TELEGRAM_BOT_TOKEN",
            "db_password",
            "githubtoken",
        ]);

        assert_eq!(names(&variables), ["PATH"]);
    }

    #[test]
    fn what_people_need_passes() {
        let needed = ["HOME", "KEYBOARD", "LANG", "LC_ALL", "MONKEY", "PATH", "SSH_AUTH_SOCK", "http_proxy"];

        assert_eq!(names(&given(&needed)), needed);
    }

    #[test]
    fn a_name_from_the_homes_env_is_withheld_unless_asked_for() {
        let mut variables = given(&["PLAIN", "WANTED_TOKEN"]);
        variables.secret = ["PLAIN".to_owned(), "WANTED_TOKEN".to_owned()].into();
        variables.passed = ["WANTED_TOKEN".to_owned()].into();

        assert_eq!(names(&variables), ["PATH", "WANTED_TOKEN"]);
        let set =
            ["OPENAI_API_KEY", "PLAIN", "WANTED_TOKEN", "NVM_DIR"].map(|name| (name.into(), "v".into()));
        let left = variables.filtered(set.to_vec());
        assert_eq!(left, [("WANTED_TOKEN".into(), "v".into()), ("NVM_DIR".into(), "v".into())]);
    }

    #[test]
    fn what_a_session_asks_for_is_given_unless_it_is_ours() {
        let mut variables = given(&["OPENAI_API_KEY", "TENOR_KEY", "WANTED_TOKEN"]);
        let kept = ["IN_THE_HOME", "SUDO_PASSWORD"].map(|name| (name.to_owned(), "h".to_owned()));
        variables.kept = kept.into();
        variables.keys = ["OPENAI_API_KEY".to_owned()].into();
        let asked = ["IN_THE_HOME", "OPENAI_API_KEY", "SUDO_PASSWORD", "TENOR_KEY", "UNSET", "WANTED_TOKEN"];
        let asked = asked.map(str::to_owned).into();

        let found = variables.asked_for(&asked, &[("WANTED_TOKEN".into(), "session's own".into())]);
        variables.passed = ["OPENAI_API_KEY".to_owned()].into();
        let allowed = variables.asked_for(&asked, &[]);

        let names = |found: &[(OsString, OsString)]| -> Vec<String> {
            found.iter().map(|(name, _)| name.clone().into_string().unwrap()).collect()
        };
        assert_eq!(names(&found), ["IN_THE_HOME", "TENOR_KEY"]);
        assert_eq!(names(&allowed), ["IN_THE_HOME", "OPENAI_API_KEY", "TENOR_KEY", "WANTED_TOKEN"]);
    }

    #[test]
    fn the_search_path_is_completed_and_cleaned() {
        assert_eq!(
            with_usual_directories("/x::/usr/bin:/x"),
            "/x:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin"
        );
    }
}
