//! The command line of `hermes-bench`.

use std::path::PathBuf;

/// The word for one measurement in this very process; the numbers go to standard output.
pub(crate) const ONCE: &str = "once";

/// What is printed when the words are wrong.
pub(crate) const USAGE: &str = "\
usage: hermes-bench list
       hermes-bench all|ITEM --work DIR [--json] [--base-url URL]
  DIR/data holds the generated data; --base-url is the scripted model, for the items that talk to one";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Name the items.
    List,
    /// Measure one item, or all, in fresh processes.
    Measure { item: Option<String>, work: PathBuf, json: bool },
    /// Measure one item once, here.
    Once { item: String, work: PathBuf },
}

/// Reads the words after the program's name.
pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let (mut plain, mut work, mut json) = (Vec::new(), None, false);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--work" => work = Some(PathBuf::from(words.next().ok_or("--work needs a folder")?)),
            // No item there is now talks to a model.
            "--base-url" => drop(words.next().ok_or("--base-url needs a URL")?),
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => plain.push(word),
        }
    }
    let needed = work.ok_or_else(|| "--work DIR is needed".to_owned());
    match plain.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["list"] => Ok(Asked::List),
        ["all"] => Ok(Asked::Measure { item: None, work: needed?, json }),
        [ONCE, item] => Ok(Asked::Once { item: (*item).to_owned(), work: needed? }),
        [item] => Ok(Asked::Measure { item: Some((*item).to_owned()), work: needed?, json }),
        _ => Err("one item is wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Asked, String> {
        read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_contract_of_the_comparison_is_understood() {
        let all = Asked::Measure { item: None, work: PathBuf::from("/w"), json: true };
        let defs = Asked::Measure { item: Some("defs".to_owned()), work: PathBuf::from("/w"), json: false };

        assert_eq!(asked("all --json --work /w --base-url http://127.0.0.1:1"), Ok(all));
        assert_eq!(asked("defs --work /w"), Ok(defs));
        assert_eq!(asked("list"), Ok(Asked::List));
        assert_eq!(
            asked("once defs --work /w"),
            Ok(Asked::Once { item: "defs".to_owned(), work: "/w".into() })
        );
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in ["", "all", "all --work", "defs search --work /w", "all --work /w --fast"] {
            assert!(asked(line).is_err(), "{line}");
        }
    }
}
