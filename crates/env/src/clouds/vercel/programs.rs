//! Programs in a sandbox of Vercel: a request whose answer is what the program writes, as lines of JSON.
//!
//! What was written can be asked for again from its beginning, so an answer that breaks off loses
//! nothing. It is text, so bytes travel as [`speech`](crate::clouds::speech) says; input is bytes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::channel::oneshot;
use futures::future::{Either, select};
use hermes_core::environment::End;
use hermes_net::{Call, Method, Reply};
use serde_json::{Value, json};

use crate::clouds::api::{Again, FOLLOW, Fault};
use crate::clouds::carrier::breathe;
use crate::clouds::conversation::{Spoken, Wish, Wishes};
use crate::clouds::speech::{Ear, Reads, words};
use crate::clouds::vercel::sandbox::Session;

/// Input of one request: the service takes a megabyte, and base64 makes it longer.
const PIECE: usize = 512 * 1024;

/// How often an answer that broke off is asked for again when not even its beginning comes. One that has
/// begun may break as often as it likes: what is silent for long is cut by whoever stands in between.
const AGAIN: u32 = 4;

/// How often the sandbox is given more time while something runs, and how much.
const SIGN: Duration = Duration::from_mins(4);
const MORE: Duration = Duration::from_mins(5);

/// Runs a program to its end.
pub(super) async fn run(session: Session, spoken: Spoken) -> Result<End, Fault> {
    let Spoken { words: program, output, mut wishes } = spoken;
    let words = words(Reads::Bytes, &program);
    let (command, arguments) =
        words.split_first().map_or(("sh", &[][..]), |(first, rest)| (first.as_str(), rest));
    let body = json!({
        "command": command, "args": arguments, "wait": true, "logs": true, "attachStdin": true, "sudo": false,
    });
    let url = session.at("/cmd?wait=true&logs=true");
    let call = Call::post(&url, body.to_string(), FOLLOW).header("content-type", "application/json").once();
    let reply = session.api.follow(call).await?;
    let (tell, told) = oneshot::channel();
    let mut hearing =
        Hearing { session: &session, ear: Ear::new(output), seen: 0, id: None, tell: Some(tell) };
    let end = {
        let hearing = Box::pin(hearing.follow(reply));
        let feeding = Box::pin(async {
            if let Ok(id) = told.await {
                feed(&session, &id, &mut wishes).await;
            }
            wishes.over().await;
        });
        match select(hearing, select(feeding, Box::pin(give_time(&session)))).await {
            Either::Left((end, _)) => end,
            Either::Right(_) => Err(Fault::Failed("nobody listens to it any more".to_owned())),
        }
    };
    if let (Err(_), Some(id)) = (&end, hearing.id) {
        let url = session.at(&format!("/cmd/{id}/kill"));
        // One that has ended, or whose sandbox is gone, needs no end.
        let _ = session.api.ask(Method::POST, &url, Some(&json!({ "signal": 15 })), Again::Refused).await;
    }
    end
}

/// What is known of a program from what was heard so far.
struct Hearing<'a> {
    session: &'a Session,
    ear: Ear,
    /// Bytes of its output that were heard.
    seen: usize,
    id: Option<String>,
    /// Told the program's number once it is known.
    tell: Option<oneshot::Sender<String>>,
}

/// How an answer ended.
enum Answer {
    /// The program has ended.
    Ended(End),
    /// It ended without a word about the program.
    Over,
    /// It broke off.
    Broke(String),
}

impl Hearing<'_> {
    async fn follow(&mut self, reply: Reply) -> Result<End, Fault> {
        let mut answer = self.heard(reply, 0).await?;
        let mut left = AGAIN;
        loop {
            let why = match answer {
                Answer::Ended(end) => return Ok(end),
                Answer::Over => "what it writes ended before it did".to_owned(),
                Answer::Broke(why) => why,
            };
            let Some(id) = self.id.clone() else { return Err(Fault::Failed(why)) };
            let shown = self.session.at(&format!("/cmd/{id}?wait=false"));
            let shown = self.session.api.ask(Method::GET, &shown, None, Again::Always).await?;
            let url = self.session.at(&format!("/cmd/{id}/logs"));
            answer = match self.session.api.follow(Call::get(&url, FOLLOW)).await {
                Ok(reply) => {
                    left = AGAIN;
                    self.heard(reply, self.seen).await?
                }
                Err(Fault::Net(_)) if left > 0 => {
                    left -= 1;
                    Answer::Broke(why)
                }
                Err(fault) => return Err(fault),
            };
            if let (Answer::Over, Some(code)) = (&answer, code(&shown)) {
                // Its own last word is missing: it was killed from outside.
                return Ok(End::Code(code));
            }
            self.session.host.sleep(Duration::from_millis(200)).await;
        }
    }

    /// Listens to one answer, of which the first `skip` bytes are known.
    async fn heard(&mut self, mut reply: Reply, mut skip: usize) -> Result<Answer, Fault> {
        let mut held: Vec<u8> = Vec::new();
        loop {
            breathe().await;
            let bytes = match reply.next().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(Answer::Over),
                Err(wrong) => return Ok(Answer::Broke(wrong.to_string())),
            };
            held.extend_from_slice(&bytes);
            let Some(end) = memchr::memrchr(b'\n', &held) else { continue };
            let rest = held.split_off(end + 1);
            for line in held.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                if let Some(answer) = self.line(line, &mut skip)? {
                    return Ok(answer);
                }
            }
            held = rest;
        }
    }

    fn line(&mut self, line: &[u8], skip: &mut usize) -> Result<Option<Answer>, Fault> {
        let Ok(said) = serde_json::from_slice::<Value>(line) else { return Ok(None) };
        if let Some(command) = said.get("command") {
            if let (Some(id), Some(tell)) = (command.get("id").and_then(Value::as_str), self.tell.take()) {
                self.id = Some(id.to_owned());
                // Who feeds it may be gone.
                let _ = tell.send(id.to_owned());
            }
            return Ok(code(&said).map(|code| Answer::Ended(End::Code(code))));
        }
        match (said.get("stream").and_then(Value::as_str), said.get("data")) {
            (Some("stdout"), Some(Value::String(text))) => {
                let known = (*skip).min(text.len());
                *skip -= known;
                let fresh = text.as_bytes().get(known..).unwrap_or_default();
                self.seen += fresh.len();
                Ok(self.ear.take(fresh).map(Answer::Ended))
            }
            (Some("stderr"), Some(Value::String(text))) => {
                self.ear.complaint(text.as_bytes());
                Ok(None)
            }
            (Some("error"), Some(data)) => {
                let part = |name| data.get(name).and_then(Value::as_str).unwrap_or_default();
                if part("code") == "sandbox_stream_closed" {
                    return Ok(Some(Answer::Broke(part("message").to_owned())));
                }
                Err(Fault::Failed(format!("Vercel says: {} ({})", part("message"), part("code"))))
            }
            _ => Ok(None),
        }
    }
}

fn code(said: &Value) -> Option<i32> {
    let code = said.get("command")?.get("exitCode")?.as_i64()?;
    Some(i32::try_from(code).unwrap_or(-1))
}

/// Hands input over, in the order it came.
async fn feed(session: &Session, id: &str, wishes: &mut Wishes) {
    let url = session.at(&format!("/cmd/{id}/stdin"));
    let mut offset = 0_usize;
    while let Some(wish) = wishes.next().await {
        let (bytes, close) = match wish {
            Wish::Write(bytes) => (bytes, false),
            Wish::Close => (Vec::new(), true),
            Wish::Resize(_) => continue,
        };
        let pieces: Vec<&[u8]> = if close { vec![&[]] } else { bytes.chunks(PIECE).collect() };
        for piece in pieces {
            let body = if close {
                json!({ "offset": offset, "close": true })
            } else {
                json!({ "offset": offset, "data": STANDARD.encode(piece) })
            };
            // With the offset, sending twice is as sending once. One that has ended reads no more; its
            // end is heard elsewhere.
            if session.api.ask(Method::POST, &url, Some(&body), Again::Always).await.is_err() {
                return;
            }
            offset += piece.len();
        }
    }
}

/// Keeps the sandbox from being stopped while something runs in it.
pub(super) async fn give_time(session: &Session) {
    loop {
        session.host.sleep(SIGN).await;
        let body = json!({ "duration": u64::try_from(MORE.as_millis()).unwrap_or_default() });
        // There is a most of it; then it ends as its settings say.
        let _ =
            session.api.ask(Method::POST, &session.at("/extend-timeout"), Some(&body), Again::Refused).await;
    }
}
