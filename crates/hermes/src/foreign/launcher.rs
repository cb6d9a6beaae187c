//! Starts the programs that foreign tools live in, through the environment crate's door.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::End;
use hermes_core::host::Host;
use hermes_env::peers::{PeerKeeper, PeerProgram, Peers};
use hermes_env::probe::{file_exists, is_directory, program_on_path};
use hermes_extend::launch::{Keeper, Launch, LaunchError, Launched, Program};

use crate::host::Machine;
use crate::world::World;

/// Variables that every foreign program gets; whatever else it needs is named where it is configured.
const USUAL: [&str; 17] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Starts programs on this machine.
pub(crate) struct Launcher {
    peers: Peers,
    usual: Vec<(String, String)>,
}

impl Launcher {
    pub(crate) fn new(world: &World, machine: &Arc<Machine>) -> Self {
        let host: Arc<dyn Host> = machine.clone();
        let process = world.process();
        let mut usual: Vec<_> =
            USUAL.iter().filter_map(|name| Some(((*name).to_owned(), process.get(*name)?.clone()))).collect();
        if !process.contains_key("PATH") {
            usual.push(("PATH".to_owned(), search_path(world)));
        }
        Self { peers: Peers::new(host).patient(), usual }
    }

    fn variables(&self, program: &Program) -> Vec<(String, String)> {
        let named = |name: &str| program.variables.iter().any(|(other, _)| other == name);
        let usual = self.usual.iter().filter(|(name, _)| !named(name)).cloned();
        usual.chain(program.variables.iter().cloned()).collect()
    }
}

impl Launch for Launcher {
    fn launch(&self, program: &Program) -> Result<Launched, LaunchError> {
        let failed = |why: String| LaunchError { program: program.program.clone(), why };
        let variables = self.variables(program);
        let path = variables.iter().find(|(name, _)| name == "PATH").map_or("", |(_, path)| path);
        let found = found(&program.program, path).map_err(|why| failed(why.to_owned()))?;
        if let Some(gone) = program.directory.as_ref().filter(|directory| !is_directory(directory)) {
            return Err(failed(format!("there is no folder {} to start it in", gone.display())));
        }
        let peer = PeerProgram {
            program: found,
            arguments: program.arguments.iter().map(ToString::to_string).collect(),
            variables,
            directory: program.directory.clone(),
        };
        let peer = self.peers.start(&peer).map_err(|error| failed(error.to_string()))?;
        let keeper = Box::new(Kept(peer.keeper));
        Ok(Launched { input: peer.input, output: peer.output, errors: peer.errors, keeper })
    }
}

/// Where foreign programs are looked for.
pub(crate) fn search_path(world: &World) -> String {
    world.process().get("PATH").map_or(USUAL_PATH, String::as_str).to_owned()
}

/// Where the program is: a path as it stands, a name on the search path.
pub(crate) fn found(program: &str, path: &str) -> Result<PathBuf, &'static str> {
    match program_on_path(program, path.as_ref()) {
        Some(found) => Ok(found),
        None if !program.contains('/') => Err("it is not installed"),
        None if file_exists(Path::new(program)) => Err("it is not executable; `chmod +x` makes it so"),
        None => Err("there is no such file"),
    }
}

struct Kept(PeerKeeper);

impl Keeper for Kept {
    fn pid(&self) -> u32 {
        self.0.pid()
    }

    fn ended(&self) -> BoxFuture<'static, String> {
        let ended = self.0.ended();
        Box::pin(async move {
            match ended.await {
                Some(End::Code(code)) => format!("it ended with exit code {code}"),
                Some(End::Signal(signal)) => format!("it was ended by signal {signal}"),
                None => "it ended".to_owned(),
            }
        })
    }

    fn stop(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.0.stop(grace))
    }
}
