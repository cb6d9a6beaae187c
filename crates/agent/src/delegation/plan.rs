//! Who gets which task and which tools: pure decisions.

use std::time::Duration;

use hermes_core::model::Part;
use serde::{Deserialize, Serialize};

/// How far work may be handed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most children at a time.
    pub at_once: usize,
    /// How deep children may have children: with 1, only the first agent has any.
    pub depth: u32,
    /// Most answers of a model for one child.
    pub budget: u32,
    /// Most characters of what a child hands back.
    pub summary: usize,
    /// Longest time for one child, when there is a limit.
    pub timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { at_once: 3, depth: 1, budget: 50, summary: 24_000, timeout: None }
    }
}

/// Whether a child may hand work on itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It does the work.
    #[default]
    Leaf,
    /// It may have children of its own, as far as the depth allows.
    Orchestrator,
}

/// A task as the model asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TaskSpec {
    /// What is to be done.
    pub goal: String,
    /// What the child needs to know.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether it may hand work on.
    #[serde(default)]
    pub role: Role,
}

/// A task for one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildTask {
    /// Its place among the tasks.
    pub index: usize,
    /// What is to be done.
    pub goal: String,
    /// What the child needs to know.
    pub context: Option<String>,
    /// What it may do; decided here, not by the model alone.
    pub role: Role,
    /// How deep the child is: children of the first agent are at 1.
    pub depth: u32,
    /// Most answers of a model.
    pub budget: u32,
}

impl ChildTask {
    /// What the child is told.
    pub fn input(&self) -> Vec<Part> {
        let context = self.context.as_deref().map(str::trim).filter(|context| !context.is_empty());
        let context =
            context.map(|context| format!("\n\nWhat you need to know:\n{context}")).unwrap_or_default();
        let text = format!(
            "{}{context}\n\nYou work alone and nobody can answer questions. When you are done, say what you did, \
             what you found, which files you changed, and what is left. Your last answer is all that is read.",
            self.goal.trim()
        );
        vec![Part::Text { text }]
    }
}

/// Tools no child has. The last one is there for those that may hand work on.
const WITHHELD: &[&str] = &["clarify", "memory", "send_message", "execute_code", "cronjob"];
const HAND_ON: &str = "delegate_task";

/// The tasks of the children of an agent at `depth` (0 for the first), or why there are none.
pub fn plan(specs: Vec<TaskSpec>, depth: u32, limits: &Limits) -> Result<Vec<ChildTask>, String> {
    if depth >= limits.depth {
        return Err(format!("children may not go deeper than {}; do the work yourself", limits.depth));
    }
    if specs.is_empty() {
        return Err("there is no task: give a goal, or a list of tasks".to_owned());
    }
    if specs.len() > limits.at_once {
        return Err(format!("{} tasks are too many: at most {} at a time", specs.len(), limits.at_once));
    }
    if let Some(at) = specs.iter().position(|spec| spec.goal.trim().is_empty()) {
        return Err(format!("task {at} has no goal"));
    }
    let depth = depth + 1;
    let task = |(index, spec): (usize, TaskSpec)| ChildTask {
        index,
        role: if depth < limits.depth { spec.role } else { Role::Leaf },
        goal: spec.goal,
        context: spec.context,
        depth,
        budget: limits.budget,
    };
    Ok(specs.into_iter().enumerate().map(task).collect())
}

/// Which of its parent's tools a child gets, in the same order.
pub fn child_tools(parent: &[String], role: Role) -> Vec<String> {
    let may = |tool: &&String| {
        !WITHHELD.contains(&tool.as_str()) && (role == Role::Orchestrator || tool.as_str() != HAND_ON)
    };
    parent.iter().filter(may).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(goal: &str) -> TaskSpec {
        TaskSpec { goal: goal.to_owned(), ..TaskSpec::default() }
    }

    #[test]
    fn children_have_no_children_unless_the_depth_allows() {
        let boss = TaskSpec { role: Role::Orchestrator, ..spec("a") };
        assert_eq!(plan(vec![boss.clone()], 0, &Limits::default()).unwrap()[0].role, Role::Leaf);
        let deep = Limits { depth: 2, ..Limits::default() };
        assert_eq!(plan(vec![boss.clone()], 0, &deep).unwrap()[0].role, Role::Orchestrator);
        assert_eq!(plan(vec![boss.clone()], 1, &deep).unwrap()[0].role, Role::Leaf);

        assert!(plan(vec![boss], 1, &Limits::default()).unwrap_err().contains("deeper"));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let limits = Limits::default();

        assert!(plan(vec![], 0, &limits).unwrap_err().contains("no task"));
        assert!(plan(vec![spec("a"); 4], 0, &limits).unwrap_err().contains("at most 3"));
        assert!(plan(vec![spec("a"), spec(" ")], 0, &limits).unwrap_err().contains("task 1"));
    }

    #[test]
    fn children_do_not_speak_for_the_user() {
        let all = ["read_file", "memory", "delegate_task", "clarify", "terminal", "execute_code"]
            .map(str::to_owned);

        assert_eq!(child_tools(&all, Role::Leaf), ["read_file", "terminal"]);
        assert_eq!(child_tools(&all, Role::Orchestrator), ["read_file", "delegate_task", "terminal"]);
    }
}
