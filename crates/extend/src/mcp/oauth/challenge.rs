//! What a server says in `WWW-Authenticate` when the right to ask is missing or not enough.

/// The parts of a challenge that matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the server describes itself.
    pub resource_metadata: Option<String>,
    /// What is needed.
    pub scope: Option<String>,
    /// What is wrong, in one word.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the value of the header; what cannot be read is not there.
    pub fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        for (name, value) in parameters(header) {
            let place = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                "error" => &mut challenge.error,
                _ => continue,
            };
            *place = Some(value).filter(|value| !value.is_empty());
        }
        challenge
    }

    /// Whether the right to ask is there, but does not reach far enough.
    pub fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// `name=value` and `name="value"` pairs, with or without the word `Bearer` before them.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit([',', ' ', '\t']).next().unwrap_or_default().trim().to_owned();
        let (value, left) = if let Some(quoted) = after.strip_prefix('"') {
            unquoted(quoted)
        } else {
            let end = after.find([',', ' ']).unwrap_or(after.len());
            let (value, left) = after.split_at_checked(end).unwrap_or((after, ""));
            (value.to_owned(), left)
        };
        if !name.is_empty() {
            found.push((name, value));
        }
        rest = left;
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            '"' => return (value, text.get(at + 1..).unwrap_or_default()),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_parts_of_a_challenge_are_found() {
        let header = r#"Bearer realm="a=b", error="insufficient_scope", scope="files:read files:write", resource_metadata=https://x.example/.well-known/y"#;

        let challenge = Challenge::read(header);

        assert_eq!(challenge.scope.as_deref(), Some("files:read files:write"));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://x.example/.well-known/y"));
        assert!(challenge.wants_more());
        assert_eq!(Challenge::read("Bearer"), Challenge::default());
    }

    proptest! {
        #[test]
        fn any_header_can_be_read(header in ".{0,200}") {
            Challenge::read(&header);
        }
    }
}
