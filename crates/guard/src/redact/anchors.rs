//! One search for everything that a secret can begin with; what is found is then looked at closely.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::{assign, likely, prefixes, shapes};

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

/// The search is the same for everybody, so it is built once, and only when a text is not ruled out by
/// a quick look: building it takes longer than most commands. None if that failed.
static ANCHORS: LazyLock<Option<Anchors>> = LazyLock::new(Anchors::new);

/// Without its tables it cannot tell what is secret.
#[derive(Debug)]
pub(super) struct Blind;

/// Adds the places where something recognisable stands.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) -> Result<(), Blind> {
    let stretches = likely::stretches(text.as_bytes());
    if stretches.is_empty() {
        return Ok(());
    }
    let anchors = ANCHORS.as_ref().ok_or(Blind)?;
    let mut past = 0;
    for stretch in stretches {
        anchors.find_in(text, stretch, &mut past, found);
    }
    Ok(())
}

/// What to search for, and what to do with it.
#[derive(Debug)]
struct Anchors {
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

    /// The same for what begins in one stretch of the text, and not before `past`.
    fn find_in(&self, text: &str, stretch: Range<usize>, past: &mut usize, found: &mut Vec<Range<usize>>) {
        let Ok(hits) = self.search.try_find_iter(Input::new(text).span(stretch)) else { return };
        for hit in hits {
            if hit.start() < *past {
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
                *past = (*past).max(place.end);
                found.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy as _;

    use super::*;

    const PIECES: &[&str] = &[
        "password",
        "TOKEN",
        "api key",
        "x_auth",
        "webhook_url",
        "Authorization",
        "bearer ",
        "sk-ant-",
        "ghp_",
        "xoxb-",
        "AKIA",
        "eyJ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "://",
        "user:",
        "@host",
        "--",
        "=",
        ": ",
        ">",
        "<",
        "\"",
        "\\n",
        "\n",
        " ",
        ".",
        "1234567",
        ":AA",
        "Kx92kq0PlaSm38dMxq",
    ];

    /// Pieces that make up secrets, parts of secrets, and what stands around them.
    fn piece() -> impl proptest::strategy::Strategy<Value = String> {
        proptest::prop_oneof![
            proptest::sample::select(PIECES).prop_map(str::to_owned),
            "[a-z]{1,8} ",
            "[A-Za-z0-9_-]{12,40}",
            " {30,130}",
        ]
    }

    proptest::proptest! {
        #[test]
        fn what_a_search_of_everything_finds_is_found_in_the_stretches(
            pieces in proptest::collection::vec(piece(), 0..40),
        ) {
            let (text, anchors) = (pieces.concat(), ANCHORS.as_ref().unwrap());
            let (mut everywhere, mut likely) = (Vec::new(), Vec::new());

            anchors.find_in(&text, 0..text.len(), &mut 0, &mut everywhere);
            find(&text, &mut likely).unwrap();

            proptest::prop_assert_eq!(everywhere, likely, "{}", text);
        }
    }

    #[test]
    fn every_name_that_announces_a_secret_leaves_its_trace() {
        for (word, _) in assign::WORDS.iter().chain(&[("authorization", assign::Word::Key)]) {
            let held = word.as_bytes().windows(2).any(|pair| likely::announces(pair[0], pair[1]));
            assert!(held, "{word}");
        }
    }
}
