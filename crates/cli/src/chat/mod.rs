//! The chat.
mod editor;
mod keys;
mod live;
mod markdown;
mod numbers;
mod preview;
mod screen;
mod show;
mod status;
mod talk;
mod text;
mod wrap;
