//! Which addresses a page may reach: the rules for addresses, and what `browser.allow_private_urls`
//! opens beyond them.

use std::net::IpAddr;
use std::sync::Arc;

use hermes_guard::urls::{self, HostRule, Url, UrlPolicy};
use hermes_net::AddressRule;
use serde_json::Value;

use crate::sites::url_policy;
use crate::world::World;

/// What is opened: nothing, everything but metadata services, or single hosts, with a port or without.
const OPENED: &str = "browser.allow_private_urls";

/// Judges the address of a page.
pub(super) fn judge(world: &World, url: &str) -> Result<(), String> {
    policy(world, url)
        .and_then(|policy| urls::judge_url(url, &policy).map(drop).map_err(|why| why.to_string()))
}

/// Judges a host that is about to be reached, and says how its addresses are judged.
pub(super) fn gate(world: &World, host: &str, port: u16) -> Result<AddressRule, String> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let text = format!("http://{host}:{port}/");
    let policy = policy(world, &text)?;
    let host = urls::judge_url(&text, &policy).map_err(|why| why.to_string())?.host;
    Ok(Arc::new(move |address: IpAddr| {
        urls::judge_resolved(&host, address, &policy).err().map(|why| why.to_string())
    }))
}

/// The rules for this address.
fn policy(world: &World, url: &str) -> Result<UrlPolicy, String> {
    let mut policy = url_policy(world);
    let opened = world.config(OPENED);
    match Url::parse(url) {
        Ok(url) => policy.allow_private |= opened.is_some_and(|opened| opens(&opened, &url)),
        Err(wrong) => return Err(format!("only pages of the web can be opened: {wrong}")),
    }
    Ok(policy)
}

/// Whether the setting opens this address.
fn opens(setting: &Value, url: &Url) -> bool {
    match setting {
        Value::Bool(all) => *all,
        Value::Array(entries) => entries.iter().filter_map(Value::as_str).any(|entry| names(entry, url)),
        _ => false,
    }
}

fn names(entry: &str, url: &Url) -> bool {
    let is_host = HostRule::parse(entry).is_some_and(|rule| rule.matches(&url.host));
    is_host && port_in(entry).is_none_or(|port| port == url.port)
}

/// The port that an entry names.
fn port_in(entry: &str) -> Option<u16> {
    let entry = entry.split_once("://").map_or(entry, |(_, rest)| rest);
    let entry = entry.split('/').next()?;
    let (_, port) = entry.rsplit_once(':')?;
    // The end of an address in brackets is no number.
    port.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_opens_what_it_names_and_nothing_else() {
        let opened = |setting: Value, url: &str| opens(&setting, &Url::parse(url).unwrap());

        assert!(opened(json!(true), "http://10.0.0.1/"));
        assert!(!opened(json!(false), "http://10.0.0.1/"));
        assert!(!opened(json!("10.0.0.1"), "http://10.0.0.1/"));
        let list = json!(["127.0.0.1:8080", "[::1]:9", "nas.lan", "[::2]"]);
        for (url, open) in [
            ("http://127.0.0.1:8080/x", true),
            ("http://127.0.0.1:8081/", false),
            ("http://127.0.0.1/", false),
            ("http://[::1]:9/", true),
            ("http://[::1]:10/", false),
            ("http://nas.lan:5000/", true),
            ("http://[::2]:7/", true),
            ("http://10.0.0.1:8080/", false),
        ] {
            assert_eq!(opened(list.clone(), url), open, "{url}");
        }
    }
}
