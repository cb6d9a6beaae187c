//! The article of an HTML page, as markdown.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};

use super::Page;
use crate::documents::entity;

/// What is never read: machinery and furniture.
const SKIPPED: [&str; 12] = [
    "script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "aside", "form", "head",
    "canvas",
];

/// Most elements of a page, and most of them inside of one another, that are weighed against each other to
/// find the article. Beyond that a page is read from top to bottom: finding costs more than in proportion.
const MAX_ELEMENTS: usize = 20_000;
const MAX_DEPTH: usize = 256;

/// An article this much shorter than the page, and shorter than this, is not what the page is about.
const SHORTEST_ARTICLE: usize = 200;

/// The article, or the whole page where there is none.
pub(super) fn article(html: &str, url: &str) -> Page {
    let Size { elements, depth } = size(html);
    if elements > MAX_ELEMENTS || depth > MAX_DEPTH {
        return plain(html);
    }
    let whole = whole(html);
    let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
    let found = Readability::new(html, Some(url), Some(config)).ok().and_then(|mut page| page.parse().ok());
    let Some(found) = found else { return whole };
    let text = found.text_content.trim().to_owned();
    let title = if found.title.trim().is_empty() { whole.title.clone() } else { found.title };
    let is_fragment =
        text.chars().count() < SHORTEST_ARTICLE && whole.text.chars().count() > 2 * text.chars().count();
    if is_fragment { Page { title, ..whole } } else { Page { title, text } }
}

/// Everything on the page that is meant to be read.
fn whole(html: &str) -> Page {
    let document = Document::from(html);
    let title = document.select("title").first().text().trim().to_owned();
    let body = document.select("body");
    let text = body.nodes().first().map(|body| body.md(Some(&SKIPPED)).to_string()).unwrap_or_default();
    Page { title, text: text.trim().to_owned() }
}

/// How much there is to a page.
struct Size {
    elements: usize,
    depth: usize,
}

/// Counts tags without building anything. Elements that are never closed count as open: too careful for
/// sloppy pages of a certain length, never too trusting.
fn size(html: &str) -> Size {
    let (mut elements, mut open, mut depth) = (0, 0_usize, 0);
    let bytes = html.as_bytes();
    for at in memchr::memchr_iter(b'<', bytes) {
        match bytes.get(at + 1) {
            Some(b'/') => open = open.saturating_sub(1),
            Some(c) if c.is_ascii_alphabetic() => {
                elements += 1;
                if !is_void(bytes.get(at + 1..).unwrap_or_default()) {
                    open += 1;
                    depth = depth.max(open);
                }
            }
            _ => {}
        }
    }
    Size { elements, depth }
}

/// Elements that have no end, or whose end people leave out.
fn is_void(after: &[u8]) -> bool {
    const NAMES: [&[u8]; 17] = [
        b"br", b"hr", b"img", b"input", b"link", b"meta", b"p", b"li", b"td", b"tr", b"th", b"dt", b"dd",
        b"col", b"source", b"option", b"wbr",
    ];
    let end = after.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(after.len());
    let name = after.get(..end).unwrap_or_default();
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The words between the tags, without scripts and styles.
fn plain(html: &str) -> Page {
    let (mut text, mut title) = (String::new(), String::new());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        push_words(&mut text, before);
        let (tag, behind) = after.split_once('>').unwrap_or((after, ""));
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        rest = behind;
        if !tag.starts_with('/') && matches!(name.as_str(), "script" | "style" | "title" | "template") {
            let end = format!("</{name}");
            let at = memchr::memmem::find(rest.as_bytes(), end.as_bytes()).unwrap_or(rest.len());
            let (inside, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
            if name == "title" && title.is_empty() {
                inside.trim().clone_into(&mut title);
            }
            rest = behind;
        } else if !matches!(name.as_str(), "a" | "b" | "i" | "em" | "strong" | "span" | "code")
            && !text.ends_with('\n')
        {
            text.push('\n');
        }
    }
    push_words(&mut text, rest);
    Page { title, text: text.trim().to_owned() }
}

/// Adds words, one space between them, what `&name;` stands for written out.
fn push_words(text: &mut String, words: &str) {
    for (at, word) in words.split_whitespace().enumerate() {
        let apart = at > 0 || words.starts_with(char::is_whitespace);
        if apart && !text.is_empty() && !text.ends_with(['\n', ' ']) {
            text.push(' ');
        }
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('&') {
            text.push_str(before);
            let Some((name, behind)) = after.split_once(';') else {
                text.push('&');
                rest = after;
                continue;
            };
            text.push_str(&entity(name));
            rest = behind;
        }
        text.push_str(rest);
    }
    if words.ends_with(char::is_whitespace) && !text.is_empty() && !text.ends_with(['\n', ' ']) {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_page_that_is_too_much_is_read_from_top_to_bottom() {
        let page = plain(
            "<title>T</title><script>if (a<b) x()</script><h1>Big &amp; wide</h1><p>one <b>two</b> three<br>four &x",
        );

        assert_eq!(page.title, "T");
        assert_eq!(page.text, "Big & wide\none two three\nfour &x");
    }
}
