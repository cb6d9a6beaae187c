//! The one sandbox of a place: found again by its name, made, started, let go of.
//!
//! It carries our labels; nothing without them is touched.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::environment::{EnvError, Stream};
use hermes_core::host::Host;
use hermes_net::{Method, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backends::{Opening, Surroundings};
use crate::clouds::api::{Again, Api, Fault, encoded};
use crate::clouds::daytona::settings::DaytonaSettings;
use crate::clouds::own::{
    HAD_STOPPED, MADE_ANEW, Own, claims, in_use, is_left, not_ours, others_use, taken_by_nothing,
};
use crate::clouds::settings::{OWNER, RECIPE, STAYS, gigabytes, given, hash, labels, owner, required};
use crate::far::settings::variables;
use crate::far::{Claims, Close, Ready};

/// How long a sandbox may take to be made, with its image, or to change its state.
const MAKE: Duration = Duration::from_mins(15);

/// Pauses between looks at a sandbox that is changing.
const LOOK: Duration = Duration::from_millis(200);
const LONGEST_LOOK: Duration = Duration::from_secs(3);

/// Most gigabytes of disk that Daytona gives.
const MOST_DISK: u64 = 10;

/// What the vendor is called in names of files.
const VENDOR: &str = "daytona";

/// The sandbox of a place.
pub(super) struct Sandbox {
    settings: DaytonaSettings,
    around: Surroundings,
    api: Arc<Api>,
    base: Url,
    host: Arc<dyn Host>,
    own: Own<Known>,
}

#[derive(Clone)]
struct Known {
    id: String,
    toolbox: Url,
}

/// The programs of a sandbox.
#[derive(Clone)]
pub(super) struct Toolbox {
    pub(super) api: Arc<Api>,
    pub(super) host: Arc<dyn Host>,
    /// Where its toolbox is.
    pub(super) url: Url,
    /// Where it is told that somebody is interested in it.
    pub(super) activity: Url,
}

/// A sandbox, as the API shows it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: String,
    #[serde(default)]
    labels: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    error_reason: Option<String>,
    #[serde(default)]
    toolbox_proxy_url: Option<String>,
}

impl Sandbox {
    pub(super) fn new(settings: DaytonaSettings, with: Opening) -> Result<Self, EnvError> {
        let around = with.around;
        let mut headers = vec![("x-daytona-source".to_owned(), "hermes".to_owned())];
        let token = match (given(&around, "DAYTONA_API_KEY"), given(&around, "DAYTONA_JWT_TOKEN")) {
            (None, Some(token)) => {
                let organisation = required(
                    &around,
                    "DAYTONA_ORGANIZATION_ID",
                    "DAYTONA_JWT_TOKEN needs it; or set DAYTONA_API_KEY",
                )?;
                headers.push(("x-daytona-organization-id".to_owned(), organisation));
                token
            }
            _ => required(
                &around,
                "DAYTONA_API_KEY",
                "make a key in Daytona's dashboard and put it into .env",
            )?,
        };
        headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        let api = Api::new("Daytona", "DAYTONA_API_KEY", headers, &around.given, Arc::clone(&with.host));
        let base = Url::parse(&settings.api_url).ok_or_else(|| EnvError::Settings {
            environment: around.name.clone(),
            why: format!("api_url: `{}` is no address", settings.api_url),
        })?;
        Ok(Self { settings, around, api: Arc::new(api), base, host: with.host, own: Own::new() })
    }

    /// The programs of the sandbox in use.
    pub(super) fn toolbox(&self) -> Result<Toolbox, Fault> {
        let Known { id, toolbox } = self.own.known()?;
        let activity = self.base.join(&format!("/sandbox/{id}/last-activity"));
        Ok(Toolbox { api: Arc::clone(&self.api), host: Arc::clone(&self.host), url: toolbox, activity })
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        again: Again,
    ) -> Result<Value, Fault> {
        self.api.ask(method, &self.base.join(path), body, again).await
    }

    fn shown(&self, value: Value) -> Result<Shown, Fault> {
        serde_json::from_value(value).map_err(|wrong| self.api.strange(wrong.to_string()))
    }

    /// Looks at a sandbox by its name or id; nothing when there is none.
    async fn look(&self, which: &str) -> Result<Option<Shown>, Fault> {
        match self.ask(Method::GET, &format!("/sandbox/{which}"), None, Again::Always).await {
            Ok(value) => {
                let shown = self.shown(value)?;
                Ok(Some(shown).filter(|shown| !matches!(shown.state.as_str(), "destroyed" | "destroying")))
            }
            Err(Fault::Gone { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// One word for what a sandbox is made of; a change of settings makes another.
    fn recipe(&self) -> String {
        let of = DaytonaSettings { cwd: None, auto_stop_minutes: 0, ..self.settings.clone() };
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
        let wanted = json!({ (OWNER): owner(&self.around), (STAYS): "0" }).to_string();
        let path = format!("/sandbox?limit=100&labels={}", encoded(&wanted));
        let Ok(found) = self.ask(Method::GET, &path, None, Again::Always).await else { return };
        // Older servers answer with the list itself.
        let items = found.get("items").unwrap_or(&found).as_array().cloned().unwrap_or_default();
        for item in items {
            let Ok(shown) = self.shown(item) else { continue };
            if is_left(&shown.labels, &self.around) {
                // What cannot be removed now is found again next time, or ends by itself.
                let _ = self.remove(&shown.id).await;
            }
        }
    }

    /// Makes sure that the sandbox is there and runs.
    pub(super) async fn readied(&self) -> Result<Ready, Fault> {
        self.sweep().await;
        let (name, recipe) = (self.name(), self.recipe());
        let mut notes = Vec::new();
        let before = self.own.forget();
        let found = match self.look(&name).await? {
            Some(found) if found.labels.get(OWNER) != Some(&owner(&self.around)) => {
                return Err(not_ours(&name));
            }
            Some(found) if found.labels.get(RECIPE) != Some(&recipe) => {
                if others_use(VENDOR, &self.around, found.labels.get(RECIPE).map_or("", String::as_str)) {
                    return Err(in_use(&name));
                }
                notes.push(MADE_ANEW.to_owned());
                self.remove(&found.id).await?;
                None
            }
            Some(found) if matches!(found.state.as_str(), "error" | "build_failed") => {
                let why = found.error_reason.clone().unwrap_or_else(|| found.state.clone());
                notes.push(format!("the sandbox was broken ({why}) and was made anew"));
                self.remove(&found.id).await?;
                None
            }
            found => found,
        };
        let found = match found {
            Some(found) => found,
            None => self.make(&name, &recipe).await?,
        };
        let stopped = found.state != "started";
        let shown = self.started(found).await?;
        if stopped && before.is_some_and(|before| before.id == shown.id) {
            notes.push(HAD_STOPPED.to_owned());
        }
        let toolbox = self.toolbox_of(&shown).await?;
        let identity = shown.id.clone();
        self.own.remember(Known { id: shown.id, toolbox });
        Ok(Ready { identity, notes })
    }

    async fn toolbox_of(&self, shown: &Shown) -> Result<Url, Fault> {
        let address = if let Some(address) = &shown.toolbox_proxy_url {
            address.clone()
        } else {
            let path = format!("/sandbox/{}/toolbox-proxy-url", shown.id);
            let value = self.ask(Method::GET, &path, None, Again::Always).await?;
            value.get("url").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let url = Url::parse(&address).filter(|url| url.tls || url.is_loopback());
        let url = url.ok_or_else(|| self.api.strange(format!("`{address}` as address of its toolbox")))?;
        Ok(url.join(&format!("/{}", shown.id)))
    }

    async fn make(&self, name: &str, recipe: &str) -> Result<Shown, Fault> {
        let body = self.body(name, recipe);
        match self.ask(Method::POST, "/sandbox", Some(&body), Again::Refused).await {
            Ok(value) => self.shown(value),
            // An answer that got lost, or another run of this home that was faster.
            Err(Fault::Taken { .. }) => self.look(name).await?.ok_or_else(|| taken_by_nothing(name)),
            Err(fault) => Err(fault),
        }
    }

    /// What a sandbox is made with.
    fn body(&self, name: &str, recipe: &str) -> Value {
        let settings = &self.settings;
        let mut body = json!({
            "name": name,
            "env": variables(&settings.forward_env, &settings.env, &self.around),
            "labels": labels(&self.around, settings.persistent, recipe),
            "autoStopInterval": settings.auto_stop_minutes,
            // One that is not kept goes when it stops, whoever stops it.
            "autoDeleteInterval": if settings.persistent { -1 } else { 0 },
        });
        let Some(fields) = body.as_object_mut() else { return body };
        if let Some(snapshot) = &settings.snapshot {
            fields.insert("snapshot".to_owned(), json!(snapshot));
        } else {
            fields.insert(
                "buildInfo".to_owned(),
                json!({ "dockerfileContent": format!("FROM {}\n", settings.image) }),
            );
            let sizes = [
                ("cpu", whole(settings.cpu)),
                ("memory", gigabytes(settings.memory)),
                ("disk", gigabytes(settings.disk).min(MOST_DISK)),
            ];
            let sizes = sizes.into_iter().filter(|(_, size)| *size > 0);
            fields.extend(sizes.map(|(what, size)| (what.to_owned(), json!(size))));
        }
        if !settings.network {
            fields.insert("networkBlockAll".to_owned(), json!(true));
        }
        if let Some(target) = &settings.target {
            fields.insert("target".to_owned(), json!(target));
        }
        body
    }

    /// Waits until it runs; starts it where it does not by itself.
    async fn started(&self, mut shown: Shown) -> Result<Shown, Fault> {
        let until = self.host.now() + MAKE;
        let (mut pause, mut told, mut asked) = (LOOK, String::new(), false);
        loop {
            match shown.state.as_str() {
                "started" => return Ok(shown),
                "error" | "build_failed" => {
                    let why = shown.error_reason.unwrap_or(shown.state);
                    // What cannot run is of no use to anybody.
                    let _ = self.remove(&shown.id).await;
                    return Err(Fault::Failed(format!("the sandbox could not be started: {why}")));
                }
                "stopped" | "archived" | "paused" if !asked => {
                    asked = true;
                    let path = format!("/sandbox/{}/start", shown.id);
                    match self.ask(Method::POST, &path, None, Again::Always).await {
                        // It may be on its way already.
                        Ok(_) | Err(Fault::Taken { .. }) => {}
                        Err(fault) => return Err(fault),
                    }
                }
                state => {
                    if told != state {
                        state.clone_into(&mut told);
                        self.progress(state);
                    }
                    if self.host.now() >= until {
                        return Err(Fault::Failed(format!(
                            "the sandbox is still `{state}` after {} minutes",
                            MAKE.as_secs() / 60
                        )));
                    }
                    self.host.sleep(pause).await;
                    pause = (pause * 3 / 2).min(LONGEST_LOOK);
                }
            }
            let id = shown.id.clone();
            let gone = || Fault::Failed("the sandbox vanished while it was being started".to_owned());
            shown = self.look(&id).await?.ok_or_else(gone)?;
        }
    }

    fn progress(&self, state: &str) {
        if let Some(progress) = &self.around.progress {
            progress.take(Stream::Err, format!("Daytona: {}\n", state.replace('_', " ")).as_bytes());
        }
    }

    /// Removes one, and waits until its name is free.
    async fn remove(&self, id: &str) -> Result<(), Fault> {
        match self.ask(Method::DELETE, &format!("/sandbox/{id}"), None, Again::Always).await {
            Ok(_) | Err(Fault::Gone { .. }) => {}
            Err(fault) => return Err(fault),
        }
        let until = self.host.now() + Duration::from_mins(1);
        while self.host.now() < until && self.look(id).await?.is_some() {
            self.host.sleep(LOOK).await;
        }
        Ok(())
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
        let id = match (known, how) {
            (Some(known), _) => known.id,
            (None, Close::Remove) => match self.look(&self.name()).await? {
                Some(found) if found.labels.get(OWNER) == Some(&owner(&self.around)) => found.id,
                _ => return Ok(()),
            },
            (None, _) => return Ok(()),
        };
        if how == Close::Remove || !self.settings.persistent {
            return self.remove(&id).await;
        }
        match self.ask(Method::POST, &format!("/sandbox/{id}/stop"), None, Again::Always).await {
            // Gone, or stopped by somebody else.
            Ok(_) | Err(Fault::Gone { .. } | Fault::Taken { .. } | Fault::Refused { status: 400, .. }) => {
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Processors are given out whole.
fn whole(cpu: f64) -> u64 {
    (1..=1024_u32).find(|whole| f64::from(*whole) >= cpu).filter(|_| cpu > 0.0).map_or(0, u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_what_can_be_had() {
        assert_eq!([whole(0.0), whole(0.5), whole(1.0), whole(1.5)], [0, 1, 1, 2]);
        assert_eq!([gigabytes(0), gigabytes(1), gigabytes(5120)], [0, 1, 5]);
    }
}
