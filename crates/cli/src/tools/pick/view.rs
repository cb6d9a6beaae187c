//! The picker for a screen, for a pipe and for a program.

use serde_json::{Value, json};

use crate::chat::screen::Area;
use crate::chat::text::{Line, Style};
use crate::table::{Cell, Tone};
use crate::tools::pick::board::{Board, Group, Item, Mark, Row};

/// Rows of the screen that are not the list: heading, what is under the hand, keys.
const AROUND: usize = 8;

/// What the keys do.
const KEYS: &str = "↑↓ move · space switch · → tools of it · / find · enter save · q leave";

/// The heading.
fn head(board: &Board<'_>) -> String {
    let (count, tokens) = board.total();
    let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
    format!("{}: {tools}, about {tokens} tokens in every request", board.platform)
}

/// The screen.
pub(super) fn area(board: &Board<'_>, width: usize, height: usize) -> Area {
    let rows = board.rows();
    let room = height.saturating_sub(AROUND).max(3);
    // The row under the hand stays in sight, with some before and behind it.
    let top = board.at.saturating_sub(room / 2).min(rows.len().saturating_sub(room));
    let named = rows.iter().filter_map(|row| name_of(board, *row)).map(str::len).max().unwrap_or_default();
    let mut lines = vec![Line::new("hermes tools · ", Style::BOLD).with(&head(board), Style::PLAIN)];
    if board.typing || !board.filter.is_empty() {
        let end = if board.typing { "▏" } else { "" };
        lines.push(Line::new("find: ", Style::CYAN).with(&format!("{}{end}", board.filter), Style::PLAIN));
    } else {
        lines.push(Line::default());
    }
    for (place, row) in rows.iter().enumerate().skip(top).take(room) {
        lines.extend(line(board, *row, place == board.at, named));
    }
    if rows.is_empty() {
        lines.push(Line::faint("    nothing has these words"));
    }
    lines.push(Line::default());
    lines.extend(under_the_hand(board));
    if let Some(note) = &board.note {
        lines.push(Line::new(note, Style::YELLOW));
    }
    let unsaved = if board.switches().is_empty() { "" } else { "changed · " };
    lines.push(Line::new(unsaved, Style::YELLOW).with(KEYS, Style::FAINT));
    Area { rows: lines.into_iter().map(|line| line.cut(width)).collect(), cursor: None }
}

fn name_of<'a>(board: &'a Board<'_>, row: Row) -> Option<&'a str> {
    let group = board.groups.get(row.group)?;
    Some(match row.tool {
        None => &group.name,
        Some(place) => &group.tools.get(place)?.name,
    })
}

fn line(board: &Board<'_>, row: Row, here: bool, named: usize) -> Option<Line> {
    let group = board.groups.get(row.group)?;
    let hand = if here { "❯ " } else { "  " };
    let named = named.min(40);
    let line = Line::new(hand, Style::CYAN.and(Style::BOLD));
    Some(match row.tool {
        None => {
            let fold = if group.open { "▾" } else { "▸" };
            let style = if group.mark() == Mark::Off { Style::PLAIN } else { Style::BOLD };
            let line = line.with(&format!("{} {fold} ", group.mark().sign()), mark_style(group.mark()));
            let line = line.with(&format!("{:<named$}  {:>6}  ", group.name, group.tokens()), style);
            rest(line, &group.about, said_of(group).as_deref())
        }
        Some(place) => {
            let tool = group.tools.get(place)?;
            let mark = Mark::of(tool.on);
            let line = line.with(&format!("  {} ", mark.sign()), mark_style(mark));
            let line = line.with(&format!("{:<named$}  {:>6}  ", tool.name, tool.tokens), Style::PLAIN);
            rest(line, &tool.about, tool.missing.as_deref())
        }
    })
}

/// The end of a row: what is missing, or else what it is for.
fn rest(line: Line, about: &str, missing: Option<&str>) -> Line {
    match missing {
        Some(missing) => line.with(missing, Style::YELLOW),
        None => line.with(about, Style::FAINT),
    }
}

fn mark_style(mark: Mark) -> Style {
    match mark {
        Mark::On => Style::GREEN,
        Mark::Partly => Style::YELLOW,
        Mark::Off => Style::FAINT,
    }
}

/// What a toolset lacks, where none of its tools is there.
fn said_of(group: &Group) -> Option<String> {
    let none = group.tools.iter().all(|tool| tool.missing.is_some());
    let needs = group.missing();
    (none && !needs.is_empty()).then(|| needs.join("; "))
}

/// All that is known of what is under the hand, in two lines.
fn under_the_hand(board: &Board<'_>) -> Vec<Line> {
    let Some((group, tool)) = board.here() else { return vec![Line::default(), Line::default()] };
    let (name, about, needs) = match tool {
        Some(tool) => (&tool.name, &tool.about, tool.missing.iter().map(String::as_str).collect()),
        None => (&group.name, &group.about, group.missing()),
    };
    let first = Line::new(name, Style::BOLD).with(&format!("  {about}"), Style::PLAIN);
    let second = if needs.is_empty() {
        let names: Vec<&str> = group.tools.iter().map(|tool| tool.name.as_str()).collect();
        Line::faint(&names.join(", "))
    } else {
        Line::new(&needs.join("; "), Style::YELLOW)
    };
    vec![first, second]
}

/// The heading and the rows for a pipe.
pub(super) fn table(board: &Board<'_>) -> (String, Vec<Vec<Cell>>) {
    let mut rows = Vec::new();
    for group in &board.groups {
        let whole = said_of(group);
        let what = Cell::new(whole.as_deref().unwrap_or(&group.about));
        rows.push(vec![
            Cell::new(group.mark().sign()),
            Cell::new(&group.name).tone(Tone::Strong),
            Cell::new(group.tokens().to_string()).right(),
            if whole.is_some() { what.tone(Tone::Bad) } else { what },
        ]);
        rows.extend(group.tools.iter().map(tool_row));
    }
    (head(board), rows)
}

fn tool_row(tool: &Item) -> Vec<Cell> {
    let what = match &tool.missing {
        Some(missing) => Cell::new(missing).tone(Tone::Bad),
        None => Cell::new(&tool.about).tone(Tone::Faint),
    };
    vec![
        Cell::new(Mark::of(tool.on).sign()),
        Cell::new(format!("  {}", tool.name)),
        Cell::new(tool.tokens.to_string()).right(),
        what,
    ]
}

/// The same for a program.
pub(super) fn json(board: &Board<'_>) -> Value {
    let (count, tokens) = board.total();
    let tool = |tool: &Item| {
        json!({
            "name": tool.name, "enabled": tool.on, "available": tool.missing.is_none(),
            "missing": tool.missing, "tokens": tool.tokens, "description": tool.about,
        })
    };
    let group = |group: &Group| {
        json!({
            "name": group.name, "state": group.mark().word(), "tokens": group.tokens(),
            "missing": group.missing(), "description": group.about,
            "tools": group.tools.iter().map(tool).collect::<Vec<Value>>(),
        })
    };
    json!({
        "platform": board.platform, "tools": count, "tokens": tokens,
        "toolsets": board.groups.iter().map(group).collect::<Vec<Value>>(),
    })
}
