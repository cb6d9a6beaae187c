//! Searches over real trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hermes_core::files::{ContentReport, FileError, SearchQuery, SearchReport, SearchStop, SearchTarget};
use proptest::prelude::*;

use super::super::stop::tests::{never, ticking};
use super::super::stop::{Limits, StopOnDrop};
use super::search;

/// A directory with these files; a name that ends with a slash is an empty directory.
fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

fn content(pattern: &str, report: ContentReport) -> SearchQuery {
    let target = SearchTarget::Content { pattern: pattern.to_owned(), report, context: 0 };
    SearchQuery { target, file_glob: None, limit: 50, offset: 0 }
}

fn lines(pattern: &str) -> SearchQuery {
    content(pattern, ContentReport::Lines)
}

fn with_context(pattern: &str, context: usize) -> SearchQuery {
    let target = SearchTarget::Content { pattern: pattern.to_owned(), report: ContentReport::Lines, context };
    SearchQuery { target, ..lines("") }
}

fn files(glob: &str) -> SearchQuery {
    SearchQuery { target: SearchTarget::Files { pattern: glob.to_owned() }, ..lines("") }
}

fn run(root: &Path, query: &SearchQuery) -> SearchReport {
    search(root, query, &never()).unwrap()
}

/// `path:number:text` for matches, `path-number-text` for lines around them.
fn shown(report: &SearchReport) -> Vec<String> {
    let line = |line: &hermes_core::files::FoundLine| {
        let mark = if line.matched { ':' } else { '-' };
        format!("{}{mark}{}{mark}{}", line.path.display(), line.number, line.text)
    };
    report.lines.iter().map(line).collect()
}

fn paths(report: &SearchReport) -> Vec<&str> {
    report.files.iter().filter_map(|(path, _)| path.to_str()).collect()
}

#[test]
fn lines_come_in_the_order_of_paths_and_numbers() {
    let dir = tree([
        ("b.txt", &b"x\nhit 1\r\nhit 2"[..]),
        ("a/z.txt", b"hit"),
        ("a.txt", b"no"),
        ("a-b.txt", b"hit\n"),
    ]);
    let report = run(dir.path(), &lines("hit"));

    assert_eq!(shown(&report), ["a/z.txt:1:hit", "a-b.txt:1:hit", "b.txt:2:hit 1", "b.txt:3:hit 2"]);
    assert_eq!((report.total, report.total_is_lower_bound, report.stopped), (4, false, None));
}

#[test]
fn a_pattern_that_looks_like_an_option_is_only_a_pattern() {
    let dir = tree([("a", &b"--pre=sh\n-v\n"[..])]);
    assert_eq!(shown(&run(dir.path(), &lines("--pre=sh"))), ["a:1:--pre=sh"]);
    assert_eq!(shown(&run(dir.path(), &lines("-v"))), ["a:2:-v"]);
}

#[test]
fn the_total_counts_what_lies_behind_the_page() {
    let many = "hit\n".repeat(100);
    let dir = tree([("a", many.as_bytes()), ("b", many.as_bytes())]);
    let page = |offset, limit| run(dir.path(), &SearchQuery { offset, limit, ..lines("hit") });

    let first = page(0, 50);
    assert_eq!((first.total, first.lines.len(), first.stopped), (200, 50, Some(SearchStop::Limit)));
    let across = page(95, 10);
    let numbers: Vec<_> = across.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [96, 97, 98, 99, 100, 1, 2, 3, 4, 5]);
    let last = page(150, 50);
    assert_eq!((last.lines.len(), last.stopped), (50, None));
    let behind = page(500, 50);
    assert_eq!((behind.lines.len(), behind.total, behind.stopped), (0, 200, None));
}

#[test]
fn lines_around_matches_are_shown_once() {
    let dir = tree([("f", &b"1\n2 hit\n3\n4 hit\n5\n6\n7\n8\n9 hit"[..])]);
    let report = run(dir.path(), &with_context("hit", 2));
    assert_eq!(
        shown(&report),
        ["f-1-1", "f:2:2 hit", "f-3-3", "f:4:4 hit", "f-5-5", "f-6-6", "f-7-7", "f-8-8", "f:9:9 hit"]
    );
    assert_eq!(report.total, 3);

    let second = run(dir.path(), &SearchQuery { offset: 1, limit: 1, ..with_context("hit", 2) });
    assert_eq!(shown(&second), ["f-2-2 hit", "f-3-3", "f:4:4 hit", "f-5-5", "f-6-6"]);
    let first = run(dir.path(), &SearchQuery { limit: 1, ..with_context("hit", 2) });
    assert_eq!(shown(&first), ["f-1-1", "f:2:2 hit", "f-3-3", "f-4-4 hit"]);
}

#[test]
fn files_and_counts_are_paged_by_file() {
    let dir = tree([("a", &b"hit\nhit\nno\n"[..]), ("b", b"no"), ("c", b"hit hit"), ("d", b"hit")]);
    let only = run(dir.path(), &SearchQuery { limit: 2, ..content("hit", ContentReport::FilesOnly) });
    assert_eq!((paths(&only), only.total, only.stopped), (vec!["a", "c"], 3, Some(SearchStop::Limit)));

    let count = run(dir.path(), &SearchQuery { offset: 1, ..content("hit", ContentReport::Count) });
    assert_eq!(count.files, [(PathBuf::from("c"), 1), (PathBuf::from("d"), 1)]);
    assert_eq!((count.total, count.stopped), (4, None));
    let first = run(dir.path(), &content("hit", ContentReport::Count));
    assert_eq!(first.files[0], (PathBuf::from("a"), 2));
}

#[test]
fn ignored_hidden_and_binary_files_are_left_out() {
    let dir = tree([
        (".git/", &b""[..]),
        (".gitignore", b"*.log\n/target/\n"),
        (".ignore", b"notes.txt\n"),
        ("a.log", b"hit"),
        ("target/x", b"hit"),
        ("sub/target/x", b"hit"),
        ("sub/.gitignore", b"deep\n"),
        ("sub/deep", b"hit"),
        ("notes.txt", b"hit"),
        (".hidden", b"hit"),
        ("binary", b"hit\n\0"),
        ("utf16", b"\xFF\xFEh\0i\0t\0"),
    ]);
    let report = run(dir.path(), &content("hit", ContentReport::FilesOnly));
    assert_eq!(paths(&report), ["sub/target/x", "utf16"]);
    assert_eq!(paths(&run(dir.path(), &files("*"))).len(), 3);

    let hidden = SearchQuery { file_glob: Some(".hid*".to_owned()), ..lines("hit") };
    assert_eq!(shown(&run(dir.path(), &hidden)), [".hidden:1:hit"]);
}

#[test]
fn a_binary_file_has_no_matches_even_before_the_place_that_shows_it() {
    let mut late = b"hit\n".repeat(100_000);
    late.push(0);
    let dir = tree([("late", late.as_slice())]);
    assert_eq!(run(dir.path(), &lines("hit")).total, 0);

    let named = run(&dir.path().join("late"), &lines("hit"));
    assert_eq!((named.total, named.lines.len()), (0, 0));
    assert!(named.unreadable[0].1.contains("binary"));
}

#[test]
fn a_glob_narrows_the_search() {
    let dir =
        tree([("src/a.rs", &b"hit"[..]), ("src/b/c.rs", b"hit"), ("d.py", b"hit"), ("src/e.py", b"hit")]);
    for (glob, wanted) in [
        ("*.rs", &["src/a.rs", "src/b/c.rs"][..]),
        ("src/*.rs", &["src/a.rs"]),
        ("src/**", &["src/a.rs", "src/b/c.rs", "src/e.py"]),
        ("!*.rs", &["d.py", "src/e.py"]),
        ("*.{py,md}", &["d.py", "src/e.py"]),
    ] {
        let query =
            SearchQuery { file_glob: Some(glob.to_owned()), ..content("hit", ContentReport::FilesOnly) };
        assert_eq!(paths(&run(dir.path(), &query)), wanted, "{glob}");
    }
}

#[test]
fn a_root_may_be_a_file() {
    let dir = tree([("f.txt", &b"no\nhit"[..])]);
    let file = dir.path().join("f.txt");
    let report = run(&file, &lines("hit"));
    assert_eq!(
        (report.total, report.lines[0].path.as_path(), report.lines[0].number),
        (1, file.as_path(), 2)
    );
    assert_eq!(run(&file, &files("*.txt")).files, [(file.clone(), 0)]);
    assert_eq!(run(&file, &files("*.rs")).total, 0);
}

#[test]
fn what_cannot_be_searched_is_refused_in_words() {
    let dir = tree([("source/main.rs", &b""[..])]);
    let error = search(&dir.path().join("sources"), &lines("x"), &never()).unwrap_err();
    assert!(matches!(&error, FileError::Missing { similar, .. } if similar == &["source"]), "{error:?}");
    assert!(matches!(search(dir.path(), &lines("("), &never()), Err(FileError::Pattern(_))));
    assert!(matches!(search(dir.path(), &files("["), &never()), Err(FileError::Pattern(_))));
    assert!(matches!(search(Path::new("/dev/null"), &lines("x"), &never()), Err(FileError::NotRegular(_))));
}

#[test]
fn files_are_found_newest_first_and_then_by_path() {
    let dir = tree([("old.rs", &b""[..]), ("b/new.rs", b""), ("a/new.rs", b""), ("c.txt", b"")]);
    let at = |name: &str, seconds| {
        let file = fs::File::options().write(true).open(dir.path().join(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    at("old.rs", 1000);
    at("a/new.rs", 2000);
    at("b/new.rs", 2000);
    at("c.txt", 3000);

    assert_eq!(paths(&run(dir.path(), &files("*.rs"))), ["a/new.rs", "b/new.rs", "old.rs"]);
    assert_eq!(paths(&run(dir.path(), &files("a/*"))), ["a/new.rs"]);
    let page = run(dir.path(), &SearchQuery { offset: 1, limit: 2, ..files("*") });
    assert_eq!(
        (paths(&page), page.total, page.stopped),
        (vec!["a/new.rs", "b/new.rs"], 4, Some(SearchStop::Limit))
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_but_the_root_may_be_one() {
    use std::os::unix::fs::symlink;
    let outside = tree([("secret", &b"hit"[..])]);
    let dir = tree([("inside", &b"hit"[..])]);
    symlink(outside.path(), dir.path().join("dir-link")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("file-link")).unwrap();
    assert_eq!(shown(&run(dir.path(), &lines("hit"))), ["inside:1:hit"]);
    assert_eq!(paths(&run(dir.path(), &files("*"))), ["inside"]);

    let root = outside.path().join("root");
    symlink(dir.path(), &root).unwrap();
    assert_eq!(shown(&run(&root, &lines("hit"))), ["inside:1:hit"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_inside_of_processes_is_not_searched() {
    let report = run(Path::new("/proc/self"), &lines("PATH="));
    assert!(report.lines.iter().all(|line| !line.path.ends_with("environ")));
    assert!(search(Path::new("/proc/self/environ"), &lines("x"), &never()).is_err());
}

#[test]
fn counting_stops_at_its_limit_and_says_so() {
    let content = "hit\n".repeat(10);
    let names: Vec<_> = (100..400).map(|n| format!("f{n}")).collect();
    let dir = tree(names.iter().map(|name| (name.as_str(), content.as_bytes())));
    let limits = Limits { lines: 95, ..Limits::DEFAULT };
    for _ in 0..5 {
        let report =
            search(dir.path(), &SearchQuery { limit: 20, ..lines("hit") }, &ticking(0, limits)).unwrap();
        assert_eq!((report.total, report.total_is_lower_bound), (100, true));
        assert_eq!((report.lines.len(), report.stopped), (20, Some(SearchStop::Limit)));
        assert_eq!(report.lines[19].path, Path::new("f101"));
    }
    let far = SearchQuery { offset: 2990, limit: 20, ..lines("hit") };
    let report = search(dir.path(), &far, &ticking(0, limits)).unwrap();
    assert_eq!((report.total, report.total_is_lower_bound, report.lines.len()), (3000, false, 10));
}

#[test]
fn a_search_that_takes_too_long_or_is_dropped_ends() {
    let names: Vec<_> = (0..300).map(|n| format!("f{n}")).collect();
    let dir = tree(names.iter().map(|name| (name.as_str(), &b"hit\n"[..])));
    for query in [lines("none"), files("none")] {
        let report = search(dir.path(), &query, &ticking(1000, Limits::DEFAULT)).unwrap();
        assert_eq!((report.stopped, report.total_is_lower_bound), (Some(SearchStop::Time), true));

        let stop = never();
        drop(StopOnDrop::of(&stop));
        assert_eq!(search(dir.path(), &query, &stop).unwrap().stopped, Some(SearchStop::Cancelled));
    }
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tree([("a", &b"hit"[..]), ("closed", b"hit")]);
    let closed = dir.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&closed).is_ok() {
        // The superuser may read everything.
        return;
    }
    let report = run(dir.path(), &lines("hit"));
    assert_eq!((report.total, report.unreadable[0].0.as_path()), (1, Path::new("closed")));
}

/// Matching lines of each file, counted without any of the code under test.
fn naive(files: &BTreeMap<String, Vec<u8>>, needle: &[u8]) -> Vec<(PathBuf, u64)> {
    let hit = |line: &&[u8]| line.windows(needle.len()).any(|part| part == needle);
    let count = |content: &Vec<u8>| {
        if content.contains(&0) {
            return 0;
        }
        content.split(|byte| *byte == b'\n').filter(hit).count() as u64
    };
    let mut counts: Vec<_> =
        files.iter().map(|(name, content)| (PathBuf::from(name), count(content))).collect();
    counts.retain(|(_, count)| *count > 0);
    counts.sort();
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn counts_are_those_of_a_naive_scan(
        files in proptest::collection::btree_map(
            "([abc]{1,2}/){0,2}[a-c]{1,3}\\.(rs|py)",
            proptest::collection::vec(prop_oneof![
                4 => Just(b'a'), 4 => Just(b'b'), 3 => Just(b'\n'), 1 => Just(b'\r'), 1 => 0x80_u8..=0xFF,
            ], 0..300),
            0..40,
        ),
        ignored in prop_oneof![Just("rs"), Just("py"), Just("none")],
        limit in 5_usize..40,
    ) {
        let dir = tree(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
        fs::write(dir.path().join(".ignore"), format!("*.{ignored}\n")).unwrap();
        let kept = files.into_iter().filter(|(name, _)| !name.ends_with(ignored)).collect();
        let wanted = naive(&kept, b"ab");
        let total: u64 = wanted.iter().map(|(_, count)| count).sum();

        let count = run(dir.path(), &SearchQuery { limit: 10_000, ..content("ab", ContentReport::Count) });
        prop_assert_eq!(count.total, total);
        prop_assert_eq!(&count.files, &wanted);

        let (mut offset, mut found) = (0, BTreeMap::<PathBuf, u64>::new());
        loop {
            let page = run(dir.path(), &SearchQuery { limit, offset, ..lines("ab") });
            prop_assert_eq!(page.total, total);
            prop_assert_eq!(page.stopped.is_some(), ((offset + page.lines.len()) as u64) < total);
            if page.lines.is_empty() {
                break;
            }
            offset += page.lines.len();
            page.lines.into_iter().for_each(|line| *found.entry(line.path).or_default() += 1);
        }
        prop_assert_eq!(found.into_iter().collect::<Vec<_>>(), wanted);
    }
}
