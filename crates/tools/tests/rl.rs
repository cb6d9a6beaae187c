//! The `rl_*` tools before anything is run: when they are there, and what a call declares.

#![expect(clippy::unwrap_used, reason = "helpers are part of the tests")]

use std::sync::Arc;

use hermes_core::cx::Services;
use hermes_core::effect::Effect;
use hermes_core::environment::{EnvError, Environments, Ran, Run, Workplace};
use hermes_core::jobs::Jobs;
use hermes_core::keys::Keys;
use hermes_core::permit::{Exec, Permit};
use hermes_core::session::Place;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{FakeFiles, FakeHost, Rig};
use hermes_tools::MediaSettings;
use serde_json::{Value, json};

const NAMES: [&str; 10] = [
    "rl_check_status",
    "rl_edit_config",
    "rl_get_current_config",
    "rl_get_results",
    "rl_list_environments",
    "rl_list_runs",
    "rl_select_environment",
    "rl_start_training",
    "rl_stop_training",
    "rl_test_inference",
];

fn tool(name: &str) -> ToolEntry {
    ToolEntry::from(*hermes_tools::tools().iter().find(|def| def.name() == name).unwrap())
}

/// Why each of the tools is not there.
fn missing(rig: &Rig) -> Vec<String> {
    rig.toolbox_now().unavailable().iter().map(|tool| tool.why.to_string()).collect()
}

#[test]
fn what_is_missing_is_told_of_every_tool() {
    let rig = Rig::with(NAMES.map(tool));

    let why = missing(&rig);

    assert_eq!(why.len(), NAMES.len());
    for part in ["needs TINKER_API_KEY", "needs WANDB_API_KEY", "`python3`", "a checkout of tinker-atropos"] {
        assert!(why[0].contains(part), "{}", why[0]);
    }
}

#[test]
fn with_keys_python_and_a_checkout_they_are_there() {
    let rig = Rig::with(NAMES.map(tool));
    for name in ["TINKER_API_KEY", "WANDB_API_KEY", "python3"] {
        rig.probe.set(name, true);
    }
    rig.probe.set_config("rl.tinker_atropos_root", json!("~/atropos"));
    let why = missing(&rig);
    assert!(why[0].contains("there is none in ~/atropos") && why[0].contains("git clone"), "{}", why[0]);

    let rig = Rig::with(NAMES.map(tool));
    for name in ["TINKER_API_KEY", "WANDB_API_KEY", "python3", "~/atropos/launch_training.py"] {
        rig.probe.set(name, true);
    }
    rig.probe.set_config("rl.tinker_atropos_root", json!("~/atropos"));
    assert_eq!(missing(&rig), Vec::<String>::new());
}

/// Every key is set.
struct Rich;

impl Keys for Rich {
    fn key(&self, name: &str) -> Option<String> {
        Some(format!("{}-secret", name.to_lowercase()))
    }

    fn setting(&self, _: &str) -> Option<Value> {
        None
    }
}

/// A place where nothing is ever run.
struct Idle;

impl Workplace for Idle {
    fn run(&self, _: Permit<Exec>, _: Run) -> futures::future::BoxFuture<'_, Result<Ran, EnvError>> {
        Box::pin(std::future::ready(Err(EnvError::NoScripts)))
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        None
    }
}

fn declared(name: &str, arguments: &Value) -> Vec<Effect> {
    let place = Place { cwd: "/w".into(), home: Some("/home/ann".into()) };
    let keys: Arc<dyn Keys> = Arc::new(Rich);
    let services = Services::new(Arc::new(FakeHost::default()), Arc::new(FakeFiles::default()))
        .environments(Environments::new("local", Arc::new(Idle)))
        .with(MediaSettings { cache: "/home/ann/.hermes/cache".into() })
        .with(keys);
    tool(name).effects_of(arguments.as_object().unwrap().clone(), &place, &services).unwrap()
}

#[test]
fn a_start_shows_the_program_that_will_run_and_no_key() {
    let effects = declared("rl_start_training", &json!({}));

    let command =
        effects.iter().find_map(|it| if let Effect::Exec(it) = it { Some(it) } else { None }).unwrap();
    assert_eq!(
        (command.environment.as_str(), command.workdir.to_str()),
        ("local", Some("/home/ann/.hermes/tinker-atropos"))
    );
    assert!(
        command.text.contains("launch_training.py")
            && command.text.ends_with("/home/ann/.hermes/logs/rl_training")
    );
    assert!(effects.contains(&Effect::Write("/home/ann/.hermes/tinker-atropos/configs".into())));
    assert!(!format!("{effects:?}").contains("-secret"));
    assert_eq!(effects, declared("rl_start_training", &json!({})), "the same call declares the same");
}

#[test]
fn a_tryout_says_how_much_is_asked_of_whom() {
    let effects = declared("rl_test_inference", &json!({ "num_steps": 2, "models": ["a/b"] }));

    let act = effects.iter().find_map(|it| if let Effect::Act(it) = it { Some(it) } else { None }).unwrap();
    assert_eq!(act.detail, "OpenRouter: 32 answers in all, 16 to each of 2 questions, of a/b");
    assert!(declared("rl_test_inference", &json!({ "num_steps": 0 })).is_empty());
}

#[test]
fn looking_changes_nothing() {
    for name in ["rl_list_environments", "rl_get_current_config", "rl_list_runs"] {
        let effects = declared(name, &json!({}));

        assert!(!effects.is_empty() && effects.iter().all(Effect::is_read_only), "{name}: {effects:?}");
    }
}
