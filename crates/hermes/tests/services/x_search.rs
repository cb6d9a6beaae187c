//! `x_search`.

use serde_json::json;

use crate::support::{Bench, Double, assert_within};

fn bench(double: &Double, key: &str, config: &str) -> Bench {
    let base = double.url("/v1");
    Bench::with_config(config, &[("XAI_API_KEY", key), ("XAI_BASE_URL", &base)])
}

#[test]
fn an_answer_comes_with_the_posts_it_rests_on() {
    let double = Double::of("xai");
    let bench = bench(&double, "good-key", "");

    let body = bench.call("x_search", &json!({ "query": "tea", "from_date": "2026-01-01" }));

    assert_eq!(
        body,
        json!({
            "success": true, "provider": "xai", "credential_source": "XAI_API_KEY", "tool": "x_search",
            "model": "grok-4-fast", "query": "tea", "answer": "People like it.",
            "citations": ["https://x.com/i/status/1"],
            "inline_citations": [{ "url": "https://x.com/i/status/1", "title": "1", "start_index": 13, "end_index": 20 }],
            "degraded": false, "degraded_reason": null,
        })
    );
    let ours = double.asked();
    if let Some(vendors) = double.asked_by_vendor("xai_client.py", "/v1") {
        assert_within(&ours, &vendors);
    }
}

#[test]
fn an_answer_that_rests_on_nothing_is_marked() {
    let double = Double::of("xai");
    let bench = bench(&double, "good-key", "x_search:\n  model: grok-9\n");

    let body = bench.call("x_search", &json!({ "query": "tea", "allowed_x_handles": ["@nobody"] }));

    assert_eq!((&body["degraded"], &body["model"]), (&json!(true), &json!("grok-9")));
    assert_eq!(
        double.asked()[0]["body"]["tools"][0],
        json!({ "type": "x_search", "allowed_x_handles": ["nobody"] })
    );
}

#[test]
fn trouble_of_the_service_is_tried_again_and_a_wrong_key_is_not() {
    let double = Double::of("xai");
    let good = bench(&double, "good-key", "");
    let ask = json!({ "query": "tea" });

    double.next(503, &json!({}), &json!({ "error": "overloaded" }));
    assert_eq!(good.call("x_search", &ask)["success"], true);
    assert_eq!(double.asked().len(), 2);
    let why = bench(&double, "bad-key", "").fails("x_search", &ask);
    assert!(why.contains("Incorrect API key") && double.asked().len() == 1, "{why}");
    let both = json!({ "query": "tea", "allowed_x_handles": ["a"], "excluded_x_handles": ["b"] });
    assert!(good.fails("x_search", &both).contains("either") && double.asked().is_empty());
}
