//! Numbers as people read them.

use std::time::Duration;

/// `1.2s`, `34s`, `2m 05s`, `1h 02m`.
pub(crate) fn seconds(time: f64) -> String {
    let whole = Duration::try_from_secs_f64(time).unwrap_or_default().as_secs();
    match whole {
        0..10 => format!("{:.1}s", time.max(0.0)),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole / 60 % 60),
    }
}

/// `950`, `12.3k`, `1.2M`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{:.1}k", count as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// `$0.0042`, `$1.20`.
pub(crate) fn dollars(cost: f64) -> String {
    if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// `84%` of a share between 0 and 1.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share.clamp(0.0, 1.0) * 100.0)
}

/// How much of the sent tokens came from the provider's cache.
#[expect(clippy::cast_precision_loss, reason = "a share is shown as a whole percentage")]
pub(crate) fn cache_share(read: u64, sent: u64) -> Option<f64> {
    (sent > 0).then(|| read as f64 / sent as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.04, 9.97, 12.0, 65.4, 3725.0].map(seconds),
            ["0.0s", "10.0s", "12s", "1m 05s", "1h 02m"]
        );
        assert_eq!([7, 12_340, 250_000, 1_250_000].map(tokens), ["7", "12.3k", "250k", "1.2M"]);
        assert_eq!([0.00421, 1.2].map(dollars), ["$0.0042", "$1.20"]);
        assert_eq!(percent(0.837), "84%");
        assert_eq!(cache_share(1, 0), None);
    }
}
