//! A reminder to call tools, for families of models that like to announce calls and not make them.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("tool_use", 30, tool_use);

const FAMILIES: &[&str] = &["gpt", "codex", "gemini", "gemma", "grok", "glm", "qwen", "deepseek"];

const TEXT: &str = "# Calling tools\n\
    When you say that you will do something, make the call in the same answer. An answer without a call \
    ends your turn: give one only when the work is done or you need the user. Do not write calls as text.";

fn tool_use(facts: &PromptFacts) -> Option<String> {
    let model = facts.model.to_lowercase();
    let needs_it = !facts.tools.is_empty() && FAMILIES.iter().any(|family| model.contains(family));
    needs_it.then(|| TEXT.to_owned())
}
