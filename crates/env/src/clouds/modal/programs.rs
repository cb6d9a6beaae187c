//! Programs in a sandbox of Modal. What one writes can be read again from any place, and what it reads
//! is numbered, so a connection that breaks is made again and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, join, select};
use hermes_core::environment::{End, Output, Size, Stream};

use crate::clouds::api::{Again, Fault};
use crate::clouds::carrier::breathe;
use crate::clouds::conversation::{Spoken, Wish, Wishes};
use crate::clouds::modal::sandbox::Router;
use crate::clouds::modal::wire::{Fields, Message};
use crate::process::secret_word;

/// Input of one call.
const PIECE: usize = 1024 * 1024;

/// How often listening is tried when it does not even begin. One that has begun may break as often as it
/// likes: what is silent for long is cut by whoever stands in between.
const AGAIN: u32 = 4;

/// How long an end is waited for at a time.
const WAIT: Duration = Duration::from_mins(1);

/// Notes the terminal it is in, then becomes the rest: there is no other way to change its size later.
const IN_TERMINAL: &str = r#"tty >"$1"; shift; exec "$@""#;

/// Changes the size of the terminal that is noted in a file.
const RESIZE: &str = r#"stty -F "$(cat "$1")" rows "$2" cols "$3""#;

/// Runs a program to its end.
pub(super) async fn run(router: &Router, spoken: Spoken, size: Option<Size>) -> Result<End, Fault> {
    let Spoken { words, output, mut wishes } = spoken;
    let noted = format!("/tmp/hermes-tty-{}", secret_word());
    let words = if size.is_some() {
        let around = ["sh", "-c", IN_TERMINAL, "hermes", &noted].into_iter().map(str::to_owned);
        around.chain(words).collect()
    } else {
        words
    };
    let id = start(router, &words, size).await?;
    let hearing = async {
        let (out, err) = (hear(router, &id, Stream::Out, &output), hear(router, &id, Stream::Err, &output));
        let (out, err) = join(Box::pin(out), Box::pin(err)).await;
        out.and(if size.is_some() { Ok(()) } else { err })?;
        end(router, &id).await
    };
    let feeding = async {
        feed(router, &id, &noted, &mut wishes).await;
        wishes.over().await;
    };
    match select(Box::pin(hearing), Box::pin(feeding)).await {
        Either::Left((end, _)) => end,
        Either::Right(_) => Err(Fault::Failed("nobody listens to it any more".to_owned())),
    }
}

/// A message about a program.
fn about(router: &Router, id: &str) -> Message {
    Message::new().text(1, &router.task).text(2, id)
}

async fn start(router: &Router, words: &[String], size: Option<Size>) -> Result<String, Fault> {
    let id = unique();
    let wanted = about(router, &id).texts(3, words.iter().map(String::as_str)).number(4, 1).number(5, 1);
    let wanted = match size {
        Some(Size { rows, columns }) => {
            let terminal =
                Message::new().number(1, 1).number(2, u64::from(rows)).number(3, u64::from(columns));
            wanted.nested(9, &terminal.text(4, "xterm-256color").number(7, 2))
        }
        None => wanted,
    };
    // The number is ours, so twice is as once.
    match router.ask("TaskExecStart", &wanted, Again::Always).await {
        Ok(_) | Err(Fault::Taken { .. }) => Ok(id),
        Err(fault) => Err(fault),
    }
}

/// A number in the form that Modal expects.
fn unique() -> String {
    let word = format!("{}{}", secret_word(), secret_word());
    let part = |from: usize, to: usize| word.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}

/// Listens to one output until it ends.
async fn hear(router: &Router, id: &str, stream: Stream, output: &Arc<dyn Output>) -> Result<(), Fault> {
    let (mut offset, mut left) = (0_u64, AGAIN);
    loop {
        let wanted = about(router, id).number(3, offset).number(4, u64::from(stream == Stream::Err));
        let fault = match router.line.follow("TaskExecStdioRead", &router.headers(), &wanted).await {
            Ok(mut answers) => loop {
                left = AGAIN;
                breathe().await;
                match answers.next().await {
                    Ok(Some(answer)) => {
                        let answer = Fields::read(&answer).unwrap_or_default();
                        for bytes in answer.all(1) {
                            output.take(stream, bytes);
                            offset += u64::try_from(bytes.len()).unwrap_or_default();
                        }
                    }
                    Ok(None) => return Ok(()),
                    Err(fault) => break fault,
                }
            },
            Err(fault) => fault,
        };
        let Some(fewer) = left.checked_sub(1) else { return Err(fault) };
        left = fewer;
        match fault {
            Fault::Key { .. } => router.renew().await?,
            Fault::Net(_) | Fault::Refused { status: 500..=504, .. } => {}
            fault => return Err(fault),
        }
        router.host.sleep(Duration::from_millis(200)).await;
    }
}

/// Waits until it has ended.
async fn end(router: &Router, id: &str) -> Result<End, Fault> {
    loop {
        let wanted = about(router, id);
        let asked = Box::pin(router.ask("TaskExecWait", &wanted, Again::Always));
        let told = match select(asked, router.host.sleep(WAIT)).await {
            Either::Left((told, _)) => told?,
            // A wait that got lost is not waited for.
            Either::Right(_) => continue,
        };
        let number = |field| told.number(field).map(|number| i32::try_from(number).unwrap_or(-1));
        return Ok(match (number(1), number(2)) {
            (_, Some(signal)) => End::Signal(signal),
            (code, None) => End::Code(code.unwrap_or_default()),
        });
    }
}

/// Hands input over, in the order it came.
async fn feed(router: &Router, id: &str, noted: &str, wishes: &mut Wishes) {
    let mut offset = 0_u64;
    while let Some(wish) = wishes.next().await {
        let (bytes, close) = match wish {
            Wish::Write(bytes) => (bytes, false),
            Wish::Close => (Vec::new(), true),
            Wish::Resize(size) => {
                let numbers = [size.rows.to_string(), size.columns.to_string()];
                let words = ["sh", "-c", RESIZE, "hermes", noted].into_iter().map(str::to_owned);
                let words: Vec<String> = words.chain(numbers).collect();
                // It stays as it is if that does not go well.
                let _ = start(router, &words, None).await;
                continue;
            }
        };
        let pieces: Vec<&[u8]> = if close { vec![&[]] } else { bytes.chunks(PIECE).collect() };
        for piece in pieces {
            let wanted = about(router, id).number(3, offset);
            let wanted = if close { wanted.number(5, 1) } else { wanted.bytes(4, piece) };
            // With the offset, sending twice is as sending once. One that has ended reads no more; its
            // end is heard elsewhere.
            if router.ask("TaskExecStdinWrite", &wanted, Again::Always).await.is_err() {
                return;
            }
            offset += u64::try_from(piece.len()).unwrap_or_default();
        }
    }
}
