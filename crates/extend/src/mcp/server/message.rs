//! One message of a client: what it says, or what is wrong with it and who is to hear that. Pure.
//!
//! A request that cannot be read is answered all the same: its client waits. The id is looked for in
//! what can be read of it, wherever it stands, since some clients write it last.

use std::borrow::Cow;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, RequestId};

use super::requests;

/// Most bytes of one message, whichever door it comes in by.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Longest id that is looked for.
const MAX_ID: usize = 256;

/// What became of reading a message.
#[derive(Debug)]
pub(super) enum Read {
    /// It can be served.
    Message(Box<ClientJsonRpcMessage>),
    /// It cannot.
    Wrong(Wrong),
}

/// A message that cannot be served.
#[derive(Debug, PartialEq)]
pub(super) struct Wrong {
    /// Why.
    pub(super) error: ErrorData,
    /// Whose answer that is.
    pub(super) waits: Waits,
}

/// Who waits for an answer to a message that cannot be served.
#[derive(Debug, PartialEq)]
pub(super) enum Waits {
    /// The request with this id.
    Request(RequestId),
    /// Somebody, but the message does not say who.
    Somebody,
    /// Nobody: it was no request.
    Nobody,
}

/// Reads one message.
pub(super) fn read(text: &[u8]) -> Read {
    match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
        Ok(message) => match requests::wrong_beginning(&message) {
            Some((id, error)) => Read::Wrong(Wrong { error, waits: Waits::Request(id) }),
            None => Read::Message(Box::new(message)),
        },
        Err(wrong) => {
            let mut skim = Skim::default();
            skim.feed(text);
            Read::Wrong(Wrong { error: unreadable(text, &wrong), waits: skim.waits(wrong.is_data()) })
        }
    }
}

/// Why a message cannot be read.
fn unreadable(text: &[u8], wrong: &serde_json::Error) -> ErrorData {
    if !wrong.is_data() {
        let why = format!("the message is not JSON that can be read: {wrong}");
        return ErrorData::new(ErrorCode::PARSE_ERROR, why, None);
    }
    let why = match text.trim_ascii_start().first() {
        Some(b'[') => "several messages at once (a batch) are not taken: send them one by one",
        _ => "the message is no request, notification or response of JSON-RPC 2.0",
    };
    ErrorData::invalid_request(why, None)
}

/// What is said about a message that is too long, of which `skim` has seen all.
pub(super) fn too_long(skim: &Skim) -> Wrong {
    let why = format!("the message has more than {} MiB", MAX_MESSAGE / 1024 / 1024);
    Wrong { error: ErrorData::invalid_request(why, None), waits: skim.waits(false) }
}

/// The answer to a message that cannot be served, where there is one to give.
pub(super) fn answer(wrong: &Wrong) -> Option<rmcp::model::ServerJsonRpcMessage> {
    let id = match &wrong.waits {
        Waits::Request(id) => Some(id.clone()),
        Waits::Somebody => None,
        Waits::Nobody => return None,
    };
    Some(JsonRpcMessage::error(wrong.error.clone(), id))
}

/// The id of a request.
pub(super) fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// Whether this is how a client begins a session.
pub(super) fn begins(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// The message with halves of letters made whole: a text that was cut inside of a pair of surrogates is
/// no Unicode, but clients write it. Each half becomes the sign for what cannot be shown.
pub(super) fn mended(text: &[u8]) -> Cow<'_, [u8]> {
    let (mut whole, mut done, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        let half = match escape(text, at) {
            Some(first @ 0xd800..=0xdbff) => match escape(text, at + 6) {
                Some(0xdc00..=0xdfff) => {
                    at += 12;
                    continue;
                }
                _ => Some(first),
            },
            other => other.filter(|code| (0xdc00..=0xdfff).contains(code)),
        };
        if half.is_some() {
            whole.extend_from_slice(text.get(done..at).unwrap_or_default());
            whole.extend_from_slice(b"\\ufffd");
            at += 6;
            done = at;
        } else {
            at += 2;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    whole.extend_from_slice(text.get(done..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The code of the `\uXXXX` that begins here, if one does.
fn escape(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

/// Looks through a message, piece by piece, for whether it is a request and which. It takes anything:
/// what it finds in something that is no JSON is a guess, and only an error is sent to it.
#[derive(Debug, Default)]
pub(super) struct Skim {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// What the words at the top stand for now.
    place: Place,
    word: Vec<u8>,
    id: Option<Vec<u8>>,
    method: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Key,
    Id,
    Other,
}

impl Skim {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.inside(byte);
            } else {
                self.outside(byte);
            }
        }
    }

    fn inside(&mut self, byte: u8) {
        if self.escaped || byte != b'"' {
            self.escaped = byte == b'\\' && !self.escaped;
        } else {
            self.in_string = false;
        }
        self.note(byte);
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                self.note(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.value_ends();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 && self.place == Place::Key => {
                self.method |= self.word == b"\"method\"";
                self.place = if self.word == b"\"id\"" { Place::Id } else { Place::Other };
                self.word.clear();
            }
            b',' => self.value_ends(),
            byte if byte.is_ascii_whitespace() => {}
            _ => self.note(byte),
        }
    }

    /// Remembers a letter of a word at the top, if that may be of use.
    fn note(&mut self, byte: u8) {
        if self.depth == 1 && self.place != Place::Other && self.word.len() <= MAX_ID {
            self.word.push(byte);
        }
    }

    fn value_ends(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.place == Place::Id {
            self.id = Some(std::mem::take(&mut self.word));
        }
        self.word.clear();
        self.place = Place::Key;
    }

    /// Who waits, by what was seen. A `shaped` message is JSON: then somebody waits even when it does
    /// not say who, unless it is plainly a notification.
    fn waits(&self, shaped: bool) -> Waits {
        let id = self.id.as_ref().and_then(|id| serde_json::from_slice::<RequestId>(id).ok());
        match (self.method, id) {
            (true, Some(id)) => Waits::Request(id),
            (true, None) if shaped && self.id.is_some() => Waits::Somebody,
            (false, None) if shaped => Waits::Somebody,
            // With an id and no method it is an answer to us: an error with its id would be taken for the
            // answer to another request.
            _ => Waits::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrong(text: &str) -> (i32, Waits) {
        match read(text.as_bytes()) {
            Read::Wrong(wrong) => (wrong.error.code.0, wrong.waits),
            Read::Message(message) => panic!("it was read: {message:?}"),
        }
    }

    fn request(id: i64) -> Waits {
        Waits::Request(RequestId::Number(id))
    }

    #[test]
    fn a_request_that_is_no_json_is_answered_by_its_id_wherever_that_stands() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let last = r#"{"method":"tools/call","params":{"id":8,"x":["id",{"id":9}],"y":"\"id\":1 },"#;

        assert_eq!(
            wrong(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{deep}}}"#)),
            (-32700, request(7))
        );
        assert_eq!(wrong(&format!(r#"{last}"}},"jsonrpc":"2.0","id":3,"z":nope}}"#)), (-32700, request(3)));
        let named = Waits::Request(RequestId::String("a\"b".into()));
        assert_eq!(wrong(r#"{"id": "a\"b", "method": "x", }"#), (-32700, named));
    }

    #[test]
    fn what_nobody_waits_for_is_not_answered() {
        assert_eq!(wrong("garbage"), (-32700, Waits::Nobody));
        assert_eq!(
            wrong(r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"id":1},}"#).1,
            Waits::Nobody
        );
        assert_eq!(wrong(r#"{"jsonrpc":"2.0","id":4,"result":{,}}"#).1, Waits::Nobody);
        let wrong = Wrong { error: ErrorData::invalid_request("x", None), waits: Waits::Nobody };
        assert!(answer(&wrong).is_none());
    }

    #[test]
    fn json_of_another_shape_is_an_invalid_request() {
        assert_eq!(wrong(r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#), (-32600, request(4)));
        assert_eq!(wrong(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (-32600, Waits::Somebody));
        assert_eq!(wrong(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#), (-32600, Waits::Somebody));
    }

    #[test]
    fn half_a_letter_becomes_the_sign_for_one_that_cannot_be_shown() {
        let mend = |text: &str| String::from_utf8(mended(text.as_bytes()).into_owned()).unwrap();

        assert_eq!(mend(r#"["a\ud83d"]"#), r#"["a\ufffd"]"#);
        assert_eq!(mend(r#"["\ude00\ud83d\ud83d\ude00\uD83D"]"#), r#"["\ufffd\ufffd\ud83d\ude00\ufffd"]"#);
        assert_eq!(mend(r#"["\\ud83d \\\ud83d"]"#), r#"["\\ud83d \\\ufffd"]"#);
        assert_eq!(mend(r#"["\u00e9\n\u12"]"#), r#"["\u00e9\n\u12"]"#);
    }

    proptest! {
        #[test]
        fn what_is_json_already_stays_as_it_is(text in "\\PC{0,40}") {
            let written = serde_json::to_string(&text).unwrap();

            prop_assert!(matches!(mended(written.as_bytes()), Cow::Borrowed(_)));
        }

        #[test]
        fn a_mended_text_can_be_read(codes in prop::collection::vec(0_u32..0x1_0000, 0..12)) {
            let escapes: Vec<String> = codes.iter().map(|code| format!("\\u{code:04x}")).collect();

            let text = mended(format!("\"{}\"", escapes.concat()).as_bytes()).into_owned();

            prop_assert!(serde_json::from_slice::<String>(&text).is_ok());
        }

        #[test]
        fn anything_can_be_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = read(&mended(&bytes));
        }

        #[test]
        fn the_id_is_found_in_pieces_as_in_one(id in 0_i64..1000, cut in 0_usize..60) {
            let text = format!(r#"{{"method":"x","params":{{"id":"no"}},"jsonrpc":"2.0","id":{id}}}"#);
            let (first, rest) = text.as_bytes().split_at(cut.min(text.len()));
            let mut skim = Skim::default();

            skim.feed(first);
            skim.feed(rest);

            prop_assert_eq!(too_long(&skim).waits, request(id));
        }
    }
}
