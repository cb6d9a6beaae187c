//! Recordings as text: a service is asked as messages are sent; a program of this machine listens by a call
//! on the road, where the rules for commands hold and a record is kept.

use hermes_core::call::ToolCall;
use hermes_core::extensions::Extensions;
use hermes_core::session::{Session, SessionSpec};
use hermes_env::probe::program_on_path;
use hermes_tools::senders::Courier as _;
use hermes_tools::transcribe::{Listener, Recording, TranscribeError, Transcript, arguments, tool};
use serde_json::Value;

use crate::runtime::Runtime;

impl Runtime {
    /// What is said in a recording, written down by whom the settings name (`stt`): a service, or a program
    /// of this machine.
    pub async fn transcribe(&self, recording: &[u8]) -> Result<Transcript, TranscribeError> {
        let courier = self.courier();
        let path = self.world(|world| world.variable("PATH").unwrap_or_default().to_owned());
        let found = |name: &str| program_on_path(name, path.as_ref());
        let listener = Listener::chosen(courier.keys(), &found)?;
        let Some(program) = listener.program() else { return listener.ask(&courier, recording).await };
        let arguments = arguments(program, &found, recording)?;
        self.listen_with(program, &arguments, recording).await
    }

    async fn listen_with(
        &self,
        program: &str,
        arguments: &Value,
        recording: &[u8],
    ) -> Result<Transcript, TranscribeError> {
        let failed = |why: String| TranscribeError::Failed { provider: program.to_owned(), why };
        let toolbox = self.toolbox_of_one(tool()).await.map_err(|wrong| failed(wrong.to_string()))?;
        let session = Session::detached(SessionSpec {
            extensions: Extensions::default().with(Recording(recording.to_vec())),
            ..SessionSpec::new(self.unique(), self.place().clone())
        });
        let call = ToolCall::new(tool().name(), arguments.to_string());
        let outcome = self.road().call(&session, &toolbox, call).await;
        let answer: Value = serde_json::from_str(&outcome.body).unwrap_or_default();
        let text = |field: &str| answer.get(field).and_then(Value::as_str).map(str::to_owned);
        let why = || failed(text("error").unwrap_or_else(|| outcome.body.clone()));
        let (said, model) = (text("text").ok_or_else(why)?, text("model").unwrap_or_default());
        Ok(Transcript { text: said, provider: program.to_owned(), model })
    }
}
