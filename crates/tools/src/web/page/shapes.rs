//! Shapes of pages as they are met in the wild, saved in `fixtures/pages`: of each, what must be read and
//! what must not.

#![expect(clippy::disallowed_methods, reason = "saved pages are files")]

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::{Fetched, text};
use crate::web::excerpt::without_inline_pictures;

/// Where they are, with an `index.json` that says what is in them.
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pages");

/// A saved page.
#[derive(Deserialize)]
struct Shape {
    file: String,
    /// As a server would call it.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    title: Option<String>,
    has: Vec<String>,
    lacks: Vec<String>,
}

#[test]
fn of_every_shape_the_article_is_read_and_the_furniture_is_not() {
    let index = fs::read_to_string(Path::new(PAGES).join("index.json")).unwrap();
    let shapes: Vec<Shape> = serde_json::from_str(&index).unwrap();

    assert!(shapes.len() >= 50);
    for Shape { file, kind, title, has, lacks } in shapes {
        let body = fs::read(Path::new(PAGES).join(&file)).unwrap();
        let fetched = Fetched { url: "https://a.example/books".into(), kind, body, cut: false };
        let page = text(fetched).unwrap_or_else(|why| panic!("{file}: {why}"));
        let shown = without_inline_pictures(&page.text);

        for words in has {
            assert!(shown.contains(&words), "{file}: {words:?} is missing in {shown:?}");
        }
        for words in lacks {
            assert!(!shown.contains(&words), "{file}: {words:?} is in {shown:?}");
        }
        if let Some(title) = title {
            assert_eq!(page.title, title, "{file}");
        }
    }
}

#[test]
fn pages_made_to_do_harm_cost_no_more_than_themselves() {
    let deep = format!("{}words{}", "<div>".repeat(20_000), "</div>".repeat(20_000));
    let wide = "<p>word</p>".repeat(50_000);
    let broken = "<".repeat(100_000);

    for body in [deep, wide, broken] {
        let fetched = Fetched {
            url: "https://a.example/".into(),
            kind: "text/html".into(),
            body: body.into(),
            cut: false,
        };
        // Whether there is text matters less than that there is an answer.
        let _ = text(fetched);
    }
}
