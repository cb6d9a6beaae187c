//! Lines of `cmd`: how they fall apart into commands, words and files.

/// Whether what stands between two marks can be a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:~,-=()*. ".contains(&byte))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// `~from,count` of a text; negative numbers count from its end.
pub(super) fn cut(value: &str, places: &str) -> String {
    let letters: Vec<char> = value.chars().collect();
    let count = i64::try_from(letters.len()).unwrap_or(i64::MAX);
    let (from, length) = places.split_once(',').map_or((places, None), |(from, length)| (from, Some(length)));
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let from = number(from).map_or(0, |at| if at < 0 { (count + at).max(0) } else { at.min(count) });
    let to = match length.and_then(number) {
        None => count,
        Some(length) if length < 0 => (count + length).max(from),
        Some(length) => from.saturating_add(length).min(count),
    };
    let (from, to) = (usize::try_from(from).unwrap_or_default(), usize::try_from(to).unwrap_or_default());
    letters.get(from..to.max(from)).unwrap_or_default().iter().collect()
}

/// The body of a loop with its variable replaced: `%f`, `%%f`, `%~f`, `%~dpf`.
pub(super) fn with_thing(body: &str, variable: char, thing: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let after = after.trim_start_matches('%');
        let plain = after.trim_start_matches('~');
        let tilde = plain.len() < after.len();
        let letters = plain.find(variable).filter(|at| {
            *at == 0 || tilde && *at < 8 && plain.bytes().take(*at).all(|b| b.is_ascii_lowercase())
        });
        if let Some(at) = letters {
            out.push_str(thing);
            rest = plain.get(at + variable.len_utf8()..).unwrap_or_default();
        } else {
            out.push('%');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The commands of a line, and whether each is piped into the next. The body of a loop stays whole.
pub(super) fn parts(line: &str) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    let mut part = String::new();
    let mut quoted = false;
    let mut depth = 0_usize;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '^' => {
                // What follows is meant as it is; it is dropped where variables are replaced.
                part.push(letter);
                part.extend(letters.next());
            }
            '"' => {
                quoted = !quoted;
                part.push(letter);
            }
            '(' if !quoted => {
                depth += 1;
                part.push(if is_loop(&part) || !part.trim().is_empty() { '(' } else { ' ' });
            }
            ')' if !quoted => {
                depth = depth.saturating_sub(1);
                part.push(if is_loop(&part) || part.contains('(') { ')' } else { ' ' });
            }
            '&' | '|' if !(quoted || part.ends_with('>') || depth > 0 && is_loop(&part)) => {
                let twice = letters.peek() == Some(&letter);
                if twice {
                    letters.next();
                }
                out.push((std::mem::take(&mut part), letter == '|' && !twice));
            }
            _ => part.push(letter),
        }
    }
    out.push((part, false));
    out
}

pub(super) fn is_loop(part: &str) -> bool {
    part.trim_start_matches(['@', '(', ' ']).get(..4).is_some_and(|start| start.eq_ignore_ascii_case("for "))
}

pub(super) fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = match text.strip_prefix('"') {
        Some(inner) => inner.find('"').map_or(text.len(), |at| at + 2),
        None => text.find([' ', '\t', '(', ',']).filter(|at| *at > 0).unwrap_or(text.len()),
    };
    text.get(..end).unwrap_or(text)
}

/// The words of a command, and whether each was quoted.
pub(super) fn words(line: &str) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut any) = (false, false);
    for letter in line.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                any = true;
            }
            ' ' | '\t' | ',' if !quoted => {
                if !word.is_empty() {
                    out.push((std::mem::take(&mut word), any));
                }
                any = false;
            }
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        out.push((word, any));
    }
    out
}

/// A name and the option that touches it: `del/q`, `cd\`.
pub(super) fn split_name(word: &str) -> (&str, &str) {
    match word.find('/').filter(|at| *at > 1) {
        Some(at)
            if !word.contains('\\')
                && word.get(..at).is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphabetic())) =>
        {
            word.split_at(at)
        }
        _ => (word, ""),
    }
}

/// A line without its redirections, and the files it writes or appends to.
pub(super) fn redirected(line: &str) -> (String, Vec<(String, bool)>) {
    if !line.contains('>') {
        return (line.to_owned(), Vec::new());
    }
    let mut files = Vec::new();
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('>') {
        let before = rest.get(..at).unwrap_or_default();
        out.push_str(before.strip_suffix(['1', '2']).filter(|text| text.ends_with(' ')).unwrap_or(before));
        let after = rest.get(at + 1..).unwrap_or_default();
        let append = after.starts_with('>');
        let after = after.trim_start_matches('>').trim_start();
        let file = first_word(after);
        files.push((file.trim_matches('"').to_owned(), append));
        rest = after.get(file.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    (out, files)
}
