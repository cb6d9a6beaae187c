//! Indentation: from the way somebody wrote a piece of text to the way the file has it.
//!
//! Every line that was found pairs an indentation as it was written with the one in the file. New
//! lines are put in by these pairs, so that they stand where the lines around them stand, with
//! tabs in a file that has tabs.

/// Columns of a tab when nothing in the file tells.
const TAB: usize = 4;

/// The blanks a line begins with.
pub fn indent(line: &str) -> &str {
    let rest = line.trim_start();
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// What was learnt from the lines that were found.
pub struct Indents<'a> {
    /// As written, and as in the file; one pair per line, none for blank lines.
    pairs: Vec<Option<(&'a str, &'a str)>>,
    /// Columns of one step where the file has tabs and the writer has spaces, or the other way round.
    step: usize,
}

impl<'a> Indents<'a> {
    /// Learns from lines as written and as they are in the file.
    pub fn learn(written: &[&'a str], file: &[&'a str]) -> Self {
        let pair = |(written, file): (&&'a str, &&'a str)| {
            (!written.trim().is_empty()).then(|| (indent(written), indent(file)))
        };
        let pairs: Vec<_> = written.iter().zip(file).map(pair).collect();
        let step = step(&pairs);
        Self { pairs, step }
    }

    /// Whether all lines are shifted by the same amount.
    pub fn consistent(&self) -> bool {
        let mut pairs = self.pairs.iter().flatten();
        let Some(first) = pairs.next() else { return true };
        let shift = |(written, file): &(&str, &str)| {
            let columns = |text: &str| i64::try_from(self.columns(text)).unwrap_or(i64::MAX);
            columns(file) - columns(written)
        };
        pairs.all(|pair| shift(pair) == shift(first))
    }

    /// The indentation in the file for a new line that stands near the line `near`.
    pub fn translate(&self, written: &str, near: usize) -> String {
        let Some((known, file)) = self.pair_near(written, near) else { return written.to_owned() };
        if known == written {
            return file.to_owned();
        }
        if let Some(rest) = written.strip_prefix(known) {
            return format!("{file}{}", self.in_file_style(rest, file));
        }
        let want = (self.columns(file) + self.columns(written)).saturating_sub(self.columns(known));
        self.blanks(want, file)
    }

    /// The pair to go by: one with the same indentation, the nearest first; else just the nearest.
    fn pair_near(&self, written: &str, near: usize) -> Option<(&'a str, &'a str)> {
        let distance = |(at, _): &(usize, (&str, &str))| (at.abs_diff(near), *at > near);
        let pairs = || self.pairs.iter().enumerate().filter_map(|(at, pair)| Some((at, (*pair)?)));
        let same = pairs().filter(|(_, (known, _))| *known == written).min_by_key(distance);
        same.or_else(|| pairs().min_by_key(distance)).map(|(_, pair)| pair)
    }

    /// Further blanks as the file would have them.
    fn in_file_style(&self, rest: &str, file: &str) -> String {
        if self.style(file) == Style::of(rest) {
            rest.to_owned()
        } else {
            self.blanks(self.columns(rest), file)
        }
    }

    fn blanks(&self, columns: usize, file: &str) -> String {
        match self.style(file) {
            Style::Tabs => "\t".repeat(columns / self.step) + &" ".repeat(columns % self.step),
            Style::Spaces | Style::None => " ".repeat(columns),
        }
    }

    /// What the file indents with: here, or where it is seen at all.
    fn style(&self, file: &str) -> Style {
        let own = Style::of(file);
        let others = || self.pairs.iter().flatten().map(|(_, file)| Style::of(file));
        if own == Style::None { others().find(|style| *style != Style::None).unwrap_or(own) } else { own }
    }

    fn columns(&self, blanks: &str) -> usize {
        blanks.chars().map(|c| if c == '\t' { self.step } else { 1 }).sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    None,
    Spaces,
    Tabs,
}

impl Style {
    fn of(blanks: &str) -> Self {
        match blanks.chars().next() {
            None => Self::None,
            Some('\t') => Self::Tabs,
            Some(_) => Self::Spaces,
        }
    }
}

/// How many spaces stand for a tab: by how the indentation grows from line to line where one side
/// has tabs and the other spaces, by a single line, or by the smallest indentation there is.
fn step(pairs: &[Option<(&str, &str)>]) -> usize {
    let widths = |(written, file): &(&str, &str)| match (Style::of(written), Style::of(file)) {
        (Style::Tabs, Style::Spaces | Style::None) | (Style::None, Style::Spaces) => {
            Some((written.len(), file.len()))
        }
        (Style::Spaces | Style::None, Style::Tabs) | (Style::Spaces, Style::None) => {
            Some((file.len(), written.len()))
        }
        _ => None,
    };
    let mixed = pairs.iter().flatten().any(|(written, file)| {
        matches!(
            (Style::of(written), Style::of(file)),
            (Style::Tabs, Style::Spaces) | (Style::Spaces, Style::Tabs)
        )
    });
    let known: Vec<(usize, usize)> =
        if mixed { pairs.iter().flatten().filter_map(widths).collect() } else { Vec::new() };
    let growth = known.iter().zip(known.iter().skip(1)).find_map(|(one, two)| {
        let (tabs, spaces) = (one.0.abs_diff(two.0), one.1.abs_diff(two.1));
        (tabs > 0 && spaces > 0 && spaces % tabs == 0).then(|| spaces / tabs)
    });
    let single = known.iter().find_map(|(tabs, spaces)| {
        (*tabs > 0 && spaces % tabs == 0 && spaces / tabs > 1).then(|| spaces / tabs)
    });
    let smallest = || {
        let spaces = pairs.iter().flatten().flat_map(|(written, file)| [*written, *file]);
        let spaces = spaces.filter(|blanks| Style::of(blanks) == Style::Spaces).map(str::len);
        spaces.min().filter(|step| (2..=8).contains(step))
    };
    growth.or(single).or_else(smallest).unwrap_or(TAB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_moves_new_lines_too() {
        let indents = Indents::learn(&["if x:", "    y()"], &["    if x:", "        y()"]);

        assert!(indents.consistent());
        assert_eq!(indents.translate("    ", 1), "        ");
        assert_eq!(indents.translate("        ", 1), "            ");
        assert_eq!(indents.translate("", 1), "    ");
    }

    #[test]
    fn a_shift_to_the_left_never_goes_below_nothing() {
        let indents = Indents::learn(&["        a"], &["    a"]);

        assert_eq!(indents.translate("    ", 0), "");
        assert_eq!(indents.translate("  ", 0), "");
        assert_eq!(indents.translate("            ", 0), "        ");
    }

    #[test]
    fn spaces_become_tabs_in_a_file_with_tabs() {
        let indents = Indents::learn(&["  a", "    b"], &["\ta", "\t\tb"]);

        assert!(indents.consistent());
        assert_eq!(indents.translate("      ", 1), "\t\t\t");
        assert_eq!(indents.translate("    ", 0), "\t\t");
    }

    #[test]
    fn tabs_become_spaces_in_a_file_with_spaces() {
        let indents = Indents::learn(&["\ta"], &["  a"]);

        assert_eq!(indents.translate("\t\t", 0), "    ");
    }

    #[test]
    fn flat_text_stands_where_its_neighbours_stand() {
        let indents = Indents::learn(&["if x:", "y()"], &["    if x:", "        y()"]);

        assert!(!indents.consistent());
        assert_eq!(indents.translate("", 1), "        ");
        assert_eq!(indents.translate("", 0), "    ");
    }
}
