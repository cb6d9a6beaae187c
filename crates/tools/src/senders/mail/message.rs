//! Writes a mail (RFC 5322 with MIME). Pure: the moment and everything else come from outside.
//!
//! Text and files are written in base64, so that no line of them can be taken for anything else, and
//! header values that are not plain are written as encoded words, so that none can end its line.

use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::deliver::Letter;
use hermes_core::outcome::Attachment;

use crate::hash::sha256_hex;

/// Longest line of base64.
const LINE: usize = 76;

/// Bytes of one encoded word, before encoding.
const WORD: usize = 42;

/// Longest plain header value that is written as it is.
const PLAIN: usize = 200;

/// What a mail is made of.
pub(crate) struct Mail<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) letter: &'a Letter,
    /// Since 1970.
    pub(crate) at: Duration,
}

impl Mail<'_> {
    /// The name that no other mail has.
    pub(crate) fn id(&self) -> String {
        let moment = self.at.as_nanos().to_string();
        let parts = [self.from, self.to, &moment, &self.letter.text];
        let digest: String = sha256_hex(&parts.map(str::as_bytes)).chars().take(32).collect();
        let domain = self.from.rsplit('@').next().unwrap_or("localhost");
        format!("<{digest}@{domain}>")
    }

    /// The whole mail, every line ended.
    pub(crate) fn write(&self) -> Vec<u8> {
        let subject = self.letter.subject.clone().unwrap_or_else(|| first_line(&self.letter.text));
        let mut mail = String::new();
        let mut header = |name: &str, value: &str| {
            // Writing into a string cannot fail.
            let _ = write!(mail, "{name}: {value}\r\n");
        };
        header("From", &format!("<{}>", self.from));
        header("To", &format!("<{}>", self.to));
        header("Subject", &value(&subject));
        header("Date", &date(self.at.as_secs()));
        header("Message-ID", &self.id());
        header("Auto-Submitted", "auto-generated");
        header("MIME-Version", "1.0");
        if self.letter.files.is_empty() {
            mail.push_str(&text_part(&self.letter.text));
            return mail.into_bytes();
        }
        let id = self.id();
        let digest = id.trim_start_matches('<').split('@').next().unwrap_or_default();
        // Base64 has no dot, so no part can hold the separator.
        let boundary = format!("part.{digest}");
        let _ = write!(mail, "Content-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\r\n");
        let parts =
            std::iter::once(text_part(&self.letter.text)).chain(self.letter.files.iter().map(file_part));
        for part in parts {
            let _ = write!(mail, "--{boundary}\r\n{part}");
        }
        let _ = write!(mail, "--{boundary}--\r\n");
        mail.into_bytes()
    }
}

/// The beginning of a text, for those who gave no heading.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no subject)");
    let short: String = line.chars().take(70).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

fn text_part(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    format!(
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
        lines(text.as_bytes())
    )
}

fn file_part(file: &Attachment) -> String {
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | '+');
    let known = !file.media_type.is_empty() && file.media_type.chars().all(is_token);
    let media_type = if known { file.media_type.as_str() } else { "application/octet-stream" };
    format!(
        "Content-Type: {media_type}\r\nContent-Disposition: attachment; filename*=utf-8''{}\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}",
        percent(&file.name),
        lines(&file.bytes)
    )
}

/// Base64 in lines.
fn lines(bytes: &[u8]) -> String {
    let encoded = STANDARD.encode(bytes);
    let mut text = String::with_capacity(encoded.len() + encoded.len() / LINE * 2 + 2);
    for (at, c) in encoded.chars().enumerate() {
        if at > 0 && at % LINE == 0 {
            text.push_str("\r\n");
        }
        text.push(c);
    }
    text.push_str("\r\n");
    text
}

/// A header value: as it is when it is plain, else as encoded words (RFC 2047).
fn value(text: &str) -> String {
    let is_plain = |c: char| c == ' ' || c.is_ascii_graphic();
    if text.len() <= PLAIN && text.chars().all(is_plain) && !text.contains("=?") {
        return text.trim().to_owned();
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if word.len() + c.len_utf8() > WORD {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let encoded: Vec<String> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
    encoded.join("\r\n ")
}

/// A value as RFC 8187 writes it.
fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// A moment as mails write it.
fn date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = seconds / 86_400;
    let (year, month, day) = civil(days);
    let weekday = usize::try_from(days % 7).ok().and_then(|at| DAYS.get(at)).unwrap_or(&"Thu");
    let name = usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).unwrap_or(&"Jan");
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{weekday}, {day} {name} {year} {hour:02}:{minute:02}:{second:02} +0000")
}

/// Year, month and day of a number of days since 1970; years are counted from March, so that the day
/// that comes and goes is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let from_era = days + 719_468;
    let (era, of_era) = (from_era / 146_097, from_era % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mail(letter: &Letter) -> String {
        let at = Duration::from_secs(1_700_000_000);
        let mail = Mail { from: "bot@example.org", to: "ann@example.org", letter, at };
        String::from_utf8(mail.write()).unwrap()
    }

    #[test]
    fn a_mail_has_its_headers_and_its_text() {
        let text = mail(&Letter::text("Hello.\nSecond line."));

        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(
            "From: <bot@example.org>\r\nTo: <ann@example.org>\r\nSubject: Hello.\r\n\
             Date: Tue, 14 Nov 2023 22:13:20 +0000\r\nMessage-ID: <"
        ));
        let decoded = STANDARD.decode(body.replace("\r\n", "")).unwrap();
        assert_eq!(decoded, b"Hello.\r\nSecond line.");
    }

    #[test]
    fn files_come_as_parts() {
        let file = Attachment {
            media_type: "audio/ogg".to_owned(),
            name: "a b.ogg".to_owned(),
            bytes: vec![1; 100].into(),
        };
        let text = mail(&Letter { files: vec![file], ..Letter::text("x") });

        assert!(text.contains("multipart/mixed") && text.contains("filename*=utf-8''a%20b.ogg"));
        assert_eq!(text.matches("\r\n--part.").count(), 3, "{text}");
        assert!(text.ends_with("--\r\n"));
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(date(0), "Thu, 1 Jan 1970 00:00:00 +0000");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 +0000");
        assert_eq!(date(4_107_542_399), "Sun, 28 Feb 2100 23:59:59 +0000");
    }

    proptest! {
        #[test]
        fn no_text_can_write_a_header_or_a_line_that_is_too_long(
            subject in any::<String>(),
            body in any::<String>(),
            name in any::<String>(),
        ) {
            let file = Attachment { media_type: name.clone(), name, bytes: body.clone().into_bytes().into() };
            let letter = Letter { text: body, subject: Some(subject), files: vec![file] };

            let text = mail(&letter);

            let head = text.split("\r\n\r\n").next().unwrap();
            let names: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with(' '))
                .map(|line| line.split(':').next().unwrap()).collect();
            prop_assert_eq!(names, ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
                "MIME-Version", "Content-Type"]);
            prop_assert!(text.is_ascii());
            prop_assert!(text.split("\r\n").all(|line| line.len() < 998 && !line.contains(['\r', '\n'])));
        }
    }
}
