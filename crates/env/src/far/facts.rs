//! What is known about a far place once it has been looked at.

use std::path::Path;
use std::time::Duration;

use crate::far::scripts::PROBE;
use crate::shelf::Manifest;

/// What there is over there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that may be there or not")]
pub(super) struct Facts {
    /// The shell commands run in.
    pub(super) shell: String,
    /// Whether that is bash.
    pub(super) bash: bool,
    /// Whether a program can be given a session of its own.
    pub(super) setsid: bool,
    /// Whether `script` can give a background job a terminal.
    pub(super) script: bool,
    /// Whether `tar` can take apart what is sent.
    pub(super) tar: bool,
    /// Whether something is mounted where files of this machine are to be.
    pub(super) mounted: bool,
    /// Whether a shell there can run one command after the other for us.
    pub(super) lane: bool,
    /// Whether there are background jobs, of this run or an earlier one.
    pub(super) jobs: bool,
    pub(super) uid: String,
    pub(super) home: String,
    pub(super) cwd: String,
    pub(super) system: String,
    /// Folder of what is ours there.
    pub(super) folder: String,
    /// What it was given of this machine, by whichever run of this home.
    pub(super) given: Manifest,
}

impl Facts {
    /// How long looking may take.
    pub(super) const LIMIT: Duration = Duration::from_secs(30);

    /// Program and words that look.
    pub(super) fn words(owner: &str) -> Vec<String> {
        ["sh", "-c", PROBE, "hermes", owner].map(str::to_owned).to_vec()
    }

    /// Reads what they printed; nothing when it is not complete.
    pub(super) fn read(said: &[u8]) -> Option<Self> {
        let said = String::from_utf8_lossy(said);
        let (_, lines) = said.split_once("#facts\n")?;
        let (lines, given) = lines.split_once("#end")?;
        let mut facts = Self { given: Manifest::read(given.trim_start()), ..Self::default() };
        for (name, value) in lines.lines().filter_map(|line| line.split_once('=')) {
            let value = value.to_owned();
            match name {
                "shell" => facts.shell = value,
                "bash" => facts.bash = value == "1",
                "setsid" => facts.setsid = value == "1",
                "script" => facts.script = value == "1",
                "tar" => facts.tar = value == "1",
                "mounted" => facts.mounted = value == "1",
                "lane" => facts.lane = value == "1",
                "jobs" => facts.jobs = value == "1",
                "uid" => facts.uid = value,
                "home" => facts.home = value,
                "cwd" => facts.cwd = value,
                "system" => facts.system = value,
                "folder" => facts.folder = value,
                _ => {}
            }
        }
        (!facts.shell.is_empty() && !facts.folder.is_empty()).then_some(facts)
    }

    /// The name a shell there is given.
    pub(super) fn shell_name(&self) -> &'static str {
        if self.bash { "bash" } else { "sh" }
    }

    /// What gives a program a session of its own, or nothing.
    pub(super) fn setsid_word(&self) -> &'static str {
        if self.setsid { "setsid" } else { "" }
    }

    /// The shell with a script, ready for the script's arguments.
    pub(super) fn shell_words(&self, terminal: bool, script: &str) -> Vec<String> {
        // In a terminal the leader of the session must stay the one the terminal was given to.
        let lead = (self.setsid && !terminal).then(|| "setsid".to_owned());
        let rest = [self.shell.as_str(), "-c", script, self.shell_name()];
        lead.into_iter().chain(rest.map(str::to_owned)).collect()
    }

    /// A path as it is there: `~` stands for the home there, and nothing for where it starts.
    pub(super) fn expanded(&self, path: &Path) -> String {
        let text = path.to_string_lossy();
        match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.home.trim_end_matches('/')),
            _ if text.is_empty() => self.cwd.clone(),
            _ => text.into_owned(),
        }
    }

    /// A line about the place.
    pub(super) fn words_for_people(&self) -> String {
        let shell = if self.bash { "bash" } else { "sh (no bash: functions and aliases do not stay)" };
        format!("{}, {shell}, user {}, home {}", self.system, self.uid, self.home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_after_whatever_a_login_prints() {
        let said = b"Welcome!\n#facts\nshell=/bin/bash\nbash=1\nsetsid=1\nuid=0\nhome=/root\ncwd=/w\nsystem=Linux\nfolder=/tmp/h\n#end\n";

        let facts = Facts::read(said).unwrap();

        assert!(facts.bash && facts.setsid && !facts.script);
        assert_eq!(facts.expanded(Path::new("~/a b")), "/root/a b");
        assert_eq!(facts.expanded(Path::new("~")), "/root");
        assert_eq!(facts.expanded(Path::new("/x")), "/x");
        assert_eq!(Facts::read(b"#facts\nshell=/bin/sh\n"), None);
    }
}
