//! What takes time: a turn of the agent, or a slash command that waits for something. Meanwhile
//! the person can type, look, ask and stop.

use std::io::Write;

use futures::StreamExt;
use futures::future::{Either, LocalBoxFuture, select};
use hermes::agent::{Event, TurnEnd, TurnStatus};
use hermes::core::model::Part;
use tokio_util::sync::CancellationToken;

use crate::chat::happening::Happening;
use crate::chat::interactive::{Chat, Step};
use crate::chat::slash::Reply;
use crate::chat::text::Line;
use crate::command::Failure;

impl<W: Write> Chat<'_, W> {
    /// One turn, from what was said to the answer.
    pub(super) async fn turn(&mut self, parts: Vec<Part>) -> Result<Step, Failure> {
        self.said = true;
        let cancel = CancellationToken::new();
        let queue = self.mail.queue.clone();
        let sink = move |event: Event| {
            // The queue is there as long as the chat is.
            let _ = queue.unbounded_send(Happening::Agent(event));
        };
        self.show.begin(self.desk.now());
        self.desk.tick(true);
        self.draw_now()?;
        let talk = self.talk;
        let mut work = talk.turn(parts, &sink, cancel.clone());
        let mut leave = None;
        let end = loop {
            match select(&mut work, self.mail.inbox.next()).await {
                Either::Left((end, _)) => break Some(end),
                Either::Right((None, _)) => break None,
                Either::Right((Some(happening), _)) => {
                    let typed =
                        matches!(happening, Happening::Key(_) | Happening::Resized | Happening::Ask(..));
                    if let Step::Leave(code) = self.happened(happening, Some(&cancel)).await? {
                        cancel.cancel();
                        // Asked twice: the turn is dropped where it stands.
                        if leave.replace(code).is_some() {
                            break None;
                        }
                    }
                    if typed { self.draw_now()? } else { self.draw_soon()? }
                }
            }
        };
        drop(work);
        self.desk.tick(false);
        let late = self.end_of_turn(end.as_ref(), &cancel).await?;
        Ok(leave.or(late).map_or(Step::On, Step::Leave))
    }

    /// Puts the end on the screen; the exit code if somebody wants to leave.
    async fn end_of_turn(
        &mut self,
        end: Option<&TurnEnd>,
        cancel: &CancellationToken,
    ) -> Result<Option<u8>, Failure> {
        let mut leave = None;
        let mut later = Vec::new();
        // What was said before the end is in the queue, and so may be keys for what comes after.
        while let Ok(happening) = self.mail.inbox.try_recv() {
            if matches!(happening, Happening::Key(_)) {
                later.push(happening);
            } else if let Step::Leave(code) = self.happened(happening, Some(cancel)).await? {
                leave = Some(code);
            }
        }
        for happening in later {
            let _ = self.mail.queue.unbounded_send(happening);
        }
        self.questions.clear();
        if let Some(end) = end {
            let lines = self.show.end(end);
            self.staying.extend(lines);
            self.staying.push(Line::default());
            if end.status == TurnStatus::Interrupted && !self.instead {
                self.take_back_waiting();
            }
        }
        self.instead = false;
        self.draw_now()?;
        Ok(leave)
    }

    /// The person stopped it all: what waited is theirs again.
    fn take_back_waiting(&mut self) {
        if !self.waiting.is_empty() {
            let mut text: Vec<String> = self.waiting.drain(..).collect();
            text.extend(Some(self.editor.text()).filter(|typed| !typed.is_empty()));
            self.editor.set(&text.join("\n"));
        }
    }

    /// Waits for a slash command; nothing if the person did not.
    pub(super) async fn wait_for(
        &mut self,
        name: &'static str,
        mut work: LocalBoxFuture<'_, Reply>,
    ) -> Result<Option<Reply>, Failure> {
        let given_up = CancellationToken::new();
        self.working = Some((name, self.desk.now()));
        self.desk.tick(true);
        let reply = loop {
            match select(&mut work, self.mail.inbox.next()).await {
                Either::Left((reply, _)) => break Some(reply),
                Either::Right((None, _)) => break None,
                Either::Right((Some(happening), _)) => {
                    let step = Box::pin(self.happened(happening, Some(&given_up))).await?;
                    if let Step::Leave(code) = step {
                        // Whoever waits for the next happening leaves.
                        let _ = self.mail.queue.unbounded_send(Happening::Signal(code));
                        break None;
                    }
                    if given_up.is_cancelled() {
                        break None;
                    }
                    self.draw_now()?;
                }
            }
        };
        self.desk.tick(false);
        self.working = None;
        Ok(reply)
    }
}
