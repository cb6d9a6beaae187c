use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use futures::future::BoxFuture;
use hermes_core::files::*;
use hermes_core::host::Host;
use super::*;
struct Real(Instant);
impl Host for Real {
    fn now(&self) -> Duration { self.0.elapsed() }
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> { Box::pin(async {}) }
    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) { std::thread::spawn(job); }
}
fn time(name: &str, n: usize, mut f: impl FnMut() -> String) {
    let mut all = Vec::new(); let mut last = String::new();
    for _ in 0..n { let t = Instant::now(); last = f(); all.push(t.elapsed()); }
    all.sort();
    println!("{name}: min {:?} median {:?}  {last}", all[0], all[n / 2]);
}
#[test]
#[ignore]
fn bench() {
    let host: Arc<dyn Host> = Arc::new(Real(Instant::now()));
    let d = std::env::var("BENCH").unwrap(); let d = Path::new(&d);
    let stop = || Stop::new(host.clone(), Limits::DEFAULT);
    for first in [1, 50_000, 98_000] {
        let r = PageRequest { first, count: 2000, max_line_chars: 2000, max_chars: 100_000 };
        time(&format!("page at {first}"), 200, || match read_page(&d.join("big.txt"), r, &stop()).unwrap() { FilePage::Text(t) => format!("{} {}", t.lines.len(), t.total_lines), _ => "?".into() });
    }
    for (pat, rep) in [("rareneedle_nothing", ContentReport::Lines), ("alpha", ContentReport::Count), ("alpha", ContentReport::Lines), (r"fn \w+_\d+", ContentReport::Lines), ("alpha$", ContentReport::Count), ("kernel", ContentReport::FilesOnly), ("", ContentReport::Lines)] {
        let q = SearchQuery { target: SearchTarget::Content { pattern: pat.into(), report: rep, context: 0 }, file_glob: None, limit: 50, offset: 0 };
        time(&format!("{pat:?} {rep:?}"), 15, || { let r = search(&d.join("tree"), &q, &stop()).unwrap(); format!("{} {} {:?}", r.total, r.total_is_lower_bound, r.stopped) });
    }
    let q = SearchQuery { target: SearchTarget::Files { pattern: "*.rs".into() }, file_glob: None, limit: 50, offset: 0 };
    time("files", 15, || { let r = search(&d.join("tree"), &q, &stop()).unwrap(); format!("{}", r.total) });
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
