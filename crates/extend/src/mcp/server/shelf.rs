//! Resources and prompts that an embedder may offer beside its tools.

use futures::future::BoxFuture;
use rmcp::model::{
    CompleteRequestParams, CompletionInfo, GetPromptRequestParams, GetPromptResult, Prompt, Resource,
    ResourceContents, ResourceTemplate,
};

/// Offers resources and prompts. Everything may be asked often and should be at hand.
pub trait Shelf: Send + Sync + 'static {
    /// What can be read.
    fn resources(&self) -> Vec<Resource>;

    /// Families of things that can be read.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Reads one; nothing when there is no such thing.
    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<ResourceContents>>>;

    /// The prompts.
    fn prompts(&self) -> Vec<Prompt>;

    /// One of them with its arguments filled in; the error is in words for the client.
    fn prompt(&self, wanted: &GetPromptRequestParams) -> Result<GetPromptResult, String>;

    /// Values that an argument could have.
    fn complete(&self, wanted: &CompleteRequestParams) -> CompletionInfo;
}
