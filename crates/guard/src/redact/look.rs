//! How a word looks: like a secret, a placeholder, an identifier.

/// Whether a byte can stand in a token.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// How many bytes from `at` on satisfy `keep`, at most `most`.
pub(super) fn run(text: &[u8], at: usize, most: usize, keep: impl Fn(u8) -> bool) -> usize {
    text.get(at..).unwrap_or_default().iter().take(most).take_while(|byte| keep(**byte)).count()
}

/// Whether a word may begin at `at`: nothing wordlike stands before it, a written line break or the minus sign of a
/// changed line aside.
pub(super) fn begins(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| text.get(at)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(b'-') => matches!((before(3), before(2)), (_, None | Some(b'\n')) | (Some(b'\\'), Some(b'n'))),
        Some(byte) => !(byte.is_ascii_alphanumeric() || byte == b'_'),
    }
}

/// What a word is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mix {
    pub(super) digits: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) other: usize,
    /// Longest part without `-`, `_` or `.`.
    pub(super) longest: usize,
}

/// Counts what a word is made of.
pub(super) fn mix(word: &[u8]) -> Mix {
    let mut mix = Mix::default();
    let mut part = 0;
    for byte in word {
        match byte {
            b'0'..=b'9' => mix.digits += 1,
            b'a'..=b'z' => mix.lower += 1,
            b'A'..=b'Z' => mix.upper += 1,
            _ => mix.other += 1,
        }
        part = if matches!(byte, b'-' | b'_' | b'.') { 0 } else { part + 1 };
        mix.longest = mix.longest.max(part);
    }
    mix
}

/// Whether a word looks made by chance: a long part with digits among the letters.
pub(super) fn is_random(word: &[u8]) -> bool {
    let mix = mix(word);
    mix.longest >= 12 && mix.digits >= 2 && mix.lower + mix.upper >= 4 && !is_placeholder(word)
}

/// Whether a word stands for a secret that is to be put there, or says that one was taken out. The first 64 bytes
/// tell.
pub(super) fn is_placeholder(word: &[u8]) -> bool {
    const PARTS: [&str; 22] = [
        "...",
        "***",
        "xxxx",
        "example",
        "your",
        "placeholder",
        "changeme",
        "change_me",
        "change-me",
        "dummy",
        "redacted",
        "insert",
        "replace",
        "sample",
        "fake",
        "foobar",
        "<",
        "${",
        "$(",
        "{{",
        "%(",
        "…",
    ];
    const WORDS: [&str; 32] = [
        "password",
        "passwd",
        "passphrase",
        "pass",
        "secret",
        "token",
        "apikey",
        "api_key",
        "api-key",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "text",
        "hidden",
        "required",
        "optional",
        "boolean",
        "number",
        "any",
        "object",
        "default",
        "empty",
        "unset",
        "disabled",
        "enabled",
        "masked",
        "username",
    ];
    let text = String::from_utf8_lossy(word.get(..64).unwrap_or(word)).to_ascii_lowercase();
    let first = text.chars().next();
    let same = first.is_some_and(|first| text.chars().all(|c| c == first));
    let opens = text.starts_with(['$', '<', '{', '[', '%', '(', '@', '&', '`', '#', '*']);
    text.is_empty()
        || same
        || opens
        || WORDS.contains(&text.as_str())
        || PARTS.iter().any(|part| text.contains(part))
}
