//! `daytona`: commands run in a sandbox of Daytona.

use super::{BackendDef, DISK, FlatKey, SIZED, flat};
use crate::clouds::daytona::DaytonaSettings;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<DaytonaSettings>("daytona", &[KEYS, SIZED, DISK])
    .needing(&[&["DAYTONA_API_KEY"], &["DAYTONA_JWT_TOKEN", "DAYTONA_ORGANIZATION_ID"]]);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("image", "daytona_image", "TERMINAL_DAYTONA_IMAGE"),
    flat("snapshot", "daytona_snapshot", "TERMINAL_DAYTONA_SNAPSHOT"),
    flat("forward_env", "daytona_forward_env", "TERMINAL_DAYTONA_FORWARD_ENV"),
    flat("env", "daytona_env", "TERMINAL_DAYTONA_ENV"),
    flat("network", "daytona_network", "TERMINAL_DAYTONA_NETWORK"),
    flat("target", "daytona_target", "DAYTONA_TARGET"),
    flat("api_url", "daytona_api_url", "DAYTONA_API_URL"),
    flat("auto_stop_minutes", "daytona_auto_stop_minutes", "TERMINAL_DAYTONA_AUTO_STOP_MINUTES"),
];
