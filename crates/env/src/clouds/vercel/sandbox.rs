//! The one sandbox of a place: found again by its name, made, resumed, let go of.
//!
//! It has a name that stays and sessions that do not. One that is kept is stopped with its files, and its
//! next session begins with them. It carries our labels; nothing without them is touched.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::environment::EnvError;
use hermes_core::host::Host;
use hermes_net::{Method, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backends::{Opening, Surroundings};
use crate::clouds::api::{Again, Api, Fault, encoded};
use crate::clouds::own::{
    HAD_STOPPED, MADE_ANEW, Own, claims, in_use, is_left, not_ours, others_use, taken_by_nothing,
};
use crate::clouds::settings::{OWNER, RECIPE, hash, labels, owner};
use crate::clouds::vercel::account::Account;
use crate::clouds::vercel::settings::VercelSettings;
use crate::far::settings::variables;
use crate::far::{Claims, Close, Ready};

/// How long a sandbox may take to be made or to change its state.
const MAKE: Duration = Duration::from_mins(5);

/// Pauses between looks at a sandbox that is changing.
const LOOK: Duration = Duration::from_millis(200);
const LONGEST_LOOK: Duration = Duration::from_secs(2);

/// What the vendor is called in names of files.
const VENDOR: &str = "vercel";

/// The sandbox of a place.
pub(super) struct Sandbox {
    settings: VercelSettings,
    around: Surroundings,
    account: Account,
    api: Arc<Api>,
    base: Url,
    host: Arc<dyn Host>,
    /// By name and session.
    own: Own<(String, String)>,
}

/// The programs of a sandbox.
pub(super) struct Session {
    pub(super) api: Arc<Api>,
    pub(super) host: Arc<dyn Host>,
    base: Url,
    team: String,
}

impl Session {
    /// An address below that of the session.
    pub(super) fn at(&self, path: &str) -> Url {
        let mark = if path.contains('?') { '&' } else { '?' };
        self.base.join(&format!("{path}{mark}teamId={}", encoded(&self.team)))
    }
}

/// A sandbox and its session, as the API shows them.
#[derive(Debug, Clone, Deserialize)]
struct Shown {
    sandbox: ShownSandbox,
    session: Option<ShownSession>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownSandbox {
    name: String,
    current_session_id: String,
    #[serde(default)]
    created_at: u64,
    #[serde(default)]
    tags: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Deserialize)]
struct ShownSession {
    id: String,
    #[serde(default)]
    status: String,
}

impl ShownSandbox {
    fn tag(&self, name: &str) -> &str {
        self.tags.as_ref().and_then(|tags| tags.get(name)).map_or("", String::as_str)
    }
}

impl Sandbox {
    pub(super) fn new(settings: VercelSettings, with: Opening) -> Result<Self, EnvError> {
        let around = with.around;
        let account = Account::of(&around)?;
        let headers = vec![("authorization".to_owned(), format!("Bearer {}", account.token))];
        let api = Api::new("Vercel", account.keys, headers, &around.given, Arc::clone(&with.host));
        let base = Url::parse(&settings.api_url).ok_or_else(|| EnvError::Settings {
            environment: around.name.clone(),
            why: format!("api_url: `{}` is no address", settings.api_url),
        })?;
        let (api, host, own) = (Arc::new(api), with.host, Own::new());
        Ok(Self { settings, around, account, api, base, host, own })
    }

    /// The programs of the sandbox in use.
    pub(super) fn session(&self) -> Result<Session, Fault> {
        let (_, id) = self.own.known()?;
        Ok(Session {
            api: Arc::clone(&self.api),
            host: Arc::clone(&self.host),
            base: self.base.join(&format!("/v2/sandboxes/sessions/{}", encoded(&id))),
            team: self.account.team.clone(),
        })
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
    ) -> Result<Value, Fault> {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}teamId={}", encoded(&self.account.team));
        self.api.ask(method, &self.base.join(&path), body, again).await
    }

    fn shown(&self, value: Value) -> Result<Shown, Fault> {
        serde_json::from_value(value).map_err(|wrong| self.api.strange(wrong.to_string()))
    }

    /// The path of a sandbox of this project.
    fn path(&self, name: &str, more: &str) -> String {
        format!("/v2/sandboxes/{}?projectId={}{more}", encoded(name), encoded(&self.account.project))
    }

    /// Looks at a sandbox by its name; nothing when there is none.
    async fn look(&self, name: &str, more: &str) -> Result<Option<Shown>, Fault> {
        match self.ask(Method::GET, &self.path(name, more), None, Again::Always).await {
            Ok(value) => self.shown(value).map(Some),
            Err(Fault::Gone { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// One word for what a sandbox is made of; a change of settings makes another.
    fn recipe(&self) -> String {
        let of = VercelSettings { cwd: None, timeout_minutes: 0, ..self.settings.clone() };
        let given = variables(&self.settings.forward_env, &self.settings.env, &self.around);
        hash(&(format!("{of:?}"), given))
    }

    fn name(&self) -> String {
        self.own.name(&self.around, self.settings.persistent)
    }

    /// Removes what runs of this home that are gone have left, once.
    async fn sweep(&self) {
        if !self.own.sweeps() {
            return;
        }
        let owner = owner(&self.around);
        let path = format!(
            "/v2/sandboxes?project={}&limit=50&tags={}",
            encoded(&self.account.project),
            encoded(&format!("{OWNER}:{owner}"))
        );
        let Ok(found) = self.ask(Method::GET, &path, None, Again::Always).await else { return };
        let items = found.get("sandboxes").and_then(Value::as_array).cloned().unwrap_or_default();
        for item in items {
            let Ok(shown) = serde_json::from_value::<ShownSandbox>(item) else { continue };
            if is_left(&shown.tags.clone().unwrap_or_default(), &self.around) {
                // What cannot be removed now is found again next time, or ends by itself.
                let _ = self.remove(&shown.name).await;
            }
        }
    }

    /// Makes sure that the sandbox is there and runs.
    pub(super) async fn readied(&self) -> Result<Ready, Fault> {
        self.sweep().await;
        let (name, recipe) = (self.name(), self.recipe());
        let mut notes = Vec::new();
        let before = self.own.forget();
        let found = match self.look(&name, "&resume=true").await? {
            Some(found) if found.sandbox.tag(OWNER) != owner(&self.around) => {
                return Err(not_ours(&name));
            }
            Some(found) if found.sandbox.tag(RECIPE) != recipe => {
                if others_use(VENDOR, &self.around, found.sandbox.tag(RECIPE)) {
                    return Err(in_use(&name));
                }
                notes.push(MADE_ANEW.to_owned());
                self.remove(&name).await?;
                None
            }
            found => found,
        };
        let found = match found {
            Some(found) => found,
            None => self.make(&name, &recipe).await?,
        };
        let shown = self.started(found).await?;
        let id = shown.session.map_or(shown.sandbox.current_session_id, |session| session.id);
        if before.is_some_and(|before| before.1 != id) && self.settings.persistent {
            notes.push(HAD_STOPPED.to_owned());
        }
        // What is kept goes from one session to the next; otherwise each begins anew.
        let identity = if self.settings.persistent {
            format!("{name} {}", shown.sandbox.created_at)
        } else {
            id.clone()
        };
        self.own.remember((name, id));
        Ok(Ready { identity, notes })
    }

    async fn make(&self, name: &str, recipe: &str) -> Result<Shown, Fault> {
        let version = if self.settings.image.is_some() { "v3" } else { "v2" };
        let path = format!("/{version}/sandboxes");
        // Once more is as once: the name is taken then.
        match self.ask(Method::POST, &path, Some(&self.body(name, recipe)), Again::Always).await {
            Ok(value) => self.shown(value),
            Err(Fault::Taken { .. }) => {
                self.look(name, "&resume=true").await?.ok_or_else(|| taken_by_nothing(name))
            }
            Err(fault) => Err(fault),
        }
    }

    /// What a sandbox is made with.
    fn body(&self, name: &str, recipe: &str) -> Value {
        let settings = &self.settings;
        let mut body = json!({
            "projectId": self.account.project,
            "name": name,
            "timeout": u64::from(settings.timeout_minutes) * 60_000,
            "persistent": settings.persistent,
            "env": variables(&settings.forward_env, &settings.env, &self.around),
            "tags": labels(&self.around, settings.persistent, recipe),
        });
        let Some(fields) = body.as_object_mut() else { return body };
        match &settings.image {
            Some(image) => fields.insert("image".to_owned(), json!(image)),
            None => fields.insert("runtime".to_owned(), json!(settings.runtime)),
        };
        if let Some(processors) = settings.processors() {
            fields.insert("resources".to_owned(), json!({ "vcpus": processors, "memory": settings.memory }));
        }
        if !settings.network {
            fields.insert("networkPolicy".to_owned(), json!({ "mode": "deny-all" }));
        }
        if let Some(region) = &settings.region {
            fields.insert("region".to_owned(), json!(region));
        }
        body
    }

    /// Waits until it runs.
    async fn started(&self, mut shown: Shown) -> Result<Shown, Fault> {
        let until = self.host.now() + MAKE;
        let (mut pause, mut broken) = (LOOK, 0);
        loop {
            let status = shown.session.as_ref().map_or("running", |session| session.status.as_str());
            match status {
                "running" => return Ok(shown),
                "failed" | "aborted" if broken > 1 => {
                    return Err(Fault::Failed(format!("the sandbox could not be started: it has {status}")));
                }
                "failed" | "aborted" => broken += 1,
                _ => {}
            }
            if self.host.now() >= until {
                let minutes = MAKE.as_secs() / 60;
                return Err(Fault::Failed(format!(
                    "the sandbox is still `{status}` after {minutes} minutes"
                )));
            }
            self.host.sleep(pause).await;
            pause = (pause * 3 / 2).min(LONGEST_LOOK);
            let gone = || Fault::Failed("the sandbox vanished while it was being started".to_owned());
            shown = self.look(&shown.sandbox.name, "&resume=true").await?.ok_or_else(gone)?;
        }
    }

    async fn remove(&self, name: &str) -> Result<(), Fault> {
        let path = self.path(name, "&deleteOrphanSnapshots=true");
        match self.ask(Method::DELETE, &path, None, Again::Always).await {
            Ok(_) | Err(Fault::Gone { .. }) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// What other programs of this home share.
    pub(super) fn shared(&self) -> Option<Claims> {
        claims(VENDOR, &self.around, self.settings.persistent, &self.recipe())
    }

    /// Lets go of it.
    pub(super) async fn let_go(&self, how: Close) -> Result<(), Fault> {
        let known = self.own.forget();
        if how == Close::Others {
            return Ok(());
        }
        let (name, session) = match (known, how) {
            (Some(known), _) => known,
            (None, Close::Remove) => match self.look(&self.name(), "").await? {
                Some(found) if found.sandbox.tag(OWNER) == owner(&self.around) => {
                    (found.sandbox.name, String::new())
                }
                _ => return Ok(()),
            },
            (None, _) => return Ok(()),
        };
        if how == Close::Remove || !self.settings.persistent {
            return self.remove(&name).await;
        }
        let path = format!("/v2/sandboxes/sessions/{}/stop", encoded(&session));
        match self.ask(Method::POST, &path, Some(&json!({})), Again::Always).await {
            // Stopped already, by somebody else or by time.
            Ok(_) | Err(Fault::Gone { .. } | Fault::Taken { .. }) => Ok(()),
            Err(fault) => Err(fault),
        }
    }
}
