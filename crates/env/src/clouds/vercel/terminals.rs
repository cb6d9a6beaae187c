//! Programs in a terminal of a Vercel sandbox: a web socket, whose texts are about the terminal and
//! whose bytes are what it shows and is typed.

use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::{End, Size, Stream};
use hermes_net::{Frame, Method, SocketSender, Url};
use serde_json::{Value, json};

use crate::clouds::api::{Again, Fault, encoded};
use crate::clouds::carrier::breathe;
use crate::clouds::conversation::{Spoken, Wish, Wishes};
use crate::clouds::vercel::programs::give_time;
use crate::clouds::vercel::sandbox::Session;

const CONNECT: Duration = Duration::from_secs(30);
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Runs a program to its end.
pub(super) async fn run(session: Session, spoken: Spoken, size: Size) -> Result<End, Fault> {
    let Spoken { words, output, mut wishes } = spoken;
    let (at, nothing) = (session.at("/interactive"), json!({}));
    let told = session.api.ask(Method::POST, &at, Some(&nothing), Again::Refused).await?;
    let part = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default();
    let url = Url::parse(part("url")).filter(|url| url.tls || url.is_loopback());
    let url = url.ok_or_else(|| session.api.strange("a terminal without an address"))?;
    let url = url.join(&format!("?token={}", encoded(part("token"))));
    // The token is in the address; the key stays here.
    let mut socket = session.api.http().socket(&url, &[], CONNECT, MAX_MESSAGE, None).await?;
    let (command, arguments) =
        words.split_first().map_or(("sh", &[][..]), |(first, rest)| (first.as_str(), rest));
    let start = json!({
        "type": "start", "command": command, "args": arguments, "env": ["TERM=xterm-256color"], "cwd": null,
        "cols": size.columns, "rows": size.rows,
    });
    socket.sender.send(start.to_string()).await?;
    let receiver = &mut socket.receiver;
    let hearing = Box::pin(async {
        loop {
            breathe().await;
            match receiver.next().await? {
                Some(Frame::Binary(bytes)) => output.take(Stream::Out, &bytes),
                Some(Frame::Text(text)) => match about(&text) {
                    Text::Ended(code) => return Ok(End::Code(code)),
                    Text::About => {}
                    Text::Shown => output.take(Stream::Out, text.as_bytes()),
                },
                None => return Err(Fault::Failed("the terminal was closed".to_owned())),
            }
        }
    });
    let feeding = Box::pin(feed(&mut socket.sender, &mut wishes));
    match select(hearing, select(feeding, Box::pin(give_time(&session)))).await {
        Either::Left((end, _)) => end,
        Either::Right(_) => Err(Fault::Failed("nobody listens to it any more".to_owned())),
    }
}

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
enum Text {
    /// What the terminal shows.
    Shown,
    /// Something about it.
    About,
    /// Its program has ended.
    Ended(i32),
}

/// No code is a good one.
fn about(text: &str) -> Text {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let code = said.get("code").map_or(Some(0), Value::as_i64).unwrap_or(-1);
    match said.get("type").and_then(Value::as_str) {
        Some("exit") => Text::Ended(i32::try_from(code).unwrap_or(-1)),
        Some(_) => Text::About,
        None => Text::Shown,
    }
}

async fn feed(sender: &mut SocketSender, wishes: &mut Wishes) {
    while let Some(wish) = wishes.next().await {
        let sent = match wish {
            Wish::Write(bytes) => sender.send_bytes(bytes).await,
            // A terminal stays open; who wants to end its input types so.
            Wish::Close => Ok(()),
            Wish::Resize(Size { rows, columns }) => {
                sender.send(json!({ "type": "resize", "cols": columns, "rows": rows }).to_string()).await
            }
        };
        if sent.is_err() {
            break;
        }
    }
    wishes.over().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_a_terminal_is_told_from_what_it_shows() {
        assert_eq!(about("text"), Text::Shown);
        assert_eq!(about("{\"a\": 1}"), Text::Shown);
        assert_eq!(about(r#"{"type": "exit"}"#), Text::Ended(0));
        assert_eq!(about(r#"{"type": "exit", "code": 3}"#), Text::Ended(3));
        assert_eq!(about(r#"{"type": "ready"}"#), Text::About);
    }
}
