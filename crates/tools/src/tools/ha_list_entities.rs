//! `ha_list_entities`: what is in the house, and how it is.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Ask, set};
use crate::homeassistant::rooms::{self, Rooms};
use crate::homeassistant::{self as ha, SERVICE};
use crate::toolsets::homeassistant;

pub(crate) const TOOL: ToolDef = ToolDef::of::<ListEntities>("ha_list_entities", &homeassistant::TOOLSET)
    .emoji("🏠")
    .gate(ha::gate)
    .variables(ha::variables)
    .untrusted()
    .read_only();

/// List what Home Assistant knows: lights, switches, sensors, climate and all other entities, with the
/// state of each. Narrow it down by domain, by area, or by both; large houses have thousands.
#[derive(Deserialize, JsonSchema)]
struct ListEntities {
    /// Only this kind, such as light, switch, climate, sensor, `binary_sensor`, cover, `media_player`
    domain: Option<String>,
    /// Only what is in this room, by its name or a part of it, such as kitchen
    area: Option<String>,
}

impl Tool for ListEntities {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        vec![SERVICE.connects()]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let api = ha::connect(cx)?;
        let states = api.ask(Ask::get(&["api", "states"])).await?;
        let wish =
            |text: Option<String>| text.map(|text| text.trim().to_lowercase()).filter(|it| !it.is_empty());
        let (domain, area) = (wish(self.domain), wish(self.area));
        let house = match &area {
            // Without the areas there are still the names.
            Some(_) => Some(rooms::ask(cx, &api).await.map_err(|why| why.to_string())),
            None => None,
        };
        Ok(json!({ "result": listed(&states, domain.as_deref(), area.as_deref(), house.as_ref()) }))
    }
}

/// The entities that are wanted, and what the person should know about how they were found.
fn listed(
    states: &Value,
    domain: Option<&str>,
    area: Option<&str>,
    house: Option<&Result<Rooms, String>>,
) -> Value {
    let rooms = house.and_then(|house| house.as_ref().ok());
    let meant = rooms.zip(area).map(|(rooms, area)| rooms.meant(area)).unwrap_or_default();
    let wanted = |state: &&Value| {
        let id = state.get("entity_id").and_then(Value::as_str).unwrap_or_default();
        let in_domain = domain.is_none_or(|domain| id.split('.').next() == Some(domain));
        let in_area = |area: &str| match rooms.and_then(|rooms| rooms.of(id)) {
            Some(room) => meant.contains(room),
            None => is_called(state, area),
        };
        in_domain && area.is_none_or(in_area)
    };
    let row = |state: &Value| {
        let mut row = ha::brief(state);
        let id = state.get("entity_id").and_then(Value::as_str).unwrap_or_default();
        if let Some(name) = rooms.and_then(|rooms| rooms.name(rooms.of(id)?)) {
            set(&mut row, "area", json!(name));
        }
        row
    };
    let entities: Vec<Value> = states.as_array().into_iter().flatten().filter(wanted).map(row).collect();
    let mut found = json!({ "count": entities.len(), "entities": entities });
    let note = match house {
        Some(Err(why)) => Some(format!("areas are not known, so names were searched: {why}")),
        Some(Ok(rooms)) if meant.is_empty() => Some(format!(
            "no area is called so, so names were searched; there are: {}",
            rooms.names().join(", ")
        )),
        _ => None,
    };
    if let Some(note) = note {
        set(&mut found, "note", json!(note));
    }
    found
}

/// Whether an entity has the word in its name, or says that it is there.
fn is_called(state: &Value, word: &str) -> bool {
    let places = ["/attributes/friendly_name", "/attributes/area", "/entity_id"];
    places
        .iter()
        .filter_map(|place| state.pointer(place)?.as_str())
        .any(|text| text.to_lowercase().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Value {
        json!([
            { "entity_id": "light.kitchen", "state": "on", "attributes": { "friendly_name": "Kitchen lamp" } },
            { "entity_id": "sensor.kitchen", "state": "21", "attributes": {} },
            { "entity_id": "lightning.x", "state": "0", "attributes": { "friendly_name": "Storm" } },
        ])
    }

    #[test]
    fn a_domain_is_the_whole_first_word() {
        let found = listed(&states(), Some("light"), None, None);

        assert_eq!(
            found,
            json!({ "count": 1, "entities": [
                { "entity_id": "light.kitchen", "state": "on", "friendly_name": "Kitchen lamp" },
            ]})
        );
    }

    #[test]
    fn without_areas_names_are_searched_and_that_is_said() {
        let found = listed(&states(), None, Some("kitchen"), Some(&Err("it hung up".to_owned())));

        assert_eq!(found["count"], 2);
        assert!(found["note"].as_str().unwrap().contains("it hung up"));
    }

    #[test]
    fn an_answer_that_is_no_list_is_an_empty_one() {
        assert_eq!(listed(&json!({ "a": 1 }), None, None, None)["count"], 0);
    }
}
