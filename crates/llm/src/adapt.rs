//! What was learnt about an endpoint from its refusals: a request is made again without the field it
//! does not know, and so are all later ones.

/// What to leave out or say differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one lesson, learnt on its own")]
pub(crate) struct Lessons {
    /// Do not ask for a stream.
    pub(crate) no_stream: bool,
    /// Do not send `stream_options`.
    pub(crate) no_stream_options: bool,
    /// The limit of an answer is called `max_completion_tokens`.
    pub(crate) completion_tokens: bool,
    /// Do not send a limit of the answer.
    pub(crate) no_max_tokens: bool,
    /// Do not say how hard to think.
    pub(crate) no_effort: bool,
    /// Leave patterns and formats out of the tools' schemas.
    pub(crate) plain_schemas: bool,
    /// Do not send thoughts back.
    pub(crate) no_thoughts: bool,
    /// Do not send cache marks.
    pub(crate) no_cache_marks: bool,
}

impl Lessons {
    /// What a refusal teaches beyond what is known already.
    pub(crate) fn learn(self, refusal: &str) -> Option<Self> {
        let text = refusal.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut now = self;
        if has(&["stream_options"]) {
            now.no_stream_options = true;
        } else if has(&["max_completion_tokens"]) && has(&["max_tokens"]) && !self.completion_tokens {
            now.completion_tokens = true;
        } else if has(&["stream"]) && has(&["not support", "unsupported", "must be false", "not available"]) {
            now.no_stream = true;
        } else if has(&[
            "thinking block",
            "signature",
            "encrypted_content",
            "encrypted content",
            "reasoning_details",
            "reasoning_content",
        ]) {
            now.no_thoughts = true;
        } else if has(&["reasoning", "effort", "thinking"]) && refuses_a_field(&text) {
            now.no_effort = true;
        } else if has(&["cache_control"]) {
            now.no_cache_marks = true;
        } else if has(&["grammar", "unsupported pattern", "pattern must", "invalid regex"]) {
            now.plain_schemas = true;
        } else if has(&["max_tokens", "max_completion_tokens", "max_output_tokens"]) && refuses_a_field(&text)
        {
            now.no_max_tokens = true;
        }
        (now != self).then_some(now)
    }
}

fn refuses_a_field(text: &str) -> bool {
    const WORDS: [&str; 9] = [
        "unsupported",
        "not support",
        "unknown",
        "unrecognized",
        "unexpected",
        "extra inputs",
        "not permitted",
        "not allowed",
        "does not exist",
    ];
    WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::Lessons;

    #[test]
    fn a_refusal_teaches_what_to_leave_out() {
        let none = Lessons::default();
        let learnt = [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Lessons { completion_tokens: true, ..none },
            ),
            ("Streaming is not supported for this model", Lessons { no_stream: true, ..none }),
            ("Unknown field: stream_options", Lessons { no_stream_options: true, ..none }),
            ("Unrecognized request argument supplied: reasoning_effort", Lessons { no_effort: true, ..none }),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block",
                Lessons { no_thoughts: true, ..none },
            ),
            ("Failed to parse grammar", Lessons { plain_schemas: true, ..none }),
        ];

        for (refusal, lessons) in learnt {
            assert_eq!(none.learn(refusal), Some(lessons), "{refusal}");
        }
    }

    #[test]
    fn the_same_refusal_teaches_nothing_twice() {
        let known = Lessons { no_stream_options: true, ..Lessons::default() };

        assert_eq!(known.learn("Unknown field: stream_options"), None);
        assert_eq!(known.learn("your prompt is bad"), None);
    }
}
