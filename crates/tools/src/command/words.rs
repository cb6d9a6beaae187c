//! A command text as simple commands: their words, and how they are joined.
//!
//! Just enough of the shell's grammar to tell a program's name from a word that happens to look
//! like one: quotes, comments, operators, redirections, here-documents, substitutions. It decides
//! nothing about safety; it is for hints.

/// A simple command and what stands after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
    /// Files its output is written over.
    pub(crate) over: Vec<String>,
    pub(crate) then: Join,
}

/// What stands after a simple command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// `;`, a line end, `&&`, `||`, a bracket, or nothing.
    Next,
    /// `|`.
    Pipe,
    /// `&`: it goes on by itself.
    Background,
}

/// The simple commands of a text, in order.
pub(crate) fn simple_commands(text: &str) -> Vec<Simple> {
    let mut reader = Reader { chars: text.chars().peekable(), ..Reader::default() };
    reader.read();
    reader.found
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the target of a redirection.
    target: bool,
    /// And it is a file that is written anew.
    overwrites: bool,
    over: Vec<String>,
    /// The next word ends a here-document.
    here: bool,
    /// Here-documents that begin at the next line.
    documents: Vec<String>,
    found: Vec<Simple>,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Self {
            chars: "".chars().peekable(),
            words: Vec::new(),
            word: None,
            target: false,
            overwrites: false,
            over: Vec::new(),
            here: false,
            documents: Vec::new(),
            found: Vec::new(),
        }
    }
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(c) = self.chars.next() {
            match c {
                '\\' => {
                    if let Some(c) = self.chars.next()
                        && c != '\n'
                    {
                        self.add(c);
                    }
                }
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '$' if self.chars.next_if_eq(&'(').is_some() => self.substitution(),
                '`' => self.quoted('`'),
                '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
                ' ' | '\t' => self.end_word(),
                '\n' => {
                    self.end_command(Join::Next);
                    self.skip_documents();
                }
                ';' | '(' | ')' => self.end_command(Join::Next),
                '&' => self.ampersand(),
                '|' => {
                    let list = self.chars.next_if_eq(&'|').is_some();
                    self.chars.next_if_eq(&'&');
                    self.end_command(if list { Join::Next } else { Join::Pipe });
                }
                '<' | '>' => self.redirection(c),
                c => self.add(c),
            }
        }
        self.end_command(Join::Next);
    }

    fn add(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn ampersand(&mut self) {
        if self.chars.next_if_eq(&'&').is_some() {
            self.end_command(Join::Next);
        } else if self.chars.next_if_eq(&'>').is_some() {
            self.end_word();
            self.overwrites = self.chars.next_if_eq(&'>').is_none();
            self.target = true;
        } else {
            self.end_command(Join::Background);
        }
    }

    fn redirection(&mut self, first: char) {
        // A number before it is the descriptor, not a word.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let mut here = false;
        if first == '<' && self.chars.next_if_eq(&'<').is_some() {
            here = self.chars.next_if_eq(&'<').is_none();
            self.chars.next_if_eq(&'-');
        }
        let second = self.chars.next_if(|c| matches!(c, '>' | '|'));
        if self.chars.next_if_eq(&'(').is_some() {
            self.substitution();
            self.end_word();
            return;
        }
        let copies = self.chars.next_if_eq(&'&').is_some();
        self.overwrites = first == '>' && second != Some('>') && !copies;
        (self.target, self.here) = (true, here);
    }

    fn quoted(&mut self, end: char) {
        self.word.get_or_insert_default();
        while let Some(c) = self.chars.next() {
            match c {
                c if c == end => return,
                '\\' if end != '\'' => {
                    if let Some(c) = self.chars.next() {
                        self.add(c);
                    }
                }
                c => self.add(c),
            }
        }
    }

    /// `$(…)` and `<(…)`: part of a word; what is inside is not looked at.
    fn substitution(&mut self) {
        self.word.get_or_insert_default();
        let mut depth = 1;
        while let Some(c) = self.chars.next() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                '\\' => drop(self.chars.next()),
                '\'' => while self.chars.next().is_some_and(|c| c != '\'') {},
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.target) {
            if std::mem::take(&mut self.overwrites) {
                self.over.push(word);
            } else if std::mem::take(&mut self.here) {
                self.documents.push(word);
            }
        } else {
            self.words.push(word);
        }
    }

    fn end_command(&mut self, then: Join) {
        self.end_word();
        let (words, mut over) = (std::mem::take(&mut self.words), std::mem::take(&mut self.over));
        if !words.is_empty() {
            self.found.push(Simple { words, over, then });
            return;
        }
        // `(…) > f`, or `> f` on its own.
        match self.found.last_mut() {
            Some(last) => last.over.append(&mut over),
            None if !over.is_empty() => self.found.push(Simple { words, over, then: Join::Next }),
            None => {}
        }
        if then == Join::Background
            && let Some(last) = self.found.last_mut()
        {
            // `(…) &` and `{ …; } &`.
            last.then = then;
        }
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            loop {
                let line: String = std::iter::from_fn(|| self.chars.next_if(|c| *c != '\n')).collect();
                let more = self.chars.next().is_some();
                if line.trim_start_matches('\t') == end || !more {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let join = |join| match join {
            Join::Next => ';',
            Join::Pipe => '|',
            Join::Background => '&',
        };
        simple_commands(text).iter().map(|it| format!("{}{}", it.words.join(","), join(it.then))).collect()
    }

    #[test]
    fn words_and_joins_are_told_apart() {
        for (text, expected) in [
            ("ls -la; pwd", vec!["ls,-la;", "pwd;"]),
            ("a && b || c | d", vec!["a;", "b;", "c|", "d;"]),
            ("sleep 5&", vec!["sleep,5&"]),
            ("(sleep 1 &)", vec!["sleep,1&"]),
            ("{ sleep 1; } & wait", vec!["{,sleep,1;", "}&", "wait;"]),
            ("make 2>&1 | tee log", vec!["make|", "tee,log;"]),
            ("make &> log", vec!["make;"]),
            ("a |& b", vec!["a|", "b;"]),
            ("echo 'a & b' \"c | d\" e\\&f", vec!["echo,a & b,c | d,e&f;"]),
            ("echo $(a | b &) c", vec!["echo,,c;"]),
            ("echo hi # & done", vec!["echo,hi;"]),
            ("cat <<EOF\na & b\nEOF\nls", vec!["cat;", "ls;"]),
            ("cat <<<x; ls", vec!["cat;", "ls;"]),
            ("diff <(a) <(b)", vec!["diff,,;"]),
            ("", vec![]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_words(text in ".*") {
            let _ = simple_commands(&text);
        }
    }
}
