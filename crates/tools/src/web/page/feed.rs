//! A feed (RSS, Atom) as a list of its entries.

use std::fmt::Write as _;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::Page;
use crate::documents::entity;

/// Most entries that are listed.
const MAX_ENTRIES: usize = 200;

/// Whether this is a feed, by what the server says or by how it begins.
pub(super) fn is_one(kind: &str, text: &str) -> bool {
    if kind.contains("rss+xml") || kind.contains("atom+xml") {
        return true;
    }
    let start: String = text.chars().take(1024).collect();
    kind.contains("xml") && ["<rss", "<feed", "<rdf:RDF"].iter().any(|begin| start.contains(begin))
}

#[derive(Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    summary: String,
}

/// Its entries, if it can be read as far as the first.
pub(super) fn text(xml: &str) -> Option<Page> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let (mut title, mut entries) = (String::new(), Vec::new());
    let mut entry: Option<Entry> = None;
    let mut open: Vec<String> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = tag.local_name().as_ref().to_owned();
                if matches!(name.as_str(), "item" | "entry") {
                    entry = Some(Entry::default());
                }
                if let Some(entry) = &mut entry
                    && name == "link"
                {
                    entry.link_of(&tag);
                }
                open.push(name);
            }
            Ok(Event::Empty(tag)) => {
                if let Some(entry) = &mut entry
                    && tag.local_name().as_ref() == "link"
                {
                    entry.link_of(&tag);
                }
            }
            Ok(Event::End(_)) => {
                let name = open.pop().unwrap_or_default();
                if matches!(name.as_str(), "item" | "entry")
                    && let Some(done) = entry.take()
                {
                    entries.push(done);
                }
            }
            Ok(Event::Text(text)) => add(&open, entry.as_mut(), &mut title, &text),
            Ok(Event::CData(data)) => add(&open, entry.as_mut(), &mut title, &data),
            Ok(Event::GeneralRef(name)) => {
                add(&open, entry.as_mut(), &mut title, &entity(&name));
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
        if entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    (!entries.is_empty()).then(|| Page { text: listed(&entries), title: title.trim().to_owned() })
}

impl Entry {
    fn link_of(&mut self, tag: &quick_xml::events::BytesStart<'_>) {
        let value = |name: &str| {
            let found = tag.try_get_attribute(name).ok().flatten()?;
            Some(found.value.replace("&amp;", "&"))
        };
        let is_page = value("rel").is_none_or(|rel| rel == "alternate");
        if let Some(href) = value("href").filter(|_| is_page) {
            self.link = href;
        }
    }
}

/// Puts text where it belongs: into the field whose element is open.
fn add(open: &[String], entry: Option<&mut Entry>, title: &mut String, text: &str) {
    let field = open.last().map(String::as_str).unwrap_or_default();
    match (entry, field) {
        (Some(entry), "title") => entry.title.push_str(text),
        (Some(entry), "link") => entry.link.push_str(text.trim()),
        (Some(entry), "pubDate" | "published" | "updated" | "date") if entry.date.is_empty() => {
            entry.date.push_str(text.trim());
        }
        (Some(entry), "description" | "summary" | "content" | "encoded") => entry.summary.push_str(text),
        (None, "title") if title.is_empty() => title.push_str(text),
        _ => {}
    }
}

fn listed(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let title = entry.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = if title.is_empty() { "(no title)".to_owned() } else { title };
        // Writing into a string cannot fail.
        let _ = if entry.link.is_empty() {
            writeln!(out, "## {title}")
        } else {
            writeln!(out, "## [{title}]({})", entry.link)
        };
        if !entry.date.is_empty() {
            let _ = writeln!(out, "{}", entry.date);
        }
        let summary = super::html::article(&entry.summary, "").text;
        if !summary.is_empty() {
            let _ = writeln!(out, "\n{summary}");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{is_one, text};

    #[test]
    fn rss_and_atom_become_lists() {
        let rss = r#"<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
            <item><title>One &amp; two</title><link>https://a.example/1</link><pubDate>Mon, 01 Jan 2026</pubDate>
            <description><![CDATA[<p>Some <b>bold</b> words</p>]]></description></item></channel></rss>"#;
        let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
            <entry><title>First</title><link rel="edit" href="https://a.example/e"/><link href="https://a.example/f"/>
            <updated>2026-01-01</updated><summary>Plain</summary></entry></feed>"#;

        let found = text(rss).unwrap();
        assert_eq!(found.title, "News");
        assert!(
            found.text.contains("## [One & two](https://a.example/1)\nMon, 01 Jan 2026"),
            "{}",
            found.text
        );
        assert!(found.text.contains("Some **bold** words"), "{}", found.text);
        let found = text(atom).unwrap();
        assert!(
            found.text.contains("## [First](https://a.example/f)\n2026-01-01\n\nPlain"),
            "{}",
            found.text
        );
        assert!(is_one("application/xml", atom) && !is_one("text/html", atom));
    }

    #[test]
    fn a_feed_that_breaks_off_keeps_what_came() {
        assert!(text("<rss><channel><item><title>a</title></item><item><tit").unwrap().text.contains("## a"));
        assert!(text("<rss><channel>").is_none());
    }
}
