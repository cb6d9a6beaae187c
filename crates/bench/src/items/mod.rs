//! The items, one file each. A file here is an item; nothing else lists it.

use crate::item::ItemDef;

include!(concat!(env!("OUT_DIR"), "/items.rs"));

gathered! {
    /// Every item, sorted by name.
    pub(crate) static ITEMS: [&ItemDef] = ITEM;
}
