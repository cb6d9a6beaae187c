//! What was fetched, as text: the article of an HTML page as markdown, the entries of a feed, the words
//! of a PDF, plain text as it is.

mod feed;
mod html;
#[cfg(test)]
mod shapes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use encoding_rs::Encoding;

use crate::documents::{Document, Extracted};

/// Largest page that is taken apart; more than that is no reading matter.
const MAX_HTML: usize = 8 * 1024 * 1024;

/// What a server sent.
pub(crate) struct Fetched {
    pub(crate) url: String,
    /// Its `Content-Type`.
    pub(crate) kind: String,
    pub(crate) body: Vec<u8>,
    /// Whether there was more than was read.
    pub(crate) cut: bool,
}

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// The text of what was fetched, or why there is none.
pub(crate) fn text(fetched: Fetched) -> Result<Page, String> {
    let kind = fetched.kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/pdf" || fetched.body.starts_with(b"%PDF-") {
        return document(Document::Pdf, fetched);
    }
    if kind.ends_with("wordprocessingml.document") {
        return document(Document::Word, fetched);
    }
    if kind.ends_with("spreadsheetml.sheet") {
        return document(Document::Sheet, fetched);
    }
    if !is_text(&kind, &fetched.body) {
        let kind = if kind.is_empty() { "of no known kind" } else { &kind };
        return Err(format!("it is {kind}, which holds no text to read"));
    }
    let text = decoded(&fetched.kind, &fetched.body);
    let page = if feed::is_one(&kind, &text) {
        feed::text(&text).unwrap_or_else(|| Page { text: text.clone(), ..Page::default() })
    } else if looks_like_html(&kind, &text) {
        article(text, &fetched.url)?
    } else {
        Page { title: String::new(), text }
    };
    let text = page.text.trim().to_owned();
    let text = if fetched.cut {
        format!("{text}\n\n[the rest of the page was not read: it is too long]")
    } else {
        text
    };
    Ok(Page { title: page.title.trim().to_owned(), text })
}

fn document(kind: Document, fetched: Fetched) -> Result<Page, String> {
    if fetched.cut {
        return Err("the document is too large".to_owned());
    }
    match kind.text(fetched.body) {
        Extracted::Text(text) => Ok(Page { title: String::new(), text }),
        Extracted::Other => Err("the document is not what the server says it is".to_owned()),
        Extracted::Unreadable(why) => Err(why),
    }
}

/// The article of a page. Whatever a page does to the library that reads it costs this page alone.
fn article(html: String, url: &str) -> Result<Page, String> {
    let html = if html.len() > MAX_HTML { html.chars().take(MAX_HTML / 4).collect() } else { html };
    catch_unwind(AssertUnwindSafe(|| html::article(&html, url)))
        .map_err(|_| "the page is too broken to be read".to_owned())
}

fn is_text(kind: &str, body: &[u8]) -> bool {
    let named = kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml", "x-sh", "graphql"]
            .iter()
            .any(|word| kind.ends_with(word));
    let start = body.get(..body.len().min(1024)).unwrap_or_default();
    named || ((kind.is_empty() || kind == "application/octet-stream") && !start.contains(&0))
}

fn looks_like_html(kind: &str, text: &str) -> bool {
    if kind.contains("html") {
        return true;
    }
    let start: String = text.trim_start().chars().take(256).collect::<String>().to_ascii_lowercase();
    kind.is_empty() && (start.starts_with("<!doctype html") || start.starts_with("<html"))
}

/// The text in the encoding that the server, the first bytes or the page itself name.
fn decoded(kind: &str, body: &[u8]) -> String {
    let named = charset(kind).or_else(|| {
        let start =
            String::from_utf8_lossy(body.get(..body.len().min(2048)).unwrap_or_default()).into_owned();
        charset(&start.to_ascii_lowercase())
    });
    let encoding = named.and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(body).0.into_owned()
}

/// The value of the first `charset=`, or of the `encoding=` with which XML begins.
fn charset(text: &str) -> Option<String> {
    let declared = || text.trim_start().strip_prefix("<?xml")?.split_once("?>")?.0.split_once("encoding=");
    let (_, after) = text.split_once("charset=").or_else(declared)?;
    let after = after.trim_start_matches(['"', '\'', ' ']);
    let end = after
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')))
        .unwrap_or(after.len());
    after.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Fetched, Page, text};

    fn page(kind: &str, body: impl Into<Vec<u8>>) -> Result<Page, String> {
        text(Fetched {
            url: "https://a.example/x".to_owned(),
            kind: kind.to_owned(),
            body: body.into(),
            cut: false,
        })
    }

    #[test]
    fn the_encoding_is_the_one_that_is_named() {
        assert_eq!(page("text/plain; charset=iso-8859-1", b"caf\xe9".to_vec()).unwrap().text, "café");
        let html = b"<html><head><meta charset=\"windows-1252\"><title>t</title></head><body><p>\x93caf\xe9\x94</p></body></html>";
        assert!(page("text/html", html.to_vec()).unwrap().text.contains("“café”"));
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_name() {
        let why = page("image/png", b"\x89PNG\0".to_vec()).unwrap_err();

        assert!(why.contains("image/png"), "{why}");
    }
}
