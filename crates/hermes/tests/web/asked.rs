//! Every provider is asked in its own words.

use serde_json::{Value, json};

use crate::{Heard, call, runtime, serve};

/// What a provider finds in the environment.
type Variables<'a> = &'a [(&'a str, &'a str)];

#[test]
fn every_search_provider_is_asked_in_its_own_words() {
    let server = serve(|path, body| {
        let row = json!({ "title": "T", "url": "https://t.example", "content": "D", "description": "D" });
        let answer = match path.split('?').next().unwrap() {
            "/search" if body.is_empty() => json!({ "results": [row] }),
            "/search" => {
                json!({ "results": [{ "title": "T", "url": "https://t.example", "content": "D", "highlights": ["D"] }] })
            }
            "/v2/search" => json!({ "data": { "web": [row] } }),
            "/v1beta/search" => {
                json!({ "results": [{ "title": "T", "url": "https://t.example", "excerpts": ["D"] }] })
            }
            "/res/v1/web/search" => json!({ "web": { "results": [row] } }),
            "/v1/responses" if body.contains("web_search") => {
                let words = json!({ "results": [row] }).to_string();
                let part = json!({ "type": "output_text", "text": words });
                json!({ "status": "completed", "output": [{ "type": "message", "content": [part] }] })
            }
            "/w/api.php" => json!({ "query": { "search": [{ "title": "T", "snippet": "D" }] } }),
            other => json!({ "unexpected": other }),
        };
        (200, "Content-Type: application/json\r\n".into(), answer.to_string())
    });
    let address = server.address.as_str();
    let xai = format!("{address}/v1");
    // Of each: what it needs, how the key is shown, and what is asked, in the path or as JSON.
    let providers: [(&str, Variables<'_>, &str, Value); 9] = [
        (
            "tavily",
            &[("TAVILY_API_KEY", "k1"), ("TAVILY_BASE_URL", address)],
            "authorization: bearer k1",
            json!({ "query": "lamps & oil", "max_results": 20, "api_key": "k1" }),
        ),
        (
            "exa",
            &[("EXA_API_KEY", "k2"), ("EXA_BASE_URL", address)],
            "x-api-key: k2",
            json!({ "query": "lamps & oil", "numResults": 30, "contents": { "highlights": true } }),
        ),
        (
            "firecrawl",
            &[("FIRECRAWL_API_KEY", "k3"), ("FIRECRAWL_API_URL", address)],
            "authorization: bearer k3",
            json!({ "query": "lamps & oil", "limit": 30 }),
        ),
        (
            "parallel",
            &[("PARALLEL_API_KEY", "k4"), ("PARALLEL_BASE_URL", address)],
            "x-api-key: k4",
            json!({
                "objective": "lamps & oil", "search_queries": ["lamps & oil"], "mode": "agentic", "max_results": 20,
            }),
        ),
        (
            "searxng",
            &[("SEARXNG_URL", address)],
            "",
            json!("/search?q=lamps%20%26%20oil&format=json&pageno=1"),
        ),
        (
            "brave-free",
            &[("BRAVE_SEARCH_API_KEY", "k5"), ("BRAVE_BASE_URL", address)],
            "x-subscription-token: k5",
            json!("/res/v1/web/search?q=lamps%20%26%20oil&count=20"),
        ),
        (
            "firecrawl",
            &[("TOOL_GATEWAY_USER_TOKEN", "t6"), ("FIRECRAWL_GATEWAY_URL", address)],
            "authorization: bearer t6",
            json!({ "query": "lamps & oil", "limit": 30 }),
        ),
        ("xai", &[("XAI_API_KEY", "k7"), ("XAI_BASE_URL", &xai)], "authorization: bearer k7", json!(null)),
        (
            "wikipedia",
            &[("WIKIPEDIA_BASE_URL", address)],
            "",
            json!("/w/api.php?action=query&list=search&format=json&srlimit=30&srsearch=lamps%20%26%20oil"),
        ),
    ];

    for (name, variables, key, wanted) in providers {
        let (_folder, runtime) = runtime("", variables);
        let answer = call(&runtime, "web_search", &json!({ "query": "lamps & oil", "limit": 30 }));

        assert_eq!(answer["untrusted"], true, "{name}: {answer}");
        let found = &answer["data"];
        assert_eq!((&found["success"], &found["provider"]), (&json!(true), &json!(name)), "{answer}");
        let hit = &found["data"]["web"][0];
        assert_eq!(
            (&hit["title"], &hit["description"], &hit["position"]),
            (&json!("T"), &json!("D"), &json!(1)),
            "{name}: {answer}"
        );
        let Heard { head, body } = server.heard.lock().unwrap().last().unwrap().clone();
        assert!(head.contains(key), "{name}: {head}");
        match &wanted {
            Value::String(path) => {
                let first = server.asked.lock().unwrap().last().unwrap().clone();
                assert_eq!(first, format!("GET {path} HTTP/1.1"), "{name}");
            }
            Value::Null => assert!(body.contains("lamps & oil"), "{name}: {body}"),
            json => assert_eq!(&serde_json::from_str::<Value>(&body).unwrap(), json, "{name}"),
        }
    }
}

#[test]
fn every_reading_provider_is_asked_in_its_own_words() {
    let server = serve(|path, body| {
        let asked: Value = serde_json::from_str(body).unwrap();
        let url = asked.pointer("/urls/0").or_else(|| asked.get("url")).unwrap();
        let page = |field: &str| json!({ "results": [{ "url": url, "title": "T", field: "Words ![of](data:image/png;base64,AAAA) it." }] });
        let answer = match path {
            "/extract" => page("raw_content"),
            "/contents" if asked["text"] == true => page("text"),
            "/v1beta/extract" if asked["full_content"] == true => page("full_content"),
            "/v2/scrape" => {
                json!({ "data": { "markdown": "Words ![of](data:image/png;base64,AAAA) it.", "metadata": { "title": "T", "sourceURL": url } } })
            }
            other => json!({ "unexpected": other }),
        };
        (200, "Content-Type: application/json\r\n".into(), answer.to_string())
    });
    let address = server.address.as_str();
    let providers: [(&str, &[(&str, &str)]); 4] = [
        ("/extract", &[("TAVILY_API_KEY", "k"), ("TAVILY_BASE_URL", address)]),
        ("/contents", &[("EXA_API_KEY", "k"), ("EXA_BASE_URL", address)]),
        ("/v1beta/extract", &[("PARALLEL_API_KEY", "k"), ("PARALLEL_BASE_URL", address)]),
        ("/v2/scrape", &[("FIRECRAWL_API_URL", address)]),
    ];

    for (path, variables) in providers {
        let (_folder, runtime) = runtime("", variables);
        let answer = call(&runtime, "web_extract", &json!({ "urls": ["https://page.example/x"] }));
        let page = &answer["data"]["results"][0];
        assert_eq!(
            (&page["title"], &page["content"]),
            (&json!("T"), &json!("Words ![of]([IMAGE]) it.")),
            "{path}: {answer}"
        );
        assert!(server.asked.lock().unwrap().last().unwrap().contains(path), "{path}");
    }
}

#[test]
fn a_provider_that_refuses_is_quoted_and_its_key_is_not() {
    let server = serve(|_, _| (401, String::new(), "unknown key"));
    let variables = [("EXA_API_KEY", "exa-secret-0123456789"), ("EXA_BASE_URL", server.address.as_str())];
    let (_folder, runtime) = runtime("", &variables);

    let text = call(&runtime, "web_search", &json!({ "query": "x" })).to_string();

    assert!(text.contains("401") && text.contains("is the key right?"), "{text}");
    assert!(!text.contains("exa-secret"), "{text}");
}
