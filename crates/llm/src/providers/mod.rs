//! The providers, one file each. A file here is a provider; nothing else lists it.

use crate::provider::ProviderDef;

include!(concat!(env!("OUT_DIR"), "/providers.rs"));

gathered! {
    /// Every provider, sorted by name.
    pub static PROVIDERS: [&ProviderDef] = PROVIDER;
}

/// The provider called `name`, or known by it.
pub fn find(name: &str) -> Option<&'static ProviderDef> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    let named =
        |provider: &&&ProviderDef| provider.name() == name || provider.aliases.contains(&name.as_str());
    PROVIDERS.iter().find(named).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{PROVIDERS, find};
    use hermes_net::Url;

    #[test]
    fn every_name_and_alias_means_one_provider() {
        let mut seen = BTreeSet::new();

        for provider in PROVIDERS {
            for name in provider.aliases.iter().copied().chain([provider.name()]) {
                assert!(seen.insert(name), "{name} is taken twice");
                assert_eq!(find(name).unwrap().name(), provider.name());
            }
        }
    }

    #[test]
    fn every_provider_can_be_reached() {
        for provider in PROVIDERS.iter().filter(|provider| provider.name() != "custom") {
            let url = Url::parse(provider.base_url).unwrap_or_else(|| panic!("{}", provider.name()));
            let local = !provider.ports.is_empty();

            assert_eq!(url.is_loopback(), local, "{}", provider.name());
            assert!(
                local || (url.tls && !provider.key_env.is_empty() && !provider.default_model.is_empty()),
                "{}",
                provider.name()
            );
        }
    }

    #[test]
    fn a_model_with_a_date_finds_its_family() {
        let anthropic = find("claude").unwrap();

        assert_eq!(anthropic.model("claude-haiku-4-5-20251001").unwrap().name, "claude-haiku-4-5");
        assert!(anthropic.model("unknown").is_none());
    }

    #[test]
    fn entries_of_models_are_in_lower_case_and_have_a_size() {
        for provider in PROVIDERS {
            for model in provider.models {
                assert_eq!(model.name, model.name.to_lowercase());
                assert!(model.context >= 4096, "{}", model.name);
            }
        }
    }
}
