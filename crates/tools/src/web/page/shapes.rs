//! Shapes of pages as they are met in the wild: of each, what must be read and what must not.

use super::{Fetched, text};

/// A sentence that only an article has, long enough to look like one.
const ARTICLE: &str = "The lighthouse keeper wrote down every ship that passed, its flag, its course and the hour, \
    and after forty years the books filled a wall. Historians found that the books agree with the logs of the \
    harbour in all but nine cases, and in seven of these the harbour was wrong.";

struct Shape {
    name: &'static str,
    kind: &'static str,
    body: String,
    wanted: &'static [&'static str],
    unwanted: &'static [&'static str],
}

fn html(
    name: &'static str,
    body: &str,
    wanted: &'static [&'static str],
    unwanted: &'static [&'static str],
) -> Shape {
    let body = body.replace("ARTICLE", ARTICLE);
    Shape { name, kind: "text/html; charset=utf-8", body, wanted, unwanted }
}

const KEEPER: &[&str] = &["lighthouse keeper", "the harbour was wrong"];
const FURNITURE: &[&str] = &["Subscribe now", "Cookie settings", "console.log"];

fn layouts() -> Vec<Shape> {
    let furniture = "<nav><a href=/a>Home</a><a href=/b>Subscribe now</a></nav>";
    let foot = "<footer>Cookie settings</footer><script>console.log('x')</script>";
    let around = |middle: &str| {
        format!(
            "<html><head><title>Books of light</title></head><body>{furniture}{middle}{foot}</body></html>"
        )
    };
    let paragraphs = "<p>ARTICLE</p><p>ARTICLE</p><p>ARTICLE</p>";
    vec![
        html(
            "an article element",
            &around(&format!("<article><h1>Books</h1>{paragraphs}</article>")),
            KEEPER,
            FURNITURE,
        ),
        html("a main element", &around(&format!("<main>{paragraphs}</main>")), KEEPER, FURNITURE),
        html(
            "a content division",
            &around(&format!("<div id=content>{paragraphs}</div>")),
            KEEPER,
            FURNITURE,
        ),
        html(
            "a blog with comments",
            &around(&format!("<div class=post>{paragraphs}</div><div class=comments><p>First!</p></div>")),
            KEEPER,
            FURNITURE,
        ),
        html(
            "a layout of tables",
            &around(&format!("<table><tr><td>Menu</td><td>{paragraphs}</td></tr></table>")),
            KEEPER,
            FURNITURE,
        ),
        html(
            "a sidebar",
            &around(&format!("<aside>Subscribe now</aside><div class=article-body>{paragraphs}</div>")),
            KEEPER,
            FURNITURE,
        ),
        html("no structure at all", "ARTICLE<br><br>ARTICLE", KEEPER, &[]),
        html("unclosed paragraphs", "<html><body><p>ARTICLE<p>ARTICLE<p>ARTICLE", KEEPER, &[]),
        html(
            "capital letters",
            "<HTML><BODY><DIV CLASS=main><P>ARTICLE</P><P>ARTICLE</P></DIV></BODY></HTML>",
            KEEPER,
            &[],
        ),
        html(
            "xhtml",
            &format!(
                "<?xml version=\"1.0\"?><!DOCTYPE html><html xmlns=\"http://www.w3.org/1999/xhtml\"><body><div>{paragraphs}</div></body></html>"
            ),
            KEEPER,
            &[],
        ),
        html(
            "a very short page",
            "<html><head><title>Status</title></head><body><h1>All systems work</h1></body></html>",
            &["All systems work"],
            &[],
        ),
        html(
            "right to left",
            "<html dir=rtl><body><article><p>حارس المنارة كتب كل سفينة مرت، علمها ومسارها والساعة.</p></article></body></html>",
            &["حارس المنارة"],
            &[],
        ),
        html(
            "no spaces between words",
            "<html lang=ja><body><main><p>灯台守は通り過ぎるすべての船を書き留めた。</p></main></body></html>",
            &["灯台守"],
            &[],
        ),
    ]
}

fn elements() -> Vec<Shape> {
    vec![
        html(
            "headings and lists",
            "<main><h2>Steps</h2><ol><li>Light the lamp</li><li>Write the hour</li></ol><p>ARTICLE</p><p>ARTICLE</p></main>",
            &["Steps", "1. Light the lamp"],
            &[],
        ),
        html(
            "nested lists",
            "<main><p>ARTICLE</p><ul><li>Ships<ul><li>Brigs</li></ul></li></ul><p>ARTICLE</p></main>",
            &["Ships", "Brigs"],
            &[],
        ),
        html(
            "code",
            "<main><p>ARTICLE</p><pre><code>let lamp = 1;\nlamp += 1;</code></pre><p>ARTICLE</p></main>",
            &["let lamp = 1;\nlamp += 1;"],
            &[],
        ),
        html(
            "a table",
            "<main><p>ARTICLE</p><p>ARTICLE</p><table><tr><th>Year</th><th>Ships</th></tr><tr><td>1888</td><td>412</td></tr></table></main>",
            &["1888", "412"],
            &[],
        ),
        html(
            "links",
            "<main><p>ARTICLE See <a href=\"/wall\">the wall</a>.</p><p>ARTICLE</p></main>",
            &["[the wall](", "/wall"],
            &[],
        ),
        html(
            "emphasis",
            "<main><p>ARTICLE It was <strong>very</strong> dark.</p><p>ARTICLE</p></main>",
            &["**very**"],
            &[],
        ),
        html(
            "quotes",
            "<main><p>ARTICLE</p><blockquote><p>The light must not go out.</p></blockquote><p>ARTICLE</p></main>",
            &["The light must not go out."],
            &[],
        ),
        html(
            "definitions",
            "<main><p>ARTICLE</p><dl><dt>Fresnel</dt><dd>A lens of rings</dd></dl><p>ARTICLE</p></main>",
            &["A lens of rings"],
            &[],
        ),
        html(
            "entities",
            "<main><p>Tom &amp; Jerry &lt;3 caf&eacute; &#8212; ARTICLE</p></main>",
            &["Tom & Jerry", "café —"],
            &["&eacute;"],
        ),
        html(
            "pictures",
            "<main><p>ARTICLE</p><img alt=\"the tower\" src=\"data:image/png;base64,QUJDREVG\"><p>ARTICLE</p></main>",
            &["lighthouse"],
            &["QUJDREVG"],
        ),
        html(
            "styles and comments",
            "<html><head><style>p{color:red}</style></head><body><!-- secret plan --><p>ARTICLE</p></body></html>",
            &["lighthouse"],
            &["color:red", "secret plan"],
        ),
        html(
            "hidden for readers",
            "<main><p>ARTICLE</p><template><p>Never shown</p></template><noscript>Enable scripts</noscript></main>",
            &["lighthouse"],
            &["Never shown"],
        ),
        html(
            "a definition of data",
            "<html><head><script type=\"application/ld+json\">{\"@type\":\"Article\",\"headline\":\"X\"}</script></head><body><p>ARTICLE</p><p>ARTICLE</p></body></html>",
            &["lighthouse"],
            &["@type"],
        ),
    ]
}

fn others() -> Vec<Shape> {
    let plain =
        |name, kind, body: &str, wanted| Shape { name, kind, body: body.to_owned(), wanted, unwanted: &[] };
    vec![
        plain("plain text", "text/plain", "line one\nline two", &["line one\nline two"]),
        plain("markdown", "text/markdown", "# Title\n\ntext", &["# Title"]),
        plain("json", "application/json", "{\"a\": [1, 2]}", &["{\"a\": [1, 2]}"]),
        plain("vendor json", "application/vnd.api+json", "{\"b\": 1}", &["\"b\""]),
        plain(
            "no kind at all",
            "",
            "<!DOCTYPE html><html><body><p>found all the same</p></body></html>",
            &["found all the same"],
        ),
        plain(
            "a feed called xml",
            "text/xml",
            "<rss><channel><title>T</title><item><title>Entry</title></item></channel></rss>",
            &["## Entry"],
        ),
        plain(
            "xml of another kind",
            "application/xml",
            "<config><port>80</port></config>",
            &["<port>80</port>"],
        ),
    ]
}

#[test]
fn of_every_shape_the_article_is_read_and_the_furniture_is_not() {
    let shapes: Vec<Shape> = layouts().into_iter().chain(elements()).chain(others()).collect();

    assert!(shapes.len() >= 30);
    for Shape { name, kind, body, wanted, unwanted } in shapes {
        let fetched = Fetched {
            url: "https://a.example/books".into(),
            kind: kind.into(),
            body: body.into(),
            cut: false,
        };
        let page = text(fetched).unwrap_or_else(|why| panic!("{name}: {why}"));

        for words in wanted {
            assert!(page.text.contains(words), "{name}: {words:?} is missing in {:?}", page.text);
        }
        for words in unwanted {
            assert!(!page.text.contains(words), "{name}: {words:?} is in {:?}", page.text);
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
