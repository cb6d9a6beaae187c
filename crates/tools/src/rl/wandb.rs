//! What Weights & Biases knows about a run, by its GraphQL interface.
//!
//! A training run is two runs there: the trainer's and the environment's. Their names begin as we chose, and go
//! on as the programs want, so they are looked for by how they begin.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::cx::ToolCx;
use hermes_core::error::ToolError;
use hermes_core::keys::Keys;
use serde_json::{Map, Value, json};

use super::fields::Names;
use super::{failed, text};
use crate::api::{self, Api, Ask, Service};

pub(crate) const SERVICE: Service =
    Service { name: "Weights & Biases", key: "WANDB_API_KEY", explain: |_| None };

/// Where it answers, and where people look at it.
const USUAL: &str = "https://api.wandb.ai";
const FOR_PEOPLE: &str = "https://wandb.ai";

/// Most runs that are looked at, and points of their history.
const MOST_RUNS: u32 = 6;
pub(crate) const HISTORY: u32 = 10;

/// Longest words of a refusal that are repeated.
const MAX_SAID: usize = 300;

const VIEWER: &str = "query Viewer { viewer { entity } }";

const RUNS: &str = "query Runs($project: String!, $entity: String!, $filters: JSONString, $first: Int, $samples: Int) { \
    project(name: $project, entityName: $entity) { \
        runs(filters: $filters, first: $first, order: \"-created_at\") { \
            edges { node { name displayName state summaryMetrics history(samples: $samples) } } } } }";

/// What is known there.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Seen {
    pub(crate) url: String,
    /// How the trainer's run stands.
    pub(crate) state: String,
    /// The last value of everything that was logged.
    pub(crate) summary: Map<String, Value>,
    pub(crate) history: Vec<Value>,
}

/// Asks what is known about a run; nothing where it has not got there yet.
pub(crate) async fn look(cx: &ToolCx, names: &Names, samples: u32) -> Result<Option<Seen>, ToolError> {
    let keys = cx.keys()?;
    let base = api::address(keys, "WANDB_BASE_URL", USUAL);
    let login = STANDARD.encode(format!("api:{}", api::key(keys, "WANDB_API_KEY")?));
    let api = Api::new(cx, &SERVICE, &base)?.header("authorization", format!("Basic {login}"));
    let entity = entity(keys, &api).await?;
    let variables = json!({
        "project": names.project,
        "entity": entity,
        "filters": filter(names).to_string(),
        "first": MOST_RUNS,
        "samples": samples,
    });
    let answer = ask(&api, RUNS, &variables).await?;
    let page = if api.base() == USUAL { FOR_PEOPLE } else { api.base() };
    Ok(seen(&answer, names, &format!("{page}/{entity}/{}", names.project)))
}

/// Whose project it is: as the variable says, or of whoever has the key.
async fn entity(keys: &dyn Keys, api: &Api<'_>) -> Result<String, ToolError> {
    if let Some(entity) = keys.key("WANDB_ENTITY") {
        return Ok(entity.trim().to_owned());
    }
    let answer = ask(api, VIEWER, &json!({})).await?;
    let entity = answer.pointer("/viewer/entity").and_then(Value::as_str).map(str::to_owned);
    entity.ok_or_else(|| failed("Weights & Biases does not accept WANDB_API_KEY"))
}

async fn ask(api: &Api<'_>, query: &str, variables: &Value) -> Result<Value, ToolError> {
    let ask = Ask::post(&["graphql"]).json(json!({ "query": query, "variables": variables })).retries(1);
    let mut answer = api.ask(ask).await?;
    if let Some(said) = answer.pointer("/errors/0/message").and_then(Value::as_str) {
        return Err(failed(format!("Weights & Biases: {}", api::shortened(said, MAX_SAID))));
    }
    Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
}

/// Runs whose names begin so.
fn filter(names: &Names) -> Value {
    let begins = |name: &str| json!({ "display_name": { "$regex": format!("^{}", plain(name)) } });
    let mut ways = vec![begins(&names.trainer)];
    if names.environment != names.trainer {
        ways.push(begins(&names.environment));
    }
    json!({ "$or": ways })
}

/// A text as a pattern that finds this text alone.
fn plain(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if !(c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '/')) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Both runs as one: the trainer's word counts where both say something.
fn seen(answer: &Value, names: &Names, page: &str) -> Option<Seen> {
    let edges = answer.pointer("/project/runs/edges").and_then(Value::as_array);
    let mut nodes: Vec<&Value> = edges.into_iter().flatten().filter_map(|edge| edge.get("node")).collect();
    let mark = format!("{}-trainer", names.trainer);
    let is_trainer = |node: &&Value| text(node, "displayName").is_some_and(|name| name.starts_with(&mark));
    nodes.sort_by_key(|node| !is_trainer(node));
    let first = nodes.first()?;
    let mut all = Seen {
        url: format!("{page}/runs/{}", text(first, "name").unwrap_or_default()),
        state: text(first, "state").unwrap_or_default().to_owned(),
        ..Seen::default()
    };
    for node in &nodes {
        let summary = text(node, "summaryMetrics").and_then(|text| serde_json::from_str(text).ok());
        let summary: Map<String, Value> = summary.unwrap_or_default();
        for (name, value) in summary.into_iter().filter(|(_, value)| is_metric(value)) {
            all.summary.entry(name).or_insert(value);
        }
    }
    let rows = first.get("history").and_then(Value::as_array).into_iter().flatten();
    let row = |row: &Value| serde_json::from_str::<Map<String, Value>>(row.as_str()?).ok();
    let kept = |row: Map<String, Value>| row.into_iter().filter(|(_, value)| is_metric(value)).collect();
    all.history = rows.filter_map(row).map(|row| Value::Object(kept(row))).collect();
    Some(all)
}

/// Tables and pictures are descriptions of files; what a model can use are numbers and words.
fn is_metric(value: &Value) -> bool {
    !(value.is_object() || value.is_array() || value.is_null())
}

impl Seen {
    /// The few numbers that tell how a training goes. Environments put their name in front of theirs.
    pub(crate) fn brief(&self) -> Value {
        let ends = |ending: &str| {
            let exact = self.summary.get(ending);
            exact.or_else(|| {
                let mut named = self.summary.iter();
                named
                    .find(|(name, _)| name.strip_suffix(ending).is_some_and(|it| it.ends_with(['_', '/'])))
                    .map(|it| it.1)
            })
        };
        json!({
            "step": self.summary.get("_step").cloned().unwrap_or(json!(0)),
            "state": self.state,
            "reward_mean": ends("reward/mean").or_else(|| ends("train/reward_mean")),
            "loss": ends("train/loss"),
            "percent_correct": ends("train/percent_correct"),
            "eval_percent_correct": ends("eval/percent_correct"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            project: "p".to_owned(),
            trainer: "math.v2-0a1b2c3d".to_owned(),
            environment: "mine".to_owned(),
        }
    }

    #[test]
    fn both_runs_are_looked_for_by_how_their_names_begin() {
        assert_eq!(
            filter(&names()),
            json!({ "$or": [
                { "display_name": { "$regex": "^math\\.v2-0a1b2c3d" } },
                { "display_name": { "$regex": "^mine" } },
            ] })
        );
    }

    #[test]
    fn the_trainer_and_the_environment_are_told_as_one() {
        let node = |name: &str, display: &str, summary: Value| {
            json!({ "node": {
                "name": name, "displayName": display, "state": "running", "summaryMetrics": summary.to_string(),
                "history": [json!({ "_step": 1, "table": { "_type": "table-file" } }).to_string(), "no JSON"],
            } })
        };
        let answer = json!({ "project": { "runs": { "edges": [
            node("e1", "mine-2026-03-01-abcdef", json!({ "_step": 3, "mine_0_train/percent_correct": 0.5, "table": {} })),
            node("t1", "math.v2-0a1b2c3d-trainer-x1y2", json!({ "_step": 7, "reward/mean": 0.25, "train/loss": -1.5 })),
        ] } } });

        let seen = seen(&answer, &names(), "https://wandb.ai/me/p").unwrap();

        assert_eq!((seen.url.as_str(), seen.state.as_str()), ("https://wandb.ai/me/p/runs/t1", "running"));
        assert_eq!(
            seen.brief(),
            json!({
                "step": 7, "state": "running", "reward_mean": 0.25, "loss": -1.5, "percent_correct": 0.5,
                "eval_percent_correct": null,
            })
        );
        assert_eq!(seen.history, [json!({ "_step": 1 })]);
        assert!(!seen.summary.contains_key("table"));
    }

    #[test]
    fn a_project_that_is_not_there_yet_tells_nothing() {
        assert_eq!(seen(&json!({ "project": null }), &names(), ""), None);
        assert_eq!(seen(&json!({ "project": { "runs": { "edges": [] } } }), &names(), ""), None);
    }
}
