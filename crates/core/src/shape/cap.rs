//! How large a result may be, and what stands in for one that is larger.
//!
//! Sizes are characters of the JSON that the model would read. A result over its limit is
//! written to a file by the caller; what goes to the model instead is [`replacement`]: an
//! ordinary JSON object with the small fields, a preview and the way to the rest. The same is
//! done to the largest results of a turn when together they are too much.

use serde_json::{Map, Value};

use super::kept::kept;
pub use super::page::{MAX_LINE, Pageable, pageable};

/// Roughly how many characters one token stands for.
const CHARS_PER_TOKEN: u64 = 4;
/// What a replacement costs besides its preview, for planning.
const FRAME: usize = 500;

/// The limits of a session, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most characters of one result.
    pub per_result: usize,
    /// Most characters of all results of one turn together.
    pub per_turn: usize,
    /// How much of a spilled result is shown.
    pub preview: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_result: 100_000, per_turn: 200_000, preview: 1500 }
    }
}

/// What a tool says about the size of its own results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxSize {
    /// Spill above this many characters, if the session does not already spill below that.
    Chars(usize),
    /// Never spill: the tool pages by itself, and spilling a page would send the model in circles.
    Unlimited,
}

impl Limits {
    /// The limits for a model with a context of so many tokens: 15 % of it for one result, 30 % for
    /// a turn, within bounds. Unknown means the upper bounds.
    pub fn for_context(tokens: Option<u64>) -> Self {
        let most = Self::default();
        let Some(tokens) = tokens else { return most };
        let share = |percent: u64| {
            let chars = u128::from(tokens) * u128::from(CHARS_PER_TOKEN * percent) / 100;
            usize::try_from(chars).unwrap_or(usize::MAX)
        };
        Self {
            per_result: share(15).clamp(8_000, most.per_result),
            per_turn: share(30).clamp(16_000, most.per_turn),
            preview: most.preview,
        }
    }

    /// Above how many characters a result of a tool is spilled; None for never. What the user
    /// configured for the tool outranks its own wish, except that a tool which pages by itself is
    /// left alone.
    pub fn threshold(&self, tool_max: Option<MaxSize>, configured: Option<usize>) -> Option<usize> {
        match (tool_max, configured) {
            (Some(MaxSize::Unlimited), _) => None,
            (_, Some(configured)) => Some(configured),
            (Some(MaxSize::Chars(chars)), None) => Some(chars.min(self.per_result)),
            (None, None) => Some(self.per_result),
        }
    }

    /// About how large a replacement is.
    fn replaced(&self) -> usize {
        self.preview.saturating_add(FRAME)
    }
}

/// Whether a text has more than `limit` characters. Looks at the characters only when the number of
/// bytes leaves it open.
pub fn is_over(text: &str, limit: usize) -> bool {
    text.len() > limit && (text.len() / 4 > limit || text.chars().count() > limit)
}

/// The size of one result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultSize {
    /// Its characters.
    pub chars: usize,
    /// Whether it may be spilled: not if it already was, or carries images.
    pub spillable: bool,
}

/// Which results of a turn to spill so that they fit together, largest first, the earlier of equals
/// first. Spilling what would not get smaller is left out, so the rest may still be over.
pub fn turn_budget(sizes: &[ResultSize], limits: &Limits) -> Vec<usize> {
    let mut total: u128 = sizes.iter().map(|size| size.chars as u128).sum();
    let mut candidates: Vec<(usize, usize)> = sizes
        .iter()
        .enumerate()
        .filter(|(_, size)| size.spillable && size.chars > limits.replaced())
        .map(|(at, size)| (at, size.chars))
        .collect();
    candidates.sort_by_key(|(_, chars)| std::cmp::Reverse(*chars));
    let mut spilled = Vec::new();
    for (at, chars) in candidates {
        if total <= limits.per_turn as u128 {
            break;
        }
        total -= (chars - limits.replaced()) as u128;
        spilled.push(at);
    }
    spilled
}

/// A result that is too large to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Oversize<'a> {
    /// The result.
    pub original: &'a Value,
    /// Its lines, as [`pageable`] laid them out.
    pub page: &'a Pageable,
    /// The characters of its JSON.
    pub size_chars: usize,
    /// The file the lines were written to, as the model can name it. None if they could not be.
    pub saved_to: Option<&'a str>,
}

/// The object that stands for a result that is too large.
///
/// Small fields of the original keep their places; one that is named like a field of ours is found
/// in `original`.
pub fn replacement(result: &Oversize<'_>, limits: &Limits) -> Value {
    let page = result.page;
    let mut ours = Map::new();
    ours.insert("truncated".to_owned(), true.into());
    ours.insert("size_chars".to_owned(), result.size_chars.into());
    if let Some(path) = result.saved_to {
        ours.insert("saved_to".to_owned(), path.into());
        ours.insert("lines".to_owned(), page.lines.into());
    }
    if let Some(field) = &page.field {
        ours.insert("field".to_owned(), field.as_str().into());
    }
    ours.insert("preview".to_owned(), preview(&page.text, limits.preview).into());
    ours.insert("hint".to_owned(), hint(page, result.saved_to.is_some()).into());

    let small = kept(result.original, page.field.as_deref()).fields;
    let (hidden, mut all): (Map<_, _>, Map<_, _>) =
        small.into_iter().partition(|(name, _)| ours.contains_key(name) || name == "original");
    all.extend(ours);
    if !hidden.is_empty() {
        all.insert("original".to_owned(), hidden.into());
    }
    all.into()
}

fn hint(page: &Pageable, saved: bool) -> String {
    if !saved {
        return "The result is too long and could not be saved; only the beginning is shown. Ask for a smaller part of it."
            .to_owned();
    }
    let folded =
        if page.folded { format!(" Lines over {MAX_LINE} characters are folded.") } else { String::new() };
    format!(
        "Only the beginning is shown. All {} lines are in the file at saved_to: search it, or read it in pages by line number.{folded}",
        page.lines
    )
}

/// The beginning of a text, ending with a whole line if that costs less than half of it. Characters
/// that JSON writes as escapes count for what they take, up to twice the limit in all.
fn preview(text: &str, limit: usize) -> &str {
    let mut written = 0_usize;
    let fits = |(count, (_, c)): &(usize, (usize, char))| {
        written += escaped_width(*c);
        *count < limit && written <= limit.saturating_mul(2)
    };
    let end =
        text.char_indices().enumerate().take_while(fits).last().map_or(0, |(_, (at, c))| at + c.len_utf8());
    let start = text.get(..end).unwrap_or_default();
    if end == text.len() {
        return start;
    }
    match start.rfind('\n') {
        Some(line_end) if line_end > start.len() / 2 => start.get(..line_end).unwrap_or(start),
        _ => start,
    }
}

fn escaped_width(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn stand_in(original: &Value, saved_to: Option<&str>) -> Value {
        let size_chars = original.to_string().chars().count();
        let page = pageable(original);
        replacement(&Oversize { original, page: &page, size_chars, saved_to }, &Limits::default())
    }

    #[test]
    fn limits_follow_the_context_within_bounds() {
        let limits = |tokens| {
            let limits = Limits::for_context(tokens);
            (limits.per_result, limits.per_turn)
        };

        assert_eq!(limits(None), (100_000, 200_000));
        assert_eq!(limits(Some(65_536)), (39_321, 78_643));
        assert_eq!(limits(Some(0)), (8_000, 16_000));
        assert_eq!(limits(Some(u64::MAX)), (100_000, 200_000));
    }

    #[test]
    fn a_pin_outranks_the_user_who_outranks_the_tool_who_may_only_ask_for_less() {
        let limits = Limits::default();

        assert_eq!(limits.threshold(Some(MaxSize::Unlimited), Some(10)), None);
        assert_eq!(limits.threshold(Some(MaxSize::Chars(50)), Some(300_000)), Some(300_000));
        assert_eq!(limits.threshold(Some(MaxSize::Chars(50)), None), Some(50));
        assert_eq!(limits.threshold(Some(MaxSize::Chars(500_000)), None), Some(100_000));
        assert_eq!(limits.threshold(None, None), Some(100_000));
    }

    #[test]
    fn a_spilled_result_keeps_its_small_fields_and_shows_the_way() {
        let output = "a line of text\n".repeat(1000);

        let shown = stand_in(&json!({ "output": output, "exit_code": 2, "lines": 7 }), Some("/tmp/r/1.txt"));

        assert_eq!(
            shown,
            json!({
                "exit_code": 2,
                "truncated": true,
                "size_chars": 16_037,
                "saved_to": "/tmp/r/1.txt",
                "lines": 1000,
                "field": "output",
                "preview": "a line of text\n".repeat(100).trim_end(),
                "hint": "Only the beginning is shown. All 1000 lines are in the file at saved_to: search it, or read it in pages by line number.",
                "original": { "lines": 7 },
            })
        );
    }

    #[test]
    fn a_result_that_could_not_be_saved_says_so() {
        let shown = stand_in(&json!("x".repeat(5000)), None);

        assert_eq!(shown["preview"], "x".repeat(1500));
        assert!(shown["hint"].as_str().unwrap().contains("could not be saved"));
        assert_eq!((shown.get("saved_to"), shown.get("lines"), shown.get("field")), (None, None, None));
    }

    #[test]
    fn a_preview_ends_with_a_line_if_that_is_past_the_half() {
        assert_eq!(preview("aaaa\nbb\ncccc", 9), "aaaa\nbb");
        assert_eq!(preview("a\nbbbbbbbbbb", 9), "a\nbbbbbbb");
        assert_eq!(preview("a\nb", 9), "a\nb");
        assert_eq!(preview("\0\0\0\0\0\0", 6), "\0\0");
    }

    #[test]
    fn a_turn_spills_the_largest_first_until_it_fits() {
        let limits = Limits { per_result: 100_000, per_turn: 100_000, preview: 1500 };
        let turn = |sizes: &[(usize, bool)]| {
            let sizes: Vec<_> =
                sizes.iter().map(|&(chars, spillable)| ResultSize { chars, spillable }).collect();
            turn_budget(&sizes, &limits)
        };

        assert_eq!(turn(&[(40_000, true), (60_000, true)]), Vec::<usize>::new());
        assert_eq!(turn(&[(40_000, true), (60_001, true), (10, true)]), [1]);
        assert_eq!(turn(&[(50_000, true), (90_000, false), (50_000, true)]), [0, 2]);
        assert_eq!(turn(&[(200_000, false), (1_900, true)]), Vec::<usize>::new());
        assert_eq!(turn(&[(usize::MAX, true), (usize::MAX, true)]), [0, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn counting_agrees_with_the_plain_way(text in "[aä😀]{0,40}", limit in 0_usize..50) {
            prop_assert_eq!(is_over(&text, limit), text.chars().count() > limit);
        }

        #[test]
        fn a_replacement_is_small_and_well_formed(texts in prop::collection::btree_map(".{0,20}", ".{0,50}", 0..40), times in 1_usize..60) {
            let fields: Map<String, Value> = texts.into_iter().map(|(name, text)| (name, text.repeat(times).into())).collect();
            let shown = stand_in(&fields.into(), Some("/tmp/x"));
            prop_assert!(shown.to_string().chars().count() < 8_000);
            prop_assert_eq!(&shown["truncated"], &json!(true));
        }

        #[test]
        fn after_the_budget_only_what_cannot_shrink_is_left(sizes in prop::collection::vec((0_usize..150_000, any::<bool>()), 0..12)) {
            let limits = Limits::default();
            let sizes: Vec<_> = sizes.into_iter().map(|(chars, spillable)| ResultSize { chars, spillable }).collect();
            let spilled = turn_budget(&sizes, &limits);
            let after = |(at, size): (usize, &ResultSize)| if spilled.contains(&at) { limits.replaced() } else { size.chars };
            let total: usize = sizes.iter().enumerate().map(after).sum();
            let can_shrink = |(at, size): (usize, &ResultSize)| size.spillable && size.chars > limits.replaced() && !spilled.contains(&at);
            prop_assert!(total <= limits.per_turn || !sizes.iter().enumerate().any(can_shrink));
            prop_assert!(spilled.is_sorted_by(|one, other| sizes[*one].chars >= sizes[*other].chars));
        }
    }
}
