//! Programs in a sandbox of Daytona: each has a session of the toolbox, whose log is followed.
//!
//! The log is kept in the sandbox and sent from its beginning whenever somebody wants to follow it, so a
//! connection that breaks is made again and loses nothing. It is text by lines, and so is the input:
//! bytes travel as [`speech`] says.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use hermes_core::environment::End;
use hermes_net::{Call, Frame, Method};
use serde_json::{Value, json};

use crate::clouds::api::{Again, Fault, LIMITS, encoded};
use crate::clouds::carrier::breathe;
use crate::clouds::conversation::{Spoken, Wish, Wishes};
use crate::clouds::daytona::sandbox::Toolbox;
use crate::clouds::speech::{Ear, INPUT_ENDS, Reads, input, line, words};
use crate::process::secret_word;

/// Longest message of a log.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How long following may take to begin.
const CONNECT: Duration = Duration::from_secs(30);

/// How often following is tried when it does not even begin. One that has begun may break as often as
/// it likes: what is silent for long is cut by whoever stands in between.
const AGAIN: u32 = 4;

/// Input up to this travels as lines; more goes as a file.
const MOST_LINES: usize = 96 * 1024;

/// How often the sandbox is told that somebody is interested.
const SIGN: Duration = Duration::from_mins(4);

/// Runs a program to its end.
pub(super) async fn run(toolbox: Toolbox, spoken: Spoken) -> Result<End, Fault> {
    let Spoken { words: program, output, mut wishes } = spoken;
    let session = format!("hermes-{}", secret_word());
    let sessions = toolbox.url.join("/process/session");
    toolbox.api.ask(Method::POST, &sessions, Some(&json!({ "sessionId": session })), Again::Refused).await?;
    let at = toolbox.url.join(&format!("/process/session/{session}"));
    let end = async {
        let text = line(&words(Reads::Lines, &program));
        let body = json!({ "command": text, "runAsync": true, "suppressInputEcho": true });
        let told = toolbox.api.ask(Method::POST, &at.join("/exec"), Some(&body), Again::Refused).await?;
        let id = told.get("cmdId").and_then(Value::as_str);
        let id = id.ok_or_else(|| toolbox.api.strange("a command without an id"))?;
        let command = at.join(&format!("/command/{id}"));
        let hearing = Box::pin(hear(&toolbox, &command, Ear::new(Arc::clone(&output))));
        let feeding = Box::pin(feed(&toolbox, &command, &mut wishes));
        match select(hearing, select(feeding, Box::pin(show_interest(&toolbox)))).await {
            Either::Left((end, _)) => end,
            Either::Right(_) => Err(Fault::Failed("nobody listens to it any more".to_owned())),
        }
    }
    .await;
    // The session's own processes go with it; what the program left running has a session of its own.
    let gone = toolbox.api.ask(Method::DELETE, &at, None, Again::Always).await;
    // It cannot be removed from a sandbox that is gone.
    drop(gone);
    end
}

/// Follows the log until the program has ended.
async fn hear(toolbox: &Toolbox, command: &hermes_net::Url, mut ear: Ear) -> Result<End, Fault> {
    let logs = command.join("/logs?follow=true");
    let (mut seen, mut left) = (0_usize, AGAIN);
    loop {
        let headers = toolbox.api.headers();
        let opened = toolbox.api.http().socket(&logs, headers, CONNECT, MAX_MESSAGE, None).await;
        let mut skip = seen;
        let broken = match opened {
            Ok(mut socket) => loop {
                left = AGAIN;
                breathe().await;
                let bytes = match socket.receiver.next().await {
                    Ok(Some(Frame::Binary(bytes))) => bytes,
                    Ok(Some(Frame::Text(text))) => text.into_bytes(),
                    Ok(None) => break None,
                    Err(wrong) => break Some(wrong),
                };
                let known = skip.min(bytes.len());
                skip -= known;
                let fresh = bytes.get(known..).unwrap_or_default();
                if !fresh.is_empty() {
                    seen += fresh.len();
                    if let Some(end) = ear.take(fresh) {
                        socket.sender.close().await;
                        return Ok(end);
                    }
                }
            },
            Err(wrong) => Some(wrong),
        };
        // A log that ends without a word of ours belongs to a program that was killed from outside.
        let shown = toolbox.api.ask(Method::GET, command, None, Again::Always).await?;
        if broken.is_none()
            && let Some(code) = shown.get("exitCode").and_then(Value::as_i64)
        {
            return Ok(End::Code(i32::try_from(code).unwrap_or(-1)));
        }
        let Some(fewer) = left.checked_sub(1) else {
            let why = broken.map_or_else(|| "its log ended".to_owned(), |wrong| wrong.to_string());
            return Err(Fault::Failed(why));
        };
        left = fewer;
        toolbox.host.sleep(Duration::from_millis(200)).await;
    }
}

/// Hands input over, in the order it came, until nobody is interested any more.
async fn feed(toolbox: &Toolbox, command: &hermes_net::Url, wishes: &mut Wishes) {
    let at = command.join("/input");
    'fed: while let Some(wish) = wishes.next().await {
        let lines = match wish {
            Wish::Write(bytes) if bytes.len() <= MOST_LINES => vec![input(&bytes)],
            Wish::Write(bytes) => match upload(toolbox, &bytes).await {
                Ok(path) => vec![format!("@{path}\n")],
                // Where no file can be put, because the disk is full for one, lines need none.
                Err(_) => bytes.chunks(MOST_LINES).map(input).collect(),
            },
            Wish::Close => vec![INPUT_ENDS.to_owned()],
            Wish::Resize(_) => continue,
        };
        for data in lines {
            let body = json!({ "data": data });
            // One that has ended reads no more; its end is heard elsewhere.
            if toolbox.api.ask(Method::POST, &at, Some(&body), Again::Refused).await.is_err() {
                break 'fed;
            }
        }
    }
    wishes.over().await;
}

/// Puts bytes into a file there; what is not whole does not stay.
async fn upload(toolbox: &Toolbox, bytes: &[u8]) -> Result<String, Fault> {
    let path = format!("/tmp/hermes-in-{}", secret_word());
    match put(toolbox, &path, bytes).await {
        Ok(()) => Ok(path),
        Err(fault) => {
            let url = toolbox.url.join(&format!("/files?path={}", encoded(&path)));
            // There may be nothing of it at all.
            let _ = toolbox.api.ask(Method::DELETE, &url, None, Again::Always).await;
            Err(fault)
        }
    }
}

async fn put(toolbox: &Toolbox, path: &str, bytes: &[u8]) -> Result<(), Fault> {
    let edge = secret_word();
    let part = |name: &str, more: &str| {
        format!("--{edge}\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n")
    };
    let file = "; filename=\"input\"\r\nContent-Type: application/octet-stream";
    let mut body = part("files[0].path", "").into_bytes();
    body.extend_from_slice(path.as_bytes());
    body.extend_from_slice(b"\r\n");
    body.extend_from_slice(part("files[0].file", file).as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{edge}--\r\n").as_bytes());
    let url = toolbox.url.join("/files/bulk-upload");
    let call = Call::post(&url, body, LIMITS)
        .header("content-type", format!("multipart/form-data; boundary={edge}"));
    let mut reply = toolbox.api.follow(call).await?;
    reply.read(1024).await?;
    Ok(())
}

/// Keeps the sandbox from being stopped while something runs in it.
pub(super) async fn show_interest(toolbox: &Toolbox) {
    loop {
        toolbox.host.sleep(SIGN).await;
        // If it is not heard the next one may be.
        let _ = toolbox.api.ask(Method::POST, &toolbox.activity, None, Again::Refused).await;
    }
}
