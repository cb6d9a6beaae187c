//! `rl`: training a model by reinforcement learning.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("rl", "Train a model by reinforcement learning with Tinker and atropos.")
        .tools(&[
            "rl_list_environments",
            "rl_select_environment",
            "rl_get_current_config",
            "rl_edit_config",
            "rl_start_training",
            "rl_check_status",
            "rl_stop_training",
            "rl_get_results",
            "rl_list_runs",
            "rl_test_inference",
        ])
        .configurable()
        .default_off();
