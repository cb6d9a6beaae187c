//! `vercel_sandbox`: commands run in a sandbox of Vercel.

use super::{BackendDef, DISK, FlatKey, SIZED, flat};
use crate::clouds::vercel::VercelSettings;

pub(crate) const BACKEND: BackendDef =
    BackendDef::far::<VercelSettings>("vercel_sandbox", &[KEYS, SIZED, DISK])
        .needing(&[&["VERCEL_TOKEN", "VERCEL_PROJECT_ID", "VERCEL_TEAM_ID"], &["VERCEL_OIDC_TOKEN"]]);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("runtime", "vercel_runtime", "TERMINAL_VERCEL_RUNTIME"),
    flat("image", "vercel_image", "TERMINAL_VERCEL_IMAGE"),
    flat("forward_env", "vercel_forward_env", "TERMINAL_VERCEL_FORWARD_ENV"),
    flat("env", "vercel_env", "TERMINAL_VERCEL_ENV"),
    flat("network", "vercel_network", "TERMINAL_VERCEL_NETWORK"),
    flat("region", "vercel_region", "VERCEL_REGION"),
    flat("api_url", "vercel_api_url", "TERMINAL_VERCEL_API_URL"),
    flat("timeout_minutes", "vercel_timeout_minutes", "TERMINAL_VERCEL_TIMEOUT_MINUTES"),
];
