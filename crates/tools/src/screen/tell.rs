//! What was seen and done, in words for models and for people who are asked.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::script::{Spot, Step, Target};
use super::seen::{Frame, Window};

/// Most characters of a text that is shown to a person.
const MAX_SHOWN: usize = 120;

/// What is done, as a person is asked about it.
pub(crate) fn step(step: &Step, target: &Target) -> String {
    let place = match target {
        Target::Screen => "on the screen".to_owned(),
        Target::Window(id) => format!("in window {id}"),
        Target::App(name) => format!("in {name}"),
        Target::Pid(pid) => format!("in process {pid}"),
    };
    match step {
        Step::Click { spot, button, times, held } => {
            let held = held.iter().copied().chain([""]).collect::<Vec<_>>().join("+");
            let what = match button {
                2 => "middle-clicks",
                3 => "right-clicks",
                4 => "scrolls up",
                5 => "scrolls down",
                6 => "scrolls left",
                7 => "scrolls right",
                _ if *times > 1 => "double-clicks",
                _ => "clicks",
            };
            format!("{held}{what} {} {place}", at(*spot))
        }
        Step::Drag { from, to, .. } => format!("drags from {} to {} {place}", at(*from), at(*to)),
        Step::Type(text) => format!("types {} {place}", shown(text)),
        Step::Key(keys) => format!("presses {keys} {place}"),
        Step::SetValue(element, value) => format!("writes {} into element {element} {place}", shown(value)),
        Step::Focus => format!("brings a window to the front, {place}"),
    }
}

fn at(spot: Spot) -> String {
    match spot {
        Spot::At(x, y) => format!("at ({x}, {y})"),
        Spot::Element(id) => format!("at element {id}"),
    }
}

fn shown(text: &str) -> String {
    let long = text.chars().count() > MAX_SHOWN;
    let kept: String = text.chars().take(MAX_SHOWN).collect();
    format!("{kept:?}{}", if long { "…" } else { "" })
}

/// Windows, with their places in the picture; those in front come last.
pub(crate) fn windows(windows: &[&Window], frame: &Frame, most: u32) -> Value {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let passed_over = windows.len().saturating_sub(most);
    windows.iter().skip(passed_over).map(|window| one(window, frame)).collect()
}

fn one(window: &Window, frame: &Frame) -> Value {
    let mut told =
        json!({ "element": window.id, "bounds": frame.place(window.place), "depth": window.depth });
    if let Some(fields) = told.as_object_mut() {
        let more = [
            ("title", window.title.as_ref().map(|title| json!(title))),
            ("app", window.app.as_ref().map(|app| json!(app))),
            ("pid", window.pid.map(|pid| json!(pid))),
        ];
        fields.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    told
}

/// The programs that have a window, with the windows of each.
pub(crate) fn apps(windows: &[Window]) -> Value {
    let mut apps: BTreeMap<(&str, Option<u32>), Vec<Value>> = BTreeMap::new();
    for window in windows.iter().filter(|window| window.title.is_some() || window.app.is_some()) {
        let name = window.app.as_deref().or(window.title.as_deref()).unwrap_or_default();
        let told = json!({ "window_id": window.id, "title": window.title });
        apps.entry((name, window.pid)).or_default().push(told);
    }
    let one = |((name, pid), windows): ((&str, Option<u32>), Vec<Value>)| json!({ "app": name, "pid": pid, "windows": windows });
    apps.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_about_what_will_happen() {
        let click = Step::Click { spot: Spot::At(3, 4), button: 3, times: 1, held: vec!["ctrl"] };

        assert_eq!(step(&click, &Target::Screen), "ctrl+right-clicks at (3, 4) on the screen");
        let typed = Step::Type(format!("a\n{}", "b".repeat(200)));
        let told = step(&typed, &Target::App("XTerm".to_owned()));
        assert!(told.starts_with("types \"a\\nbbb") && told.ends_with("… in XTerm"), "{told}");
        assert_eq!(step(&Step::Focus, &Target::Pid(7)), "brings a window to the front, in process 7");
    }
}
