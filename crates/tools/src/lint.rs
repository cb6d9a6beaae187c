//! Whether a file that was written can still be read by what reads such files.
//!
//! Reported, never a reason to refuse: a file may be broken on purpose, or only for now. What was
//! wrong before the edit already is not told again.

mod python;

use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Files larger than this are not looked at.
const MOST: usize = 4 * 1024 * 1024;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lint {
    /// Nothing wrong, or nothing that was not wrong before.
    Fine,
    /// This.
    Wrong(String),
    /// It was not checked.
    Skipped(String),
}

impl Lint {
    /// As the model reads it.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Fine => json!({ "status": "ok" }),
            Self::Wrong(what) => json!({ "status": "error", "output": what }),
            Self::Skipped(why) => json!({ "status": "skipped", "message": why }),
        }
    }
}

/// Checks a text by the name of its file.
pub(crate) fn lint(path: &Path, old: Option<&str>, new: &str) -> Lint {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    let check: fn(&str) -> Result<(), String> = match extension.as_str() {
        "json" => json_error,
        "yaml" | "yml" => yaml_error,
        "toml" => toml_error,
        "py" | "pyi" => python::check,
        "" => return Lint::Skipped("no checker for files without an extension".to_owned()),
        other => return Lint::Skipped(format!("no checker for .{other} files")),
    };
    if new.len() > MOST {
        return Lint::Skipped("the file is too large to be checked".to_owned());
    }
    match check(new) {
        Ok(()) => Lint::Fine,
        Err(wrong) if old.is_some_and(|old| check(old).err().as_ref() == Some(&wrong)) => Lint::Fine,
        Err(wrong) => Lint::Wrong(wrong),
    }
}

fn json_error(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|wrong| wrong.to_string())
}

fn yaml_error(text: &str) -> Result<(), String> {
    let wrong = granit_parser::Parser::new_from_str(text).find_map(Result::err);
    wrong.map_or(Ok(()), |wrong| Err(wrong.to_string()))
}

fn toml_error(text: &str) -> Result<(), String> {
    let document = toml_edit::Document::parse(text);
    document.map(drop).map_err(|wrong| wrong.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str) -> Lint {
        lint(Path::new(name), None, text)
    }

    #[test]
    fn what_does_not_parse_is_told_with_its_line() {
        for (name, good, bad, line) in [
            ("a.json", "{\"a\": [1, 2]}", "{\"a\": [1,\n 2}", "line 2"),
            ("a.yaml", "a:\n  - b\n---\nc: 1\n", "a: [1\nb: 2\n", "line 2"),
            ("A.YML", "a: !custom 1\n", "a: \"x\n", "line"),
            ("a.toml", "[a]\nb = 1\n", "[a]\nb = \n", "line 2"),
            ("a.py", "def f(x):\n    return (x)\n", "def f(x:\n    return x\n", "line 1"),
        ] {
            assert_eq!(check(name, good), Lint::Fine, "{name}");
            let Lint::Wrong(what) = check(name, bad) else { panic!("{name}") };
            assert!(what.contains(line), "{name}: {what}");
        }
    }

    #[test]
    fn what_was_wrong_before_is_not_told_again() {
        let path = Path::new("a.json");

        assert_eq!(lint(path, Some("{"), "{"), Lint::Fine);
        assert!(matches!(lint(path, Some("{}"), "{"), Lint::Wrong(_)));
    }

    #[test]
    fn other_files_are_not_checked() {
        assert!(matches!(check("a.xyz", "{"), Lint::Skipped(_)));
        assert!(matches!(check("Makefile", "{"), Lint::Skipped(_)));
    }
}
