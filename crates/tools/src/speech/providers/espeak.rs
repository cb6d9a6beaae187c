//! eSpeak NG: a small program that speaks, without any key and without the network.

use hermes_core::keys::Keys;

use crate::speech::voice::{Program, Provider, Way};

pub(crate) const PROVIDER: Provider = Provider::new("espeak", 5_000, Way::Program(PROGRAM));

const PROGRAM: Program =
    Program { name: "espeak-ng", had_by: "on Debian: apt install espeak-ng", line: command };

fn command(keys: &dyn Keys) -> Vec<String> {
    let mut words = vec!["espeak-ng".to_owned(), "--stdin".to_owned(), "--stdout".to_owned()];
    if let Some(voice) = keys.text("tts.espeak.voice") {
        words.extend(["-v".to_owned(), voice]);
    }
    // Words per minute, and how high.
    for (flag, key) in [("-s", "tts.espeak.speed"), ("-p", "tts.espeak.pitch")] {
        if let Some(number) = keys.setting(key).and_then(|value| value.as_u64()) {
            words.extend([flag.to_owned(), number.to_string()]);
        }
    }
    words
}
