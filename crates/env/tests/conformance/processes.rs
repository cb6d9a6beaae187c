//! What is known about processes of this machine from outside.

use std::fs;
use std::time::{Duration, Instant};

use hermes_env::fence::Level;

use crate::bench::Bench;

/// Whether a process of that number runs.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

impl Bench {
    /// Whether a process runs that has this number in there.
    pub(crate) fn runs(&self, pid: &str) -> bool {
        if self.backend() != "singularity" {
            return runs(pid);
        }
        let said = self.run("readlink /proc/self/ns/pid").output.head;
        runs_within(pid, String::from_utf8(said).unwrap().trim())
    }
}

/// Whether a process of that number runs in the namespace of that name, which is one that is still there:
/// numbers of namespaces that are gone are given out again at once.
fn runs_within(pid: &str, namespace: &str) -> bool {
    Seen::within(pid, namespace).is_some()
}

/// A process of this machine that was seen, by its number here and when it was started: what is known by
/// that is never another one.
pub(crate) struct Seen {
    pid: String,
    started: String,
}

impl Seen {
    /// The one that has this number in the namespace of that name.
    pub(crate) fn within(pid: &str, namespace: &str) -> Option<Self> {
        fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
            let there = fs::read_link(entry.path().join("ns/pid"));
            if !there.is_ok_and(|there| there.to_string_lossy() == namespace) {
                return None;
            }
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            let line =
                |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            let its = line("NSpid:").split_whitespace().last() == Some(pid.trim());
            let here = entry.file_name().to_string_lossy().into_owned();
            (its && !line("State:").contains('Z'))
                .then(|| Some(Self { started: started(&here)?, pid: here }))?
        })
    }

    /// Whether it still runs.
    pub(crate) fn runs(&self) -> bool {
        started(&self.pid).as_ref() == Some(&self.started)
    }
}

/// When a process that runs was started.
fn started(pid: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let runs = !rest.starts_with(['Z', 'X']);
    fields.get(19).filter(|_| runs).map(|&time| time.to_owned())
}

/// Waits until something is so; a test that waits in vain fails. It waits for as long as a machine may take
/// that has much else to do.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    found(what, || so().then_some(()));
}

/// The same, for something that is there then.
fn found<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(there) = look() {
            return there;
        }
        assert!(begin.elapsed() < Duration::from_mins(1), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A number of the status of this process, by its name.
pub(crate) fn own(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// Descriptors this process holds.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Children of this process, dead ones included.
pub(crate) fn children() -> usize {
    child_numbers().len()
}

fn child_numbers() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let lists: Vec<String> = tasks.map(|task| of(task.unwrap())).collect();
    lists.iter().flat_map(|list| list.split_ascii_whitespace()).map(str::to_owned).collect()
}

/// The number of a child that was started without a command.
fn waiting_shell() -> Option<String> {
    let waits = |pid: &String| {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.contains("builtin read")
    };
    child_numbers().into_iter().find(waits)
}

#[test]
fn where_commands_follow_each_other_a_shell_waits_for_the_next() {
    for level in [Level::Off, Level::Workspace] {
        let bench = Bench::behind("local", level);
        let shell = bench.run("true").shell;
        // What the shell was started for is not the command itself; what it read the command from is closed.
        let look = "tr '\\0\\n' '  ' </proc/$PPID/cmdline; readlink /proc/$PPID/fd/0\n";
        fs::write(bench.work().join("look.sh"), look).unwrap();

        // A command that comes before the shell does gets one of its own.
        let waited = found("a shell waited", || {
            Some(bench.output("sh look.sh", &shell)).filter(|said| said.contains("builtin read"))
        });
        assert!(waited.ends_with("/dev/null\n") && !waited.contains("look.sh"), "{waited}");

        let next = found("a shell waits", waiting_shell);
        drop(bench);
        until("it ends with its place", || !child_numbers().contains(&next));
    }
}
