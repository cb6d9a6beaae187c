//! The script of a job: a file of the person's own, in the folder for that.

use std::path::Path;
use std::sync::Arc;

use hermes_core::cron::Job;
use hermes_core::host::blocking;
use hermes_extend::hooks;
use hermes_extend::launch::{Consent, Program};
use tokio_util::sync::CancellationToken;

use super::Cron;

/// Runs the script of a job, if it has one, and gives what it printed.
pub(super) async fn printed(cron: &Cron, job: &Job) -> Result<Option<String>, String> {
    let Some(script) = job.script.clone() else { return Ok(None) };
    let path = cron.on_disk(move |home| home.script(&script)).await.map_err(|wrong| wrong.to_string())?;
    let runtime = &cron.runtime;
    let directory = job.workdir.as_ref().map_or_else(|| runtime.place().cwd.clone(), Into::into);
    let program = Program {
        program: interpreter(&path).to_owned(),
        arguments: vec![path.display().to_string().into()],
        variables: vec![("HERMES_CRON_JOB".to_owned(), job.id.clone())],
        directory: Some(directory),
        consent: Consent::Home(cron.home.scripts().to_path_buf()),
    };
    let (launcher, host) = (Arc::clone(runtime.foreign().launcher()), runtime.host());
    let limit = runtime.settings().cron.script_timeout;
    let running = Arc::clone(&host);
    // A script ends with the wish to know what it says.
    let stop = CancellationToken::new();
    let _wanted = stop.clone().drop_guard();
    let ran =
        blocking(&host, move || hooks::run(launcher.as_ref(), &program, Vec::new(), limit, &running, &stop));
    let ran = ran.await;
    let ran = ran.map_err(|lost| lost.to_string())?.map_err(|why| format!("the script: {why}"))?;
    if ran.well {
        return Ok(Some(ran.said));
    }
    let complained = if ran.complained.is_empty() { String::new() } else { format!(": {}", ran.complained) };
    Err(format!("the script: {}{complained}", ran.ended))
}

/// What reads a script, by its ending.
fn interpreter(path: &Path) -> &'static str {
    match path.extension().and_then(|end| end.to_str()) {
        Some("sh" | "bash") => "bash",
        _ => "python3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_what_reads_a_script() {
        assert_eq!(interpreter(Path::new("/s/check.sh")), "bash");
        assert_eq!(interpreter(Path::new("/s/check.py")), "python3");
        assert_eq!(interpreter(Path::new("/s/check")), "python3");
    }
}
