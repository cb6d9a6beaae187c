//! `hermes policy rules`: every rule, with its examples.

use hermes::guard::rules::RULES;
use hermes::guard::{Hold, Rule};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Rules {
    /// Only this rule, with all its examples
    name: Option<String>,
}

impl Run for Rules {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let chosen: Vec<&Rule> = match &self.name {
            None => RULES.to_vec(),
            Some(name) => vec![hermes::guard::rules::rule(name).ok_or_else(|| unknown(name))?],
        };
        if shell.out.wants_json() {
            return shell.out.json(&chosen.iter().map(|rule| described(rule)).collect::<Vec<_>>());
        }
        match (&self.name, chosen.as_slice()) {
            (Some(_), [rule]) => one(rule, shell),
            _ => shell.out.table(&["RULE", "HOLDS", "WHAT IT IS ABOUT", "FOR EXAMPLE"], &rows(&chosen)),
        }
    }
}

fn unknown(name: &str) -> Failure {
    Failure::usage(hermes::core::toolset::UnknownName::among(name, RULES.iter().map(|rule| rule.name)))
}

fn holds(rule: &Rule) -> &'static str {
    match rule.hold {
        Hold::Ask => "asks",
        Hold::Never => "never allowed",
    }
}

fn described(rule: &Rule) -> Value {
    json!({
        "name": rule.name,
        "about": rule.says,
        "holds": holds(rule),
        "catches": rule.catches,
        "leaves_alone": rule.spares,
    })
}

fn rows(rules: &[&Rule]) -> Vec<Vec<Cell>> {
    let tone = |rule: &Rule| if rule.hold == Hold::Never { Tone::Bad } else { Tone::Plain };
    let row = |rule: &&Rule| {
        let example = rule.catches.first().copied().unwrap_or_default();
        vec![
            Cell::new(rule.name).tone(Tone::Strong),
            Cell::new(holds(rule)).tone(tone(rule)),
            Cell::new(rule.says),
            Cell::new(example.escape_debug().to_string()),
        ]
    };
    rules.iter().map(row).collect()
}

fn one(rule: &Rule, shell: &Shell) -> Result<(), Failure> {
    let out = &shell.out;
    out.line(&format!("{} ({}): {}", out.paint(rule.name, Tone::Strong), holds(rule), rule.says))?;
    for (title, examples) in [("catches", rule.catches), ("leaves alone", rule.spares)] {
        out.line(&format!("\n{title}:"))?;
        for example in examples {
            out.line(&format!("  {}", example.escape_debug()))?;
        }
    }
    Ok(())
}
