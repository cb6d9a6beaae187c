//! The one instance of a place: found again, started, stopped.
//!
//! It is known by its name, which tells whose it is, which place, what it was made of and who made it.
//! Nothing with another name is touched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{EnvError, Process, Streams};
use hermes_core::host::{Host, blocking};
use serde::Deserialize;

use crate::apptainer::complaints::{advice, told};
use crate::apptainer::folders;
use crate::apptainer::settings::ApptainerSettings;
use crate::apptainer::words::{Name, Starting, file_name, start};
use crate::backends::{Opening, Surroundings};
use crate::far::client::{Client, Clients, Said};
use crate::far::quote::quoted;
use crate::far::settings::variables as given;
use crate::far::{Call, Claims, Close, Reach, Ready};
use crate::jobs::{own_process, still_runs};
use crate::probe::{file_exists, program_on_path};

/// How long the program may take to answer, to start an instance, to make an image.
const ANSWER: Duration = Duration::from_secs(30);
const START: Duration = Duration::from_mins(2);
const BUILD: Duration = Duration::from_mins(30);

/// How long what lies in our folder is counted: a first answer does not wait for the disk of a cluster.
const COUNT: Duration = Duration::from_secs(2);

/// Runs a line in a terminal of its own: the one from outside works in there but has no name.
const TERMINAL: &str = r#"if ! command -v script >/dev/null 2>&1; then eval "exec $1"; fi
SHELL=/bin/sh exec script -qefc "unset SHELL; exec $1" /dev/null
"#;

/// Where the instance of a place is, and how it is reached.
pub(crate) struct Instance {
    settings: ApptainerSettings,
    around: Surroundings,
    program: PathBuf,
    clients: Clients,
    host: Arc<dyn Host>,
    /// The home of the person.
    home: String,
    /// Folder of this machine for everything of ours.
    base: PathBuf,
    name: Name,
    /// The name of the one in use, once it is known.
    known: Mutex<Option<String>>,
}

/// What the program says about instances.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    instances: Vec<Running>,
}

#[derive(Deserialize)]
struct Running {
    instance: String,
    pid: u32,
}

impl Instance {
    pub(crate) fn new(settings: ApptainerSettings, with: Opening) -> Result<Self, EnvError> {
        let mut variables = with.variables.allowed();
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let around = with.around;
        let program = program(&around.name, settings.binary.as_deref(), &value("PATH"))?;
        let home =
            Some(value("HOME")).filter(|home| home.starts_with('/')).unwrap_or_else(|| "/root".to_owned());
        let base = base(&settings, &around, &home, &value("USER")).ok_or_else(|| EnvError::Unreachable {
            environment: around.name.clone(),
            why: "there is no folder it could write to; set `scratch_dir`".to_owned(),
        })?;
        // Given this way they are not seen in the list of processes.
        for (name, value) in given(&settings.forward_env, &settings.env, &around) {
            for prefix in ["APPTAINERENV_", "SINGULARITYENV_"] {
                variables.push((format!("{prefix}{name}").into(), value.clone().into()));
            }
        }
        let mirror = around.shelf.as_ref().map(|shelf| &shelf.mirror);
        let cwd = around.cwd.as_ref().filter(|_| settings.mount_cwd);
        let recipe = format!("{}{cwd:?}{mirror:?}{home}", settings.recipe());
        let maker = (!settings.persist_across_processes).then(own_process);
        let name = Name::new(&around.owner, &around.name, &recipe, maker.as_deref());
        let clients = Clients::new(Arc::clone(&with.host), variables);
        Ok(Self {
            settings,
            around,
            program,
            clients,
            host: with.host,
            home,
            base,
            name,
            known: Mutex::default(),
        })
    }

    fn client<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Client {
        Client { program: self.program.clone(), arguments: words.into_iter().map(str::to_owned).collect() }
    }

    async fn ask(&self, words: &[&str], limit: Duration) -> Result<Said, EnvError> {
        self.clients.ask(&self.client(words.iter().copied()), limit, None).await
    }

    fn known(&self) -> Option<String> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, name: Option<String>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    fn wrong(&self, complaint: &str) -> EnvError {
        let why = match advice(complaint) {
            Some(advice) => format!("{complaint} ({advice})"),
            None => complaint.to_owned(),
        };
        EnvError::Unreachable { environment: self.around.name.clone(), why }
    }

    /// The instances of this home that run.
    async fn running(&self) -> Result<Vec<Running>, EnvError> {
        let said = self.ask(&["instance", "list", "--json"], ANSWER).await?;
        if !said.is_well() {
            return Err(self.wrong(&told(&said.complaint())));
        }
        let listed: Listed = serde_json::from_slice(&said.out)
            .map_err(|_| self.wrong(&format!("its list of instances cannot be read: {}", said.text())))?;
        let ours = |running: &Running| running.instance.starts_with(&self.name.ours);
        Ok(listed.instances.into_iter().filter(ours).collect())
    }

    async fn stop(&self, name: &str) -> Result<Said, EnvError> {
        self.ask(&["instance", "stop", "--timeout", "2", name], START).await
    }

    /// Finds the instance; stops what others left who are gone, and what was made otherwise than it would
    /// be now, unless somebody uses it.
    async fn find(&self) -> Result<Option<Running>, EnvError> {
        let mut found = None;
        for running in self.running().await? {
            let name = running.instance.as_str();
            let own = name == self.name.whole || self.is_shared() && name.starts_with(&self.name.recipe);
            let left = Name::maker(name).is_some_and(|maker| !still_runs(maker));
            let other = name.starts_with(&self.name.place) && !name.starts_with(&self.name.recipe);
            let ours = Name::maker(name).is_none_or(|maker| maker == own_process());
            if own {
                found = Some(running);
            } else if (left || other && ours) && !self.others_use(name) {
                // What cannot be stopped now is found again next time.
                let _ = self.stop(name).await;
            }
        }
        Ok(found)
    }

    /// What is kept can be in one instance at a time.
    async fn check_folder(&self) -> Result<(), EnvError> {
        let other = |name: &str| name.starts_with(&self.name.place) && self.others_use(name);
        if self.settings.persistent && self.running().await?.iter().any(|running| other(&running.instance)) {
            let why = "another run of this home uses what is kept of it with other settings; end it first, or \
                       name this environment otherwise";
            return Err(self.wrong(why));
        }
        Ok(())
    }

    /// Whether other programs of this home use the same instance: what is kept has one place to be in.
    fn is_shared(&self) -> bool {
        self.settings.persistent || self.settings.persist_across_processes
    }

    fn others_use(&self, name: &str) -> bool {
        self.claims().is_some_and(|claims| claims.is_taken(Name::thing(name)))
    }

    /// The folder of what it writes.
    fn folder(&self) -> PathBuf {
        let name = self.around.name.replace(['/', '.'], "_");
        let maker = if self.settings.persistent { String::new() } else { format!("-{}", own_process()) };
        self.base.join(format!("{name}{maker}"))
    }

    /// The image as the program is given it: references are made into a file, once.
    async fn image(&self) -> Result<String, EnvError> {
        let image = &self.settings.image;
        if !self.settings.is_reference() {
            let path = match image.strip_prefix("~/") {
                Some(below) => Path::new(&self.home).join(below),
                None => PathBuf::from(image),
            };
            if !file_exists(&path) {
                let why = format!("there is no image {} (check `image`)", path.display());
                return Err(EnvError::Unreachable { environment: self.around.name.clone(), why });
            }
            return Ok(path.display().to_string());
        }
        let file = self.base.join("images").join(format!("{}.sif", file_name(image)));
        let text = file.display().to_string();
        if file_exists(&file) {
            return Ok(text);
        }
        let new = file.with_extension(format!("{}.new", own_process()));
        let words = self.client(["build", "--force", &new.display().to_string(), image]);
        let said = self.clients.ask(&words, BUILD, self.around.progress.clone()).await;
        match said {
            Ok(said) if said.is_well() && folders::rename(&new, &file).is_ok() => Ok(text),
            said => {
                folders::discard(&new);
                let complaint = told(&said?.complaint());
                Err(self.wrong(&format!("image {image} cannot be fetched: {complaint}")))
            }
        }
    }

    /// Starts an instance. What cannot be limited or kept here is not, with a note.
    async fn start(&self) -> Result<Vec<String>, EnvError> {
        let folder = self.folder();
        folders::make(&folder)
            .map_err(|why| self.wrong(&format!("cannot make {}: {why}", folder.display())))?;
        let image = self.image().await?;
        let (mut overlay, mut limits, mut mirror, mut notes) = (true, true, true, Vec::new());
        loop {
            let starting = Starting {
                name: &self.name.whole,
                image: &image,
                folder: &folder,
                home: &self.home,
                cwd: self.around.cwd.as_deref(),
                mirror: self.around.shelf.as_ref().filter(|_| mirror).map(|shelf| shelf.mirror.as_path()),
                overlay,
                limits,
            };
            let words = Client { program: self.program.clone(), arguments: start(&self.settings, &starting) };
            let said = self.clients.ask(&words, START, None).await?;
            let complaint = said.complaint();
            if said.is_well() {
                return Ok(notes);
            }
            if limits && complaint.contains("cgroup") {
                limits = false;
                let note = "processors and memory cannot be limited here (no control groups of one's own)";
                notes.push(note.to_owned());
            } else if mirror && complaint.contains("/.hermes") {
                // A volume is the home, and has nothing to mount it on: it is sent instead.
                mirror = false;
            } else if overlay && self.settings.persistent && complaint.contains("overlay") {
                overlay = false;
                let note =
                    "this machine cannot keep changes to the image: only the home and /workspace are kept";
                notes.push(note.to_owned());
            } else {
                return Err(self.wrong(&told(&complaint)));
            }
        }
    }

    /// Says that much lies in our folder, before its disk is full.
    async fn much(&self) -> Option<String> {
        let (much, base) = (self.settings.much()?, self.base.clone());
        let (host, until) = (Arc::clone(&self.host), self.host.now() + COUNT);
        let over = move || host.now() > until;
        let is = blocking(&self.host, move || folders::takes_more(&base, much, over)).await.ok()?;
        is.then(|| {
            let (base, much) = (self.base.display(), self.settings.disk_warning_gb);
            format!("{base} takes more than {much} GB (see `scratch_dir`, `disk_warning_gb`)")
        })
    }

    async fn readied(&self) -> Result<Ready, EnvError> {
        let first = self.known().is_none();
        let (ready, much) =
            futures::join!(self.found_or_started(), async { if first { self.much().await } else { None } });
        let mut ready = ready?;
        ready.notes.extend(much);
        Ok(ready)
    }

    async fn found_or_started(&self) -> Result<Ready, EnvError> {
        let mut notes = Vec::new();
        let mut found = self.find().await?;
        if found.is_none() {
            self.check_folder().await?;
            notes = self.start().await?;
            found = self.find().await?;
        }
        let Some(Running { instance, pid }) = found else {
            return Err(self.wrong("the instance ended as soon as it was started"));
        };
        let identity = format!("{instance} {pid}");
        self.remember(Some(instance));
        Ok(Ready { identity, notes })
    }

    async fn closed(&self, how: Close) -> Result<(), EnvError> {
        let known = match self.known() {
            None if how == Close::Remove => self.find().await?.map(|running| running.instance),
            known => known,
        };
        let gone = |name: &str| Name::maker(name).is_some_and(|maker| !still_runs(maker));
        let mine = known.as_ref().is_some_and(|name| *name == self.name.whole || gone(name));
        // One that somebody else made, who is still there, is theirs to stop.
        let stops = match how {
            Close::Leave => mine && !self.settings.persist_across_processes,
            Close::Idle => mine,
            Close::Others => false,
            Close::Remove => known.is_some(),
        };
        if let Some(name) = known.filter(|_| stops) {
            self.remember(None);
            let said = self.stop(&name).await?;
            if !said.is_well() && !said.complaint().contains("no instance found") {
                return Err(self.wrong(&told(&said.complaint())));
            }
        }
        if how == Close::Remove || (stops && !self.settings.persistent) {
            // What another user of the container owns is not ours to remove where we are not root.
            let _ = folders::remove(&self.folder());
        }
        Ok(())
    }
}

impl Reach for Instance {
    fn ready(&self) -> BoxFuture<'_, Result<Ready, EnvError>> {
        Box::pin(self.readied())
    }

    fn start(&self, call: Call) -> BoxFuture<'_, Result<Box<dyn Process>, EnvError>> {
        Box::pin(async move {
            let name = self.known().ok_or_else(|| self.wrong("the instance is not ready"))?;
            let mut words = vec!["exec".to_owned(), "--cleanenv".to_owned()];
            let terminal = matches!(call.streams, Streams::Terminal(_));
            if terminal {
                words.extend(["--env".to_owned(), "TERM=xterm-256color".to_owned()]);
            }
            words.extend(["--pwd".to_owned(), "/".to_owned(), format!("instance://{name}")]);
            // The program takes it from the list of users, which need not be where the home is mounted.
            words.extend(["env".to_owned(), format!("HOME={}", self.home)]);
            if terminal {
                let line: Vec<String> = call.words.iter().map(|word| quoted(word)).collect();
                words.extend(["sh", "-c", TERMINAL, "hermes", &line.join(" ")].map(str::to_owned));
            } else {
                words.extend(call.words.iter().cloned());
            }
            let client = Client { program: self.program.clone(), arguments: words };
            self.clients.start(&client, call)
        })
    }

    fn close(&self, how: Close) -> BoxFuture<'_, Result<(), EnvError>> {
        Box::pin(self.closed(how))
    }

    fn claims(&self) -> Option<Claims> {
        let things = self.is_shared().then(|| Name::thing(&self.name.whole).to_owned());
        Claims::new(&self.around, self.name.place.trim_end_matches('_'), things.into_iter().collect())
    }

    fn mounts(&self) -> bool {
        self.around.shelf.is_some()
    }

    fn shell(&self) -> Option<Vec<OsString>> {
        let name = self.known()?;
        let shell = "export HOME=\"$1\"; cd -- \"$0\" 2>/dev/null; command -v bash >/dev/null 2>&1 && exec bash -l; exec sh -l";
        let cwd = match self.settings.cwd().strip_prefix('~') {
            Some(below) => format!("{}{below}", self.home),
            None => self.settings.cwd(),
        };
        let instance = format!("instance://{name}");
        let words = [
            "exec",
            "--cleanenv",
            "--env",
            "TERM=xterm-256color",
            &instance,
            "sh",
            "-c",
            shell,
            &cwd,
            &self.home,
        ];
        let program = self.program.clone().into_os_string();
        Some(std::iter::once(program).chain(words.map(OsString::from)).collect())
    }
}

/// The program: the one that is set, else by the search path.
fn program(environment: &str, set: Option<&str>, path: &str) -> Result<PathBuf, EnvError> {
    let names: &[&str] = match set {
        Some(set) if set.contains('/') => return Ok(PathBuf::from(set)),
        Some(set) => &[set],
        None => &["apptainer", "singularity"],
    };
    let found = names.iter().find_map(|name| program_on_path(name, path.as_ref()));
    found.ok_or_else(|| EnvError::Unreachable {
        environment: environment.to_owned(),
        why: format!("`{}` is not on the search path; install it, or set `binary`", names.join("` or `")),
    })
}

/// Where everything of ours is: as it is set, else on the scratch disk of a cluster, else with the rest.
fn base(settings: &ApptainerSettings, around: &Surroundings, home: &str, user: &str) -> Option<PathBuf> {
    let set = settings.scratch_dir.as_deref().map(|set| match set.strip_prefix("~/") {
        Some(below) => Path::new(home).join(below),
        None => PathBuf::from(set),
    });
    let cluster = Path::new("/scratch").join(user);
    let cluster = (!user.is_empty() && file_exists(&cluster)).then(|| cluster.join("hermes-agent"));
    let rest = around.sandbox.as_ref().map(|sandbox| sandbox.join("singularity"));
    let last = format!("/tmp/hermes-singularity-{}", rustix::process::getuid().as_raw());
    let last = rest.is_none().then(|| PathBuf::from(last));
    folders::first_usable([set, cluster, rest, last].into_iter().flatten().collect())
}
