//! Where the password of `sudo` comes from in this runtime: what the home's `.env` says, else the person.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use hermes_core::sudo::{Password, SudoAsker, SudoQuestion};
use hermes_env::sudo::{SudoSettings, is_wanted};

use crate::redact::WorldRedact;
use crate::world::World;

/// The variable that holds the password.
const CONFIGURED: &str = "SUDO_PASSWORD";

/// Asks the person, and sees to it that nothing shows what they typed.
struct Careful {
    asker: Arc<dyn SudoAsker>,
    secrets: Arc<WorldRedact>,
}

impl SudoAsker for Careful {
    fn password(&self, question: SudoQuestion) -> BoxFuture<'_, Option<Password>> {
        Box::pin(async move {
            let typed = self.asker.password(question).await?;
            self.secrets.learn(&typed);
            Some(typed)
        })
    }

    fn warn(&self, what: &str) {
        self.asker.warn(what);
    }
}

/// How `sudo` is answered; nothing when it would not ask here, or there is no program to help it.
pub(crate) fn settings(
    world: &World,
    helper: Option<PathBuf>,
    asker: Option<Arc<dyn SudoAsker>>,
    secrets: &Arc<WorldRedact>,
) -> Option<SudoSettings> {
    let helper = helper.filter(|_| is_wanted(world.variable("PATH").unwrap_or_default().as_ref()))?;
    let configured = world.variable(CONFIGURED).and_then(Password::new);
    let careful = |asker| Arc::new(Careful { asker, secrets: Arc::clone(secrets) }) as Arc<dyn SudoAsker>;
    Some(SudoSettings { helper, configured, asker: asker.map(careful) })
}
