//! How many tokens something takes, roughly: from its bytes alone, without anybody's tokenizer.
//!
//! Plain text takes a token for four letters; scripts beyond Latin take more. What a provider
//! reports afterwards corrects the estimate, model by model, see [`crate::learnt`].

use hermes_core::model::{AssistantMessage, Message, ModelRequest, Part};

/// What a picture takes.
const IMAGE: u64 = 1_500;
/// So many bytes are looked at together.
const BLOCK: usize = 256;
/// What the frame of a message, or of a call, takes.
const FRAME: u64 = 5;

/// Tokens of a text.
pub fn of_text(text: &str) -> u64 {
    let of_block = |block: &[u8]| {
        // Nearly everything is, and that is quickly seen.
        if block.is_ascii() { block.len() as u64 } else { block.iter().copied().map(quarters).sum() }
    };
    text.as_bytes().chunks(BLOCK).map(of_block).sum::<u64>().div_ceil(4)
}

/// Quarters of a token for a byte: a character counts by its first byte.
fn quarters(byte: u8) -> u64 {
    match byte {
        0x00..=0x7F => 1,
        0x80..=0xBF => 0,
        0xC0..=0xDF => 2,
        0xE0..=0xFF => 4,
    }
}

/// Tokens of a message.
pub fn of_message(message: &Message) -> u64 {
    FRAME
        + match message {
            Message::User { content } => content.iter().map(of_part).sum(),
            Message::Assistant(answer) => of_answer(answer),
            Message::Tool { name, content, images, .. } => {
                of_text(name) + of_text(content) + IMAGE * images.len() as u64
            }
        }
}

/// Tokens of several messages.
pub fn of_messages(messages: &[Message]) -> u64 {
    messages.iter().map(of_message).sum()
}

/// Tokens of what comes before the conversation.
pub fn of_prefix(request: &ModelRequest) -> u64 {
    of_text(&request.system) + of_text(&request.tools)
}

fn of_part(part: &Part) -> u64 {
    match part {
        Part::Text { text } => of_text(text),
        Part::Image { .. } => IMAGE,
    }
}

fn of_answer(answer: &AssistantMessage) -> u64 {
    let calls: u64 =
        answer.calls.iter().map(|call| FRAME + of_text(&call.name) + of_text(&call.arguments)).sum();
    let reasoning = answer.reasoning.as_deref().map_or(0, of_text);
    let kept: u64 = answer.keep.values().map(|value| of_text(&value.to_string())).sum();
    of_text(&answer.text) + calls + reasoning + kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_weigh_what_they_weigh() {
        assert_eq!(of_text(""), 0);
        assert_eq!(of_text("four letters"), 3);
        assert_eq!(of_text("ж"), 1);
        assert_eq!(of_text("жжжж"), 2);
        assert_eq!(of_text("漢字"), 2);
        assert_eq!(of_text("🦀"), 1);
        assert_eq!(of_text(&"漢".repeat(1_000)), 1_000);
        assert_eq!(of_text(&("letters ".repeat(1_000) + "漢")), 2_001);
    }

    #[test]
    fn a_picture_counts_by_being_there_not_by_its_bytes() {
        let url = format!("data:image/png;base64,{}", "A".repeat(100_000));

        assert_eq!(of_message(&Message::User { content: vec![Part::Image { url }] }), 1_505);
    }
}
