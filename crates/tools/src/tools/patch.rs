//! `patch`: a piece of a file replaced, or a patch over several files, all or nothing.

use hermes_core::cx::ToolCx;
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::session::Place;
use hermes_core::tool::{MaxSize, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::choice::choosable;
use crate::matching::Places;
use crate::patching::{self, Replacement};
use crate::toolsets::file;
use crate::v4a;

pub(crate) const TOOL: ToolDef = ToolDef::of::<Patch>("patch", &file::TOOLSET)
    .emoji("🔧")
    .max_result(MaxSize::Chars(100_000))
    .placed()
    .dynamic(choosable);

/// Change files. Mode `replace` puts `new_string` in place of `old_string` in one file: `old_string`
/// must be in the file exactly once (give enough lines around it) unless `replace_all` is true; small
/// differences in blanks, indentation or quotes are overlooked and the file's own style is kept.
/// Mode `patch` takes one patch text over any number of files, applied all or nothing:
/// `*** Update File: path` with `@@ nearby line` hints and lines that begin with a space (kept),
/// `-` (removed) or `+` (added); `*** Add File: path` with `+` lines; `*** Delete File: path`;
/// `*** Move File: old -> new`. The result is a diff of what changed.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("required" = ["mode"]))]
#[expect(clippy::struct_field_names, reason = "the names are the contract")]
struct Patch {
    /// Replace text in one file, or apply a patch text
    #[serde(default)]
    mode: Mode,
    /// Mode replace: path of the file
    path: Option<String>,
    /// Mode replace: the text to find, with enough lines around it to be unique
    old_string: Option<String>,
    /// Mode replace: the text to put in its place; may be empty
    new_string: Option<String>,
    /// Mode replace: change every place where `old_string` is found
    #[serde(default)]
    replace_all: bool,
    /// Mode patch: the patch text
    patch: Option<String>,
    /// Set only when the user asked for a file of another profile to be changed
    #[serde(default)]
    #[expect(dead_code, reason = "policy reads it in the arguments")]
    cross_profile: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Replace,
    Patch,
}

impl Tool for Patch {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let write = |path: &str| Effect::Write(place.resolve(path));
        match self.mode {
            Mode::Replace => self.path.iter().map(|path| write(path)).collect(),
            // A text that is no patch does nothing.
            Mode::Patch => {
                let ops = v4a::parse(self.patch.as_deref().unwrap_or_default()).unwrap_or_default();
                ops.iter().flat_map(v4a::Op::paths).map(write).collect()
            }
        }
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let done = match self.mode {
            Mode::Replace => match self.replacement() {
                Ok(wanted) => patching::replace(cx, wanted).await,
                Err(why) => Err(why),
            },
            Mode::Patch => match self.patch.as_deref().filter(|patch| !patch.trim().is_empty()) {
                Some(patch) => patching::apply(cx, patch).await,
                None => Err(ToolError::Arguments("mode patch needs `patch`, the patch text".to_owned())),
            },
        };
        done.or_else(|why| match why {
            ToolError::Failed(text) => Ok(failure(&text)),
            ToolError::File(wrong) => Ok(failure(&wrong.to_string())),
            other => Err(other),
        })
    }
}

impl Patch {
    fn replacement(&self) -> Result<Replacement<'_>, ToolError> {
        let need = |name: &str| {
            let extra = if self.patch.is_some() { "; to apply `patch`, set mode to `patch`" } else { "" };
            ToolError::Arguments(format!("mode replace needs `{name}`{extra}"))
        };
        Ok(Replacement {
            path: self.path.as_deref().filter(|path| !path.is_empty()).ok_or_else(|| need("path"))?,
            old: self.old_string.as_deref().ok_or_else(|| need("old_string"))?,
            new: self.new_string.as_deref().ok_or_else(|| need("new_string"))?,
            places: if self.replace_all { Places::All } else { Places::One },
        })
    }
}

fn failure(why: &str) -> Value {
    json!({ "success": false, "error": why })
}
