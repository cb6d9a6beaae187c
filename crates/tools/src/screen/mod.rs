//! The screen of an X display, by the programs that people use for it: `xdotool` for mouse and keyboard,
//! `xwininfo` for what is there, `import` for pictures.
//!
//! - [`script`]: from what is wanted to one shell script; pure
//! - [`keys`]: names of keys, and what is never pressed or typed
//! - [`seen`]: from what a script wrote to windows and a picture; pure
//! - [`tell`]: all of it in words
//!
//! Nothing is remembered between calls. Windows are known by their numbers, and coordinates are those of
//! the picture that a capture with the same target gives, which the script works out again each time.

pub(crate) mod keys;
pub(crate) mod script;
pub(crate) mod seen;
pub(crate) mod tell;

/// Longest side of a picture, in dots; larger ones are made smaller.
pub(crate) const LONGEST_SIDE: u32 = 1456;

/// The programs that are needed.
pub(crate) const PROGRAMS: [&str; 3] = ["xdotool", "xwininfo", "import"];
