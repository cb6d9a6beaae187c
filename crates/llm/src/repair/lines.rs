//! Where in a text we are: at the beginning of a line, inside a fenced block.

/// Follows text as it passes.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// Characters other than space since the last line end, as far as they matter.
    ticks: u8,
    other: bool,
    in_fence: bool,
}

impl Lines {
    /// Passes over `text`.
    pub(super) fn pass(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'\n' => {
                    self.ticks = 0;
                    self.other = false;
                }
                b' ' | b'\t' | b'\r' => {}
                b'`' if !self.other && self.ticks < 3 => {
                    self.ticks += 1;
                    if self.ticks == 3 {
                        self.in_fence = !self.in_fence;
                        self.other = true;
                    }
                }
                _ => self.other = true,
            }
        }
    }

    /// Goes on as if a line had just begun.
    pub(super) fn begin_line(&mut self) {
        self.ticks = 0;
        self.other = false;
    }

    /// Only space since the last line end.
    pub(super) fn at_line_start(&self) -> bool {
        !self.other && self.ticks == 0
    }

    /// Between two fences.
    pub(super) fn in_fence(&self) -> bool {
        self.in_fence
    }
}
