//! Parameter expansion with known values.

use std::borrow::Cow;
use std::rc::Rc;

use super::flow::HOLE;
use super::{Src, WALKED, Walk, pattern};
use crate::shell::{Param, ParamOp, Where, decode_escapes};

impl Walk<'_> {
    /// The value of `${…}`; `None` when it cannot be known.
    pub(crate) fn param(&mut self, src: Src<'_>, param: &Param<'_>) -> Option<String> {
        if param.indirect
            && matches!(param.op, ParamOp::Plain)
            && param.index.is_none()
            && param.name.ends_with('*')
        {
            return Some(self.scope.names(param.name.trim_end_matches('*')).join(" "));
        }
        let mut value = self.base_value(src, param);
        if param.indirect {
            let name = value?;
            value = self.scope.value(&name, &self.context.home).map(Cow::into_owned);
        }
        self.apply(src, param, value)
    }

    fn base_value(&mut self, src: Src<'_>, param: &Param<'_>) -> Option<String> {
        if param.name == "@" || param.name == "*" {
            let arguments: Vec<String> = self.scope.arguments.iter().map(ToString::to_string).collect();
            return Some(self.joined(&arguments));
        }
        match param.index {
            Some("@" | "*") => Some(self.joined(&self.elements(param.name)?)),
            Some(index) => {
                let key = self.index_key(src, index);
                let variable = self.scope.variable(param.name)?;
                if variable.list.is_empty() {
                    return (key == "0").then(|| variable.values.first().map(ToString::to_string)).flatten();
                }
                if let Some(back) = key.strip_prefix('-').and_then(|n| n.parse::<usize>().ok()) {
                    let at = variable.list.len().checked_sub(back)?;
                    return variable.list.get(at).map(|(_, value)| value.to_string());
                }
                variable
                    .list
                    .iter()
                    .find(|(name, _)| *name == key)
                    .map(|(_, value)| value.to_string())
                    .or(Some(String::new()))
            }
            None => {
                if let Some(origin) = self.scope.origins.get(param.name) {
                    self.last_unknown = self.last_unknown.and(*origin);
                }
                if param.name == "PPID" {
                    // The process that started this shell: somebody else's.
                    self.last_unknown.local = true;
                }
                let value = self.scope.value(param.name, &self.context.home).map(Cow::into_owned);
                if value.is_none()
                    && secret_name(param.name)
                    && !matches!(param.op, ParamOp::Alternate(_) | ParamOp::Length)
                {
                    self.last_unknown.secret = true;
                }
                value
            }
        }
    }

    /// The key an index stands for: a sum if it is one, otherwise its text.
    pub(crate) fn index_key(&mut self, src: Src<'_>, index: &str) -> String {
        let sum = self.arithmetic(src, index);
        if sum.contains(HOLE) { index.trim_matches(['"', '\'']).to_owned() } else { sum }
    }

    fn elements(&self, name: &str) -> Option<Vec<String>> {
        let variable = self.scope.variable(name)?;
        if variable.list.is_empty() {
            return Some(variable.values.first().map(ToString::to_string).into_iter().collect());
        }
        Some(variable.list.iter().map(|(_, value)| value.to_string()).collect())
    }

    fn joined(&self, items: &[String]) -> String {
        let separator = if self.scope.knows("IFS") {
            self.scope
                .value("IFS", &self.context.home)
                .and_then(|ifs| ifs.chars().next().map(String::from))
                .unwrap_or_default()
        } else {
            " ".to_owned()
        };
        items.join(&separator)
    }

    /// One value for each element of `$@` or `${a[@]}`, the operation applied to each.
    pub(crate) fn list_values(&mut self, src: Src<'_>, param: &Param<'_>) -> Vec<String> {
        if let Some(origin) = self.scope.origins.get(param.name) {
            self.last_unknown = self.last_unknown.and(*origin);
        }
        let items = if param.name == "@" || param.name == "*" {
            self.scope.arguments.iter().map(ToString::to_string).collect()
        } else if param.indirect {
            return self
                .scope
                .variable(param.name)
                .map(|variable| variable.list.iter().map(|(key, _)| key.clone()).collect())
                .unwrap_or_default();
        } else {
            match self.elements(param.name) {
                Some(items) => items,
                None => return vec![HOLE.to_string()],
            }
        };
        if let ParamOp::Slice(from, count) = &param.op {
            return self.list_slice(src, param, items, from, *count);
        }
        if items.is_empty() {
            return match self.apply(src, param, Some(String::new())) {
                Some(text) if !text.is_empty() => vec![text],
                _ => Vec::new(),
            };
        }
        items
            .into_iter()
            .map(|item| self.apply(src, param, Some(item)).unwrap_or_else(|| HOLE.to_string()))
            .collect()
    }

    fn list_slice(
        &mut self,
        src: Src<'_>,
        param: &Param<'_>,
        items: Vec<String>,
        from: &str,
        count: Option<&str>,
    ) -> Vec<String> {
        let Ok(from) = self.arithmetic(src, from).parse::<i64>() else { return items };
        let positional = param.name == "@" || param.name == "*";
        let length = i64::try_from(items.len()).unwrap_or(0);
        let start = if from < 0 {
            length + from
        } else if positional {
            from - 1
        } else {
            from
        };
        let start = usize::try_from(start.max(0)).unwrap_or(0);
        let take =
            count.and_then(|count| self.arithmetic(src, count).parse::<usize>().ok()).unwrap_or(usize::MAX);
        items.into_iter().skip(start).take(take).collect()
    }

    fn apply(&mut self, src: Src<'_>, param: &Param<'_>, value: Option<String>) -> Option<String> {
        if !self.spend(WALKED) {
            return None;
        }
        match &param.op {
            ParamOp::Plain | ParamOp::Require => value,
            ParamOp::Length => value.filter(|v| !v.contains(HOLE)).map(|v| self.length_of(param, &v)),
            ParamOp::Default(parts) => match value {
                Some(value) if !value.is_empty() => Some(value),
                _ => Some(self.text_of(src, parts)),
            },
            ParamOp::Assign(parts) => match value {
                Some(value) if !value.is_empty() => Some(value),
                _ => {
                    let text = self.text_of(src, parts);
                    self.scope.set(param.name, &text);
                    Some(text)
                }
            },
            ParamOp::Alternate(parts) => match value {
                Some(value) if value.is_empty() => Some(String::new()),
                _ => Some(self.text_of(src, parts)),
            },
            // Prompt expansion runs the substitutions in the value.
            ParamOp::Transform('P') => {
                let value = value?;
                let parts = self.live_parts(&value);
                Some(self.text_of(src, &parts))
            }
            ParamOp::Transform(letter) => value.map(|value| transform(&value, *letter)),
            op => {
                let value = value.filter(|v| v.len() <= pattern::MOST)?;
                if value.contains(HOLE)
                    && !matches!(op, ParamOp::TrimEnd(..) | ParamOp::TrimStart(..) | ParamOp::Slice(..))
                {
                    return Some(HOLE.to_string());
                }
                self.edit(src, op, value)
            }
        }
    }

    fn length_of(&self, param: &Param<'_>, value: &str) -> String {
        match param.index {
            Some("@" | "*") => self.elements(param.name).map_or(0, |items| items.len()).to_string(),
            _ if param.name == "@" || param.name == "*" => self.scope.arguments.len().to_string(),
            _ => value.chars().count().to_string(),
        }
    }

    /// Slices, trims, replacements and case.
    fn edit(&mut self, src: Src<'_>, op: &ParamOp<'_>, value: String) -> Option<String> {
        let letters: Vec<char> = value.chars().collect();
        self.spend(letters.len());
        match op {
            ParamOp::Slice(from, count) => self.slice(src, &letters, from, *count),
            ParamOp::TrimStart(parts, greedy) => {
                let pattern: Vec<char> = self.text_of(src, parts).chars().collect();
                let cut = self
                    .matched(&pattern, &letters)
                    .then(|| pattern::start_match(&pattern, &letters, *greedy))
                    .flatten();
                Some(letters.iter().skip(cut.unwrap_or(0)).collect())
            }
            ParamOp::TrimEnd(parts, greedy) => {
                let pattern: Vec<char> = self.text_of(src, parts).chars().collect();
                let cut = self
                    .matched(&pattern, &letters)
                    .then(|| pattern::end_match(&pattern, &letters, *greedy))
                    .flatten();
                Some(letters.iter().take(cut.unwrap_or(letters.len())).collect())
            }
            ParamOp::Replace(parts, with, place) => {
                let pattern: Vec<char> = self.text_of(src, parts).chars().collect();
                let with = self.text_of(src, with);
                if !self.matched(&pattern, &letters) {
                    return None;
                }
                Some(replace(&letters, &pattern, &with, *place))
            }
            ParamOp::Upper(all) => Some(recase(&letters, *all, |c| c.to_ascii_uppercase())),
            ParamOp::Lower(all) => Some(recase(&letters, *all, |c| c.to_ascii_lowercase())),
            ParamOp::Toggle(all) => Some(recase(&letters, *all, |c| {
                if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            })),
            _ => Some(value),
        }
    }

    /// Whether matching can be afforded.
    fn matched(&mut self, pattern: &[char], letters: &[char]) -> bool {
        self.spend(pattern.len() * 2 + letters.len() * 2) && pattern.len() * letters.len() < 1 << 16
    }

    fn slice(&mut self, src: Src<'_>, letters: &[char], from: &str, count: Option<&str>) -> Option<String> {
        let length = i64::try_from(letters.len()).ok()?;
        let from = if from.trim().is_empty() { "0" } else { from.trim() };
        let from: i64 = self.arithmetic(src, from).parse().ok()?;
        let start = if from < 0 { (length + from).max(0) } else { from.min(length) };
        let end = match count {
            None => length,
            Some(count) => {
                let count: i64 = self.arithmetic(src, count.trim()).parse().ok()?;
                if count < 0 { length + count } else { start.saturating_add(count).min(length) }
            }
        };
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end.max(start)).ok()?);
        Some(letters.get(start..end)?.iter().collect())
    }

    /// Sets `name[index]` or appends to an array.
    pub(crate) fn set_element(&mut self, name: &str, key: &str, value: &str, append: bool) {
        let mut list = self.scope.variable(name).map(|variable| variable.list.clone()).unwrap_or_default();
        if list.len() > 512 || !self.spend(4 * list.len() + 8) {
            // Unknown from here on, rather than remembered with a part missing.
            self.scope.unset(name);
            return;
        }
        match list.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) if append => *old = Rc::from(format!("{old}{value}")),
            Some((_, old)) => *old = Rc::from(value),
            None => list.push((key.to_owned(), Rc::from(value))),
        }
        self.scope.set_list(name, list);
    }
}

/// Whether a variable is named like a secret.
pub(crate) fn secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"]
        .iter()
        .any(|sign| name.contains(sign))
}

fn replace(letters: &[char], pattern: &[char], with: &str, place: Where) -> String {
    if pattern.is_empty() {
        let value: String = letters.iter().collect();
        return match place {
            Where::Start => format!("{with}{value}"),
            Where::End => format!("{value}{with}"),
            Where::First | Where::All => value,
        };
    }
    let text = |from: usize, to: usize| letters.get(from..to).unwrap_or_default().iter().collect::<String>();
    match place {
        Where::Start => match pattern::start_match(pattern, letters, true) {
            Some(cut) => format!("{with}{}", text(cut, letters.len())),
            None => letters.iter().collect(),
        },
        Where::End => match pattern::end_match(pattern, letters, true) {
            Some(cut) => format!("{}{with}", text(0, cut)),
            None => letters.iter().collect(),
        },
        Where::First | Where::All => {
            let mut out = String::new();
            let mut at = 0;
            let mut going = true;
            while at < letters.len() {
                let rest = letters.get(at..).unwrap_or_default();
                let hit = if going {
                    pattern::start_match(pattern, rest, true).filter(|length| *length > 0)
                } else {
                    None
                };
                if let Some(length) = hit {
                    out.push_str(with);
                    at += length;
                    going = place == Where::All;
                } else {
                    out.extend(rest.first());
                    at += 1;
                }
            }
            out
        }
    }
}

fn recase(letters: &[char], all: bool, change: impl Fn(char) -> char) -> String {
    letters
        .iter()
        .enumerate()
        .map(|(at, letter)| if all || at == 0 { change(*letter) } else { *letter })
        .collect()
}

fn transform(value: &str, letter: char) -> String {
    match letter {
        'U' => value.to_uppercase(),
        'L' => value.to_lowercase(),
        'u' => recase(&value.chars().collect::<Vec<_>>(), false, |c| c.to_ascii_uppercase()),
        'E' => decode_escapes(value),
        _ => value.to_owned(),
    }
}
