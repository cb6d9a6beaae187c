//! `alibaba`: Qwen by key.

use crate::provider::{CacheMarks, ModelDef, ProviderDef, Quirks, Wire};

pub(crate) const PROVIDER: ProviderDef = ProviderDef::new(
    "alibaba",
    "Alibaba Model Studio",
    Wire::Chat,
    "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
)
.aliases(&["qwen", "dashscope"])
.key(&["DASHSCOPE_API_KEY"], "https://modelstudio.console.alibabacloud.com/")
.url_env("DASHSCOPE_BASE_URL")
.default_model("qwen3-max")
.quirks(Quirks { cache: CacheMarks::Named(&["qwen"]), ..Quirks::OPEN_MODELS })
.models(MODELS);

const MODELS: &[ModelDef] = &[
    ModelDef::new("qwen3-max", 262_144).output(65_536).price(1.2, 6.0, 0.24, 0.0),
    ModelDef::new("qwen3-coder-plus", 1_000_000).output(65_536).price(1.0, 5.0, 0.1, 0.0),
    ModelDef::new("qwen3-coder-flash", 1_000_000).output(65_536),
    ModelDef::new("qwen-plus", 1_000_000).output(32_768).price(0.4, 1.2, 0.16, 0.0),
    ModelDef::new("qwen3-vl", 262_144).output(32_768).sees(),
    ModelDef::new("qwen-turbo", 1_000_000).output(16_384),
];
