//! What the settings of sandboxes have in common.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use hermes_core::environment::{EnvError, Standing};

use crate::backends::Surroundings;

/// Labels: whose it is, which place, who made it, whether it stays when that one ends, and what it was
/// made of.
pub(super) const OWNER: &str = "hermes_owner";
pub(super) const TASK: &str = "hermes_task_id";
pub(super) const MAKER: &str = "hermes_made_by";
pub(super) const STAYS: &str = "hermes_stays";
pub(super) const RECIPE: &str = "hermes_recipe";

/// By what things of this home on this machine are known: an account is used from several.
pub(super) fn owner(around: &Surroundings) -> String {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    hash(&(&around.owner, machine))
}

/// The labels of a sandbox.
pub(super) fn labels(around: &Surroundings, stays: bool, recipe: &str) -> BTreeMap<String, String> {
    let labels = [
        (OWNER, owner(around)),
        (TASK, around.name.clone()),
        (MAKER, crate::jobs::own_process()),
        (STAYS, if stays { "1" } else { "0" }.to_owned()),
        (RECIPE, recipe.to_owned()),
    ];
    labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A name that belongs to this place of this home.
pub(super) fn name(around: &Surroundings) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let place: String = around.name.chars().map(plain).take(40).collect();
    format!("hermes-{place}-{}", owner(around).get(..8).unwrap_or_default())
}

/// One word for something.
pub(super) fn hash(what: &impl std::hash::Hash) -> String {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A variable of the person that must be set.
pub(super) fn required(around: &Surroundings, name: &str, advice: &str) -> Result<String, EnvError> {
    given(around, name).ok_or_else(|| EnvError::Unreachable {
        environment: around.name.clone(),
        why: format!("{name} is not set; {advice}"),
    })
}

/// A variable of the person that holds something.
pub(super) fn given(around: &Surroundings, name: &str) -> Option<String> {
    around.given.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A sandbox holds nothing of the person's until a variable of theirs is handed on.
pub(super) fn standing(forward: &[String]) -> Standing {
    if forward.is_empty() { Standing::Disposable } else { Standing::Shared }
}

/// Checks an address.
pub(super) fn check_url(field: &str, url: &str) -> Result<(), String> {
    match hermes_net::Url::parse(url) {
        Some(url) if url.tls || url.is_loopback() => Ok(()),
        Some(_) => Err(format!("{field}: a key must not travel unencrypted; use https")),
        None => Err(format!("{field}: `{url}` is no address")),
    }
}

/// Megabytes as gigabytes, rounded up.
pub(super) fn gigabytes(megabytes: u64) -> u64 {
    megabytes.div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_place_is_one_everywhere() {
        let around = Surroundings { name: "My Lab/é".to_owned(), ..Surroundings::default() };

        let name = name(&around);

        assert!(name.starts_with("hermes-my-lab---"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    }

    #[test]
    fn a_key_only_travels_encrypted_or_on_this_machine() {
        assert!(check_url("api_url", "https://api.example.com/x").is_ok());
        assert!(check_url("api_url", "http://127.0.0.1:1/api").is_ok());
        assert!(check_url("api_url", "http://api.example.com").is_err());
        assert!(check_url("api_url", "api.example.com").is_err());
    }
}
