//! `web_search` with a real searx, the program that `SearXNG` was made from: it searches a server of the test
//! and answers as it answers anybody.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{call, runtime, serve};

/// A searx that is gone with its owner.
struct Searx(Child);

impl Drop for Searx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Its configuration: one engine, which asks the server of the test.
fn settings(port: u16, engine: &str) -> String {
    let resources = "/usr/share/python3-searx";
    format!(
        "use_default_settings: False
general: {{debug: False, instance_name: test}}
search: {{safe_search: 0, autocomplete: '', default_lang: '', formats: [html, json], ban_time_on_fail: 1, max_ban_time_on_fail: 1}}
server: {{port: {port}, bind_address: 127.0.0.1, secret_key: for a test, base_url: False, image_proxy: False, http_protocol_version: '1.0', method: GET}}
ui: {{static_path: {resources}/static, templates_path: {resources}/templates, default_theme: oscar, default_locale: en, theme_args: {{oscar_style: logicodev}}}}
outgoing: {{request_timeout: 10.0, useragent_suffix: '', pool_connections: 10, pool_maxsize: 10}}
engines:
  - {{name: local, engine: json_engine, shortcut: lo, categories: general, enable_http: True, paging: False,
     search_url: '{engine}/find?q={{query}}', results_query: rows, url_query: url, title_query: title, content_query: about}}
locales: {{en: English}}
doi_resolvers: {{oadoi.org: 'https://oadoi.org/'}}
default_doi_resolver: oadoi.org
checker: {{off_when_debug: True}}
"
    )
}

fn start(python: &str, port: u16, file: &std::path::Path) -> Searx {
    let mut command = Command::new(python);
    command.args(["-m", "searx.webapp"]).env("SEARX_SETTINGS_PATH", file);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (searx, began) = (Searx(child), Instant::now());
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < Duration::from_mins(1), "searx did not start");
        std::thread::sleep(Duration::from_millis(100));
    }
    searx
}

#[test]
fn a_real_searx_is_searched() {
    let Ok(python) = std::env::var("HERMES_TEST_SEARX_PYTHON") else {
        assert!(std::env::var_os("CI").is_none(), "scripts/testbeds/searx was not run");
        eprintln!("SKIPPED: scripts/testbeds/searx was not run");
        return;
    };
    let engine = serve(|path, _| {
        let row =
            |name: &str| json!({ "url": format!("https://{name}.example/"), "title": name, "about": path });
        let rows = json!({ "rows": [row("first"), row("second"), row("third")] });
        (200, "Content-Type: application/json\r\n".into(), rows.to_string())
    });
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}");
    let (folder, runtime) = runtime("", &[("SEARXNG_URL", &address)]);
    let file = folder.path().join("settings.yml");
    std::fs::write(&file, settings(port, &engine.address)).unwrap();
    let _searx = start(&python, port, &file);

    let answer = call(&runtime, "web_search", &json!({ "query": "lamps & oil", "limit": 2 }));

    assert_eq!(answer["data"]["provider"], "searxng", "{answer}");
    let rows = answer["data"]["data"]["web"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{answer}");
    assert_eq!((&rows[0]["title"], &rows[0]["position"]), (&json!("first"), &json!(1)));
    let asked = engine.asked.lock().unwrap().clone();
    assert!(asked.iter().any(|line| line.contains("lamps") && line.contains("oil")), "{asked:?}");
}
