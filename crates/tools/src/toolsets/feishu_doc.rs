//! `feishu_doc`: Feishu documents.

use hermes_core::toolset::Toolset;

pub(crate) const TOOLSET: Toolset =
    Toolset::new("feishu_doc", "Read documents in Feishu.").tools(&["feishu_doc_read"]);
