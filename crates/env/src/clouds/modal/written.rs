//! The token that Modal's own program has written down: `~/.modal.toml`, one table for each profile.

#![expect(clippy::disallowed_methods, reason = "a file of Modal's own program, which the person made")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml_edit::{DocumentMut, Item};

/// The variables that hold the token, and what they are called in the file.
const NAMES: [(&str, &str); 4] = [
    ("MODAL_TOKEN_ID", "token_id"),
    ("MODAL_TOKEN_SECRET", "token_secret"),
    ("MODAL_SERVER_URL", "server_url"),
    ("MODAL_ENVIRONMENT", "environment"),
];

/// What the file gives, as variables; `variable` is the person's own.
pub(crate) fn written(variable: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    let set = variable("MODAL_CONFIG_PATH").map(PathBuf::from);
    let usual = || Some(PathBuf::from(variable("HOME")?).join(".modal.toml"));
    let Some(text) = set.or_else(usual).and_then(|path| std::fs::read_to_string(path).ok()) else {
        return BTreeMap::new();
    };
    read(&text, variable("MODAL_PROFILE").as_deref())
}

/// The profile that is named, else the active one, else the only one or `default`.
fn read(text: &str, profile: Option<&str>) -> BTreeMap<String, String> {
    let Ok(file) = text.parse::<DocumentMut>() else { return BTreeMap::new() };
    let table = |name: &str| file.get(name).and_then(Item::as_table_like);
    let active = file.iter().find(|(_, item)| {
        let active = item.as_table_like().and_then(|table| table.get("active"));
        active.and_then(Item::as_bool) == Some(true)
    });
    let only = file.iter().next().filter(|_| file.iter().count() == 1);
    let chosen = match (profile, active.or(only)) {
        (Some(name), _) => table(name),
        (None, Some((_, item))) => item.as_table_like(),
        (None, None) => table("default"),
    };
    let value = |(variable, key): &(&str, &str)| {
        let value = chosen?.get(key)?.as_str()?.trim();
        (!value.is_empty()).then(|| ((*variable).to_owned(), value.to_owned()))
    };
    NAMES.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[work]\ntoken_id = \"ak-1\"\ntoken_secret = \"as-1\"\n\n\
                        [own]\ntoken_id = \"ak-2\"\ntoken_secret = \"as-2\"\nactive = true\nenvironment = \"dev\"\n";

    fn id(text: &str, profile: Option<&str>) -> Option<String> {
        read(text, profile).get("MODAL_TOKEN_ID").cloned()
    }

    #[test]
    fn the_profile_that_counts_is_the_named_one_or_the_active_one() {
        assert_eq!(id(FILE, None).as_deref(), Some("ak-2"));
        assert_eq!(id(FILE, Some("work")).as_deref(), Some("ak-1"));
        assert_eq!(id(FILE, Some("other")), None);
        assert_eq!(read(FILE, None).get("MODAL_ENVIRONMENT").map(String::as_str), Some("dev"));
        assert_eq!(id("[default]\ntoken_id = \"ak-3\"\n", None).as_deref(), Some("ak-3"));
        assert_eq!(id("not toml [", None), None);
    }

    #[test]
    fn the_file_is_where_modal_puts_it_or_where_the_person_says() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".modal.toml"), FILE).unwrap();
        std::fs::write(dir.path().join("other"), "[x]\ntoken_id = \"ak-9\"\n").unwrap();
        let home = dir.path().display().to_string();

        let usual = written(&|name| (name == "HOME").then(|| home.clone()));
        let said = written(&|name| match name {
            "HOME" => Some(home.clone()),
            "MODAL_CONFIG_PATH" => Some(format!("{home}/other")),
            _ => None,
        });

        assert_eq!(usual.get("MODAL_TOKEN_SECRET").map(String::as_str), Some("as-2"));
        assert_eq!(said.get("MODAL_TOKEN_ID").map(String::as_str), Some("ak-9"));
        assert_eq!(written(&|_| None), BTreeMap::new());
    }
}
