//! The prompt with the name of the model that reads it.
//!
//! A session keeps the prompt it began with, which names the model it began with. When another one
//! answers, because the first does not or the person chose so, it reads its own name. Nothing is lost
//! by that: what one model has cached is of no use to another, and each always reads the same bytes.

use std::sync::Arc;

/// The prompt as this model is to read it; `name` is `provider/model`.
pub(crate) fn naming(prompt: &Arc<str>, name: &str, provider: &str) -> Arc<str> {
    let model = name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let Some((before, lines)) = prompt.rsplit_once("\nModel: ") else { return Arc::clone(prompt) };
    let Some((known, rest)) = lines.split_once("\nProvider: ") else { return Arc::clone(prompt) };
    let (known_provider, after) = match rest.split_once('\n') {
        Some((provider, _)) => (provider, rest.strip_prefix(provider).unwrap_or_default()),
        None => (rest, ""),
    };
    if known.contains('\n') || (known == model && known_provider == provider) {
        return Arc::clone(prompt);
    }
    format!("{before}\nModel: {model}\nProvider: {provider}{after}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_reads_its_own_name_and_nothing_else_changes() {
        let prompt: Arc<str> =
            "Be good.\n\nSession started: today\nModel: a\nProvider: one\n\nThe end.".into();

        let own = naming(&prompt, "one/a", "one");
        let other = naming(&prompt, "two/x/b", "two");

        assert!(Arc::ptr_eq(&own, &prompt));
        assert_eq!(&*other, "Be good.\n\nSession started: today\nModel: x/b\nProvider: two\n\nThe end.");
        assert_eq!(naming(&other, "one/a", "one"), prompt);
    }

    #[test]
    fn a_prompt_that_names_no_model_stays_as_it_is() {
        for text in ["", "Be good.", "Model: a", "\nModel: a\nsomething\nProvider: b"] {
            let prompt: Arc<str> = text.into();
            assert!(Arc::ptr_eq(&naming(&prompt, "two/b", "two"), &prompt), "{text:?}");
        }
    }
}
