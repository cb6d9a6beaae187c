//! Every documented command works, and says what the page shows.
//!
//! Looked at are the `sh` blocks of the pages for users. Each line that runs `hermes` (or `cargo run
//! --release --`) is run by a shell in a small project. A comment `# exits N` at its end says that it
//! fails. When a `text` block follows, it is what the block's commands print: spaces count as one,
//! `…` at the end of a line stands for the rest of it, and alone for any lines.

use std::path::{Path, PathBuf};

use crate::home::{HERMES, Home, Said};

/// Written by people, so this many at least are found; a change of format must not empty the test.
const AT_LEAST: usize = 30;

/// An `sh` block, and the `text` block behind it.
struct Example {
    page: String,
    commands: Vec<String>,
    shown: Option<Vec<String>>,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    pages.sort();
    pages
}

/// The fenced blocks of a page: language, lines, and whether only blank lines stand before it.
fn blocks(text: &str) -> Vec<(String, Vec<String>, bool)> {
    let (mut found, mut open, mut adjacent) = (Vec::new(), None, false);
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((language.trim().to_owned(), Vec::new(), adjacent)),
            (Some(_), Some(block)) => {
                found.push(block);
                adjacent = true;
            }
            (None, Some((language, mut lines, was_adjacent))) => {
                lines.push(line.to_owned());
                open = Some((language, lines, was_adjacent));
            }
            (None, None) => adjacent &= line.trim().is_empty(),
        }
    }
    found
}

fn examples(page: &Path) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut before = String::new();
    for (language, lines, adjacent) in blocks(&std::fs::read_to_string(page).unwrap()) {
        if language == "sh" {
            let runs = |line: &String| line.contains("hermes ") || line.contains("cargo run --release -- ");
            let commands = lines.into_iter().filter(runs).collect();
            let page = page.file_name().unwrap().to_string_lossy().into_owned();
            found.push(Example { page, commands, shown: None });
        } else if language == "text"
            && adjacent
            && before == "sh"
            && let Some(example) = found.last_mut()
        {
            example.shown = Some(lines);
        }
        before = language;
    }
    found
}

/// A project like the one the pages speak of.
fn project() -> Home {
    Home::new()
        .file("notes.md", "# Notes\n\n- TODO: write the tests\n- buy milk\n")
        .file("src/main.rs", "fn main() {\n    // TODO: say hello\n}\n")
        .file("query.json", r#"{"pattern": "milk", "file_glob": "*.md"}"#)
}

/// Runs one line as it is printed, and insists on its exit code.
fn run(home: &Home, page: &str, line: &str) -> String {
    let (command, code) = match line.split_once("# exits ") {
        Some((command, code)) => (command, code.trim().parse().unwrap()),
        None => (line, 0),
    };
    let command = command.trim().trim_start_matches("$ ").replace("cargo run --release --", "hermes");
    let mut shell = home.program("bash", &["-o", "pipefail", "-c", &command]);
    let folder = Path::new(HERMES).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let said = Said::of(shell.env("PATH", path.unwrap()).output().unwrap());
    assert_eq!(said.code, Some(code), "{page}: {line}: {said:?}");
    said.out
}

fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the lines are those that are shown.
fn fits(shown: &[String], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((any, later)), rest) if any.trim() == "…" => {
            fits(later, lines) || rest.is_some_and(|(_, rest)| fits(shown, rest))
        }
        (Some(_), None) => false,
        (Some((one, later)), Some((line, rest))) => {
            let same = match plain(one).strip_suffix('…') {
                Some(start) => plain(line).starts_with(start),
                None => plain(one) == plain(line),
            };
            same && fits(later, rest)
        }
    }
}

#[test]
fn every_documented_command_works_and_says_what_is_shown() {
    let mut ran = 0;
    for page in pages() {
        // One project per page: a page is read from its beginning.
        let home = project();
        for example in examples(&page) {
            let said: String = example.commands.iter().map(|line| run(&home, &example.page, line)).collect();
            if let Some(shown) = &example.shown {
                let lines: Vec<&str> = said.lines().collect();
                assert!(fits(shown, &lines), "{}: {:?} says\n{said}", example.page, example.commands);
            }
            ran += example.commands.len();
        }
    }
    assert!(ran >= AT_LEAST, "only {ran} commands were found");
}

#[test]
fn every_shown_configuration_is_taken_without_a_word() {
    let mut seen = 0;
    for page in pages() {
        for (language, lines, _) in blocks(&std::fs::read_to_string(&page).unwrap()) {
            if language == "yaml" {
                let home = Home::configured(&lines.join("\n"));
                for words in [
                    &["tools", "list"][..],
                    &["tools", "list", "--platform", "telegram"],
                    &["policy", "explain", "ls"],
                ] {
                    let said = home.run(words);
                    // Hooks that nobody accepted, and servers and plugins that are not here, are told as such.
                    let told = ["warning: hooks.", "warning: MCP server `", "warning: plugin "];
                    let odd = said.err.lines().find(|line| !told.iter().any(|it| line.starts_with(it)));
                    assert_eq!((said.code, odd), (Some(0), None), "{}: {words:?}: {said:?}", page.display());
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "only {seen} configurations were found");
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name));
    for page in pages().into_iter().chain(others) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            let there = path.contains("://") || path.is_empty() || page.parent().unwrap().join(path).exists();
            assert!(there, "{}: {link}", page.display());
        }
    }
}

#[test]
fn what_is_shown_is_compared_as_the_pages_promise() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();

    assert!(fits(&shown("a  b\n…\nz…"), &["a b", "x", "y", "zzz"]));
    assert!(fits(&shown("…\na"), &["a"]));
    assert!(!fits(&shown("a\nb"), &["a"]));
    assert!(!fits(&shown("a"), &["a", "b"]));
    assert!(!fits(&shown("a…"), &["b"]));
}
