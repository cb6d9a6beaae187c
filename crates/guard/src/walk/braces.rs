//! Brace lists and ranges: `{a,b}`, `{1..9}`, `{a..e}`.

use super::flow::{BRACE_CLOSE, BRACE_COMMA, BRACE_OPEN};

/// Most words one word may become.
const MOST: usize = 256;

/// Expands a word in which live braces are marked; unmatched marks turn back into themselves.
pub(crate) fn expand(word: &str) -> Vec<String> {
    let mut out = Vec::new();
    into(word, &mut out, 0);
    out.into_iter().map(|word| plain(&word)).collect()
}

/// Turns marks back into the characters they stand for.
pub(crate) fn plain(word: &str) -> String {
    word.chars()
        .map(|letter| match letter {
            BRACE_OPEN => '{',
            BRACE_CLOSE => '}',
            BRACE_COMMA => ',',
            other => other,
        })
        .collect()
}

fn into(word: &str, out: &mut Vec<String>, depth: u8) {
    if out.len() >= MOST {
        return;
    }
    let Some((head, inner, tail)) = (if depth > 12 { None } else { first_group(word) }) else {
        out.push(word.to_owned());
        return;
    };
    let Some(choices) = choices(inner) else {
        // `{}` and `{x}` stay as they are; what follows may still expand.
        let mut rest = Vec::new();
        into(tail, &mut rest, depth + 1);
        out.extend(rest.into_iter().map(|tail| format!("{head}{{{inner}}}{tail}")));
        return;
    };
    for choice in choices {
        into(&format!("{head}{choice}{tail}"), out, depth + 1);
        if out.len() >= MOST {
            return;
        }
    }
}

fn first_group(word: &str) -> Option<(&str, &str, &str)> {
    let open = word.find(BRACE_OPEN)?;
    let mut depth = 0;
    for (at, letter) in word.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            BRACE_OPEN => depth += 1,
            BRACE_CLOSE => {
                depth -= 1;
                if depth == 0 {
                    let head = word.get(..open)?;
                    let inner = word.get(open + BRACE_OPEN.len_utf8()..at)?;
                    let tail = word.get(at + BRACE_CLOSE.len_utf8()..)?;
                    return Some((head, inner, tail));
                }
            }
            _ => {}
        }
    }
    None
}

fn choices(inner: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for letter in inner.chars() {
        match letter {
            BRACE_OPEN => depth += 1,
            BRACE_CLOSE => depth -= 1,
            BRACE_COMMA if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    if parts.len() > 1 { Some(parts) } else { range(inner) }
}

fn range(inner: &str) -> Option<Vec<String>> {
    let mut ends = inner.split("..");
    let (from, to) = (ends.next()?, ends.next()?);
    let step: i64 = ends.next().and_then(|step| step.parse().ok()).unwrap_or(1);
    let step = step.unsigned_abs().max(1);
    let letters = |text: &str| {
        text.parse::<char>().ok().filter(char::is_ascii_alphabetic).map(|c| i64::from(u32::from(c)))
    };
    let (low, high, letter) = match (from.parse::<i64>(), to.parse::<i64>()) {
        (Ok(low), Ok(high)) => (low, high, false),
        _ => (letters(from)?, letters(to)?, true),
    };
    let count = (low.abs_diff(high) / step).min(MOST as u64 - 1);
    let mut out = Vec::new();
    for at in 0..=count {
        let offset = i64::try_from(at * step).ok()?;
        let value = if low <= high { low + offset } else { low - offset };
        out.push(if letter {
            u32::try_from(value).ok().and_then(char::from_u32)?.to_string()
        } else {
            value.to_string()
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str) -> String {
        text.chars()
            .map(|c| match c {
                '{' => BRACE_OPEN,
                '}' => BRACE_CLOSE,
                ',' => BRACE_COMMA,
                other => other,
            })
            .collect()
    }

    #[test]
    fn lists_and_ranges_become_words() {
        assert_eq!(expand(&live("{rm,-rf,/}")), ["rm", "-rf", "/"]);
        assert_eq!(expand(&live("a{b,c{d,e}}")), ["ab", "acd", "ace"]);
        assert_eq!(expand(&live("{1..3}")), ["1", "2", "3"]);
        assert_eq!(expand(&live("{}x{a}")), ["{}x{a}"]);
    }
}
