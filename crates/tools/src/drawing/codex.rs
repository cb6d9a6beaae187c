//! The account with which the Codex of `OpenAI` is used: a login that an earlier Hermes or `hermes import`
//! brought into the home, renewed when it is no longer accepted.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::logins::{LoginError, Logins};
use serde_json::{Map, Value, json};

use crate::media::service::Asking;

/// The name of the login.
pub(super) const LOGIN: &str = "openai-codex";

/// The public id under which programs that speak to Codex are known there.
const CLIENT: &str = "app_EMoamEEZ73f0CkXaXp7hrann";

/// Where the claims of a token tell the account.
const CLAIM: &str = "https://api.openai.com/auth";

/// Tokens of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    access: String,
    renewal: Option<String>,
    id: Option<String>,
}

impl Account {
    /// Who is logged in.
    pub(super) async fn open(cx: &ToolCx) -> Result<Self, ToolError> {
        let none = || ToolError::Failed(format!("nobody is logged in: auth.json has no login for {LOGIN}"));
        let login = logins(cx)?.login(LOGIN).await.map_err(|wrong| told(&wrong))?;
        login.as_ref().and_then(Self::read).ok_or_else(none)
    }

    /// The tokens of a login, which are kept beside what else is known of it.
    fn read(login: &Map<String, Value>) -> Option<Self> {
        let tokens = login.get("tokens").and_then(Value::as_object).unwrap_or(login);
        let text = |name: &str| {
            let text = tokens.get(name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let access = text("access_token")?;
        let id = text("account_id").or_else(|| claimed(&access));
        Some(Self { renewal: text("refresh_token"), id, access })
    }

    /// What a request carries.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("authorization", format!("Bearer {}", self.access))];
        headers.extend(self.id.clone().map(|id| ("chatgpt-account-id", id)));
        headers
    }

    /// One that is accepted in place of one that was not: somebody else's, or our own.
    pub(super) async fn renewed(self, asking: &Asking<'_>) -> Result<Self, ToolError> {
        let kept = Self::open(asking.cx).await?;
        if kept.access != self.access {
            return Ok(kept);
        }
        let over = || ToolError::Failed(format!("the login for {LOGIN} has ended; log in there again"));
        let renewal = self.renewal.ok_or_else(over)?;
        let base = asking.base(
            "image_gen.openai-codex.login_url",
            "HERMES_CODEX_LOGIN_URL",
            "https://auth.openai.com",
        );
        let body = json!({ "grant_type": "refresh_token", "refresh_token": renewal, "client_id": CLIENT });
        let answer = asking.post(format!("{base}/oauth/token"), &[], &body).await?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let access = text("access_token").ok_or_else(over)?;
        let renewal = text("refresh_token").unwrap_or(renewal);
        let tokens = json!({ "access_token": access, "refresh_token": renewal });
        let mut fields = Map::new();
        fields.insert("tokens".to_owned(), tokens);
        logins(asking.cx)?.renew(LOGIN, fields).await.map_err(|wrong| told(&wrong))?;
        Ok(Self { id: claimed(&access).or(self.id), renewal: Some(renewal), access })
    }
}

fn logins(cx: &ToolCx) -> Result<&dyn Logins, ToolError> {
    let logins = cx.service::<Arc<dyn Logins>>().map(AsRef::as_ref);
    logins.ok_or_else(|| ToolError::Failed("there is no home with logins".to_owned()))
}

fn told(wrong: &LoginError) -> ToolError {
    ToolError::Failed(wrong.to_string())
}

/// The account that a token is for, by what it says of itself.
fn claimed(token: &str) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims.get(CLAIM)?.get("chatgpt_account_id")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_where_they_are_kept_and_tell_their_account() {
        let claims = URL_SAFE_NO_PAD.encode(json!({ CLAIM: { "chatgpt_account_id": "acc" } }).to_string());
        let token = format!("e30.{claims}.sig");
        let nested =
            json!({ "tokens": { "access_token": token, "refresh_token": "r" }, "last_refresh": "x" });
        let flat = json!({ "access_token": "plain", "account_id": "given" });

        let nested = Account::read(nested.as_object().unwrap()).unwrap();
        let flat = Account::read(flat.as_object().unwrap()).unwrap();

        assert_eq!((nested.id.as_deref(), nested.renewal.as_deref()), (Some("acc"), Some("r")));
        assert_eq!((flat.id.as_deref(), flat.renewal), (Some("given"), None));
        assert_eq!(Account::read(json!({ "tokens": {} }).as_object().unwrap()), None);
        assert_eq!(claimed("not a token"), None);
    }
}
