//! The variables that tools can use: each tool says so in its own file, and nothing else does.

use std::collections::BTreeMap;

use hermes::core::registry::Snapshot;
use hermes::store::variables;

/// A variable, and who can use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// `provider`, `tool`, `messaging`, …
    pub(crate) category: &'static str,
    /// Its value must not be shown.
    pub(crate) secret: bool,
    /// Few people need it.
    pub(crate) advanced: bool,
    /// Where to get a value.
    pub(crate) url: Option<&'static str>,
    /// The tools that can use it, sorted.
    pub(crate) tools: Vec<String>,
}

impl Key {
    fn of(name: &str) -> Self {
        let known = variables::find(name);
        Self {
            name: name.to_owned(),
            category: known.map_or("tool", |it| it.category),
            secret: known.map_or_else(|| sounds_secret(name), |it| it.secret),
            advanced: known.is_some_and(|it| it.advanced),
            url: known.and_then(|it| it.url),
            tools: Vec::new(),
        }
    }
}

/// A name that nobody has described: better hidden once too often.
fn sounds_secret(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|end| name.ends_with(end))
}

/// A toolset, and what its tools can use.
pub(crate) struct Keyed {
    pub(crate) toolset: String,
    pub(crate) about: String,
    pub(crate) keys: Vec<Key>,
}

/// Every variable there is, by name, with the tools that can use it.
pub(crate) fn all(snapshot: &Snapshot) -> Vec<Key> {
    let mut keys: BTreeMap<String, Key> =
        variables::all().map(|known| (known.name.to_owned(), Key::of(known.name))).collect();
    for tool in snapshot.tools() {
        for name in tool.variables() {
            let key = keys.entry(name.to_owned()).or_insert_with(|| Key::of(name));
            key.tools.push(tool.name().to_string());
        }
    }
    keys.into_values().collect()
}

/// The toolsets whose tools can use variables, sorted, each with these in the order of its tools.
pub(crate) fn by_toolset(snapshot: &Snapshot) -> Vec<Keyed> {
    let mut found: BTreeMap<&str, Keyed> = BTreeMap::new();
    for tool in snapshot.tools() {
        for name in tool.variables() {
            let toolset = tool.toolset().as_ref();
            let about = snapshot.catalog().built_in(toolset).map_or("", |it| it.description).to_owned();
            let keyed = found.entry(toolset).or_insert_with(|| Keyed {
                toolset: toolset.to_owned(),
                about,
                keys: Vec::new(),
            });
            let place = keyed.keys.iter().position(|key| key.name == name);
            let place = place.unwrap_or_else(|| {
                keyed.keys.push(Key::of(name));
                keyed.keys.len() - 1
            });
            if let Some(key) = keyed.keys.get_mut(place) {
                key.tools.push(tool.name().to_string());
            }
        }
    }
    found.into_values().collect()
}
