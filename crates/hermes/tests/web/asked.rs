//! Every provider is asked in its own words.

use serde_json::{Value, json};

use crate::{call, runtime, serve};

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
    let providers: [(&str, &[(&str, &str)]); 9] = [
        ("tavily", &[("TAVILY_API_KEY", "k"), ("TAVILY_BASE_URL", address)]),
        ("exa", &[("EXA_API_KEY", "k"), ("EXA_BASE_URL", address)]),
        ("firecrawl", &[("FIRECRAWL_API_URL", address)]),
        ("parallel", &[("PARALLEL_API_KEY", "k"), ("PARALLEL_BASE_URL", address)]),
        ("searxng", &[("SEARXNG_URL", address)]),
        ("brave-free", &[("BRAVE_SEARCH_API_KEY", "k"), ("BRAVE_BASE_URL", address)]),
        ("firecrawl", &[("TOOL_GATEWAY_USER_TOKEN", "t"), ("FIRECRAWL_GATEWAY_URL", address)]),
        ("xai", &[("XAI_API_KEY", "k"), ("XAI_BASE_URL", &xai)]),
        ("wikipedia", &[("WIKIPEDIA_BASE_URL", address)]),
    ];

    for (name, variables) in providers {
        let (_folder, runtime) = runtime("", variables);
        let text = call(&runtime, "web_search", &json!({ "query": "lamps & oil" })).to_string();
        assert!(text.contains(name) && text.contains("position"), "{name}: {text}");
    }
}

#[test]
fn every_reading_provider_is_asked_in_its_own_words() {
    let server = serve(|path, body| {
        let asked: Value = serde_json::from_str(body).unwrap();
        let url = asked.pointer("/urls/0").or_else(|| asked.get("url")).unwrap();
        let page = |field: &str| json!({ "results": [{ "url": url, "title": "T", field: "Words of it." }] });
        let answer = match path {
            "/extract" => page("raw_content"),
            "/contents" if asked["text"] == true => page("text"),
            "/v1beta/extract" if asked["full_content"] == true => page("full_content"),
            "/v2/scrape" => {
                json!({ "data": { "markdown": "Words of it.", "metadata": { "title": "T", "sourceURL": url } } })
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
            (&json!("T"), &json!("Words of it.")),
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
