//! Piper: a program that speaks with the voice in a model file, without the network.

use hermes_core::keys::Keys;

use crate::speech::voice::{Program, Provider, Way};

pub(crate) const PROVIDER: Provider = Provider::new("piper", 5_000, Way::Program(PROGRAM));

const PROGRAM: Program = Program { name: "piper", had_by: "pip install piper-tts", line: command };

fn command(keys: &dyn Keys) -> Vec<String> {
    let model = keys.text("tts.piper.model").or_else(|| keys.text("tts.piper.voice"));
    let model = model.unwrap_or_else(|| "en_US-lessac-medium".to_owned());
    let mut words: Vec<String> = ["piper", "-m", &model, "-f", "-"].map(str::to_owned).into();
    if let Some(speed) =
        keys.setting("tts.piper.speed").and_then(|value| value.as_f64()).filter(|it| *it > 0.0)
    {
        // It wants to be told how long each sound is, not how fast.
        words.extend(["--length-scale".to_owned(), format!("{:.3}", 1.0 / speed)]);
    }
    words
}
