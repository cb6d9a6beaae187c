//! Whether a command can leave anything for the next one.
//!
//! Writing down a shell's state and reading it again costs more than most commands do. A command
//! that only starts programs cannot change the state of the shell that starts them, so nothing needs
//! to be written down after it. Pure, and strict: whatever is not understood may change something.

use crate::shell::state::Known;

/// Words that mean something to the shell itself, except those in [`HARMLESS`]. Sorted.
const SHELL_WORDS: [&str; 74] = [
    ".",
    "[",
    "[[",
    "]]",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "{",
    "}",
];

/// Words of the shell that change nothing, whatever follows them.
const HARMLESS: [&str; 7] = [":", "echo", "exit", "false", "kill", "pwd", "true"];

/// Variables that change how the shell reads a command, or make it run something first.
const SWITCHES: [&str; 3] = ["BASH_ENV", "SHELLOPTS", "POSIXLY_CORRECT"];

/// Whether the shell a command runs in is at its end as it was at its beginning, as far as the next
/// command can tell, and whether it needs nothing of the session beside its variables.
pub(crate) fn leaves_nothing(command: &str, known: &Known) -> bool {
    let switched = known.variables.iter().any(|(name, _)| SWITCHES.iter().any(|switch| name == switch));
    if switched || passes_on(known.rest_text()) {
        return false;
    }
    let Some(commands) = commands(command) else { return false };
    commands.iter().all(|words| only_starts_a_program(words, known.rest_text()))
}

/// Whether there is something in the rest that programs would see: exported functions, or variables
/// with attributes.
fn passes_on(rest: &[u8]) -> bool {
    begins_a_line(rest, b"declare -")
}

fn only_starts_a_program(words: &[&str], rest: &[u8]) -> bool {
    let mut after = words.iter().skip_while(|word| is_assignment(word));
    let Some(name) = after.next() else {
        // Assignments on their own stay; redirections on their own do not.
        return words.is_empty();
    };
    if is_defined(name, rest) {
        return false;
    }
    if *name == "printf" {
        // It can also put what it would print into a variable.
        return after.next().is_some_and(|first| is_format(first));
    }
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./+-@,:".contains(&byte));
    HARMLESS.contains(name) || (plain && SHELL_WORDS.binary_search(name).is_err())
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the first argument of `printf` is certainly what is printed.
fn is_format(word: &str) -> bool {
    let inside = word.strip_prefix(['\'', '"']).unwrap_or(word);
    inside.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'%')
}

/// Whether the session has a function or an alias of that name.
fn is_defined(name: &str, rest: &[u8]) -> bool {
    !rest.is_empty()
        && [format!("{name} ()"), format!("alias {name}="), format!("alias -- {name}=")]
            .iter()
            .any(|start| begins_a_line(rest, start.as_bytes()))
}

fn begins_a_line(text: &[u8], start: &[u8]) -> bool {
    memchr::memmem::find_iter(text, start)
        .any(|at| at == 0 || at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\n'))
}

/// The simple commands of a text, each as its words without redirections; nothing when there is
/// more to it than that.
fn commands(text: &str) -> Option<Vec<Vec<&str>>> {
    let mut reader = Reader { text, at: 0 };
    let mut commands = vec![Vec::new()];
    while let Some(token) = reader.next()? {
        match token {
            Token::End => commands.push(Vec::new()),
            Token::Redirection => match reader.next()?? {
                Token::Word(_) => {}
                Token::End | Token::Redirection => return None,
            },
            Token::Word(word) => match reader.peek() {
                // A number before a redirection belongs to it; a name in braces gets a value.
                Some(b'<' | b'>') if word.bytes().all(|byte| byte.is_ascii_digit()) => {}
                Some(b'<' | b'>') if word.ends_with('}') => return None,
                _ => commands.last_mut()?.push(word),
            },
        }
    }
    Some(commands)
}

enum Token<'a> {
    Word(&'a str),
    Redirection,
    /// Of a simple command; another may follow.
    End,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next token, or nothing at the end; no answer when it is not understood.
    #[expect(clippy::option_option, reason = "not understood and at the end are two things")]
    fn next(&mut self) -> Option<Option<Token<'a>>> {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        let Some(byte) = self.peek() else { return Some(None) };
        let two = (byte, self.after());
        let (token, length) = match two {
            (b'#', _) | (b';', Some(b';' | b'&')) | (b'<', Some(b'<' | b'(')) | (b'>', Some(b'(')) => {
                return None;
            }
            (b'&', Some(b'>')) if self.text.as_bytes().get(self.at + 2) == Some(&b'>') => {
                (Token::Redirection, 3)
            }
            (b'&', Some(b'>')) | (b'<', Some(b'&' | b'>')) | (b'>', Some(b'>' | b'|' | b'&')) => {
                (Token::Redirection, 2)
            }
            (b'<' | b'>', _) => (Token::Redirection, 1),
            (b'&', Some(b'&')) | (b'|', Some(b'|' | b'&')) => (Token::End, 2),
            (b';' | b'\n' | b'&' | b'|', _) => (Token::End, 1),
            _ => return self.word().map(|word| Some(Token::Word(word))),
        };
        self.at += length;
        Some(Some(token))
    }

    fn word(&mut self) -> Option<&'a str> {
        let begin = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' => break,
                b'\'' => self.single_quoted()?,
                b'"' => self.quoted()?,
                b'\\' => {
                    self.after().filter(|next| *next != b'\n' && next.is_ascii())?;
                    self.at += 2;
                }
                b'$' if matches!(self.after(), Some(b'\'' | b'"')) => return None,
                byte => self.plain(byte)?,
            }
        }
        self.text.get(begin..self.at)
    }

    /// Past one character that is neither quote nor backslash; not past one that runs or sets something.
    fn plain(&mut self, byte: u8) -> Option<()> {
        let sets = byte == b'$' && matches!(self.after(), Some(b'{' | b'(' | b'['));
        let odd = !byte.is_ascii() || byte.is_ascii_control();
        if sets || odd || matches!(byte, b'`' | b'(' | b')') {
            return None;
        }
        self.at += 1;
        Some(())
    }

    fn single_quoted(&mut self) -> Option<()> {
        let length = self.text.as_bytes().get(self.at + 1..)?.iter().position(|byte| *byte == b'\'')?;
        self.at += length + 2;
        Some(())
    }

    fn quoted(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                b'`' => return None,
                b'$' if matches!(self.after(), Some(b'{' | b'(' | b'[')) => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn after(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }
}

#[cfg(test)]
#[path = "lasting_tests.rs"]
mod tests;
