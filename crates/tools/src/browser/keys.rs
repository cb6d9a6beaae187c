//! Names of keys, as people and models write them, and what the browser wants to know about each.

/// A key press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Press {
    /// What the page is told was pressed: `Enter`, `a`.
    pub(crate) key: String,
    /// The place on the keyboard: `Enter`, `KeyA`.
    pub(crate) code: String,
    /// Its old number.
    pub(crate) number: u32,
    /// What it writes, if it writes something.
    pub(crate) text: Option<String>,
    /// Alt 1, Control 2, Meta 4, Shift 8.
    pub(crate) modifiers: u8,
    /// What an editor would do with it, where headless browsers have to be told.
    pub(crate) commands: Vec<&'static str>,
}

/// Keys with a name: name, code, number, text.
const NAMED: [(&str, &str, u32, Option<&str>); 27] = [
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Insert", "Insert", 45, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    (" ", "Space", 32, Some(" ")),
    ("F1", "F1", 112, None),
    ("F2", "F2", 113, None),
    ("F3", "F3", 114, None),
    ("F4", "F4", 115, None),
    ("F5", "F5", 116, None),
    ("F6", "F6", 117, None),
    ("F7", "F7", 118, None),
    ("F8", "F8", 119, None),
    ("F9", "F9", 120, None),
    ("F10", "F10", 121, None),
    ("F11", "F11", 122, None),
    ("F12", "F12", 123, None),
];

/// Other words for keys.
const ALSO: [(&str, &str); 14] = [
    ("return", "Enter"),
    ("esc", "Escape"),
    ("del", "Delete"),
    ("ins", "Insert"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("space", " "),
    ("spacebar", " "),
    ("pgup", "PageUp"),
    ("pgdn", "PageDown"),
    ("pgdown", "PageDown"),
    ("bksp", "Backspace"),
];

/// Words for keys that are held while another is pressed.
const HELD: [(&str, u8); 9] = [
    ("alt", 1),
    ("option", 1),
    ("control", 2),
    ("ctrl", 2),
    ("meta", 4),
    ("cmd", 4),
    ("command", 4),
    ("super", 4),
    ("shift", 8),
];

/// Reads `Enter`, `a`, `Control+a`, `Shift+Tab`.
pub(crate) fn parse(text: &str) -> Result<Press, String> {
    let text = if text == " " { text } else { text.trim() };
    let mut modifiers = 0;
    let mut rest = text;
    // A plus at the end is the key itself.
    while let Some((held, after)) =
        rest.split_once('+').filter(|(held, after)| !held.is_empty() && !after.is_empty())
    {
        let held = held.trim().to_ascii_lowercase();
        let known = HELD.iter().find(|(word, _)| *word == held);
        modifiers |=
            known.ok_or_else(|| format!("{held:?} is no key that is held while another is pressed"))?.1;
        rest = if after == " " { after } else { after.trim_start() };
    }
    let lower = rest.to_ascii_lowercase();
    let name = ALSO.iter().find(|(word, _)| *word == lower).map_or(rest, |(_, name)| name);
    if let Some((key, code, number, text)) = NAMED.iter().find(|(key, ..)| key.eq_ignore_ascii_case(name)) {
        let text = text.filter(|_| modifiers & !8 == 0).map(str::to_owned);
        let (key, code) = ((*key).to_owned(), (*code).to_owned());
        return Ok(Press { key, code, number: *number, text, modifiers, commands: Vec::new() });
    }
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) if !one.is_control() => Ok(character(one, modifiers)),
        _ => Err(format!(
            "{text:?} is no key; keys are Enter, Tab, Escape, ArrowDown, a, Control+a and the like"
        )),
    }
}

fn character(one: char, modifiers: u8) -> Press {
    let upper = one.to_ascii_uppercase();
    let code = match upper {
        'A'..='Z' => format!("Key{upper}"),
        '0'..='9' => format!("Digit{upper}"),
        _ => String::new(),
    };
    let number = if code.is_empty() { 0 } else { u32::from(upper) };
    let writes = modifiers & !8 == 0;
    let shown = if modifiers & 8 != 0 { upper } else { one };
    let commands = match (modifiers & 6 != 0, one.to_ascii_lowercase()) {
        (true, 'a') => vec!["selectAll"],
        (true, 'c') => vec!["copy"],
        (true, 'v') => vec!["paste"],
        (true, 'x') => vec!["cut"],
        (true, 'z') => vec!["undo"],
        _ => Vec::new(),
    };
    let text = writes.then(|| shown.to_string());
    Press { key: shown.to_string(), code, number, text, modifiers, commands }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_known_by_the_names_people_use() {
        for (text, key, modifiers, writes) in [
            ("Enter", "Enter", 0, Some("\r")),
            ("return", "Enter", 0, Some("\r")),
            ("esc", "Escape", 0, None),
            ("Shift+Tab", "Tab", 8, None),
            ("Control+a", "a", 2, None),
            ("ctrl + shift + K", "K", 10, None),
            ("a", "a", 0, Some("a")),
            ("Shift+a", "A", 8, Some("A")),
            ("+", "+", 0, Some("+")),
            ("Control++", "+", 2, None),
            ("é", "é", 0, Some("é")),
            (" ", " ", 0, Some(" ")),
            ("down", "ArrowDown", 0, None),
        ] {
            let press = parse(text).unwrap();
            assert_eq!(
                (press.key.as_str(), press.modifiers, press.text.as_deref()),
                (key, modifiers, writes),
                "{text}"
            );
        }
        assert_eq!(parse("Control+a").unwrap().commands, ["selectAll"]);
        for wrong in ["", "Enterr", "Hyper+a", "ab"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_key_or_an_error(text in ".{0,12}") {
            let _ = parse(&text);
        }
    }
}
