//! Constants that are decoded on the way: base64, numbers, letters moved.

use super::Program;
use crate::programs::encode;
use crate::programs::tokens::Token;

impl Program {
    /// Constants that are decoded on the way.
    pub(super) fn decoded(&self, at: usize) -> Option<(String, usize)> {
        Some(match self.list.get(at)? {
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "b64decode" | "decode64" | "base64_decode" | "atob" | "decode_base64"
                ) =>
            {
                let inner = self.constant(at + 2)?;
                let bytes = encode::decode64(&inner)?;
                (String::from_utf8_lossy(&bytes).into_owned(), at + 4)
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "MIME" | "base64" | "Base64" | "bytes" | "codecs" | "os" | "Buffer"
                ) && self.sign(at + 1, '.') =>
            {
                return self.term(at + 2);
            }
            Token::Name(name)
                if matches!(name.as_str(), "__import__" | "require")
                    && matches!(self.list.get(at + 2), Some(Token::Text(_)))
                    && self.sign(at + 3, ')')
                    && self.sign(at + 4, '.') =>
            {
                return self.term(at + 5);
            }
            Token::Name(_)
                if self.sign(at + 1, '.')
                    && matches!(
                        self.name(at + 2),
                        Some("b64decode" | "fromhex" | "unhexlify" | "decode64" | "normalize")
                    ) =>
            {
                // `import base64 as b; b.b64decode(…)`
                return self.term(at + 2);
            }
            Token::Name(name) if name == "normalize" && self.sign(at + 1, '(') => {
                // What looks like a letter becomes that letter.
                let inner = self.second(at + 2)?;
                let end = self.closing(at + 2, ')');
                (crate::reveal::shown(&inner).unwrap_or(inner), end + 1)
            }
            Token::Name(name) if name == "decode" && self.sign(at + 1, '(') => {
                let inner = self.constant(at + 2)?;
                let kind = self.second(at + 2)?;
                let text = match kind.replace(['-', '_'], "").as_str() {
                    "rot13" => turned(&inner),
                    "hex" => hex(&inner)?,
                    "base64" => String::from_utf8_lossy(&encode::decode64(&inner)?).into_owned(),
                    _ => return None,
                };
                (text, at + 6)
            }
            Token::Name(name) if matches!(name.as_str(), "fromhex" | "unhexlify" | "hex2bin") => {
                let inner = self.constant(at + 2)?;
                (hex(&inner)?, at + 4)
            }
            Token::Name(name) if name == "from" && self.sign(at + 1, '(') => {
                let inner = self.constant(at + 2)?;
                let kind = self.constant(at + 4).unwrap_or_default();
                let text = if kind == "hex" {
                    hex(&inner)?
                } else {
                    String::from_utf8_lossy(&encode::decode64(&inner)?).into_owned()
                };
                (text, at + 6)
            }
            _ => return None,
        })
    }
}

/// Letters moved by half the alphabet.
fn turned(text: &str) -> String {
    let moved = |letter: char, first: u8| char::from((letter as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => moved(letter, b'a'),
            'A'..='Z' => moved(letter, b'A'),
            other => other,
        })
        .collect()
}

/// Digits as the text they stand for.
pub(super) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .filter_map(|pair| if let [high, low] = pair { u8::try_from(high * 16 + low).ok() } else { None })
        .collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
