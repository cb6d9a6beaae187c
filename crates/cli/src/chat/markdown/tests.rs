//! What markdown looks like, and that it looks the same however it came.

use proptest::prelude::*;

use super::*;

const PLAIN: Canvas = Canvas { width: 40, colour: false };

fn shown(text: &str) -> String {
    let lines: Vec<String> = draw(text, PLAIN).iter().map(Line::text).collect();
    lines.join("\n")
}

/// Draws the text in pieces, looking at the screen after each.
fn streamed(text: &str, pieces: &[usize]) -> Vec<Line> {
    let mut stream = Stream::new(PLAIN);
    let mut lines = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    let mut sizes = pieces.iter().copied().cycle();
    let mut rest = letters.as_slice();
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(1).clamp(1, rest.len());
        let (piece, after) = rest.split_at(size);
        stream.push(&piece.iter().collect::<String>());
        lines.extend(stream.settle());
        let _ = stream.tail();
        rest = after;
    }
    lines.extend(stream.finish());
    lines
}

#[test]
fn paragraphs_are_wrapped_and_kept_apart() {
    let text =
        "A first paragraph that is longer than\nforty columns.\n\nA second, with `code` and **weight**.";

    assert_eq!(
        shown(text),
        "A first paragraph that is longer than\nforty columns.\n\nA second, with `code` and weight."
    );
}

#[test]
fn lists_nest_and_count() {
    let text =
        "- one\n- two\n  1. a\n  2. b that is long enough to be wrapped around\n- [x] done\n- [ ] open\n";

    assert_eq!(
        shown(text),
        "• one\n• two\n  1. a\n  2. b that is long enough to be wrapped\n     around\n• ☑ done\n• ☐ open"
    );
}

#[test]
fn loose_lists_keep_their_distance() {
    assert_eq!(shown("1. one\n\n   more\n\n2. two\n"), "1. one\n\n   more\n\n2. two");
}

#[test]
fn quotes_headings_and_rules_are_drawn() {
    let text = "# Title\ntext\n\n> quoted\n> words\n>\n> more\n\n---\n### Small\n";

    let rule = "─".repeat(40);
    let expected = format!("# Title\n\ntext\n\n│ quoted words\n│\n│ more\n\n{rule}\n\n### Small");
    assert_eq!(shown(text), expected);
}

#[test]
fn code_has_a_gutter_and_is_not_reflowed() {
    let text = "Look:\n```rust\nfn main() {\n    println!(\"a line that is too long for this terminal\");\n}\n```\nDone.";

    assert_eq!(
        shown(text),
        "Look:\n\n╭─ rust\n│ fn main() {\n│     println!(\"a line that is too long \n┆ for this terminal\");\n│ }\n╰─\n\nDone."
    );
}

#[test]
fn code_inside_a_list_stands_below_its_words() {
    assert_eq!(shown("- run\n  ```\n  ls\n  ```\n- then look\n"), "• run\n  ╭─\n  │ ls\n  ╰─\n• then look");
}

#[test]
fn tables_are_aligned_and_narrowed() {
    let text = "| Tool | What it does | N |\n|---|:--|--:|\n| read_file | shows one page of a text file | 7 |\n| 読む | b | 12 |\n";

    assert_eq!(
        shown(text),
        "Tool      │ What it does           │   N\n──────────┼────────────────────────┼────\nread_file │ shows one page of a    │   7\n          │ text file              │\n読む      │ b                      │  12"
    );
}

#[test]
fn links_tell_where_they_go() {
    assert_eq!(
        shown("[docs](https://x.example/d) <https://y.example>"),
        "docs (https://x.example/d)\nhttps://y.example"
    );
}

#[test]
fn entities_and_html_cannot_speak_to_the_terminal() {
    let text = "a&#27;]0;x&#7; b\u{1b}[2J <b onclick=\"\u{9b}\">c</b>\n\n<div>\u{1b}c</div>\n\n[x](http://a/\u{1b}[31m)\n\n    \u{1b}code\n";

    assert!(!draw(text, PLAIN).iter().any(|line| line.paint(false).chars().any(char::is_control)));
}

#[test]
fn code_is_final_line_by_line_and_a_paragraph_at_the_blank_line_below() {
    let mut stream = Stream::new(PLAIN);

    stream.push("Hello\nwor");
    assert!(stream.settle().is_empty());
    assert_eq!(stream.tail().iter().map(Line::text).collect::<Vec<_>>(), ["Hello wor"]);
    stream.push("ld\n\n");
    assert_eq!(stream.settle().iter().map(Line::text).collect::<Vec<_>>(), ["Hello world"]);
    stream.push("```\nlet a\nlet b");
    assert_eq!(stream.settle().iter().map(Line::text).collect::<Vec<_>>(), ["", "╭─", "│ let a"]);
    assert_eq!(stream.tail().iter().map(Line::text).collect::<Vec<_>>(), ["│ let b", "╰─"]);
}

#[test]
fn a_code_block_nobody_closed_is_closed() {
    assert_eq!(shown("```sh\nls"), "╭─ sh\n│ ls\n╰─");
    assert_eq!(shown("```"), "╭─\n╰─");
}

#[test]
fn a_later_definition_changes_nothing_that_is_drawn() {
    let text = "see [a]\n\n[a]: http://x.example\n\nand [a]\n";

    assert_eq!(shown(text), "see [a]\n\nand [a]");
    assert_eq!(streamed(text, &[1]), draw(text, PLAIN));
}

/// Lines that begin, end and continue blocks, in any order.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "",
        "text",
        "# head",
        "#",
        "===",
        "---",
        "- item",
        "  more",
        "    deep",
        "1. one",
        "> quote",
        "```",
        "```rust",
        "~~~~",
        "| a | b |",
        "|---|:-:|",
        "a | b",
        "<div>",
        "</div>",
        "<!-- x",
        "-->",
        "[a]: /url",
        "see [a] and **b",
        "c** `d",
        "e` *f*",
        "\t- tab",
        "* star",
        "+ plus",
        "  ```",
        "&#27;x",
        "![i](u)",
        "a\\",
        "two  ",
        "- [x] t",
        "   > q",
        "\u{1b}[2J",
        "日本語の文章です",
        "\r",
    ]);
    prop::collection::vec((line, prop::bool::weighted(0.85)), 0..24).prop_map(|lines| {
        lines.into_iter().map(|(line, end)| if end { format!("{line}\n") } else { line.to_owned() }).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_pieces_give_the_same_screen(text in markdown(), pieces in prop::collection::vec(1_usize..9, 1..6)) {
        prop_assert_eq!(streamed(&text, &pieces), draw(&text, PLAIN));
    }

    #[test]
    fn any_text_is_drawn_harmless_and_within_its_width(text in any::<String>(), width in 0_usize..60) {
        let canvas = Canvas { width, colour: false };
        for line in draw(&text, canvas) {
            prop_assert!(line.width() <= width.max(NARROWEST), "{:?}", line.text());
            prop_assert!(!line.paint(false).chars().any(char::is_control));
        }
    }

    #[test]
    fn any_markdown_stays_within_its_width(text in markdown(), width in 20_usize..60) {
        for line in draw(&text, Canvas { width, colour: true }) {
            prop_assert!(line.width() <= width, "{:?}", line.text());
        }
    }
}
