//! How much: sizes as people write them, and which programs hand endless data on.

use crate::walk::{Call, Flow};

/// What hardly any disk has room for, and nobody makes by intent: a hundred gibibytes.
const HUGE: u64 = 100 << 30;

/// A size such as `10G`, `1.5TiB`, `512` in bytes.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(['+', '<', '>', '/', '%']);
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let power = match unit.chars().next().map(|unit| unit.to_ascii_uppercase()) {
        None | Some('B' | 'C') => 0,
        Some('K') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        Some('P') => 5,
        Some('E') => 6,
        Some(_) => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    let unit = 1024_u64.checked_pow(power).unwrap_or(u64::MAX);
    let tenths = part.bytes().next().map_or(0, |digit| u64::from(digit.saturating_sub(b'0')));
    Some(whole.saturating_mul(unit).saturating_add(unit.saturating_mul(tenths) / 10))
}

/// Whether a size is more than hardly any disk has room for.
pub(super) fn is_huge(text: &str) -> bool {
    bytes(text).is_some_and(|size| size >= HUGE)
}

/// Whether a count of blocks of a size is more than that.
pub(super) fn is_huge_product(block: &str, count: &str) -> bool {
    match (bytes(block), bytes(count)) {
        (Some(block), Some(count)) => block.saturating_mul(count) >= HUGE,
        _ => false,
    }
}

/// What a program hands on of data without end: filters pass it, most others stop reading.
pub(super) fn handed_on(call: Call<'_>, flow: Flow) -> Flow {
    if !flow.origin.endless || carries(call) {
        return flow;
    }
    let mut flow = flow;
    flow.origin.endless = false;
    flow
}

fn carries(call: Call<'_>) -> bool {
    let limited = |options: &[&str]| {
        call.args.iter().any(|arg| options.iter().any(|option| arg.text.starts_with(option)))
    };
    match call.name {
        "od" | "hexdump" | "hd" => !limited(&["-N", "-n"]),
        "xxd" => !limited(&["-l"]),
        "pv" => !limited(&["-S", "--stop-at-size"]),
        "sed" | "gsed" => !call.args.iter().any(|arg| arg.text.ends_with('q')),
        name => matches!(
            name,
            "yes"
                | "cat"
                | "dd"
                | "head"
                | "tr"
                | "tee"
                | "base64"
                | "base32"
                | "rev"
                | "nl"
                | "fold"
                | "cut"
                | "paste"
                | "expand"
                | "strings"
                | "gzip"
                | "bzip2"
                | "xz"
                | "zstd"
                | "lz4"
                | "pigz"
                | "openssl"
                | "gpg"
                | "sudo"
                | "doas"
                | "env"
                | "nohup"
                | "nice"
                | "ionice"
                | "setsid"
                | "stdbuf"
                | "unbuffer"
                | "time"
                | "command"
                | "builtin"
                | "exec"
                | "eval"
                | "busybox"
                | "toybox"
                | "sh"
                | "bash"
                | "dash"
                | "zsh"
                | "ksh"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("10K"), Some(10 << 10));
        assert_eq!(bytes("1.5GiB"), Some((3 << 30) / 2));
        assert_eq!(bytes("x"), None);
        assert_eq!(bytes(""), None);
    }

    #[test]
    fn only_what_no_disk_holds_is_huge() {
        assert!(is_huge("900G") && is_huge("2T") && is_huge_product("1M", "1000000"));
        assert!(!is_huge("20G") && !is_huge("1048576") && !is_huge_product("1M", "1024"));
    }
}
