//! Calls to Modal's services: one connection, many calls at once, each a request in a frame and an
//! answer of one frame or many.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hermes_core::host::Host;
use hermes_net::{Answer, Channel, HeaderMap, Url, within};

use crate::clouds::api::{Again, Api, Fault};
use crate::clouds::carrier::Carrier;
use crate::clouds::modal::wire::{Fields, Message};

/// How long connecting, and a call with one answer, may take.
const CONNECT: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_mins(5);

/// How often something is asked again, and how long the first pause is.
const AGAIN: u32 = 3;
const PAUSE: Duration = Duration::from_millis(400);

/// Longest message that is read.
const MOST: usize = 64 * 1024 * 1024;

/// One service at one address.
pub(super) struct Line {
    pub(super) api: Arc<Api>,
    host: Arc<dyn Host>,
    carrier: Arc<Carrier>,
    url: Url,
    service: &'static str,
    channel: futures::lock::Mutex<Option<Channel>>,
}

/// A fault, and whether Modal itself says that another try is worth it.
struct Told(Fault, bool);

impl Line {
    pub(super) fn new(
        api: Arc<Api>,
        host: Arc<dyn Host>,
        carrier: Arc<Carrier>,
        url: Url,
        service: &'static str,
    ) -> Self {
        Self { api, host, carrier, url, service, channel: futures::lock::Mutex::default() }
    }

    /// The connection; made, if there is none that works.
    async fn channel(&self) -> Result<Channel, Fault> {
        let mut channel = self.channel.lock().await;
        if let Some(channel) = &*channel {
            return Ok(channel.clone());
        }
        let (fresh, driver) = self.api.http().channel(&self.url, CONNECT).await?;
        self.carrier.start(driver);
        *channel = Some(fresh.clone());
        Ok(fresh)
    }

    /// Asks for something that has one answer.
    pub(super) async fn ask(
        &self,
        method: &str,
        headers: &[(String, String)],
        message: &Message,
        again: Again,
    ) -> Result<Fields, Fault> {
        let mut pause = PAUSE;
        for left in (0..AGAIN).rev() {
            let answer = within(ANSWER, self.once(method, headers, message)).await;
            let slow =
                || Told(Fault::Failed(format!("Modal did not answer within {} s", ANSWER.as_secs())), false);
            let Told(fault, wanted) = match answer.unwrap_or_else(|| Err(slow())) {
                Ok(fields) => return Ok(fields),
                Err(told) => told,
            };
            let passing = matches!(fault, Fault::Net(_) | Fault::Refused { status: 500..=504, .. });
            if left == 0 || !(wanted || passing && again == Again::Always) {
                return Err(fault);
            }
            self.host.sleep(pause).await;
            pause *= 3;
        }
        Err(Fault::Failed("Modal does not answer".to_owned()))
    }

    async fn once(
        &self,
        method: &str,
        headers: &[(String, String)],
        message: &Message,
    ) -> Result<Fields, Told> {
        let mut frames = self.follow(method, headers, message).await.map_err(|fault| Told(fault, false))?;
        let mut found = None;
        while let Some(bytes) = frames.told().await? {
            found = Some(bytes);
        }
        let strange = || Told(self.api.strange(format!("an answer to {method} that is none")), false);
        Fields::read(&found.ok_or_else(strange)?).ok_or_else(strange)
    }

    /// Asks for something whose answers come one after another.
    pub(super) async fn follow(
        &self,
        method: &str,
        headers: &[(String, String)],
        message: &Message,
    ) -> Result<Frames<'_>, Fault> {
        let path = format!("/{}/{method}", self.service);
        let length = u32::try_from(message.as_bytes().len()).unwrap_or(u32::MAX);
        let body = [&[0_u8][..], &length.to_be_bytes(), message.as_bytes()].concat();
        let usual = [("content-type", "application/grpc"), ("te", "trailers"), ("user-agent", "hermes")];
        let usual = usual.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<_> = usual.iter().chain(headers).cloned().collect();
        let mut last = None;
        // A connection that was kept may turn out to be closed; then nothing of this was heard.
        for _ in 0..2 {
            let channel = self.channel().await?;
            match channel.send(&path, &headers, body.clone().into()).await {
                Ok(answer) => return Ok(Frames { line: self, answer, held: Vec::new(), over: false }),
                Err(wrong) => {
                    *self.channel.lock().await = None;
                    last = Some(wrong);
                }
            }
        }
        Err(last.map_or_else(|| Fault::Failed("Modal does not answer".to_owned()), Fault::Net))
    }
}

/// Answers as they come.
pub(super) struct Frames<'a> {
    line: &'a Line,
    answer: Answer,
    held: Vec<u8>,
    over: bool,
}

impl Frames<'_> {
    /// The next message; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        self.told().await.map_err(|told| told.0)
    }

    async fn told(&mut self) -> Result<Option<Vec<u8>>, Told> {
        loop {
            if let Some(message) = self.whole()? {
                return Ok(Some(message));
            }
            if self.over {
                return Ok(None);
            }
            match self.answer.next().await {
                Ok(Some(bytes)) => self.held.extend_from_slice(&bytes),
                Ok(None) => {
                    self.over = true;
                    self.end().await?;
                }
                Err(wrong) => {
                    *self.line.channel.lock().await = None;
                    return Err(Told(wrong.into(), false));
                }
            }
        }
    }

    /// Takes a message out of what has come, if one is whole.
    fn whole(&mut self) -> Result<Option<Vec<u8>>, Told> {
        let Some((head, rest)) = self.held.split_at_checked(5) else { return Ok(None) };
        let [packed, length @ ..] = head else { return Ok(None) };
        let length = u32::from_be_bytes(length.try_into().unwrap_or_default());
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if *packed != 0 || length > MOST {
            return Err(Told(self.line.api.strange("a message that cannot be read"), false));
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let message = message.to_vec();
        self.held.drain(..5 + length);
        Ok(Some(message))
    }

    /// What is said at the end: whether it went well.
    async fn end(&mut self) -> Result<(), Told> {
        let trailers = self.answer.trailers().await.map_err(|wrong| Told(wrong.into(), false))?;
        let headers = if trailers.contains_key("grpc-status") { &trailers } else { &self.answer.headers };
        let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match said("grpc-status").parse::<u16>() {
            Ok(0) => Ok(()),
            Ok(code) => {
                let fault = self.line.api.meaning(status(code), unescaped(said("grpc-message")));
                Err(Told(fault, asks_for_patience(headers)))
            }
            Err(_) => {
                let status = self.answer.status.as_u16();
                Err(Told(self.line.api.meaning(status, format!("status {status}")), false))
            }
        }
    }
}

/// The status of HTTP that means the same.
fn status(code: u16) -> u16 {
    match code {
        16 => 401,
        7 => 403,
        8 => 429,
        5 => 404,
        6 => 409,
        3 | 9 | 11 => 400,
        4 => 504,
        14 => 503,
        _ => 500,
    }
}

/// Whether a refusal comes with word about when to try again.
fn asks_for_patience(headers: &HeaderMap) -> bool {
    let details = headers.get("grpc-status-details-bin").and_then(|value| value.to_str().ok());
    let details = details.and_then(|text| STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok());
    details.is_some_and(|bytes| memchr::memmem::find(&bytes, b"RPCRetryPolicy").is_some())
}

/// A message of a refusal, which may hold escaped bytes.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = after.get(if escaped.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_as_it_was_meant() {
        assert_eq!(unescaped("50%25 of %C3%A9 %zz"), "50% of é %zz");
        assert_eq!([status(16), status(8), status(5), status(2)], [401, 429, 404, 500]);
    }
}
