//! `singularity`: commands run in an instance of Apptainer or Singularity, which needs no daemon and no
//! rights: the way onto clusters.

use super::{BackendDef, FlatKey, SIZED, flat};
use crate::apptainer::ApptainerSettings;

pub(crate) const BACKEND: BackendDef = BackendDef::far::<ApptainerSettings>("singularity", &[KEYS, SIZED]);

/// The settings in the flat form of the original.
const KEYS: &[FlatKey] = &[
    flat("image", "singularity_image", "TERMINAL_SINGULARITY_IMAGE"),
    flat("volumes", "singularity_volumes", "TERMINAL_SINGULARITY_VOLUMES"),
    flat("env", "singularity_env", "TERMINAL_SINGULARITY_ENV"),
    flat("forward_env", "singularity_forward_env", "TERMINAL_SINGULARITY_FORWARD_ENV"),
    flat("extra_args", "singularity_extra_args", "TERMINAL_SINGULARITY_EXTRA_ARGS"),
    flat("mount_cwd", "singularity_mount_cwd_to_workspace", "TERMINAL_SINGULARITY_MOUNT_CWD_TO_WORKSPACE"),
    flat("network", "singularity_network", "TERMINAL_SINGULARITY_NETWORK"),
    flat(
        "persist_across_processes",
        "singularity_persist_across_processes",
        "TERMINAL_SINGULARITY_PERSIST_ACROSS_PROCESSES",
    ),
    flat("binary", "singularity_binary", "HERMES_SINGULARITY_BINARY"),
    flat("scratch_dir", "scratch_dir", "TERMINAL_SCRATCH_DIR"),
    flat("disk_warning_gb", "disk_warning_gb", "TERMINAL_DISK_WARNING_GB"),
];
