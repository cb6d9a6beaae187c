//! `hermes-gateway`: all messaging platforms together.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("hermes-gateway", "Everything that any messaging platform has.").includes(&[
        "hermes-telegram",
        "hermes-discord",
        "hermes-whatsapp",
        "hermes-slack",
        "hermes-signal",
        "hermes-bluebubbles",
        "hermes-homeassistant",
        "hermes-email",
        "hermes-sms",
        "hermes-mattermost",
        "hermes-matrix",
        "hermes-dingtalk",
        "hermes-feishu",
        "hermes-wecom",
        "hermes-wecom-callback",
        "hermes-weixin",
        "hermes-qqbot",
        "hermes-webhook",
        "hermes-yuanbao",
    ]);
