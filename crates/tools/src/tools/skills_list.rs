//! `skills_list`: which skills there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_core::cx::{Services, ToolCx};
use hermes_core::effect::Effect;
use hermes_core::error::{ToolError, ToolResult};
use hermes_core::gate::Gate;
use hermes_core::session::Place;
use hermes_core::skills::{SkillError, Skills, harmless, in_short};
use hermes_core::tool::{Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::skill_books::{self, books};
use crate::toolsets::skills;

pub(crate) const TOOL: ToolDef = ToolDef::of::<SkillsList>("skills_list", &skills::TOOLSET)
    .emoji("📚")
    .read_only()
    .looks_around()
    .gate(|| Gate::given::<Arc<dyn Skills>>("a state folder that keeps skills"));

/// List the skills that are there: instructions for kinds of work, each with its name and when it is
/// of use. Read one with `skill_view` before you begin something that it covers.
#[derive(Deserialize, JsonSchema)]
struct SkillsList {
    /// Only those of this category
    category: Option<String>,
}

impl Tool for SkillsList {
    fn effects(&self, _place: &Place) -> Vec<Effect> {
        Vec::new()
    }

    fn effects_with(&self, _place: &Place, services: &Services) -> Vec<Effect> {
        skill_books::reads(services)
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let failed = |why: SkillError| ToolError::Failed(why.to_string());
        let books = books(cx)?;
        let all = books.list(Some(skill_books::beside(cx))).await.map_err(failed)?;
        let mut categories: Vec<&str> = all.iter().filter_map(|skill| skill.category.as_deref()).collect();
        categories.sort_unstable();
        categories.dedup();
        let wanted = self.category.as_deref().map(str::trim).filter(|category| !category.is_empty());
        let shown: Vec<_> = all
            .iter()
            .filter(|skill| wanted.is_none_or(|wanted| skill.is_in(wanted)))
            .map(|skill| {
                let about = harmless(&skill.description);
                json!({ "name": skill.name, "description": about, "category": skill.category })
            })
            .collect();
        let hint = match (shown.len(), all.len(), wanted) {
            (0, 0, _) => "There are no skills yet.",
            (0, _, Some(_)) => "There is no skill in this category; the categories are listed.",
            _ => "skill_view shows what a skill says and which files belong to it.",
        };
        let mut answer = json!({
            "success": true,
            "skills": shown,
            "categories": categories,
            "count": shown.len(),
            "hint": hint,
        });
        let about =
            if categories.is_empty() { BTreeMap::new() } else { books.categories().await.map_err(failed)? };
        let about = about.into_iter().filter(|(name, _)| categories.contains(&name.as_str()));
        let about: Map<String, Value> = about.map(|(name, about)| (name, json!(in_short(&about)))).collect();
        if let Some(fields) = answer.as_object_mut().filter(|_| !about.is_empty()) {
            fields.insert("category_descriptions".to_owned(), Value::Object(about));
        }
        Ok(answer)
    }
}
