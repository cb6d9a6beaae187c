//! Mail, by the person's own account (SMTP).

use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::deliver::{DeliverError, Letter, Sent};
use hermes_core::web::Dial;

use crate::senders::SERVICE;
use crate::senders::mail::message::Mail;
use crate::senders::mail::smtp::{self, Envelope, Security, SmtpError};
use crate::senders::sender::{Posting, Sender};

pub(crate) const SENDER: Sender = Sender::new("email", &["EMAIL_ADDRESS", "EMAIL_SMTP_HOST"], send)
    .home(&["EMAIL_HOME_ADDRESS"])
    .also(&["EMAIL_PASSWORD", "EMAIL_SMTP_PORT"])
    .check(check);

/// Where servers take mails of those who log in, and where they encrypt from the first byte.
const SUBMISSION: u16 = 587;
const ENCRYPTED: u16 = 465;

/// Longest wait for a step.
const PATIENCE: Duration = Duration::from_mins(1);

/// What can be written in an envelope as it is.
fn check(address: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | ',' | ';' | '\\');
    let parts = address.split_once('@').filter(|(name, host)| {
        !name.is_empty() && !host.contains('@') && host.contains(|c: char| c.is_ascii_alphanumeric())
    });
    if address.len() <= 254 && parts.is_some() && address.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!("{address:?} is no address of a person"))
}

fn send<'a>(posting: &'a Posting<'a>, letter: &'a Letter) -> BoxFuture<'a, Result<Sent, DeliverError>> {
    Box::pin(async move {
        let from = posting.key("EMAIL_ADDRESS").trim().to_owned();
        let host = posting.key("EMAIL_SMTP_HOST").trim().to_owned();
        let wrong = |why: String| DeliverError::BadChat { platform: "email".to_owned(), why };
        check(&from).map_err(|why| wrong(format!("EMAIL_ADDRESS: {why}")))?;
        let port = posting.keys().key("EMAIL_SMTP_PORT");
        let port = match port.as_deref().map(str::trim) {
            Some(port) => port.parse().map_err(|_| wrong(format!("EMAIL_SMTP_PORT: {port:?} is no port")))?,
            None => SUBMISSION,
        };
        let password = posting.keys().key("EMAIL_PASSWORD");
        let user = posting.keys().text("platforms.email.user").unwrap_or_else(|| from.clone());
        let wish = posting.keys().text("platforms.email.security");
        let security = security(wish.as_deref(), &host, port).map_err(wrong)?;
        let encrypted = security == Security::Encrypted;
        let dial = Dial { host, port, encrypted, service: SERVICE, timeout: PATIENCE };
        let wire = posting.courier.connect(dial).await.map_err(|why| posting.unreachable(&why))?;
        let mail = Mail { from: &from, to: posting.chat(), letter, at: wire.opened() };
        let login = password.as_deref().map(|password| (user.as_str(), password));
        let envelope = Envelope { from: &from, to: posting.chat(), login, security };
        let taken = smtp::send(wire, &envelope, &mail.write()).await;
        taken.map_err(|wrong| match wrong {
            SmtpError::Refused(why) => posting.refused(why),
            SmtpError::Broken(why) => posting.unreachable(&why),
        })?;
        Ok(posting.sent(Some(mail.id()), 1))
    })
}

/// How the connection is kept private: as the person says, or by the port. A server on this machine is
/// spoken to openly, since nobody is on the way.
fn security(wish: Option<&str>, host: &str, port: u16) -> Result<Security, String> {
    let own = matches!(host, "localhost" | "127.0.0.1" | "::1" | "[::1]");
    match wish.map(str::trim).map(str::to_ascii_lowercase).as_deref() {
        Some("tls" | "ssl") => Ok(Security::Encrypted),
        Some("starttls") => Ok(Security::StartTls),
        Some("none") => Ok(Security::Open),
        None | Some("auto") => Ok(match port {
            ENCRYPTED => Security::Encrypted,
            _ if own => Security::Open,
            _ => Security::StartTls,
        }),
        Some(other) => {
            Err(format!("platforms.email.security is {other:?}; there are auto, starttls, tls and none"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_could_leave_the_envelope_are_none() {
        for address in ["ann@example.org", "ann+lists@mail.example.org", "root@localhost"] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
        let bad =
            ["ann", "@x", "ann@", "a@b@c", "ann@x>\r\nRCPT TO:<eve@y", "a b@x", "ann@x,eve@y", "ä@x.org"];
        for address in bad {
            assert!(check(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_connection_is_private_unless_it_stays_here_or_the_person_says_so() {
        assert_eq!(security(None, "mail.example", 587), Ok(Security::StartTls));
        assert_eq!(security(None, "mail.example", 465), Ok(Security::Encrypted));
        assert_eq!(security(None, "127.0.0.1", 25), Ok(Security::Open));
        assert_eq!(security(Some("none"), "mail.example", 25), Ok(Security::Open));
        assert_eq!(security(Some("STARTTLS"), "localhost", 25), Ok(Security::StartTls));
        assert!(security(Some("maybe"), "mail.example", 25).is_err());
    }
}
