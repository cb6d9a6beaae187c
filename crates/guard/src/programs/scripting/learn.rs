//! What names stand for: constants, lists, functions and modules under another name.

use super::Program;
use super::calls::RUNS;
use super::file_calls::deletes;
use crate::programs::tokens::Token;

impl Program {
    /// Learns constants (`x = 'rm'`) and new names for functions (`r = os.system`, `import … as`).
    pub(super) fn learn(&mut self) {
        for at in 0..self.list.len() {
            let Some(name) = self.name(at).map(str::to_owned) else { continue };
            if self.sign(at + 1, '=') && !self.sign(at + 2, '=') {
                if let Some(pairs) = self.several(at) {
                    self.constants.extend(pairs);
                } else if self.lists_words(at + 2) {
                    // A list of words: `@a = ("rm", "-rf", "/")`.
                    let words = self.pieces(at + 2).join(" ");
                    self.constants.insert(name, words);
                } else if let Some(words) =
                    self.words(at + 2).filter(|words| !words.is_empty() && !self.list_is_asked(at + 2))
                {
                    self.lists.insert(name, words);
                } else if let Some(value) = self.constant(at + 2) {
                    self.constants.insert(name, value);
                } else if let Some(function) = self.path_end(at + 2).or_else(|| self.module(at + 2)) {
                    self.renamed.insert(name, function);
                }
            } else if self.sign(at + 1, ':')
                && (RUNS.contains(&name.as_str())
                    || deletes(&name, Some("fs")).is_some()
                    || matches!(name.as_str(), "join" | "homedir"))
                && let Some(new) = self.name(at + 2).map(str::to_owned)
            {
                // `const { execSync: e } = require(…)`
                self.renamed.insert(new, name);
            } else if self.name(at + 1) == Some("as")
                && let Some(new) = self.name(at + 2).map(str::to_owned)
            {
                self.renamed.insert(new, name);
            }
        }
    }

    /// `a, b = "x", "y"` with the last name at `at`: each name and its value.
    fn several(&self, at: usize) -> Option<Vec<(String, String)>> {
        let mut first = at;
        while first > 1 && self.sign(first - 1, ',') && self.name(first - 2).is_some() && self.pay(1) {
            first -= 2;
        }
        if first == at || first > 0 && (self.sign(first - 1, '(') || self.sign(first - 1, '=')) {
            return None;
        }
        let mut pairs = Vec::new();
        let mut next = at + 1;
        for name in (first..=at).step_by(2) {
            if next > at + 1 && !self.sign(next, ',') {
                return None;
            }
            let (value, after) = self.operand(next + 1)?;
            pairs.push((self.name(name)?.to_owned(), value));
            next = after;
        }
        Some(pairs)
    }

    /// Whether words stand in brackets here: `("rm", "-rf", "/")`, `("r" . "m", "x")`.
    fn lists_words(&self, open: usize) -> bool {
        self.sign(open, '(')
            && (self.sign(open + 2, ',')
                || matches!(self.list.get(open + 1), Some(Token::Text(_)))
                    && self.sign(open + 2, '.')
                    && (open + 3..open + 12)
                        .take_while(|at| !self.sign(*at, ')'))
                        .any(|at| self.sign(at, ',')))
    }

    /// The module that `require("path")` at `at` is, when nothing of it is asked for.
    fn module(&self, at: usize) -> Option<String> {
        let Some(Token::Text(module)) = self.list.get(at + 2) else { return None };
        if self.name(at) != Some("require") || !self.sign(at + 3, ')') || self.sign(at + 4, '.') {
            return None;
        }
        let name = match module.strip_prefix("node:").unwrap_or(module) {
            known @ ("path" | "os" | "fs" | "child_process") => known,
            "fs/promises" => "promises",
            "fs-extra" | "graceful-fs" => "fs",
            _ => return None,
        };
        Some(name.to_owned())
    }

    /// The last name of `a.b.c` at `at` when nothing is called.
    fn path_end(&self, at: usize) -> Option<String> {
        let mut last = self.name(at)?.to_owned();
        let mut next = at + 1;
        while self.sign(next, '.') {
            self.name(next + 1)?.clone_into(&mut last);
            next += 2;
        }
        (!self.sign(next, '(')
            && (RUNS.contains(&last.as_str())
                || deletes(&last, Some("os")).is_some()
                || matches!(last.as_str(), "exec" | "eval")))
        .then_some(last)
    }
}
