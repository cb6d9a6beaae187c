//! Which entity is in which area. Only the web socket knows: entities say it themselves, or the device
//! they belong to does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::web::{Reach, SocketMessage, SocketReceiver, SocketSender, WebRequest};
use serde_json::{Value, json};

use super::SERVICE;
use crate::api::{self, Api};

/// What is asked, in this order; the place in the list is the number of the question.
const QUESTIONS: [&str; 3] =
    ["config/area_registry/list", "config/device_registry/list", "config/entity_registry/list"];

/// Longest time for all of it.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Largest message; registries of large houses have some megabytes.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The areas of a house, and what is in them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rooms {
    areas: Vec<Area>,
    /// Area of each entity that has one.
    places: BTreeMap<String, String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Area {
    id: String,
    name: String,
    aliases: Vec<String>,
}

impl Rooms {
    /// From the three registries.
    fn new(areas: &Value, devices: &Value, entities: &Value) -> Self {
        let area_of = |row: &Value| text(row, "area_id");
        let devices: BTreeMap<String, String> =
            rows(devices).filter_map(|row| Some((text(row, "id")?, area_of(row)?))).collect();
        let place = |row: &Value| {
            let area = area_of(row).or_else(|| devices.get(&text(row, "device_id")?).cloned())?;
            Some((text(row, "entity_id")?, area))
        };
        let area = |row: &Value| {
            let aliases = row.get("aliases").into_iter().flat_map(rows);
            let aliases = aliases.filter_map(Value::as_str).map(str::to_owned).collect();
            Some(Area { id: text(row, "area_id")?, name: text(row, "name")?, aliases })
        };
        Self {
            areas: rows(areas).filter_map(area).collect(),
            places: rows(entities).filter_map(place).collect(),
        }
    }

    /// The areas that are meant by a name: those called just so, or else those whose name has it in it.
    pub(crate) fn meant(&self, wish: &str) -> BTreeSet<&str> {
        let wish = wish.trim().to_lowercase();
        let found = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<&str> {
            let named = |area: &&Area| area.words().any(|word| fits(&word.to_lowercase()));
            self.areas.iter().filter(named).map(|area| area.id.as_str()).collect()
        };
        let exact = found(&|word| word == wish);
        if exact.is_empty() { found(&|word| word.contains(&wish)) } else { exact }
    }

    /// The area an entity is in.
    pub(crate) fn of(&self, entity: &str) -> Option<&str> {
        self.places.get(entity).map(String::as_str)
    }

    /// What an area is called.
    pub(crate) fn name(&self, id: &str) -> Option<&str> {
        self.areas.iter().find(|area| area.id == id).map(|area| area.name.as_str())
    }

    /// What all areas are called.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.areas.iter().map(|area| area.name.as_str()).collect()
    }
}

impl Area {
    fn words(&self) -> impl Iterator<Item = &str> {
        [self.id.as_str(), self.name.as_str()].into_iter().chain(self.aliases.iter().map(String::as_str))
    }
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(row: &Value, field: &str) -> Option<String> {
    row.get(field)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Asks for the areas.
pub(crate) async fn ask(cx: &ToolCx, api: &Api<'_>) -> Result<Rooms, ToolError> {
    let token = api::key(cx.keys()?, "HASS_TOKEN")?;
    let address = api.base().replacen("http", "ws", 1) + "/api/websocket";
    let request =
        WebRequest::get(address, Reach::Configured(SERVICE.name)).timeout(TIMEOUT).max_bytes(MAX_BYTES);
    let socket = cx.web()?.socket(request).await?;
    let (sender, mut receiver) = (socket.sender, socket.receiver);
    let asked = std::pin::pin!(talk(sender.as_ref(), receiver.as_mut(), &token));
    let stopped = std::pin::pin!(cx.cancelled().cancelled());
    let either = futures::future::select(cx.host().sleep(TIMEOUT), stopped);
    let answer = match futures::future::select(asked, either).await {
        futures::future::Either::Left((answer, _)) => answer,
        futures::future::Either::Right(_) => Err(lost("did not tell its areas in time")),
    };
    sender.close().await;
    answer
}

/// The whole conversation.
async fn talk(
    sender: &dyn SocketSender,
    receiver: &mut dyn SocketReceiver,
    token: &str,
) -> Result<Rooms, ToolError> {
    let mut answers = [Value::Null, Value::Null, Value::Null];
    let mut open = QUESTIONS.len();
    while open > 0 {
        let message = heard(receiver).await?;
        match message.get("type").and_then(Value::as_str) {
            Some("auth_required") => say(sender, json!({ "type": "auth", "access_token": token })).await?,
            Some("auth_invalid") => return Err(lost("does not accept HASS_TOKEN")),
            Some("auth_ok") => {
                for (kind, number) in QUESTIONS.iter().zip(1..) {
                    say(sender, json!({ "id": number, "type": kind })).await?;
                }
            }
            Some("result") => {
                let number =
                    message.get("id").and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
                let place = number.and_then(|number| answers.get_mut(number.checked_sub(1)?));
                if message.get("success") != Some(&Value::Bool(true)) {
                    return Err(lost("does not tell its areas"));
                }
                if let (Some(place), Some(result)) = (place, message.get("result"))
                    && place.is_null()
                {
                    *place = result.clone();
                    open -= 1;
                }
            }
            _ => {}
        }
    }
    let [areas, devices, entities] = &answers;
    Ok(Rooms::new(areas, devices, entities))
}

async fn say(sender: &dyn SocketSender, message: Value) -> Result<(), ToolError> {
    Ok(sender.send(message.to_string()).await?)
}

async fn heard(receiver: &mut dyn SocketReceiver) -> Result<Value, ToolError> {
    match receiver.next().await? {
        Some(SocketMessage::Text(text)) => {
            serde_json::from_str(&text).map_err(|_| lost("says something that is no JSON"))
        }
        Some(SocketMessage::Binary(_)) => Ok(Value::Null),
        None => Err(lost("hung up")),
    }
}

fn lost(why: &str) -> ToolError {
    ToolError::Failed(format!("{} {why}", SERVICE.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> Rooms {
        let areas = json!([
            { "area_id": "kitchen", "name": "Küche", "aliases": ["Kitchen"] },
            { "area_id": "bed_1", "name": "Bedroom", "aliases": [] },
            { "area_id": "bed_2", "name": "Guest bedroom", "aliases": [] },
        ]);
        let devices = json!([{ "id": "d1", "area_id": "kitchen" }, { "id": "d2", "area_id": null }]);
        let entities = json!([
            { "entity_id": "light.own", "area_id": "bed_1", "device_id": "d1" },
            { "entity_id": "light.by_device", "area_id": null, "device_id": "d1" },
            { "entity_id": "light.nowhere", "area_id": null, "device_id": "d2" },
            { "entity_id": "light.alone", "area_id": null, "device_id": null },
        ]);
        Rooms::new(&areas, &devices, &entities)
    }

    #[test]
    fn an_entity_is_where_it_says_or_else_where_its_device_is() {
        let house = house();

        assert_eq!(house.of("light.own"), Some("bed_1"));
        assert_eq!(house.of("light.by_device"), Some("kitchen"));
        assert_eq!((house.of("light.nowhere"), house.of("light.alone")), (None, None));
    }

    #[test]
    fn an_area_is_found_by_its_name_its_alias_or_a_part_of_it() {
        let house = house();
        let meant = |wish: &str| house.meant(wish).into_iter().collect::<Vec<_>>();

        assert_eq!(meant("küche"), ["kitchen"]);
        assert_eq!(meant("KITCHEN"), ["kitchen"]);
        assert_eq!(meant("bedroom"), ["bed_1"]);
        assert_eq!(meant("bed"), ["bed_1", "bed_2"]);
        assert!(meant("garage").is_empty());
        assert_eq!(house.name("bed_2"), Some("Guest bedroom"));
    }

    #[test]
    fn answers_that_are_nothing_make_a_house_without_rooms() {
        assert_eq!(Rooms::new(&json!(7), &Value::Null, &json!({ "a": 1 })), Rooms::default());
    }
}
