//! This process and the system: its memory, fresh copies of it, what lies on the disk.
//!
//! Every item is measured in processes of its own, so that no item finds warm what another one
//! warmed, and memory counts what the item needs.

#![expect(clippy::disallowed_methods, reason = "the one place that looks at the process and the disk")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Map, Value};

use crate::arguments::Place;

/// The most memory this process has held so far, in units of 1024 KiB.
pub(crate) fn peak_mb() -> Result<f64, String> {
    memory("VmHWM:")
}

/// The memory this process holds now, in units of 1024 KiB.
pub(crate) fn held_mb() -> Result<f64, String> {
    memory("VmRSS:")
}

fn memory(name: &str) -> Result<f64, String> {
    let status = text(Path::new("/proc/self/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib =
        line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| format!("the system does not tell {name}"))
}

/// Seconds of processor this process has used, without its children.
pub(crate) fn cpu_seconds() -> Result<f64, String> {
    let stat = text(Path::new("/proc/self/stat"))?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

/// The value of a variable of this process.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Makes a folder, and those above it.
pub(crate) fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|wrong| format!("{}: {wrong}", folder.display()))
}

/// Two named pipes, at the other ends of which a program answers every line with a line.
pub(crate) struct PingPong {
    input: File,
    output: BufReader<File>,
}

impl PingPong {
    /// Opens what lies at this path with `.in` and `.out` behind it, as soon as the program does.
    pub(crate) fn open(at: &Path) -> Result<Self, String> {
        let named = |ending: &str| format!("{}{ending}", at.display());
        let failed = |wrong: std::io::Error| format!("{}: {wrong}", at.display());
        let input = File::options().write(true).open(named(".in")).map_err(failed)?;
        let output = File::open(named(".out")).map_err(failed)?;
        Ok(Self { input, output: BufReader::new(output) })
    }

    /// One line there, in one piece and with its end, and one line back.
    pub(crate) fn round(&mut self, line: &str) -> Result<(), String> {
        let mut back = String::new();
        self.input
            .write_all(line.as_bytes())
            .and_then(|()| self.output.read_line(&mut back))
            .map_err(|wrong| wrong.to_string())?;
        if back.contains("result") { Ok(()) } else { Err(format!("it answered {back:?}")) }
    }
}

/// A browser that is talked to over bare pipes, in messages that end with a zero.
pub(crate) struct ZeroPipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl ZeroPipe {
    /// Starts it; it reads from its descriptor 3 and writes to 4.
    pub(crate) fn start(program: &str, arguments: &[String]) -> Result<Self, String> {
        let on_pipes = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", on_pipes, "sh", program]).args(arguments);
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|wrong| format!("{program}: {wrong}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err(format!("{program}: no pipes")) };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &str) -> Result<(), String> {
        let sent = self.input.write_all(message.as_bytes()).and_then(|()| self.input.write_all(b"\0"));
        sent.and_then(|()| self.input.flush()).map_err(|wrong| wrong.to_string())
    }

    /// The next message.
    pub(crate) fn heard(&mut self) -> Result<Vec<u8>, String> {
        let mut message = Vec::new();
        self.output.read_until(0, &mut message).map_err(|wrong| wrong.to_string())?;
        match message.pop() {
            Some(0) => Ok(message),
            _ => Err("it ended".to_owned()),
        }
    }
}

impl Drop for ZeroPipe {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves one page to whoever asks, for as long as this process runs; on which port.
pub(crate) fn serve(page: String) -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|wrong| wrong.to_string())?;
    let port = listener.local_addr().map_err(|wrong| wrong.to_string())?.port();
    std::thread::spawn(move || {
        let page: Arc<str> = page.into();
        for link in listener.incoming().flatten() {
            let page = Arc::clone(&page);
            // Browsers open lines that they may need later: none may hold up the others.
            std::thread::spawn(move || answer(&link, &page));
        }
    });
    Ok(port)
}

/// Answers one request, which is read to its end. Whoever breaks off needs no answer.
fn answer(mut link: &TcpStream, page: &str) {
    let asked = BufReader::new(link).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    if asked.count() > 0 {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
        let _ = write!(link, "{head}content-length: {}\r\n\r\n{page}", page.len());
    }
}

/// Sends a request to a server of this machine, and waits for its answer.
pub(crate) fn post(base_url: &str, path: &str, body: &str) -> Result<(), String> {
    let said = |wrong: std::io::Error| format!("{base_url}: {wrong}");
    let address = base_url.trim_start_matches("http://").trim_end_matches('/');
    let mut link = TcpStream::connect(address).map_err(said)?;
    link.set_read_timeout(Some(Duration::from_secs(5))).map_err(said)?;
    let length = body.len();
    write!(link, "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n{body}")
        .map_err(said)?;
    link.shutdown(Shutdown::Write).map_err(said)?;
    let mut answer = String::new();
    link.read_to_string(&mut answer).map_err(said)?;
    if answer.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(format!("{base_url}{path}: {answer}")) }
}

/// The text of a file of the shared data.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Keeps a text for the processes that come after this one.
pub(crate) fn keep(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Does something on one processor, with all threads and programs that are started meanwhile.
pub(crate) fn on_one_processor<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let refused = |wrong: rustix::io::Errno| format!("cannot stay on one processor: {wrong}");
    let all = sched_getaffinity(None).map_err(refused)?;
    let mut one = CpuSet::new();
    let first = (0..CpuSet::MAX_CPU).find(|processor| all.is_set(*processor));
    one.set(first.ok_or("the system tells of no processor")?);
    sched_setaffinity(None, &one).map_err(refused)?;
    let done = work();
    sched_setaffinity(None, &all).map_err(refused)?;
    Ok(done)
}

/// Does something from so many threads at once, each with its number.
pub(crate) fn from_threads(
    threads: u32,
    work: impl Fn(u32) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?)
    })
}

/// Removes a folder that an earlier process may have left half filled.
pub(crate) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(wrong) if wrong.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {wrong}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The variables this process was started with.
pub(crate) fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Whether a file or folder is there.
pub(crate) fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Measures an item once in a fresh process.
pub(crate) fn fresh(item: &str, place: &Place) -> Result<Map<String, Value>, String> {
    let own = std::env::current_exe().map_err(|wrong| format!("cannot find this binary: {wrong}"))?;
    let ended = Command::new(own)
        .args([crate::arguments::ONCE, item, "--work"])
        .arg(&place.work)
        .args(place.model.iter().flat_map(|model| ["--base-url", model]))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|wrong| format!("cannot start this binary again: {wrong}"))?;
    if !ended.status.success() {
        return Err(format!("measuring {item} failed"));
    }
    serde_json::from_slice(&ended.stdout)
        .map_err(|wrong| format!("measuring {item} printed no numbers: {wrong}"))
}

/// The words this process was started with, without its own name.
pub(crate) fn words() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}
