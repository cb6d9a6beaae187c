//! Whether a Python file is a tool file: its top level calls `registry.register(...)`.
//!
//! The file is read, never run. As in the original only a statement of its own at the margin counts:
//! a call inside of a function, a class, an `if` or a `try`, one that is assigned, and one in a string
//! or comment do not.

use std::borrow::Cow;

use super::lex::{Broken, Kind, Token, tokens};

/// What statements begin with that have others inside of them, also on the same line.
const COMPOUND: [&str; 12] =
    ["async", "class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while", "with"];

/// Python itself reads no more brackets inside of each other.
const MAX_BRACKETS: usize = 200;

/// A call of `registry.register` at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The line it begins on, counted from 1.
    pub line: usize,
    /// The tool's name, where it is written as a plain string.
    pub name: Option<String>,
    /// Variables it needs, as far as they are written as plain strings.
    pub requires_env: Vec<String>,
}

/// The registrations of a file, or why it is not Python.
pub fn registrations(text: &str) -> Result<Vec<Registration>, String> {
    // Most files say neither word; nothing more is looked at then.
    if !text.contains("registry") || !text.contains("register") {
        return Ok(Vec::new());
    }
    let text = lines(text);
    let tokens = tokens(&text).map_err(|broken: Broken| broken.to_string())?;
    let is_end = |token: &Token<'_>| match token.kind {
        Kind::Line { .. } => true,
        sign => sign == Kind::Sign(';') && token.depth == 0,
    };
    let mut found = Vec::new();
    let mut margin = false;
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| is_end(token)) {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        if let Kind::Line { at_margin } = token.kind {
            let first = rest.first().map(|token| token.kind);
            margin = at_margin && !matches!(first, Some(Kind::Name(word)) if COMPOUND.contains(&word));
        }
        if margin {
            found.extend(rest.split(is_end).next().and_then(registration));
        }
    }
    Ok(found)
}

/// The text with the ends of its lines as Python reads them: a carriage return alone ends one too.
fn lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The variables that a file reads by a name that is written out: `os.getenv("X")`, `os.environ["X"]`,
/// `os.environ.get("X")`. A text that is not Python reads none.
pub fn variables(text: &str) -> Vec<String> {
    if !text.contains("getenv") && !text.contains("environ") {
        return Vec::new();
    }
    let text = lines(text);
    let tokens = tokens(&text).unwrap_or_default();
    let mut found: Vec<String> = (0..tokens.len())
        .filter_map(|at| variable(tokens.get(at..)?))
        .filter(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

fn variable<'a>(words: &[Token<'a>]) -> Option<&'a str> {
    let kinds: Vec<Kind<'a>> = words.iter().take(5).map(|token| token.kind).collect();
    match kinds.as_slice() {
        [Kind::Name("getenv"), Kind::Sign('('), Kind::Text(Some(name)), ..]
        | [Kind::Name("environ"), Kind::Sign('['), Kind::Text(Some(name)), ..]
        | [
            Kind::Name("environ"),
            Kind::Sign('.'),
            Kind::Name("get"),
            Kind::Sign('('),
            Kind::Text(Some(name)),
        ] => Some(name),
        _ => None,
    }
}

/// The call that this statement is, if it is one. Brackets around the whole or its parts mean nothing.
fn registration(statement: &[Token<'_>]) -> Option<Registration> {
    let [whole @ .., end] = bare(statement) else { return None };
    let is_open = |token: &Token<'_>| token.kind == Kind::Sign('(') && token.depth == end.depth;
    let open = whole.iter().rposition(is_open).filter(|_| end.kind == Kind::Sign(')'))?;
    let (called, arguments) = (whole.get(..open)?, whole.get(open + 1..)?);
    let [receiver @ .., dot, method] = bare(called) else { return None };
    let [receiver] = bare(receiver) else { return None };
    let names = [receiver.kind, dot.kind, method.kind];
    if names != [Kind::Name("registry"), Kind::Sign('.'), Kind::Name("register")] {
        return None;
    }
    Some(Registration {
        line: receiver.line,
        name: keyword(arguments, "name").or_else(|| first_text(arguments)),
        requires_env: listed(arguments, "requires_env"),
    })
}

/// An expression without the brackets around it.
fn bare<'a, 'b>(mut words: &'b [Token<'a>]) -> &'b [Token<'a>] {
    for _ in 0..MAX_BRACKETS {
        match words {
            [open, inner @ .., close]
                if (open.kind, close.kind) == (Kind::Sign('('), Kind::Sign(')'))
                    && inner.iter().all(|token| token.depth > open.depth) =>
            {
                words = inner;
            }
            _ => break,
        }
    }
    words
}

/// What follows `name =` at the first level of a call.
fn value_of<'a, 'b>(arguments: &'b [Token<'a>], name: &str) -> Option<&'b [Token<'a>]> {
    let level = arguments.first()?.depth;
    let at = arguments.windows(2).position(|pair| {
        matches!(pair, [key, equals] if key.depth == level
            && key.kind == Kind::Name(name) && equals.kind == Kind::Sign('='))
    })?;
    arguments.get(at + 2..)
}

fn keyword(arguments: &[Token<'_>], name: &str) -> Option<String> {
    first_text(value_of(arguments, name)?)
}

/// A plain string that stands alone as an argument.
fn first_text(words: &[Token<'_>]) -> Option<String> {
    match words {
        [Token { kind: Kind::Text(Some(text)), .. }, next, ..] if next.kind == Kind::Sign(',') => {
            Some((*text).to_owned())
        }
        [Token { kind: Kind::Text(Some(text)), .. }] => Some((*text).to_owned()),
        _ => None,
    }
}

/// The plain strings of a list or tuple.
fn listed(arguments: &[Token<'_>], name: &str) -> Vec<String> {
    let Some([open, items @ ..]) = value_of(arguments, name) else { return Vec::new() };
    if !matches!(open.kind, Kind::Sign('[' | '(')) {
        return Vec::new();
    }
    let inside = items.iter().take_while(|token| token.depth > open.depth);
    let text = |token: &Token<'_>| match token.kind {
        Kind::Text(Some(text)) => Some(text.to_owned()),
        _ => None,
    };
    inside.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<usize> {
        registrations(text).unwrap().into_iter().map(|found| found.line).collect()
    }

    #[test]
    fn a_statement_at_the_margin_counts_with_what_it_says() {
        let text = "from tools.registry import registry\n\nregistry.register(\n    name=\"weather\",\n    \
                    toolset='weather',\n    requires_env=[\"A_KEY\", 'B_KEY'],  # two\n    \
                    handler=lambda args, **kw: f(args.get(\"x\", \"\")),\n)\n";

        let expected = Registration {
            line: 3,
            name: Some("weather".to_owned()),
            requires_env: vec!["A_KEY".to_owned(), "B_KEY".to_owned()],
        };
        assert_eq!(registrations(text), Ok(vec![expected]));
    }

    #[test]
    fn what_is_not_a_statement_of_its_own_at_the_margin_does_not_count() {
        for text in [
            "def f():\n    registry.register(name='a')\n",
            "class A:\n    registry.register(name='a')\n",
            "if True:\n    registry.register(name='a')\n",
            "if True: registry.register(name='a')\n",
            "try: x = 1; registry.register(name='a')\nfinally: pass\n",
            "x = registry.register(name='a')\n",
            "# registry.register(name='a')\n",
            "'''\nregistry.register(name='a')\n'''\n",
            "r\"\"\"\\\nregistry.register(name='a')\n\"\"\"\n",
            "f'''{x}\nregistry.register(name='a')\n'''\n",
            "x = (\nregistry.register(name='a')\n)\n",
            "x = \\\nregistry.register(name='a')\n",
            "my.registry.register(name='a')\n",
            "registry.register.other(name='a')\n",
            "registry.register(name='a').then()\n",
            "registry.register(name='a') or None\n",
            "registry.register\n",
            "(registry.register(name='a'),)\n",
            "(registry.register)(name='a')[0]\n",
            "(x := registry.register(name='a'))\n",
            "[registry.register(name='a')]\n",
            "f(registry.register(name='a'))\n",
            "registry(registry).register\n",
            "(registry.register)\n",
            "registry.register(1)(2)\n",
            "else: y: int; registry.register(name='a')\n",
            "for x in y: z = lambda: 1; registry.register(name='a')\n",
            "try: pass\nexcept A: pass; registry.register(name='a')\n",
            "x = 1 # registry\r# registry.register(name='a')\r",
            "async def f():\n\tregistry.register(name='a')\n",
        ] {
            assert_eq!(found(text), [0; 0], "{text}");
        }
    }

    #[test]
    fn odd_but_real_spellings_count() {
        for (text, line) in [
            ("\u{feff}registry.register(name='a')", 1),
            ("import os; registry.register(name='a')\n", 1),
            ("registry . register (\n)\r\n", 1),
            ("x = f\"{d[\"k\"]!r:>{w}} {{ }}\"\nregistry.register(name='a') # done\n", 2),
            ("x = f'{x:\">10}' f\"{'}'}\"\nregistry.register()\n", 2),
            ("s = 'it\\'s \\\\'\nregistry.register(a)\n", 2),
            ("def f():\n    return 1\n\n\nregistry.register(\n  x)\n", 5),
            ("@decorated\ndef f(): pass\nregistry.register(f)", 3),
            ("x = '''a''b'''; y = \"\"\nregistry.register(f)", 2),
            ("x: int; registry.register(name='a')\n", 1),
            ("x=lambda: 1;registry.register(name='a')\n", 1),
            ("(registry.register(name='a'))\n", 1),
            ("(registry).register(name='a')\n", 1),
            ("((  (registry.register)(\nname='a')))\n", 1),
            ("match: int = 1; registry.register()\n", 1),
            ("x = 1\r\r# y\rregistry.register(\rname='a')\rz = '''\r'''\r", 4),
        ] {
            assert_eq!(found(text), [line], "{text}");
        }
    }

    #[test]
    fn brackets_around_a_call_hide_nothing_of_what_it_says() {
        let text = "((registry).register(name='weather', requires_env=('A_KEY',)))\n";

        let (name, requires_env) = (Some("weather".to_owned()), vec!["A_KEY".to_owned()]);
        assert_eq!(registrations(text), Ok(vec![Registration { line: 1, name, requires_env }]));
    }

    #[test]
    fn variables_that_are_read_by_name_are_found() {
        let text = "import os\nA = os.getenv('A_KEY', '')\n# os.getenv('NOT_ME')\ndef f():\n    \
                    return os.environ[\"B_KEY\"] + os.environ.get('A_KEY') + os.environ.get(name) + os.getenv('not a name')\n";

        assert_eq!(variables(text), ["A_KEY", "B_KEY"]);
    }

    #[test]
    fn a_text_that_is_not_python_is_told_with_its_line() {
        let wrong = |text: &str| registrations(&format!("{text}\n# registry register")).unwrap_err();

        assert_eq!(wrong("x = 1\ny = 'open"), "line 2: this string is never closed");
        assert_eq!(wrong("(\n[1, 2"), "line 2: this bracket is never closed");
        assert_eq!(wrong("a\n)"), "line 2: a bracket that was not opened");
        assert_eq!(wrong("x = '''"), "line 1: this string is never closed");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(registry\\.register\\(|\\)|f?[\"']{1,3}|[{}\\[\\]:;#\\\\]|\n| |x|é){0,60}") {
            let _ = registrations(&text);
        }

        #[test]
        fn what_stands_before_a_call_as_a_plain_statement_changes_nothing(
            before in prop::sample::select(vec![
                "x = 1\n", "# registry.register(\n", "s = '''\nregistry.register(\n'''\n",
                "def f(a, b=(1, 2)):\n    registry.register(a)\n", "d = {\n  'a': [1,\n2],\n}\n", "x = 'a' \\\n  'b'\n",
            ]),
            times in 0usize..6,
        ) {
            let text = format!("{}registry.register(name='a')\n", before.repeat(times));
            prop_assert_eq!(registrations(&text).unwrap().len(), 1);
        }
    }
}
