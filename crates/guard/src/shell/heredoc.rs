//! Here-documents: bodies that begin on the line after the one that names their delimiter.

use std::borrow::Cow;

use super::cursor::Cursor;

/// A here-document whose body has not been met yet.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The line that ends it.
    pub(crate) delimiter: String,
    /// Whether leading tabs are removed (`<<-`).
    pub(crate) tabs: bool,
    /// Whether expansion happens in the body.
    pub(crate) live: bool,
}

/// Reads the body at the cursor, up to and including its delimiter line. The second value says
/// whether the delimiter was found; an open body runs to the end of the text, as in the shell.
pub(crate) fn body<'a>(cursor: &mut Cursor<'a>, pending: &Pending) -> (Cow<'a, str>, bool) {
    let start = cursor.at();
    let mut stripped = String::new();
    loop {
        let line_start = cursor.at();
        if cursor.done() {
            let text = cursor.slice(start, line_start);
            return (if pending.tabs { Cow::Owned(stripped) } else { Cow::Borrowed(text) }, false);
        }
        let ended = cursor.seek(b'\n');
        let line = cursor.since(line_start);
        if ended {
            cursor.skip(1);
        }
        let bare = if pending.tabs { line.trim_start_matches('\t') } else { line };
        if bare.trim_end_matches('\r') == pending.delimiter {
            let text = cursor.slice(start, line_start);
            return (if pending.tabs { Cow::Owned(stripped) } else { Cow::Borrowed(text) }, true);
        }
        if pending.tabs {
            stripped.push_str(bare);
            stripped.push('\n');
        }
    }
}
