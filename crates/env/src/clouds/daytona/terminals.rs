//! Programs in a terminal of a Daytona sandbox.
//!
//! The toolbox starts a shell in it; that shell is told to become the program, whose words it finds in a
//! variable.

use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::{End, Size, Stream};
use hermes_net::{Frame, Method, SocketSender};
use serde_json::{Value, json};

use crate::clouds::api::{Again, Fault};
use crate::clouds::carrier::breathe;
use crate::clouds::conversation::{Spoken, Wish, Wishes};
use crate::clouds::daytona::programs::show_interest;
use crate::clouds::daytona::sandbox::Toolbox;
use crate::clouds::speech::line;
use crate::process::secret_word;

/// The variable with the words, and what the shell is told.
const GO: &str = "_HERMES_GO";
const BECOME: &str = " exec sh -c \"$_HERMES_GO\"\n";

const CONNECT: Duration = Duration::from_secs(30);
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Runs a program to its end.
pub(super) async fn run(toolbox: Toolbox, spoken: Spoken, size: Size) -> Result<End, Fault> {
    let Spoken { words, output, mut wishes } = spoken;
    let id = format!("hermes-{}", secret_word());
    let program = format!("unset {GO}; exec {}", line(&words));
    let body = json!({
        "id": id,
        "cols": size.columns,
        "rows": size.rows,
        "envs": { (GO): program, "TERM": "xterm-256color" },
        "lazyStart": false,
    });
    let all = toolbox.url.join("/process/pty");
    toolbox.api.ask(Method::POST, &all, Some(&body), Again::Refused).await?;
    let at = all.join(&format!("/{id}"));
    let end = async {
        let url = at.join("/connect");
        let http = toolbox.api.http();
        let mut socket = http.socket(&url, toolbox.api.headers(), CONNECT, MAX_MESSAGE, None).await?;
        socket.sender.send_bytes(BECOME.as_bytes().to_vec()).await?;
        let receiver = &mut socket.receiver;
        let hearing = Box::pin(async {
            loop {
                breathe().await;
                match receiver.next().await? {
                    Some(Frame::Binary(bytes)) => output.take(Stream::Out, &bytes),
                    Some(Frame::Text(text)) => match control(&text) {
                        Text::Wrong(why) => return Err(Fault::Failed(why)),
                        Text::About => {}
                        Text::Shown => output.take(Stream::Out, text.as_bytes()),
                    },
                    None => return Ok(End::Code(0)),
                }
            }
        });
        let feeding = Box::pin(feed(&toolbox, &at, &mut socket.sender, &mut wishes));
        match select(hearing, select(feeding, Box::pin(show_interest(&toolbox)))).await {
            Either::Left((end, _)) => end,
            Either::Right(_) => Err(Fault::Failed("nobody listens to it any more".to_owned())),
        }
    }
    .await;
    // One that has ended is gone already, and so is one whose sandbox is.
    let _ = toolbox.api.ask(Method::DELETE, &at, None, Again::Always).await;
    end
}

/// What a text of the toolbox is.
#[derive(Debug, PartialEq, Eq)]
enum Text {
    /// What the terminal shows.
    Shown,
    /// Something about it.
    About,
    /// It could not be opened, and why.
    Wrong(String),
}

fn control(text: &str) -> Text {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let part = |name: &str| said.get(name).and_then(Value::as_str);
    match (part("type"), part("status")) {
        (Some("control"), Some("error")) => {
            Text::Wrong(part("error").unwrap_or("the terminal could not be opened").to_owned())
        }
        (Some("control"), _) => Text::About,
        _ => Text::Shown,
    }
}

async fn feed(toolbox: &Toolbox, at: &hermes_net::Url, sender: &mut SocketSender, wishes: &mut Wishes) {
    while let Some(wish) = wishes.next().await {
        match wish {
            Wish::Write(bytes) => {
                if sender.send_bytes(bytes).await.is_err() {
                    break;
                }
            }
            // A terminal stays open; who wants to end its input types so.
            Wish::Close => {}
            Wish::Resize(Size { rows, columns }) => {
                let body = json!({ "cols": columns, "rows": rows });
                let url = at.join("/resize");
                // It stays as it is then.
                let _ = toolbox.api.ask(Method::POST, &url, Some(&body), Again::Always).await;
            }
        }
    }
    wishes.over().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_a_terminal_is_told_from_what_it_shows() {
        assert_eq!(control("{\"a\": 1}"), Text::Shown);
        assert_eq!(control("plain"), Text::Shown);
        assert_eq!(control(r#"{"type":"control","status":"connected"}"#), Text::About);
        assert_eq!(
            control(r#"{"type":"control","status":"error","error":"no"}"#),
            Text::Wrong("no".to_owned())
        );
    }
}
