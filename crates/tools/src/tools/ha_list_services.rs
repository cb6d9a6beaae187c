//! `ha_list_services`: what can be done in the house.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Ask, picked};
use crate::homeassistant::{self as ha, BLOCKED, SERVICE};
use crate::toolsets::homeassistant;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ListServices>("ha_list_services", &homeassistant::TOOLSET)
    .emoji("🏠")
    .gate(ha::gate)
    .variables(ha::variables)
    .untrusted()
    .read_only();

/// List the services of Home Assistant, which are what can be done with its entities: turn on, set a
/// temperature, play. Says which fields each takes. Give a domain: all of them are a long list.
#[derive(Deserialize, JsonSchema)]
struct ListServices {
    /// Only those of this kind, such as light, climate, `media_player`
    domain: Option<String>,
}

impl Tool for ListServices {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![SERVICE.connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let services = ha::connect(cx)?.ask(Ask::get(&["api", "services"])).await?;
        let domain = self.domain.map(|domain| domain.trim().to_lowercase()).filter(|it| !it.is_empty());
        Ok(json!({ "result": listed(&services, domain.as_deref()) }))
    }
}

/// The services that can be called from here, by domain.
fn listed(services: &Value, domain: Option<&str>) -> Value {
    let wanted = |row: &&Value| {
        let name = row.get("domain").and_then(Value::as_str).unwrap_or_default();
        !BLOCKED.contains(&name) && domain.is_none_or(|domain| domain == name)
    };
    let row =
        |row: &Value| json!({ "domain": row.get("domain"), "services": each(row.get("services"), service) });
    let domains: Vec<Value> = services.as_array().into_iter().flatten().filter(wanted).map(row).collect();
    json!({ "count": domains.len(), "domains": domains })
}

fn service(service: &Value) -> Value {
    let mut short = picked(service, &["description", "response"]);
    short.insert("fields".to_owned(), each(service.get("fields"), field));
    Value::Object(short)
}

fn field(field: &Value) -> Value {
    // A group of fields is a field with fields of its own.
    match field.get("fields") {
        Some(inner) => each(Some(inner), self::field),
        None => Value::Object(picked(field, &["description", "required", "example"])),
    }
}

fn each(members: Option<&Value>, short: fn(&Value) -> Value) -> Value {
    let members = members.and_then(Value::as_object).into_iter().flatten();
    Value::Object(members.map(|(name, value)| (name.clone(), short(value))).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_listed_with_what_they_take_and_without_what_is_never_called() {
        let services = json!([
            { "domain": "light", "services": { "turn_on": {
                "name": "Turn on", "description": "Turns on.", "target": { "entity": [] },
                "fields": {
                    "brightness": { "description": "0 to 255", "selector": { "number": {} }, "example": 120 },
                    "advanced": { "collapsed": true, "fields": { "flash": { "description": "short or long" } } },
                },
            }}},
            { "domain": "shell_command", "services": { "wipe": {} } },
        ]);

        assert_eq!(
            listed(&services, None),
            json!({ "count": 1, "domains": [{ "domain": "light", "services": { "turn_on": {
                "description": "Turns on.",
                "fields": {
                    "brightness": { "description": "0 to 255", "example": 120 },
                    "advanced": { "flash": { "description": "short or long" } },
                },
            }}}]})
        );
        assert_eq!(listed(&services, Some("climate"))["count"], 0);
    }
}
