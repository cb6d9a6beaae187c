//! Any bytes as a command: no panic, no endless work, spans inside the text.
#![no_main]

use hermes_guard::{Context, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let judgement = judge(&text, &Context::new("/home/user/project", "/home/user"));
    for finding in &judgement.findings {
        assert!(
            finding.effect.span.start <= finding.effect.span.end && finding.effect.span.end <= text.len()
        );
    }
});
