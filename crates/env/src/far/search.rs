//! Searching over there: with `rg` where it is, else with `find` and `grep`.

use std::path::{Path, PathBuf};

use hermes_core::files::{
    ContentReport, FileError, FoundLine, SearchQuery, SearchReport, SearchStop, SearchTarget,
};

use crate::far::Far;
use crate::far::files::{LIMIT, unreachable};
use crate::files::{Meant, check_pattern, excerpt_of};

/// Most bytes of results that are looked at.
const MOST: usize = 16 * 1024 * 1024;

/// Lists files. Argument: where. Prints `seconds path` records, each ended by a zero byte.
const LIST: &str = r#"[ -e "$1" ] || { echo missing >&2; exit 3; }
if [ -f "$1" ]; then cd -- "$(dirname -- "$1")" && set -- "$(basename -- "$1")"; else cd -- "$1" && set -- .; fi || exit 1
if command -v rg >/dev/null 2>&1; then
  if stat -c %Y . >/dev/null 2>&1; then rg --no-config --files --null -- "$1" 2>/dev/null | xargs -0 stat --printf '%Y %n\0' 2>/dev/null && exit 0; fi
fi
find "$1" -name '.?*' -prune -o -type f -printf '%T@ %p\0' 2>/dev/null || find "$1" -name '.?*' -prune -o -type f -print0 2>/dev/null | sed -z 's/^/0 /'
"#;

/// Finds lines. Arguments: where, the expression, lines of context. Prints what `grep -nH` prints, with
/// a zero byte after the path; first whether a path is followed by one.
const FIND: &str = r#"[ -e "$1" ] || { echo missing >&2; exit 3; }
if [ -f "$1" ]; then cd -- "$(dirname -- "$1")" && __h_w=$(basename -- "$1"); else cd -- "$1" && __h_w=.; fi || exit 1
if command -v rg >/dev/null 2>&1; then
  echo zero
  rg --no-config --null -nH --no-heading --color=never -C "$3" -e "$2" -- "$__h_w" | head -c 16777216
elif grep -Z x /dev/null 2>/dev/null || [ $? -le 1 ]; then
  echo zero
  find "$__h_w" -name '.?*' -prune -o -type f -print0 | xargs -0 grep -nHIZE -C "$3" -e "$2" -- 2>/dev/null | head -c 16777216
else
  echo plain
  find "$__h_w" -name '.?*' -prune -o -type f -print0 | xargs -0 grep -nHE -e "$2" -- 2>/dev/null | head -c 16777216
fi
"#;

impl Far {
    pub(super) async fn search_there(
        &self,
        root: &Path,
        query: &SearchQuery,
    ) -> Result<SearchReport, FileError> {
        let there = self.there(root).await?;
        match &query.target {
            SearchTarget::Files { pattern } => {
                let listed = self.searched(root, LIST, vec![there.clone()]).await?;
                files(&listed, pattern, query, Path::new(&there))
            }
            SearchTarget::Content { pattern, report, context } => {
                check_pattern(pattern)?;
                let asked = vec![there.clone(), pattern.clone(), context.to_string()];
                let found = self.searched(root, FIND, asked).await?;
                content(&found, *report, query, Path::new(&there))
            }
        }
    }

    async fn searched(&self, root: &Path, script: &str, asked: Vec<String>) -> Result<Vec<u8>, FileError> {
        let talk = self.ask(script, &asked, Vec::new(), LIMIT).await;
        let talk = talk.map_err(|wrong| unreachable(root, &wrong))?;
        let complaint = String::from_utf8_lossy(&talk.err).into_owned();
        if complaint.starts_with("missing") {
            return Err(FileError::Missing { path: root.to_path_buf(), similar: Vec::new() });
        }
        if let Some(wrong) =
            complaint.lines().find(|line| line.contains("regex") || line.contains("nmatched"))
        {
            return Err(FileError::Pattern(wrong.to_owned()));
        }
        Ok(talk.out)
    }
}

fn files(listed: &[u8], pattern: &str, query: &SearchQuery, root: &Path) -> Result<SearchReport, FileError> {
    let meant = [Some(pattern), query.file_glob.as_deref()]
        .into_iter()
        .flatten()
        .map(|glob| Meant::new(glob, root))
        .collect::<Result<Vec<_>, _>>()?;
    let mut all: Vec<(f64, PathBuf)> = listed
        .split(|byte| *byte == 0)
        .filter_map(|record| {
            let text = String::from_utf8_lossy(record).into_owned();
            let (when, path) = text.trim_start_matches('\n').split_once(' ')?;
            Some((when.parse().ok()?, PathBuf::from(path.trim_start_matches("./"))))
        })
        .filter(|(_, path)| meant.iter().all(|glob| glob.matches(path)))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let total = all.len();
    let page: Vec<_> =
        all.into_iter().skip(query.offset).take(query.limit).map(|(_, path)| (path, 0)).collect();
    let more = query.offset + page.len() < total;
    Ok(SearchReport {
        total: total as u64,
        total_is_lower_bound: listed.len() >= MOST,
        files: page,
        stopped: more.then_some(SearchStop::Limit),
        ..SearchReport::default()
    })
}

fn content(
    found: &[u8],
    report: ContentReport,
    query: &SearchQuery,
    root: &Path,
) -> Result<SearchReport, FileError> {
    let glob = query.file_glob.as_deref().map(|glob| Meant::new(glob, root)).transpose()?;
    let zero = found.starts_with(b"zero\n");
    let lines = found.split(|byte| *byte == b'\n').skip(1);
    let mut lines: Vec<FoundLine> = lines
        .filter_map(|line| read_line(line, zero))
        .filter(|line| glob.as_ref().is_none_or(|glob| glob.matches(&line.path)))
        .collect();
    lines.sort_by(|a, b| (&a.path, a.number).cmp(&(&b.path, b.number)));
    let mut counts: Vec<(PathBuf, u64)> = Vec::new();
    for line in lines.iter().filter(|line| line.matched) {
        match counts.last_mut() {
            Some((path, count)) if *path == line.path => *count += 1,
            _ => counts.push((line.path.clone(), 1)),
        }
    }
    let matched = lines.iter().filter(|line| line.matched).count();
    let by_file = report != ContentReport::Lines;
    let total = if by_file { counts.len() } else { matched };
    let mut answer = SearchReport {
        total: total as u64,
        total_is_lower_bound: found.len() >= MOST,
        stopped: (query.offset.saturating_add(query.limit) < total).then_some(SearchStop::Limit),
        ..SearchReport::default()
    };
    if by_file {
        answer.files = counts.into_iter().skip(query.offset).take(query.limit).collect();
    } else {
        answer.lines = page(lines, query);
    }
    Ok(answer)
}

/// The matches of one page, with the context between and around them.
fn page(lines: Vec<FoundLine>, query: &SearchQuery) -> Vec<FoundLine> {
    let last = query.offset.saturating_add(query.limit);
    let mut seen = 0;
    let mut page = Vec::new();
    for line in lines {
        if line.matched {
            seen += 1;
        }
        let at = if line.matched { seen } else { seen + 1 };
        if at > query.offset && at <= last || (!line.matched && seen == last && page_goes_on(&page, &line)) {
            page.push(line);
        }
    }
    page
}

/// Context after the last match belongs to it while its lines follow each other.
fn page_goes_on(page: &[FoundLine], line: &FoundLine) -> bool {
    page.last().is_some_and(|last| last.path == line.path && last.number + 1 == line.number)
}

fn read_line(line: &[u8], zero: bool) -> Option<FoundLine> {
    let (path, rest) = if zero {
        let at = memchr::memchr(0, line)?;
        (line.get(..at)?, line.get(at + 1..)?)
    } else {
        let at = memchr::memchr(b':', line)?;
        (line.get(..at)?, line.get(at + 1..)?)
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    let matched = match rest.get(digits)? {
        b':' => true,
        b'-' => false,
        _ => return None,
    };
    let text = excerpt_of(rest.get(digits + 1..)?);
    let path = String::from_utf8_lossy(path);
    Some(FoundLine { path: path.trim_start_matches("./").into(), number, text, matched })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(limit: usize, offset: usize) -> SearchQuery {
        let target = SearchTarget::Files { pattern: "*.rs".to_owned() };
        SearchQuery { target, file_glob: None, limit, offset }
    }

    #[test]
    fn files_come_newest_first_and_page_by_page() {
        let listed = b"1.5 ./a.rs\x003 ./b/c.rs\x009 ./d.txt\x00";

        let report = files(listed, "*.rs", &query(1, 0), Path::new("/w")).unwrap();

        assert_eq!(report.files, [("b/c.rs".into(), 0)]);
        assert_eq!((report.total, report.stopped), (2, Some(SearchStop::Limit)));
    }

    #[test]
    fn lines_with_context_are_told_apart() {
        let found = b"zero\n./a\x001:hit\n./a\x002-after\n--\n./a\x009:hit\n";

        let report = content(found, ContentReport::Lines, &query(1, 0), Path::new("/w")).unwrap();

        let told: Vec<_> = report.lines.iter().map(|line| (line.number, line.matched)).collect();
        assert_eq!(told, [(1, true), (2, false)]);
        assert_eq!(report.total, 2);
    }
}
