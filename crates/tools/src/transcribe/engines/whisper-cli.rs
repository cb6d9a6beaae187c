//! whisper.cpp, with a model file that the settings name. It wants a plain recording, which ffmpeg makes.

use crate::template::line;
use crate::transcribe::plan::{Engine, Wish};

pub(crate) const ENGINE: Engine = Engine {
    name: "whisper-cli",
    order: 30,
    program: Some("whisper-cli"),
    had_by: "on Debian: apt install whisper.cpp",
    script: None,
    line: command,
};

fn command(wish: &Wish<'_>) -> Result<String, String> {
    let model = wish.model.as_deref().ok_or("whisper-cli needs stt.local.model, the path of a model file")?;
    let (input, base) = (wish.input.to_string_lossy(), wish.base.to_string_lossy());
    let plain = wish.plain();
    let plain = plain.to_string_lossy();
    let convert = line(&[
        "ffmpeg",
        "-nostdin",
        "-loglevel",
        "error",
        "-y",
        "-i",
        &input,
        "-vn",
        "-ar",
        "16000",
        "-ac",
        "1",
        &plain,
    ]);
    let language = wish.language.as_deref().unwrap_or("auto");
    let listen =
        line(&[wish.program, "-m", model, "-f", &plain, "-l", language, "-np", "-otxt", "-of", &base]);
    Ok(format!("{convert} && {listen}"))
}
