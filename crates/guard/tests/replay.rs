//! What the fuzzer found interesting, judged again: see `scripts/fuzz`.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "it reads the kept inputs")]

use std::fs;
use std::path::Path;

use hermes_guard::{Context, Verdict, judge, steps};

/// Every kept input: its name and its text.
fn kept() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus-kept");
    let mut inputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let text = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
            (file.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    inputs.sort();
    inputs
}

fn context() -> Context {
    Context::new("/home/user/project", "/home/user")
}

#[test]
fn every_kept_input_is_judged_in_bounded_steps_with_spans_inside() {
    let kept = kept();
    assert!(kept.len() >= 100, "{} inputs", kept.len());

    for (name, text) in kept {
        for finding in judge(&text, &context()).findings {
            let span = finding.effect.span;
            assert!(span.start <= span.end && span.end <= text.len(), "{name}: {span:?}");
        }
        assert!(steps(&text, &context()) <= 600_000 + 12 * text.len(), "{name}");
    }
}

#[test]
fn no_kept_input_hides_a_danger_that_stands_before_it() {
    let mut hidden = Vec::new();
    for (name, text) in kept() {
        let judgement = judge(&format!("rm -rf /opt/data\n{text}"), &context());
        if judgement.verdict == Verdict::Allow {
            hidden.push(name);
        }
    }

    assert!(hidden.is_empty(), "{hidden:?}");
}
