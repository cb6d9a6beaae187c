//! `hermes fence status`: what the fence lets through here.

use hermes::env::fence::Level;
use serde_json::json;

use crate::command::{Failure, Run};
use crate::fence::{described, in_words, launcher, support};
use crate::shell::Shell;
use crate::table::{Cell, Tone};

#[derive(clap::Args)]
pub(crate) struct Status {}

impl Run for Status {
    fn run(self, shell: &Shell) -> Result<(), Failure> {
        let runtime = shell.runtime()?;
        let level = runtime.fence_level();
        let ground = runtime.fence_ground(shell.cwd());
        let fence = runtime.fence(level, launcher(), shell.cwd()).map_err(Failure::failed)?;
        let support = support(shell);
        if shell.out.wants_json() {
            return shell.out.json(&json!({
                "level": level.name(),
                "workspace": ground.workspace,
                "temp": ground.temp,
                "granted": ground.granted,
                "unwritable": ground.unwritable,
                "unreadable": ground.unreadable,
                "readable": ground.readable,
                "nothing_new_in": fence.frozen(),
                "support": described(&support),
            }));
        }
        let mut rows = vec![vec![Cell::new("level").tone(Tone::Strong), Cell::new(level.name())]];
        for (title, paths) in [
            ("may write", [vec![ground.workspace], ground.temp, ground.granted].concat()),
            ("may not write", ground.unwritable),
            ("may not read", ground.unreadable),
            ("may read still", ground.readable),
            ("nothing new in", fence.frozen()),
        ] {
            let titles = std::iter::once(title).chain(std::iter::repeat(""));
            rows.extend(titles.zip(paths).map(|(title, path)| {
                vec![Cell::new(title).tone(Tone::Strong), Cell::new(path.display().to_string())]
            }));
        }
        for (what, there, words) in in_words(&support) {
            let (state, tone) = if there { ("can fence", Tone::Good) } else { ("cannot fence", Tone::Bad) };
            rows.push(vec![Cell::new(format!("{state} {what}")).tone(tone), Cell::new(words)]);
        }
        shell.out.table(&["", ""], &rows)?;
        if level == Level::Off {
            shell.out.remark("The fence is off: `terminal.fence: workspace` in config.yaml puts it up.")?;
        }
        Ok(())
    }
}
