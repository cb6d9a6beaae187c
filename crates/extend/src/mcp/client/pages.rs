//! An error by which a server says that a person has to visit a page before it answers (number -32042 of
//! the protocol): the request was not carried out, and may be made again once somebody was there.

use hermes_core::clarify::Asker;
use hermes_core::cx::ToolCx;
use rmcp::model::{ElicitRequestParams, ElicitationAction, ErrorData};
use serde_json::Value;
use std::sync::Arc;

use super::elicit::{Elicitation, is_shown};

/// The number of the error.
const CODE: i32 = -32042;

/// Most pages that one error may ask for.
const MAX_PAGES: usize = 4;

/// A page that is to be visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    message: String,
    url: String,
    id: String,
}

impl Page {
    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if text("mode").is_some_and(|mode| mode != "url") {
            return None;
        }
        let (message, id) = (text("message").unwrap_or_default(), text("elicitationId").unwrap_or_default());
        Some(Self { message, url: text("url")?, id })
    }

    /// Where it is and what for; the address only if it is one that a person can be shown.
    fn words(&self) -> String {
        let url = if is_shown(&self.url) { &self.url } else { "an address that is not shown" };
        if self.message.is_empty() { url.to_owned() } else { format!("{url} ({})", self.message) }
    }
}

/// The pages that an error asks for; nothing when it says something else.
pub(super) fn wanted(error: &ErrorData) -> Option<Vec<Page>> {
    if error.code.0 != CODE {
        return None;
    }
    let listed = error.data.as_ref()?.get("elicitations")?.as_array()?;
    let pages: Vec<Page> = listed.iter().filter_map(Page::read).take(MAX_PAGES).collect();
    (!pages.is_empty()).then_some(pages)
}

/// Sends the person who watches the call to these pages; why that did not happen.
pub(super) async fn visit(
    pages: Vec<Page>,
    elicitation: Option<&Elicitation>,
    server: &str,
    cx: &ToolCx,
) -> Result<(), String> {
    let words: Vec<String> = pages.iter().map(Page::words).collect();
    let words = format!("a person has to visit a page before it answers: {}", words.join(", "));
    let Some(elicitation) = elicitation else {
        return Err(format!(
            "{words}. This server may not ask anybody; `mcp_servers.{server}.elicitation.enabled` allows it"
        ));
    };
    if cx.service::<Arc<dyn Asker>>().is_none() {
        return Err(format!("{words}. There is nobody here who could"));
    }
    for Page { message, url, id } in pages {
        let asked =
            ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id: id };
        if elicitation.answer(asked, Some(cx)).await.action != ElicitationAction::Accept {
            return Err(format!("{words}. Nobody did"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use serde_json::json;

    use super::*;

    fn error(code: i32, data: Value) -> ErrorData {
        ErrorData::new(ErrorCode(code), "first log in", Some(data))
    }

    #[test]
    fn only_this_error_asks_for_pages_and_for_no_more_than_can_be_shown() {
        let page =
            json!({ "mode": "url", "elicitationId": "e", "url": "https://a.example/", "message": "Log in" });
        let many = vec![page.clone(); 9];

        assert_eq!(wanted(&error(CODE, json!({ "elicitations": [page] }))).unwrap().len(), 1);
        assert_eq!(wanted(&error(CODE, json!({ "elicitations": many }))).unwrap().len(), MAX_PAGES);
        for data in
            [json!(null), json!({}), json!({ "elicitations": [] }), json!({ "elicitations": [{}, 1] })]
        {
            assert_eq!(wanted(&error(CODE, data)), None);
        }
        let form = json!({ "elicitations": [{ "mode": "form", "url": "https://a.example/" }] });
        assert_eq!(wanted(&error(CODE, form)), None);
        assert_eq!(
            wanted(&error(-32602, json!({ "elicitations": [{ "url": "https://a.example/" }] }))),
            None
        );
    }

    #[test]
    fn an_address_that_is_none_of_a_page_is_not_told() {
        let page = |url: &str| Page { message: "Log in".to_owned(), url: url.to_owned(), id: String::new() };

        assert_eq!(page("https://a.example/x").words(), "https://a.example/x (Log in)");
        assert!(!page("javascript:alert(1)").words().contains("javascript"));
    }
}
