//! Calls that change who may use something, and who owns it.

use super::Program;
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::programs::perms;
use crate::programs::tokens::Token;
use crate::walk::Walk;

/// Whether a function changes who owns something or who may use it.
pub(super) fn is_rights_call(name: &str) -> bool {
    matches!(
        name,
        "chmod"
            | "chmodSync"
            | "chmod_R"
            | "lchmod"
            | "chown"
            | "lchown"
            | "chownSync"
            | "lchownSync"
            | "chown_R"
    )
}

impl Program {
    /// A call of [`is_rights_call`].
    pub(super) fn rights_call(&self, walk: &mut Walk<'_>, first: usize, name: &str, span: Span) {
        if name.contains("chown") {
            return self.own_call(walk, first, span);
        }
        let number = self
            .list
            .iter()
            .skip(first)
            .take(12)
            .take_while(|token| **token != Token::Sign(';'))
            .find_map(|token| if let Token::Number(number) = token { Some(*number) } else { None });
        let octal = number.map(|number| {
            if number == 777 || number == 666 { format!("{number}") } else { format!("{number:o}") }
        });
        let given = [self.constant(first), self.second(first)];
        let spelled = given.iter().flatten().find(|text| is_mode(text)).cloned();
        let by_name = self.list.iter().skip(first).take(24).any(
            |token| matches!(token, Token::Name(name) if matches!(name.as_str(), "S_IWOTH" | "S_IRWXO")),
        );
        let octal = octal.or(spelled).or_else(|| by_name.then(|| "777".to_owned()));
        let mut paths: Vec<String> =
            given.into_iter().flatten().find(|text| !is_mode(text)).into_iter().collect();
        let all = paths.is_empty();
        if all {
            // A name bound in a loop: what is walked through tells.
            if !walk.spend(self.list.len() / 8) {
                return;
            }
            paths.extend(self.absolute_texts());
        }
        let refs: Vec<&str> = paths.iter().map(String::as_str).collect();
        perms::mode(walk, &octal.unwrap_or_default(), &refs, all || name == "chmod_R", span);
    }

    /// Constants that are absolute paths.
    fn absolute_texts(&self) -> Vec<String> {
        let absolute = |token: &Token| match token {
            Token::Text(text) if text.starts_with(['/', '~']) => Some(text.clone()),
            _ => None,
        };
        self.list.iter().filter_map(absolute).take(4).collect()
    }

    /// Changes of owners. To give files of the project to somebody who is not root is everyday work.
    fn own_call(&self, walk: &mut Walk<'_>, first: usize, span: Span) {
        if !walk.spend(self.list.len() / 8) {
            return;
        }
        let given = self.list.iter().skip(first).take(12).take_while(|token| **token != Token::Sign(';'));
        let root = given.clone().any(|token| match token {
            Token::Number(number) => *number == 0,
            Token::Text(owner) => owner.starts_with("root"),
            _ => false,
        });
        let placed = |path: &String| path.contains(['/', '.', '~']) && !path.starts_with("root");
        // The file comes first, or last after an owner and a group.
        let [first, second, third] = [self.constant(first), self.second(first), self.third(first)];
        let mut paths: Vec<String> =
            [first, second].into_iter().flatten().find(placed).or(third).into_iter().collect();
        if paths.is_empty() {
            paths.extend(self.absolute_texts());
        }
        if paths.is_empty() {
            paths.extend(self.walked());
        }
        let targets: Vec<Target> = paths.iter().map(|path| walk.target(path)).collect();
        let ours = |target: &Target| {
            matches!(
                target.place,
                Place::Workspace | Place::WorkspaceTop | Place::Temp | Place::Made | Place::Rebuilt
            )
        };
        if root || targets.is_empty() || !targets.iter().all(ours) {
            walk.emit_on(Kind::Ownership, "changes an owner", span, targets, How::default());
        }
    }
}

/// A mode as chmod takes it: digits, or letters and signs.
fn is_mode(text: &str) -> bool {
    text.len() < 16
        && (matches!(text.len(), 3 | 4) && text.bytes().all(|b| matches!(b, b'0'..=b'7'))
            || text.contains(['+', '=']) && text.bytes().all(|b| b"ugoarwxXst+=-,".contains(&b)))
}
