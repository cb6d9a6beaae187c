//! What the person is shown: the command with the guilty part marked, where it would run, what
//! was found, and what each answer grants.

use std::fmt::Write;

use hermes::core::approval_words as words;
use hermes::core::policy::{ApprovalRequest, Finding};

use crate::approval::answer::{letter, offered};

/// Most lines of a command that are shown.
const MAX_LINES: usize = 40;

/// Most characters of one shown line.
const MAX_CHARS: usize = 400;

/// The question, without the prompt.
pub(crate) fn card(request: &ApprovalRequest, colour: bool) -> String {
    let paint = |text: &str, code: &str| {
        if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    };
    let mut card = format!("\n{}\n\n", paint(&format!("{} needs your approval", request.tool), "1;33"));
    for line in marked(&words::subject(request), &request.reason.findings) {
        let code = if line.mark { "31" } else { "1" };
        let _ = writeln!(card, "    {}", paint(&line.text, code));
    }
    card.push('\n');
    if let Some(place) = words::place(request) {
        let _ = writeln!(card, "  where   {}", words::visible(&place));
    }
    for found in words::findings(request) {
        let _ = writeln!(card, "  effect  {found}");
    }
    card.push('\n');
    for grant in offered(request) {
        let _ = writeln!(card, "  [{}] yes{}", letter(grant), words::reach(grant, request));
    }
    if words::command(request).is_some() {
        card.push_str("  [e COMMAND] run this command instead; it is judged anew\n");
    }
    card.push_str("  [d] no, do not run it\n  [?] explain\n");
    card
}

/// The line the person types behind.
pub(super) fn prompt(request: &ApprovalRequest, colour: bool) -> String {
    let seconds = request.expires_after.as_secs();
    let text = format!("approve? ({seconds} s, then no) > ");
    if colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text }
}

/// More about why it is asked.
pub(crate) fn explanation(request: &ApprovalRequest) -> String {
    let mut text = format!("\n  {}\n", words::visible(&request.reason.why));
    for effect in &request.effects {
        let _ = writeln!(text, "  - {}", words::visible(&effect.to_string()));
    }
    let _ = writeln!(text, "  decided by the rule `{}`; see `hermes policy rules`", request.reason.rule);
    text
}

/// A line of the card.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    text: String,
    /// Whether it points at the line above rather than being part of the command.
    mark: bool,
}

/// The command, with a line of carets below each line that holds something that was found.
fn marked(command: &str, findings: &[Finding]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for text in command.split('\n') {
        if lines.len() >= MAX_LINES {
            lines.push(Line { text: "…".to_owned(), mark: false });
            break;
        }
        let guilty = |at: usize| findings.iter().any(|finding| finding.span.contains(&at));
        let mut shown = String::new();
        let mut carets = String::new();
        for (at, letter) in text.char_indices().take(MAX_CHARS) {
            let seen = words::visible(letter.encode_utf8(&mut [0; 4]));
            let caret = if guilty(start + at) { '^' } else { ' ' };
            carets.extend(std::iter::repeat_n(caret, seen.chars().count()));
            shown.push_str(&seen);
        }
        lines.push(Line { text: shown, mark: false });
        if carets.contains('^') {
            lines.push(Line { text: carets.trim_end().to_owned(), mark: true });
        }
        start += text.len() + 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use hermes::core::policy::Grant;

    use super::*;
    use crate::approval::answer::tests::request;

    #[test]
    fn the_card_shows_command_place_effect_and_what_each_answer_grants() {
        let card = card(&request("rm -rf /srv/data", vec![Grant::Exact, Grant::Targets]), false);

        let expected = "
terminal needs your approval

    rm -rf /srv/data
    ^^^^^^

  where   local, in /home/ann/app
  effect  deletes recursively: /srv/data (recursive-delete)

  [o] yes, this once
  [s] yes, and this exact command for the rest of the session
  [t] yes, and the same effect on /srv/data for the rest of the session
  [e COMMAND] run this command instead; it is judged anew
  [d] no, do not run it
  [?] explain
";
        assert_eq!(card, expected);
    }

    #[test]
    fn letters_that_would_not_show_are_written_out() {
        let shown = card(&request("ls \u{1b}[2J\u{202e}x", vec![]), false);

        assert!(shown.contains("ls \\u{1b}[2J\\u{202e}x"), "{shown}");
    }

    #[test]
    fn marks_stand_below_the_line_they_mean() {
        let findings = [Finding { rule: String::new(), effect: String::new(), targets: vec![], span: 5..7 }];

        let lines = marked("make\nrm x", &findings);

        let text: Vec<(&str, bool)> = lines.iter().map(|line| (line.text.as_str(), line.mark)).collect();
        assert_eq!(text, [("make", false), ("rm x", false), ("^^", true)]);
    }
}
