//! Tells what a program writes from what is said about it.
//!
//! The script around a program says when it is there and how it ended, on the same output, behind a
//! mark nobody can guess. What comes before the beginning is the client's own talk and is kept for
//! its complaints.

use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::channel::oneshot;
use hermes_core::environment::{End, Output, Stream, Streams};
use memchr::memmem;

/// Most that is kept of what a client says.
const MAX_TALK: usize = 8 * 1024;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Over {
    /// With this status; the directory it stood in, when its shell could leave everything behind.
    Ended(i32, Option<PathBuf>),
    /// It was not started: its directory is not there.
    NoDirectory,
}

impl Over {
    /// The end of the process. A shell reports a signal as a code; what left something behind was not
    /// killed.
    pub(super) fn end(&self) -> End {
        match self {
            Self::Ended(status @ 129..=192, None) => End::Signal(status - 128),
            Self::Ended(code, _) => End::Code(*code),
            Self::NoDirectory => End::Code(126),
        }
    }
}

/// Sits between a client and whoever wants the output of the program.
pub(super) struct Filter {
    output: Arc<dyn Output>,
    separate: bool,
    mark: String,
    state: Mutex<State>,
}

struct State {
    out: Part,
    err: Part,
    talk: Vec<u8>,
    held: Vec<u8>,
    held_err: Vec<u8>,
    over: Option<Over>,
    tell_begin: Option<oneshot::Sender<u32>>,
    tell_over: Option<oneshot::Sender<Over>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Running,
    Ending,
    Over,
}

/// Told once each.
pub(super) struct Told {
    pub(super) begun: oneshot::Receiver<u32>,
    pub(super) over: oneshot::Receiver<Over>,
}

impl Filter {
    pub(super) fn new(mark: &str, streams: Streams, output: Arc<dyn Output>) -> (Arc<Self>, Told) {
        let (tell_begin, begun) = oneshot::channel();
        let (tell_over, over) = oneshot::channel();
        let separate = streams == Streams::Separate;
        let state = State {
            out: Part::Before,
            err: if separate { Part::Running } else { Part::Over },
            talk: Vec::new(),
            held: Vec::new(),
            held_err: Vec::new(),
            over: None,
            tell_begin: Some(tell_begin),
            tell_over: Some(tell_over),
        };
        let filter = Self { output, separate, mark: mark.to_owned(), state: Mutex::new(state) };
        (Arc::new(filter), Told { begun, over })
    }

    /// What the client said for itself.
    pub(super) fn talk(&self) -> String {
        let state = self.lock();
        let held: &[u8] = if state.out == Part::Before { &state.held } else { &[] };
        String::from_utf8_lossy(&[state.talk.as_slice(), held].concat()).trim().to_owned()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_out(&self, state: &mut State, bytes: &[u8]) {
        if state.out == Part::Over {
            return;
        }
        if state.out == Part::Running && state.held.is_empty() {
            // The usual case copies nothing.
            self.run(state, bytes);
        } else {
            let mut all = std::mem::take(&mut state.held);
            all.extend_from_slice(bytes);
            self.run(state, &all);
        }
    }

    /// Goes through what is there; what cannot be decided yet is held.
    fn run(&self, state: &mut State, mut bytes: &[u8]) {
        if state.out == Part::Before {
            let needle = format!("#{} begin ", self.mark);
            let Some(at) = memmem::find(bytes, needle.as_bytes()) else { return hold(state, bytes) };
            let said = bytes.get(at + needle.len()..).unwrap_or_default();
            let Some(end) = memchr::memchr(b'\n', said) else { return hold(state, bytes) };
            talk(state, bytes.get(..at).unwrap_or_default());
            let pid = std::str::from_utf8(said.get(..end).unwrap_or_default()).unwrap_or_default();
            state.out = Part::Running;
            if let Some(tell) = state.tell_begin.take() {
                let _ = tell.send(pid.trim().parse().unwrap_or_default());
            }
            bytes = said.get(end + 1..).unwrap_or_default();
        }
        if state.out == Part::Running {
            let needle = format!("#{} ", self.mark);
            let Some(at) = memmem::find(bytes, needle.as_bytes()) else {
                let sure = bytes.len() - overlap(bytes, needle.as_bytes());
                self.pass(Stream::Out, bytes.get(..sure).unwrap_or_default());
                return hold(state, bytes.get(sure..).unwrap_or_default());
            };
            self.pass(Stream::Out, bytes.get(..at).unwrap_or_default());
            bytes = bytes.get(at + needle.len()..).unwrap_or_default();
            state.out = Part::Ending;
        }
        if state.out == Part::Ending {
            let needle = format!("#{} over", self.mark);
            let Some(at) = memmem::find(bytes, needle.as_bytes()) else { return hold(state, bytes) };
            state.over = Some(ended(bytes.get(..at).unwrap_or_default()));
            state.out = Part::Over;
            state.held = Vec::new();
            tell(state);
        }
    }

    fn take_err(&self, state: &mut State, bytes: &[u8]) {
        if !self.separate || state.out == Part::Before {
            return talk(state, bytes);
        }
        if state.err == Part::Over {
            return;
        }
        let mut all = std::mem::take(&mut state.held_err);
        all.extend_from_slice(bytes);
        let needle = format!("#{} over", self.mark);
        if let Some(at) = memmem::find(&all, needle.as_bytes()) {
            self.pass(Stream::Err, all.get(..at).unwrap_or_default());
            state.err = Part::Over;
            tell(state);
        } else {
            let sure = all.len() - overlap(&all, needle.as_bytes());
            self.pass(Stream::Err, all.get(..sure).unwrap_or_default());
            state.held_err = all.split_off(sure);
        }
    }

    fn pass(&self, from: Stream, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.output.take(from, bytes);
        }
    }
}

impl Output for Filter {
    fn take(&self, from: Stream, bytes: &[u8]) {
        let mut state = self.lock();
        match from {
            Stream::Out => self.take_out(&mut state, bytes),
            Stream::Err => self.take_err(&mut state, bytes),
        }
    }
}

fn hold(state: &mut State, bytes: &[u8]) {
    state.held = bytes.to_vec();
}

fn talk(state: &mut State, bytes: &[u8]) {
    let room = MAX_TALK.saturating_sub(state.talk.len());
    state.talk.extend(bytes.iter().take(room));
}

/// Tells that it is over, once both outputs are.
fn tell(state: &mut State) {
    if state.out == Part::Over
        && state.err == Part::Over
        && let (Some(over), Some(tell)) = (state.over.take(), state.tell_over.take())
    {
        let _ = tell.send(over);
    }
}

/// Bytes at the end that may be the beginning of the needle.
fn overlap(bytes: &[u8], needle: &[u8]) -> usize {
    let most = bytes.len().min(needle.len().saturating_sub(1));
    (1..=most).rev().find(|length| bytes.ends_with(needle.get(..*length).unwrap_or_default())).unwrap_or(0)
}

/// What is said between the marks: `end STATUS yes SAVED DIRECTORY`, `end STATUS no `, or `nodir`.
///
/// A shell that is killed may still save what it knows; but the status it saw last is then not the one
/// it ended with.
fn ended(said: &[u8]) -> Over {
    let mut words = said.splitn(5, |byte| *byte == b' ');
    if words.next() != Some(b"end") {
        return Over::NoDirectory;
    }
    let number = |word: Option<&[u8]>| word.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
    let status = number(words.next()).unwrap_or(-1);
    let whole = words.next() == Some(b"yes");
    let saved: Option<i32> = number(words.next());
    let cwd = words.next().unwrap_or_default();
    let killed = status > 128 && saved != Some(status);
    let cwd = (whole && !killed).then(|| PathBuf::from(std::ffi::OsString::from_vec(cwd.to_vec())));
    Over::Ended(status, cwd)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<(Vec<u8>, Vec<u8>)>);

    impl Output for Heard {
        fn take(&self, from: Stream, bytes: &[u8]) {
            let mut heard = self.0.lock().unwrap();
            match from {
                Stream::Out => heard.0.extend_from_slice(bytes),
                Stream::Err => heard.1.extend_from_slice(bytes),
            }
        }
    }

    fn filtered(chunks: &[&[u8]], streams: Streams) -> (Vec<u8>, Option<Over>, String) {
        let heard = Arc::new(Heard::default());
        let (filter, told) = Filter::new("m1", streams, Arc::clone(&heard) as Arc<_>);
        for chunk in chunks {
            filter.take(Stream::Out, chunk);
        }
        let out = heard.0.lock().unwrap().0.clone();
        (out, told.over.now_or_never().and_then(Result::ok), filter.talk())
    }

    #[test]
    fn what_is_said_about_a_program_is_not_its_output() {
        let said = b"welcome\n#m1 begin 42\nout#m2 end 0\n#m1 end 3 yes 3 /a\nb#m1 over\nlate";

        let (out, over, talk) = filtered(&[said], Streams::Merged);

        assert_eq!(out, b"out#m2 end 0\n");
        assert_eq!(over, Some(Over::Ended(3, Some("/a\nb".into()))));
        assert_eq!(talk, "welcome");
    }

    #[test]
    fn a_shell_that_was_killed_is_told_from_one_that_ended_with_such_a_code() {
        let over = |said: &[u8]| ended(said).end();

        assert_eq!(over(b"end 143 yes 0 /a"), End::Signal(15));
        assert_eq!(over(b"end 143 yes 143 /a"), End::Code(143));
        assert_eq!(over(b"end 137 no "), End::Signal(9));
        assert_eq!(over(b"nodir "), End::Code(126));
    }

    #[test]
    fn a_program_that_never_began_leaves_the_clients_complaint() {
        let (out, over, talk) = filtered(&[b"Error: No such container\n"], Streams::Merged);

        assert_eq!((out, over, talk.as_str()), (Vec::new(), None, "Error: No such container"));
    }

    #[test]
    fn both_outputs_must_be_over() {
        let heard = Arc::new(Heard::default());
        let (filter, mut told) = Filter::new("m1", Streams::Separate, Arc::clone(&heard) as Arc<_>);
        filter.take(Stream::Out, b"#m1 begin 1\no#m1 end 0 no #m1 over\n");
        assert_eq!(told.over.try_recv().unwrap(), None);

        filter.take(Stream::Err, b"e#m1 o");
        filter.take(Stream::Err, b"ver\n");

        assert_eq!(told.over.try_recv().unwrap(), Some(Over::Ended(0, None)));
        assert_eq!(*heard.0.lock().unwrap(), (b"o".to_vec(), b"e".to_vec()));
    }

    proptest::proptest! {
        #[test]
        fn however_it_is_cut_the_output_is_the_same(
            body in proptest::collection::vec(proptest::sample::select(b"#m1 endover\n".to_vec()), 0..60),
            cut in 1_usize..9,
        ) {
            proptest::prop_assume!(memmem::find(&body, b"#m1 ").is_none());
            let all = [b"#m1 begin 1\n", body.as_slice(), b"#m1 end 0 no #m1 over\n"].concat();
            let chunks: Vec<&[u8]> = all.chunks(cut).collect();

            let (out, over, _) = filtered(&chunks, Streams::Merged);

            proptest::prop_assert_eq!(out, body);
            proptest::prop_assert_eq!(over, Some(Over::Ended(0, None)));
        }
    }
}
