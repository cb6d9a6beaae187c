//! From what `config.yaml` says to what the core wants to know.

use std::time::Duration;

use hermes_core::bridge::{ToolSearch, When};
use hermes_core::definitions::DefinitionSettings;
use hermes_core::loop_guard::{self, Thresholds};
use hermes_core::road::RoadLimits;
use hermes_core::shape::cap;
use hermes_store::Settings;
use hermes_store::config::{Repeats, Switch};

/// Limits of the road; where the model's context is known, results are held to their share of it.
pub(crate) fn road_limits(settings: &Settings, context_tokens: Option<u64>) -> RoadLimits {
    let limits = &settings.tools.limits;
    let chars = |configured: u64| usize::try_from(configured).unwrap_or(usize::MAX);
    let share = cap::Limits::for_context(context_tokens);
    RoadLimits {
        batch: limits.batch_timeout.unwrap_or(Duration::MAX),
        ask: settings.approvals.timeout,
        at_once: usize::try_from(limits.max_parallel).unwrap_or(usize::MAX).max(1),
        results: cap::Limits {
            per_result: chars(limits.result_chars).min(share.per_result),
            per_turn: chars(limits.turn_chars).min(share.per_turn),
            preview: chars(limits.preview_chars),
        },
        ..RoadLimits::default()
    }
}

/// Most bytes of large results kept per session.
pub(crate) fn spill_bytes(settings: &Settings) -> u64 {
    settings.tools.limits.spill_mb.saturating_mul(1024 * 1024)
}

/// How definitions are made.
pub(crate) fn definitions(settings: &Settings) -> DefinitionSettings {
    let search = &settings.tools.tool_search;
    DefinitionSettings {
        search: ToolSearch {
            when: match search.enabled {
                Switch::Auto => When::Auto,
                Switch::On => When::On,
                Switch::Off => When::Off,
            },
            threshold_pct: search.threshold_pct,
            default_limit: search.search_default_limit,
            max_limit: search.max_search_limit,
            include_core: search.include_core,
        },
        ..DefinitionSettings::default()
    }
}

/// When repeated calls are warned about or stopped.
pub(crate) fn loop_guard(settings: &Settings) -> loop_guard::Settings {
    let guard = &settings.tool_loop_guardrails;
    let thresholds = |repeats: &Repeats| {
        let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Thresholds {
            exact_failure: count(repeats.exact_failure),
            same_tool_failure: count(repeats.same_tool_failure),
            idempotent_no_progress: count(repeats.idempotent_no_progress),
        }
    };
    loop_guard::Settings {
        warnings_enabled: guard.warnings_enabled,
        hard_stop_enabled: guard.hard_stop_enabled,
        warn_after: thresholds(&guard.warn_after),
        hard_stop_after: thresholds(&guard.hard_stop_after),
    }
}
