//! From configuration to the places where commands run: the default one, and those with a name.
//!
//! The default is what `terminal.backend` (or `TERMINAL_ENV`) says, shaped by the flat keys of the
//! `terminal` section and their variables. `terminal.environments` names more; each has a section of its
//! own. Settings that make no sense do not stop the program: that one place says what is wrong with it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{About, EnvError, Environments, Ran, Run, Site, Standing, There, Workplace};
use hermes_core::host::Host;
use hermes_core::jobs::Jobs;
use hermes_core::permit::{Exec, Permit};
use hermes_core::session::Place;
use hermes_env::backends::{self, BackendDef, FarAbout, FarPlace, Opening, Surroundings};
use hermes_env::far::FarSettings;
use hermes_env::shell::variables::ChildVariables;
use hermes_store::config::KeyPath;
use hermes_store::{Home, HomeSkills};
use serde_json::{Map, Value};

use crate::shelf;
use crate::workplace::HomeOverflow;
use crate::world::World;

/// The backend used when nobody names one.
const DEFAULT: &str = "local";

/// Where more places are named.
const NAMED: &str = "terminal.environments";

/// How long a far place stays open unused.
const LIFETIME: u64 = 300;

/// One place as the configuration describes it.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) backend: String,
    /// Its section, in the names of its backend.
    pub(crate) section: Value,
    lifetime: Duration,
    /// Where its section is, for messages; the flat form has none.
    at: Option<String>,
}

/// Every place, the default first.
pub(crate) fn described(world: &World) -> Vec<Described> {
    let chosen = world.config("terminal.backend").and_then(|value| value.as_str().map(str::to_owned));
    let chosen = chosen.or_else(|| world.variable("TERMINAL_ENV").map(str::to_owned));
    let backend = chosen.filter(|name| !name.is_empty()).unwrap_or_else(|| DEFAULT.to_owned());
    let lifetime = world.config("terminal.lifetime_seconds").and_then(|value| value.as_u64());
    let given = || world.variable("TERMINAL_LIFETIME_SECONDS")?.trim().parse().ok();
    let lifetime = Duration::from_secs(lifetime.or_else(given).unwrap_or(LIFETIME));
    let section = backends::find(&backend).map_or(Value::Null, |backend| flat(world, backend));
    let mut all = vec![Described { name: backend.clone(), backend, section, lifetime, at: None }];
    if let Some(Value::Object(named)) = world.config(NAMED) {
        for (name, section) in named {
            let mut section = match section {
                Value::Object(section) => section,
                _ => Map::new(),
            };
            let backend = section.remove("backend").and_then(|value| value.as_str().map(str::to_owned));
            let own = section.remove("lifetime_seconds").and_then(|value| value.as_u64());
            all.push(Described {
                at: Some(format!("{NAMED}.{name}")),
                backend: backend.unwrap_or_default(),
                section: Value::Object(section),
                lifetime: own.map_or(lifetime, Duration::from_secs),
                name,
            });
        }
    }
    all
}

/// A backend's section from the flat keys and their variables; what is written down wins.
fn flat(world: &World, backend: &BackendDef) -> Value {
    let mut section = Map::new();
    let written = written(world, backend);
    for key in backend.keys() {
        let configured = world.config(&format!("terminal.{}", key.key));
        let written = || written.get(key.variable).map(String::as_str);
        let set = world.variable(key.variable).filter(|text| !text.is_empty());
        let given = || set.or_else(written).map(as_written);
        if let Some(value) = configured.filter(|value| !value.is_null()).or_else(given) {
            section.insert(key.field.to_owned(), value);
        }
    }
    Value::Object(section)
}

/// A variable as the value it stands for.
fn as_written(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// What is wrong with a place, with the line it stands on.
pub(crate) fn faults(world: &World, place: &Described) -> Vec<String> {
    let Some(backend) = backends::find(&place.backend) else {
        let known: Vec<&str> = backends::all().map(BackendDef::name).collect();
        let what = format!("`{}` is no backend; there are {}", place.backend, known.join(", "));
        return vec![located(world, place, Some("backend"), &what)];
    };
    let written = written(world, backend);
    let is_set = |name: &str| {
        written.contains_key(name) || world.variable(name).is_some_and(|value| !value.trim().is_empty())
    };
    let missing = backend.missing(is_set).map(|why| format!("{}: {why}", place.name));
    let faults = backend.faults(&place.section).into_iter();
    faults.map(|(field, why)| located(world, place, field.as_deref(), &why)).chain(missing).collect()
}

/// Variables that the vendor's own program has written down.
fn written(world: &World, backend: &BackendDef) -> BTreeMap<String, String> {
    backend.written_variables(&|name| world.variable(name).map(str::to_owned))
}

fn located(world: &World, place: &Described, field: Option<&str>, why: &str) -> String {
    let backend = backends::find(&place.backend);
    let key = match (&place.at, field) {
        (Some(at), Some(field)) => format!("{at}.{field}"),
        (Some(at), None) => at.clone(),
        (None, field) => {
            let flat = backend.and_then(|it| it.keys().find(|key| Some(key.field) == field));
            format!("terminal.{}", flat.map_or("backend", |flat| flat.key))
        }
    };
    let line = key.parse::<KeyPath>().ok().and_then(|path| world.line(&path));
    match line {
        Some(line) => format!("config.yaml line {line}: {key}: {why}"),
        None => format!("{key}: {why}"),
    }
}

/// What far places are made with.
#[derive(Clone)]
pub(crate) struct Making<'a> {
    pub(crate) world: &'a World,
    pub(crate) host: &'a Arc<dyn Host>,
    pub(crate) home: Option<&'a Home>,
    pub(crate) place: &'a Place,
    pub(crate) variables: ChildVariables,
    pub(crate) login: bool,
    pub(crate) skills: Option<&'a HomeSkills>,
}

/// Adds the places that are not this machine, and those that are wrong.
pub(crate) fn with_far(
    mut environments: Environments,
    making: &Making<'_>,
    near: impl Fn(&'static BackendDef) -> Arc<dyn Workplace>,
) -> Environments {
    let places = described(making.world);
    let making = &Making { skills: giving(making, &places), ..making.clone() };
    for place in places {
        let site = match backends::find(&place.backend) {
            Some(backend) if !backend.is_far() => Site {
                place: near(backend),
                there: None,
                about: about(&place, "this machine", Standing::Own),
            },
            _ => far(making, &place),
        };
        environments = environments.with_site(place.name, site);
    }
    environments
}

/// The skills whose credential files places are given. Where a place is disposable as long as it has none,
/// what skills name is settled now: none is given later than the place was judged by.
fn giving<'a>(making: &Making<'a>, places: &[Described]) -> Option<&'a HomeSkills> {
    let disposable = |place: &Described| {
        let about = backends::find(&place.backend).and_then(|backend| backend.about(&place.section).ok());
        about.is_some_and(|about| about.standing == Standing::Disposable)
    };
    let settled = places.iter().any(disposable);
    let named = |skills: &HomeSkills| making.home.is_some_and(|home| shelf::named_by_skills(home, skills));
    making.skills.filter(|skills| !settled || named(skills))
}

/// What every place is to the user, by name.
pub(crate) fn standings(environments: &Environments) -> BTreeMap<String, Standing> {
    environments.all().map(|(name, site)| (name.to_owned(), site.about.standing)).collect()
}

fn about(place: &Described, location: &str, standing: Standing) -> About {
    About { backend: place.backend.clone(), location: location.to_owned(), standing }
}

fn far(making: &Making<'_>, place: &Described) -> Site {
    let faults = faults(making.world, place);
    let opened = if faults.is_empty() { opened(making, place) } else { Err(faults.join("; ")) };
    opened.unwrap_or_else(|why| {
        let broken = Arc::new(Broken { name: place.name.clone(), why });
        Site { place: broken, there: None, about: about(place, "wrong settings", Standing::Shared) }
    })
}

fn opened(making: &Making<'_>, place: &Described) -> Result<Site, String> {
    let backend = backends::find(&place.backend).ok_or("there is no such backend")?;
    let FarAbout { location, standing, cwd } = backend.about(&place.section)?;
    let owner = owner(making.home);
    let shelf = making.home.map(|home| shelf::shelf(making.world, home, making.place, making.skills));
    // Who has credential files of the person's can do something in their name.
    let given = making.skills.is_some() || !shelf::named(making.world).is_empty();
    let shared = standing == Standing::Disposable && given;
    let standing = if shared { Standing::Shared } else { standing };
    let opening = Opening {
        host: Arc::clone(making.host),
        variables: making.variables.clone(),
        folder: None,
        fence: None,
        around: Surroundings {
            name: place.name.clone(),
            owner: owner.clone(),
            profile: "default".to_owned(),
            sandbox: sandbox(making),
            shelf,
            cwd: Some(making.place.cwd.clone()),
            given: making
                .world
                .variables()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .chain(written(making.world, backend))
                .collect(),
            progress: None,
        },
    };
    let settings = FarSettings {
        name: place.name.clone(),
        owner,
        login: making.login,
        cwd: PathBuf::from(&cwd),
        lifetime: place.lifetime,
        overflow: making.home.map(|home| HomeOverflow::shared(home, making.world)),
    };
    let made = backend.place(place.section.clone(), opening, settings);
    let FarPlace { place: workplace, files } = made.map_err(|wrong| wrong.to_string())?;
    let first = Place { cwd: cwd.into(), home: Some("~".into()) };
    let there = Some(There { files, first });
    Ok(Site { place: workplace, there, about: about(place, &location, standing) })
}

/// By what things of this home are known: nobody else's are touched.
fn owner(home: Option<&Home>) -> String {
    let path = home.map(|home| home.path().to_string_lossy().into_owned()).unwrap_or_default();
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(path);
    format!("{hash:016x}")
}

fn sandbox(making: &Making<'_>) -> Option<PathBuf> {
    let set = making.world.config("terminal.sandbox_dir").and_then(|value| value.as_str().map(str::to_owned));
    let set = set.or_else(|| making.world.variable("TERMINAL_SANDBOX_DIR").map(str::to_owned));
    let set = set.filter(|path| !path.is_empty()).map(|path| making.place.resolve(&path));
    set.or_else(|| making.home.map(|home| home.path().join("sandboxes")))
}

/// A place whose settings make no sense.
struct Broken {
    name: String,
    why: String,
}

impl Broken {
    fn wrong(&self) -> EnvError {
        EnvError::Settings { environment: self.name.clone(), why: self.why.clone() }
    }
}

impl Workplace for Broken {
    fn run(&self, _: Permit<Exec>, _: Run) -> BoxFuture<'_, Result<Ran, EnvError>> {
        Box::pin(std::future::ready(Err(self.wrong())))
    }

    fn jobs(&self) -> Option<&dyn Jobs> {
        None
    }

    fn look(&self) -> BoxFuture<'_, Result<String, EnvError>> {
        Box::pin(std::future::ready(Err(self.wrong())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(variables: &[(&str, &str)]) -> World {
        let process =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        World::read(None, process).unwrap()
    }

    #[test]
    fn a_place_says_which_key_it_misses_and_takes_its_settings_from_variables() {
        let chosen = [("TERMINAL_ENV", "daytona"), ("TERMINAL_DAYTONA_IMAGE", "debian:12")];
        let (without, with) = (world(&chosen), world(&[&chosen[..], &[("DAYTONA_API_KEY", "key")]].concat()));

        let place = described(&without).remove(0);

        assert_eq!(place.section, serde_json::json!({ "image": "debian:12" }));
        assert_eq!(
            faults(&without, &place),
            ["daytona: it needs DAYTONA_API_KEY, or DAYTONA_JWT_TOKEN and DAYTONA_ORGANIZATION_ID in .env"]
        );
        assert_eq!(faults(&with, &place), Vec::<String>::new());
    }

    #[test]
    fn a_variable_is_the_value_it_stands_for() {
        assert_eq!(as_written("[\"A\"]"), serde_json::json!(["A"]));
        assert_eq!(as_written("false"), serde_json::json!(false));
        assert_eq!(as_written("debian:12"), serde_json::json!("debian:12"));
    }
}
