//! The fields of a training configuration: which there are, which are locked, and which values fit. Pure.
//!
//! What every environment has stands here, as atropos declares it; what one adds is read from its file. Locked
//! are the settings that the programs of a run, the model and the bill depend on.

use hermes_core::suggest::suggest;
use serde_json::{Map, Value, json};

use super::classes::Environment;

/// The project at Weights & Biases where nobody names another.
pub(crate) const PROJECT: &str = "atropos-tinker";

/// The field that names it; it belongs to the trainer, and is the one setting of it that can be changed.
pub(crate) const PROJECT_FIELD: &str = "wandb_project";

/// How many names are proposed for a wrong one.
const PROPOSED: usize = 3;

/// What every environment has: name, type, default, and what it is for.
const COMMON: [(&str, &str, &str, &str); 22] = [
    ("group_size", "int", "4", "How many answers to one question are scored together"),
    ("max_num_workers", "int", "-1", "Most questions at once; -1: by the number of servers"),
    ("max_eval_workers", "int", "16", "Most questions at once in an evaluation"),
    ("max_num_workers_per_node", "int", "8", "Most questions at once for each server"),
    ("steps_per_eval", "int", "100", "Steps between two evaluations"),
    ("max_token_length", "int", "2048", "Most tokens of one answer"),
    (
        "eval_handling",
        r#"Literal["STOP_TRAIN", "LIMIT_TRAIN", "NONE"]"#,
        r#""STOP_TRAIN""#,
        "What becomes of the training during an evaluation",
    ),
    ("eval_limit_ratio", "float", "0.5", "The share of workers that go on training during an evaluation"),
    ("inference_weight", "float", "1.0", "Its weight among several environments"),
    ("batch_size", "int", "-1", "Answers in one step of training; -1: as the trainer says"),
    ("max_batches_offpolicy", "int", "3", "Most batches that wait"),
    (
        "tokenizer_name",
        "str",
        r#""NousResearch/DeepHermes-3-Llama-3-3B-Preview""#,
        "The model whose tokens are counted",
    ),
    ("use_wandb", "bool", "true", "Whether metrics go to Weights & Biases"),
    ("rollout_server_url", "str", r#""http://localhost:8000""#, "Where the API server of the run is"),
    ("total_steps", "int", "1000", "Steps of training"),
    ("wandb_name", "Optional[str]", "null", "The name of the environment's run at Weights & Biases"),
    ("num_rollouts_to_keep", "int", "32", "Answers that are shown at Weights & Biases"),
    ("num_rollouts_per_group_for_logging", "int", "1", "Answers of each group that are logged; -1: all"),
    ("ensure_scores_are_not_same", "bool", "true", "Leave out groups whose answers all score the same"),
    ("data_path_to_save_groups", "Optional[str]", "null", "A file to which all groups are written"),
    ("min_items_sent_before_logging", "int", "2", "Groups between two entries of the log"),
    ("worker_timeout", "float", "600", "Seconds for one question; -1: no limit"),
];

/// Locked settings of the environment.
fn locked_env() -> Value {
    json!({
        "tokenizer_name": "Qwen/Qwen3-8B",
        "rollout_server_url": "http://localhost:8000",
        "use_wandb": true,
        "max_token_length": 8192,
        "max_num_workers": 2048,
        "worker_timeout": 3600,
        "total_steps": 2500,
        "steps_per_eval": 25,
        "max_batches_offpolicy": 3,
        "inference_weight": 1.0,
        "eval_limit_ratio": 0.1,
    })
}

/// Locked settings of the trainer.
fn locked_trainer() -> Value {
    json!({
        "lora_rank": 32,
        "learning_rate": 0.00004,
        "max_token_trainer_length": 9000,
        "checkpoint_dir": "./temp/",
        "save_checkpoint_interval": 25,
    })
}

/// The server that answers while the model is trained, which is the trainer itself.
fn locked_server() -> Value {
    json!({
        "model_name": "Qwen/Qwen3-8B",
        "base_url": "http://localhost:8001/v1",
        "api_key": "x",
        "weight": 1.0,
        "num_requests_for_eval": 256,
        "timeout": 3600,
        "server_type": "sglang",
    })
}

/// A locked setting's value, wherever it belongs.
pub(crate) fn locked(name: &str) -> Option<Value> {
    [locked_env(), locked_trainer(), locked_server()].iter().find_map(|section| section.get(name).cloned())
}

/// A field as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) default: Value,
    pub(crate) description: String,
}

/// The fields of an environment, those that all have first.
pub(crate) fn fields(environment: &Environment) -> Vec<Field> {
    let common = COMMON.map(|(name, kind, default, description)| Field {
        name: name.to_owned(),
        kind: kind.to_owned(),
        default: serde_json::from_str(default).unwrap_or_default(),
        description: description.to_owned(),
    });
    let mut fields = common.to_vec();
    for own in &environment.fields {
        let own = Field {
            name: own.name.clone(),
            kind: own.kind.clone(),
            default: own.default.clone(),
            description: own.description.clone(),
        };
        match fields.iter_mut().find(|known| known.name == own.name) {
            Some(known) => *known = own,
            None => fields.push(own),
        }
    }
    for (name, value) in &environment.set {
        if let Some(field) = fields.iter_mut().find(|field| field.name == *name) {
            field.default = value.clone();
        }
    }
    fields.push(Field {
        name: PROJECT_FIELD.to_owned(),
        kind: "str".to_owned(),
        default: json!(PROJECT),
        description: "The project at Weights & Biases".to_owned(),
    });
    fields
}

/// What a configuration is shown as: the fields that can be changed, and those that are locked.
pub(crate) fn shown(fields: &[Field], edits: &Map<String, Value>) -> (Vec<Value>, Vec<Value>) {
    let (mut open, mut fixed) = (Vec::new(), Vec::new());
    for field in fields {
        let mut told = json!({
            "name": field.name, "type": field.kind, "default": field.default, "description": field.description,
        });
        let (key, value, list) = match locked_env().get(&field.name) {
            Some(value) => ("locked_value", value.clone(), &mut fixed),
            None => ("current_value", edits.get(&field.name).unwrap_or(&field.default).clone(), &mut open),
        };
        crate::api::set(&mut told, key, value);
        list.push(told);
    }
    for (name, value) in locked_trainer().as_object().into_iter().flatten() {
        fixed.push(json!({ "name": name, "locked_value": value, "description": "a setting of the trainer" }));
    }
    (open, fixed)
}

/// The value that a field gets, or why it cannot have this one.
pub(crate) fn fitting(fields: &[Field], name: &str, value: &Value) -> Result<Value, String> {
    if let Some(fixed) = locked(name) {
        return Err(format!(
            "`{name}` is locked and stays {fixed}: the run, the model and its cost depend on it"
        ));
    }
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let names: Vec<&str> =
            fields.iter().map(|field| field.name.as_str()).filter(|it| locked(it).is_none()).collect();
        let near = suggest(name, names.iter().copied(), PROPOSED);
        let near = meant(&near);
        return Err(format!(
            "there is no field `{name}`{near} Fields that can be changed: {}",
            names.join(", ")
        ));
    };
    let wrong = || format!("`{name}` takes {}, and {value} is none", field.kind);
    Kind::of(&field.kind).fit(value).ok_or_else(wrong)
}

/// The end of a sentence about a name that is not there.
pub(super) fn meant(near: &[&str]) -> String {
    if near.is_empty() { ".".to_owned() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// What a type takes, as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Bool,
    Text,
    List,
    Dict,
    OneOf(Vec<String>),
    Nothing,
    Any(Vec<Kind>),
    Unknown,
}

impl Kind {
    fn of(written: &str) -> Self {
        let written = written.trim();
        let inside = |name: &str| written.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']');
        if let Some(inner) = inside("Optional").or_else(|| inside("typing.Optional")) {
            return Self::Any(vec![Self::of(inner), Self::Nothing]);
        }
        if let Some(inner) = inside("Literal") {
            let texts: Result<Vec<String>, _> = serde_json::from_str(&format!("[{inner}]"));
            return texts.map_or(Self::Unknown, Self::OneOf);
        }
        if let Some(inner) = inside("Union") {
            return Self::Any(parts(inner, ',').into_iter().map(Self::of).collect());
        }
        let ways = parts(written, '|');
        if ways.len() > 1 {
            return Self::Any(ways.into_iter().map(Self::of).collect());
        }
        match written.split('[').next().unwrap_or_default() {
            "int" => Self::Int,
            "float" => Self::Float,
            "bool" => Self::Bool,
            "str" => Self::Text,
            "list" | "List" | "tuple" | "Tuple" | "set" | "Set" | "Sequence" => Self::List,
            "dict" | "Dict" | "Mapping" => Self::Dict,
            "None" => Self::Nothing,
            _ => Self::Unknown,
        }
    }

    /// The value as this type has it; a number or a truth that was written as a text is taken for what it is.
    fn fit(&self, value: &Value) -> Option<Value> {
        let read = || value.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
        match self {
            Self::Int => whole(value).or_else(|| whole(&read()?)),
            Self::Float => {
                Some(value.clone()).filter(Value::is_number).or_else(|| read().filter(Value::is_number))
            }
            Self::Bool => Some(value.clone()).filter(Value::is_boolean).or_else(|| truth(value.as_str()?)),
            Self::Text => Some(value.clone()).filter(Value::is_string),
            Self::List => {
                Some(value.clone()).filter(Value::is_array).or_else(|| read().filter(Value::is_array))
            }
            Self::Dict => {
                Some(value.clone()).filter(Value::is_object).or_else(|| read().filter(Value::is_object))
            }
            Self::OneOf(texts) => Some(value.clone()).filter(|it| texts.iter().any(|text| it == text)),
            Self::Nothing => Some(value.clone()).filter(Value::is_null),
            Self::Any(kinds) => {
                // What fits as it is comes before what would have to be read.
                let same = kinds.iter().filter_map(|kind| kind.fit(value)).find(|fitted| fitted == value);
                same.or_else(|| kinds.iter().find_map(|kind| kind.fit(value)))
            }
            Self::Unknown => Some(value.clone()),
        }
    }
}

/// A number without a fraction, as a whole one.
fn whole(value: &Value) -> Option<Value> {
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    format!("{number:.0}").parse::<i64>().ok().map(|number| json!(number))
}

fn truth(text: &str) -> Option<Value> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Some(json!(true)),
        "false" => Some(json!(false)),
        _ => None,
    }
}

/// The parts between signs that stand in no bracket.
fn parts(text: &str, sign: char) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(move |c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c == sign
    })
    .collect()
}

/// The configuration of a run: what is locked, and what was changed. Everything else stays as the environment
/// and the trainer have it themselves.
pub(crate) fn configuration(edits: &Map<String, Value>, names: &Names) -> Value {
    let mut env = locked_env();
    for (name, value) in edits.iter().filter(|(name, _)| *name != PROJECT_FIELD) {
        if !value.is_null() {
            crate::api::set(&mut env, name, value.clone());
        }
    }
    crate::api::set(&mut env, "wandb_name", json!(names.environment));
    let mut tinker = locked_trainer();
    crate::api::set(&mut tinker, "wandb_project", json!(names.project));
    crate::api::set(&mut tinker, "wandb_run_name", json!(names.trainer));
    json!({ "env": env, "openai": [locked_server()], "tinker": tinker, "slurm": false, "testing": false })
}

/// What a run is called at Weights & Biases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) project: String,
    /// What the trainer's run begins with.
    pub(crate) trainer: String,
    /// What the environment's run begins with.
    pub(crate) environment: String,
}

impl Names {
    pub(crate) fn of(environment: &str, id: &str, edits: &Map<String, Value>) -> Self {
        let text =
            |name: &str| edits.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty());
        let usual = format!("{environment}-{id}");
        Self {
            project: text(PROJECT_FIELD).unwrap_or(PROJECT).to_owned(),
            environment: text("wandb_name").unwrap_or(&usual).to_owned(),
            trainer: usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Field> {
        let source = "class C(BaseEnvConfig):\n    hard: bool = False\n    tags: list[str] | None = None\n    kind: Literal[\"a\", \"b\"] = \"a\"\nclass E(BaseEnv):\n    env_config_cls = C\n    def config_init(cls):\n        return C(group_size=8), []\n";
        fields(&super::super::classes::environments(source, "e").remove(0))
    }

    #[test]
    fn what_the_environment_says_goes_before_what_all_have() {
        let fields = known();
        let default = |name: &str| &fields.iter().find(|field| field.name == name).unwrap().default;

        assert_eq!((default("group_size"), default("hard")), (&json!(8), &json!(false)));
        assert_eq!(default("batch_size"), &json!(-1));
        assert_eq!(default("wandb_project"), &json!("atropos-tinker"));
    }

    #[test]
    fn a_locked_field_says_that_it_is_and_an_unknown_one_what_is_near() {
        let locked = fitting(&known(), "tokenizer_name", &json!("x")).unwrap_err();
        assert!(locked.contains("`tokenizer_name` is locked and stays \"Qwen/Qwen3-8B\""), "{locked}");
        for name in ["lora_rank", "learning_rate", "base_url", "total_steps", "save_checkpoint_interval"] {
            assert!(fitting(&known(), name, &json!(1)).unwrap_err().contains("is locked"), "{name}");
        }

        let unknown = fitting(&known(), "groupsize", &json!(1)).unwrap_err();
        assert!(unknown.starts_with("there is no field `groupsize`; did you mean group_size"), "{unknown}");
        assert!(unknown.contains("batch_size") && !unknown.contains("tokenizer_name"), "{unknown}");
    }

    #[test]
    fn values_have_to_fit_and_are_taken_for_what_they_are() {
        let fit = |name: &str, value: Value| fitting(&known(), name, &value).ok();

        assert_eq!(fit("group_size", json!("32")), Some(json!(32)));
        assert_eq!(fit("group_size", json!(32.0)), Some(json!(32)));
        assert_eq!(fit("group_size", json!(1.5)), None);
        assert_eq!(fit("group_size", json!(true)), None);
        assert_eq!(fit("hard", json!("True")), Some(json!(true)));
        assert_eq!(fit("hard", json!(1)), None);
        assert_eq!(fit("kind", json!("b")), Some(json!("b")));
        assert_eq!(fit("kind", json!("c")), None);
        assert_eq!(fit("tags", json!(null)), Some(json!(null)));
        assert_eq!(fit("tags", json!(["x"])), Some(json!(["x"])));
        assert_eq!(fit("tags", json!("x")), None);
        assert_eq!(fit("wandb_name", json!("12")), Some(json!("12")));
        assert_eq!(fit("min_items_sent_before_logging", json!("many")), None);
    }

    #[test]
    fn only_what_was_changed_is_added_to_what_is_locked() {
        let edits = json!({ "group_size": 8, "wandb_project": "p", "data_path_to_save_groups": null });
        let edits = edits.as_object().unwrap();

        let made = configuration(edits, &Names::of("math", "0a1b2c3d", edits));

        assert_eq!((&made["env"]["group_size"], &made["env"]["total_steps"]), (&json!(8), &json!(2500)));
        assert_eq!(made["env"]["wandb_name"], "math-0a1b2c3d");
        assert!(made["env"].get("wandb_project").is_none() && made["env"].get("batch_size").is_none());
        assert!(made["env"].get("data_path_to_save_groups").is_none());
        assert_eq!(
            (&made["tinker"]["wandb_project"], &made["tinker"]["lora_rank"]),
            (&json!("p"), &json!(32))
        );
        assert_eq!(made["tinker"]["wandb_run_name"], "math-0a1b2c3d");
        assert_eq!(made["openai"][0]["base_url"], "http://localhost:8001/v1");
    }

    #[test]
    fn what_is_shown_tells_open_from_locked() {
        let mut edits = Map::new();
        edits.insert("group_size".to_owned(), json!(2));

        let (open, fixed) = shown(&known(), &edits);

        let named = |list: &[Value], name: &str| list.iter().find(|it| it["name"] == name).cloned();
        assert_eq!(named(&open, "group_size").unwrap()["current_value"], 2);
        assert_eq!(named(&fixed, "max_num_workers").unwrap()["locked_value"], 2048);
        assert_eq!(named(&fixed, "learning_rate").unwrap()["locked_value"], 0.00004);
        assert!(named(&open, "total_steps").is_none());
    }
}
