//! The core as its users meet it: registration, gates, definitions and the road, against stand-ins.

#[cfg(test)]
mod authorising;
#[cfg(test)]
mod availability;
#[cfg(test)]
mod batches;
#[cfg(test)]
mod batches_at_random;
#[cfg(test)]
mod bridge;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod events;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod inner;
#[cfg(test)]
mod intake;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod registration;
#[cfg(test)]
mod repetition;
#[cfg(test)]
mod road_at_random;
#[cfg(test)]
mod running;
#[cfg(test)]
mod shaping;
mod smart;

#[cfg(test)]
fn json(outcome: &hermes_core::outcome::Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.body).unwrap_or_else(|bad| panic!("not JSON ({bad}): {}", outcome.body))
}

/// The error an outcome reports.
#[cfg(test)]
fn error(outcome: &hermes_core::outcome::Outcome) -> String {
    json(outcome)["error"].as_str().unwrap_or_else(|| panic!("no error: {}", outcome.body)).to_owned()
}
