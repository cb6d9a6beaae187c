//! What Perl has of its own: searches through folders, letters that become others.

use super::Program;
use crate::programs::letters;
use crate::programs::tokens::Token;

impl Program {
    /// The folder that `find(sub { … }, "folder")` or `find(\&each, "folder")` goes through.
    pub(super) fn searched(&self) -> Option<String> {
        let find = (0..self.list.len().min(2_000)).find(|at| {
            matches!(self.name(*at), Some("find" | "finddepth"))
                && (self.sign(at + 1, '(') || self.sign(at + 1, '\\') || self.name(at + 1) == Some("sub"))
        })?;
        let named = |at: usize| at < find + 6 && self.name(at).is_some();
        (find + 1..self.list.len().min(find + 400))
            .filter(|at| (self.sign(*at, '}') || named(*at)) && self.sign(at + 1, ','))
            .find_map(|end| self.constant(end + 2))
    }

    /// A text after the `tr/…/…/` of this program.
    pub(super) fn letters_turned(&self, text: &str) -> Option<String> {
        let (from, to) = self.list.windows(3).find_map(|three| match three {
            [Token::Name(verb), Token::Text(from), Token::Text(to)]
                if matches!(verb.as_str(), "tr" | "y") =>
            {
                Some((from, to))
            }
            _ => None,
        })?;
        Some(letters::turned(text, from, to))
    }
}
