//! The chat.
mod markdown;
mod text;
mod wrap;
