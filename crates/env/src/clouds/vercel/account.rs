//! Whose sandboxes: a token with team and project, or one that tells both.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_core::environment::EnvError;
use serde::Deserialize;

use crate::backends::Surroundings;
use crate::clouds::settings::{given, required};

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) token: String,
    /// The variables the token is in, and what can be done when it is not accepted.
    pub(super) keys: &'static str,
    pub(super) team: String,
    pub(super) project: String,
}

/// What a token of Vercel's own makes says about whose it is.
#[derive(Deserialize)]
struct Claims {
    owner_id: String,
    project_id: String,
}

impl Account {
    /// The one that the variables of the person name.
    pub(super) fn of(around: &Surroundings) -> Result<Self, EnvError> {
        if let (None, Some(token)) = (given(around, "VERCEL_TOKEN"), given(around, "VERCEL_OIDC_TOKEN")) {
            let Claims { owner_id: team, project_id: project } =
                claims(&token).ok_or_else(|| EnvError::Unreachable {
                    environment: around.name.clone(),
                    why: "VERCEL_OIDC_TOKEN holds no token of Vercel's; fetch one with `vercel env pull`"
                        .to_owned(),
                })?;
            // It lasts for hours, not for ever.
            let keys = "VERCEL_OIDC_TOKEN, which runs out: fetch another with `vercel env pull`";
            return Ok(Self { token, keys, team, project });
        }
        let advice = "set VERCEL_TOKEN, VERCEL_PROJECT_ID and VERCEL_TEAM_ID in .env, or VERCEL_OIDC_TOKEN";
        Ok(Self {
            token: required(around, "VERCEL_TOKEN", advice)?,
            keys: "VERCEL_TOKEN",
            team: required(around, "VERCEL_TEAM_ID", advice)?,
            project: required(around, "VERCEL_PROJECT_ID", advice)?,
        })
    }
}

fn claims(token: &str) -> Option<Claims> {
    let middle = token.split('.').nth(1)?;
    let bytes = URL_SAFE_NO_PAD.decode(middle.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(given: &[(&str, &str)]) -> Surroundings {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Surroundings { given, ..Surroundings::default() }
    }

    #[test]
    fn a_token_of_vercels_own_tells_team_and_project() {
        let middle = URL_SAFE_NO_PAD.encode(r#"{"owner_id": "team_1", "project_id": "prj_1", "exp": 1}"#);
        let token = format!("head.{middle}.sign");

        let account = Account::of(&around(&[("VERCEL_OIDC_TOKEN", &token)])).unwrap();

        assert_eq!((account.team.as_str(), account.project.as_str()), ("team_1", "prj_1"));
        assert!(Account::of(&around(&[("VERCEL_OIDC_TOKEN", "plain")])).is_err());
    }

    #[test]
    fn what_is_missing_is_named() {
        let wrong = Account::of(&around(&[("VERCEL_TOKEN", "x"), ("VERCEL_TEAM_ID", "y")])).unwrap_err();

        assert!(wrong.to_string().contains("VERCEL_PROJECT_ID is not set"), "{wrong}");
    }
}
