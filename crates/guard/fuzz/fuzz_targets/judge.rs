//! Any bytes as a command: no panic, no more work than its length pays for, spans inside the text.
#![no_main]

use hermes_guard::{Context, judge, steps};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let context = Context::new("/home/user/project", "/home/user");
    let judgement = judge(&text, &context);
    for finding in &judgement.findings {
        let span = finding.effect.span;
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} outside of {}", text.len());
    }
    let steps = steps(&text, &context);
    assert!(steps <= 600_000 + 12 * text.len(), "{steps} steps for {} bytes", text.len());
});
