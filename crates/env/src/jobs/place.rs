//! Background jobs as tools see them.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::EnvError;
use hermes_core::host::blocking;
use hermes_core::jobs::{Job, JobInput, Jobs, LogLines, LogPage, NewJob, Notice};
use hermes_core::permit::{Exec, Permit};
use tokio_util::sync::CancellationToken;

use crate::fence::{Fence, Wrapped};
use crate::jobs::{Found, Launch, Rack, now, own_identity, to_bytes, wait};
use crate::probe::{is_directory, program_on_path};
use crate::process::secret_word;
use crate::sudo::Asks;
use crate::workplace::Shared;

impl Jobs for Shared {
    fn start(&self, permit: Permit<Exec>, job: NewJob) -> BoxFuture<'_, Result<Job, EnvError>> {
        Box::pin(async move {
            let opened = self.opened().await?;
            let rack = self.jobs_rack().await?;
            let cwd = permit.command().workdir.clone();
            if !is_directory(&cwd) {
                return Err(EnvError::Directory { path: cwd, why: "it does not exist".to_owned() });
            }
            let cancel = CancellationToken::new();
            let known = self.known(&opened, &permit, &job.shell, &cancel, &mut Vec::new()).await?;
            let mark = if rack.outlives_us() { None } else { opened.environment.mark() };
            let variables = self.variables(&opened, known.as_deref(), &job.shell, Asks::Nobody);
            let shell = self.bash()?;
            let launch = Launch {
                folder: PathBuf::new(),
                fence: opened.fence.as_deref().map(|fence| in_front(fence, &shell)),
                shell,
                command: permit.command().text.clone(),
                cwd,
                variables: to_bytes(variables),
                rest: known.map(|known| known.rest_text().to_vec()).unwrap_or_default(),
                mark: mark.unwrap_or_else(|| format!("{}.job", secret_word())),
                terminal: job.terminal.map(|size| (size.rows, size.columns)),
                watch: job.watch,
                notify: job.notify,
                id: new_id(),
                session: job.session,
                owner: own_identity(),
                started_at: now(),
            };
            let notices = self.heard().clone();
            self.at(rack, move |rack| {
                let folder = rack.make(&launch.id)?;
                let (id, session) = (launch.id.clone(), launch.session.clone());
                let started = rack.launch(Launch { folder, ..launch })?;
                if let Ok(found) = rack.find(&session, &id) {
                    notices.listen(&found);
                }
                Ok(started)
            })
            .await
        })
    }

    fn list<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<Vec<Job>, EnvError>> {
        let session = session.to_owned();
        Box::pin(async move {
            let rack = self.jobs_rack().await?;
            self.at(rack, move |rack| Ok(rack.visible(&session).iter().map(Found::job).collect())).await
        })
    }

    fn look<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>> {
        self.with(session, id, |_, found| Ok(found.job()))
    }

    fn tail<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        bytes: usize,
    ) -> BoxFuture<'a, Result<Vec<u8>, EnvError>> {
        self.with(session, id, move |_, found| Ok(found.tail(bytes)))
    }

    fn log<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        page: LogPage,
    ) -> BoxFuture<'a, Result<LogLines, EnvError>> {
        self.with(session, id, move |_, found| Ok(found.lines(page)))
    }

    fn wait<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        limit: Duration,
    ) -> BoxFuture<'a, Result<Job, EnvError>> {
        Box::pin(async move {
            let found = self.with(session, id, |_, found| Ok(found)).await?;
            if !found.state().is_over() {
                wait(self.host(), &found, limit).await?;
            }
            self.look(session, id).await
        })
    }

    fn kill<'a>(&'a self, session: &'a str, id: &'a str) -> BoxFuture<'a, Result<Job, EnvError>> {
        Box::pin(async move {
            self.with(session, id, |rack, found| {
                rack.kill(&found);
                Ok(())
            })
            .await?;
            self.look(session, id).await
        })
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        id: &'a str,
        input: JobInput,
    ) -> BoxFuture<'a, Result<(), EnvError>> {
        self.with(session, id, move |_, found| found.write(input))
    }

    fn notices(&self) -> Vec<Notice> {
        self.heard().take()
    }

    fn noticed(&self) -> BoxFuture<'_, ()> {
        self.heard().some()
    }
}

impl Shared {
    async fn jobs_rack(&self) -> Result<Arc<Rack>, EnvError> {
        let none = || EnvError::Files {
            doing: "cannot keep background processes".to_owned(),
            why: "there is no folder for them here".to_owned(),
        };
        self.opened().await?.rack.ok_or_else(none)
    }

    /// Does something with the rack, off the async threads.
    async fn at<T: Send + 'static>(
        &self,
        rack: Arc<Rack>,
        work: impl FnOnce(&Rack) -> Result<T, EnvError> + Send + 'static,
    ) -> Result<T, EnvError> {
        blocking(self.host(), move || work(&rack)).await?
    }

    /// Does something with one job of a session, off the async threads.
    fn with<'a, T: Send + 'static>(
        &'a self,
        session: &str,
        id: &str,
        work: impl FnOnce(&Rack, Found) -> Result<T, EnvError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, EnvError>> {
        let (session, id) = (session.to_owned(), id.to_owned());
        Box::pin(async move {
            let rack = self.jobs_rack().await?;
            self.at(rack, move |rack| work(rack, rack.find(&session, &id)?)).await
        })
    }

    fn bash(&self) -> Result<PathBuf, EnvError> {
        let path = self.settings().variables.process.get("PATH").cloned().unwrap_or_default();
        let path = if path.is_empty() { "/usr/local/bin:/usr/bin:/bin".to_owned() } else { path };
        program_on_path("bash", path.as_ref()).ok_or_else(|| EnvError::Start {
            what: "bash".to_owned(),
            why: "it is not on the search path".to_owned(),
        })
    }
}

/// An id nothing else has.
pub(crate) fn new_id() -> String {
    let word = secret_word();
    format!("proc_{}", word.get(..12).unwrap_or(&word))
}

/// The words that put up a fence, the fenced program last.
fn in_front(fence: &Fence, shell: &Path) -> (PathBuf, Vec<Vec<u8>>) {
    let Wrapped { program, arguments } = fence.wrap(shell, []);
    (program, arguments.into_iter().map(OsStringExt::into_vec).collect())
}
