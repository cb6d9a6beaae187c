//! Which posts count: whose, and from which days.

use hermes_core::error::ToolError;

/// Most handles in a list.
const MOST: usize = 10;

/// The handles in a list, without `@`.
pub(crate) fn handles(list: Option<&[String]>, name: &str) -> Result<Vec<String>, ToolError> {
    let mut handles: Vec<String> = Vec::new();
    for text in list.into_iter().flatten() {
        let handle = text.trim().trim_start_matches('@');
        let usual = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if handle.is_empty() || handle.len() > 20 || !handle.chars().all(usual) {
            return Err(ToolError::Arguments(format!("{name}: {text:?} is no handle")));
        }
        if !handles.iter().any(|known| known.eq_ignore_ascii_case(handle)) {
            handles.push(handle.to_owned());
        }
    }
    if handles.len() > MOST {
        return Err(ToolError::Arguments(format!("{name} takes at most {MOST} handles")));
    }
    Ok(handles)
}

/// The days in a range, each as year-month-day; the first is not after the last.
pub(crate) fn days(
    from: Option<&str>,
    to: Option<&str>,
) -> Result<(Option<String>, Option<String>), ToolError> {
    let (from, to) = (day(from, "from_date")?, day(to, "to_date")?);
    // Written so, days are in the order of their letters.
    if let (Some(from), Some(to)) = (&from, &to)
        && from > to
    {
        return Err(ToolError::Arguments(format!("from_date {from} is after to_date {to}")));
    }
    Ok((from, to))
}

fn day(text: Option<&str>, name: &str) -> Result<Option<String>, ToolError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| {
        let whole = part.len() == digits && part.chars().all(|c| c.is_ascii_digit());
        whole.then(|| part.parse::<u32>().ok()).flatten()
    };
    let fits = match parts.as_slice() {
        [year, month, day] => match (number(year, 4), number(month, 2), number(day, 2)) {
            (Some(year), Some(month), Some(day)) => (1..=days_of(year, month)).contains(&day),
            _ => false,
        },
        _ => false,
    };
    if fits {
        Ok(Some(text.to_owned()))
    } else {
        Err(ToolError::Arguments(format!("{name} is written YYYY-MM-DD")))
    }
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_names_without_their_sign_and_each_but_once() {
        let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();

        assert_eq!(handles(Some(&list(&["@xai", "XAI", "jack"])), "h").unwrap(), ["xai", "jack"]);
        assert!(handles(Some(&list(&["a b"])), "h").is_err());
        assert!(handles(Some(&list(&["@"])), "h").is_err());
        let many: Vec<String> = (0..11).map(|number| format!("a{number}")).collect();
        assert!(handles(Some(&many), "h").unwrap_err().to_string().contains("at most 10"));
    }

    #[test]
    fn days_exist_and_come_in_order() {
        assert!(days(Some("2024-02-29"), Some("2024-02-29")).is_ok());
        for wrong in
            ["2023-02-29", "2024-13-01", "2024-00-10", "24-01-01", "2024-1-1", "yesterday", "2024-04-31"]
        {
            assert!(days(Some(wrong), None).is_err(), "{wrong}");
        }
        assert!(days(Some("2024-05-02"), Some("2024-05-01")).unwrap_err().to_string().contains("after"));
        assert_eq!(days(Some(" "), None).unwrap(), (None, None));
    }
}
