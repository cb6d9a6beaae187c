use std::path::Path;

use proptest::prelude::*;

use super::super::tree::{Duplicates, parse_fully};
use super::*;

/// Every key and value of a tree with its place, a line for each.
fn told(node: &Node) -> String {
    let here = format!("{}:{} ", node.at.line(), node.at.column());
    match &node.kind {
        Kind::List(items) => here + "list\n" + &items.iter().map(told).collect::<String>() + "end\n",
        Kind::Map(entries) => {
            let entry = |it: &Entry| {
                format!("{}:{} key {}\n{}", it.at.line(), it.at.column(), it.key, told(&it.value))
            };
            here + "map\n" + &entries.iter().map(entry).collect::<String>() + "end\n"
        }
        leaf => format!("{here}{leaf:?}\n"),
    }
}

/// Whether it is read, and then as the full parser does.
fn is_read(text: &str) -> bool {
    let Some(tree) = parse(text) else { return false };
    let fully = parse_fully(Path::new("config.yaml"), text, Duplicates::Refuse);
    let fully = fully.map_or_else(|wrong| wrong.to_string(), |(tree, _)| told(&tree));
    let quickly = told(&tree);
    // Of two long texts the line that differs is shown.
    let differs = quickly.lines().zip(fully.lines()).find(|(a, b)| a != b);
    assert!(quickly == fully, "{differs:?} of {text:?}");
    true
}

#[test]
fn a_configuration_as_people_write_it_is_read() {
    let text = "\
# What I use – and why.
model:
  default: some/model-2.5   # the small one
  temperature: 0.7
  max_tokens: 4096
plugins:
  enabled: [\"one\", two, 'three']
  disabled: []
mcp_servers:
  files:
    command: npx
    args:
      - -y
      - \"@scope/server\"
      - ~/Documents
      - ./here
    env:
      KEY: ${KEY}
      OTHER: \"a: b # ünd\"
    enabled: true
    tools: {}

  web:
    url: https://example.org/mcp?a=b
    headers:
      Authorization: Bearer ${TOKEN}
hooks:
  pre_tool_call:
  - command: ~/hooks/look.sh --quick
    matcher: 'terminal|write_file'
    timeout: 5
  - command: /bin/true
toolsets:
- web
- file-tools
";
    assert!(is_read(text));
}

#[test]
fn what_goes_beyond_is_declined() {
    for text in [
        "",
        "# nothing\n",
        "a:\n",
        "a:\nb: 1\n",
        "a: yes\n",
        "a: Off\n",
        "a: ~\n",
        "a: null\n",
        "a: 0x1f\n",
        "a: 007\n",
        "a: 1e3\n",
        "a: 1_000\n",
        "a: 1.\n",
        "a: .5\n",
        "a: -1\n",
        "a: +1\n",
        "a: -.inf\n",
        "a: 2026-01-01\n",
        "a: |\n  text\n",
        "a: >-\n  text\n",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: \"b\\n\"\n",
        "a: 'it''s'\n",
        "a: \"b\n  c\"\n",
        "a: b\n  c\n",
        "a: b: c\n",
        "a: [b,\n  c]\n",
        "a: [b, [c]]\n",
        "a: [b: c]\n",
        "a: {b: c}\n",
        "a: [b,]\n",
        "a: 1\na: 2\n",
        "? a\n: b\n",
        "<<: b\n",
        "true: b\n",
        "1: b\n",
        "a b: c\n",
        "\"a\": b\n",
        "---\na: b\n",
        "a: b\n---\nc: d\n",
        "a:\tb\n",
        "a: b\r\n",
        "a:\n  b: 1\n c: 2\n",
        "a: 1\n  b: 2\n",
        "a:\n  - - b\n",
        "a:\n  -\n    b: 1\n",
        "- a\n",
        "a: 'b'c\n",
        "a: [b] c\n",
        "a: \"b\"#c\n",
        "a:b\n",
        "a: @b\n",
        "a: %b\n",
        "a: \"b\u{2028}c\"\n",
        "# b\u{85}a: c\n",
        "\u{feff}a: b\n",
    ] {
        assert!(!is_read(text), "{text}");
    }
}

#[test]
fn a_file_that_is_deep_or_repeats_itself_is_declined() {
    let deep = (0..40).map(|depth| " ".repeat(depth) + "k:\n").collect::<String>();
    assert!(!is_read(&format!("{deep}{}k: 1\n", " ".repeat(40))));
    let many = (0..40).map(|n| format!("k{n}: {n}\n")).collect::<Vec<_>>().concat();
    assert!(is_read(&many));
    assert!(!is_read(&format!("{many}k7: 1\n")));
}

/// A piece of a configuration, right or nearly so.
fn piece() -> impl Strategy<Value = String> {
    let exact = [
        "a",
        "b",
        "key",
        "x-y",
        "- ",
        "-",
        ": ",
        ":",
        " ",
        "  ",
        "    ",
        "\n",
        "\n  ",
        "\n    ",
        "\n- ",
        "\n  - ",
        "\"",
        "'",
        "#",
        " #",
        "[",
        "]",
        "{}",
        ", ",
        ",",
        "~",
        "~/",
        "./",
        "..",
        "${A}",
        "1",
        "0",
        "2.5",
        "1.0.0",
        "true",
        "no",
        "null",
        "inf",
        "-inf",
        "-y",
        "--z",
        "é",
        "\\",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "?",
        "=",
        "key: value\n",
        "key:\n",
        "  inner: \"text\"\n",
        "  - item\n",
        "list: [a, \"b\", 3]\n",
    ];
    prop_oneof![
        3 => proptest::sample::select(exact.to_vec()).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9_./:$-]{1,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_is_read_is_read_as_the_full_parser_does(pieces in prop::collection::vec(piece(), 1..24)) {
        is_read(&pieces.concat());
    }

    #[test]
    fn and_so_is_a_value(value in "[ -~]{1,12}") {
        is_read(&format!("a: {value}\n"));
        is_read(&format!("a:\n  - {value}\n"));
        is_read(&format!("a: [{value}]\n"));
    }

    #[test]
    fn and_a_key(key in "[ -~]{1,8}") {
        is_read(&format!("{key}: b\n"));
        is_read(&format!("a:\n  - {key}: b\n"));
    }
}
