//! `hermes fence test`: tries behind the fence what it forbids.

use std::path::Path;

use hermes::env::fence::{Check, Level, Report, Wanted};
use serde_json::{Value, json};

use crate::command::{Failure, Run};
use crate::fence::{AskedLevel, described, in_words, launcher, support};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Test {
    /// Try this level instead of the configured one
    #[arg(long, value_name = "LEVEL")]
    level: Option<AskedLevel>,
}

impl Run for Test {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let demanded = self.level.map_or_else(|| runtime.fence_level(), Level::from);
        // With the fence off nothing is demanded; what it could do is worth knowing all the same.
        let tried = if demanded == Level::Off { Level::Strict } else { demanded };
        let fence = runtime.fence(tried, launcher(), shell.cwd()).map_err(Failure::failed)?;
        let temp = shell.variable("TMPDIR").unwrap_or("/tmp");
        let report = fence.self_test(Path::new(temp));
        let failed = demanded != Level::Off && !report.holds();
        let support = support(shell);
        if shell.out.wants_json() {
            shell.out.json(&json!({
                "demanded": demanded.name(),
                "tried": tried.name(),
                "holds": report.holds(),
                "broken": report.broken,
                "checks": report.checks.iter().map(check).collect::<Vec<_>>(),
                "support": described(&support),
            }))?;
        } else {
            tell(shell, &report, demanded)?;
            let words: Vec<String> = in_words(&support)
                .into_iter()
                .map(|(what, there, _)| format!("{what}: {}", if there { "yes" } else { "no" }))
                .collect();
            let abi = support.landlock;
            shell.out.text(&format!("This kernel can fence (Landlock ABI {abi}): {}.", words.join(", ")))?;
        }
        if failed { Err(Failure::Told(Failure::FAILED)) } else { Ok(()) }
    }
}

fn check(check: &Check) -> Value {
    json!({
        "what": check.what,
        "wanted": word(check.wanted),
        "refused": check.refused,
        "holds": check.holds(),
    })
}

fn word(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Allowed => "allowed",
        Wanted::Refused => "refused",
    }
}

fn tell(shell: &Shell, report: &Report, demanded: Level) -> Result<(), Failure> {
    let rows: Vec<Vec<Cell>> = report
        .checks
        .iter()
        .map(|check| {
            let (state, tone) = if check.holds() { ("ok", Tone::Good) } else { ("WRONG", Tone::Bad) };
            vec![
                Cell::new(state).tone(tone),
                Cell::new(&check.what),
                Cell::new(check.refused.as_deref().unwrap_or("it worked")),
            ]
        })
        .collect();
    shell.out.table(&["", "TRIED", "WHAT CAME OF IT"], &rows)?;
    if let Some(broken) = &report.broken {
        shell.out.text(&format!("The fence could not be tried: {broken}"))?;
    }
    let level = report.level.name();
    shell.out.text(&match (report.holds(), demanded) {
        (true, Level::Off) => format!("`{level}` would hold here; the fence is off."),
        (false, Level::Off) => format!("`{level}` would not hold here; the fence is off."),
        (true, _) => format!("`{level}` holds."),
        (false, _) => format!("`{level}` does not hold: commands that need it do not run."),
    })
}
