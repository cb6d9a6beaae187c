//! Commands of the person's own with places to be filled in: `say -v {voice} < {input_path}`.

/// The command with its placeholders filled in. Every value is one word of the shell and cannot be more;
/// braces that are no placeholder stay as they are.
pub(crate) fn filled(command: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let known = values
            .iter()
            .find_map(|(name, value)| Some((value, after.strip_prefix(name)?.strip_prefix('}')?)));
        if let Some((value, more)) = known {
            out.push_str(&quoted(value));
            rest = more;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Words as one command.
pub(crate) fn line<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it for one.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '+');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_cannot_leave_its_place() {
        let values = [("voice", "a'; rm x".to_owned()), ("empty", String::new())];

        assert_eq!(
            filled("say -v {voice} {empty} {unknown} {", &values),
            r"say -v 'a'\''; rm x' '' {unknown} {"
        );
        assert_eq!(filled("{voice}{voice}", &[("voice", "{voice}".to_owned())]), "'{voice}''{voice}'");
    }

    proptest! {
        #[test]
        fn a_shell_reads_back_what_was_quoted(word in "\\PC{0,40}") {
            let text = quoted(&word);
            let back: String = if text == word {
                text
            } else {
                let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                inner.unwrap().replace(r"'\''", "'")
            };
            prop_assert_eq!(back, word);
        }
    }
}
