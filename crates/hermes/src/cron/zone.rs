//! The time zone that is meant where none is named.

use hermes_core::cron::JobError;
use hermes_core::schedule::{ScheduleError, zone};
use jiff::tz::TimeZone;

use crate::world::World;

/// `HERMES_TIMEZONE`, else `timezone` of the configuration, else the zone of this machine.
pub(super) fn of(world: &World) -> Result<TimeZone, JobError> {
    let set = |name: &str| world.variable(name).map(str::trim).filter(|value| !value.is_empty());
    if let Some(name) = set("HERMES_TIMEZONE") {
        return named("HERMES_TIMEZONE", name);
    }
    if let Some(name) = world.settings().timezone {
        return named("timezone in config.yaml", &name);
    }
    // The variable of the system may hold more than names; what we cannot read is left to the system.
    let of_system = set("TZ").and_then(|name| zone(name.trim_start_matches(':')).ok());
    Ok(of_system.unwrap_or_else(TimeZone::system))
}

fn named(place: &str, name: &str) -> Result<TimeZone, JobError> {
    zone(name).map_err(|wrong: ScheduleError| JobError::Invalid(format!("{place}: {wrong}")))
}
