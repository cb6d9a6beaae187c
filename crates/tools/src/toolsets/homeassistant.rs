//! `homeassistant`: the house.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("homeassistant", "See and control the devices of a Home Assistant.")
        .tools(&["ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"])
        .configurable()
        .unlocked_by("HASS_TOKEN");
