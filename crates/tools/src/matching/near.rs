//! What in a file looks most like a block that was not found, so that it can be written right.

use std::collections::HashMap;

use super::lines::Line;

/// Sections shown at most.
const MOST: usize = 3;

/// Lines of one section shown at most.
const MOST_LINES: usize = 12;

/// Longest line shown, in characters.
const LINE: usize = 160;

/// A part of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its first line, counted from 1.
    pub line: usize,
    /// Its lines.
    pub lines: Vec<String>,
}

/// The sections nearest to a block, best first.
pub fn nearest(file: &[Line<'_>], block: &[&str]) -> Vec<Section> {
    let votes = votes(file, block);
    let mut ranked: Vec<(usize, u64)> = votes.into_iter().enumerate().filter(|(_, n)| *n > 0).collect();
    ranked.sort_by_key(|(at, votes)| (std::cmp::Reverse(*votes), *at));
    let Some((_, best)) = ranked.first().copied() else { return Vec::new() };
    let mut chosen: Vec<usize> = Vec::new();
    for (at, votes) in ranked {
        // What shares far less than the best does is noise.
        if chosen.len() == MOST || votes * 3 < best {
            break;
        }
        if chosen.iter().all(|known| known.abs_diff(at) >= block.len().max(1)) {
            chosen.push(at);
        }
    }
    chosen.into_iter().map(|at| section(file, at, block.len())).collect()
}

/// For each line of the file, how much speaks for the block beginning there: every word that a
/// line of the block shares with the line of the file opposite to it, rare words first.
fn votes(file: &[Line<'_>], block: &[&str]) -> Vec<u64> {
    let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in block.iter().enumerate() {
        words(line).for_each(|word| known.entry(word).or_default().push(at));
    }
    // Most words of the file are not in the block; their first letter tells most of them apart.
    let mut first_letters = [false; 256];
    known.keys().filter_map(|word| word.as_bytes().first()).for_each(|first| {
        if let Some(seen) = first_letters.get_mut(usize::from(*first)) {
            *seen = true;
        }
    });
    let may_be_known = |word: &&str| {
        word.as_bytes().first().and_then(|first| first_letters.get(usize::from(*first))) == Some(&true)
    };
    let mut shared: Vec<(usize, &str)> = Vec::new();
    let mut rarity: HashMap<&str, u64> = HashMap::new();
    for (at, line) in file.iter().enumerate() {
        for word in words(line.text).filter(may_be_known).filter(|word| known.contains_key(word)) {
            *rarity.entry(word).or_default() += 1;
            shared.push((at, word));
        }
    }
    let mut votes = vec![0; file.len()];
    for (at, word) in shared {
        let (Some(places), Some(times)) = (known.get(word), rarity.get(word)) else { continue };
        // A word on every line of a long block and file would cost their product.
        for place in places.iter().take(MOST_LINES) {
            if let Some(vote) = at.checked_sub(*place).and_then(|first| votes.get_mut(first)) {
                *vote += 1000 / times;
            }
        }
    }
    votes
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn section(file: &[Line<'_>], first: usize, len: usize) -> Section {
    let shown = file.iter().skip(first).take(len.clamp(1, MOST_LINES));
    let lines = shown.map(|line| line.text.chars().take(LINE).collect()).collect();
    Section { line: first + 1, lines }
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    #[test]
    fn the_section_that_shares_most_words_comes_first() {
        let file = lines("fn one() {\n  let x = 1;\n}\nfn two() {\n  let special = 2;\n}\n");

        let near = nearest(&file, &["fn two() {", "  let special = 3;"]);

        assert_eq!(near[0].line, 4);
        assert_eq!(near[0].lines, ["fn two() {", "  let special = 2;"]);
    }

    #[test]
    fn nothing_in_common_means_nothing_is_shown() {
        assert_eq!(nearest(&lines("alpha\nbeta\n"), &["gamma"]), []);
        assert_eq!(nearest(&[], &["gamma"]), []);
    }
}
