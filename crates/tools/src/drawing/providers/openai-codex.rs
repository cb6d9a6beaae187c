//! The Codex of `OpenAI`, paid for by a plan and not by the picture: its Responses API with the tool that
//! draws. It answers with a stream of events only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hermes_core::error::ToolError;
use hermes_core::web::WebReply;
use serde_json::{Value, json};

use crate::drawing::codex::{Account, LOGIN};
use crate::drawing::{Image, Provider, Wish, no_image};
use crate::media::service::{Asking, at, content, words};

pub(crate) const PROVIDER: Provider = Provider::new(LOGIN, &[], "gpt-image-2", draw).logged_in(LOGIN);

/// The model that has the picture drawn.
const CHAT: &str = "gpt-5.4";

const TASK: &str = "Have exactly one picture drawn, as the user describes it. Do not answer in words.";

fn draw<'a>(asking: &'a Asking<'a>, wish: &'a Wish<'a>) -> BoxFuture<'a, Result<Image, ToolError>> {
    Box::pin(async move {
        let body = request(wish, &asking.text("image_gen.openai-codex.chat_model", CHAT));
        let account = Account::open(asking.cx).await?;
        let reply = ask(asking, &account, &body).await?;
        let reply = if reply.status == 401 {
            ask(asking, &account.renewed(asking).await?, &body).await?
        } else {
            reply
        };
        picture(&content(reply)?.text())
    })
}

async fn ask(asking: &Asking<'_>, account: &Account, body: &Value) -> Result<WebReply, ToolError> {
    let usual = "https://chatgpt.com/backend-api/codex";
    let base = asking.base("image_gen.openai-codex.base_url", "HERMES_CODEX_BASE_URL", usual);
    let mut headers = account.headers();
    headers.push(("accept", "text/event-stream".to_owned()));
    asking.ask(format!("{base}/responses"), &headers, body).await
}

fn request(wish: &Wish<'_>, chat: &str) -> Value {
    let (width, height) = wish.shape.dots();
    let mut content = vec![json!({ "type": "input_text", "text": wish.prompt })];
    content.extend(wish.pictures.iter().map(|url| json!({ "type": "input_image", "image_url": url })));
    json!({
        "model": chat,
        "instructions": TASK,
        "input": [{ "type": "message", "role": "user", "content": content }],
        "tools": [{
            "type": "image_generation",
            "model": wish.model,
            "size": format!("{width}x{height}"),
            "output_format": "png",
        }],
        "tool_choice": { "type": "image_generation" },
        "store": false,
        "stream": true,
    })
}

/// The picture in the events: the finished one, wherever it is told.
fn picture(events: &str) -> Result<Image, ToolError> {
    let mut drawn = None;
    for data in events.lines().filter_map(|line| line.strip_prefix("data:")) {
        let Ok(event) = serde_json::from_str::<Value>(data.trim()) else { continue };
        match at(&event, "/type").as_str().unwrap_or_default() {
            "response.output_item.done" => drawn = result(at(&event, "/item")).or(drawn),
            "response.completed" => {
                let output = at(&event, "/response/output").as_array().map(Vec::as_slice).unwrap_or_default();
                drawn = drawn.or_else(|| output.iter().find_map(result));
            }
            "response.failed" | "response.incomplete" | "error" => {
                let said = words(at(&event, "/response")).or_else(|| words(&event));
                let why = said.unwrap_or_else(|| "no reason given".to_owned());
                return Err(ToolError::Failed(format!("Codex could not draw it: {why}")));
            }
            _ => {}
        }
    }
    let drawn = STANDARD.decode(drawn.ok_or_else(no_image)?);
    drawn.map(Image::Bytes).map_err(|wrong| ToolError::Failed(format!("the picture cannot be read: {wrong}")))
}

/// What a finished call of the tool has drawn.
fn result(item: &Value) -> Option<String> {
    let is_drawn = at(item, "/type") == "image_generation_call";
    at(item, "/result").as_str().filter(|result| is_drawn && !result.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::Shape;

    #[test]
    fn the_finished_picture_is_taken_wherever_it_is_told() {
        let item = r#"{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw=="}"#;
        let early = format!(
            "event: x\ndata: {{\"type\":\"response.image_generation_call.partial_image\",\"partial_image_b64\":\"AAAA\"}}\n\n\
             data: {{\"type\":\"response.output_item.done\",\"item\":{item}}}\n\ndata: [DONE]\n"
        );
        let late =
            format!("data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[{item}]}}}}\n");

        for events in [early, late] {
            assert_eq!(picture(&events).unwrap(), Image::Bytes(b"\x89PNG".to_vec()), "{events}");
        }
        assert!(picture("data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}").is_err());
    }

    #[test]
    fn a_refusal_is_told_in_its_own_words() {
        let failed = r#"data: {"type":"response.failed","response":{"error":{"code":"x","message":"not such a one"}}}"#;

        assert!(picture(failed).unwrap_err().to_string().contains("not such a one"));
    }

    #[test]
    fn a_picture_to_begin_with_goes_along() {
        let pictures = ["data:image/png;base64,AA".to_owned()];
        let wish =
            Wish { prompt: "in blue", shape: Shape::Square, pictures: &pictures, model: "gpt-image-2" };

        let body = request(&wish, "gpt-5.4");

        assert_eq!(at(&body, "/input/0/content/1/image_url"), &json!("data:image/png;base64,AA"));
        assert_eq!(at(&body, "/tools/0/size"), "1024x1024");
        assert_eq!((at(&body, "/stream"), at(&body, "/store")), (&json!(true), &json!(false)));
    }
}
