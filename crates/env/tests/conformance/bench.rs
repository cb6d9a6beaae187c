//! A place to run commands in, with permits from a road that allows everything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use hermes_core::availability::Availability;
use hermes_core::call::ToolCall;
use hermes_core::cx::{Services, ToolCx};
use hermes_core::definitions::{DefinitionCache, DefinitionSettings};
use hermes_core::effect::{Command, Effect};
use hermes_core::environment::{Environment, Ran, Run, ShellState, Why, Workplace};
use hermes_core::error::ToolResult;
use hermes_core::gate::Probe;
use hermes_core::host::Host;
use hermes_core::permit::{Exec, Permit};
use hermes_core::policy::{Policy, PolicyRequest, Verdict};
use hermes_core::registry::{Registry, Scope, Source};
use hermes_core::road::Road;
use hermes_core::session::{Place, Session, SessionSpec};
use hermes_core::tool::{Tool, ToolEntry};
use hermes_core::toolset::Plan;
use hermes_env::backends::{self, BackendDef, Opening, Surroundings};
use hermes_env::far::FarSettings;
use hermes_env::fence::{Fence, Ground, Level};
use hermes_env::files::LocalFiles;
use hermes_env::jobs::JobSettings;
use hermes_env::shell::variables::ChildVariables;
use hermes_env::sudo::SudoSettings;
use hermes_env::workplace::{FenceMaker, PlaceSettings, Shared};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// One backend, opened, with a folder to work in.
pub(crate) struct Bench {
    pub(crate) place: Arc<dyn Workplace>,
    section: Value,
    around: Surroundings,
    backend: &'static BackendDef,
    fence: Option<Arc<Fence>>,
    host: Arc<dyn Host>,
    road: Road,
    registry: Registry,
    /// Last, both: what is dropped before may still need them.
    pub(crate) dir: tempfile::TempDir,
    pub(crate) runtime: tokio::runtime::Runtime,
}

/// A run with everything usual.
pub(crate) fn usual() -> Run {
    Run {
        session: "s".to_owned(),
        shell: ShellState::default(),
        input: Vec::new(),
        terminal: None,
        timeout: Duration::from_mins(1),
        keep: 50_000,
        cancel: CancellationToken::new(),
    }
}

impl Bench {
    /// A backend whose commands run behind a fence around the folder they work in.
    pub(crate) fn behind(backend: &str, level: Level) -> Self {
        let backend = backends::find(backend).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let fence = (level != Level::Off).then(|| {
            let ground = Ground {
                workspace: dir.path().canonicalize().unwrap(),
                temp: vec!["/dev/shm".into(), "/tmp".into()],
                ..Ground::default()
            };
            Fence::new(level, env!("CARGO_BIN_EXE_fence_launcher"), &ground).unwrap()
        });
        Self::with(backend, dir, fence, Value::Null, Surroundings::default())
    }

    /// This machine, with somebody who answers `sudo`.
    pub(crate) fn answering(sudo: SudoSettings) -> Self {
        let bench = Self::behind("local", Level::Off);
        let settings = near(bench.backend, bench.dir.path(), None);
        let place = Arc::new(Shared::new(settings, Arc::clone(&bench.host)).sudo(sudo));
        Self { place, ..bench }
    }

    /// A far backend, whose place sees the folder under the same path.
    pub(crate) fn far(backend: &str, section: impl FnOnce(&Path) -> Value) -> Self {
        Self::far_with(backend, Surroundings::default(), section)
    }

    /// The same with something around it.
    pub(crate) fn far_with(
        backend: &str,
        around: Surroundings,
        section: impl FnOnce(&Path) -> Value,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let section = section(&dir.path().canonicalize().unwrap());
        Self::with(backends::find(backend).unwrap(), dir, None, section, around)
    }

    /// A far backend that needs variables of the person, and a folder for what outlives it.
    pub(crate) fn given(
        backend: &str,
        given: &[(&str, &str)],
        section: Value,
        sandbox: &Path,
        around: Surroundings,
    ) -> Self {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let around = Surroundings { given, sandbox: Some(sandbox.to_path_buf()), ..around };
        Self::with(backends::find(backend).unwrap(), tempfile::tempdir().unwrap(), None, section, around)
    }

    fn with(
        backend: &'static BackendDef,
        dir: tempfile::TempDir,
        fence: Option<Fence>,
        section: Value,
        around: Surroundings,
    ) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let host: Arc<dyn Host> =
            Arc::new(TestHost { begun: Instant::now(), handle: runtime.handle().clone() });
        let around =
            Surroundings { name: "far".to_owned(), owner: format!("test{}", std::process::id()), ..around };
        let place: Arc<dyn Workplace> = if backend.is_far() {
            far_place(backend, &host, dir.path(), &around, &section)
        } else {
            Arc::new(Shared::new(near(backend, dir.path(), fence.clone()), Arc::clone(&host)))
        };
        let files = Arc::new(LocalFiles::new(Arc::clone(&host)));
        let (give, take) = mpsc::channel();
        let services = Services::new(Arc::clone(&host), files).with(Desk { give, take: Mutex::new(take) });
        let road = Road::new(Arc::new(services), Arc::new(Everything));
        let scope = Scope::new(Source::Plugin("test".into())).tool(ToolEntry::of::<Ask>("ask", "test"));
        let registry = Registry::new(scope).unwrap();
        let fence = fence.map(Arc::new);
        Self { place, section, around, backend, fence, host, road, registry, dir, runtime }
    }

    /// The backend's name.
    pub(crate) fn backend(&self) -> &'static str {
        self.backend.name()
    }

    /// Lets go of the far place, as a program does that ends, and comes back to it as another would.
    pub(crate) fn come_back(&mut self) {
        self.place = far_place(self.backend, &self.host, self.dir.path(), &self.around, &self.section);
    }

    /// The same place as another program of this home sees it, with other settings where there are some.
    pub(crate) fn beside(&self, more: &Value) -> Arc<dyn Workplace> {
        let mut section = self.section.clone();
        section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        far_place(self.backend, &self.host, self.dir.path(), &self.around, &section)
    }

    /// The folder commands start in.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// A permit, come by in the one way there is.
    pub(crate) fn permit(&self, text: &str) -> Permit<Exec> {
        self.permit_in(text, &self.work())
    }

    pub(crate) fn permit_in(&self, text: &str, workdir: &Path) -> Permit<Exec> {
        let session = Session::new(SessionSpec::new("s", Place { cwd: workdir.to_path_buf(), home: None }));
        let snapshot = self.registry.snapshot();
        let availability = Availability::new(Arc::clone(&self.host), Arc::new(Nothing));
        let plan = Arc::new(Plan::of_all(snapshot.catalog()));
        let call = ToolCall::new("ask", json!({ "text": text }).to_string());
        self.runtime.block_on(async {
            let toolbox = DefinitionCache::default()
                .toolbox(&snapshot, &plan, &DefinitionSettings::default(), &availability, &|_| None)
                .await;
            let outcome = self.road.call(&session, &toolbox, call).await;
            assert!(outcome.status.is_ok(), "{}", outcome.body);
        });
        let services = self.road.services();
        services.service::<Desk>().unwrap().take.lock().unwrap().try_recv().unwrap()
    }

    /// The bare environment, without what is shared.
    pub(crate) fn bare(&self) -> Arc<dyn Environment> {
        let with = Opening {
            host: Arc::clone(&self.host),
            variables: variables(self.dir.path()),
            folder: None,
            fence: self.fence.clone(),
            around: Surroundings { name: "bare".to_owned(), ..self.around.clone() },
        };
        self.runtime.block_on(self.backend.open(self.section.clone(), with)).unwrap()
    }

    pub(crate) fn run_with(&self, text: &str, run: Run) -> Ran {
        let permit = self.permit(text);
        self.runtime.block_on(self.place.run(permit, run)).unwrap()
    }

    pub(crate) fn run(&self, text: &str) -> Ran {
        self.run_with(text, usual())
    }

    /// What a command writes; it has to end by itself, with code 0.
    pub(crate) fn output(&self, text: &str, shell: &ShellState) -> String {
        let ran = self.run_with(text, Run { shell: shell.clone(), ..usual() });
        assert_eq!(ran.why, Why::Ended(hermes_core::environment::End::Code(0)));
        String::from_utf8(ran.output.head).unwrap()
    }
}

fn far_place(
    backend: &BackendDef,
    host: &Arc<dyn Host>,
    dir: &Path,
    around: &Surroundings,
    section: &Value,
) -> Arc<dyn Workplace> {
    let opening = Opening {
        host: Arc::clone(host),
        variables: variables(dir),
        folder: None,
        fence: None,
        around: around.clone(),
    };
    let far = FarSettings {
        name: "far".to_owned(),
        owner: around.owner.clone(),
        login: true,
        cwd: "~".into(),
        lifetime: Duration::ZERO,
        overflow: None,
    };
    backend.place(section.clone(), opening, far).unwrap().place
}

fn near(backend: &'static BackendDef, dir: &Path, fence: Option<Fence>) -> PlaceSettings {
    PlaceSettings {
        backend,
        section: Value::Null,
        variables: variables(dir),
        login: true,
        init_files: Vec::new(),
        scratch: vec!["/dev/shm".into(), "/tmp".into()],
        jobs: JobSettings::default(),
        fence: fence.map(|fence| Arc::new(move || Ok(fence.clone())) as FenceMaker),
    }
}

fn variables(home: &Path) -> ChildVariables {
    let process = BTreeMap::from([
        ("HOME".to_owned(), home.to_str().unwrap().to_owned()),
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("OPENROUTER_API_KEY".to_owned(), "key".to_owned()),
    ]);
    let clients = ["DOCKER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"];
    let process = process
        .into_iter()
        .chain(clients.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))))
        .collect();
    ChildVariables { process, ..ChildVariables::default() }
}

/// Where the tool below leaves its permit.
struct Desk {
    give: mpsc::Sender<Permit<Exec>>,
    take: Mutex<mpsc::Receiver<Permit<Exec>>>,
}

/// Asks for a permit and leaves it.
#[derive(Deserialize, JsonSchema)]
struct Ask {
    text: String,
}

impl Tool for Ask {
    fn effects(&self, place: &Place) -> Vec<Effect> {
        let Self { text } = self;
        vec![Effect::Exec(Command {
            text: text.clone(),
            environment: "test".to_owned(),
            workdir: place.cwd.clone(),
        })]
    }

    async fn call(self, cx: &ToolCx) -> ToolResult {
        let desk = cx.service::<Desk>().unwrap();
        desk.give.send(cx.may_run_declared()?).unwrap();
        Ok(json!({}))
    }
}

struct Everything;

impl Policy for Everything {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

struct Nothing;

impl Probe for Nothing {
    fn env(&self, _: &str) -> bool {
        false
    }

    fn program(&self, _: &str) -> bool {
        false
    }

    fn file(&self, _: &str) -> bool {
        false
    }

    fn config(&self, _: &str) -> Option<Value> {
        None
    }

    fn service(&self, _: &str) -> BoxFuture<'static, bool> {
        Box::pin(std::future::ready(false))
    }
}

struct TestHost {
    begun: Instant,
    handle: tokio::runtime::Handle,
}

impl Host for TestHost {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let _inside = self.handle.enter();
        Box::pin(tokio::time::sleep(time))
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.handle.spawn_blocking(job);
    }
}
