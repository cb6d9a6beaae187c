//! The sections, one file each.

use super::Section;

include!(concat!(env!("OUT_DIR"), "/prompt.sections.rs"));

gathered! {
    /// Every section, sorted by name.
    pub(super) static SECTIONS: [&Section] = SECTION;
}
