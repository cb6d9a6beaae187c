//! `skill_manage`: write skills down, change them, take them away.

use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::skills::{SKILL_FILE, SkillChange, SkillError, Skills};
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::matching::{Miss, Places, replace};
use crate::skill_books::{books, failure};
use crate::toolsets::skills;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SkillManage>("skill_manage", &skills::TOOLSET)
    .emoji("📝")
    .gate(|| Gate::given::<Arc<dyn Skills>>("a state folder that keeps skills"));

/// Most characters of a file that are shown when a piece was not found in it.
const PREVIEW: usize = 500;

/// Write down how a kind of work is done, so that it goes well next time; change or remove such
/// skills. Worth writing: a workflow that took several tries, a fix that was hard to find, what the
/// person corrected. Not: one-off results, what is easily found. Actions: create (whole SKILL.md in
/// content: a line `---`, `name:` and `description:`, a line `---`, then numbered steps, pitfalls and
/// how to check), patch (`old_string` → `new_string`, the usual way to change), edit (whole SKILL.md
/// again), delete; the other two write and remove files in references/, templates/, scripts/, assets/.
#[derive(Deserialize, JsonSchema)]
struct SkillManage {
    /// What to do
    action: Action,
    /// The skill's name: lower case, digits, dots, dashes, at most 64 characters
    name: String,
    /// The whole SKILL.md, for create and edit
    content: Option<String>,
    /// The text to replace, for patch; it must be found in one place
    old_string: Option<String>,
    /// What to put in its place, for patch; empty to take it away
    new_string: Option<String>,
    /// Replace every place, for patch
    replace_all: Option<bool>,
    /// A folder to put the new skill in, for create
    category: Option<String>,
    /// The file that is meant, when one is written, removed or patched (SKILL.md if left out for patch)
    file_path: Option<String>,
    /// The whole text of a file that is written
    file_content: Option<String>,
    /// The skill that has taken over what this one says, for delete; empty if none has
    absorbed_into: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Patch,
    Edit,
    Delete,
    WriteFile,
    RemoveFile,
}

impl Tool for SkillManage {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, _place: &Place, services: &Services) -> Vec<Effect> {
        let Some(skills) = services.service::<Arc<dyn Skills>>() else { return Vec::new() };
        vec![Effect::Write(skills.target(self.name.trim(), self.category()))]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let skills = books(cx)?;
        let name = self.name.trim().to_owned();
        let target = skills.target(&name, self.category());
        let permit = cx.may_write(&cx.files().real_path(&target.to_string_lossy()))?;
        let action = self.action;
        let (change, note) = match self.change(skills.as_ref(), name.clone()).await? {
            Ok(planned) => planned,
            Err(answer) => return Ok(answer),
        };
        let done = skills.change(permit, change).await;
        Ok(match done {
            Ok(changed) => {
                let mut answer =
                    json!({ "success": true, "message": said(action, &name, note), "path": changed.path });
                if let (Some(fields), Some(file)) = (answer.as_object_mut(), changed.file) {
                    let key = if action == Action::Create { "skill_md" } else { "file" };
                    fields.insert(key.to_owned(), json!(file.display().to_string()));
                }
                answer
            }
            Err(why) => failure(&why),
        })
    }
}

/// A change and what is to be said about it, or an answer that says why there is none.
type Planned = Result<(SkillChange, Option<String>), Value>;

impl SkillManage {
    fn category(&self) -> Option<&str> {
        self.category.as_deref().map(str::trim).filter(|category| !category.is_empty())
    }

    async fn change(self, skills: &dyn Skills, name: String) -> Result<Planned, ToolError> {
        let category = self.category().map(str::to_owned);
        // Models that fill in every field leave those empty that they do not mean.
        let file_path = self.file_path.filter(|file| !file.trim().is_empty());
        let need = |value: Option<String>, field: &str, what: &str| {
            value.ok_or_else(|| ToolError::Arguments(format!("{field} is needed: {what}")))
        };
        let whole = "the whole SKILL.md";
        let file = "the file, such as references/api.md";
        Ok(Ok(match self.action {
            Action::Create => {
                (SkillChange::Create { name, category, text: need(self.content, "content", whole)? }, None)
            }
            Action::Edit => {
                let text = need(self.content, "content", whole)?;
                (SkillChange::Rewrite { name, file: None, text, before: None }, None)
            }
            Action::Delete => (SkillChange::Delete { name, absorbed_into: self.absorbed_into }, None),
            Action::WriteFile => {
                let file = need(file_path, "file_path", file)?;
                let text = need(self.file_content, "file_content", "the whole text of the file")?;
                (SkillChange::WriteFile { name, file, text }, None)
            }
            Action::RemoveFile => {
                (SkillChange::RemoveFile { name, file: need(file_path, "file_path", file)? }, None)
            }
            Action::Patch => {
                let old = need(self.old_string, "old_string", "the text to replace")?;
                let new = need(self.new_string, "new_string", "what to put in its place")?;
                let places = if self.replace_all.unwrap_or_default() { Places::All } else { Places::One };
                return Ok(patched(skills, name, file_path, (&old, &new), places).await);
            }
        }))
    }
}

/// A piece of text replaced in what the file says now.
async fn patched(
    skills: &dyn Skills,
    name: String,
    file: Option<String>,
    (old, new): (&str, &str),
    places: Places,
) -> Planned {
    let path = file.clone().unwrap_or_else(|| SKILL_FILE.to_owned());
    let there = skills.file(&name, &path).await.map_err(|why| failure(&why))?;
    let Some(before) = there.text else {
        return Err(failure(&SkillError::NotText(path)));
    };
    match replace(&before, old, new, places) {
        Ok(edit) => {
            let note = edit.ignoring.map(|ignoring| format!("found by ignoring {ignoring}"));
            Ok((SkillChange::Rewrite { name, file, text: edit.text, before: Some(before) }, note))
        }
        Err(miss) => {
            let mut answer = failure(&SkillError::Invalid(missed(&path, &miss)));
            if let (Some(fields), Miss::Nowhere { .. }) = (answer.as_object_mut(), &miss) {
                let preview: String = before.chars().take(PREVIEW).collect();
                fields.insert("file_preview".to_owned(), json!(preview));
            }
            Err(answer)
        }
    }
}

fn missed(path: &str, miss: &Miss) -> String {
    match miss {
        Miss::Empty => "old_string is empty".to_owned(),
        Miss::Same => "old_string and new_string are the same".to_owned(),
        Miss::Unchanged => format!("{path} says so already"),
        Miss::Nowhere { .. } => format!("old_string was not found in {path}"),
        Miss::Several { lines } => {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            format!(
                "old_string is in {path} in several places (lines {}); give more of the text around it, or \
                 replace_all",
                lines.join(", ")
            )
        }
    }
}

fn said(action: Action, name: &str, note: Option<String>) -> String {
    let done = match action {
        Action::Create => "was created; new sessions begin with it in their list",
        Action::Patch | Action::Edit => "was changed",
        Action::Delete => "was taken away; a copy is kept",
        Action::WriteFile => "has the file now",
        Action::RemoveFile => "has the file no more",
    };
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    format!("The skill `{name}` {done}{note}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_piece_was_not_replaced_is_told() {
        assert_eq!(
            missed("SKILL.md", &Miss::Nowhere { near: Vec::new() }),
            "old_string was not found in SKILL.md"
        );
        assert!(missed("SKILL.md", &Miss::Several { lines: vec![2, 9] }).contains("lines 2, 9"));
    }
}
