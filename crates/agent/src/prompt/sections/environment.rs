//! Where the agent stands: machine, home, working directory.

use crate::prompt::{PromptFacts, Section};

pub(crate) const SECTION: Section = Section::new("environment", 50, environment);

fn environment(facts: &PromptFacts) -> Option<String> {
    let lines = [
        ("Host", &facts.host),
        ("Commands run in", &facts.backend),
        ("Home", &facts.home),
        ("Working directory", &facts.cwd),
    ];
    let known = lines.iter().filter_map(|(what, fact)| fact.as_ref().map(|fact| format!("- {what}: {fact}")));
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| format!("# Where you are\n{}", known.join("\n")))
}
