//! `modal`: commands run in a sandbox of Modal.

use super::{BackendDef, DISK, FlatKey, SIZED, flat};
use crate::clouds::modal::{ModalSettings, written};

pub(crate) const BACKEND: BackendDef = BackendDef::far::<ModalSettings>("modal", &[KEYS, SIZED, DISK])
    .needing(&[&["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"]])
    .written(written);

/// The settings in the flat form of the original, and ours beside them.
const KEYS: &[FlatKey] = &[
    flat("mode", "modal_mode", "TERMINAL_MODAL_MODE"),
    flat("image", "modal_image", "TERMINAL_MODAL_IMAGE"),
    flat("app", "modal_app", "TERMINAL_MODAL_APP"),
    flat("environment", "modal_environment", "MODAL_ENVIRONMENT"),
    flat("forward_env", "modal_forward_env", "TERMINAL_MODAL_FORWARD_ENV"),
    flat("env", "modal_env", "TERMINAL_MODAL_ENV"),
    flat("network", "modal_network", "TERMINAL_MODAL_NETWORK"),
    flat("api_url", "modal_api_url", "MODAL_SERVER_URL"),
    flat("timeout_minutes", "modal_timeout_minutes", "TERMINAL_MODAL_TIMEOUT_MINUTES"),
];
