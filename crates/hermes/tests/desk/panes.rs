//! Terminals that another program shows beside the conversation.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use hermes::core::panes::{Lines, PaneError, Panes, Screen};
use serde_json::json;

use crate::{done, offered, refused, runtime};

/// A program that shows ten lines, and one tab.
#[derive(Default)]
struct Desktop {
    closed: Mutex<Vec<String>>,
}

impl Panes for Desktop {
    fn read(&self, wanted: Lines) -> BoxFuture<'_, Result<Screen, PaneError>> {
        let count = u64::try_from(wanted.count).unwrap();
        let first = wanted.first.unwrap_or(10_u64.saturating_sub(count)).min(10);
        let lines = (first..10).take(wanted.count).map(|number| format!("line {number}")).collect();
        let title = Some("bash".to_owned());
        Box::pin(ready(Ok(Screen { lines, first, total: 10, title })))
    }

    fn close<'a>(&'a self, process: &'a str) -> BoxFuture<'a, Result<(), PaneError>> {
        let known = process == "proc_1";
        if known {
            self.closed.lock().unwrap().push(process.to_owned());
        }
        Box::pin(ready(if known { Ok(()) } else { Err(PaneError::Unknown(process.to_owned())) }))
    }
}

#[test]
fn a_terminal_is_read_and_closed_where_a_program_shows_one() {
    let home = tempfile::tempdir().unwrap();
    let runtime = runtime(&home, "{}", &[]);
    let desktop = Arc::new(Desktop::default());
    let bare = runtime.session().open().unwrap();
    let session = runtime.session().extension(Arc::clone(&desktop) as Arc<dyn Panes>).open().unwrap();

    let read = done(&session, "read_terminal", &json!({ "start_line": 7, "count": 2 }));
    let last = done(&session, "read_terminal", &json!({ "start_line": -1 }));
    done(&session, "close_terminal", &json!({ "process_id": " proc_1 " }));
    let why = refused(&session, "close_terminal", &json!({ "process_id": "proc_2" }));

    assert_eq!(
        read,
        json!({
            "content": "line 7\nline 8", "start_line": 7, "lines": 2, "total_lines": 10, "more": true, "title": "bash",
        })
    );
    assert_eq!((&last["content"], &last["more"]), (&json!("line 9"), &json!(false)));
    assert_eq!(*desktop.closed.lock().unwrap(), ["proc_1"]);
    assert_eq!(why, "no tab shows the process `proc_2`");
    assert_eq!(offered(&bare, "read_terminal"), Vec::<String>::new());
    assert!(refused(&bare, "read_terminal", &json!({})).contains("a program that shows a terminal"));
}
