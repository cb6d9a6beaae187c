//! Names that say what a program, a play or a script is for.

/// Whether a program's own name says that it removes things: `k3s-uninstall.sh`, `cgdelete`.
pub(super) fn named_for_loss(name: &str) -> bool {
    if name.starts_with('-') {
        return false;
    }
    let stem = name.strip_suffix(".sh").unwrap_or(name);
    let stem = stem.strip_suffix(".py").unwrap_or(stem);
    stem.split(['-', '_', '.']).any(|part| {
        matches!(
            part,
            "uninstall"
                | "uninstaller"
                | "destroy"
                | "wipe"
                | "delete"
                | "purge"
                | "erase"
                | "nuke"
                | "flushall"
                | "kill"
                | "killall"
        )
    }) || stem.rsplit_once(['-', '_']).is_some_and(|(head, last)| {
        !head.is_empty() && matches!(last, "rm" | "stop" | "restart" | "remove" | "reboot" | "shutdown")
    }) || ["flush", "delete", "destroy", "wipe"]
        .iter()
        .any(|verb| stem.len() > verb.len() && stem.ends_with(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_say_what_a_program_is_for() {
        for name in ["k3s-uninstall.sh", "cgdelete", "memcflush", "wipe", "gdm-stop", "distrobox-rm"] {
            assert!(named_for_loss(name), "{name}");
        }
        for name in ["flush", "undelete-list", "installer", "wiper-docs", "stop-words", "rm"] {
            assert!(!named_for_loss(name), "{name}");
        }
    }
}
