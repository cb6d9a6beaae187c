//! From what a script wrote to windows and a picture. Pure, and made for anything a program may write.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::pictures;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// Why the script ended early.
    pub(crate) error: Option<String>,
    /// Whether it came to its end.
    pub(crate) done: bool,
    /// Where the target is.
    pub(crate) target: Place,
    /// The windows that can be seen, from the back to the front.
    pub(crate) windows: Vec<Window>,
    /// A PNG picture.
    pub(crate) picture: Option<Vec<u8>>,
}

/// A window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its number.
    pub(crate) id: u32,
    /// How deep it lies below the target.
    pub(crate) depth: usize,
    /// Its title.
    pub(crate) title: Option<String>,
    /// The program it belongs to.
    pub(crate) app: Option<String>,
    /// Its process.
    pub(crate) pid: Option<u32>,
    /// Where it is.
    pub(crate) place: Place,
}

/// Left edge, upper edge, width, height, in dots of the screen.
pub(crate) type Place = (i32, i32, u32, u32);

impl Seen {
    /// Where dots of the screen are in the picture of the target.
    pub(crate) fn frame(&self) -> Frame {
        let (x, y, width, height) = self.target;
        let of = width.max(height).max(1);
        let picture = self.picture.as_deref().and_then(pictures::size);
        Frame { origin: (x, y), times: of.min(super::LONGEST_SIDE), of, picture }
    }
}

/// Where dots of the screen are in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    origin: (i32, i32),
    times: u32,
    of: u32,
    /// Size of the picture.
    pub(crate) picture: Option<(u32, u32)>,
}

impl Frame {
    /// A window's place in the picture.
    pub(crate) fn place(&self, (x, y, width, height): Place) -> [i64; 4] {
        let scaled = |dots: i64| dots * i64::from(self.times) / i64::from(self.of.max(1));
        [
            scaled(i64::from(x) - i64::from(self.origin.0)),
            scaled(i64::from(y) - i64::from(self.origin.1)),
            scaled(i64::from(width)),
            scaled(i64::from(height)),
        ]
    }
}

/// Reads what a script wrote.
pub(crate) fn read(output: &str) -> Seen {
    let mut seen = Seen::default();
    let (mut visible, mut pids) = (BTreeSet::new(), BTreeMap::new());
    let mut part = "";
    for line in output.lines() {
        if let Some(marked) = line.strip_prefix('@') {
            let (word, rest) = marked.split_once(' ').unwrap_or((marked, ""));
            part = word;
            match word {
                "error" => seen.error = Some(rest.trim().to_owned()),
                "done" => seen.done = true,
                "target" => seen.target = target(rest).unwrap_or_default(),
                "picture" => seen.picture = STANDARD.decode(rest.trim()).ok(),
                _ => {}
            }
            continue;
        }
        match part {
            "visible" => visible.extend(line.trim().parse::<u32>().ok()),
            "tree" => seen.windows.extend(window(line)),
            "processes" => {
                if let Some((id, pid)) = line.trim().split_once(' ')
                    && let (Ok(id), Ok(pid)) = (id.parse::<u32>(), pid.trim().parse::<u32>())
                {
                    pids.insert(id, pid);
                }
            }
            _ => {}
        }
    }
    seen.windows.retain(|window| visible.contains(&window.id));
    for window in &mut seen.windows {
        window.pid = pids.get(&window.id).copied();
    }
    // A tree lists what is in front first.
    seen.windows.reverse();
    seen
}

/// The target's number, or `root`, then its width, height, left and upper edge.
fn target(words: &str) -> Option<Place> {
    let mut words = words.split_whitespace().skip(1);
    let (width, height) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, width, height))
}

/// A line such as `   0x400031 "title": ("name" "Class")  62x52+4+4  +5+30`.
fn window(line: &str) -> Option<Window> {
    let inner = line.trim_start();
    let depth = (line.len() - line.trim_start().len()) / 3;
    let (id, rest) = inner.strip_prefix("0x")?.split_once(' ')?;
    let id = u32::from_str_radix(id, 16).ok()?;
    // The title may have anything in it; what comes after it has not.
    let (before, numbers) = rest.rsplit_once(")  ")?;
    let (named, class) = before.rsplit_once(": (")?;
    let title = named.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let app = class.rsplit_once(' ').map_or(class, |(_, class)| class).trim_matches('"');
    let (size, at) = numbers.trim().split_once("  ")?;
    let (width, rest) = size.split_once('x')?;
    let height: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let (x, y) = spot(at.trim())?;
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let place = (x, y, width.parse().ok()?, height.parse().ok()?);
    Some(Window { id, depth, title: title.and_then(said), app: said(app), pid: None, place })
}

/// `+5+30`, where each number may be negative: `+-5+30`.
fn spot(text: &str) -> Option<(i32, i32)> {
    let (x, y) = text.strip_prefix('+')?.split_once('+')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OUTPUT: &str = "@target root 2912 1000 0 0\n@visible\n4194353\n4194358\n@tree\n\n\
        xwininfo: Window id: 0x50d (the root window) (has no name)\n\n  Root window id: 0x50d (the root window)\n\
        \x20    2 children:\n\
        \x20    0x400031 \"a: (b) \"c\"\": (\"xmessage\" \"Xmessage\")  62x52+0+0  +0+0\n\
        \x20       0x400036 (has no name): ()  20x17+4+29  +-5+30\n\
        \x20    0x20000c \"hidden\": (\"xterm\" \"XTerm\")  484x316+0+0  +0+0\n\
        @processes\n4194353 77\n4194358 \n@done\n";

    #[test]
    fn windows_that_can_be_seen_are_told_with_where_they_are() {
        let seen = read(OUTPUT);

        assert!(seen.done && seen.error.is_none());
        let [inner, outer] = seen.windows.as_slice() else { panic!("{:?}", seen.windows) };
        assert_eq!(
            (outer.id, outer.title.as_deref(), outer.pid),
            (0x40_0031, Some("a: (b) \"c\""), Some(77))
        );
        assert_eq!((outer.app.as_deref(), outer.place), (Some("Xmessage"), (0, 0, 62, 52)));
        assert_eq!(
            (inner.title.as_deref(), inner.app.as_deref(), inner.place),
            (None, None, (-5, 30, 20, 17))
        );
        assert!(inner.depth > outer.depth);
    }

    #[test]
    fn places_are_told_in_dots_of_the_picture() {
        let frame = read(OUTPUT).frame();

        assert_eq!(frame.place((100, 50, 20, 10)), [50, 25, 10, 5]);
    }

    #[test]
    fn why_a_script_ended_is_told() {
        let seen = read("@target root 10 10 0 0\n@error no such window is visible\n");

        assert_eq!((seen.error.as_deref(), seen.done), (Some("no such window is visible"), false));
    }

    proptest! {
        #[test]
        fn any_output_ends_in_an_answer(output in "(@(target|tree|visible|processes|picture|done)[ \n])?[ -~\n]{0,200}") {
            let seen = read(&output);
            let frame = seen.frame();
            for window in &seen.windows {
                frame.place(window.place);
            }
        }
    }
}
