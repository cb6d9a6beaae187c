//! Secrets by the name they are given: `password=…`, `"api_key": "…"`, `token: …`, `--secret …`, `<password>…`.

use std::ops::Range;

use super::look;

/// How readily a value is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// People choose it; it may be short and wordlike.
    Password,
    /// Machines make it; it looks random.
    Key,
}

/// Parts of names that announce a secret.
pub(super) const WORDS: &[(&str, Word)] = &[
    ("password", Word::Password),
    ("passwd", Word::Password),
    ("passphrase", Word::Password),
    ("pwd", Word::Password),
    ("secret", Word::Key),
    ("token", Word::Key),
    ("apikey", Word::Key),
    ("api_key", Word::Key),
    ("api-key", Word::Key),
    ("api key", Word::Key),
    ("access_key", Word::Key),
    ("access-key", Word::Key),
    ("accesskey", Word::Key),
    ("account_key", Word::Key),
    ("accountkey", Word::Key),
    ("private_key", Word::Key),
    ("privatekey", Word::Key),
    ("signing_key", Word::Key),
    ("encryption_key", Word::Key),
    ("master_key", Word::Key),
    ("credential", Word::Key),
    ("_auth", Word::Key),
    ("webhook_url", Word::Key),
];

/// Ends of names that speak about a secret without being one.
const ABOUT: [&str; 34] = [
    "s",
    "count",
    "limit",
    "length",
    "len",
    "size",
    "type",
    "name",
    "id",
    "url",
    "uri",
    "path",
    "file",
    "dir",
    "field",
    "env",
    "var",
    "expiry",
    "expires",
    "expires_in",
    "expiration",
    "ttl",
    "age",
    "policy",
    "hint",
    "label",
    "prompt",
    "error",
    "status",
    "usage",
    "budget",
    "version",
    "format",
    "index",
];

/// Most bytes of a value.
const LONGEST: usize = 512;

/// The value assigned to the name that holds the word found at `word`.
pub(super) fn value(text: &str, word: Range<usize>, kind: Word) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest =
        look::run(bytes, word.end, 48, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    let name_end = word.end + rest;
    let after = bytes.get(word.end..name_end)?;
    if about(after) {
        return None;
    }
    let head = bytes
        .get(..word.start)?
        .iter()
        .rev()
        .take(48)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        .count();
    let name = bytes.get(word.start - head..name_end)?;
    let path = (word.start - head).checked_sub(2).and_then(|at| bytes.get(at..at + 2)) == Some(b"::");
    let sign = separator(bytes, name_end, word.start - head).filter(|_| !path)?;
    let place = match quote(bytes, sign.end) {
        Some(open) => quoted(bytes, open, kind)?,
        None => bare(bytes, sign.end, name, sign.kind, kind)?,
    };
    (!place.is_empty()).then_some(place)
}

/// Whether the end of a name makes it a name about a secret (`token_count`, `passwordHint`, `secrets`).
fn about(after: &[u8]) -> bool {
    let text = String::from_utf8_lossy(after).to_ascii_lowercase();
    let last = text.trim_start_matches(['_', '-', '.']);
    let part = last.rsplit(['_', '-', '.']).next().unwrap_or_default();
    ABOUT.contains(&last) || ABOUT.contains(&part)
}

/// What stands between name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equals,
    Colon,
    Flag,
    Tag,
}

struct Separator {
    kind: Sign,
    end: usize,
}

/// The separator after a name that ends at `at` and begins at `from`.
fn separator(bytes: &[u8], at: usize, from: usize) -> Option<Separator> {
    let blank = |b: u8| b == b' ' || b == b'\t';
    let before = |back: usize| from.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    if bytes.get(at) == Some(&b'>') && before(1) == Some(b'<') {
        return Some(Separator { kind: Sign::Tag, end: at + 1 });
    }
    let flag = bytes.get(from..from + 2) == Some(b"--");
    if flag && bytes.get(at).is_some_and(|b| blank(*b)) && bytes.get(at + 1) != Some(&b'-') {
        return Some(Separator { kind: Sign::Flag, end: at + look::run(bytes, at, 8, blank) });
    }
    let closing = at + look::run(bytes, at, 6, |b| matches!(b, b'"' | b'\'' | b'\\' | b']'));
    let sign = closing + look::run(bytes, closing, 40, blank);
    let (kind, end) = match bytes.get(sign..)? {
        [b':', b'=', ..] | [b'=', b'>', ..] => (Sign::Equals, sign + 2),
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => return None,
        [b'=', ..] => (Sign::Equals, sign + 1),
        [b':', ..] => (Sign::Colon, sign + 1),
        _ => return None,
    };
    Some(Separator { kind, end: end + look::run(bytes, end, 40, blank) })
}

/// An opening quotation mark: how many backslashes escape it, which mark, where the value begins.
#[derive(Clone, Copy)]
struct Open {
    escapes: usize,
    mark: u8,
    from: usize,
}

fn quote(bytes: &[u8], at: usize) -> Option<Open> {
    let prefix =
        usize::from(matches!(bytes.get(at..at + 2), Some([b'b' | b'r' | b'f' | b'$', b'"' | b'\''])));
    let escapes = look::run(bytes, at + prefix, 8, |b| b == b'\\');
    let mark = *bytes.get(at + prefix + escapes)?;
    matches!(mark, b'"' | b'\'' | b'`').then_some(Open { escapes, mark, from: at + prefix + escapes + 1 })
}

/// Where a quoted value ends: at the mark that closes it, or at one that closes a string further out.
fn close(bytes: &[u8], open: Open) -> Option<usize> {
    let mut slashes = 0_usize;
    for (at, byte) in bytes.get(open.from..)?.iter().enumerate().take(LONGEST) {
        let at = open.from + at;
        match *byte {
            b'\n' | b'\r' => return None,
            b'\\' => slashes += 1,
            byte if byte == open.mark || byte == b'"' => match closes(slashes, open.escapes) {
                Some(true) => return at.checked_sub(open.escapes),
                Some(false) => return Some(at),
                None => slashes = 0,
            },
            _ => slashes = 0,
        }
    }
    None
}

/// What a mark after so many backslashes does to a string whose own marks have `own` of them (0, 1, 3, 7 for a
/// string in a string in a string): close it, close one further out, or nothing. Each level of nesting doubles the
/// backslashes inside it.
fn closes(mut slashes: usize, mut own: usize) -> Option<bool> {
    loop {
        match (own, slashes % 2) {
            (0, 0) => return Some(true),
            (0, _) => return None,
            (_, 0) => return Some(false),
            _ => (slashes, own) = (slashes / 2, own / 2),
        }
    }
}

/// The inside of a quoted value, if it looks like a secret.
fn quoted(bytes: &[u8], open: Open, kind: Word) -> Option<Range<usize>> {
    let end = close(bytes, open)?;
    let word = bytes.get(open.from..end)?;
    let mix = look::mix(word);
    if word.iter().any(u8::is_ascii_whitespace) || look::is_placeholder(word) || is_reference(word) {
        return None;
    }
    let believed = match kind {
        Word::Password => {
            let varied = mix.digits > 0 || symbols(word) > 0 || (mix.upper > 1 && mix.lower > 1);
            word.len() >= 6 && (varied || (word.len() >= 12 && !word.contains(&b'_')))
        }
        Word::Key => word.len() >= 8 && is_keylike(word),
    };
    believed.then_some(open.from..end)
}

/// A value without quotation marks, if it looks like a secret and not like code.
fn bare(bytes: &[u8], from: usize, name: &[u8], sign: Sign, kind: Word) -> Option<Range<usize>> {
    let shouted = sign == Sign::Equals && !name.iter().any(u8::is_ascii_lowercase);
    let stop = |b: u8| {
        b.is_ascii_whitespace()
            || b.is_ascii_control()
            || matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'&' | b';' | b'<' | b'>')
            || (!shouted && matches!(b, b',' | b')' | b'}' | b']'))
    };
    let length = look::run(bytes, from, LONGEST, |b| !stop(b));
    let word = bytes.get(from..from + length)?;
    let typed = sign == Sign::Colon && declares(bytes, from + length);
    if typed || look::is_placeholder(word) || is_reference(word) || is_code(word) {
        return None;
    }
    let mix = look::mix(word);
    let letters = mix.lower + mix.upper;
    let believed = match kind {
        Word::Password if letters == 0 => shouted && word.len() >= 6,
        Word::Password => word.len() >= 6 && (mix.digits > 0 || symbols(word) > 0 || shouted),
        Word::Key => word.len() >= 8 && mix.digits > 0 && is_keylike(word),
    };
    believed.then_some(from..from + length)
}

/// Whether an equals sign follows: then what stands before it is a type, not a value.
fn declares(bytes: &[u8], at: usize) -> bool {
    let blanks = look::run(bytes, at, 8, |b| b == b' ');
    blanks > 0 && bytes.get(at + blanks) == Some(&b'=')
}

/// How many characters of a word are neither letters nor digits nor what names are joined by.
fn symbols(word: &[u8]) -> usize {
    word.iter().filter(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.')).count()
}

/// Whether a value looks made by a machine.
fn is_keylike(word: &[u8]) -> bool {
    let mix = look::mix(word);
    let letters = mix.lower + mix.upper;
    let spread = mix.digits >= 2 && letters >= 2 && (mix.longest >= 8 || mix.digits >= 4);
    let cased = mix.upper >= 3 && mix.lower >= 3 && mix.longest >= 20;
    spread || cased
}

/// Whether a value names a place where the secret is kept: a path, an address, a version.
fn is_reference(word: &[u8]) -> bool {
    let plain_path = word.starts_with(b"/") && word.iter().skip(1).any(|b| *b == b'/') && word.len() < 40;
    plain_path
        || word.starts_with(b"./")
        || word.starts_with(b"~/")
        || word.starts_with(b"arn:")
        || word.starts_with(b"vault:")
        || word.starts_with(b"op://")
        || word.starts_with(b"http://")
        || word.starts_with(b"file:")
        || word.starts_with(b"env:")
}

/// Whether a bare value is an expression of a program.
fn is_code(word: &[u8]) -> bool {
    let mix = look::mix(word);
    let named = |extra: &[u8]| word.iter().all(|b| b.is_ascii_alphanumeric() || extra.contains(b));
    let constant = mix.lower == 0 && mix.longest < 16 && word.contains(&b'_') && named(b"_");
    let field = |pair: &[u8]| matches!(pair, [b'.', next] if next.is_ascii_lowercase());
    let dotted = mix.longest < 20 && named(b"_.:") && word.windows(2).any(field);
    let number = word.starts_with(b"0x") && word.len() <= 18 && named(b"_,");
    let joined = word.windows(2).any(|pair| pair == b"::" || pair == b"->");
    constant || dotted || number || joined || word.iter().any(|b| matches!(b, b'(' | b'[' | b'{'))
}
