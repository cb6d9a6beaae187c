//! `openrouter`: many models of many providers behind one key.

use crate::provider::{CacheMarks, EffortStyle, ModelDef, ProviderDef, Quirks, Thoughts, Wire};

pub(crate) const PROVIDER: ProviderDef =
    ProviderDef::new("openrouter", "OpenRouter", Wire::Chat, "https://openrouter.ai/api/v1")
        .key(&["OPENROUTER_API_KEY"], "https://openrouter.ai/keys")
        .default_model("anthropic/claude-sonnet-4.5")
        .headers(&[("HTTP-Referer", "https://hermes-agent.nousresearch.com"), ("X-Title", "Hermes")])
        .quirks(Quirks {
            cache: CacheMarks::Named(&["claude", "kimi", "qwen"]),
            effort: EffortStyle::Object,
            thoughts: Thoughts::Details,
            ..Quirks::OPEN_MODELS
        })
        .models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("anthropic/claude-opus-4.5", 200_000).output(64_000).sees().price(5.0, 25.0, 0.5, 6.25),
    ModelDef::new("anthropic/claude-sonnet-4.5", 1_000_000).output(64_000).sees().price(3.0, 15.0, 0.3, 3.75),
    ModelDef::new("anthropic/claude-haiku-4.5", 200_000).output(64_000).sees().price(1.0, 5.0, 0.1, 1.25),
    ModelDef::new("openai/gpt-5", 400_000).output(128_000).sees().price(1.25, 10.0, 0.125, 0.0),
    ModelDef::new("openai/gpt-5-mini", 400_000).output(128_000).sees().price(0.25, 2.0, 0.025, 0.0),
    ModelDef::new("openai/gpt-oss-120b", 131_072),
    ModelDef::new("google/gemini-2.5-pro", 1_048_576).output(65_536).sees().price(1.25, 10.0, 0.31, 0.0),
    ModelDef::new("google/gemini-2.5-flash", 1_048_576).output(65_536).sees().price(0.3, 2.5, 0.075, 0.0),
    ModelDef::new("deepseek/deepseek-chat", 163_840),
    ModelDef::new("deepseek/deepseek-r1", 163_840),
    ModelDef::new("qwen/qwen3-coder", 262_144),
    ModelDef::new("moonshotai/kimi-k2", 262_144),
    ModelDef::new("z-ai/glm-4.6", 202_752),
    ModelDef::new("x-ai/grok-4", 256_000).sees().price(3.0, 15.0, 0.75, 0.0),
    ModelDef::new("nousresearch/hermes-4-70b", 131_072),
    ModelDef::new("nousresearch/hermes-4-405b", 131_072),
    ModelDef::new("meta-llama/llama-4-maverick", 1_048_576).sees(),
    ModelDef::new("meta-llama/llama-3.3-70b-instruct", 131_072),
    ModelDef::new("mistralai/mistral-large", 131_072),
];
