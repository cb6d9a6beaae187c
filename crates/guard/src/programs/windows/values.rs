//! Values of PowerShell expressions, as far as they can be told: texts put together, cut and
//! turned round, and what other programs' variables hold on every Windows machine.

use super::super::encode::decode64;
use crate::walk::{HOLE, HOLE_STR, Origin};

/// Longest text and longest list that are followed.
const LONGEST: usize = 20_000;
const MOST: usize = 512;

/// A list of texts and where it came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    pub(super) list: Vec<String>,
    pub(super) origin: Origin,
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { list: vec![text.into()], origin: Origin::default() }
    }

    pub(super) fn unknown(origin: Origin) -> Self {
        Self { list: vec![HOLE_STR.to_owned()], origin }
    }

    /// Its items with blanks between them, as they are put into a text.
    pub(super) fn joined(&self) -> String {
        self.list.join(" ")
    }

    /// Whether nothing of it is known.
    pub(super) fn is_unknown(&self) -> bool {
        self.list.iter().all(|item| item.chars().all(|c| c == HOLE || c.is_whitespace()))
    }

    fn map(self, change: impl FnMut(&String) -> String) -> Self {
        Self { list: self.list.iter().map(change).collect(), origin: self.origin }
    }

    fn bounded(mut self) -> Self {
        if self.list.len() > MOST || self.list.iter().map(String::len).sum::<usize>() > LONGEST {
            self.list = vec![HOLE_STR.to_owned()];
        }
        self
    }
}

/// `left operator right`; operators in lower case.
pub(super) fn combined(left: Value, operator: &str, right: &Value) -> Value {
    let origin = left.origin.and(right.origin);
    let list = match operator {
        "+" if left.list.len() == 1 => {
            let first = left.list.first().cloned().unwrap_or_default();
            match (first.parse::<i64>(), right.list.first().map(|text| text.parse::<i64>())) {
                (Ok(a), Some(Ok(b))) if right.list.len() == 1 => vec![a.wrapping_add(b).to_string()],
                _ => vec![first + &right.list.join(if right.list.len() > 1 { " " } else { "" })],
            }
        }
        "+" | "," => [left.list, right.list.clone()].concat(),
        "-" => {
            match (left.list.first().map(|a| a.parse::<i64>()), right.list.first().map(|b| b.parse::<i64>()))
            {
                (Some(Ok(a)), Some(Ok(b))) => vec![a.wrapping_sub(b).to_string()],
                _ => vec![HOLE_STR.to_owned()],
            }
        }
        "*" => match (left.list.as_slice(), right.list.first().and_then(|count| count.parse::<usize>().ok()))
        {
            ([text], Some(count)) if count.saturating_mul(text.len()) < LONGEST => vec![text.repeat(count)],
            _ => vec![HOLE_STR.to_owned()],
        },
        ".." => range(&left, right),
        "-f" => left.list.iter().map(|form| formatted(form, &right.list)).collect(),
        "-join" => vec![left.list.join(right.list.first().map_or("", String::as_str))],
        "-replace" | "-creplace" | "-ireplace" => {
            let from = right.list.first().map(String::as_str).unwrap_or_default();
            let to = right.list.get(1).map(String::as_str).unwrap_or_default();
            left.list.iter().map(|text| replaced(text, from, to)).collect()
        }
        "-split" | "-csplit" => {
            let mark = right.list.first().map(|mark| mark.replace('\\', "")).unwrap_or_default();
            left.list.iter().flat_map(|text| split(text, &mark)).collect()
        }
        _ => vec![HOLE_STR.to_owned()],
    };
    Value { list, origin }.bounded()
}

fn split(text: &str, mark: &str) -> Vec<String> {
    if mark.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(mark).map(str::to_owned).collect()
}

/// A plain text is replaced; a pattern that is more than one leaves nothing known.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let plain = from.replace('\\', "");
    if from.is_empty() {
        text.to_owned()
    } else if plain.contains(['.', '*', '+', '?', '[', '(', '^', '$', '|']) && plain.len() == from.len() {
        HOLE_STR.to_owned()
    } else {
        text.replace(&plain, to)
    }
}

fn range(left: &Value, right: &Value) -> Vec<String> {
    let number = |value: &Value| value.list.first().and_then(|text| text.parse::<i32>().ok());
    match (number(left), number(right)) {
        (Some(from), Some(to)) if from.abs_diff(to) < 512 => {
            if from <= to {
                (from..=to).map(|n| n.to_string()).collect()
            } else {
                (to..=from).rev().map(|n| n.to_string()).collect()
            }
        }
        _ => vec![HOLE_STR.to_owned()],
    }
}

/// `'{1}{0}' -f 'a','b'`
fn formatted(form: &str, values: &[String]) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((place, tail)) = after.split_once('}') else {
            rest = after;
            break;
        };
        let number = place.split([',', ':']).next().unwrap_or_default();
        match number.trim().parse::<usize>().ok().and_then(|at| values.get(at)) {
            Some(value) => out.push_str(value),
            None => out.push(HOLE),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// `[type] value`; the type in lower case.
pub(super) fn cast(kind: &str, value: Value) -> Value {
    let kind = kind.rsplit('.').next().unwrap_or(kind);
    let kind = if kind.ends_with('[') { &format!("{kind}]") } else { kind };
    match kind {
        "char" => value.map(|text| letter(text)),
        "char[]" => {
            let numbers = value.list.len() > 1;
            let origin = value.origin;
            let list =
                value
                    .list
                    .iter()
                    .flat_map(|text| {
                        if numbers { vec![letter(text)] } else { text.chars().map(String::from).collect() }
                    })
                    .collect();
            Value { list, origin }.bounded()
        }
        "string" => Value { list: vec![value.joined()], origin: value.origin },
        "int" | "int32" | "byte" | "int[]" | "byte[]" => value.map(|text| {
            let hex = text.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
            hex.map_or_else(
                || {
                    if text.chars().count() == 1 && !text.starts_with(|c: char| c.is_ascii_digit()) {
                        text.chars().next().map_or_else(String::new, |c| u32::from(c).to_string())
                    } else {
                        text.clone()
                    }
                },
                |number| number.to_string(),
            )
        }),
        _ => value,
    }
}

/// The letter with that number.
fn letter(text: &str) -> String {
    let number = text
        .strip_prefix("0x")
        .map_or_else(|| text.parse::<u32>().ok(), |digits| u32::from_str_radix(digits, 16).ok());
    match number.filter(|_| text.len() > 1 || text.is_empty()).and_then(char::from_u32) {
        Some(letter) => letter.to_string(),
        None if text.chars().count() == 1 => text.to_owned(),
        None => HOLE_STR.to_owned(),
    }
}

/// `value[1,2,-1..-3]`
pub(super) fn picked(value: &Value, places: &Value) -> Value {
    let letters: Vec<String> = match value.list.as_slice() {
        [text] => text.chars().map(String::from).collect(),
        list => list.to_vec(),
    };
    let at = |place: &String| {
        let place = place.parse::<i64>().ok()?;
        let count = i64::try_from(letters.len()).ok()?;
        let place = if place < 0 { count + place } else { place };
        usize::try_from(place).ok().and_then(|place| letters.get(place)).cloned()
    };
    let known = !value.is_unknown() && !places.is_unknown();
    let list =
        places.list.iter().map(|place| at(place).filter(|_| known).unwrap_or_else(|| HOLE_STR.to_owned()));
    Value { list: list.collect(), origin: value.origin }.bounded()
}

/// `value.Name(arguments)` of texts; `None` when the name is not one of those. In lower case.
pub(super) fn method(value: &Value, name: &str, args: &[Value]) -> Option<Value> {
    let text = |at: usize| args.get(at).map(Value::joined).unwrap_or_default();
    let number =
        |at: usize| args.get(at).and_then(|arg| arg.list.first()).and_then(|arg| arg.parse::<usize>().ok());
    let each = |change: &dyn Fn(&String) -> String| Some(value.clone().map(|item| change(item)).bounded());
    match name {
        "replace" => {
            let (from, to) = (text(0), text(1));
            each(&|item| if from.is_empty() { item.clone() } else { item.replace(&from, &to) })
        }
        "tolower" | "tolowerinvariant" => each(&|item| item.to_lowercase()),
        "toupper" | "toupperinvariant" => each(&|item| item.to_uppercase()),
        "trim" | "trimstart" | "trimend" => {
            let marks = text(0);
            each(&|item| {
                if marks.is_empty() {
                    item.trim().to_owned()
                } else {
                    item.trim_matches(|c| marks.contains(c)).to_owned()
                }
            })
        }
        "tostring" | "normalize" | "clone" | "toarray" | "getenumerator" => Some(value.clone()),
        "substring" => each(&|item| {
            let letters = item.chars().skip(number(0).unwrap_or_default());
            match number(1) {
                Some(count) => letters.take(count).collect(),
                None => letters.collect(),
            }
        }),
        "remove" if number(0).is_some() => each(&|item| {
            let (from, count) = (number(0).unwrap_or_default(), number(1).unwrap_or(usize::MAX));
            item.chars()
                .enumerate()
                .filter(|(at, _)| *at < from || *at >= from.saturating_add(count))
                .map(|(_, c)| c)
                .collect()
        }),
        "insert" => {
            let new = text(1);
            each(&|item| {
                let at = number(0).unwrap_or_default();
                let head: String = item.chars().take(at).collect();
                let tail: String = item.chars().skip(at).collect();
                head + &new + &tail
            })
        }
        "tochararray" => Some(
            Value {
                list: value.list.iter().flat_map(|item| item.chars().map(String::from)).collect(),
                origin: value.origin,
            }
            .bounded(),
        ),
        "split" => {
            let marks = text(0);
            Some(
                Value {
                    list: value.list.iter().flat_map(|item| split(item, &marks)).collect(),
                    origin: value.origin,
                }
                .bounded(),
            )
        }
        // Bytes are kept as the text they spell.
        "getstring" => args.first().cloned(),
        "getbytes" => args.first().cloned(),
        _ => None,
    }
}

/// `[type]::name(arguments)` that makes a text; `None` when it is not one of those.
pub(super) fn static_method(kind: &str, name: &str, args: &[Value]) -> Option<Value> {
    let all = || args.iter().flat_map(|arg| arg.list.iter().cloned()).collect::<Vec<_>>();
    let origin = args.iter().fold(Origin::default(), |origin, arg| origin.and(arg.origin));
    let made = |text: String| Some(Value { list: vec![text], origin });
    match (kind.rsplit('.').next().unwrap_or(kind), name) {
        ("string", "join") => {
            let mut all = all().into_iter();
            let mark = all.next().unwrap_or_default();
            made(all.collect::<Vec<_>>().join(&mark))
        }
        ("string", "concat") => made(all().concat()),
        ("string", "format") => {
            let all = all();
            let (form, values) = all.split_first()?;
            made(formatted(form, values))
        }
        ("convert", "frombase64string") => {
            let text = all().concat();
            let bytes = decode64(&text)?;
            Some(Value { list: vec![spelled(&bytes)], origin: Origin { decoded: true, ..origin } })
        }
        ("convert", "tochar") | ("char", "convertfromutf32") => made(letter(all().first()?)),
        ("path", "combine") => made(all().join("\\")),
        ("environment", "getfolderpath") => {
            made(match all().first().map(|name| name.to_ascii_lowercase())?.as_str() {
                "userprofile" => "~".to_owned(),
                "windows" | "system" => "C:\\Windows".to_owned(),
                "desktop" | "personal" | "mydocuments" => "~\\Documents".to_owned(),
                _ => HOLE_STR.to_owned(),
            })
        }
        ("environment", "getenvironmentvariable") => {
            made(held(&format!("env:{}", all().first()?))?.to_owned())
        }
        ("environment", "expandenvironmentvariables") => made(all().concat()),
        ("regex", "unescape") => made(all().concat()),
        ("regex", "replace") => {
            let all = all();
            made(replaced(all.first()?, all.get(1)?, all.get(2)?))
        }
        _ => None,
    }
}

/// Bytes as text, of one or two bytes each.
pub(super) fn spelled(bytes: &[u8]) -> String {
    let wide = bytes.len() >= 4 && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0);
    if !wide {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| {
            u16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)])
        })
        .collect();
    String::from_utf16_lossy(&units)
}

/// What a variable holds that nobody has to set. In any case.
pub(super) fn held(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let plain = if lower == "home" { "userprofile" } else { lower.as_str() };
    Some(match plain.strip_prefix("env:").unwrap_or(plain) {
        "comspec" => "C:\\WINDOWS\\system32\\cmd.exe",
        "windir" | "systemroot" => "C:\\Windows",
        "systemdrive" | "homedrive" => "C:",
        "userprofile" | "homepath" => "~",
        "programfiles" => "C:\\Program Files",
        "programdata" | "allusersprofile" => "C:\\ProgramData",
        "public" => "C:\\Users\\Public",
        "os" => "Windows_NT",
        "pshome" => "C:\\Windows\\System32\\WindowsPowerShell\\v1.0",
        "shellid" => "Microsoft.PowerShell",
        "temp" | "tmp" => "%TEMP%",
        "appdata" => "~\\AppData\\Roaming",
        "localappdata" => "~\\AppData\\Local",
        "true" => "True",
        "false" => "False",
        "null" => "",
        "pwd" => ".",
        _ => return None,
    })
}
