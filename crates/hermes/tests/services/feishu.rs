//! The `feishu_*` tools.

use serde_json::{Value, json};

use crate::support::{Bench, Double, assert_within};

const DOC: &str = "doxcnGoodDocument1";
const COMMENT: &str = "7000000000000000001";
const WHOLE: &str = "7000000000000000002";

fn bench(double: &Double, secret: &str) -> Bench {
    let base = double.url("");
    Bench::with(&[("FEISHU_APP_ID", "cli_good"), ("FEISHU_APP_SECRET", secret), ("FEISHU_BASE_URL", &base)])
}

/// Every tool once.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("feishu_doc_read", json!({ "doc_token": format!("https://x.feishu.cn/docx/{DOC}?from=a") })),
        ("feishu_drive_list_comments", json!({ "file_token": DOC, "page_size": 1 })),
        ("feishu_drive_list_comment_replies", json!({ "file_token": DOC, "comment_id": COMMENT })),
        ("feishu_drive_reply_comment", json!({ "file_token": DOC, "comment_id": COMMENT, "content": "oat" })),
        ("feishu_drive_add_comment", json!({ "file_token": DOC, "content": "done" })),
    ]
}

#[test]
fn every_tool_works_and_asks_what_larks_own_client_asks() {
    let double = Double::of("feishu");
    let bench = bench(&double, "good-secret");

    for (tool, arguments) in calls() {
        let body = bench.call(tool, &arguments);
        assert_eq!(body["success"], true, "{tool}: {body}");
    }
    let ours = double.asked();
    assert_eq!(ours.len(), 2 * calls().len());

    if let Some(vendors) = double.asked_by_vendor("feishu_client.py", "") {
        assert_within(&ours, &vendors);
    }
}

#[test]
fn comments_are_read_page_by_page() {
    let double = Double::of("feishu");
    let bench = bench(&double, "good-secret");

    let first = bench.call("feishu_drive_list_comments", &json!({ "file_token": DOC, "page_size": 1 }));
    assert_eq!((&first["comments"][0]["quote"], &first["page_token"]), (&json!("milk"), &json!("1")));
    assert_eq!(first["comments"][0]["replies"][0]["text"], "which milk?");
    let second = bench.call(
        "feishu_drive_list_comments",
        &json!({ "file_token": DOC, "page_size": 1, "page_token": first["page_token"] }),
    );
    assert_eq!((&second["comments"][0]["is_whole"], &second["has_more"]), (&json!(true), &Value::Null));
    assert_eq!(bench.call("feishu_doc_read", &json!({ "doc_token": DOC }))["content"], "Plan\nBuy milk.\n");
}

#[test]
fn refusals_say_what_can_be_done() {
    let double = Double::of("feishu");
    let good = bench(&double, "good-secret");
    let read = |token: &str| json!({ "doc_token": token });

    let closed = good.fails("feishu_doc_read", &read("doxcnClosedDocument"));
    assert!(closed.contains("not shared with the application"), "{closed}");
    let missing = good.fails("feishu_doc_read", &read("doxcnOther"));
    assert!(missing.contains("no such document"), "{missing}");
    let whole = json!({ "file_token": DOC, "comment_id": WHOLE, "content": "x" });
    let why = good.fails("feishu_drive_reply_comment", &whole);
    assert!(why.contains("feishu_drive_add_comment"), "{why}");
    let why = bench(&double, "bad").fails("feishu_doc_read", &read(DOC));
    assert!(why.contains("do not fit together"), "{why}");
    double.asked();
    let why = good.fails("feishu_doc_read", &read("a/../../auth"));
    assert!(why.contains("is no id") && double.asked().is_empty(), "{why}");
}
