//! `ha_call_service`: has something done in the house.

use hermes_core::cx::ToolCx;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::error::ToolResult;
use hermes_core::session::Place;
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Api, ApiError, Ask, set};
use crate::homeassistant::{self as ha, EntityIds, Name, OpenDomain, SERVICE, ServiceData};
use crate::toolsets::homeassistant;

pub(crate) const TOOL: ToolDef = ToolDef::of::<CallService>("ha_call_service", &homeassistant::TOOLSET)
    .emoji("🏠")
    .gate(ha::gate)
    .variables(ha::variables)
    .untrusted();

/// Domains whose services answer if they are asked to, and are called for the answer.
const ANSWERING: [&str; 2] = ["conversation", "script"];

/// Control a device, or have Home Assistant do something else: turn a light on, set a temperature, play
/// music, run a scene. `ha_list_services` tells what there is and which fields each takes.
#[derive(Deserialize, JsonSchema)]
struct CallService {
    /// Kind of service, such as light, climate, scene
    domain: OpenDomain,
    /// What to do, such as `turn_on`, `set_temperature`
    service: Name,
    /// What to do it to, such as light.kitchen; several with commas between them
    entity_id: Option<EntityIds>,
    /// Further fields as a JSON object in text, such as {"brightness": 120}
    data: Option<ServiceData>,
}

impl Tool for CallService {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        let data = self.data.as_ref().map(|data| &data.0).filter(|data| !data.is_empty());
        let on = self.entity_id.as_ref().map(|ids| format!(" on {}", ids.list().join(", ")));
        let with = data.map(|data| format!(" with {}", json!(data)));
        let detail = [Some(self.name()), on, with].into_iter().flatten().collect::<String>();
        SERVICE.acts(ActKind::Control, &detail)
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let api = ha::connect(cx)?;
        let name = self.name();
        let path = ["api", "services", self.domain.as_str(), self.service.as_str()];
        let body = Value::Object(self.body());
        let asked = ANSWERING.contains(&self.domain.as_str());
        let answer = match call(&api, &path, &body, asked).await {
            // It was not run: whether it answers is the other way round.
            Err(error) if is_about_answering(&error) => call(&api, &path, &body, !asked).await?,
            other => other?,
        };
        Ok(json!({ "result": told(&name, &answer) }))
    }
}

impl CallService {
    fn name(&self) -> String {
        format!("{}.{}", self.domain.as_str(), self.service.as_str())
    }

    fn body(&self) -> Map<String, Value> {
        let mut body = self.data.clone().unwrap_or_default().0;
        if let Some(ids) = &self.entity_id {
            let ids = ids.list();
            let ids = if let [only] = ids.as_slice() { json!(only) } else { json!(ids) };
            body.insert("entity_id".to_owned(), ids);
        }
        body
    }
}

/// Calls the service, and asks it for its answer if it has one.
async fn call(api: &Api<'_>, path: &[&str], body: &Value, answer: bool) -> Result<Value, ApiError> {
    let ask = Ask::post(path).json(body.clone());
    api.ask(if answer { ask.flag("return_response") } else { ask }).await
}

/// Whether the service was refused because it answers and was not asked to, or was asked and does not.
fn is_about_answering(error: &ApiError) -> bool {
    matches!(error, ApiError::Refused(refused) if refused.status == 400 && refused.said.contains("return_response"))
}

/// What came of it: the entities whose state changed, and what the service answered.
fn told(name: &str, answer: &Value) -> Value {
    let changed = answer.get("changed_states").unwrap_or(answer);
    let affected: Vec<Value> = changed.as_array().into_iter().flatten().map(ha::brief).collect();
    let mut result = json!({ "success": true, "service": name, "affected_entities": affected });
    if let Some(response) = answer.get("service_response") {
        set(&mut result, "response", response.clone());
    }
    result
}

#[cfg(test)]
mod tests {
    use hermes_core::effect::Act;

    use super::*;

    fn call(arguments: Value) -> Result<CallService, String> {
        serde_json::from_value(arguments).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn the_person_is_told_what_is_done_to_what() {
        let place = Place { cwd: "/".into(), home: None };
        let call = call(json!({
            "domain": "light", "service": "turn_on", "entity_id": "light.a,light.b", "data": "{\"brightness\": 9}",
        }))
        .unwrap();

        let detail = "Home Assistant: light.turn_on on light.a, light.b with {\"brightness\":9}".to_owned();
        assert_eq!(
            call.effects(&place),
            [
                Effect::Connect("Home Assistant".to_owned()),
                Effect::Act(Act { kind: ActKind::Control, detail }),
            ]
        );
        assert_eq!(json!(call.body()), json!({ "brightness": 9, "entity_id": ["light.a", "light.b"] }));
    }

    #[test]
    fn what_runs_code_is_refused_before_anybody_is_asked() {
        let wrong = |arguments: Value| call(arguments).err().unwrap();

        assert!(wrong(json!({ "domain": "shell_command", "service": "x" })).contains("never"));
        assert!(wrong(json!({ "domain": "light", "service": "../../config" })).contains("no name"));
    }

    #[test]
    fn an_answer_is_told_beside_what_changed() {
        let answer = json!({ "changed_states": [], "service_response": { "events": [] } });

        assert_eq!(
            told("calendar.get_events", &answer),
            json!({
                "success": true, "service": "calendar.get_events", "affected_entities": [],
                "response": { "events": [] },
            })
        );
    }
}
