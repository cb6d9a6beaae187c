//! Changes to files over there: new content is put beside its place first, then everything takes its
//! place at once, or nothing does.

use std::path::Path;

use hermes_core::environment::EnvError;
use hermes_core::files::{Change, Changed, Expect, FileError};

use crate::far::Far;
use crate::far::files::{LIMIT, split_line, stamp, unreachable};
use crate::process::secret_word;

/// Puts new content beside its place. Arguments: the path, the name beside it, the mode or nothing.
/// Prints whether folders were made. What is not needed of the input is read all the same: a client that
/// cannot hand it over may not listen to what is said.
const STAGE: &str = r#"__h_p=$1 __h_n=$2
if [ -L "$__h_p" ]; then cat >/dev/null; printf 'link %s\n' "$(readlink -- "$__h_p")"; exit 0; fi
if [ -d "$__h_p" ]; then cat >/dev/null; printf 'directory\n'; exit 0; fi
__h_d=$(dirname -- "$__h_p") __h_made=no
if [ ! -d "$__h_d" ]; then mkdir -p -- "$__h_d" || exit 1; __h_made=yes; fi
if [ -f "$__h_p" ]; then cp -p -- "$__h_p" "$__h_n" || exit 1; fi
if ! cat >"$__h_n"; then rm -f -- "$__h_n"; exit 1; fi
if [ -n "$3" ] && [ ! -e "$__h_p" ]; then chmod "$3" "$__h_n"; fi
printf 'staged %s\n' "$__h_made"
"#;

/// Makes all changes or none. Arguments, five for each: what, path, new content or new path, what is
/// expected, a name for what was there.
const COMMIT: &str = r#"known() {
  set -- $(stat -c '%s %i %Y %y' -- "$1" 2>/dev/null || stat -f '%z %i %m' -- "$1" 2>/dev/null)
  case $5 in *.*) __h_f=${5#*.} ;; *) __h_f=000000000 ;; esac
  printf '%s %s %s %s' "$1" "$2" "$3" "$__h_f"
}
undo() {
  __h_left=$__h_done
  while [ "$__h_left" -gt 0 ]; do
    eval "__h_w=\$__h_w$__h_left __h_p=\$__h_p$__h_left __h_o=\$__h_o$__h_left __h_t=\$__h_t$__h_left"
    case $__h_w in
    move) mv -- "$__h_t" "$__h_p" || printf 'left %s\n' "$__h_p" ;;
    *) if [ -e "$__h_o" ]; then mv -f -- "$__h_o" "$__h_p" || printf 'left %s\n' "$__h_p"; else rm -f -- "$__h_p"; fi ;;
    esac
    __h_left=$((__h_left - 1))
  done
}
__h_count=0
while [ $# -gt 0 ]; do
  __h_count=$((__h_count + 1))
  eval "__h_w$__h_count=\$1 __h_p$__h_count=\$2 __h_t$__h_count=\$3 __h_e$__h_count=\$4 __h_o$__h_count=\$5"
  if [ -L "$2" ]; then printf 'link %s\n' "$2"; exit 0; fi
  case $4 in
  any) ;;
  absent) if [ -e "$2" ]; then printf 'exists %s\n' "$2"; exit 0; fi ;;
  *) if [ "$(known "$2")" != "$4" ]; then printf 'changed %s\n' "$2"; exit 0; fi ;;
  esac
  case $1 in
  put) ;;
  *) if [ ! -f "$2" ]; then printf 'missing %s\n' "$2"; exit 0; fi ;;
  esac
  if [ "$1" = move ] && [ -e "$3" ]; then printf 'exists %s\n' "$3"; exit 0; fi
  shift 5
done
__h_done=0
while [ $__h_done -lt $__h_count ]; do
  __h_n=$((__h_done + 1))
  eval "__h_w=\$__h_w$__h_n __h_p=\$__h_p$__h_n __h_t=\$__h_t$__h_n __h_o=\$__h_o$__h_n"
  case $__h_w in
  put)
    if [ -e "$__h_p" ]; then
      cp -p -- "$__h_p" "$__h_o" &&
        if [ "$(stat -c %h -- "$__h_p" 2>/dev/null || echo 1)" -gt 1 ]; then cat "$__h_t" >"$__h_p" && rm -f -- "$__h_t"
        else mv -f -- "$__h_t" "$__h_p"; fi
    else mv -f -- "$__h_t" "$__h_p"; fi ;;
  remove) mv -- "$__h_p" "$__h_o" ;;
  move) { [ -d "$(dirname -- "$__h_t")" ] || mkdir -p -- "$(dirname -- "$__h_t")"; } && mv -- "$__h_p" "$__h_t" ;;
  esac 2>&1 || { printf 'failed %s\n' "$__h_p"; undo; exit 0; }
  __h_done=$__h_n
done
__h_n=0
while [ $__h_n -lt $__h_count ]; do
  __h_n=$((__h_n + 1))
  eval "__h_w=\$__h_w$__h_n __h_p=\$__h_p$__h_n __h_t=\$__h_t$__h_n __h_o=\$__h_o$__h_n"
  rm -f -- "$__h_o"
  case $__h_w in
  remove) printf 'done\n' ;;
  *) if [ "$__h_w" = move ]; then __h_p=$__h_t; fi
    printf 'done %s\n' "$(stat -c '%s %i %a %Y %y' -- "$__h_p" 2>/dev/null || stat -f '%z %i %Lp %m' -- "$__h_p")" ;;
  esac
done
"#;

/// Removes what was put beside places that were not taken. Arguments: paths.
const TIDY: &str = r#"rm -f -- "$@""#;

impl Far {
    pub(super) async fn change_there(&self, changes: Vec<Change>) -> Result<Vec<Changed>, FileError> {
        let (mut arguments, mut staged, mut made) = (Vec::new(), Vec::new(), Vec::new());
        let prepared = self.prepared(&changes, &mut arguments, &mut staged, &mut made).await;
        let done = match prepared {
            Ok(()) => self.committed(&changes, &arguments).await,
            Err(wrong) => Err(wrong),
        };
        if done.is_err() && !staged.is_empty() {
            // What cannot be tidied up is a file beside another.
            let _ = self.ask(TIDY, &staged, Vec::new(), LIMIT).await;
        }
        let mut done = done?;
        for (changed, made) in done.iter_mut().zip(made) {
            changed.dirs_created = made;
        }
        Ok(done)
    }

    async fn prepared(
        &self,
        changes: &[Change],
        arguments: &mut Vec<String>,
        beside_them: &mut Vec<String>,
        made: &mut Vec<bool>,
    ) -> Result<(), FileError> {
        for change in changes {
            let (what, path, expect) = match change {
                Change::Put { permit, expect, .. } => ("put", permit.path(), expect),
                Change::Remove { permit, expect } => ("remove", permit.path(), expect),
                Change::Move { from, expect, .. } => ("move", from.path(), expect),
            };
            let there = self.there(path).await?;
            let beside = |end: &str| format!("{}{end}", beside(&there));
            let (mut folders, mut target) = (false, String::new());
            match change {
                Change::Put { content, .. } => {
                    target = beside("n");
                    beside_them.push(target.clone());
                    let bits = content.mode.map(|bits| format!("{bits:o}")).unwrap_or_default();
                    let asked = [there.clone(), target.clone(), bits];
                    folders = self.staged(path, &asked, content.bytes.clone()).await?;
                }
                Change::Move { to, .. } => target = self.there(to.path()).await?,
                Change::Remove { .. } => {}
            }
            made.push(folders);
            let kept = beside("o");
            arguments.extend([what.to_owned(), there, target, expected(*expect), kept]);
        }
        Ok(())
    }

    async fn staged(&self, path: &Path, asked: &[String], bytes: Vec<u8>) -> Result<bool, FileError> {
        let talk = self.ask(STAGE, asked, bytes, LIMIT).await.map_err(|wrong| unwritable(path, &wrong))?;
        let (line, _) = split_line(&talk.out);
        let refused = |reason: String| Err(FileError::Unwritable { path: path.to_path_buf(), reason });
        match line.split_once(' ').unwrap_or((line.as_str(), "")) {
            ("staged", made) => Ok(made == "yes"),
            ("link", to) => refused(format!("it is a link to {to}; change that file itself")),
            ("directory", _) => Err(FileError::IsDirectory(path.to_path_buf())),
            _ => refused(talk.complaint("it failed without a word")),
        }
    }

    async fn committed(&self, changes: &[Change], arguments: &[String]) -> Result<Vec<Changed>, FileError> {
        let first = changes.iter().flat_map(Change::paths).next().unwrap_or(Path::new("")).to_path_buf();
        let talk = self.ask(COMMIT, arguments, Vec::new(), LIMIT).await;
        let talk = talk.map_err(|wrong| unwritable(&first, &wrong))?;
        let said = String::from_utf8_lossy(&talk.out).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        let done: Vec<&&str> = lines.iter().filter(|line| line.starts_with("done")).collect();
        if done.len() == changes.len() && !changes.is_empty() {
            return Ok(changes.iter().zip(done).map(|(change, line)| changed(change, line)).collect());
        }
        let about = |word: &str| {
            lines
                .iter()
                .find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
                .map(std::path::PathBuf::from)
        };
        if let Some(path) = about("changed") {
            return Err(FileError::ChangedMeanwhile(path));
        }
        if let Some(path) = about("exists") {
            return Err(FileError::Exists(path));
        }
        if let Some(path) = about("missing") {
            return Err(FileError::Missing { path, similar: Vec::new() });
        }
        let path = about("failed").or_else(|| about("link")).unwrap_or(first);
        let reason = talk.complaint("it failed without a word");
        let cause = FileError::Unwritable { path, reason };
        let left: Vec<String> =
            lines.iter().filter_map(|line| line.strip_prefix("left ").map(str::to_owned)).collect();
        if left.is_empty() { Err(cause) } else { Err(FileError::HalfDone { cause: Box::new(cause), left }) }
    }
}

fn unwritable(path: &Path, wrong: &EnvError) -> FileError {
    match unreachable(path, wrong) {
        FileError::Unreadable { path, reason } => FileError::Unwritable { path, reason },
        other => other,
    }
}

fn changed(change: &Change, line: &str) -> Changed {
    let (path, kept) = match change {
        Change::Put { permit, .. } => (permit.path(), true),
        Change::Remove { permit, .. } => (permit.path(), false),
        Change::Move { to, .. } => (to.path(), true),
    };
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    Changed { path: path.to_path_buf(), stamp: kept.then(|| stamp(&words).0), dirs_created: false }
}

/// A name in the same folder that nobody else uses.
fn beside(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let short: String = name.chars().take(40).collect();
    format!("{folder}/.{short}.{}", secret_word())
}

/// What is expected, in the words the script compares.
fn expected(expect: Expect) -> String {
    match expect {
        Expect::Anything => "any".to_owned(),
        Expect::Absent => "absent".to_owned(),
        Expect::Is(stamp) => {
            let (seconds, fraction) =
                (stamp.modified.div_euclid(1_000_000_000), stamp.modified.rem_euclid(1_000_000_000));
            format!("{} {} {seconds} {fraction:09}", stamp.size, stamp.file)
        }
    }
}
