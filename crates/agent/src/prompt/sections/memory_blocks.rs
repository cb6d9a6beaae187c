//! What is remembered, as it was when the session began: notes, the user, and what another memory
//! service says.

use crate::prompt::{MemoryBlock, PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("memory_blocks", 110, memory_blocks);

/// Length of the rule above and below a header.
const RULE: usize = 46;

fn memory_blocks(facts: &PromptFacts) -> Option<String> {
    let notes = facts.memory.as_ref().and_then(|block| headed("MEMORY (your personal notes)", block));
    let user = facts.user.as_ref().and_then(|block| headed("USER PROFILE (who the user is)", block));
    let recalled = facts.recalled.clone().filter(|text| !text.trim().is_empty());
    let blocks: Vec<String> = [notes, user, recalled].into_iter().flatten().collect();
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

fn headed(title: &str, block: &MemoryBlock) -> Option<String> {
    let text = block.text.trim();
    if text.is_empty() {
        return None;
    }
    let rule = "═".repeat(RULE);
    let count = text.chars().count();
    let percent = (count * 100).checked_div(block.limit).unwrap_or(100).min(100);
    let (count, limit) = (thousands(count), thousands(block.limit));
    Some(format!("{rule}\n{title} [{percent}% — {count}/{limit} chars]\n{rule}\n{text}"))
}

/// A number with commas between thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
