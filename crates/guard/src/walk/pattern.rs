//! Shell patterns: `*`, `?`, `[…]`, backslash.

/// Whether `text` matches the whole `pattern`. Time is at most the product of the two lengths.
pub fn glob_matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    matches(&pattern, &text)
}

/// The same on characters.
pub(crate) fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            back = Some((p + 1, t));
            p += 1;
            continue;
        }
        if let (Some(letter), Some((step, true))) = (text.get(t), one(pattern, p, text.get(t).copied())) {
            let _ = letter;
            p += step;
            t += 1;
            continue;
        }
        match back {
            Some((star, from)) => {
                p = star;
                t = from + 1;
                back = Some((star, from + 1));
            }
            None => return false,
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|letter| *letter == '*')
}

/// How many pattern characters stand for one text character at `at`, and whether it fits.
fn one(pattern: &[char], at: usize, letter: Option<char>) -> Option<(usize, bool)> {
    let letter = letter?;
    match *pattern.get(at)? {
        '?' => Some((1, true)),
        '\\' => {
            let next = *pattern.get(at + 1)?;
            Some((2, next == letter))
        }
        '[' => class(pattern, at, letter).or(Some((1, letter == '['))),
        plain => Some((1, plain == letter)),
    }
}

/// `[abc]`, `[a-z]`, `[!x]`, `[[:alpha:]]`.
fn class(pattern: &[char], at: usize, letter: char) -> Option<(usize, bool)> {
    let mut next = at + 1;
    let negated = matches!(pattern.get(next), Some('!' | '^'));
    if negated {
        next += 1;
    }
    let first = next;
    let mut hit = false;
    loop {
        let current = *pattern.get(next)?;
        if current == ']' && next > first {
            return Some((next + 1 - at, hit != negated));
        }
        if current == '[' && pattern.get(next + 1) == Some(&':') {
            let end = pattern.iter().skip(next).take(16).position(|c| *c == ']')?;
            let name: String = pattern.get(next + 2..(next + end).saturating_sub(1))?.iter().collect();
            hit |= named(&name, letter);
            next += end + 1;
            continue;
        }
        if pattern.get(next + 1) == Some(&'-') && pattern.get(next + 2).is_some_and(|c| *c != ']') {
            let high = *pattern.get(next + 2)?;
            hit |= (current..=high).contains(&letter);
            next += 3;
            continue;
        }
        hit |= current == letter;
        next += 1;
    }
}

fn named(name: &str, letter: char) -> bool {
    match name {
        "alpha" => letter.is_alphabetic(),
        "digit" => letter.is_ascii_digit(),
        "alnum" => letter.is_alphanumeric(),
        "lower" => letter.is_lowercase(),
        "upper" => letter.is_uppercase(),
        "space" => letter.is_whitespace(),
        "punct" => letter.is_ascii_punctuation(),
        _ => false,
    }
}

/// Most characters a trim or replacement looks at; longer values become unknown.
pub(crate) const MOST: usize = 2048;

/// The shortest or longest start of `text` that matches, as a count of characters.
pub(crate) fn start_match(pattern: &[char], text: &[char], greedy: bool) -> Option<usize> {
    if !pattern.iter().any(|c| matches!(c, '*' | '?' | '[' | '\\')) {
        return text.starts_with(pattern).then_some(pattern.len());
    }
    let fits = |length: &usize| text.get(..*length).is_some_and(|head| matches(pattern, head));
    if greedy { (0..=text.len()).rev().find(fits) } else { (0..=text.len()).find(fits) }
}

/// Where the shortest or longest end of `text` that matches begins.
pub(crate) fn end_match(pattern: &[char], text: &[char], greedy: bool) -> Option<usize> {
    let fits = |from: &usize| text.get(*from..).is_some_and(|tail| matches(pattern, tail));
    if greedy { (0..=text.len()).find(fits) } else { (0..=text.len()).rev().find(fits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_question_marks_and_classes_match_as_in_the_shell() {
        assert!(glob_matches("/b?n/r[l-n]", "/bin/rm"));
        assert!(glob_matches("*.py[co]", "x.pyc"));
        assert!(!glob_matches("[!a]b", "ab"));
        assert!(glob_matches("[[:alpha:]]m", "rm"));
        assert!(!glob_matches("a*b", "ac"));
    }
}
