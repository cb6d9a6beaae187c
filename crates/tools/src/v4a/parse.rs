//! A patch text as operations.
//!
//! Forgiving where the meaning is plain: markers at the beginning and end may be missing, the
//! whole may stand in a code fence, a context line may lack its blank, an empty line is an empty
//! context line. What would be a guess is an error.

use super::PatchError;
use super::header::{Header, end_word, header, shift};

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Makes a file that is not there yet.
    Add {
        /// Its path.
        path: String,
        /// What it is to hold.
        text: String,
    },
    /// Removes a file.
    Delete {
        /// Its path.
        path: String,
    },
    /// Changes a file and perhaps its name.
    Update {
        /// Its path.
        path: String,
        /// The path it gets.
        to: Option<String>,
        /// The changes, in order.
        hunks: Vec<Hunk>,
    },
}

impl Op {
    /// The paths it names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let (path, to) = match self {
            Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Update { path, to, .. } => (path, to.as_deref()),
        };
        std::iter::once(path.as_str()).chain(to)
    }
}

/// One change within a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Where it is, in words of the file.
    pub hints: Vec<Hint>,
    /// Its lines.
    pub lines: Vec<HunkLine>,
    /// It stands at the end of the file.
    pub at_end: bool,
    /// Whether the file ends with the end of a line afterwards, where the patch says so.
    pub ends_line: Option<bool>,
}

/// Where a hunk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Behind a line that says this.
    Text(String),
    /// Near this line, counted from 1.
    Line(usize),
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// What happens to it.
    pub sign: Sign,
    /// What it says.
    pub text: String,
    /// The line as it was written, where it may have been meant without a sign.
    pub unsigned: Option<String>,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It stays.
    Context,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

/// The operations of a patch.
pub fn parse(patch: &str) -> Result<Vec<Op>, PatchError> {
    let mut parser = Parser::default();
    let shift = shift(patch);
    for line in patch.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        parser.line(line.strip_prefix(shift).unwrap_or(line))?;
    }
    parser.close()?;
    if parser.ops.is_empty() {
        let why = "the patch has no operation; begin each with `*** Update File: path`, `*** Add File: path`, \
                   `*** Delete File: path` or `*** Move File: old -> new`";
        return Err(PatchError::Syntax(why.to_owned()));
    }
    Ok(parser.ops)
}

#[derive(Default)]
struct Parser {
    /// What ends the patch when it was written as the input of a command.
    end_word: Option<String>,
    ops: Vec<Op>,
    section: Section,
}

#[derive(Default)]
enum Section {
    #[default]
    Outside,
    Add {
        path: String,
        lines: Vec<String>,
        /// Empty lines without a sign; they count only when something follows.
        pending: usize,
        ends_line: bool,
    },
    Update {
        path: String,
        to: Option<String>,
        hunks: Vec<Hunk>,
        open: Hunk,
        /// A hunk has begun: what looks like the names of a diff is text from here on.
        begun: bool,
    },
}

impl Section {
    fn update(path: String, to: Option<String>) -> Self {
        Self::Update { path, to, hunks: Vec::new(), open: Hunk::default(), begun: false }
    }
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), PatchError> {
        if let Some(header) = header(line)? {
            return self.header(header);
        }
        if self.end_word.as_deref() == Some(line.trim()) {
            return self.close();
        }
        match &mut self.section {
            Section::Outside => {
                if self.ops.is_empty() {
                    self.end_word = end_word(line).map(str::to_owned).or(self.end_word.take());
                }
            }
            Section::Add { lines, pending, ends_line, .. } => added(line, lines, pending, ends_line),
            Section::Update { hunks, open, begun, .. } => updated(line, hunks, open, begun),
        }
        Ok(())
    }

    fn header(&mut self, header: Header) -> Result<(), PatchError> {
        match header {
            Header::To(new) => {
                if let Section::Update { to, .. } = &mut self.section {
                    *to = Some(new);
                    return Ok(());
                }
                let why = format!("`*** Move to: {new}` stands under no `*** Update File:`");
                return Err(PatchError::Syntax(why));
            }
            Header::EndOfFile => {
                if let Section::Update { hunks, open, .. } = &mut self.section {
                    open.at_end = true;
                    close_hunk(hunks, open);
                }
                return Ok(());
            }
            _ => self.close()?,
        }
        match header {
            Header::Update(path) => {
                self.section = Section::update(path, None);
            }
            Header::Add(path) => {
                self.section = Section::Add { path, lines: Vec::new(), pending: 0, ends_line: true };
            }
            Header::Delete(path) => self.ops.push(Op::Delete { path }),
            Header::Move(path, to) => self.section = Section::update(path, Some(to)),
            Header::To(_) | Header::EndOfFile | Header::Edge => {}
        }
        Ok(())
    }

    /// Ends the open section.
    fn close(&mut self) -> Result<(), PatchError> {
        match std::mem::take(&mut self.section) {
            Section::Outside => {}
            Section::Add { path, lines, ends_line, .. } => {
                let mut text = lines.join("\n");
                if ends_line && !lines.is_empty() {
                    text.push('\n');
                }
                self.ops.push(Op::Add { path, text });
            }
            Section::Update { path, to, mut hunks, mut open, .. } => {
                close_hunk(&mut hunks, &mut open);
                if hunks.is_empty() && to.is_none() {
                    return Err(PatchError::file(&path, "the patch changes nothing in it"));
                }
                self.ops.push(Op::Update { path, to, hunks });
            }
        }
        Ok(())
    }
}

fn added(line: &str, lines: &mut Vec<String>, pending: &mut usize, ends_line: &mut bool) {
    if is_no_newline(line) {
        *ends_line = false;
    } else if line.is_empty() {
        *pending += 1;
    } else if line.starts_with("@@") || line.starts_with("```") {
        // Neither has a meaning in a new file.
    } else {
        lines.extend(std::iter::repeat_n(String::new(), std::mem::take(pending)));
        lines.push(line.strip_prefix('+').unwrap_or(line).to_owned());
    }
}

fn updated(line: &str, hunks: &mut Vec<Hunk>, open: &mut Hunk, begun: &mut bool) {
    if let Some(hint) = line.strip_prefix("@@") {
        *begun = true;
        if !open.lines.is_empty() {
            close_hunk(hunks, open);
        }
        open.hints.extend(hints(hint));
        return;
    }
    if is_no_newline(line) {
        match open.lines.last().map(|line| line.sign) {
            Some(Sign::Remove) => open.ends_line = Some(true),
            Some(_) => open.ends_line = Some(false),
            None => {}
        }
        return;
    }
    // The names of a unified diff, or a fence around everything.
    if (!*begun && (line.starts_with("--- ") || line.starts_with("+++ "))) || line.starts_with("```") {
        return;
    }
    *begun |= !line.is_empty();
    let rest = || line.get(1..).unwrap_or_default().to_owned();
    open.lines.push(match line.chars().next() {
        None => HunkLine { sign: Sign::Context, text: String::new(), unsigned: Some(String::new()) },
        Some('+') => HunkLine { sign: Sign::Add, text: rest(), unsigned: None },
        Some('-') => HunkLine { sign: Sign::Remove, text: rest(), unsigned: None },
        Some(' ') => HunkLine { sign: Sign::Context, text: rest(), unsigned: Some(line.to_owned()) },
        Some(_) => HunkLine { sign: Sign::Context, text: line.to_owned(), unsigned: None },
    });
}

/// Ends a hunk; empty lines at its end only separate it from what follows.
fn close_hunk(hunks: &mut Vec<Hunk>, open: &mut Hunk) {
    let mut hunk = std::mem::take(open);
    let separates = |line: &HunkLine| line.text.is_empty() && line.unsigned.as_deref() == Some("");
    while hunk.lines.last().is_some_and(separates) {
        hunk.lines.pop();
    }
    if hunk.lines.iter().any(|line| line.sign != Sign::Context) {
        hunks.push(hunk);
    }
}

fn is_no_newline(line: &str) -> bool {
    line.to_ascii_lowercase().starts_with("\\ no newline")
}

/// What stands between or behind the signs of a hunk: line numbers, words of the file, or both.
fn hints(text: &str) -> Vec<Hint> {
    let text = text.trim_start_matches('@');
    let (numbers, rest) = match text.trim_start().starts_with('-').then(|| text.split_once("@@")) {
        Some(Some((numbers, rest))) => (line_of(numbers), rest),
        Some(None) => (line_of(text), if line_of(text).is_some() { "" } else { text }),
        None => (None, text),
    };
    let words = rest.trim_end().trim_end_matches("@@").trim();
    let words = (!words.is_empty()).then(|| Hint::Text(words.to_owned()));
    numbers.map(Hint::Line).into_iter().chain(words).collect()
}

/// The old line number of `-12,3 +12,4`.
fn line_of(numbers: &str) -> Option<usize> {
    let (old, new) = numbers.trim().strip_prefix('-')?.split_once(" +")?;
    let number = |text: &str| text.split(',').next().and_then(|first| first.trim().parse::<usize>().ok());
    number(new)?;
    number(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(patch: &str) -> Vec<Hunk> {
        match parse(patch).unwrap().into_iter().next() {
            Some(Op::Update { hunks, .. }) => hunks,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn markers_and_fences_may_be_there_or_not() {
        let bare = "*** Update File: a\n-x\n+y\n";
        let whole = format!("```\n*** Begin Patch\n{bare}*** End Patch\n```\n");

        assert_eq!(parse(bare), parse(&whole));
        assert_eq!(parse(&bare.replace('\n', "\r\n")), parse(bare));
    }

    #[test]
    fn every_operation_is_understood() {
        let ops = parse(
            "*** Add File: `a`\n+1\n+\n+2\n*** Delete File: b\n*** Move File: c -> d\n*** Update File: e\n\
             *** Move to: f\n@@\n-x\n",
        )
        .unwrap();

        assert_eq!(ops[0], Op::Add { path: "a".to_owned(), text: "1\n\n2\n".to_owned() });
        assert_eq!(ops[1], Op::Delete { path: "b".to_owned() });
        assert_eq!(ops[2], Op::Update { path: "c".to_owned(), to: Some("d".to_owned()), hunks: Vec::new() });
        assert!(matches!(&ops[3], Op::Update { to: Some(to), hunks, .. } if to == "f" && hunks.len() == 1));
    }

    #[test]
    fn hints_are_words_or_numbers() {
        for (line, hints) in [
            ("@@", vec![]),
            ("@@ @@", vec![]),
            ("@@ def f():", vec![Hint::Text("def f():".to_owned())]),
            ("@@ def f(): @@", vec![Hint::Text("def f():".to_owned())]),
            ("@@ -12,3 +12,4 @@", vec![Hint::Line(12)]),
            ("@@ -12 +12,4 @@ fn x", vec![Hint::Line(12), Hint::Text("fn x".to_owned())]),
            ("@@ - item", vec![Hint::Text("- item".to_owned())]),
        ] {
            let hunks = update(&format!("*** Update File: a\n{line}\n-x\n"));
            assert_eq!(hunks[0].hints, hints, "{line}");
        }
    }

    #[test]
    fn a_hunk_knows_how_the_file_ends() {
        let hunks = update(
            "*** Update File: a\n-x\n\\ No newline at end of file\n+y\n*** End of File\n@@\n-z\n+w\n\\ No newline at end of file\n",
        );

        assert_eq!((hunks[0].at_end, hunks[0].ends_line), (true, Some(true)));
        assert_eq!((hunks[1].at_end, hunks[1].ends_line), (false, Some(false)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for patch in [
            "",
            "hello",
            "*** Update File:\n-x\n",
            "*** Update File: a\n x\n",
            "*** Move File: a\n",
            "*** Move to: b\n",
            "*** Delete File: ../a\n",
            "*** Add File: a/../../b\n+x\n",
        ] {
            assert!(parse(patch).is_err(), "{patch}");
        }
    }
}
