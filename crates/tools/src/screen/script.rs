//! From what is wanted of the screen to one shell script. Pure.
//!
//! A script ends at the first thing that fails, and then says why on a line that begins with `@error`.
//! Values from outside go in as numbers or between single quotes, and nothing else of them is text of
//! the script.

use std::fmt::Write as _;

use super::LONGEST_SIDE;

/// What mouse and keyboard are aimed at: coordinates are counted in its picture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Target {
    /// The whole screen.
    #[default]
    Screen,
    /// A window, by its number.
    Window(u32),
    /// The first window of a program, or one with such a title.
    App(String),
    /// The first window of a process.
    Pid(u32),
}

/// Where the mouse goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    /// A dot of the target's picture.
    At(i32, i32),
    /// The middle of a window.
    Element(u32),
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Presses a button of the mouse so many times, with keys held.
    Click { spot: Spot, button: u8, times: u32, held: Vec<&'static str> },
    /// Holds the left button from one spot to another.
    Drag { from: Spot, to: Spot, held: Vec<&'static str> },
    /// Types a text.
    Type(String),
    /// Presses a combination of keys.
    Key(String),
    /// Puts a text in the place of what a window's field holds.
    SetValue(u32, String),
    /// Brings a window to the front.
    Focus,
}

/// Whether input goes to the window alone, or to whatever is in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Delivery {
    /// As if a person did it.
    #[default]
    Foreground,
    /// Handed to the window, wherever it is; some programs do not listen to that.
    Background,
}

/// What is looked at, after all else is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    /// Windows, with where they are.
    pub(crate) windows: bool,
    /// The processes of windows that have a title.
    pub(crate) processes: bool,
    /// A picture.
    pub(crate) picture: bool,
}

/// All of one call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    pub(crate) target: Target,
    pub(crate) raise: bool,
    pub(crate) delivery: Delivery,
    pub(crate) step: Option<Step>,
    pub(crate) look: Look,
}

/// How every script begins.
const BEGINNING: &str = "\
die() { printf '@error %s\\n' \"$*\"; exit 1; }
place_of() { xwininfo -id \"$1\" 2>/dev/null | \
awk '/Width:/{w=$2} /Height:/{h=$2} /Absolute upper-left X:/{x=$4} /Absolute upper-left Y:/{y=$4} END{print w+0, h+0, x+0, y+0}'; }
xdotool getdisplaygeometry >/dev/null 2>&1 || die 'the display does not answer'
";

/// The script.
pub(crate) fn script(wanted: &Wanted) -> String {
    let mut text = BEGINNING.to_owned();
    let target = aim(&mut text, &wanted.target);
    if wanted.raise || wanted.step == Some(Step::Focus) {
        focus(&mut text, target);
    }
    if let Some(step) = &wanted.step {
        act(&mut text, step, target, wanted.delivery);
        if wanted.look != Look::default() {
            line(&mut text, "sleep 0.4");
        }
    }
    look(&mut text, target, wanted.look);
    line(&mut text, "printf '@done\\n'");
    text
}

fn line(text: &mut String, words: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{words}");
}

/// The word by which a script calls its target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aimed {
    Screen,
    Window,
}

/// Finds the target and its size.
fn aim(text: &mut String, target: &Target) -> Aimed {
    let found = match target {
        Target::Screen => {
            line(text, "T=root");
            line(text, "X=0; Y=0; read -r W H <<EOF\n$(xdotool getdisplaygeometry)\nEOF");
            scale(text);
            return Aimed::Screen;
        }
        Target::Window(id) => format!("T={id}"),
        Target::Pid(pid) => {
            format!("T=$(xdotool search --onlyvisible --pid {pid} 2>/dev/null | head -n 1)")
        }
        Target::App(name) => {
            let name = quoted(&escaped(name));
            format!(
                "T=$(xdotool search --onlyvisible --class {name} 2>/dev/null | head -n 1)\n\
                 [ -n \"$T\" ] || T=$(xdotool search --onlyvisible --name {name} 2>/dev/null | head -n 1)"
            )
        }
    };
    line(text, &found);
    line(text, "[ -n \"$T\" ] || die 'no such window is visible'");
    line(text, "read -r W H X Y <<EOF\n$(place_of \"$T\")\nEOF");
    line(text, "[ \"$W\" -gt 0 ] || die \"there is no window $T\"");
    scale(text);
    Aimed::Window
}

/// `S` dots of the target are [`LONGEST_SIDE`] dots of its picture, or as many where it is small enough.
fn scale(text: &mut String) {
    line(
        text,
        &format!("S=$W; [ \"$H\" -gt \"$S\" ] && S=$H; [ \"$S\" -gt {LONGEST_SIDE} ] || S={LONGEST_SIDE}"),
    );
    line(text, "printf '@target %s %s %s %s %s\\n' \"$T\" \"$W\" \"$H\" \"$X\" \"$Y\"");
}

fn focus(text: &mut String, target: Aimed) {
    if target == Aimed::Screen {
        return;
    }
    line(text, "xdotool windowraise \"$T\" || die \"window $T cannot be raised\"");
    // Where there is a window manager it has a say; where there is none, the second works.
    line(
        text,
        "xdotool windowactivate \"$T\" 2>/dev/null; xdotool windowfocus \"$T\" 2>/dev/null; sleep 0.2",
    );
}

fn act(text: &mut String, step: &Step, target: Aimed, delivery: Delivery) {
    let to = match (target, delivery) {
        (Aimed::Window, Delivery::Background) => "--window \"$T\" ",
        _ => "",
    };
    match step {
        Step::Focus => {}
        Step::Click { spot, button, times, held } => {
            go(text, *spot, target);
            hold(text, held, "keydown");
            line(text, &format!("xdotool click {to}--repeat {times} --delay 60 {button} || die 'no click'"));
            hold(text, held, "keyup");
        }
        Step::Drag { from, to, held } => {
            go(text, *from, target);
            hold(text, held, "keydown");
            line(text, "xdotool mousedown 1; sleep 0.1");
            go(text, *to, target);
            line(text, "sleep 0.1; xdotool mouseup 1");
            hold(text, held, "keyup");
        }
        Step::Type(words) => typed(text, words, to),
        Step::Key(keys) => {
            line(text, &format!("xdotool key {to}--clearmodifiers {keys} || die 'no key'"));
        }
        Step::SetValue(element, value) => {
            go(text, Spot::Element(*element), target);
            line(text, "xdotool click 1; sleep 0.1; xdotool key --clearmodifiers ctrl+a");
            typed(text, value, "");
        }
    }
}

fn typed(text: &mut String, words: &str, to: &str) {
    line(
        text,
        &format!("xdotool type {to}--clearmodifiers --delay 8 -- {} || die 'not typed'", quoted(words)),
    );
}

fn hold(text: &mut String, held: &[&str], how: &str) {
    for key in held {
        line(text, &format!("xdotool {how} {key}"));
    }
}

/// Moves the mouse.
fn go(text: &mut String, spot: Spot, target: Aimed) {
    let moved = match spot {
        Spot::At(x, y) => {
            let window = if target == Aimed::Window { "--window \"$T\" " } else { "" };
            format!(
                "xdotool mousemove {window}$(( {x} * S / {LONGEST_SIDE} )) $(( {y} * S / {LONGEST_SIDE} )) \
                 || die 'the mouse does not move'"
            )
        }
        Spot::Element(id) => format!(
            "read -r EW EH _ <<EOF\n$(place_of {id})\nEOF\n\
             [ \"$EW\" -gt 0 ] || die 'there is no element {id}; capture again'\n\
             xdotool mousemove --window {id} $(( EW / 2 )) $(( EH / 2 )) || die 'the mouse does not move'"
        ),
    };
    line(text, &moved);
}

fn look(text: &mut String, target: Aimed, look: Look) {
    if look.windows {
        line(text, "printf '@visible\\n'; xdotool search --onlyvisible --name '.*' 2>/dev/null");
        let of = if target == Aimed::Screen { "-root" } else { "-id \"$T\"" };
        line(text, &format!("printf '@tree\\n'; xwininfo {of} -tree 2>/dev/null"));
    }
    if look.processes {
        line(
            text,
            "printf '@processes\\n'; for id in $(xdotool search --onlyvisible --name '.' 2>/dev/null | head -n 100); \
             do printf '%s %s\\n' \"$id\" \"$(xdotool getwindowpid \"$id\" 2>/dev/null)\"; done",
        );
    }
    if look.picture {
        line(
            text,
            &format!(
                "P=$(import -silent -window \"$T\" -resize '{LONGEST_SIDE}x{LONGEST_SIDE}>' png:- 2>/dev/null | base64 -w0)"
            ),
        );
        line(text, "[ -n \"$P\" ] || die 'no picture could be taken'");
        line(text, "printf '@picture %s\\n' \"$P\"");
    }
}

/// Between single quotes, as a shell reads it.
fn quoted(words: &str) -> String {
    format!("'{}'", words.replace('\'', "'\\''"))
}

/// A name with nothing in it that a regular expression would see.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if "\\.^$*+?()[]{}|".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(step: Step) -> String {
        script(&Wanted { step: Some(step), ..Wanted::default() })
    }

    #[test]
    fn what_is_typed_stays_between_quotes() {
        let text = of(Step::Type("it's $(id) `x` \"y\"".to_owned()));

        assert!(text.contains("-- 'it'\\''s $(id) `x` \"y\"' ||"), "{text}");
    }

    #[test]
    fn names_of_programs_are_no_expressions() {
        let target = Target::App("a.b*'c".to_owned());

        let text = script(&Wanted { target, ..Wanted::default() });

        assert!(text.contains(r"--class 'a\.b\*'\''c' "), "{text}");
    }

    #[test]
    fn nothing_is_looked_at_that_was_not_asked_for() {
        let click = Step::Click { spot: Spot::At(3, 4), button: 1, times: 2, held: vec!["ctrl"] };

        let text = of(click);

        assert!(text.contains("mousemove $(( 3 * S / 1456 )) $(( 4 * S / 1456 ))"), "{text}");
        assert!(text.contains("click --repeat 2 --delay 60 1"), "{text}");
        assert!(text.contains("keydown ctrl") && text.contains("keyup ctrl"), "{text}");
        assert!(!text.contains("import") && !text.contains("@tree"), "{text}");
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_one_word(words in ".{0,60}") {
            let quoted = quoted(&words);
            let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap();
            prop_assert_eq!(inner.replace("'\\''", "'"), words);
            prop_assert!(!inner.replace("'\\''", "").contains('\''));
        }
    }
}
