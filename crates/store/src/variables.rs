//! The variables Hermes knows: what each is for, whether it is a secret, where to get it.
//!
//! The table is `data/variables.tsv`; a test holds it against the contract. Which tools use a variable
//! stands with the tools.

/// One variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// `provider`, `tool`, `skill`, `messaging`, `setting`, …
    pub category: &'static str,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// Whether few people need it.
    pub advanced: bool,
    /// Where to get a value.
    pub url: Option<&'static str>,
}

/// All of them, by name.
pub fn all() -> impl Iterator<Item = Variable> {
    include_str!("../data/variables.tsv").lines().filter(|line| !line.starts_with('#')).filter_map(read)
}

/// The variable of this name.
pub fn find(name: &str) -> Option<Variable> {
    all().find(|variable| variable.name == name)
}

/// The known name most like this one.
pub fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase();
    let close = |variable: &Variable| strsim::damerau_levenshtein(&wanted, &variable.name.to_lowercase());
    let best = all().min_by_key(close)?;
    (close(&best) <= 1 + best.name.len() / 6).then_some(best.name)
}

fn read(line: &'static str) -> Option<Variable> {
    let mut fields = line.split('\t');
    Some(Variable {
        name: fields.next()?,
        category: fields.next()?,
        secret: fields.next()? == "yes",
        advanced: fields.next()? == "yes",
        url: fields.next().filter(|url| !url.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_table_is_the_contract() {
        let contract: Value = serde_json::from_str(include_str!("../../../fixtures/env_vars.json")).unwrap();
        let vars = contract["vars"].as_array().unwrap();

        assert_eq!(all().count(), vars.len());
        for var in vars {
            let found = find(var["name"].as_str().unwrap()).unwrap();
            assert_eq!(found.category, var["category"].as_str().unwrap_or_default());
            assert_eq!(found.secret, var["password"].as_bool().unwrap_or_default(), "{}", found.name);
            assert_eq!(found.url, var["url"].as_str());
        }
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(nearest("OPENROUTER_API_KY"), Some("OPENROUTER_API_KEY"));
        assert_eq!(nearest("SOMETHING_ELSE_ENTIRELY"), None);
    }
}
