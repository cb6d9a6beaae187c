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
    Measure { item: Option<String>, place: Place, json: bool },
    /// Measure one item once, here.
    Once { item: String, place: Place },
}

/// Where it is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder for data.
    pub(crate) work: PathBuf,
    /// The scripted model, for the items that talk to one.
    pub(crate) model: Option<String>,
}

/// Reads the words after the program's name.
pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let (mut plain, mut work, mut model, mut json) = (Vec::new(), None, None, false);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--work" => work = Some(PathBuf::from(words.next().ok_or("--work needs a folder")?)),
            "--base-url" => model = Some(words.next().ok_or("--base-url needs a URL")?),
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => plain.push(word),
        }
    }
    let place = work.map(|work| Place { work, model }).ok_or_else(|| "--work DIR is needed".to_owned());
    match plain.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["list"] => Ok(Asked::List),
        ["all"] => Ok(Asked::Measure { item: None, place: place?, json }),
        [ONCE, item] => Ok(Asked::Once { item: (*item).to_owned(), place: place? }),
        [item] => Ok(Asked::Measure { item: Some((*item).to_owned()), place: place?, json }),
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
        let place = |model: Option<&str>| Place { work: "/w".into(), model: model.map(str::to_owned) };
        let all = Asked::Measure { item: None, place: place(Some("http://127.0.0.1:1")), json: true };
        let defs = Asked::Measure { item: Some("defs".to_owned()), place: place(None), json: false };

        assert_eq!(asked("all --json --work /w --base-url http://127.0.0.1:1"), Ok(all));
        assert_eq!(asked("defs --work /w"), Ok(defs));
        assert_eq!(asked("list"), Ok(Asked::List));
        assert_eq!(
            asked("once defs --work /w"),
            Ok(Asked::Once { item: "defs".to_owned(), place: place(None) })
        );
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in ["", "all", "all --work", "defs search --work /w", "all --work /w --fast"] {
            assert!(asked(line).is_err(), "{line}");
        }
    }
}
