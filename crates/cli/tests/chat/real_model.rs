//! A real, small model behind a real server answers through `hermes chat`. The testbed `smollm` says
//! where both are.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::home::Home;
use crate::stage::lines;

/// A server that ends with its standard input.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// The real model; none where the testbed is not prepared, which is a failure in CI.
    fn start() -> Option<Self> {
        let [python, server, model] =
            ["SMOLLM_PYTHON", "SMOLLM_SERVER", "SMOLLM_MODEL"].map(std::env::var_os);
        let (Some(python), Some(server), Some(model)) = (python, server, model) else {
            assert!(std::env::var_os("CI").is_none(), "the testbed smollm is not prepared");
            eprintln!("NOT RUN: no real model here; scripts/testbeds/smollm prepares one");
            return None;
        };
        let mut command = Command::new(python);
        command.arg(server).arg(model);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "the server did not say where it is: {url:?}");
        Some(Self { child, url: url.trim().to_owned() })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_model_answers_word_by_word() {
    let Some(served) = Served::start() else { return };
    // Always its likeliest word: what it says is the same every time.
    let config = format!(
        "model:\n  default: smollm2\n  provider: tiny\n  context_length: 8192\n  max_tokens: 60\n\
         providers:\n  tiny:\n    base_url: {}/v1\n    extra_body:\n      temperature: 0\n\
         agent:\n  turn_timeout: 300\n",
        served.url
    );
    let home = Home::configured(&config);

    let said = home.run(&[
        "chat",
        "-q",
        "Say hello to Ann in one short sentence.",
        "--toolsets",
        "todo",
        "--output-format",
        "stream-json",
    ]);

    assert_eq!(said.code, Some(0), "{said:?}");
    let events = lines(&said.out);
    let words = events.iter().filter(|event| event["type"] == "text").count();
    let end = events.last().unwrap();
    assert!(words > 1, "{events:?}");
    assert_eq!((end["type"].as_str(), end["status"].as_str()), (Some("turn_ended"), Some("answered")));
    assert!(!end["text"].as_str().unwrap().trim().is_empty(), "{end}");
    assert!(end["usage"]["output"].as_u64().unwrap() > 0, "{end}");
}
