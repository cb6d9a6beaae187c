//! `hermes hooks`: programs that are told about calls and sessions, and whether they may run.

use hermes::core::hook::EventKind;
use hermes::core::suggest::suggest;
use hermes::store::hooks_consent::ConsentState;
use hermes::{HookStanding, Runtime};
use serde_json::{Value, json};

use crate::command::{CommandDef, Failure, Run};
use crate::shell::Shell;
use crate::table::{Cell, Tone};
use crate::{input, output};

pub(crate) const COMMAND: CommandDef =
    CommandDef::of::<Command>("hooks", "List, try, accept and revoke shell hooks");

/// Below the options.
const AFTER_HELP: &str = "\
Hooks are the programs under `hooks` in config.yaml. One runs only when somebody has accepted it as it \
is: a changed script, or a changed command, has to be accepted again.

Exit codes: 0 done, 1 it did not work or `doctor` found a problem, 2 wrong usage or no such hook.";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the hooks of the configuration, and whether they run
    List,
    /// Run the hooks of an event once, accepted or not, and tell what their answers mean
    Test {
        /// The event, such as `pre_tool_call`
        event: String,
        /// As if this tool were called
        #[arg(long, value_name = "TOOL")]
        for_tool: Option<String>,
        /// What they are told, instead of a sample: a file with JSON, `-` for standard input
        #[arg(long, value_name = "FILE")]
        payload_file: Option<String>,
    },
    /// Accept a hook as it is now
    Accept {
        /// The command as it stands in config.yaml
        #[arg(required_unless_present = "all")]
        command: Option<String>,
        /// All of them
        #[arg(long, conflicts_with = "command")]
        all: bool,
    },
    /// Take back that a hook was accepted
    Revoke {
        /// The command as it stands in config.yaml
        command: String,
    },
    /// Run each hook that would run once with a sample that it is for, and tell what is wrong
    Doctor,
}

impl Run for Command {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        match self.action {
            Action::List => list(&runtime, shell),
            Action::Test { event, for_tool, payload_file } => {
                let kind = EventKind::named(&event).ok_or_else(|| unknown(&event))?;
                let told = match payload_file {
                    Some(file) => {
                        let name = if file == "-" { file } else { format!("@{file}") };
                        let text = input::text(&name, shell.cwd())?;
                        Some(
                            serde_json::from_str(&text)
                                .map_err(|wrong| Failure::usage(format!("not JSON: {wrong}")))?,
                        )
                    }
                    None => None,
                };
                test(&runtime, kind, for_tool.as_deref(), told, shell)
            }
            Action::Accept { command, all } => accept(&runtime, command.as_deref().filter(|_| !all), shell),
            Action::Revoke { command } => {
                let count = runtime.revoke_hook(&command).map_err(Failure::failed)?;
                if count == 0 {
                    return Err(Failure::usage(format!("`{command}` was not accepted")));
                }
                if shell.out.wants_json() {
                    return shell.out.json(&json!({ "command": command, "revoked": count }));
                }
                shell.out.text(&format!("{command}: revoked"))
            }
            Action::Doctor => doctor(&runtime, shell),
        }
    }
}

/// What to do where there is none.
const NO_HOOKS: &str =
    "There are no hooks; name them under `hooks:` in config.yaml, then run `hermes hooks accept --all`.";

fn unknown(event: &str) -> Failure {
    let near = suggest(event, EventKind::ALL.iter().map(|kind| kind.name()), 1);
    Failure::usage(match near.first() {
        Some(near) => format!("there is no event `{event}`; did you mean `{near}`?"),
        None => format!("there is no event `{event}`"),
    })
}

/// How a hook stands, in a word.
fn word(hook: &HookStanding) -> &'static str {
    match &hook.consent {
        _ if !hook.event.is_told() => "never told",
        _ if hook.broken.is_some() => "broken",
        Ok(ConsentState::Accepted { .. }) => "accepted",
        _ if hook.unasked => "accepted unseen",
        Ok(ConsentState::Changed) => "changed",
        Ok(ConsentState::Unbound) => "unbound",
        Ok(ConsentState::Unknown) => "not accepted",
        Err(_) => "broken",
    }
}

fn described(hook: &HookStanding) -> Value {
    json!({
        "event": hook.event.name(), "command": hook.command, "matcher": hook.matcher,
        "timeout": hook.timeout.as_secs_f64(), "policy": hook.policy, "state": word(hook), "runs": hook.runs(),
        "problem": hook.broken.as_ref().or(hook.consent.as_ref().err()), "odd": hook.odd,
    })
}

fn list(runtime: &Runtime, shell: &Shell) -> Result<(), Failure> {
    let hooks = runtime.hooks();
    if shell.out.wants_json() {
        return shell.out.json(&hooks.iter().map(described).collect::<Vec<Value>>());
    }
    if hooks.is_empty() {
        return shell.out.nothing(NO_HOOKS);
    }
    let row = |hook: &HookStanding| {
        let tone = if hook.runs() { Tone::Good } else { Tone::Bad };
        vec![
            Cell::new(hook.event.name()).tone(Tone::Strong),
            Cell::new(word(hook)).tone(tone),
            Cell::new(if hook.policy { "policy" } else { "-" }),
            Cell::new(hook.matcher.as_deref().unwrap_or("-")),
            Cell::new(&hook.command),
        ]
    };
    let rows: Vec<Vec<Cell>> = hooks.iter().map(row).collect();
    shell.out.table(&["EVENT", "STATE", "KIND", "MATCHER", "COMMAND"], &rows)?;
    hooks.iter().for_each(warn_of_oddities);
    Ok(())
}

/// Says what is odd about a hook that may run all the same.
fn warn_of_oddities(hook: &HookStanding) {
    for odd in &hook.odd {
        output::warn(&format!("hooks.{}: `{}`: {odd}", hook.event.name(), hook.command));
    }
}

fn test(
    runtime: &Runtime,
    kind: EventKind,
    tool: Option<&str>,
    told: Option<Value>,
    shell: &Shell,
) -> Result<(), Failure> {
    let tried = runtime.try_hooks(kind, tool, told);
    if tried.is_empty() {
        return Err(Failure::usage(format!("no hook of {} is for this", kind.name())));
    }
    let mut bad = false;
    let mut all = Vec::new();
    for (command, result) in tried {
        let (ended, meaning, wrong) = match result {
            Ok(tried) => {
                let wrong = tried
                    .meaning
                    .as_ref()
                    .err()
                    .cloned()
                    .or_else(|| (!tried.ran.well).then(|| tried.ran.ended.clone()));
                (Some(tried.ran), tried.meaning.ok(), wrong)
            }
            Err(why) => (None, None, Some(why)),
        };
        bad |= wrong.is_some();
        if !shell.out.wants_json() {
            shell.out.text(&format!(
                "{command}: {}",
                wrong.as_ref().or(meaning.as_ref()).map_or("", String::as_str)
            ))?;
        }
        all.push(json!({
            "command": command, "meaning": meaning, "problem": wrong,
            "stdout": ended.as_ref().map(|ran| &ran.said), "stderr": ended.as_ref().map(|ran| &ran.complained),
            "seconds": ended.as_ref().map(|ran| ran.took.as_secs_f64()),
        }));
    }
    if shell.out.wants_json() {
        shell.out.json(&all)?;
    }
    if bad { Err(Failure::Told(Failure::FAILED)) } else { Ok(()) }
}

fn accept(runtime: &Runtime, command: Option<&str>, shell: &Shell) -> Result<(), Failure> {
    let mut commands: Vec<String> = runtime.hooks().into_iter().map(|hook| hook.command).collect();
    commands.dedup();
    commands.retain(|known| command.is_none_or(|command| command == known));
    if let (Some(command), true) = (command, commands.is_empty()) {
        return Err(Failure::usage(format!(
            "config.yaml has no hook `{command}`; `hermes hooks list` shows all"
        )));
    }
    let (mut accepted, mut failed) = (Vec::new(), Vec::new());
    for command in &commands {
        if let Err(why) = runtime.accept_hook(command) {
            output::warn(&format!("{command}: not accepted: {why}"));
            failed.push(json!({ "command": command, "problem": why }));
            continue;
        }
        accepted.push(command);
        if !shell.out.wants_json() {
            shell.out.text(&format!("{command}: accepted as it is now"))?;
        }
    }
    let hooks = runtime.hooks();
    hooks.iter().filter(|hook| accepted.contains(&&hook.command)).for_each(warn_of_oddities);
    if shell.out.wants_json() {
        shell.out.json(&json!({ "accepted": accepted, "failed": failed }))?;
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Told(Failure::FAILED)) }
}

/// What came of looking at a hook.
struct Looked {
    hook: HookStanding,
    /// Why it was not run.
    untried: Option<String>,
    problem: Option<String>,
}

impl Looked {
    fn state(&self) -> (&'static str, Tone) {
        match (&self.problem, &self.untried) {
            (Some(_), _) => ("problem", Tone::Bad),
            (None, Some(_)) => ("not tried", Tone::Plain),
            (None, None) => ("ok", Tone::Good),
        }
    }

    fn why(&self) -> &str {
        self.problem.as_deref().or(self.untried.as_deref()).unwrap_or_default()
    }
}

/// Runs a hook once if it would run, and for nothing but what it is for.
fn looked_at(runtime: &Runtime, at: usize, hook: HookStanding) -> Looked {
    if !hook.runs() {
        let why = hook.broken.as_ref().or(hook.consent.as_ref().err()).cloned();
        let why = why.unwrap_or_else(|| word(&hook).to_owned());
        return Looked { problem: Some(format!("{why}; not tried")), untried: Some(why), hook };
    }
    let odd = hook.odd.first().cloned();
    let (problem, untried) = match runtime.try_hook(at) {
        None => (odd, Some("no tool that is here fits its matcher; not tried".to_owned())),
        Some(Err(why)) => (Some(why), None),
        Some(Ok(tried)) if !tried.ran.well => (Some(tried.ran.ended), None),
        Some(Ok(tried)) => (tried.meaning.err().or(odd), None),
    };
    Looked { hook, untried, problem }
}

fn doctor(runtime: &Runtime, shell: &Shell) -> Result<(), Failure> {
    let hooks = runtime.hooks().into_iter().enumerate();
    let found: Vec<Looked> = hooks.map(|(at, hook)| looked_at(runtime, at, hook)).collect();
    if shell.out.wants_json() {
        let one = |looked: &Looked| {
            json!({
                "event": looked.hook.event.name(), "command": looked.hook.command, "problem": looked.problem,
                "state": looked.state().0, "not_tried": looked.untried,
            })
        };
        shell.out.json(&found.iter().map(one).collect::<Vec<Value>>())?;
    } else if found.is_empty() {
        shell.out.nothing(NO_HOOKS)?;
    } else {
        let row = |looked: &Looked| {
            let (state, tone) = looked.state();
            vec![
                Cell::new(looked.hook.event.name()),
                Cell::new(state).tone(tone),
                Cell::new(&looked.hook.command),
                Cell::new(looked.why()),
            ]
        };
        let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
        shell.out.table(&["EVENT", "STATE", "COMMAND", "WHY"], &rows)?;
    }
    if found.iter().any(|looked| looked.problem.is_some()) {
        Err(Failure::Told(Failure::FAILED))
    } else {
        Ok(())
    }
}
