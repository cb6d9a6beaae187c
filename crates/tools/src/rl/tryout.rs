//! A tryout: an environment asks a few questions of models that anybody can use, and scores their answers.
//! It shows before a training whether the environment works.

use std::path::Path;
use std::time::Duration;

use hermes_core::cx::ToolCx;
use hermes_core::environment::{Ran, Run, ShellState, Why};
use hermes_core::error::ToolError;
use hermes_core::files::FileError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::desk::Chosen;
use super::fields::locked;
use super::grounds::Grounds;
use super::{OPENROUTER_KEY, failed};
use crate::api;
use crate::command::kept::text;

/// Models of different sizes that are asked where nobody names others.
pub(crate) const USUAL: [&str; 3] = ["qwen/qwen3-8b", "z-ai/glm-4.7-flash", "minimax/minimax-m2.7"];

/// Most questions, answers to one, and models.
const MOST_STEPS: u32 = 20;
const MOST_ANSWERS: u32 = 64;
const MOST_MODELS: usize = 6;

/// How long one model may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// How long all of them may take.
pub(crate) const LONGEST: Duration = Duration::from_mins(62);

/// Most bytes of output that are kept, and characters of it that are shown when it fails.
const KEEP: usize = 64 * 1024;
const SHOWN: usize = 2000;

/// The largest file of answers that is read.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Where the models are.
const OPENROUTER: &str = "https://openrouter.ai/api/v1";

/// What is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) steps: u32,
    pub(crate) answers: u32,
    pub(crate) models: Vec<String>,
}

impl Plan {
    /// What was asked for, or what is wrong with it.
    pub(crate) fn new(steps: u32, answers: u32, models: Option<&[String]>) -> Result<Self, String> {
        let named: Vec<String> = models.unwrap_or_default().iter().map(|it| it.trim().to_owned()).collect();
        let models = if named.is_empty() { USUAL.map(str::to_owned).to_vec() } else { named };
        let is_name = |it: &String| {
            let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | ':' | '~');
            (1..=128).contains(&it.len())
                && it.chars().all(usual)
                && it.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        if !(1..=MOST_STEPS).contains(&steps) {
            return Err(format!("num_steps: between 1 and {MOST_STEPS}"));
        }
        if !(1..=MOST_ANSWERS).contains(&answers) {
            return Err(format!("group_size: between 1 and {MOST_ANSWERS}"));
        }
        if models.len() > MOST_MODELS {
            return Err(format!("models: at most {MOST_MODELS}"));
        }
        match models.iter().find(|it| !is_name(it)) {
            Some(odd) => {
                Err(format!("models: {odd:?} is no model of OpenRouter; they look like qwen/qwen3-8b"))
            }
            None => Ok(Self { steps, answers, models }),
        }
    }

    /// All answers that are paid for.
    pub(crate) fn total(&self) -> usize {
        usize::try_from(self.steps * self.answers).unwrap_or(usize::MAX).saturating_mul(self.models.len())
    }

    /// What it does, for whoever has to say yes.
    pub(crate) fn detail(&self) -> String {
        format!(
            "OpenRouter: {} answers in all, {} to each of {} questions, of {}",
            self.total(),
            self.answers,
            self.steps,
            self.models.join(", ")
        )
    }
}

/// One group of answers in the file that an environment writes; everything else in it is not looked at.
#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    scores: Vec<f64>,
}

/// Asks one model.
pub(crate) async fn ask(
    cx: &ToolCx,
    grounds: &Grounds,
    chosen: &Chosen,
    plan: &Plan,
    model: &str,
) -> Result<Value, ToolError> {
    let name = &chosen.found.environment.name;
    let safe = |text: &str| {
        text.replace(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')), "_")
    };
    // The call's own id, so that no earlier file is taken for this one.
    let stem = format!("test_{}_{}_{}", safe(name), safe(model), safe(&cx.call().to_string()));
    let output = grounds.logs.join("inference_tests").join(format!("{stem}.jsonl"));
    let order = json!({
        "words": words(chosen, plan, model, &output, &stem, &base(cx)?),
        "output": output,
        "secrets": secrets(cx)?,
    });
    let ran = run(cx, grounds, &order).await?;
    let mut told = json!({ "model": model, "output_file": output });
    let trouble = match ran.why {
        Why::Cancelled => return Err(ToolError::Cancelled),
        Why::TimedOut(limit) => Some(format!("it was not done after {} minutes", limit.as_secs() / 60)),
        Why::Ended(end) if end.code() != 0 => Some(format!("the environment ended with code {}", end.code())),
        Why::Ended(_) => None,
    };
    let steps = match cx.files().whole(&output, MOST_BYTES).await {
        Ok(whole) => groups(&whole.bytes),
        Err(ToolError::File(FileError::Missing { .. })) => Vec::new(),
        Err(other) => return Err(other),
    };
    let nothing = || steps.is_empty().then(|| "the environment wrote no scored answers".to_owned());
    if let Some(why) = trouble.or_else(nothing) {
        api::set(&mut told, "error", json!(why));
        let said = text(&ran.output);
        let skipped = said.chars().count().saturating_sub(SHOWN);
        api::set(&mut told, "output", json!(said.chars().skip(skipped).collect::<String>()));
    }
    if let Some(fields) = told.as_object_mut() {
        fields.extend(scored(&steps));
    }
    Ok(told)
}

async fn run(cx: &ToolCx, grounds: &Grounds, order: &Value) -> Result<Ran, ToolError> {
    let permit = cx.may_run(&grounds.tryout()?)?;
    let run = Run {
        session: cx.session_id().to_owned(),
        shell: ShellState::default(),
        input: format!("{order}\n").into_bytes(),
        terminal: None,
        timeout: PATIENCE,
        keep: KEEP,
        cancel: cx.cancelled().clone(),
    };
    Ok(cx.workplace(&permit)?.run(permit, run).await?)
}

/// How the environment is started.
fn words(chosen: &Chosen, plan: &Plan, model: &str, output: &Path, stem: &str, base: &str) -> Vec<String> {
    let mut words = vec![chosen.found.file.display().to_string(), "process".to_owned()];
    let mut add = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    let fixed = |name: &str| match locked(name) {
        Some(Value::String(text)) => text,
        other => other.unwrap_or_default().to_string(),
    };
    add("env.total_steps", plan.steps.to_string());
    add("env.group_size", plan.answers.to_string());
    add("env.use_wandb", "true".to_owned());
    add("env.wandb_name", stem.to_owned());
    add("env.data_path_to_save_groups", output.display().to_string());
    for name in ["tokenizer_name", "max_token_length", "max_num_workers", "max_batches_offpolicy"] {
        add(&format!("env.{name}"), fixed(name));
    }
    add("openai.base_url", base.to_owned());
    add("openai.model_name", model.to_owned());
    add("openai.server_type", "openai".to_owned());
    add("openai.health_check", "false".to_owned());
    words
}

fn base(cx: &ToolCx) -> Result<String, ToolError> {
    Ok(api::address(cx.keys()?, "OPENROUTER_BASE_URL", OPENROUTER).trim_end_matches('/').to_owned())
}

/// The client of the environment takes its key from this variable, so that it stands on no command line.
fn secrets(cx: &ToolCx) -> Result<Value, ToolError> {
    let keys = cx.keys()?;
    let missing = || failed(format!("{OPENROUTER_KEY} is not set; a tryout asks models there"));
    let key = keys.key(OPENROUTER_KEY).ok_or_else(missing)?;
    let mut secrets = json!({ "OPENAI_API_KEY": key.trim() });
    for name in ["WANDB_API_KEY", "WANDB_ENTITY", "WANDB_BASE_URL"] {
        if let Some(value) = keys.key(name) {
            api::set(&mut secrets, name, json!(value.trim()));
        }
    }
    Ok(secrets)
}

/// The scores of each group in a file with one on a line; lines that are none are passed over.
fn groups(bytes: &[u8]) -> Vec<Vec<f64>> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let groups = lines.filter_map(|line| serde_json::from_slice::<Group>(line).ok());
    groups.map(|group| group.scores).collect()
}

/// What the scores come to. An answer is right that has any.
fn scored(steps: &[Vec<f64>]) -> Map<String, Value> {
    let right = |scores: &[f64]| scores.iter().filter(|score| **score > 0.0).count();
    let total: usize = steps.iter().map(Vec::len).sum();
    let correct: usize = steps.iter().map(|scores| right(scores)).sum();
    let with_correct = steps.iter().filter(|scores| right(scores) > 0).count();
    let rows: Vec<Value> = steps
        .iter()
        .zip(1..)
        .map(|(scores, step)| {
            json!({ "step": step, "completions": scores.len(), "correct": right(scores), "scores": scores })
        })
        .collect();
    let told = json!({
        "steps_tested": steps.len(),
        "total_completions": total,
        "correct_completions": correct,
        "accuracy": share(correct, total),
        "steps_with_correct": with_correct,
        "step_success_rate": share(with_correct, steps.len()),
        "steps": rows,
    });
    match told {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A share with three places; nothing of nothing is nothing.
fn share(part: usize, whole: usize) -> f64 {
    let thousandths = (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0);
    u32::try_from(thousandths).map_or(0.0, f64::from) / 1000.0
}

/// What all models together show.
pub(crate) fn summary(tested: &[Value], folder: &Path) -> Value {
    let works = |it: &&Value| it.get("steps_tested").and_then(Value::as_u64).unwrap_or(0) > 0;
    let accuracy = |it: &Value| it.get("accuracy").and_then(Value::as_f64).unwrap_or(0.0);
    let working: Vec<&Value> = tested.iter().filter(works).collect();
    let best = working.iter().copied().max_by(|one, other| accuracy(one).total_cmp(&accuracy(other)));
    let count = u32::try_from(working.len()).unwrap_or(u32::MAX);
    let mean = working.iter().map(|it| accuracy(it)).sum::<f64>() / f64::from(count.max(1));
    json!({
        "models_tested": tested.len(),
        "models_succeeded": working.len(),
        "best_model": best.and_then(|it| it.get("model")),
        "avg_accuracy": (mean * 1000.0).round() / 1000.0,
        "environment_working": !working.is_empty(),
        "output_directory": folder.join("inference_tests"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tryout_is_bounded() {
        let plan = Plan::new(3, 16, None).unwrap();
        assert_eq!((plan.models.len(), plan.total()), (3, 144));
        assert_eq!(
            Plan::new(1, 2, Some(&["a/b".to_owned()])).unwrap().detail(),
            "OpenRouter: 2 answers in all, 2 to each of 1 questions, of a/b"
        );

        for (steps, answers) in [(0, 1), (21, 1), (1, 0), (1, 65)] {
            assert!(Plan::new(steps, answers, None).is_err(), "{steps} {answers}");
        }
        for odd in ["", "--x", "a b", "a\nb"] {
            assert!(Plan::new(1, 1, Some(&[odd.to_owned()])).is_err(), "{odd:?}");
        }
        assert!(Plan::new(1, 1, Some(&vec!["a/b".to_owned(); 7])).is_err());
    }

    #[test]
    fn scores_become_shares() {
        let file = b"{\"tokens\": [[1]], \"scores\": [1.0, 0, -1]}\nno JSON\n{\"scores\": [0.0, 0.0]}\n\n";

        let told = scored(&groups(file));

        assert_eq!((&told["total_completions"], &told["correct_completions"]), (&json!(5), &json!(1)));
        assert_eq!((&told["accuracy"], &told["step_success_rate"]), (&json!(0.2), &json!(0.5)));
        assert_eq!(
            told["steps"][0],
            json!({ "step": 1, "completions": 3, "correct": 1, "scores": [1.0, 0.0, -1.0] })
        );
        assert_eq!(scored(&[])["accuracy"], 0.0);
    }

    #[test]
    fn the_summary_counts_those_that_worked() {
        let tested = [
            json!({ "model": "a", "steps_tested": 2, "accuracy": 0.25 }),
            json!({ "model": "b", "steps_tested": 2, "accuracy": 0.5 }),
            json!({ "model": "c", "steps_tested": 0, "accuracy": 0.0, "error": "x" }),
        ];

        let told = summary(&tested, Path::new("/logs"));

        assert_eq!((&told["best_model"], &told["avg_accuracy"]), (&json!("b"), &json!(0.375)));
        assert_eq!((&told["models_succeeded"], &told["environment_working"]), (&json!(2), &json!(true)));
        assert_eq!(summary(&[], Path::new("/"))["best_model"], Value::Null);
    }
}
