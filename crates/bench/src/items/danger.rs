//! `danger`: judging the commands of the shared data: each, the never list alone, with mode and
//! grants, the worst of them, and all of them in one line of 20 kB.

use std::hint::black_box;

use hermes::guard::{Context, Grants, Mode, Verdict, decide, judge};

use crate::item::{ItemDef, Numbers, Work};
use crate::process;
use crate::timing::{micros, millis, per_call, per_second, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("danger", measure);

/// How long the one line is, in bytes.
const LONG: usize = 20_000;

fn measure(work: &Work) -> Result<Numbers, String> {
    let text = process::text(&work.data("commands.jsonl")?)?;
    let commands = text.lines().map(serde_json::from_str).collect::<Result<Vec<String>, _>>();
    let commands = commands.map_err(|wrong| format!("commands.jsonl: {wrong}"))?;
    let context = Context::new("/home/user/project", "/home/user");
    let dangerous =
        commands.iter().filter(|command| judge(command, &context).verdict > Verdict::Allow).count();
    let each = over(&commands, |command| drop(black_box(judge(command, &context))))?;
    let never = over(&commands, |command| {
        black_box(judge(command, &context).never);
    })?;
    let grants = Grants::default();
    let guards = over(&commands, |command| {
        let judgement = judge(command, &context);
        black_box(decide(Mode::Manual, command, &judgement, &grants));
    })?;
    let long = long(&commands);
    let whole = per_call(3, || {
        black_box(judge(&long, &context));
        Ok(())
    })?;
    Ok(vec![
        ("us_per_command", micros(each)),
        ("commands_per_s", per_second(each)),
        ("dangerous", f64::from(u32::try_from(dangerous).unwrap_or(u32::MAX))),
        ("hardline_us_per_command", micros(never)),
        ("check_all_guards_us_per_command", micros(guards)),
        ("worst_us", worst(&commands, &context)),
        ("long_20kB_ms", millis(whole)),
    ])
}

/// How long one command takes, over all of them.
fn over(commands: &[String], mut work: impl FnMut(&str)) -> Result<std::time::Duration, String> {
    let count = u32::try_from(commands.len()).map_err(|wrong| wrong.to_string())?;
    let all = per_call(1, || {
        for command in commands {
            work(command);
        }
        Ok(())
    })?;
    Ok(all / count.max(1))
}

/// The command that takes longest, at its best of five.
fn worst(commands: &[String], context: &Context) -> f64 {
    let best = |command: &String| {
        (0..5).map(|_| micros(timed(|| judge(command, context)).1)).fold(f64::MAX, f64::min)
    };
    commands.iter().map(best).fold(0.0, f64::max)
}

/// The commands of one line each, joined, cut to the length.
fn long(commands: &[String]) -> String {
    let lines: Vec<&str> =
        commands.iter().filter(|command| !command.contains('\n')).map(String::as_str).collect();
    lines.join(" && ").chars().take(LONG).collect()
}
