//! Finds tools by what they do.
//!
//! BM25 (k1 1.5, b 0.75) over the words of name, description and top-level parameter names. Words
//! are lower case, cut at separators and humps, and brought to a rough root, so that "reading
//! files" finds `read_file`. A word of the name counts double: it was chosen to say what the
//! tool does. Everything that does not depend on the query is computed once, so that a search adds
//! up a few prepared numbers. If no word fits, names that contain the query's text are offered.
//!
//! Ranking is deterministic: by score, then by the order in which the tools were given.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde_json::Value;

use crate::digest::WordHasher;
use crate::words::{each_word, stem};

/// A table by word.
type ByWord<T> = HashMap<String, T, BuildHasherDefault<WordHasher>>;

const K1: f64 = 1.5;
const B: f64 = 0.75;
const NAME_WEIGHT: u32 = 2;
/// Words of a question that say nothing about a tool. With few tools they are rare enough to
/// outweigh the words that do.
const FILLERS: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in",
    "into", "is", "it", "me", "my", "of", "on", "or", "some", "that", "the", "this", "to", "using", "want",
    "what", "with",
];
/// Most different words of a query that are looked at.
const MAX_QUERY_WORDS: usize = 64;

/// One tool, as the index reads it.
#[derive(Debug, Clone, Default)]
pub struct Item<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// What the model is told about it.
    pub description: &'a str,
    /// The names of its top-level parameters.
    pub parameters: Vec<&'a str>,
}

impl<'a> Item<'a> {
    /// Reads the parameter names off a JSON Schema.
    pub fn new(name: &'a str, description: &'a str, schema: &'a Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameters =
            properties.into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect();
        Self { name, description, parameters }
    }
}

/// A tool that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place among the items the index was built from.
    pub index: usize,
    /// How well it fits; only comparable within one search.
    pub score: f64,
}

/// The index of one set of tools. Immutable; a new set is a new index.
#[derive(Debug, Default)]
pub struct ToolIndex {
    /// Names in lower case without separators, for the fallback.
    names: Vec<String>,
    /// The same one behind another, a line each, and where each line ends.
    all_names: String,
    name_ends: Vec<usize>,
    /// For each word, the tools that have it and what it adds to their score.
    postings: ByWord<Vec<Posting>>,
}

/// What a word adds to the score of one tool.
#[derive(Debug, Clone, Copy)]
struct Posting {
    tool: usize,
    score: f64,
}

impl ToolIndex {
    /// Reads every item once.
    pub fn new<'a>(items: impl IntoIterator<Item = Item<'a>>) -> Self {
        let mut index = Self::default();
        let mut lengths = Vec::new();
        let mut counts: ByWord<Vec<(usize, u32)>> = ByWord::default();
        for (tool, item) in items.into_iter().enumerate() {
            let mut length = 0;
            let mut count = |text: &str, weight: u32| {
                each_word(text, |word| {
                    length += weight;
                    add(&mut counts, stem(word), tool, weight);
                });
            };
            count(item.name, NAME_WEIGHT);
            count(item.description, 1);
            item.parameters.iter().for_each(|parameter| count(parameter, 1));
            lengths.push(length);
            let name = squashed(item.name);
            index.all_names.push_str(&name);
            index.all_names.push('\n');
            index.name_ends.push(index.all_names.len());
            index.names.push(name);
        }
        index.postings = scored(counts, &lengths);
        index
    }

    /// How many tools are in it.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no tool is in it.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The tools that fit the query, best first, at most `limit`.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        if limit == 0 {
            return Vec::new();
        }
        let words = query_words(query);
        let mut scores = vec![0.0_f64; self.names.len()];
        for word in &words {
            for posting in self.postings.get(stem(word)).into_iter().flatten() {
                if let Some(score) = scores.get_mut(posting.tool) {
                    *score += posting.score;
                }
            }
        }
        self.prefer_exact_name(query, &mut scores);
        let hits = best(scores, limit);
        if hits.is_empty() { self.by_name(query, &words, limit) } else { hits }
    }

    /// Puts the tool whose name is the query on top, whatever the others have.
    fn prefer_exact_name(&self, query: &str, scores: &mut [f64]) {
        let whole = squashed(query);
        let top = scores.iter().copied().fold(0.0, f64::max);
        for (score, name) in scores.iter_mut().zip(&self.names) {
            if *name == whole && !whole.is_empty() {
                *score += top + 1.0;
            }
        }
    }

    /// Tools whose name contains the query, or else a word of it. Scored by how much of the name
    /// that is.
    fn by_name(&self, query: &str, words: &[String], limit: usize) -> Vec<Hit> {
        let mut scores = vec![0.0; self.names.len()];
        self.score_names_with(&squashed(query), &mut scores);
        if scores.iter().all(|score| *score <= 0.0) {
            for word in words {
                self.score_names_with(word, &mut scores);
            }
        }
        best(scores, limit)
    }

    /// Adds to the score of every tool whose name contains `part`: one pass over all names.
    fn score_names_with(&self, part: &str, scores: &mut [f64]) {
        if part.chars().nth(1).is_none() {
            return;
        }
        let mut last = None;
        for (at, _) in self.all_names.match_indices(part) {
            let tool = self.name_ends.partition_point(|end| *end <= at);
            if last.replace(tool) == Some(tool) {
                continue;
            }
            if let (Some(score), Some(name)) = (scores.get_mut(tool), self.names.get(tool)) {
                *score += number(part.len()) / number(name.len()).max(1.0);
            }
        }
    }
}

/// Counts a word of a tool. Tools come one after another, so the last entry is the only candidate.
fn add(counts: &mut ByWord<Vec<(usize, u32)>>, word: &str, tool: usize, weight: u32) {
    let Some(tools) = counts.get_mut(word) else {
        counts.insert(word.to_owned(), vec![(tool, weight)]);
        return;
    };
    match tools.last_mut() {
        Some((last, count)) if *last == tool => *count += weight,
        _ => tools.push((tool, weight)),
    }
}

/// Turns counts into what each word adds to each tool's score.
fn scored(counts: ByWord<Vec<(usize, u32)>>, lengths: &[u32]) -> ByWord<Vec<Posting>> {
    let total: f64 = lengths.iter().copied().map(f64::from).sum();
    let average = (total / number(lengths.len()).max(1.0)).max(1.0);
    let posting = |rarity: f64, (tool, count): (usize, u32)| {
        let length = f64::from(lengths.get(tool).copied().unwrap_or_default());
        let count = f64::from(count);
        let score = rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average));
        Posting { tool, score }
    };
    let with_scores = |(word, tools): (String, Vec<(usize, u32)>)| {
        let having = number(tools.len());
        let rarity = (1.0 + (number(lengths.len()) - having + 0.5) / (having + 0.5)).ln();
        (word, tools.into_iter().map(|entry| posting(rarity, entry)).collect())
    };
    counts.into_iter().map(with_scores).collect()
}

/// The words of the query, each once and in a fixed order, so that the same words in another order
/// add up to exactly the same score.
fn query_words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    each_word(query, |word| {
        if words.len() < MAX_QUERY_WORDS {
            words.push(word.to_owned());
        }
    });
    words.sort_unstable();
    words.dedup_by(|one, other| stem(one) == stem(other));
    let (fillers, telling): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| FILLERS.contains(&word.as_str()));
    if telling.is_empty() { fillers } else { telling }
}

/// The tools with a positive score, best first.
fn best(scores: Vec<f64>, limit: usize) -> Vec<Hit> {
    let hits = scores.into_iter().enumerate().map(|(index, score)| Hit { index, score });
    let mut hits: Vec<Hit> = hits.filter(|hit| hit.score > 0.0).collect();
    let order = |one: &Hit, other: &Hit| other.score.total_cmp(&one.score).then(one.index.cmp(&other.index));
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit, order);
        hits.truncate(limit);
    }
    hits.sort_unstable_by(order);
    hits
}

fn squashed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn item<'a>(name: &'a str, description: &'a str, parameters: &[&'a str]) -> Item<'a> {
        Item { name, description, parameters: parameters.to_vec() }
    }

    fn index() -> (Vec<&'static str>, ToolIndex) {
        let items = [
            item(
                "ha_call_service",
                "Call a service to control a device such as a light",
                &["domain", "entity_id"],
            ),
            item("mcp__github__create_issue", "Open a new issue in a repository", &["title", "body"]),
            item("mcp__github__listIssues", "List the issues of a repository", &["state"]),
            item("spotify_playback", "Play, pause or skip music", &["device_id"]),
            item("YouTubeTranscript", "Fetch what is said in a video", &["url"]),
            item("image_generate", "Generate an image from a prompt", &["prompt", "aspect_ratio"]),
        ];
        (items.iter().map(|item| item.name).collect(), ToolIndex::new(items))
    }

    fn found(query: &str) -> Vec<&'static str> {
        let (names, index) = index();
        index.search(query, 3).iter().map(|hit| names[hit.index]).collect()
    }

    #[test]
    fn a_tool_is_found_by_what_it_does() {
        for (query, name) in [
            ("turn on the light", "ha_call_service"),
            ("creating issues", "mcp__github__create_issue"),
            ("list issues", "mcp__github__listIssues"),
            ("pause the music", "spotify_playback"),
            ("youtube", "YouTubeTranscript"),
            ("aspect ratio", "image_generate"),
            ("generating images", "image_generate"),
            ("mcp__github__listIssues", "mcp__github__listIssues"),
        ] {
            assert_eq!(found(query).first(), Some(&name), "{query}");
        }
    }

    #[test]
    fn part_of_a_name_is_enough_when_no_word_fits() {
        assert_eq!(found("spoti"), ["spotify_playback"]);
        assert_eq!(found("zzz trans"), ["YouTubeTranscript"]);
        assert_eq!(found("ha_ca"), ["ha_call_service"]);
    }

    #[test]
    fn what_fits_nothing_finds_nothing() {
        for query in ["", "  ", "?!", "xylophone", "q"] {
            assert!(found(query).is_empty(), "{query}");
        }
        assert!(ToolIndex::new([]).search("file", 5).is_empty());
        assert!(index().1.search("issue", 0).is_empty());
    }

    #[test]
    fn the_order_of_words_and_equal_tools_do_not_change_the_ranking() {
        let twins = ToolIndex::new(["a_read", "b_read", "c_read"].map(|name| item(name, "reads", &[])));

        assert_eq!(twins.search("read", 9).iter().map(|hit| hit.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(index().1.search("github list issue", 9), index().1.search("issue list github", 9));
    }

    #[test]
    fn parameter_names_come_from_the_schema() {
        let schema = json!({ "type": "object", "properties": { "path": {}, "limit": {} } });

        assert_eq!(Item::new("x", "", &schema).parameters, ["path", "limit"]);
        assert!(Item::new("x", "", &json!(null)).parameters.is_empty());
    }

    #[test]
    fn every_tool_of_the_contract_is_found_by_its_own_name() {
        let contract: Value = serde_json::from_str(include_str!("../../../fixtures/tools.json")).unwrap();
        let tools = contract["tools"].as_array().unwrap();
        let index = ToolIndex::new(tools.iter().map(|tool| {
            Item::new(
                tool["name"].as_str().unwrap(),
                tool["description"].as_str().unwrap_or(""),
                &tool["parameters"],
            )
        }));
        for (at, tool) in tools.iter().enumerate() {
            let name = tool["name"].as_str().unwrap();
            assert_eq!(index.search(name, 1).first().map(|hit| hit.index), Some(at), "{name}");
            assert_eq!(
                index.search(&name.replace('_', " "), 1).first().map(|hit| hit.index),
                Some(at),
                "{name}"
            );
        }
    }

    proptest! {
        #[test]
        fn hits_are_ordered_positive_and_within_the_limit(query in any::<String>(), limit in 0_usize..8) {
            let (names, index) = index();
            let hits = index.search(&query, limit);
            prop_assert!(hits.len() <= limit);
            prop_assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
            prop_assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.index < names.len()));
        }
    }
}
