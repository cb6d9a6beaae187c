//! A Home Assistant, as the `ha_*` tools reach it.
//!
//! | file | what |
//! |---|---|
//! | here | where it is, and the names it uses |
//! | [`rooms`] | which entity is in which area, over the web socket: the other interface does not tell |

pub(crate) mod rooms;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::gate::Gate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{self, Api, Service};

/// Where it answers unless `HASS_URL` says otherwise.
const USUAL: &str = "http://homeassistant.local:8123";

pub(crate) const SERVICE: Service = Service { name: "Home Assistant", key: "HASS_TOKEN", explain: |_| None };

/// Domains whose services run programs or code on the host, or reach anywhere from there.
pub(crate) const BLOCKED: [&str; 6] =
    ["shell_command", "command_line", "python_script", "pyscript", "hassio", "rest_command"];

/// When its tools are there.
pub(crate) fn gate() -> Gate {
    Gate::env("HASS_TOKEN")
}

/// Where it is, for setup; the key is what the gate looks at.
pub(crate) fn variables() -> Vec<&'static str> {
    vec!["HASS_URL"]
}

/// The configured one.
pub(crate) fn connect(cx: &ToolCx) -> Result<Api<'_>, ToolError> {
    let keys = cx.keys()?;
    let base = api::address(keys, "HASS_URL", USUAL);
    Ok(Api::new(cx, &SERVICE, &base)?.bearer(&api::key(keys, "HASS_TOKEN")?))
}

/// The id of an entity, such as `light.kitchen`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct EntityId(String);

/// Ids of one or several entities, with commas between them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct EntityIds(Vec<EntityId>);

/// A domain, or the name of a service: lower case, digits and underscores.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct Name(String);

/// A domain whose services may be called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct OpenDomain(String);

/// What goes with a call of a service: a JSON object, as text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct ServiceData(pub(crate) Map<String, Value>);

impl EntityId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl EntityIds {
    pub(crate) fn list(&self) -> Vec<&str> {
        self.0.iter().map(EntityId::as_str).collect()
    }
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl OpenDomain {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for EntityId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        let parts = text.split_once('.').filter(|(domain, name)| is_name(domain) && is_word(name));
        parts.map(|_| Self(text.to_owned())).ok_or_else(|| {
            format!("{:?} is no entity id; they look like light.kitchen", api::shortened(text, 60))
        })
    }
}

impl TryFrom<String> for EntityIds {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.split(',').map(|one| EntityId::try_from(one.to_owned())).collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("{:?} is no name; they look like turn_on", api::shortened(text, 60));
        is_name(text).then(|| Self(text.to_owned())).ok_or_else(wrong)
    }
}

impl TryFrom<String> for OpenDomain {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let Name(domain) = Name::try_from(text)?;
        if BLOCKED.contains(&domain.as_str()) {
            return Err(format!(
                "services of `{domain}` run code on the host and are never called from here"
            ));
        }
        Ok(Self(domain))
    }
}

impl TryFrom<String> for ServiceData {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        match serde_json::from_str(&text) {
            Ok(Value::Object(data)) => Ok(Self(data)),
            Ok(_) => Err("data has to be a JSON object".to_owned()),
            Err(wrong) => Err(format!("data is no JSON: {wrong}")),
        }
    }
}

/// Lower case, digits and underscores, not beginning with a digit.
fn is_name(text: &str) -> bool {
    is_word(text) && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    let usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=255).contains(&text.len()) && text.chars().all(usual)
}

/// An entity in a line: what it is called, and how it is.
pub(crate) fn brief(state: &Value) -> Value {
    let name = state.pointer("/attributes/friendly_name").and_then(Value::as_str).unwrap_or_default();
    json!({ "entity_id": state.get("entity_id"), "state": state.get("state"), "friendly_name": name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_would_lead_elsewhere_are_refused() {
        let id = |text: &str| EntityId::try_from(text.to_owned());

        assert_eq!(id(" light.kitchen_2 ").unwrap().as_str(), "light.kitchen_2");
        for wrong in
            ["light", "light.", ".x", "Light.x", "light.x/y", "light.x?a", "light..x", "1light.x", "light.é"]
        {
            assert!(id(wrong).is_err(), "{wrong}");
        }
        let two = EntityIds::try_from("light.a, light.b".to_owned()).unwrap();
        assert_eq!(two.list(), ["light.a", "light.b"]);
        assert!(EntityIds::try_from("light.a,".to_owned()).is_err());
    }

    #[test]
    fn domains_that_run_code_are_refused() {
        for domain in BLOCKED {
            assert!(OpenDomain::try_from(domain.to_owned()).unwrap_err().contains("never"), "{domain}");
        }
        assert!(OpenDomain::try_from("Shell_Command".to_owned()).is_err());
        assert!(OpenDomain::try_from("light/../shell_command".to_owned()).is_err());
        assert_eq!(OpenDomain::try_from("light".to_owned()).unwrap().as_str(), "light");
    }

    #[test]
    fn data_is_an_object_or_nothing() {
        let data = |text: &str| ServiceData::try_from(text.to_owned());

        assert_eq!(data(r#"{"brightness": 5}"#).unwrap().0["brightness"], 5);
        assert_eq!(data(" ").unwrap(), ServiceData::default());
        assert!(data("[1]").is_err() && data("{").is_err());
    }
}
