//! A container is made: its image fetched, what it cannot be given left out.

use std::time::Duration;

use hermes_core::environment::EnvError;

use crate::containers::arguments::{Making, run};
use crate::containers::container::{
    ANSWER, Container, MACHINE, MAKER, OURS, OWNER, PROFILE, RECIPE, START, STAYS, TASK, own_machine,
};
use crate::containers::engine::{client, misses_folder, refuses_disk, refuses_init, refuses_limits};
use crate::containers::pulling::Pulling;
use crate::far::Reach as _;
use crate::far::client::Client;
use crate::jobs::own_process;
use crate::process::secret_word;

/// How long an image may take to be fetched.
const PULL: Duration = Duration::from_mins(30);

/// What is told when the engine does not see our files.
const UNSEEN: &str = "the engine does not see files of this machine: skills and credential files are copied, \
                      and what is kept is kept in volumes of the engine";

/// What an engine turned out not to be able to do.
struct Can {
    init: bool,
    limits: bool,
    disk: bool,
}

impl Container {
    /// Whether the image is there; then, whether it starts a supervisor of its own.
    async fn has_image(&self) -> Result<Option<bool>, EnvError> {
        let format = "{{json .Config.Entrypoint}}";
        let said = self.ask(&["image", "inspect", "--format", format, &self.settings.image], ANSWER).await?;
        if said.is_well() {
            return Ok(Some(said.text().contains("\"/init\"")));
        }
        let complaint = said.complaint();
        let missing = ["No such image", "image not known", "no such image", "failed to find image"];
        if missing.iter().any(|words| complaint.contains(words)) {
            return Ok(None);
        }
        Err(self.wrong(&complaint))
    }

    /// Fetches the image; what the engine says meanwhile is passed on.
    async fn pull(&self) -> Result<(), EnvError> {
        let words = client(&self.program, ["pull", self.settings.image.as_str()]);
        let tell = self.around.progress.clone().map(|tell| Pulling::begin(&self.settings.image, tell));
        let said = self.clients.ask(&words, PULL, tell).await?;
        if said.is_well() {
            return Ok(());
        }
        Err(self.wrong(&format!("image {} cannot be fetched: {}", self.settings.image, said.complaint())))
    }

    /// Makes the container. What the engine cannot limit is left unlimited, and what it does not see of ours
    /// is not mounted, with a note.
    pub(super) async fn make(&self) -> Result<(String, Vec<String>), EnvError> {
        let own_init = if let Some(own_init) = self.has_image().await? {
            own_init
        } else {
            self.pull().await?;
            self.has_image().await?.unwrap_or_default()
        };
        let mut notes = Vec::new();
        let disk = self.settings.disk > 0 && self.settings.disk != 51_200;
        let mut can = Can { init: true, limits: true, disk };
        loop {
            let mounted = self.mounts();
            let shares = self.shares().await?;
            if mounted && !self.mounts() {
                notes.push(UNSEEN.to_owned());
            }
            let name = format!("hermes-{}", secret_word().get(..8).unwrap_or_default());
            let labels = self.labels(&self.recipe(self.mounts()));
            let making = Making {
                engine: self.engine,
                name: &name,
                labels: &labels,
                shares: &shares,
                variables: self.variables(),
                user: self.user(),
                own_init,
                init: can.init,
                limits: can.limits,
                disk: can.disk,
            };
            let words = Client { program: self.program.clone(), arguments: run(&self.settings, &making) };
            let said = self.clients.ask_with(&words, making.unspoken(), START).await;
            match said {
                Ok(said) if said.is_well() => {
                    let text = said.text();
                    let id = text.lines().last().unwrap_or_default().trim().to_owned();
                    return Ok((id, notes));
                }
                // What is half made goes, whatever is wrong.
                said => {
                    self.ask(&["rm", "-f", &name], START).await?;
                    let complaint = said?.complaint();
                    if self.mounts_or_keeps() && misses_folder(&complaint, shares.own()) {
                        self.mount_nothing();
                        notes.push(UNSEEN.to_owned());
                    } else if !can.without(&complaint, &mut notes) {
                        return Err(self.wrong(&complaint));
                    }
                }
            }
        }
    }

    fn labels(&self, recipe: &str) -> Vec<(&'static str, String)> {
        vec![
            (OURS, "1".to_owned()),
            (OWNER, self.around.owner.clone()),
            (TASK, self.around.name.clone()),
            (PROFILE, self.around.profile.clone()),
            (MAKER, own_process()),
            (MACHINE, own_machine()),
            (STAYS, if self.settings.persist_across_processes { "1" } else { "0" }.to_owned()),
            (RECIPE, recipe.to_owned()),
        ]
    }
}

impl Can {
    /// Does without what the engine complains of, with a note where that is worth one; `false` when it
    /// complains of something else.
    fn without(&mut self, complaint: &str, notes: &mut Vec<String>) -> bool {
        let mut note = |words: &str| notes.push(words.to_owned());
        if self.init && refuses_init(complaint) {
            self.init = false;
        } else if self.disk && refuses_disk(complaint) {
            self.disk = false;
            note("this engine cannot limit the disk of a container; it has no limit");
        } else if self.limits && refuses_limits(complaint) {
            self.limits = false;
            note("this engine cannot limit processors, memory or processes; there is no limit");
        } else {
            return false;
        }
        true
    }
}
