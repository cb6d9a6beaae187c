//! What helps when a list of toolsets in the configuration names what nobody has.

use hermes_core::toolset::{PlatformLists, SelectionError};

use crate::foreign::tool_files::{SAFE_WORDS, is_safe};
use crate::runtime::Runtime;

impl Runtime {
    /// What helps when nothing could be selected because the lists for a platform name what nobody has; nothing
    /// when that is not why.
    pub fn way_out_of(&self, wrong: &SelectionError, platform: &str) -> Option<String> {
        let SelectionError::Unknown(unknown) = wrong else { return None };
        let lists = self.platform_lists(platform);
        let names = unknown.iter().map(|unknown| unknown.name.as_str());
        let listed: Vec<&str> = names.filter(|name| is_in(&lists, name)).collect();
        if listed.is_empty() {
            return None;
        }
        if self.world(is_safe) {
            return Some(format!("{SAFE_WORDS}, so that their names are not known"));
        }
        let place = if platform == "cli" { String::new() } else { format!(" --platform {platform}") };
        let it = if listed.len() == 1 { "it" } else { "them" };
        Some(format!("`hermes tools disable {}{place}` takes {it} out of the lists", listed.join(" ")))
    }
}

/// Whether one of the lists has this name, to bring it in or to leave it out.
fn is_in(lists: &PlatformLists, name: &str) -> bool {
    let all = lists.toolsets.iter().flatten().chain(&lists.disabled_toolsets).chain(&lists.disabled_tools);
    all.map(|listed| listed.trim().trim_start_matches('!').trim_start()).any(|listed| listed == name)
}
