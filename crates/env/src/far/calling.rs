//! Programs over there that call back: their messages come through two named pipes in a folder of
//! their own, and a program beside them that carries both ways.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::future::{BoxFuture, Either, join, select};
use hermes_core::environment::{
    EnvError, Input, LINE, Line, Output, Process, Script, ScriptRan, Stands, Stream, Streams, Why,
};
use hermes_core::permit::{Exec, Permit};

use crate::capture::Capture;
use crate::far::files::LIMIT;
use crate::far::place::Opened;
use crate::far::process::Wanted;
use crate::far::{Call, Far};
use crate::process::secret_word;
use crate::script::{Heard, served};
use crate::shell::script::pieces;
use crate::workplace::{CANCEL_GRACE, GRACE, LAST_WORDS};

/// Longest message; a program that writes a longer one is not listened to any more.
const MAX_MESSAGE: usize = 8 * 1024 * 1024;

/// Makes the folder of a program. Arguments: the folder, the name of the file that is read.
const MAKE: &str = r#"umask 077; mkdir -p "$1/m" "$1/e" && cat >"$1/m/$2" && mkfifo "$1/q" "$1/a""#;

/// Carries messages. Argument: the folder.
const CARRY: &str = r#"cat <"$1/q" & exec cat >"$1/a""#;

/// Removes the folder, and tells what was missing. Argument: the folder.
const REMOVE: &str = r#"[ ! -e "$1/none" ] || echo none; rm -rf -- "$1""#;

/// Runs the program. Arguments, then the command in as many pieces as it takes:
///
/// 1. most memory of each process, in kilobytes, or nothing
/// 2. the directory
/// 3. file with what the session's last shell left, or nothing
/// 4. the variable that gets a folder in front, and that folder
/// 5. anything: the Python that belongs to the directory is used
/// 6. a program that must be there, or nothing
const CALLING: &str = r#"__h_memory=$1 __h_dir=$2 __h_from=$3 __h_name=$4 __h_module=$5 __h_own=$6 __h_needs=$7
shift 7
__h_cmd=
for __h_p; do __h_cmd=$__h_cmd$__h_p; done
set --
__h_mark=$_HERMES_RUN __h_line=$HERMES_TOOLS_LINE
[ -z "$__h_from" ] || [ ! -r "$__h_from" ] || . "$__h_from" >/dev/null 2>&1
export _HERMES_RUN="$__h_mark" HERMES_TOOLS_LINE="$__h_line"
[ -z "$__h_memory" ] || ulimit -v "$__h_memory" 2>/dev/null
cd -- "$__h_dir" || exit 126
if [ -n "$__h_own" ] && [ -z "$VIRTUAL_ENV$CONDA_PREFIX" ]; then
  for __h_p in .venv venv; do
    if [ -x "$__h_p/bin/python3" ]; then export VIRTUAL_ENV="$PWD/$__h_p" PATH="$PWD/$__h_p/bin:$PATH"; break; fi
  done
fi
if [ -n "$__h_needs" ] && ! command -v "$__h_needs" >/dev/null 2>&1; then : >"$__h_module/../none"; exit 127; fi
eval "__h_p=\$$__h_name"
export "$__h_name=$__h_module:$PWD${__h_p:+:$__h_p}"
eval "$__h_cmd"
"#;

impl Far {
    /// Runs a program that calls back.
    pub(super) async fn run_calling(
        &self,
        permit: Permit<Exec>,
        script: Script,
    ) -> Result<ScriptRan, EnvError> {
        let _using = self.idle.using();
        let opened = self.opened().await?;
        let folder = format!("{}/s/x{}", opened.facts.folder, secret_word());
        let (name, text) = &script.module;
        let asked = [folder.clone(), (*name).to_owned()];
        let made = self.ask(MAKE, &asked, text.as_bytes().to_vec(), LIMIT).await?;
        if !made.is_well() {
            let doing = format!("making the folder of the script in {}", self.name);
            return Err(EnvError::Files { doing, why: made.complaint("it failed without a word") });
        }
        let ran = self.called(permit, &script, &folder).await;
        // A folder that stays goes with the place.
        let removed = self.ask(REMOVE, &[folder], Vec::new(), LIMIT).await;
        let missing = removed.is_ok_and(|said| said.out.starts_with(b"none"));
        match script.needs.filter(|_| missing) {
            Some(program) => Err(EnvError::NoProgram { environment: self.name.to_string(), program }),
            None => ran,
        }
    }

    async fn called(
        &self,
        permit: Permit<Exec>,
        script: &Script,
        folder: &str,
    ) -> Result<ScriptRan, EnvError> {
        let id = permit.call().as_str();
        let overflow = self.settings.overflow.clone();
        let heard = Arc::new(Heard {
            out: Capture::new(script.keep.0, overflow, &script.session, id),
            err: Capture::new(script.keep.1, None, &script.session, id),
        });
        let line = self.line(folder).await?;
        let begin = self.host.now();
        let (mut process, _, _) =
            self.begin(|opened| Self::program(opened, &permit, script, folder, &heard)).await?;
        let over = script.cancel.child_token();
        let watched = async {
            let limit = select(self.host.sleep(script.timeout), Box::pin(script.cancel.cancelled()));
            let why = match select(Box::pin(process.finished()), limit).await {
                Either::Left((end, _)) => end.map(|end| Why::Ended(end.end())),
                Either::Right((Either::Left(_), _)) => Ok(Why::TimedOut(script.timeout)),
                Either::Right((Either::Right(_), _)) => Ok(Why::Cancelled),
            };
            over.cancel();
            let grace = match &why {
                Ok(Why::Ended(_)) | Err(_) => Duration::ZERO,
                Ok(Why::TimedOut(_)) => GRACE,
                Ok(Why::Cancelled) => CANCEL_GRACE,
            };
            process.stop(grace).await;
            if !matches!(why, Ok(Why::Ended(_))) {
                select(Box::pin(process.finished()), self.host.sleep(LAST_WORDS)).await;
            }
            why
        };
        let why = join(watched, served(&line, script.desk.as_ref(), &over, &self.host)).await.0?;
        let took = self.host.now().saturating_sub(begin);
        Ok(ScriptRan { why, out: heard.out.kept(), err: heard.err.kept(), took, notes: Vec::new() })
    }

    fn program(
        opened: &Arc<Opened>,
        permit: &Permit<Exec>,
        script: &Script,
        folder: &str,
        heard: &Arc<Heard>,
    ) -> Wanted {
        let facts = &opened.facts;
        let in_project = script.stands == Stands::InProject;
        let directory =
            if in_project { facts.expanded(&permit.command().workdir) } else { format!("{folder}/e") };
        let mut words = facts.shell_words(false, CALLING);
        words.extend([
            script.memory.map(|bytes| (bytes / 1024).max(1).to_string()).unwrap_or_default(),
            directory.clone(),
            if in_project {
                Self::state_file(opened, &script.shell).unwrap_or_default()
            } else {
                String::new()
            },
            script.module_path.to_owned(),
            format!("{folder}/m"),
            if in_project { "1" } else { "" }.to_owned(),
            script.needs.clone().unwrap_or_default(),
        ]);
        words.extend(pieces(&permit.command().text).map(str::to_owned));
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        let mut variables: Vec<(String, String)> =
            script.variables.iter().map(|(name, value)| (text(name), text(value))).collect();
        variables.push((LINE.to_owned(), format!("fifo:{folder}")));
        Wanted {
            words,
            variables,
            only: false,
            request: None,
            left: String::new(),
            tell: String::new(),
            unwanted: String::new(),
            directory,
            input: Input::Empty,
            streams: Streams::Separate,
            output: Arc::clone(heard) as Arc<_>,
            mark: opened.fresh_mark(),
        }
    }

    /// Starts what carries messages.
    async fn line(&self, folder: &str) -> Result<Carried, EnvError> {
        let (tell, heard) = mpsc::unbounded();
        let output = Arc::new(Messages { tell, read: Mutex::default() });
        let words = ["sh", "-c", CARRY, "hermes", folder].map(str::to_owned).to_vec();
        let (input, streams) = (Input::Open, Streams::Separate);
        let client = self.reach.start(Call { words, input, streams, output }).await?;
        Ok(Carried { client, heard: futures::lock::Mutex::new(heard) })
    }
}

/// Our end of a line.
struct Carried {
    client: Box<dyn Process>,
    heard: futures::lock::Mutex<mpsc::UnboundedReceiver<Vec<u8>>>,
}

impl Line for Carried {
    fn next(&self) -> BoxFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move { self.heard.lock().await.next().await })
    }

    fn answer(&self, mut message: Vec<u8>) {
        message.push(b'\n');
        // A program that is gone does not listen.
        let _ = self.client.write(message);
    }
}

/// Puts messages together.
struct Messages {
    tell: mpsc::UnboundedSender<Vec<u8>>,
    read: Mutex<Vec<u8>>,
}

impl Output for Messages {
    fn take(&self, from: Stream, bytes: &[u8]) {
        if from == Stream::Err {
            return;
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.extend_from_slice(bytes);
        while let Some(at) = memchr::memchr(b'\n', &read) {
            let rest = read.split_off(at + 1);
            let mut message = std::mem::replace(&mut *read, rest);
            message.pop();
            if !message.is_empty() {
                let _ = self.tell.unbounded_send(message);
            }
        }
        if read.len() > MAX_MESSAGE {
            read.clear();
        }
    }
}
