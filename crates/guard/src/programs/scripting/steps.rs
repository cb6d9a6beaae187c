//! What following expressions costs: so many steps for a program of that length, and so deep. Beyond that
//! the program counts as one that cannot be read.

use super::Program;

/// How deep expressions are followed.
const DEEPEST: usize = 24;

/// How many steps are taken for each token, and at least.
const STEPS: usize = 24;
const FEWEST: usize = 4_096;

/// The steps that a program of so many tokens may take.
pub(super) const fn allowed(tokens: usize) -> usize {
    FEWEST + STEPS * tokens
}

impl Program {
    /// The steps taken so far.
    pub(super) fn taken(&self) -> usize {
        allowed(self.list.len()).saturating_sub(self.left.get())
    }

    /// Takes steps; false when there are none left.
    pub(super) fn pay(&self, steps: usize) -> bool {
        let left = self.left.get().saturating_sub(steps);
        self.left.set(left);
        if left == 0 {
            self.lost.set(true);
        }
        left > 0
    }

    /// Looks into an expression inside of another.
    pub(super) fn inside<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        let depth = self.depth.get();
        if depth >= DEEPEST {
            self.lost.set(true);
            return None;
        }
        if !self.pay(1) {
            return None;
        }
        self.depth.set(depth + 1);
        let found = look();
        self.depth.set(depth);
        found
    }

    /// Where the next closing bracket of that kind stands, or the end.
    pub(super) fn closing(&self, from: usize, sign: char) -> usize {
        let end = (from..self.list.len()).find(|at| self.sign(*at, sign)).unwrap_or(self.list.len());
        self.pay((end - from.min(end)) / 8);
        end
    }
}
