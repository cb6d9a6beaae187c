//! The chat.
mod editor;
mod keys;
mod markdown;
mod screen;
mod talk;
mod text;
mod wrap;
