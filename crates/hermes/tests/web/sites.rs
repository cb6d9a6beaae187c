//! Blocked sites stay closed: by the settings, by shared files, after a redirect, through a provider.

use hermes::Runtime;
use serde_json::{Value, json};

use crate::{call, runtime, serve};

const LISTS: &str = "security:\n  allow_private_urls: true\n  website_blocklist:\n    enabled: true\n    domains: [\"*.news.example\", \"127.0.0.1\"]\n    shared_files: [lists/ads.txt]\n";

/// The row of one page.
fn row(runtime: &Runtime, url: &str) -> Value {
    let answer = call(runtime, "web_extract", &json!({ "urls": [url] }));
    answer["data"]["results"][0].clone()
}

fn why(runtime: &Runtime, url: &str) -> String {
    let row = row(runtime, url);
    assert_eq!(row["blocked_by_policy"], true, "{row}");
    row["error"].as_str().unwrap().to_owned()
}

#[test]
fn the_rule_that_blocks_a_site_is_named_with_its_place() {
    let (folder, runtime) = runtime(LISTS, &[]);
    let lists = folder.path().join("home/lists");
    std::fs::create_dir_all(&lists).unwrap();
    std::fs::write(lists.join("ads.txt"), "# shared\n\n0.0.0.0 ads.example\n").unwrap();

    let ads = why(&runtime, "https://x.ads.example/banner");
    assert!(ads.contains("`ads.example` in lists/ads.txt, line 3"), "{ads}");
    let news = why(&runtime, "https://daily.news.example/");
    assert!(news.contains("`*.news.example` in security.website_blocklist.domains"), "{news}");
    assert!(why(&runtime, "http://2130706433/").contains("`127.0.0.1`"));
}

#[test]
fn a_list_counts_as_it_is_now() {
    let server = serve(|_, _| (200, "Content-Type: text/plain\r\n".into(), "words"));
    let config = "security:\n  allow_private_urls: true\n  website_blocklist:\n    shared_files: [ads.txt]\n";
    let (folder, runtime) = runtime(config, &[]);
    let list = folder.path().join("home/ads.txt");

    let missing = why(&runtime, &server.address);
    std::fs::write(&list, "ads.example\n").unwrap();
    let open = row(&runtime, &server.address);
    std::fs::write(&list, "ads.example\n127.0.0.1\n").unwrap();
    let closed = why(&runtime, &server.address);
    std::fs::write(&list, "ads.example\n||odd^\n").unwrap();
    let odd = why(&runtime, &server.address);

    assert!(missing.contains("nothing is fetched") && missing.contains("there is no"), "{missing}");
    assert_eq!(open["content"], "words", "{open}");
    assert!(closed.contains("ads.txt, line 2"), "{closed}");
    assert!(odd.contains("line 2 is no host"), "{odd}");
    assert_eq!(server.asked.lock().unwrap().len(), 1, "only the open one was asked");
}

#[test]
fn a_list_that_is_switched_off_blocks_nothing() {
    let server = serve(|_, _| (200, "Content-Type: text/plain\r\n".into(), "words"));
    let (_folder, runtime) = runtime(&LISTS.replace("enabled: true", "enabled: false"), &[]);

    assert_eq!(row(&runtime, &server.address)["content"], "words");
}

#[test]
fn a_provider_is_no_way_around_the_rules() {
    let server = serve(|_, body| {
        let asked: Value = serde_json::from_str(body).unwrap();
        let url = asked["urls"][0].as_str().unwrap();
        // It followed a redirect that we did not see.
        let end = if url.contains("short") { "https://x.news.example/long" } else { url };
        let page = json!({ "results": [{ "url": end, "title": "T", "raw_content": "Words." }] });
        (200, "Content-Type: application/json\r\n".into(), page.to_string())
    });
    let variables = [("TAVILY_API_KEY", "k"), ("TAVILY_BASE_URL", server.address.as_str())];
    let config = "security:\n  website_blocklist:\n    domains: [news.example]\n";
    let (_folder, runtime) = runtime(config, &variables);

    assert!(why(&runtime, "https://news.example/a").contains("`news.example`"));
    assert!(why(&runtime, "http://192.168.0.1/admin").contains("private"));
    assert!(server.asked.lock().unwrap().is_empty(), "nobody was asked");
    assert!(why(&runtime, "https://short.example/1").contains("`news.example`"));
    assert_eq!(row(&runtime, "https://open.example/1")["content"], "Words.");
}

#[test]
fn what_others_would_fetch_for_a_tool_is_judged_as_well() {
    let config =
        "video_gen:\n  provider: xai\nsecurity:\n  website_blocklist:\n    domains: [films.example]\n";
    let (_folder, runtime) =
        runtime(config, &[("XAI_API_KEY", "k"), ("XAI_BASE_URL", "http://127.0.0.1:9/v1")]);
    runtime.run_unasked(true);

    for url in ["https://films.example/a.mp4", "http://169.254.169.254/latest"] {
        let arguments = json!({ "prompt": "x", "video_url": url });
        let text = call(&runtime, "xai_video_edit", &arguments).to_string();
        assert!(text.contains("blocked by") || text.contains("metadata"), "{text}");
    }
}
