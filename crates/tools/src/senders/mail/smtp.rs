//! The conversation with a mail server (RFC 5321, with STARTTLS and AUTH).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::web::{WebError, Wire};

/// Longest answer of a server.
const MAX_ANSWER: usize = 64 * 1024;

/// How we introduce ourselves: what a machine without a name of its own says.
const OURSELVES: &str = "[127.0.0.1]";

/// How the connection is kept private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    /// It is encrypted already.
    Encrypted,
    /// It is encrypted before anything is said that matters.
    StartTls,
    /// Everybody on the way can read it: only to this machine, or where the person has said so.
    Open,
}

/// Who sends a mail, to whom, and how.
pub(crate) struct Envelope<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) login: Option<(&'a str, &'a str)>,
    pub(crate) security: Security,
}

/// Why a mail was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SmtpError {
    /// The server said no.
    Refused(String),
    /// The connection failed.
    Broken(WebError),
}

impl From<WebError> for SmtpError {
    fn from(wrong: WebError) -> Self {
        Self::Broken(wrong)
    }
}

/// What a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    code: u16,
    lines: Vec<String>,
}

impl Answer {
    fn words(&self) -> String {
        format!("{} {}", self.code, self.lines.join(" "))
    }

    /// What stands behind the name of an extension, if the server has it.
    fn extension(&self, name: &str) -> Option<String> {
        self.lines.iter().find_map(|line| {
            let (first, rest) = line.split_once([' ', '=']).unwrap_or((line, ""));
            first.eq_ignore_ascii_case(name).then(|| rest.to_ascii_uppercase())
        })
    }
}

/// Sends one mail and says goodbye; what comes back are the server's last words, which name it.
pub(crate) async fn send(
    wire: Box<dyn Wire>,
    envelope: &Envelope<'_>,
    mail: &[u8],
) -> Result<String, SmtpError> {
    let mut talk = Talk { wire, unread: Vec::new() };
    talk.expect(220, None).await?;
    let mut able = talk.expect(250, Some(&format!("EHLO {OURSELVES}"))).await?;
    if envelope.security == Security::StartTls {
        if able.extension("STARTTLS").is_none() {
            let why = "the server does not encrypt; nothing was sent to it".to_owned();
            return Err(SmtpError::Refused(why));
        }
        talk.expect(220, Some("STARTTLS")).await?;
        talk.encrypt().await?;
        able = talk.expect(250, Some(&format!("EHLO {OURSELVES}"))).await?;
    }
    if let Some(login) = envelope.login {
        talk.log_in(&able, login).await?;
    }
    talk.expect(250, Some(&format!("MAIL FROM:<{}>", envelope.from))).await?;
    talk.expect(250, Some(&format!("RCPT TO:<{}>", envelope.to))).await?;
    talk.expect(354, Some("DATA")).await?;
    talk.wire.write(stuffed(mail)).await?;
    let taken = talk.expect(250, None).await?;
    // The mail is on its way, whatever becomes of the goodbye.
    let _ = talk.expect(221, Some("QUIT")).await;
    Ok(taken.lines.join(" "))
}

struct Talk {
    wire: Box<dyn Wire>,
    unread: Vec<u8>,
}

impl Talk {
    /// Says something, if there is something to say, and waits for an answer of this code.
    async fn expect(&mut self, code: u16, words: Option<&str>) -> Result<Answer, SmtpError> {
        if let Some(words) = words {
            self.wire.write(format!("{words}\r\n").into_bytes()).await?;
        }
        let answer = self.answer().await?;
        if answer.code == code || (code == 250 && answer.code == 251) {
            return Ok(answer);
        }
        Err(SmtpError::Refused(answer.words()))
    }

    async fn answer(&mut self) -> Result<Answer, SmtpError> {
        let mut lines = Vec::new();
        loop {
            let line = self.line().await?;
            let bad =
                || SmtpError::Refused(format!("it answered {line:?}, which is no mail server's answer"));
            let code = line.get(..3).and_then(|code| code.parse().ok()).ok_or_else(bad)?;
            lines.push(line.get(4..).unwrap_or_default().trim().to_owned());
            if line.get(3..4) != Some("-") {
                return Ok(Answer { code, lines });
            }
        }
    }

    async fn line(&mut self) -> Result<String, SmtpError> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            let more = self.wire.read().await?;
            if more.is_empty() || self.unread.len() + more.len() > MAX_ANSWER {
                let why = "the mail server closed the connection, or does not end its answer".to_owned();
                return Err(SmtpError::Broken(WebError::Failed(why)));
            }
            self.unread.extend(more);
        }
    }

    /// What came before the encryption was not said by whom we meant, and counts no more.
    async fn encrypt(&mut self) -> Result<(), SmtpError> {
        if !self.unread.is_empty() {
            let why = "something was said in place of the mail server before encryption began".to_owned();
            return Err(SmtpError::Refused(why));
        }
        Ok(self.wire.encrypt().await?)
    }

    async fn log_in(&mut self, able: &Answer, (user, password): (&str, &str)) -> Result<(), SmtpError> {
        let ways = able.extension("AUTH").unwrap_or_default();
        let has = |way: &str| ways.split([' ', '=']).any(|known| known == way);
        if has("PLAIN") {
            let words = STANDARD.encode(format!("\0{user}\0{password}"));
            self.expect(235, Some(&format!("AUTH PLAIN {words}"))).await?;
        } else if has("LOGIN") {
            self.expect(334, Some("AUTH LOGIN")).await?;
            self.expect(334, Some(&STANDARD.encode(user))).await?;
            self.expect(235, Some(&STANDARD.encode(password))).await?;
        } else {
            let why = format!("the server knows no way to log in that we know (it knows: {ways})");
            return Err(SmtpError::Refused(why));
        }
        Ok(())
    }
}

/// A mail as it is sent: a line that begins with a dot gets another, and a dot alone ends it.
fn stuffed(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len() + 64);
    let mut at_start = true;
    for byte in mail {
        if at_start && *byte == b'.' {
            out.push(b'.');
        }
        out.push(*byte);
        at_start = *byte == b'\n';
    }
    if !at_start {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use futures::executor::block_on;
    use futures::future::BoxFuture;

    use super::*;

    /// A server that answers each write with the next line of its part.
    struct Scripted {
        says: VecDeque<&'static str>,
        heard: Arc<Mutex<Vec<String>>>,
    }

    impl Wire for Scripted {
        fn write(&mut self, bytes: Vec<u8>) -> BoxFuture<'_, Result<(), WebError>> {
            self.heard.lock().unwrap().push(String::from_utf8(bytes).unwrap());
            Box::pin(async { Ok(()) })
        }

        fn read(&mut self) -> BoxFuture<'_, Result<Vec<u8>, WebError>> {
            let next = self.says.pop_front().unwrap_or_default();
            Box::pin(async move { Ok(next.as_bytes().to_vec()) })
        }

        fn encrypt(&mut self) -> BoxFuture<'_, Result<(), WebError>> {
            self.heard.lock().unwrap().push("(encrypted)".to_owned());
            Box::pin(async { Ok(()) })
        }

        fn opened(&self) -> Duration {
            Duration::ZERO
        }
    }

    fn talk(
        says: &[&'static str],
        login: Option<(&str, &str)>,
        security: Security,
    ) -> (Result<String, SmtpError>, Vec<String>) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let wire = Box::new(Scripted { says: says.iter().copied().collect(), heard: Arc::clone(&heard) });
        let envelope = Envelope { from: "a@x.example", to: "b@y.example", login, security };
        let answer = block_on(send(wire, &envelope, b".dot\r\nend"));
        (answer, heard.lock().unwrap().clone())
    }

    #[test]
    fn a_mail_goes_out_encrypted_and_logged_in() {
        let says = [
            "220 mail.example ready\r\n",
            "250-mail.example\r\n250-SIZE 1",
            "000\r\n250 STARTTLS\r\n",
            "220 go on\r\n",
            "250-mail.example\r\n250 AUTH LOGIN PLAIN\r\n",
            "235 welcome\r\n",
            "250 ok\r\n",
            "250 ok\r\n",
            "354 go\r\n",
            "250 queued as 42\r\n",
            "221 bye\r\n",
        ];

        let (answer, heard) = talk(&says, Some(("ann", "word")), Security::StartTls);

        assert_eq!(answer.unwrap(), "queued as 42");
        assert_eq!(
            heard,
            [
                "EHLO [127.0.0.1]\r\n",
                "STARTTLS\r\n",
                "(encrypted)",
                "EHLO [127.0.0.1]\r\n",
                "AUTH PLAIN AGFubgB3b3Jk\r\n",
                "MAIL FROM:<a@x.example>\r\n",
                "RCPT TO:<b@y.example>\r\n",
                "DATA\r\n",
                "..dot\r\nend\r\n.\r\n",
                "QUIT\r\n",
            ]
        );
    }

    #[test]
    fn a_password_is_never_said_to_a_server_that_does_not_encrypt() {
        let says = ["220 hi\r\n", "250-mail\r\n250 AUTH PLAIN\r\n"];

        let (answer, heard) = talk(&says, Some(("ann", "word")), Security::StartTls);

        assert!(matches!(answer, Err(SmtpError::Refused(why)) if why.contains("does not encrypt")));
        assert_eq!(heard, ["EHLO [127.0.0.1]\r\n"]);
    }

    #[test]
    fn what_is_said_ahead_of_encryption_is_not_believed() {
        let says = ["220 hi\r\n", "250 STARTTLS\r\n", "220 go\r\n250 AUTH PLAIN\r\n"];

        let (answer, _) = talk(&says, None, Security::StartTls);

        assert!(matches!(answer, Err(SmtpError::Refused(why)) if why.contains("before encryption")));
    }

    #[test]
    fn a_refusal_is_told_in_the_servers_words() {
        let says = ["220 hi\r\n", "250 mail\r\n", "250 ok\r\n", "550-no such\r\n550 person here\r\n"];

        let (answer, _) = talk(&says, None, Security::Open);

        assert_eq!(answer, Err(SmtpError::Refused("550 no such person here".to_owned())));
    }

    #[test]
    fn a_server_that_hangs_up_or_talks_nonsense_is_an_error() {
        assert!(matches!(talk(&["220 hi\r\n"], None, Security::Open).0, Err(SmtpError::Broken(_))));
        assert!(matches!(talk(&["HTTP/1.1 400\r\n"], None, Security::Open).0, Err(SmtpError::Refused(_))));
    }
}
