//! Training runs through the whole runtime: a checkout whose three programs are stand-ins, run by a real
//! Python, and a double of Weights & Biases made from what it publishes.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, look at files, and stop where something is wrong"
)]

mod bench;

use std::time::{Duration, Instant};

use hermes::guard::Mode;
use serde_json::{Value, json};

use bench::{Bench, call, runs, started, until};

/// Not a test: this program as a keeper, started by the tests below.
#[test]
#[ignore = "the tests start it themselves"]
fn keeper_process() {
    hermes::run_as_keeper().unwrap();
}

#[test]
fn a_run_is_configured_started_looked_at_stopped_and_leaves_its_results() {
    let bench = Bench::new("");
    let session = bench.session();

    let listed = call(&session, "rl_list_environments", &json!({}));
    assert_eq!(listed["count"], 1, "{listed}");
    assert_eq!(
        (&listed["environments"][0]["name"], &listed["environments"][0]["description"]),
        (&json!("math"), &json!("Sums of small numbers."))
    );
    assert!(!bench.checkout().join("imported").exists(), "an environment is read, not run");

    let why = call(&session, "rl_get_current_config", &json!({}))["error"].to_string();
    assert!(why.contains("no environment is selected"), "{why}");
    let why = call(&session, "rl_select_environment", &json!({ "name": "maths" }))["error"].to_string();
    assert!(why.contains("did you mean math"), "{why}");
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let config = call(&session, "rl_get_current_config", &json!({}));
    let field = |list: &str, name: &str| {
        config[list].as_array().unwrap().iter().find(|field| field["name"] == name).cloned().unwrap()
    };
    assert_eq!(field("configurable_fields", "difficulty")["current_value"], 1);
    assert_eq!(field("configurable_fields", "group_size")["current_value"], 8);
    assert_eq!(field("locked_fields", "tokenizer_name")["locked_value"], "Qwen/Qwen3-8B");

    for (name, value, said) in [
        ("lora_rank", json!(64), "`lora_rank` is locked and stays 32"),
        ("dificulty", json!(2), "did you mean difficulty"),
        ("difficulty", json!("very"), "takes int"),
    ] {
        let why = call(&session, "rl_edit_config", &json!({ "field": name, "value": value }));
        assert!(why["error"].as_str().unwrap_or_default().contains(said), "{why}");
    }
    let edited = call(&session, "rl_edit_config", &json!({ "field": "difficulty", "value": "3" }));
    assert_eq!((&edited["value"], &edited["config"]), (&json!(3), &json!({ "difficulty": 3 })));

    let began = Instant::now();
    let started = call(&session, "rl_start_training", &json!({}));
    assert!(began.elapsed() < Duration::from_secs(15), "it answers at once");
    let id = started["run_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    assert!(id.len() == 8 && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    let config = std::fs::read_to_string(bench.checkout().join(format!("configs/run_{id}.yaml"))).unwrap();
    assert!(
        config.contains("\n  difficulty: 3\n") && config.contains("\n  learning_rate: 0.00004\n"),
        "{config}"
    );
    let run = json!({ "run_id": id });
    bench.until_status(&session, &id, "running");

    let order = bench.noted("order");
    assert_eq!(order, "api\ntrainer\nenv\n");
    assert_eq!(bench.noted("keys-of-trainer"), "TINKER_API_KEY WANDB_API_KEY\n");
    assert_eq!(bench.noted("keys-of-env"), "WANDB_API_KEY\n");
    assert_eq!(bench.noted("keys-of-api"), "\n");

    let told = call(&session, "rl_check_status", &run);
    assert_eq!(
        told["processes"],
        json!({ "api": "running", "trainer": "running", "env": "running" }),
        "{told}"
    );
    assert_eq!(
        told["metrics"],
        json!({
            "step": 12, "state": "running", "reward_mean": 0.25, "loss": -1.5, "percent_correct": 0.5,
            "eval_percent_correct": null,
        })
    );
    assert!(told["wandb_url"].as_str().unwrap().ends_with("/ann/atropos-tinker/runs/t1"), "{told}");
    let again = call(&session, "rl_check_status", &run);
    assert_eq!((&again["rate_limited"], &again["status"]), (&json!(true), &json!("running")), "{again}");
    let wait = again["next_check_in_seconds"].as_u64().unwrap();
    assert!((1700..=1800).contains(&wait) && again["metrics"].is_null(), "{again}");

    let busy = call(&session, "rl_start_training", &json!({}));
    assert!(
        busy["error"].as_str().unwrap().contains(&format!("run {id} of math is still running")),
        "{busy}"
    );

    let pids = bench.pids(&id);
    let stopped = call(&session, "rl_stop_training", &run);
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    assert!(pids.len() == 3 && pids.iter().all(|pid| !runs(pid)), "{pids:?}");
    assert_eq!(bench.noted("stopped"), "trainer\n", "it could clean up");
    let twice = call(&session, "rl_stop_training", &run);
    assert!(twice["message"].as_str().unwrap().contains("does not run (stopped)"), "{twice}");

    let results = call(&session, "rl_get_results", &run);
    assert_eq!(
        results["weights"],
        json!({ "final": null, "last_step": "tinker://run-7/sampler_weights/step_3" }),
        "{results}"
    );
    assert_eq!(results["final_metrics"]["reward/mean"], 0.25);
    assert_eq!(results["history"].as_array().unwrap().len(), 10);
    let listed = call(&session, "rl_list_runs", &json!({}));
    assert_eq!((&listed["count"], &listed["runs"][0]["run_id"]), (&json!(1), &json!(id)));
    assert!(!bench.everything_written().contains("-secret"), "a key was written down");
}

#[test]
fn a_run_that_comes_to_its_end_is_completed_and_tells_its_weights() {
    let bench = Bench::new("");
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let id = started(&session);
    bench.until_status(&session, &id, "running");

    std::fs::write(bench.checkout().join("finish"), "").unwrap();
    bench.until_status(&session, &id, "completed");

    let results = call(&session, "rl_get_results", &json!({ "run_id": id }));
    assert_eq!(results["weights"]["final"], "tinker://run-7/sampler_weights/final", "{results}");
    for _ in 0..2 {
        let told = call(&session, "rl_check_status", &json!({ "run_id": id }));
        assert_eq!(told["metrics"]["step"], 12, "what is over may be looked at at any time: {told}");
    }
    assert!(bench.pids(&id).iter().all(|pid| !runs(pid)));
}

#[test]
fn when_one_program_fails_the_others_are_stopped_and_its_words_are_told() {
    for (trouble, failed, said) in [
        ("env-fails", "the environment ended with code 3", "the dataset cannot be loaded"),
        ("trainer-fails", "the trainer ended with code 1", "no credit is left"),
        ("api-fails", "the API server ended with code 1", "address already in use"),
    ] {
        let bench = Bench::new("");
        let session = bench.session();
        std::fs::write(bench.checkout().join(trouble), "").unwrap();
        call(&session, "rl_select_environment", &json!({ "name": "math" }));
        let id = started(&session);

        bench.until_status(&session, &id, "failed");
        let told = call(&session, "rl_check_status", &json!({ "run_id": id }));

        assert!(told["error"].as_str().unwrap().starts_with(failed), "{told}");
        assert!(told["last_output"].as_str().unwrap().contains(said), "{told}");
        assert!(bench.pids(&id).iter().all(|pid| !runs(pid)), "{trouble}");
    }
}

#[test]
fn a_program_that_is_not_there_fails_the_run() {
    let bench = Bench::new("");
    std::fs::remove_dir_all(bench.checkout().join(".venv")).unwrap();
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let id = started(&session);

    bench.until_status(&session, &id, "failed");

    let told = call(&session, "rl_check_status", &json!({ "run_id": id }));
    assert!(told["error"].as_str().unwrap().contains("the API server cannot be started"), "{told}");
}

#[test]
fn a_run_goes_on_while_this_program_is_started_again() {
    let bench = Bench::new("");
    let id = {
        let session = bench.with_keeper();
        call(&session, "rl_select_environment", &json!({ "name": "math" }));
        let id = started(&session);
        bench.until_status(&session, &id, "running");
        id
    };

    let session = bench.with_keeper();
    let told = call(&session, "rl_check_status", &json!({ "run_id": id }));
    assert_eq!((&told["status"], &told["metrics"]["step"]), (&json!("running"), &json!(12)), "{told}");
    let other = bench.with_keeper();
    assert_eq!(call(&other, "rl_check_status", &json!({ "run_id": id }))["rate_limited"], true);
    let pids = bench.pids(&id);
    assert!(pids.iter().all(|pid| runs(pid)));
    let stopped = call(&other, "rl_stop_training", &json!({ "run_id": id }));

    assert_eq!(stopped["status"], "stopped", "{stopped}");
    assert!(pids.iter().all(|pid| !runs(pid)));
}

#[test]
fn a_run_can_be_stopped_while_it_is_being_started() {
    let bench = Bench::new("rl: { waits: { api: 0.1, trainer: 600, env: 0.1 } }\n");
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let id = started(&session);
    until("the trainer runs", || bench.pids(&id).len() == 2);

    let stopped = call(&session, "rl_stop_training", &json!({ "run_id": id }));

    assert_eq!(
        (&stopped["status"], &stopped["processes"]["env"]),
        (&json!("stopped"), &json!("not started"))
    );
    assert!(bench.pids(&id).iter().all(|pid| !runs(pid)));
}

#[test]
fn weights_and_biases_may_be_silent_and_the_rest_is_told() {
    let bench = Bench::new("");
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let id = started(&session);
    bench.until_status(&session, &id, "running");

    bench.double.next(401, &json!({ "errors": [{ "message": "user is not logged in" }] }));
    let told = call(&session, "rl_check_status", &json!({ "run_id": id }));

    assert_eq!(told["status"], "running");
    assert!(told["wandb_error"].as_str().unwrap().contains("does not accept WANDB_API_KEY"), "{told}");
    let again = call(&session, "rl_check_status", &json!({ "run_id": id }));
    assert_eq!(again["metrics"]["step"], 12, "what was not told does not count: {again}");
    call(&session, "rl_stop_training", &json!({ "run_id": id }));
    let unknown = call(&session, "rl_check_status", &json!({ "run_id": "00000000" }));
    assert!(unknown["error"].as_str().unwrap().contains(&id), "{unknown}");
}

#[test]
fn an_environment_is_tried_out_with_models_that_anybody_can_use() {
    let bench = Bench::new("");
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));

    let models = json!({ "num_steps": 2, "group_size": 4, "models": ["good/model", "bad/model"] });
    let told = call(&session, "rl_test_inference", &models);

    let [good, bad] = [&told["models_tested"][0], &told["models_tested"][1]];
    assert_eq!(
        (&good["accuracy"], &good["steps_tested"], &good["total_completions"]),
        (&json!(0.25), &json!(2), &json!(8)),
        "{told}"
    );
    assert!(bad["output"].as_str().unwrap().contains("the model is not there"), "{told}");
    assert_eq!(
        (&told["summary"]["models_succeeded"], &told["summary"]["best_model"]),
        (&json!(1), &json!("good/model"))
    );
    assert_eq!(told["test_config"]["total_rollouts"], 16);
    let many = call(&session, "rl_test_inference", &json!({ "num_steps": 500 }));
    assert!(many["error"].as_str().unwrap().contains("between 1 and 20"), "{many}");
}

#[test]
fn a_tryout_that_is_taken_back_leaves_nothing_behind() {
    let bench = Bench::new("");
    let session = bench.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));

    let told = std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| call(&session, "rl_test_inference", &json!({ "models": ["slow/model"] })));
        until("the model is asked", || !bench.noted("slow").is_empty());
        session.cancel();
        waiting.join().unwrap()
    });

    assert!(told["error"].as_str().unwrap().contains("cancelled"), "{told}");
    let pid = bench.noted("slow");
    until("the environment is gone", || !runs(&pid));
}

#[test]
fn what_is_missing_is_said() {
    let without_key = Bench::with_variables("", &[("OPENROUTER_API_KEY", "")]);
    let session = without_key.session();
    call(&session, "rl_select_environment", &json!({ "name": "math" }));
    let why = call(&session, "rl_test_inference", &json!({}));
    assert!(why["error"].as_str().unwrap().contains("OPENROUTER_API_KEY is not set"), "{why}");

    for (config, variables, said) in [
        ("", vec![("TINKER_API_KEY", "")], "needs TINKER_API_KEY"),
        ("", vec![("WANDB_API_KEY", "")], "needs WANDB_API_KEY"),
        ("rl: { tinker_atropos_root: /nowhere/at/all }\n", vec![], "there is none in /nowhere/at/all"),
    ] {
        let bench = Bench::with_variables(config, &variables);
        let session = bench.session();
        let why = call(&session, "rl_start_training", &json!({}));
        assert!(why["error"].as_str().unwrap().contains(said), "{why}");
    }
}

#[test]
fn nothing_is_spent_where_nobody_can_be_asked() {
    let bench = Bench::new("");
    let session = bench.in_mode(Mode::Manual);
    call(&session, "rl_select_environment", &json!({ "name": "math" }));

    for tool in ["rl_start_training", "rl_test_inference"] {
        let refused: Value = call(&session, tool, &json!({}));
        assert!(refused["error"].as_str().unwrap().contains("denied"), "{refused}");
    }

    assert!(bench.noted("order").is_empty() && !bench.checkout().join("configs").exists());
    let looked = call(&session, "rl_list_runs", &json!({}));
    assert_eq!(looked, json!({ "runs": [], "count": 0 }));
}
