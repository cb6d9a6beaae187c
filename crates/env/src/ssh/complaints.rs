//! What a client complains of, and what can be done about it.

use crate::ssh::settings::SshSettings;
use crate::ssh::words::by_hand;

/// What to tell about a connection that did not come about.
pub(super) fn told(settings: &SshSettings, complaint: &str) -> String {
    let has = |part: &str| complaint.contains(part);
    let (what, advice) = if has("IDENTIFICATION HAS CHANGED") {
        return changed(settings, complaint);
    } else if has("Host key verification failed") || has("host key is known for") {
        let how = format!(
            "compare its fingerprint with what its owner says by connecting once yourself: `{}`; or set \
             `host_keys: accept-new` to believe a machine the first time it is seen",
            by_hand(settings)
        );
        (format!("the key of {} is not known", settings.target()), how)
    } else if has("UNPROTECTED PRIVATE KEY FILE") || has("bad permissions") {
        let what = format!("the key file {} can be read by others, so ssh does not use it", settings.key);
        (what, "`chmod 600` it".to_owned())
    } else if has("Permission denied") || has("Too many authentication failures") {
        let what = format!("{} does not let us in: {}", settings.target(), last(complaint));
        let how = "check `user` and `key`; a key with a passphrase has to be in the agent (`ssh-add`)";
        (what, how.to_owned())
    } else if has("Could not resolve hostname") {
        (last(complaint), "check `host`".to_owned())
    } else if has("Connection refused") || has("timed out") || has("No route to host") || has("unreachable") {
        (last(complaint), "check `host`, `port` and that the machine is up".to_owned())
    } else if has("Bad configuration option") || has("command-line line 0") {
        (last(complaint), "check `options`".to_owned())
    } else if complaint.is_empty() {
        ("ssh ended without a word".to_owned(), format!("try `{}`", by_hand(settings)))
    } else {
        return complaint.to_owned();
    };
    format!("{what} ({advice})")
}

fn changed(settings: &SshSettings, complaint: &str) -> String {
    let mut lines = complaint.lines().map(str::trim);
    let fingerprint = complaint
        .split_whitespace()
        .find(|word| word.starts_with("SHA256:"))
        .map(|print| format!(" (it is now {})", print.trim_end_matches('.')))
        .unwrap_or_default();
    let known = lines
        .find_map(|line| line.strip_prefix("Offending ")?.split_once(" in ").map(|(_, place)| place))
        .map(|place| format!(" The one that was known is in {place}."))
        .unwrap_or_default();
    let name = match settings.port {
        Some(port) if port != 22 => format!("[{}]:{port}", settings.host),
        _ => settings.host.clone(),
    };
    let file = if settings.known_hosts.is_empty() {
        String::new()
    } else {
        format!(" -f {}", crate::far::quote::quoted(&settings.known_hosts))
    };
    format!(
        "the key of {} has changed{fingerprint}: it was set up anew, or somebody stands in between.{known} \
         Ask its owner; if it is right, `ssh-keygen{file} -R {}` and then `{}` once",
        settings.target(),
        crate::far::quote::quoted(&name),
        by_hand(settings)
    )
}

/// The last line that says something.
fn last(complaint: &str) -> String {
    complaint.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> SshSettings {
        serde_json::from_str(r#"{"host": "lab", "user": "ann", "port": 2222}"#).unwrap()
    }

    #[test]
    fn an_unknown_key_comes_with_how_to_accept_it() {
        let said = told(
            &lab(),
            "No ED25519 host key is known for [lab]:2222 and you have requested strict checking.\r\nHost key verification failed.",
        );
        assert!(
            said.contains("not known")
                && said.contains("`ssh -l ann -p 2222 lab`")
                && said.contains("accept-new"),
            "{said}"
        );
    }

    #[test]
    fn a_changed_key_comes_with_its_fingerprint_and_where_the_old_one_is() {
        let said = told(
            &lab(),
            "@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nThe fingerprint for the ED25519 key sent by the remote host is\nSHA256:abc.\r\nOffending ED25519 key in /h/known_hosts:3\r\nHost key verification failed.",
        );
        assert!(said.contains("SHA256:abc)") && said.contains("/h/known_hosts:3"), "{said}");
        assert!(said.contains("ssh-keygen -R '[lab]:2222'"), "{said}");
        assert!(!said.contains("accept-new"), "{said}");
    }

    #[test]
    fn whatever_is_not_known_is_passed_on() {
        assert_eq!(told(&lab(), "something new"), "something new");
        assert!(told(&lab(), "").contains("ssh -l ann"));
        assert!(told(&lab(), "ann@lab: Permission denied (publickey).").contains("ssh-add"));
    }
}
