//! What a call is about when its brackets do not say: what a method is asked of, or the folder that is gone
//! through.

use super::Program;
use crate::programs::tokens::Token;

/// Functions that go through a folder.
const WALKS: [&str; 14] = [
    "find",
    "glob",
    "rglob",
    "walk",
    "listdir",
    "iglob",
    "readdirSync",
    "scandir",
    "Path",
    "readdir",
    "each_child",
    "children",
    "entries",
    "opendir",
];

impl Program {
    /// The folder that a call goes through: `os.walk("x")`, `Find.find("x")`, `Path("x").rglob("*")`.
    pub(super) fn walked(&self) -> Option<String> {
        (0..self.list.len().min(2_000))
            .filter(|at| self.sign(at + 1, '(') && self.name(*at).is_some_and(|name| WALKS.contains(&name)))
            .find_map(|at| self.constant(at + 2))
            .or_else(|| self.searched())
    }

    /// The texts among the next words, put together where they are in pieces.
    pub(super) fn given_texts(&self, first: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut at = first;
        while at < first + 8 && at < self.list.len() {
            let value =
                matches!(self.list.get(at), Some(Token::Text(_))) || at > first && self.sign(at - 1, ',');
            match self.operand(at).filter(|_| value) {
                Some((text, next)) => {
                    out.push(text);
                    at = next.max(at + 1);
                }
                None => at += 1,
            }
        }
        out
    }

    /// The text of what a method is asked of: `(Path.home() / "x")` in `(Path.home() / "x").unlink()`.
    pub(super) fn receiver(&self, at: usize) -> Option<String> {
        let end = at.checked_sub(1).filter(|dot| self.sign(*dot, '.'))?;
        let mut start = end;
        let mut depth = 0_usize;
        // Back over brackets, and over the names and dots before them.
        for near in (end.saturating_sub(64)..end).rev() {
            match self.list.get(near)? {
                Token::Sign(')' | ']') => depth += 1,
                Token::Sign('(' | '[') if depth > 0 => depth -= 1,
                Token::Name(_) | Token::Sign('.') => {}
                _ if depth > 0 => {}
                _ => break,
            }
            start = near;
        }
        let outer = self.end.replace(end);
        let found = self.term(start);
        self.end.set(outer);
        found.filter(|(_, next)| *next == end).map(|(text, _)| text)
    }

    /// The path put together before a place: `Path.home() / (".x" + "y")`, `Path("x")`.
    pub(super) fn path_before(&self, at: usize) -> Option<String> {
        if let Some(path) = self.receiver(at) {
            return Some(path);
        }
        let mut last = (0..at).rev().find(|near| matches!(self.list.get(*near), Some(Token::Text(_))))?;
        while last > 1 && self.sign(last - 1, '+') && matches!(self.list.get(last - 2), Some(Token::Text(_)))
        {
            last -= 2;
        }
        let path = self.constant(last)?;
        let home = (last.saturating_sub(8)..last)
            .any(|near| matches!(self.name(near), Some("home" | "homedir" | "expanduser")))
            && (last.saturating_sub(3)..last).any(|near| self.sign(near, '/'));
        Some(if home && !path.starts_with(['/', '~']) { format!("~/{path}") } else { path })
    }
}
