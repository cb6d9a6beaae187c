//! Reads what a shell wrote down at its end: variables, functions and aliases, directory.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// What a shell left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dump {
    /// Exported variables.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Script that puts back what variables cannot carry.
    pub(crate) rest: Vec<u8>,
    /// Where it stood.
    pub(crate) cwd: PathBuf,
}

/// Variables a shell makes for itself, and those we set anew each time.
const OWN: [&[u8]; 5] = [b"SHLVL", b"_", b"PWD", b"BASHOPTS", crate::process::MARK.as_bytes()];

/// Reads a file a shell wrote; nothing when it is not complete.
pub(crate) fn read(bytes: &[u8], mark: &str) -> Option<Dump> {
    let fence = format!("#{mark}\n");
    let mut parts = Parts { bytes, fence: fence.as_bytes() };
    let exports = parts.next()?;
    let functions = parts.next()?;
    let cwd = parts.next()?.strip_suffix(b"\n")?;
    let (variables, odd) = exported(exports);
    let rest = [odd.as_slice(), functions].concat();
    Some(Dump { variables, rest, cwd: OsString::from_vec(cwd.to_vec()).into() })
}

/// Splits at lines that are the fence.
struct Parts<'a> {
    bytes: &'a [u8],
    fence: &'a [u8],
}

impl<'a> Parts<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let at = memchr::memmem::find(self.bytes, self.fence)?;
        let (part, rest) = self.bytes.split_at_checked(at)?;
        self.bytes = rest.get(self.fence.len()..)?;
        Some(part)
    }
}

/// The plain exported variables of `export -p`, and the text of the ones that are more than that.
fn exported(text: &[u8]) -> (Vec<(OsString, OsString)>, Vec<u8>) {
    let mut variables = Vec::new();
    let mut odd = Vec::new();
    let mut left = text;
    while !left.is_empty() {
        let (entry, rest) = entry(left);
        match entry {
            Entry::Plain(name, value) if !OWN.contains(&name) => {
                variables.push((OsString::from_vec(name.to_vec()), OsString::from_vec(value)));
            }
            Entry::Plain(..) | Entry::Unset => {}
            Entry::Odd(text) => odd.extend_from_slice(text),
        }
        left = rest;
    }
    (variables, odd)
}

enum Entry<'a> {
    Plain(&'a [u8], Vec<u8>),
    /// Exported, but without a value: nothing a program would see.
    Unset,
    /// Readonly, integer, …: put back by the shell itself.
    Odd(&'a [u8]),
}

/// The next entry, and what follows it.
fn entry(text: &[u8]) -> (Entry<'_>, &[u8]) {
    let line_end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    let (line, after) = text.split_at(line_end);
    let Some(declared) = text.strip_prefix(b"declare -") else { return (Entry::Odd(line), after) };
    let Some(space) = memchr::memchr(b' ', declared) else { return (Entry::Odd(line), after) };
    let (flags, rest) = declared.split_at(space);
    let rest = rest.get(1..).unwrap_or_default();
    let name_end = rest.iter().position(|byte| matches!(byte, b'=' | b'\n')).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name_end);
    let Some(quoted) = rest.strip_prefix(b"=") else { return (Entry::Unset, after) };
    let Some((value, used)) = unquoted(quoted) else { return (Entry::Odd(line), after) };
    let whole = text.len() - quoted.len() + used;
    let whole = whole + usize::from(text.get(whole) == Some(&b'\n'));
    let (odd, after) = text.split_at(whole.min(text.len()));
    if flags == b"x" { (Entry::Plain(name, value), after) } else { (Entry::Odd(odd), after) }
}

/// A value as the shell quotes it, and how many bytes that took.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    if let Some(body) = text.strip_prefix(b"$'") {
        return ansi(body).map(|(value, used)| (value, used + 2));
    }
    let body = text.strip_prefix(b"\"")?;
    let mut value = Vec::new();
    let mut bytes = body.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some((value, at + 2)),
            b'\\' => value.push(*bytes.next()?.1),
            byte => value.push(*byte),
        }
    }
    None
}

/// The body of `$'…'`.
fn ansi(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut value = Vec::new();
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'\'' => return Some((value, at + 1)),
            b'\\' => {
                let code = *text.get(at + 1)?;
                at += 1;
                if matches!(code, b'0'..=b'7') {
                    let digits = text.get(at..)?.iter().take(3).take_while(|it| matches!(it, b'0'..=b'7'));
                    let (mut number, mut count) = (0_u32, 0);
                    for digit in digits {
                        number = number * 8 + u32::from(digit - b'0');
                        count += 1;
                    }
                    value.push(u8::try_from(number & 0xff).ok()?);
                    at += count;
                    continue;
                }
                value.push(match code {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'v' => 11,
                    b'e' | b'E' => 27,
                    plain => plain,
                });
                at += 1;
            }
            byte => {
                value.push(byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let text_of = |text: OsString| text.into_string().unwrap();
        exported(text.as_bytes()).0.into_iter().map(|(name, value)| (text_of(name), text_of(value))).collect()
    }

    #[test]
    fn quoted_values_are_read_as_the_shell_means_them() {
        let text = "declare -x A=\"1 \\\"two\\\" \\$x \\\\\"\ndeclare -x B=$'a\\nb\\'c\\001\\E'\ndeclare -x C\n\
                    declare -x D=\"two\nlines\"\n";

        assert_eq!(
            pairs(text),
            [
                ("A".to_owned(), "1 \"two\" $x \\".to_owned()),
                ("B".to_owned(), "a\nb'c\u{1}\u{1b}".to_owned()),
                ("D".to_owned(), "two\nlines".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_more_than_a_variable_is_kept_as_it_is_written() {
        let (variables, odd) = exported(b"declare -rx A=\"1\n2\"\ndeclare -x B=\"2\"\ndeclare -ix C=\"3\"\n");

        assert_eq!(variables, [("B".into(), "2".into())]);
        assert_eq!(odd, b"declare -rx A=\"1\n2\"\ndeclare -ix C=\"3\"\n");
    }

    #[test]
    fn a_dump_without_its_last_fence_is_not_a_dump() {
        let whole = b"declare -x A=\"1\"\n#m\nf () \n{ \n    :\n}\n#m\n/w\n#m\n";

        let dump = read(whole, "m").unwrap();
        assert_eq!(dump.variables, [("A".into(), "1".into())]);
        assert_eq!(dump.rest, b"f () \n{ \n    :\n}\n");
        assert_eq!(dump.cwd, PathBuf::from("/w"));
        assert!(read(&whole[..whole.len() - 1], "m").is_none());
        assert!(read(b"", "m").is_none());
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_can_be_written_breaks_the_reader(text in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let _ = exported(&text);
            let _ = exported(&[b"declare -x A=".as_slice(), &text].concat());
        }
    }
}
