//! Keys that say what they are by how they begin.

use std::ops::Range;

use super::look::{self, is_token};
use super::wrap;

/// A format of keys: how it begins, what follows, and how much of it.
struct Format {
    prefix: &'static str,
    tail: Tail,
    least: usize,
    most: usize,
}

/// What may follow a prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `-` and `_`.
    Token,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits in lower case.
    Hex,
    /// Letters, digits, `-`, `_` and dots.
    Dotted,
}

impl Tail {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Token => is_token(byte),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Dotted => is_token(byte) || byte == b'.',
        }
    }
}

impl Format {
    /// Whether `tail`, which ends at `end` in the text, makes a whole key.
    fn fits(&self, text: &[u8], tail: &[u8], end: usize) -> bool {
        let long = tail.len() >= self.least && (self.most == LONG || tail.len() <= self.most);
        let closed = text.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        long && closed && secretive(self, tail)
    }
}

const fn format(prefix: &'static str, tail: Tail, least: usize, most: usize) -> Format {
    Format { prefix, tail, least, most }
}

const LONG: usize = 512;

/// Every known beginning, longer ones before those they begin with.
const FORMATS: &[Format] = &[
    format("sk-ant-", Tail::Token, 16, LONG),
    format("sk-proj-", Tail::Token, 16, LONG),
    format("sk-or-", Tail::Token, 16, LONG),
    format("sk-", Tail::Token, 20, LONG),
    format("sk_live_", Tail::Plain, 16, LONG),
    format("sk_test_", Tail::Plain, 16, LONG),
    format("SK", Tail::Hex, 32, 32),
    format("rk_live_", Tail::Plain, 16, LONG),
    format("rk_test_", Tail::Plain, 16, LONG),
    format("whsec_", Tail::Plain, 16, LONG),
    format("ghp_", Tail::Plain, 30, LONG),
    format("gho_", Tail::Plain, 30, LONG),
    format("ghu_", Tail::Plain, 30, LONG),
    format("ghs_", Tail::Plain, 30, LONG),
    format("ghr_", Tail::Plain, 30, LONG),
    format("github_pat_", Tail::Token, 22, LONG),
    format("glpat-", Tail::Dotted, 20, LONG),
    format("gldt-", Tail::Token, 20, LONG),
    format("glrt-", Tail::Token, 20, LONG),
    format("glcbt-", Tail::Token, 20, LONG),
    format("glptt-", Tail::Token, 20, LONG),
    format("glsa_", Tail::Token, 20, LONG),
    format("xoxa-", Tail::Token, 12, LONG),
    format("xoxb-", Tail::Token, 12, LONG),
    format("xoxe-", Tail::Token, 12, LONG),
    format("xoxe.xoxp-", Tail::Token, 12, LONG),
    format("xoxe.xoxb-", Tail::Token, 12, LONG),
    format("xoxp-", Tail::Token, 12, LONG),
    format("xoxr-", Tail::Token, 12, LONG),
    format("xoxs-", Tail::Token, 12, LONG),
    format("xapp-", Tail::Token, 20, LONG),
    format("AKIA", Tail::Upper, 16, 16),
    format("ASIA", Tail::Upper, 16, 16),
    format("ABIA", Tail::Upper, 16, 16),
    format("ACCA", Tail::Upper, 16, 16),
    format("AIza", Tail::Token, 35, 35),
    format("ya29.", Tail::Token, 20, LONG),
    format("GOCSPX-", Tail::Token, 20, LONG),
    format("hf_", Tail::Plain, 30, LONG),
    format("npm_", Tail::Plain, 30, LONG),
    format("pypi-", Tail::Token, 40, LONG),
    format("rubygems_", Tail::Hex, 40, LONG),
    format("dckr_pat_", Tail::Token, 20, LONG),
    format("gsk_", Tail::Plain, 32, LONG),
    format("xai-", Tail::Plain, 32, LONG),
    format("r8_", Tail::Plain, 30, LONG),
    format("pplx-", Tail::Plain, 32, LONG),
    format("nvapi-", Tail::Token, 32, LONG),
    format("tvly-", Tail::Token, 20, LONG),
    format("SG.", Tail::Dotted, 40, LONG),
    format("key-", Tail::Hex, 32, 32),
    format("dop_v1_", Tail::Hex, 32, LONG),
    format("doo_v1_", Tail::Hex, 32, LONG),
    format("dor_v1_", Tail::Hex, 32, LONG),
    format("shpat_", Tail::Hex, 32, LONG),
    format("shpss_", Tail::Hex, 32, LONG),
    format("shpca_", Tail::Hex, 32, LONG),
    format("shppa_", Tail::Hex, 32, LONG),
    format("lin_api_", Tail::Plain, 30, LONG),
    format("ntn_", Tail::Plain, 40, LONG),
    format("figd_", Tail::Token, 30, LONG),
    format("sntrys_", Tail::Token, 30, LONG),
    format("sntryu_", Tail::Token, 30, LONG),
    format("hvs.", Tail::Token, 24, LONG),
    format("hvb.", Tail::Token, 24, LONG),
    format("ATATT3", Tail::Token, 40, LONG),
    format("AGE-SECRET-KEY-1", Tail::Upper, 50, LONG),
    format("PMAK-", Tail::Token, 40, LONG),
    format("CFPAT-", Tail::Token, 30, LONG),
    format("sbp_", Tail::Hex, 40, LONG),
    format("fo1_", Tail::Token, 30, LONG),
    format("vcp_", Tail::Plain, 24, LONG),
];

/// The beginnings, for the search; cut short, so that no other word to search for hides in one. Two letters alone
/// are too common to search for, so each is followed by what must follow.
pub(super) fn anchors() -> impl Iterator<Item = String> {
    FORMATS.iter().flat_map(|format| match format.prefix {
        short if short.len() < 3 => "0123456789abcdef".chars().map(|next| format!("{short}{next}")).collect(),
        prefix => vec![prefix.chars().take(7).collect()],
    })
}

/// The key that begins at `at`, if there is one.
pub(super) fn key(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at..)?;
    if !look::begins(bytes, at) {
        return None;
    }
    FORMATS.iter().filter(|format| rest.starts_with(format.prefix.as_bytes())).find_map(|format| {
        let from = at + format.prefix.len();
        let length = look::run(bytes, from, LONG * 2, |byte| format.tail.holds(byte));
        if let Some((tail, end)) = wrap::unwrapped(bytes, from, length, |byte| format.tail.holds(byte))
            && format.fits(bytes, &tail, end)
        {
            return Some(at..end);
        }
        let tail = bytes.get(from..from + length)?;
        let tail = if format.tail == Tail::Dotted { trim_dots(tail) } else { tail };
        let end = from + tail.len();
        format.fits(bytes, tail, end).then_some(at..end)
    })
}

/// A full stop ends a sentence, not a key.
fn trim_dots(tail: &[u8]) -> &[u8] {
    let dots = tail.iter().rev().take_while(|byte| **byte == b'.').count();
    tail.get(..tail.len() - dots).unwrap_or(tail)
}

/// Whether what follows a prefix is a key and not a name, a dummy or a row of the same character.
fn secretive(format: &Format, tail: &[u8]) -> bool {
    let mix = look::mix(tail);
    let lively = match format.tail {
        Tail::Upper => mix.digits > 0 && mix.upper > 0,
        Tail::Hex => mix.digits > 0 && mix.lower > 0,
        Tail::Plain | Tail::Token | Tail::Dotted => mix.digits > 0 && mix.longest >= 10,
    };
    let wordy = format.prefix == "sk-" && mix.upper == 0 && mix.longest < 24;
    lively && !wordy && !look::is_placeholder(tail)
}
