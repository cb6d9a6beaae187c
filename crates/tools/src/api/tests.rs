//! What is asked, and what refusals come to.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const SERVICE: Service = Service { name: "Lamp", key: "LAMP_TOKEN", explain: |_| None };

fn refused(status: u16, headers: &[(&str, &str)], body: &str) -> Refused {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let reply = WebReply { status, url: String::new(), headers, body: body.as_bytes().to_vec(), cut: false };
    Refused::new(&SERVICE, &reply)
}

#[test]
fn every_refusal_says_what_can_be_done() {
    let cases = [
        (401, r#"{"message":"401: Unauthorized"}"#, "Lamp does not accept LAMP_TOKEN: 401: Unauthorized"),
        (403, r#"{"error":{"message":"Premium required"}}"#, "Lamp does not permit this: Premium required"),
        (404, "<html>big page</html>", "Lamp has no such thing"),
        (429, r#"{"retry_after": 63.5}"#, "Lamp is asked too often; it wants 64 s of peace"),
        (429, "", "Lamp is asked too often; try again later"),
        (502, "bad gateway\nsecond line", "Lamp has trouble of its own (502): bad gateway"),
        (400, r#"{"code":1,"msg":"bad id"}"#, "Lamp answered 400: bad id"),
    ];

    for (status, body, words) in cases {
        assert_eq!(refused(status, &[], body).words(), words);
    }
}

#[test]
fn a_service_is_waited_for_only_as_long_as_it_is_bearable() {
    let wait =
        |status, after| ApiError::Refused(refused(status, &[("retry-after", after)], "")).bearable_wait();

    assert_eq!(wait(429, "2"), Some(Duration::from_secs(2)));
    assert_eq!(wait(429, "0.25"), Some(Duration::from_millis(250)));
    for (status, after) in [(429, "3600"), (429, "-1"), (429, "NaN"), (429, "soon"), (503, "2")] {
        assert_eq!(wait(status, after), None, "{status} {after}");
    }
}

#[test]
fn an_act_is_told_in_words_of_bearable_length() {
    let effects = SERVICE.acts(ActKind::Control, &"x".repeat(5000));

    assert_eq!(effects[0], Effect::Connect("Lamp".to_owned()));
    let Effect::Act(act) = &effects[1] else { unreachable!() };
    assert!(act.detail.starts_with("Lamp: xxx") && act.detail.ends_with('…') && act.detail.len() < 700);
}

#[test]
fn what_is_empty_is_left_out() {
    let value = json!({ "a": 1, "b": null, "c": "" });

    assert_eq!(json!(picked(&value, &["c", "b", "a", "d"])), json!({ "c": "", "a": 1 }));
}

#[test]
fn what_is_no_id_is_not_taken_for_one() {
    assert_eq!(id(" 4uLU6hMCjMI75M1A2tKUQC ", "id").unwrap(), "4uLU6hMCjMI75M1A2tKUQC");
    for wrong in ["", "..", "a/b", "a?b", "a%2fb", "a b", "é", &"a".repeat(129)] {
        assert!(id(wrong, "id").is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn no_argument_leaves_its_place_in_an_address(part in ".{0,30}", value in ".{0,30}") {
        let ask = Ask::get(&["a", &part, "b"]).query("q", Some(&value)).query("none", None::<u8>);
        let url = ask.request("http://h", Reach::Configured("Lamp")).url;

        let (path, query) = url.strip_prefix("http://h/a/").unwrap().split_once("/b?q=").unwrap();
        prop_assert!(!path.contains(['/', '?', '#', '\\']) && !query.contains(['&', '?', '#', '=', '/']), "{}", url);
        prop_assert!(url.is_ascii() && !url.contains(char::is_whitespace));
    }
}
