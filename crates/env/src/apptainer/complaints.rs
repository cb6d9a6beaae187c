//! What the program complains of, and what can be done about it. Pure.

/// What the program complains of, without what it only tells.
pub(super) fn told(complaint: &str) -> String {
    let wrong: Vec<&str> = complaint
        .lines()
        .filter_map(|line| line.trim().strip_prefix("FATAL:").or_else(|| line.trim().strip_prefix("ERROR:")))
        .map(str::trim)
        .collect();
    if wrong.is_empty() { complaint.to_owned() } else { wrong.join("; ") }
}

/// What can be done about what the program complains of.
pub(super) fn advice(complaint: &str) -> Option<&'static str> {
    let has = |part: &str| complaint.contains(part);
    if has("no space left on device") || has("No space left") {
        return Some("the disk is full; make room, or set `scratch_dir` to another one");
    }
    if has("user namespace") || has("newuidmap") || has("subuid") {
        return Some("this machine does not let users make namespaces; ask its administrator");
    }
    if has("/.singularity.d/") && has("no such file") {
        return Some("the folder is no image: make one with `apptainer build --sandbox`");
    }
    if has("unauthorized") || has("manifest unknown") || has("no such host") || has("requested access") {
        return Some(
            "check `image`, or make a file of it where it can be reached: `apptainer build x.sif …`",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_is_told() {
        let said =
            "INFO:    starting\nWARNING: odd\nFATAL:   container creation failed: no space left on device";

        assert_eq!(told(said), "container creation failed: no space left on device");
        assert!(advice(&told(said)).is_some());
        assert_eq!(told("plain words"), "plain words");
    }
}
