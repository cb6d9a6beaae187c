//! From where a model says that something is to its bytes: an address, a path, or the thing itself as a
//! `data:` URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolError;
use hermes_core::session::Place;
use hermes_core::web::{Reach, WebError, WebReply, WebRequest, host_in};

use super::kind_of;
use crate::web::address::carries_secret;

/// How often a server that fails is asked.
const TRIES: usize = 3;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) bytes: Vec<u8>,
    /// By looking at it; nothing when it is not known.
    pub(crate) media_type: Option<&'static str>,
    /// What it is called.
    pub(crate) name: String,
}

/// Where something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source<'a> {
    Web(&'a str),
    Data(&'a str),
    Path(&'a str),
}

impl<'a> Source<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let text = text.trim();
        let begins = |word: &str| text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
        if begins("http://") || begins("https://") {
            Self::Web(text)
        } else if begins("data:") {
            Self::Data(text)
        } else {
            Self::Path(text.strip_prefix("file://").unwrap_or(text))
        }
    }

    /// What a call that looks at it has to declare.
    pub(crate) fn effects(&self, place: &Place) -> Vec<Effect> {
        match self {
            Self::Web(url) => host_in(url).map(Effect::Connect).into_iter().collect(),
            Self::Data(_) => Vec::new(),
            Self::Path(path) => vec![Effect::Read(place.resolve(path))],
        }
    }

    /// Its bytes, if there are no more than `most`.
    pub(crate) async fn load(&self, cx: &ToolCx, most: usize) -> Result<Found, ToolError> {
        let (bytes, name) = match self {
            Self::Web(url) => (download(cx, url, most).await?, last_part(url)),
            Self::Data(url) => (decoded(url, most)?, "data".to_owned()),
            Self::Path(path) => {
                let real = cx.files().real_path(path);
                let limit = u64::try_from(most).unwrap_or(u64::MAX);
                (cx.files().whole(&real, limit).await?.bytes, last_part(path))
            }
        };
        Ok(Found { media_type: kind_of(&bytes), bytes, name })
    }
}

/// What stands behind the last slash, without a query.
fn last_part(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or(text);
    text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}

async fn download(cx: &ToolCx, url: &str, most: usize) -> Result<Vec<u8>, ToolError> {
    if let Some(why) = carries_secret(url) {
        return Err(ToolError::Failed(why));
    }
    let mut last = ToolError::Failed(format!("{url} could not be fetched"));
    for _ in 0..TRIES {
        let request =
            WebRequest::get(url, Reach::Open).max_bytes(most).header("accept", "image/*,video/*,*/*;q=0.5");
        match cx.web()?.fetch(request).await {
            Ok(reply) if reply.status >= 500 => {
                last = ToolError::Failed(format!("the server answered {}", reply.status));
            }
            Ok(reply) => return body(reply, most),
            Err(wrong @ ToolError::Web(WebError::Failed(_) | WebError::TimedOut(_))) => last = wrong,
            Err(wrong) => return Err(wrong),
        }
    }
    Err(last)
}

fn body(reply: WebReply, most: usize) -> Result<Vec<u8>, ToolError> {
    if !reply.is_ok() {
        return Err(ToolError::Failed(format!("the server answered {}", reply.status)));
    }
    if reply.cut {
        let why = format!("it is larger than {} MB", most / (1024 * 1024));
        return Err(ToolError::Failed(why));
    }
    Ok(reply.body)
}

/// What a `data:` URL holds.
fn decoded(url: &str, most: usize) -> Result<Vec<u8>, ToolError> {
    let bad = |why: &str| ToolError::Arguments(format!("the data: URL cannot be read: {why}"));
    let (head, data) = url.split_once(',').ok_or_else(|| bad("it has no comma"))?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Err(bad("only base64 is understood"));
    }
    if data.len() / 4 * 3 > most {
        return Err(bad("it is too large"));
    }
    let data: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(data).map_err(|wrong| bad(&wrong.to_string()))
}

/// The source as an address that a service can use by itself: an address of the web as it is, anything
/// else with what it holds in it.
pub(crate) async fn as_url(
    cx: &ToolCx,
    source: &str,
    most: usize,
    family: &str,
) -> Result<String, ToolError> {
    if let Source::Web(url) = Source::of(source) {
        if let Some(why) = carries_secret(url) {
            return Err(ToolError::Failed(why));
        }
        cx.web()?.judge(url)?;
        return Ok(url.to_owned());
    }
    let found = Source::of(source).load(cx, most).await?;
    let kind = found.media_type.filter(|kind| kind.starts_with(family));
    let kind = kind.ok_or_else(|| ToolError::Failed(format!("{source} is none of {family}")))?;
    Ok(data_url(kind, &found.bytes))
}

/// Bytes as a `data:` URL.
pub(crate) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_paths_and_data_are_told_apart() {
        assert_eq!(Source::of(" HTTPS://a.example/x.png"), Source::Web("HTTPS://a.example/x.png"));
        assert_eq!(Source::of("data:image/png;base64,AA"), Source::Data("data:image/png;base64,AA"));
        assert_eq!(Source::of("file:///tmp/a.png"), Source::Path("/tmp/a.png"));
        assert_eq!(Source::of("~/a.png"), Source::Path("~/a.png"));
    }

    #[test]
    fn what_is_looked_at_is_declared() {
        let place = Place { cwd: "/w".into(), home: None };

        assert_eq!(Source::of("a.png").effects(&place), [Effect::Read("/w/a.png".into())]);
        assert_eq!(
            Source::of("http://a.example:8/x").effects(&place),
            [Effect::Connect("a.example:8".into())]
        );
        assert_eq!(Source::of("data:,").effects(&place), []);
    }

    #[test]
    fn data_is_read_and_written() {
        let url = data_url("image/png", b"\x89P");

        assert_eq!(decoded(&url, 10).unwrap(), b"\x89P");
        assert!(decoded("data:text/plain,hello", 10).is_err());
        assert!(decoded(&data_url("image/png", &[0; 100]), 10).is_err());
        assert_eq!(last_part("https://a.example/b/c.png?x=/y"), "c.png");
    }
}
