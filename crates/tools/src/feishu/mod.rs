//! Feishu and Lark, as the `feishu_*` tools reach them: the open platform, as an application of the
//! person's company.
//!
//! | file | what |
//! |---|---|
//! | here | where it is, the token of the application, and how it says no |
//! | [`comments`] | comments in short, and comments to be written |

pub(crate) mod comments;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use hermes_core::keys::Keys;
use serde_json::{Value, json};

use crate::api::{self, Api, Ask, Plan, Refused, Service, key};

pub(crate) const SERVICE: Service =
    Service { name: "Feishu", key: "FEISHU_APP_ID and FEISHU_APP_SECRET", explain };

/// Where Feishu is, and where Lark.
const FEISHU: &str = "https://open.feishu.cn";
const LARK: &str = "https://open.larksuite.com";

/// When its tools are there.
pub(crate) fn gate() -> Gate {
    Gate::All(vec![Gate::env("FEISHU_APP_ID"), Gate::env("FEISHU_APP_SECRET")])
}

/// Whose servers are meant, for setup; the keys are what the gate looks at.
pub(crate) fn variables() -> Vec<&'static str> {
    vec!["FEISHU_DOMAIN"]
}

/// The token of a document: itself, or the last part of a link to it.
pub(crate) fn token<'a>(text: &'a str, name: &str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    let last = match text.split_once("://") {
        Some((_, rest)) => {
            rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').rsplit('/').next()
        }
        None => Some(text),
    };
    api::id(last.unwrap_or_default(), name)
}

/// Asks as the application, and hands out what is in the answer.
pub(crate) async fn ask(cx: &ToolCx, ask: Ask) -> Result<Value, ToolError> {
    let keys = cx.keys()?;
    let base = address(keys);
    let own = json!({ "app_id": key(keys, "FEISHU_APP_ID")?, "app_secret": key(keys, "FEISHU_APP_SECRET")? });
    let api = Api::new(cx, &SERVICE, &base)?;
    let path = ["open-apis", "auth", "v3", "tenant_access_token", "internal"];
    let given = content(api.ask(Ask::post(&path).json(own)).await?)?;
    let Some(token) = given.get("tenant_access_token").and_then(Value::as_str) else {
        return Err(ToolError::Failed("Feishu gave no token to the application".to_owned()));
    };
    let answer = content(api.bearer(token).ask(ask).await?)?;
    Ok(answer.get("data").cloned().unwrap_or_default())
}

/// The same for a plan.
pub(crate) async fn run(cx: &ToolCx, plan: Result<Plan, ToolError>) -> Result<Value, ToolError> {
    ask(cx, plan?.ask).await
}

/// Where the person's company is: at Feishu, at Lark, or where the variable points.
fn address(keys: &dyn Keys) -> String {
    let domain = keys.key("FEISHU_DOMAIN").unwrap_or_default();
    let usual = match domain.trim() {
        "" | "feishu" => FEISHU,
        "lark" => LARK,
        other => other,
    };
    api::address(keys, "FEISHU_BASE_URL", usual)
}

/// The answer, unless it says in a number that it is none.
fn content(answer: Value) -> Result<Value, ToolError> {
    match answer.get("code").and_then(Value::as_i64) {
        Some(0) => Ok(answer),
        Some(code) => {
            let said = answer.get("msg").and_then(Value::as_str).unwrap_or_default();
            let meaning = meaning(code).map(|meaning| format!("{meaning} ")).unwrap_or_default();
            Err(ToolError::Failed(format!(
                "{meaning}(Feishu answered {code}: {})",
                api::shortened(said, 300)
            )))
        }
        None => Err(ToolError::Failed("the answer of Feishu says neither yes nor no".to_owned())),
    }
}

fn explain(refused: &Refused) -> Option<String> {
    meaning(refused.body.get("code").and_then(Value::as_i64)?).map(str::to_owned)
}

/// What their numbers mean, as far as something can be done about them.
fn meaning(code: i64) -> Option<&'static str> {
    Some(match code {
        10003 | 10014 => "FEISHU_APP_ID and FEISHU_APP_SECRET do not fit together",
        99_991_661 | 99_991_663 | 99_991_664 => "the token of the application is not accepted",
        99_991_672 | 99_991_679 => {
            "the application lacks a permission; its page in the developer console grants it"
        }
        99_991_400 => "the application asks too often; try again later",
        1_770_002 | 1_069_307 => "there is no such document, or it is not shared with the application",
        1_770_032 | 1_069_303 | 1_061_004 => "the document is not shared with the application",
        1_069_302 => "this comment takes no replies; feishu_drive_add_comment writes a new one",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Variables(&'static [(&'static str, &'static str)]);

    impl Keys for Variables {
        fn key(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn setting(&self, _key: &str) -> Option<Value> {
            None
        }
    }

    #[test]
    fn a_document_is_named_by_its_token_or_a_link_to_it() {
        assert_eq!(token("doxcnAbC123", "t").unwrap(), "doxcnAbC123");
        assert_eq!(token("https://a.feishu.cn/docx/doxcnAbC123?from=x#y", "t").unwrap(), "doxcnAbC123");
        for wrong in ["", "a/b", "https://a.feishu.cn/", "..", "a?b"] {
            assert!(token(wrong, "t").is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_company_is_at_feishu_unless_something_else_is_said() {
        assert_eq!(address(&Variables(&[])), FEISHU);
        assert_eq!(address(&Variables(&[("FEISHU_DOMAIN", "lark")])), LARK);
        assert_eq!(address(&Variables(&[("FEISHU_DOMAIN", "https://open.example")])), "https://open.example");
    }

    #[test]
    fn a_number_that_is_not_zero_is_a_refusal_in_words() {
        let no = content(json!({ "code": 99_991_672, "msg": "Access denied" })).unwrap_err().to_string();

        assert!(no.contains("lacks a permission") && no.contains("99991672: Access denied"), "{no}");
        assert!(content(json!({})).is_err());
        assert!(content(json!({ "code": 0 })).is_ok());
    }
}
