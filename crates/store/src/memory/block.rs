//! The notes as they go into a system prompt.

use hermes_core::memory::{MemoryError, Notes, Target};

/// The line above and below the header.
const RULE: &str = "══════════════════════════════════════════════";

/// A header that says whose notes these are and how full they are, and the notes; nothing when there
/// are none.
pub(super) fn block(target: Target, notes: Result<Notes, MemoryError>) -> Option<String> {
    let title = match target {
        Target::Memory => "MEMORY (your own notes)",
        Target::User => "USER PROFILE (who the user is)",
    };
    match notes {
        Ok(notes) if notes.entries.is_empty() => None,
        Ok(notes) => {
            let text = notes.entries.join("\n§\n");
            Some(format!("{RULE}\n{title} [{}]\n{RULE}\n{text}", notes.room))
        }
        Err(why) => Some(format!("{RULE}\n{title} [not loaded: {why}]\n{RULE}")),
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::memory::Room;

    use super::*;

    #[test]
    fn a_block_has_a_header_between_two_rules_of_46() {
        let notes = Notes {
            entries: vec!["likes tea".to_owned(), "runs Linux".to_owned()],
            room: Room { used: 22, limit: 1375 },
        };

        let block = block(Target::User, Ok(notes)).unwrap();

        let rule = "═".repeat(46);
        assert_eq!(
            block,
            format!(
                "{rule}\nUSER PROFILE (who the user is) [1% — 22/1,375 chars]\n{rule}\nlikes tea\n§\nruns Linux"
            )
        );
    }

    #[test]
    fn no_notes_are_no_block_and_a_failure_is_told() {
        let none = Notes { entries: Vec::new(), room: Room { used: 0, limit: 10 } };

        assert_eq!(block(Target::Memory, Ok(none)), None);
        let told = block(Target::Memory, Err(MemoryError::Store("disk on fire".to_owned()))).unwrap();
        assert!(told.contains("[not loaded: disk on fire]"));
    }
}
