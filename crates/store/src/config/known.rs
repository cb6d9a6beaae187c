//! The keys that mean something, so that a misspelt one is noticed.

/// Top-level keys of `config.yaml`, whether or not they are used yet.
pub(super) const TOP_LEVEL: &[&str] = &[
    "_config_version",
    "agent",
    "approvals",
    "auxiliary",
    "bedrock",
    "browser",
    "checkpoints",
    "code_execution",
    "command_allowlist",
    "compression",
    "computer_use",
    "context",
    "context_file_max_chars",
    "credential_pool_strategies",
    "cron",
    "curator",
    "custom_providers",
    "dashboard",
    "delegation",
    "display",
    "fallback_model",
    "fallback_providers",
    "file_read_max_chars",
    "gateway",
    "goals",
    "hooks",
    "hooks_auto_accept",
    "human_delay",
    "image_gen",
    "kanban",
    "known_plugin_toolsets",
    "logging",
    "lsp",
    "mcp",
    "mcp_discovery_timeout",
    "mcp_servers",
    "memory",
    "moa",
    "model",
    "network",
    "openrouter",
    "paste_collapse_threshold",
    "personalities",
    "platform_hints",
    "platform_toolsets",
    "platforms",
    "plugins",
    "privacy",
    "prompt_caching",
    "providers",
    "quick_commands",
    "rl",
    "secrets",
    "security",
    "sessions",
    "skills",
    "streaming",
    "stt",
    "terminal",
    "timezone",
    "tool_loop_guardrails",
    "tool_output",
    "tools",
    "toolsets",
    "tts",
    "updates",
    "video_gen",
    "voice",
    "web",
    "x_search",
];

/// Chat platforms: each may have a block of its own at the top level.
pub(super) const PLATFORMS: &[&str] = &[
    "api_server",
    "bluebubbles",
    "dingtalk",
    "discord",
    "email",
    "feishu",
    "google_chat",
    "homeassistant",
    "irc",
    "line",
    "matrix",
    "mattermost",
    "msgraph_webhook",
    "ntfy",
    "photon",
    "qqbot",
    "raft",
    "relay",
    "signal",
    "simplex",
    "slack",
    "sms",
    "teams",
    "telegram",
    "webhook",
    "wecom",
    "wecom_callback",
    "weixin",
    "whatsapp",
    "whatsapp_cloud",
    "yuanbao",
];

/// What else there may be lists of tools for.
pub(super) const OWN_DOORS: &[&str] = &["acp", "cli", "cron", "gateway", "mcp"];

/// The candidate most like `name`, if one is like it at all.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let score = strsim::jaro_winkler(&name.to_lowercase(), candidate);
        let edits = strsim::damerau_levenshtein(&name.to_lowercase(), candidate);
        let alike = edits <= 1 + candidate.len() / 5;
        if alike && best.is_none_or(|(found, _)| score > found) {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_hold_each_key_once() {
        for list in [TOP_LEVEL, PLATFORMS] {
            assert!(list.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_key_and_a_foreign_word_none() {
        let near = |name| nearest(name, TOP_LEVEL.iter().copied());

        assert_eq!(near("toolset"), Some("toolsets"));
        assert_eq!(near("platfrom_toolsets"), Some("platform_toolsets"));
        assert_eq!(near("Approvals"), Some("approvals"));
        assert_eq!(near("zebra"), None);
    }
}
