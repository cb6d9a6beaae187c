//! Data on its way from one command to another: what is known of the text, and where it came from.

use std::borrow::Cow;

/// Stands for a stretch of text nobody can know beforehand.
pub(crate) const HOLE: char = '\u{10FF00}';
/// The same, as a string.
pub(crate) const HOLE_STR: &str = "\u{10FF00}";
/// Stands for the number of a process that the text started itself.
pub(crate) const OWN_PID: char = '\u{10FF01}';
/// Stands for the numbers of all processes there are.
pub(crate) const ALL_PIDS: char = '\u{10FF05}';
/// Stands for the number of the agent's own process.
pub(crate) const AGENT_PID: char = '\u{10FF06}';
/// Live braces and commas while a word is put together.
pub(crate) const BRACE_OPEN: char = '\u{10FF02}';
/// See [`BRACE_OPEN`].
pub(crate) const BRACE_CLOSE: char = '\u{10FF03}';
/// See [`BRACE_OPEN`].
pub(crate) const BRACE_COMMA: char = '\u{10FF04}';

/// Where data came from, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of independent marks, each asked for by name")]
pub(crate) struct Origin {
    /// From another machine.
    pub(crate) network: bool,
    /// Decoded, decompressed or decrypted on the way.
    pub(crate) decoded: bool,
    /// From a file that holds credentials.
    pub(crate) credential: bool,
    /// From a file of the user's, as it is.
    pub(crate) file: bool,
    /// From a tool that prints settings for the shell (`ssh-agent`, `direnv hook bash`).
    pub(crate) settings: bool,
    /// From a variable that is named like a secret.
    pub(crate) secret: bool,
    /// The user's own data of any kind: file contents, environment, listings.
    pub(crate) local: bool,
    /// A whole project, home or database at once.
    pub(crate) whole: bool,
    /// Never comes to an end: `yes`, `/dev/zero`.
    pub(crate) endless: bool,
    /// Statements from a file whose name says that they remove things.
    pub(crate) doomed: bool,
    /// Names of files that were found or listed: nobody knows how many.
    pub(crate) listed: bool,
    /// Text of the command itself that a program has changed, nobody knows into what.
    pub(crate) remade: bool,
}

impl Origin {
    /// Both origins together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            network: self.network || other.network,
            decoded: self.decoded || other.decoded,
            credential: self.credential || other.credential,
            file: self.file || other.file,
            settings: self.settings || other.settings,
            local: self.local || other.local,
            secret: self.secret || other.secret,
            whole: self.whole || other.whole,
            endless: self.endless || other.endless,
            doomed: self.doomed || other.doomed,
            listed: self.listed || other.listed,
            remade: self.remade || other.remade,
        }
    }
}

/// The output of a command, or the content of a file, as far as it can be told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// The text, with [`HOLE`] where it is unknown. `None`: there is nothing at all.
    pub(crate) text: Option<Cow<'static, str>>,
    /// Where it came from.
    pub(crate) origin: Origin,
}

impl Flow {
    /// No data: nothing is connected.
    pub(crate) const fn none() -> Self {
        Self {
            text: None,
            origin: Origin {
                network: false,
                decoded: false,
                credential: false,
                file: false,
                settings: false,
                local: false,
                secret: false,
                whole: false,
                endless: false,
                doomed: false,
                listed: false,
                remade: false,
            },
        }
    }

    /// Known text.
    pub(crate) fn known(text: String) -> Self {
        Self { text: Some(Cow::Owned(text)), origin: Origin::default() }
    }

    /// Unknown text from somewhere.
    pub(crate) const fn unknown(origin: Origin) -> Self {
        Self { text: Some(Cow::Borrowed(HOLE_STR)), origin }
    }

    /// The text if every character of it is known.
    pub(crate) fn exact(&self) -> Option<&str> {
        self.text.as_deref().filter(|text| !text.contains(HOLE))
    }

    /// The text, holes included; empty when there is none.
    pub(crate) fn seen(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether something is connected.
    pub(crate) const fn present(&self) -> bool {
        self.text.is_some()
    }
}
