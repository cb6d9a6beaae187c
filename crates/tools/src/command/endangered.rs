//! Files a command is about to delete, move or write over, as far as its words tell.
//!
//! What they hold is kept first. It decides nothing about safety: what it does not see is not kept,
//! and that is all.

use std::path::{Path, PathBuf};

use hermes_core::checkpoint::Endangered;
use hermes_core::session::Place;

use crate::command::words::{Simple, simple_commands};

/// Words before the name of a program that do not change what it does to files.
const WRAPPERS: &str = "sudo doas env nohup time command exec builtin nice ionice stdbuf { then do else !";

/// Programs that delete or change what they are given, folders with everything in them.
const CHANGING: &str = "rm rmdir unlink shred truncate";

/// Programs that write to the last path they are given.
const COPYING: &str = "cp install ln";

/// What git does to files that are not committed.
const GIT: &str = "checkout clean reset restore stash switch";

/// Everything that is in danger when this command runs in that place.
pub(crate) fn endangered(text: &str, place: &Place) -> Vec<Endangered> {
    let mut place = place.clone();
    let mut found = Vec::new();
    for command in simple_commands(text) {
        let words: Vec<&str> = bare(&command).collect();
        if let ["cd", folder] = words.as_slice() {
            place.cwd = place.resolve(folder);
            continue;
        }
        let mut all = by_program(&words);
        all.extend(command.over.iter().map(|path| Named::Written(path)));
        found.extend(all.into_iter().filter_map(|named| named.at(&place)));
    }
    found
}

/// A path as it is written in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named<'a> {
    Changed(&'a str),
    Written(&'a str),
    /// The second, in the first where that is a folder.
    WrittenInto(&'a str, &'a str),
}

impl Named<'_> {
    fn at(&self, place: &Place) -> Option<Endangered> {
        Some(match self {
            Self::Changed(path) => Endangered::Changed(resolved(path, place)?),
            Self::Written(path) => Endangered::Written(resolved(path, place).filter(|it| !is_device(it))?),
            Self::WrittenInto(folder, name) => {
                let name = Path::new(name).file_name()?;
                Endangered::Written(resolved(folder, place)?.join(name))
            }
        })
    }
}

/// The words of a command from the name of its program on.
fn bare(command: &Simple) -> impl Iterator<Item = &str> {
    let words = command.words.iter().map(String::as_str);
    let assigns = |word: &str| word.split_once('=').is_some_and(|(name, _)| name.chars().all(is_name));
    words.skip_while(move |word| assigns(word) || listed(WRAPPERS, word))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

fn by_program<'a>(words: &[&'a str]) -> Vec<Named<'a>> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    let paths = || rest.iter().copied().filter(|word| !word.starts_with('-'));
    let has = |letter: char| rest.iter().any(|word| is_flag(word, letter));
    match program {
        _ if listed(CHANGING, program) => paths().map(Named::Changed).collect(),
        "mv" => {
            let mut from: Vec<&str> = paths().collect();
            from.pop();
            from.into_iter().map(Named::Changed).chain(copied(rest)).collect()
        }
        _ if listed(COPYING, program) => copied(rest).collect(),
        "sed" | "perl" if has('i') => paths().map(Named::Changed).collect(),
        "tee" if !has('a') => paths().map(Named::Written).collect(),
        "dd" => rest.iter().filter_map(|word| word.strip_prefix("of=")).map(Named::Written).collect(),
        "find" if rest.iter().any(|word| matches!(*word, "-delete" | "-exec" | "-execdir")) => {
            rest.iter().copied().take_while(|word| !word.starts_with('-')).map(Named::Changed).collect()
        }
        "git" => in_git(rest),
        _ => Vec::new(),
    }
}

/// Whether a word is a row of one-letter options with this letter in it.
fn is_flag(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Where copies go: to the last path, or into it under their old names.
fn copied<'a>(words: &[&'a str]) -> impl Iterator<Item = Named<'a>> {
    let paths: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let (to, from) = match paths.split_last() {
        Some((to, from)) if !from.is_empty() => (Some(*to), from.to_vec()),
        _ => (None, Vec::new()),
    };
    let into =
        to.into_iter().flat_map(move |to| from.clone().into_iter().map(move |it| Named::WrittenInto(to, it)));
    to.map(Named::Written).into_iter().chain(into)
}

fn in_git<'a>(words: &[&'a str]) -> Vec<Named<'a>> {
    let (folder, words) = match words {
        ["-C", folder, rest @ ..] => (*folder, rest),
        other => (".", other),
    };
    let makes_a_branch = words.iter().any(|word| matches!(*word, "-b" | "-B" | "-c" | "-C" | "--soft"));
    match words {
        [verb, ..] if listed(GIT, verb) && !makes_a_branch => vec![Named::Changed(folder)],
        _ => Vec::new(),
    }
}

/// Where a word leads: as far as its first pattern, nowhere when a variable decides.
fn resolved(word: &str, place: &Place) -> Option<PathBuf> {
    if word.is_empty() || word.contains('$') {
        return None;
    }
    let known = match word.find(['*', '?', '[', '{']) {
        None => word,
        Some(at) => {
            word.get(..at).and_then(|before| before.rfind('/').map_or(Some("."), |end| word.get(..=end)))?
        }
    };
    Some(place.resolve(known))
}

fn is_device(path: &Path) -> bool {
    path.starts_with("/dev")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let place = Place { cwd: "/w".into(), home: Some("/home/u".into()) };
        let shown = |it: Endangered| match it {
            Endangered::Changed(path) => format!("-{}", path.display()),
            Endangered::Written(path) => format!("+{}", path.display()),
        };
        endangered(text, &place).into_iter().map(shown).collect()
    }

    #[test]
    fn what_a_command_destroys_is_told_from_its_words() {
        for (text, expected) in [
            ("rm -rf build a.txt", vec!["-/w/build", "-/w/a.txt"]),
            ("cd sub && rm x", vec!["-/w/sub/x"]),
            ("sudo rm ~/x", vec!["-/home/u/x"]),
            ("rm src/*.rs", vec!["-/w/src"]),
            ("rm *.rs", vec!["-/w"]),
            ("mv a b", vec!["-/w/a", "+/w/b", "+/w/b/a"]),
            ("cp -f x/a b", vec!["+/w/b", "+/w/b/a"]),
            ("sed -i s/a/b/ f", vec!["-/w/s/a/b", "-/w/f"]),
            ("sed s/a/b/ f", vec![]),
            ("make > out 2>&1", vec!["+/w/out"]),
            ("make >> out", vec![]),
            ("make &> out", vec!["+/w/out"]),
            ("> out", vec!["+/w/out"]),
            ("(a; b) >| out", vec!["+/w/out"]),
            ("echo x > /dev/null", vec![]),
            ("echo a | tee f", vec!["+/w/f"]),
            ("echo a | tee -a f", vec![]),
            ("dd if=a of=b", vec!["+/w/b"]),
            ("git checkout .", vec!["-/w"]),
            ("git -C r reset --hard", vec!["-/w/r"]),
            ("git checkout -b new", vec![]),
            ("git status", vec![]),
            ("find . -name x -delete", vec!["-/w"]),
            ("rm $x", vec![]),
            ("ls; echo rm a", vec![]),
            ("X=1 rm a", vec!["-/w/a"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in ".*") {
            let _ = found(&text);
        }
    }
}
