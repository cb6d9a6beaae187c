//! The contract for messages that go out to people: where they go, what they hold, what came of them.
//!
//! A [`Deliver`] sends in the name of the user, so whoever holds one has been told that it may: the
//! `send_message` tool by policy, a scheduled job by the person who scheduled it, a command by the
//! person who typed it. Platforms are behind it; nothing here knows one of them by name.

use std::fmt;
use std::str::FromStr;

use futures::future::BoxFuture;

use crate::outcome::Attachment;

/// Sends messages to people.
pub trait Deliver: Send + Sync {
    /// Where messages can go, sorted by platform.
    fn destinations(&self) -> Vec<Destination>;

    /// The target with everything filled in that only settings know: a platform alone becomes its home
    /// chat. Fails when the message could not be sent there.
    fn resolve(&self, target: &Target) -> Result<Target, DeliverError>;

    /// Sends once. What is too long for one message goes out as several; dropping the future may leave
    /// some of them sent.
    fn send<'a>(
        &'a self,
        target: &'a Target,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<Sent, DeliverError>>;
}

/// Where a message goes: `platform`, `platform:chat` or `platform:chat:thread`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `telegram`, `email`, …, in lower case.
    pub platform: String,
    /// Whom there: an id, an address, a `#name`. Without one the platform's home chat is meant.
    pub chat: Option<String>,
    /// A thread of that chat.
    pub thread: Option<String>,
}

impl Target {
    /// The home chat of a platform.
    pub fn home(platform: impl Into<String>) -> Self {
        Self { platform: platform.into(), chat: None, thread: None }
    }
}

/// In the extensions of a session: the chat that it is held in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(pub Target);

impl FromStr for Target {
    type Err = DeliverError;

    /// A number after the last colon is a thread. Rooms that begin with `!` have colons of their own.
    fn from_str(text: &str) -> Result<Self, DeliverError> {
        let bad = || DeliverError::BadTarget(text.to_owned());
        let (platform, rest) = match text.trim().split_once(':') {
            Some((platform, rest)) => (platform.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if platform.is_empty() || !platform.chars().all(is_word) || rest == Some("") {
            return Err(bad());
        }
        let rest = rest.unwrap_or_default();
        if rest.chars().any(char::is_control) {
            return Err(bad());
        }
        let (chat, thread) = match rest.rsplit_once(':') {
            Some((chat, thread)) if !chat.is_empty() && !chat.starts_with('!') && is_number(thread) => {
                (chat, Some(thread.to_owned()))
            }
            _ => (rest, None),
        };
        let chat = (!chat.is_empty()).then(|| chat.to_owned());
        Ok(Self { platform: platform.to_ascii_lowercase(), chat, thread })
    }
}

/// Digits, with the one dot that some platforms have in the names of threads.
fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.platform)?;
        for part in [&self.chat, &self.thread].into_iter().flatten() {
            write!(f, ":{part}")?;
        }
        Ok(())
    }
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Letter {
    /// The words.
    pub text: String,
    /// A heading, where the platform has one.
    pub subject: Option<String>,
    /// What goes with it.
    pub files: Vec<Attachment>,
}

impl Letter {
    /// Words alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A message that went out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sent {
    /// The platform.
    pub platform: String,
    /// Where it arrived.
    pub chat_id: String,
    /// What the platform calls it; of several, the last.
    pub message_id: Option<String>,
    /// As how many messages it went out.
    pub parts: usize,
    /// What else there is to tell.
    pub note: Option<String>,
}

/// Somewhere messages can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// As a target is written.
    pub target: Target,
    /// What people call it.
    pub name: Option<String>,
    /// Whether it is meant when the platform alone is named.
    pub is_home: bool,
    /// What has to be set before messages can go there; nothing when they can.
    pub missing: Option<String>,
}

/// Why a message did not go out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliverError {
    /// The target cannot be read.
    #[error("{0:?} is no target; write `platform`, `platform:chat` or `platform:chat:thread`")]
    BadTarget(String),
    /// Nobody carries messages there.
    #[error("there is no platform `{platform}`; there are {}", known.join(", "))]
    UnknownPlatform {
        /// What was named.
        platform: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Something has to be set first.
    #[error("{platform} is not set up: {missing}")]
    NotConfigured {
        /// The platform.
        platform: String,
        /// What is missing, in words.
        missing: String,
    },
    /// The chat cannot be one of this platform.
    #[error("{platform}: {why}")]
    BadChat {
        /// The platform.
        platform: String,
        /// What is wrong with it.
        why: String,
    },
    /// The platform said no.
    #[error("{platform} did not take the message: {why}")]
    Refused {
        /// The platform.
        platform: String,
        /// Its words, without secrets.
        why: String,
    },
    /// The platform could not be reached, or nothing is known of what it did.
    #[error("{platform}: {why}")]
    Unreachable {
        /// The platform.
        platform: String,
        /// Why.
        why: String,
    },
    /// Some of a long message went out before it failed.
    #[error("only {sent} of {of} parts went out: {cause}")]
    Partly {
        /// How many went out.
        sent: usize,
        /// How many there are.
        of: usize,
        /// Why the next did not.
        cause: Box<DeliverError>,
    },
}

/// How a platform counts the length of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Characters.
    Chars,
    /// Units of UTF-16.
    Utf16,
    /// Bytes.
    Bytes,
}

impl Measure {
    fn of(self, c: char) -> usize {
        match self {
            Self::Chars => 1,
            Self::Utf16 => c.len_utf16(),
            Self::Bytes => c.len_utf8(),
        }
    }
}

/// Cuts a text into pieces of at most `limit`, after a paragraph, a line or a word where one ends in the
/// second half of a piece. What stood between pieces is white space and is left out.
pub fn pieces(text: &str, limit: usize, measure: Measure) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(cut(rest, limit, measure));
        found.push(piece.trim_end());
        rest = more.trim_start();
    }
    found
}

/// Where to cut the first piece: a place in bytes, never zero.
fn cut(text: &str, limit: usize, measure: Measure) -> usize {
    let (mut used, mut end) = (0, 0);
    let (mut half, mut paragraph, mut line, mut word) = (0, 0, 0, 0);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        used += measure.of(c);
        match c {
            '\n' if before == '\n' => paragraph = at,
            '\n' => line = at,
            c if c.is_whitespace() => word = at,
            _ => {}
        }
        if used > limit && at > 0 {
            let good = |place: usize, least: usize| (place > least).then_some(place);
            let pause = good(paragraph, half).or_else(|| good(line, half));
            return pause.or_else(|| good(word.max(line), 0)).unwrap_or(end);
        }
        end = at + c.len_utf8();
        if used <= limit / 2 {
            half = at;
        }
        before = c;
    }
    text.len()
}

/// The files that a text names in `MEDIA:<path>` tags, and the text without the tags. A path with blanks
/// stands in quotes or backquotes.
pub fn media_tags(text: &str) -> (String, Vec<String>) {
    let (mut words, mut files) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("MEDIA:") {
        // A word that only ends so is no tag.
        let begins = before.chars().last().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let (path, more) = path_in(after);
        words.push_str(before);
        if begins && !path.is_empty() {
            files.push(path.to_owned());
            rest = more;
        } else {
            words.push_str("MEDIA:");
            rest = after;
        }
    }
    words.push_str(rest);
    (words.trim().to_owned(), files)
}

fn path_in(text: &str) -> (&str, &str) {
    let quoted = |quote: char| text.strip_prefix(quote)?.split_once(quote);
    if let Some(found) = quoted('"').or_else(|| quoted('`')).or_else(|| quoted('\'')) {
        return found;
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    fn written(platform: &str, chat: Option<&str>, thread: Option<&str>) -> Target {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Target { platform: platform.to_owned(), chat: own(chat), thread: own(thread) }
    }

    #[test]
    fn a_target_is_a_platform_a_chat_and_a_thread() {
        assert_eq!(target("telegram"), written("telegram", None, None));
        assert_eq!(target(" Telegram:-100123:17 "), written("telegram", Some("-100123"), Some("17")));
        assert_eq!(target("discord:#general"), written("discord", Some("#general"), None));
        assert_eq!(target("slack:C01:17.55"), written("slack", Some("C01"), Some("17.55")));
        assert_eq!(target("matrix:!room:host:8448"), written("matrix", Some("!room:host:8448"), None));
        assert_eq!(target("email:ann@example.org"), written("email", Some("ann@example.org"), None));
    }

    #[test]
    fn what_is_no_target_says_how_to_write_one() {
        for text in ["", ":", "telegram:", "tele gram:1", "email:a\r\nb", "/etc:1"] {
            let wrong = text.parse::<Target>().unwrap_err();
            assert!(wrong.to_string().contains("platform:chat"), "{text:?}: {wrong}");
        }
    }

    #[test]
    fn long_texts_are_cut_where_a_reader_would_pause() {
        let text = "One two three.\n\nFour five six seven.";

        assert_eq!(pieces(text, 100, Measure::Chars), [text]);
        assert_eq!(pieces(text, 20, Measure::Chars), ["One two three.", "Four five six seven."]);
        assert_eq!(pieces(text, 9, Measure::Chars), ["One two", "three.", "Four five", "six", "seven."]);
        assert_eq!(pieces("abcdefgh", 3, Measure::Chars), ["abc", "def", "gh"]);
        assert_eq!(pieces("😀😀😀", 4, Measure::Utf16), ["😀😀", "😀"]);
        assert_eq!(pieces("", 4, Measure::Bytes), Vec::<&str>::new());
    }

    #[test]
    fn media_tags_become_files() {
        let (text, files) = media_tags("Here it is: MEDIA:/tmp/a.ogg\nand MEDIA:\"/tmp/b c.png\" done");

        assert_eq!(text, "Here it is: \nand  done");
        assert_eq!(files, ["/tmp/a.ogg", "/tmp/b c.png"]);
        assert_eq!(media_tags("SOCIALMEDIA:x MEDIA: y"), ("SOCIALMEDIA:x MEDIA: y".to_owned(), vec![]));
    }

    proptest! {
        #[test]
        fn a_written_target_reads_back(text in "[a-z]{1,8}(:[#!@]?[a-z0-9.@-]{1,12}(:[0-9]{1,5})?)?") {
            prop_assert_eq!(target(&text).to_string(), text);
        }

        #[test]
        fn pieces_lose_nothing_but_white_space_and_keep_the_limit(text in ".{0,200}", limit in 1_usize..40) {
            for measure in [Measure::Chars, Measure::Utf16, Measure::Bytes] {
                let found = pieces(&text, limit, measure);
                let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
                prop_assert_eq!(bare(&found.concat()), bare(&text));
                for piece in found {
                    let size: usize = piece.chars().map(|c| measure.of(c)).sum();
                    prop_assert!(size <= limit || piece.chars().count() == 1);
                }
            }
        }
    }
}
