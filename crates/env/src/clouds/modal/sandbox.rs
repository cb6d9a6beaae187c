//! The one sandbox of a place: found again by its labels, made, let go of.
//!
//! Modal keeps no stopped sandboxes. One whose files are kept is turned into an image before it ends, and
//! the next one is made from that.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::environment::{EnvError, Stream};
use hermes_core::host::Host;
use hermes_net::Url;

use crate::backends::{Opening, Surroundings};
use crate::clouds::api::{Again, Api, Fault};
use crate::clouds::carrier::Carrier;
use crate::clouds::modal::grpc::Line;
use crate::clouds::modal::kept::{Book, Kept};
use crate::clouds::modal::settings::ModalSettings;
use crate::clouds::modal::wire::{Fields, Message};
use crate::clouds::own::{claims, others_use};
use crate::clouds::settings::{MAKER, OWNER, RECIPE, STAYS, TASK, hash, labels, owner, required};
use crate::far::settings::variables;
use crate::far::{Claims, Close, Ready};
use crate::process::secret_word;

/// The service of sandboxes, and that of programs.
const SERVICE: &str = "modal.client.ModalClient";
const ROUTER: &str = "modal.task_command_router.TaskCommandRouter";

/// How Modal's own clients of this time call themselves: it speaks to each as it is used to.
const VERSION: &str = "1.6.3";

/// The label that stays the same as long as files go from one sandbox to the next.
const LINEAGE: &str = "hermes_lineage";

/// What the vendor is called in names of files.
const VENDOR: &str = "modal";

/// The sandbox of a place.
pub(super) struct Sandbox {
    settings: ModalSettings,
    around: Surroundings,
    api: Arc<Api>,
    host: Arc<dyn Host>,
    carrier: Arc<Carrier>,
    line: Arc<Line>,
    keys: Vec<(String, String)>,
    book: Book,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Option<Known>,
    app: Option<String>,
    swept: bool,
}

#[derive(Clone)]
struct Known {
    id: String,
    recipe: String,
    lineage: String,
    router: Arc<Router>,
}

/// What runs programs in a sandbox.
pub(super) struct Router {
    /// The task that is the sandbox.
    pub(super) task: String,
    pub(super) line: Line,
    pub(super) host: Arc<dyn Host>,
    pass: Mutex<String>,
    main: Arc<Line>,
    keys: Vec<(String, String)>,
    sandbox: String,
}

impl Router {
    /// Asks; with a fresh pass when the old one is not accepted any more.
    pub(super) async fn ask(&self, method: &str, message: &Message, again: Again) -> Result<Fields, Fault> {
        match self.line.ask(method, &self.headers(), message, again).await {
            Err(Fault::Key { .. }) => {
                self.renew().await?;
                self.line.ask(method, &self.headers(), message, again).await
            }
            answer => answer,
        }
    }

    pub(super) fn headers(&self) -> Vec<(String, String)> {
        let pass = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        vec![("authorization".to_owned(), format!("Bearer {pass}"))]
    }

    pub(super) async fn renew(&self) -> Result<(), Fault> {
        let headers = authorised(&self.main, &self.keys).await?;
        let message = Message::new().text(1, &self.sandbox);
        let access =
            self.main.ask("SandboxGetCommandRouterAccess", &headers, &message, Again::Always).await?;
        *self.pass.lock().unwrap_or_else(PoisonError::into_inner) = access.text(1);
        Ok(())
    }
}

/// The headers of calls about sandboxes, which need a token beside the key.
async fn authorised(line: &Line, keys: &[(String, String)]) -> Result<Vec<(String, String)>, Fault> {
    let token = line.ask("AuthTokenGet", keys, &Message::new(), Again::Always).await?.text(1);
    Ok(keys.iter().cloned().chain([("x-modal-auth-token".to_owned(), token)]).collect())
}

/// A sandbox that is there.
struct Found {
    id: String,
    labels: BTreeMap<String, String>,
}

impl Sandbox {
    pub(super) fn new(
        settings: ModalSettings,
        with: Opening,
        carrier: Arc<Carrier>,
    ) -> Result<Self, EnvError> {
        let (around, host) = (with.around, with.host);
        let advice = "make a token in Modal's dashboard and put both parts into .env";
        let keys = [
            ("x-modal-token-id", required(&around, "MODAL_TOKEN_ID", advice)?),
            ("x-modal-token-secret", required(&around, "MODAL_TOKEN_SECRET", advice)?),
            ("x-modal-client-type", "1".to_owned()),
            ("x-modal-client-version", VERSION.to_owned()),
        ];
        let keys = keys.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let names = "MODAL_TOKEN_ID and MODAL_TOKEN_SECRET";
        let api = Arc::new(Api::new("Modal", names, Vec::new(), &around.given, Arc::clone(&host)));
        let url = Url::parse(&settings.api_url).ok_or_else(|| EnvError::Settings {
            environment: around.name.clone(),
            why: format!("api_url: `{}` is no address", settings.api_url),
        })?;
        let line = Line::new(Arc::clone(&api), Arc::clone(&host), Arc::clone(&carrier), url, SERVICE);
        let book = Book::in_folder(around.sandbox.as_deref());
        let (line, state) = (Arc::new(line), Mutex::default());
        Ok(Self { settings, around, api, host, carrier, line, keys, book, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What runs programs in the sandbox in use.
    pub(super) fn router(&self) -> Result<Arc<Router>, Fault> {
        let known = self.state().known.clone();
        known.map(|known| known.router).ok_or_else(|| Fault::Failed("there is no sandbox".to_owned()))
    }

    async fn ask(&self, method: &str, message: &Message, again: Again) -> Result<Fields, Fault> {
        self.line.ask(method, &self.keys, message, again).await
    }

    async fn ask_authorised(&self, method: &str, message: &Message, again: Again) -> Result<Fields, Fault> {
        let headers = authorised(&self.line, &self.keys).await?;
        self.line.ask(method, &headers, message, again).await
    }

    fn recipe(&self) -> String {
        let of =
            ModalSettings { cwd: None, timeout_minutes: 0, mode: String::new(), ..self.settings.clone() };
        let given = variables(&self.settings.forward_env, &self.settings.env, &self.around);
        hash(&(format!("{of:?}"), given))
    }

    /// The app that sandboxes belong to; made, if there is none.
    async fn app(&self) -> Result<String, Fault> {
        let known = self.state().app.clone();
        if let Some(app) = known {
            return Ok(app);
        }
        let wanted =
            Message::new().text(1, &self.settings.app).text(2, &self.settings.environment).number(3, 1);
        let app = self.ask("AppGetOrCreate", &wanted, Again::Always).await?.text(1);
        self.state().app = Some(app.clone());
        Ok(app)
    }

    /// The sandboxes of this home that run.
    async fn ours(&self, app: &str) -> Result<Vec<Found>, Fault> {
        let label = Message::new().text(1, OWNER).text(2, &owner(&self.around));
        let wanted = Message::new().text(1, app).nested(5, &label);
        let list = self.ask_authorised("SandboxListV2", &wanted, Again::Always).await?;
        let found = list.all(1).filter_map(Fields::read).map(|shown| {
            let labels = shown.all(6).filter_map(Fields::read).map(|label| (label.text(1), label.text(2)));
            Found { id: shown.text(1), labels: labels.collect() }
        });
        // What is not of this home is not ours, whatever was asked for.
        let owner = owner(&self.around);
        Ok(found.filter(|found| found.labels.get(OWNER) == Some(&owner)).collect())
    }

    /// Makes sure that the sandbox is there and runs.
    pub(super) async fn readied(&self) -> Result<Ready, Fault> {
        let (app, recipe) = (self.app().await?, self.recipe());
        let before = self.state().known.take();
        let sweep = !std::mem::replace(&mut self.state().swept, true);
        let (mut notes, mut own) = (Vec::new(), None);
        for found in self.ours(&app).await? {
            let label = |name: &str| found.labels.get(name).map_or("", String::as_str);
            let here = label(TASK) == self.around.name && label(STAYS) == "1" && self.settings.persistent;
            let known = before.as_ref().is_some_and(|before| before.id == found.id);
            if (here || known) && label(RECIPE) == recipe && own.is_none() {
                own = Some((found.id.clone(), label(LINEAGE).to_owned()));
            } else if here && !others_use(VENDOR, &self.around, label(RECIPE))
                || sweep && label(STAYS) == "0" && !crate::jobs::still_runs(label(MAKER))
            {
                // What cannot be removed now is found again next time, or ends by itself.
                let _ = self.terminate(&found.id).await;
            }
        }
        let (id, lineage, access) = if let Some((id, lineage)) = own {
            (id, lineage, None)
        } else {
            let (made, lineage) = self.make(&app, &recipe, &mut notes).await?;
            (made.text(1), lineage, Some(made))
        };
        let router = self.reach(&id, access).await?;
        if before.is_some_and(|before| before.id != id && before.lineage == lineage) {
            notes.push("the sandbox had ended and was started again; what ran in it has ended".to_owned());
        }
        let identity = lineage.clone();
        self.state().known = Some(Known { id, recipe, lineage, router: Arc::new(router) });
        Ok(Ready { identity, notes })
    }

    /// Finds out where programs of a sandbox are started.
    async fn reach(&self, id: &str, made: Option<Fields>) -> Result<Router, Fault> {
        let wanted = Message::new().text(1, id);
        let (task, access) = match made {
            Some(made) if !made.nested(5).text(2).is_empty() => (made.text(3), made.nested(5)),
            made => {
                let access =
                    self.ask_authorised("SandboxGetCommandRouterAccess", &wanted, Again::Always).await?;
                let task = match made {
                    Some(made) => made.text(3),
                    None => self.ask_authorised("SandboxGetTaskIdV2", &wanted, Again::Always).await?.text(1),
                };
                (task, access)
            }
        };
        let url = Url::parse(&access.text(2)).filter(|url| url.tls || url.is_loopback());
        let url = url.ok_or_else(|| self.api.strange("a sandbox without an address"))?;
        let (api, host, carrier) = (Arc::clone(&self.api), Arc::clone(&self.host), Arc::clone(&self.carrier));
        Ok(Router {
            task,
            line: Line::new(api, Arc::clone(&host), carrier, url, ROUTER),
            host,
            pass: Mutex::new(access.text(1)),
            main: Arc::clone(&self.line),
            keys: self.keys.clone(),
            sandbox: id.to_owned(),
        })
    }

    /// Makes a sandbox from what is kept of the place, or else from its image.
    async fn make(
        &self,
        app: &str,
        recipe: &str,
        notes: &mut Vec<String>,
    ) -> Result<(Fields, String), Fault> {
        let kept = self
            .book
            .find(&self.around.name)
            .filter(|kept| kept.recipe == recipe && self.settings.persistent);
        if let Some(Kept { image, lineage, .. }) = kept {
            match self.create(app, &image, recipe, &lineage).await {
                Ok(made) => return Ok((made, lineage)),
                Err(Fault::Gone { .. }) => {
                    notes.push("what was kept of the sandbox is gone; it was made anew".to_owned());
                    self.book.note(&self.around.name, None);
                }
                Err(fault) => return Err(fault),
            }
        }
        let (image, lineage) = (self.image(app).await?, secret_word());
        Ok((self.create(app, &image, recipe, &lineage).await?, lineage))
    }

    /// The image; built by Modal if it has not been.
    async fn image(&self, app: &str) -> Result<String, Fault> {
        if self.settings.image.starts_with("im-") {
            return Ok(self.settings.image.clone());
        }
        let image = Message::new().texts(6, [format!("FROM {}", self.settings.image).as_str()]);
        let wanted = Message::new().nested(2, &image).text(4, app).text(9, "2025.06");
        let told = self.ask("ImageGetOrCreate", &wanted, Again::Always).await?;
        let id = told.text(1);
        let mut result = told.nested(2);
        if result.number(1).is_none() {
            self.progress("building the image");
            result = self.built(&id).await?;
        }
        if result.number(1) == Some(1) {
            return Ok(id);
        }
        let why = [result.text(2), "without a word".to_owned()].into_iter().find(|why| !why.is_empty());
        let why = why.unwrap_or_default();
        Err(Fault::Failed(format!("the image {} could not be built: {why}", self.settings.image)))
    }

    /// Waits until an image is built.
    async fn built(&self, id: &str) -> Result<Fields, Fault> {
        let mut last = String::new();
        // A call waits for a minute or so; an image may take some.
        for _ in 0..60 {
            let wanted = Message::new().text(1, id).fraction(2, 55.0).text(3, &last);
            let mut answers = self.line.follow("ImageJoinStreaming", &self.keys, &wanted).await?;
            while let Some(answer) = answers.next().await? {
                let answer = Fields::read(&answer).unwrap_or_default();
                if answer.nested(1).number(1).is_some() {
                    return Ok(answer.nested(1));
                }
                last = [answer.text(3), last].into_iter().find(|entry| !entry.is_empty()).unwrap_or_default();
            }
        }
        Err(Fault::Failed("Modal does not come to an end with the image".to_owned()))
    }

    async fn create(&self, app: &str, image: &str, recipe: &str, lineage: &str) -> Result<Fields, Fault> {
        let settings = &self.settings;
        let milli = (settings.cpu * 1000.0).clamp(0.0, 1_024_000.0).to_string();
        let milli = milli.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or_default();
        let resources = Message::new().number(2, settings.memory).number(3, milli);
        let given = variables(&settings.forward_env, &settings.env, &self.around);
        let given = given.iter().fold(Message::new(), |map, (name, value)| {
            map.nested(1, &Message::new().text(1, name).text(2, value))
        });
        let definition = Message::new()
            .texts(1, ["sleep", "infinity"])
            .text(3, image)
            .nested(5, &resources)
            .number(7, u64::from(settings.timeout_minutes) * 60)
            .number(11, u64::from(!settings.network))
            .nested(40, &given);
        let mut tags = labels(&self.around, settings.persistent, recipe);
        tags.insert(LINEAGE.to_owned(), lineage.to_owned());
        let wanted = Message::new().text(1, app).nested(2, &definition);
        let wanted = tags.iter().fold(wanted, |wanted, (name, value)| {
            wanted.nested(4, &Message::new().text(1, name).text(2, value))
        });
        // Twice would be two of them.
        self.ask_authorised("SandboxCreateV2", &wanted, Again::Refused).await
    }

    fn progress(&self, what: &str) {
        if let Some(progress) = &self.around.progress {
            progress.take(Stream::Err, format!("Modal: {what}\n").as_bytes());
        }
    }

    async fn terminate(&self, id: &str) -> Result<(), Fault> {
        match self.ask_authorised("SandboxTerminateV2", &Message::new().text(1, id), Again::Always).await {
            Ok(_) | Err(Fault::Gone { .. }) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Turns the files of a sandbox into an image, and writes down which.
    async fn keep(&self, known: &Known) -> Result<(), Fault> {
        let wanted = Message::new().text(1, &known.router.task).text(2, &secret_word());
        let told = match known.router.ask("TaskSnapshotFilesystem", &wanted, Again::Always).await {
            Err(Fault::Gone { .. }) => return Ok(()),
            told => told?,
        };
        let (recipe, lineage) = (known.recipe.clone(), known.lineage.clone());
        if self.book.note(&self.around.name, Some(&Kept { image: told.text(1), recipe, lineage })) {
            return Ok(());
        }
        Err(Fault::Failed("it cannot be written down which image holds its files".to_owned()))
    }

    /// What other programs of this home share.
    pub(super) fn shared(&self) -> Option<Claims> {
        claims(VENDOR, &self.around, self.settings.persistent, &self.recipe())
    }

    /// Lets go of it.
    pub(super) async fn let_go(&self, how: Close) -> Result<(), Fault> {
        let known = self.state().known.take();
        if how == Close::Others {
            return Ok(());
        }
        if how == Close::Remove {
            self.book.note(&self.around.name, None);
            let app = self.app().await?;
            for found in self.ours(&app).await? {
                let known = known.as_ref().is_some_and(|known| known.id == found.id);
                let kept = found.labels.get(STAYS).is_some_and(|stays| stays == "1");
                if known || kept && found.labels.get(TASK) == Some(&self.around.name) {
                    self.terminate(&found.id).await?;
                }
            }
            return Ok(());
        }
        let Some(known) = known else { return Ok(()) };
        let kept = if self.settings.persistent { self.keep(&known).await } else { Ok(()) };
        // Without its files kept it goes all the same: it costs.
        self.terminate(&known.id).await.and(kept)
    }
}
