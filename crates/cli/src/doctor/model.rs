//! Which model answers, and does its provider answer at all?

use hermes::chat::ModelWish;

use crate::doctor::Finding;
use crate::shell::Shell;

pub(crate) fn look(shell: &Shell) -> Vec<Finding> {
    let runtime = match shell.runtime() {
        Ok(runtime) => runtime,
        Err(wrong) => return vec![Finding::wrong(wrong.why().unwrap_or_default())],
    };
    let wish = ModelWish::default();
    let choice = match runtime.model_blocking(&wish) {
        Ok(choice) => choice,
        Err(wrong) => return vec![Finding::wrong(wrong).helps("`hermes model` or `hermes setup`")],
    };
    let mut found: Vec<Finding> = choice.warnings.iter().map(Finding::wrong).collect();
    if choice.is_offline() {
        let what = "no model is configured or found: the built-in offline model answers";
        found.push(Finding::note(what).helps("`hermes setup` configures one"));
        return found;
    }
    let name = &choice.name;
    found.push(match runtime.models_blocking(&wish) {
        Ok(models) => {
            let listed = models.len();
            let size = choice.context_tokens.map(|tokens| format!(", {tokens} tokens of context"));
            Finding::fine(format!(
                "{name} at {} ({listed} models there{})",
                choice.base_url,
                size.unwrap_or_default()
            ))
        }
        Err(wrong) => {
            Finding::wrong(format!("{name}: {wrong}")).helps("`hermes model` shows where it should be")
        }
    });
    found
}
