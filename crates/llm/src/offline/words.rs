//! A request taken apart: what is quoted, what looks like a path or an address, what is left.

/// A request in words.
#[derive(Debug, Clone)]
pub(super) struct Request<'a> {
    /// As it was written.
    pub(super) text: &'a str,
    /// Without what is quoted, in lower case, punctuation as spaces: for comparing words.
    pub(super) plain: Vec<String>,
    /// What stands in backticks, in order.
    pub(super) code: Vec<&'a str>,
    /// What stands in quotes, in order.
    pub(super) quoted: Vec<&'a str>,
}

impl<'a> Request<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.trim();
        let (mut code, mut quoted, mut bare) = (Vec::new(), Vec::new(), String::new());
        let mut rest = text;
        while let Some(at) = rest.find(['`', '"', '“', '\'']) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let opens = from.chars().next().unwrap_or('"');
            // An apostrophe inside a word is not a quote.
            let inside_word = opens == '\'' && before.ends_with(char::is_alphanumeric);
            let ticks = if from.starts_with("```") { "```" } else { "`" };
            let closes = match opens {
                '`' => ticks,
                '“' => "”",
                '\'' => "'",
                _ => "\"",
            };
            let opened = if opens == '`' { ticks.len() } else { opens.len_utf8() };
            let inner = from.get(opened..).unwrap_or_default();
            let end = inner.find(closes).filter(|_| !inside_word);
            bare.push_str(before);
            let Some(end) = end else {
                bare.push(opens);
                rest = inner;
                continue;
            };
            let (piece, after) = inner.split_at_checked(end).unwrap_or((inner, ""));
            if opens == '`' {
                code.push(without_language(piece, ticks));
            } else {
                quoted.push(piece);
            }
            bare.push(' ');
            rest = after.get(closes.len()..).unwrap_or_default();
        }
        bare.push_str(rest);
        let plain = bare
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~')))
            .map(|word| word.trim_matches(['.', '-']).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        Self { text, plain, code, quoted }
    }

    /// Whether a word of the request is one of these.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        self.plain.iter().any(|word| words.contains(&word.as_str()))
    }

    /// The first JSON object in the request.
    pub(super) fn object(&self) -> Option<serde_json::Map<String, serde_json::Value>> {
        let from = self.text.get(self.text.find('{')?..)?;
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<serde_json::Value>();
        if let Ok(serde_json::Value::Object(object)) = values.next()? {
            return Some(object);
        }
        let end = from.rfind('}')?;
        hermes_core::json::parse_arguments(from.get(..=end)?).ok().map(|parsed| parsed.value)
    }

    /// The words as they were written, cut at spaces, without punctuation at their ends.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &'a str> {
        self.text.split_whitespace().map(|token| {
            token
                .trim_matches(|c: char| matches!(c, ',' | ';' | '!' | '?' | '"' | '\'' | '`' | '(' | ')'))
                .trim_end_matches(['.', ':'])
        })
    }

    /// What looks like a path: quoted or not, with a slash, a tilde or an ending.
    pub(super) fn paths(&self) -> Vec<&'a str> {
        self.tokens().filter(|token| is_path(token)).collect()
    }

    /// Addresses of the web.
    pub(super) fn urls(&self) -> Vec<&'a str> {
        self.tokens().filter(|token| token.starts_with("http://") || token.starts_with("https://")).collect()
    }

    /// What follows the first of these words, to the end of the sentence.
    pub(super) fn after(&self, words: &[&str]) -> Option<&'a str> {
        let lower = self.text.to_lowercase();
        // Lower case may change lengths; then positions do not fit and nothing is found.
        let lower = if lower.len() == self.text.len() { lower } else { self.text.to_owned() };
        words.iter().find_map(|word| {
            let at = lower.find(&format!(" {word} "))?;
            let rest = self.text.get(at + word.len() + 2..)?;
            let rest = sentence(rest).trim();
            (!rest.is_empty()).then_some(rest)
        })
    }
}

fn without_language<'a>(piece: &'a str, ticks: &str) -> &'a str {
    match piece.split_once('\n') {
        Some((first, body)) if ticks.len() == 3 && !first.contains(' ') => body.trim_end(),
        _ => piece,
    }
}

/// Up to the end of the first sentence, without quotes around it.
fn sentence(text: &str) -> &str {
    let end = text.find(['\n', '?', '!']).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text);
    let text = text.split_once(". ").map_or(text, |(first, _)| first);
    text.trim_end_matches('.').trim_matches(['"', '\'', '`', '“', '”', ' '])
}

fn is_path(token: &str) -> bool {
    if token.contains("://") || token.is_empty() || token.contains(['{', '=', '@']) {
        return false;
    }
    let ending = token.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.chars().any(|c| c.is_ascii_alphabetic())
    });
    token.contains('/') || token.starts_with('~') || token == "." || token == ".." || ending
}

/// At most so many characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most).chain(['…']).collect()
    }
}
