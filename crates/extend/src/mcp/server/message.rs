//! One message of a client: what it says, or what is wrong with it and who is to hear that. Pure.
//!
//! A request that cannot be read is answered all the same: its client waits. The id is looked for in
//! what can be read of it, wherever it stands, since some clients write it last.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, RequestId};

use super::requests;
use crate::mcp::skim::Skim;

/// Most bytes of one message, whichever door it comes in by.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

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
            Read::Wrong(Wrong { error: unreadable(text, &wrong), waits: waits(&skim, wrong.is_data()) })
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
    Wrong { error: ErrorData::invalid_request(why, None), waits: waits(skim, false) }
}

/// Who waits, by what was seen. A `shaped` message is JSON: then somebody waits even when it does not say who,
/// unless it is plainly a notification.
fn waits(skim: &Skim, shaped: bool) -> Waits {
    match (skim.has_method(), skim.id()) {
        (true, Some(id)) => Waits::Request(id),
        (true, None) if shaped && skim.has_id() => Waits::Somebody,
        (false, None) if shaped => Waits::Somebody,
        // With an id and no method it is an answer to us: an error with its id would be taken for the
        // answer to another request.
        _ => Waits::Nobody,
    }
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

/// Whether a client asks for more here than for a sign of life, which it may before it begins.
pub(super) fn asks(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if !matches!(request.request, ClientRequest::PingRequest(_)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::letters::mended;

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

    proptest! {
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
