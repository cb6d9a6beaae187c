//! One search for everything that a secret can begin with; what is found is then looked at closely.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{assign, prefixes, shapes};

/// Words with a rule of their own, in lower case.
const SHAPES: [&str; 6] = ["eyj", "-----begin ", "bearer", "authorization", "://", ":aa"];

/// What an anchor leads to.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Prefix,
    WebToken,
    KeyBlock,
    Bearer,
    Authorization,
    Userinfo,
    Telegram,
    Assignment(assign::Word),
}

/// The search is the same for everybody, so it is built once. None if that failed.
pub(super) static ANCHORS: LazyLock<Option<Anchors>> = LazyLock::new(Anchors::new);

/// What to search for, and what to do with it.
#[derive(Debug)]
pub(super) struct Anchors {
    search: AhoCorasick,
    kinds: Vec<Kind>,
}

impl Anchors {
    fn new() -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut kinds = Vec::new();
        for prefix in prefixes::anchors() {
            words.push(prefix.to_ascii_lowercase());
            kinds.push(Kind::Prefix);
        }
        let shapes = [
            Kind::WebToken,
            Kind::KeyBlock,
            Kind::Bearer,
            Kind::Authorization,
            Kind::Userinfo,
            Kind::Telegram,
        ];
        for (word, kind) in SHAPES.into_iter().zip(shapes) {
            words.push(word.to_owned());
            kinds.push(kind);
        }
        for (word, kind) in assign::WORDS {
            words.push((*word).to_owned());
            kinds.push(Kind::Assignment(*kind));
        }
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok()?;
        Some(Self { search, kinds })
    }

    /// Adds the places where something recognisable stands.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let Ok(hits) = self.search.try_find_iter(text) else { return };
        let mut past = 0;
        for hit in hits {
            if hit.start() < past {
                continue;
            }
            let Some(kind) = self.kinds.get(hit.pattern().as_usize()) else { continue };
            let place = match kind {
                Kind::Prefix => prefixes::key(text, hit.start()),
                Kind::WebToken => shapes::web_token(text, hit.start()),
                Kind::KeyBlock => shapes::key_block(text, hit.start()),
                Kind::Bearer => shapes::bearer(text, hit.end()),
                Kind::Authorization => shapes::authorization(text, hit.end()),
                Kind::Userinfo => shapes::userinfo(text, hit.end()),
                Kind::Telegram => shapes::telegram(text, hit.start()),
                Kind::Assignment(word) => assign::value(text, hit.start()..hit.end(), *word),
            };
            if let Some(place) = place {
                past = past.max(place.end);
                found.push(place);
            }
        }
    }
}
