//! What runs over there for background jobs. POSIX `sh`.
//!
//! A job has a folder: `record` says what it is, `keeper` who looks after it (process, start time, when
//! that was), `pid` its own number, `in` and `out` are pipes, `holder` is who keeps `in` open, `log.*` is
//! the log, `killed` is there when it was asked to stop, `end` tells its status and when that was, `told`
//! how much of it somebody has heard of.

/// Starts a job and says so. It can be run twice: a folder is made once. Standard input: the record.
/// Arguments, then program and words of the job:
///
/// 1. the folder, 2. the mark, 3. `setsid` or nothing, 4. the script of the keeper
/// 5. file with what the session's shell left, to be copied into the folder, or nothing
/// 6. the directory
///
/// What is not needed of the input is read all the same: a client that cannot hand it over may not listen to
/// what is said.
pub(super) const START: &str = r#"__h_d=$1 __h_mark=$2 __h_setsid=$3 __h_keep=$4 __h_from=$5 __h_dir=$6
shift 6
umask 077
if [ ! -d "$__h_dir" ] || [ ! -x "$__h_dir" ]; then cat >/dev/null; echo nodir; exit 0; fi
if mkdir -- "$__h_d"; then
  cat >"$__h_d/record" && [ -s "$__h_d/record" ] && mkfifo "$__h_d/in" "$__h_d/out" || { rm -rf -- "$__h_d"; exit 1; }
  [ -z "$__h_from" ] || cat -- "$__h_from" >"$__h_d/state" || rm -f -- "$__h_d/state"
  if [ -n "$BASH_VERSION" ]; then
    # With job control a job in the background is not made to ignore interrupts.
    set -m
    # What whoever started us left open would be held by the job.
    for __h_fd in /proc/self/fd/*; do
      __h_fd=${__h_fd##*/}
      case $__h_fd in [0-2] | *[!0-9]*) ;; *) eval "exec $__h_fd>&-" ;; esac
    done
  fi
  $__h_setsid sh -c "$__h_keep" hermes "$__h_d" "$__h_mark" "$__h_setsid" "$@" </dev/null >/dev/null 2>&1 &
elif [ ! -d "$__h_d" ]; then exit 1; fi
__h_n=0
while [ ! -s "$__h_d/pid" ] && [ ! -e "$__h_d/end" ] && [ $__h_n -lt 200 ]; do
  sleep 0.05 2>/dev/null || sleep 1
  __h_n=$((__h_n + 1))
done
__h_pid=
read -r __h_pid <"$__h_d/pid"
[ -n "$__h_pid" ] && echo "started $__h_pid"
"#;

/// Looks after a job. Arguments, then program and words: the folder, the mark, `setsid` or nothing.
///
/// The log is a row of files, each named after its place in the row, the lines and the bytes before it.
/// The first is kept for ever, so are the last few.
pub(super) const KEEP: &str = r#"__h_d=$1 __h_mark=$2 __h_setsid=$3
shift 3
umask 077
trap : HUP INT QUIT TERM
cd /
started() { set -- ${1##*) }; echo "${20}"; }
log() {
  row=0 lines=0 bytes=0 one= two= three=
  part=$__h_d/log.000000.0.0
  : >"$part"
  while :; do
    before=$(wc -c <"$part")
    dd bs=65536 count=64 2>/dev/null >>"$part" || { cat >/dev/null; break; }
    after=$(wc -c <"$part")
    [ "$after" -gt "$before" ] || break
    if [ "$after" -ge 1048576 ]; then
      lines=$((lines + $(wc -l <"$part"))) bytes=$((bytes + after)) row=$((row + 1))
      [ -z "$three" ] || rm -f -- "$three"
      three=$two two=$one
      [ $row -eq 1 ] || one=$part
      part=$__h_d/log.$(printf %06d $row).$lines.$bytes
      : >"$part"
    fi
  done
  : >"$__h_d/drained"
}
__h_line=
IFS= read -r __h_line </proc/$$/stat
__h_at=$(started "$__h_line")
printf '%s %s %s\n' "$$" "${__h_at:--}" "$(date +%s)" >"$__h_d/keeper.new"
mv -f -- "$__h_d/keeper.new" "$__h_d/keeper"
(exec sleep 2147483647) </dev/null >"$__h_d/in" &
echo $! >"$__h_d/holder"
log <"$__h_d/out" &
_HERMES_RUN=$__h_mark $__h_setsid sh -c 'echo $$ >"$0.new" && mv -f -- "$0.new" "$0"; exec "$@"' "$__h_d/pid" "$@" \
  <"$__h_d/in" >"$__h_d/out" 2>&1
__h_st=$?
__h_n=0
while [ ! -e "$__h_d/drained" ] && [ $__h_n -lt 50 ]; do
  sleep 0.02 || sleep 1
  __h_n=$((__h_n + 1))
done
read -r __h_line <"$__h_d/holder"
kill "$__h_line"
printf '%s %s\n' $__h_st "$(date +%s)" >"$__h_d/end.new"
mv -f -- "$__h_d/end.new" "$__h_d/end"
rm -f -- "$__h_d/in" "$__h_d/out" "$__h_d/state"
"#;

/// Tells about jobs. Arguments: the folder of all, and the id of one or `*`.
///
/// First `now SECONDS`, then for each a line of words and its record. What is not known is `-`.
pub(super) const LIST: &str = r#"__h_all=$1 __h_id=$2
alive() {
  [ "$1" != - ] || return 1
  if [ "$2" = - ]; then kill -0 "$1" 2>/dev/null; return; fi
  __h_was=$2 __h_line=
  IFS= read -r __h_line </proc/$1/stat || return 1
  set -- ${__h_line##*) }
  [ "$1" != Z ] && [ "${20}" = "$__h_was" ]
}
{
echo "now $(date +%s)"
[ "$__h_id" = '*' ] && set -- "$__h_all"/*/ || set -- "$__h_all/$__h_id/"
for __h_d; do
  __h_d=${__h_d%/}
  [ -s "$__h_d/record" ] || continue
  __h_pid=- __h_k=- __h_s=- __h_at=- __h_st=- __h_over=- __h_told=- __h_end=- __h_hit=- __h_kill=0 __h_lives=0
  [ ! -e "$__h_d/pid" ] || read -r __h_pid <"$__h_d/pid"
  [ ! -e "$__h_d/keeper" ] || read -r __h_k __h_s __h_at <"$__h_d/keeper"
  ! alive "$__h_k" "$__h_s" || __h_lives=1
  [ ! -e "$__h_d/end" ] || read -r __h_st __h_over <"$__h_d/end"
  [ ! -e "$__h_d/told" ] || read -r __h_told __h_end __h_hit <"$__h_d/told"
  [ ! -e "$__h_d/killed" ] || __h_kill=1
  IFS= read -r __h_line <"$__h_d/record"
  printf 'job %s %s %s %s %s %s %s %s %s %s\n%s\n' "${__h_d##*/}" $__h_lives "${__h_pid:--}" "${__h_at:--}" \
    "$__h_st" "$__h_over" $__h_kill "${__h_told:--}" "${__h_end:--}" "${__h_hit:--}" "$__h_line"
done
} 2>/dev/null
"#;

/// Removes jobs. Arguments: their folders.
pub(super) const FORGET: &str = r#"rm -rf -- "$@""#;

/// The last bytes of a log. Arguments: the folder, how many.
pub(super) const TAIL: &str = r#"cd -- "$1" || exit 1
__h_last= __h_one=
for __h_p in log.*; do [ ! -f "$__h_p" ] || { __h_one=$__h_last __h_last=$__h_p; }; done
[ -n "$__h_last" ] || exit 0
if [ -z "$__h_one" ] || [ "$(wc -c <"$__h_last")" -ge "$2" ]; then tail -c "$2" "$__h_last"
else cat "$__h_one" "$__h_last" | tail -c "$2"; fi
"#;

/// Lines of a log. Arguments: the folder, the first line counted from 0 or nothing for the last ones, how
/// many, how many bytes. Prints a line `FIRST TOTAL DROPPED FILE`, then the lines.
pub(super) const LINES: &str = r#"cd -- "$1" || exit 1
__h_from=$2 __h_lines=$3 __h_bytes=$4
lines_before() { set -- "${1#log.*.}"; __h_before=${1%%.*}; }
set --
__h_last=
for __h_p in log.*; do [ ! -f "$__h_p" ] || { set -- "$@" "$__h_p"; __h_last=$__h_p; }; done
[ -n "$__h_last" ] || { echo '0 0 0 -'; exit 0; }
lines_before "$__h_last"
__h_total=$((__h_before + $(wc -l <"$__h_last")))
[ -z "$(tail -c 1 "$__h_last")" ] || __h_total=$((__h_total + 1))
if [ -z "$__h_from" ]; then
  __h_from=$((__h_total - __h_lines))
  [ $__h_from -ge 0 ] || __h_from=0
fi
__h_dropped=0
if [ $# -gt 1 ]; then
  __h_first=$(wc -l <"$1")
  lines_before "$2"
  if [ $__h_before -gt $__h_first ]; then
    __h_dropped=$((__h_before - __h_first))
    if [ $__h_from -ge $__h_first ] && [ $__h_from -lt $__h_before ]; then __h_from=$__h_before; fi
  fi
fi
printf '%s %s %s %s\n' $__h_from $__h_total $__h_dropped "$PWD/$__h_last"
while [ $# -gt 1 ]; do
  lines_before "$2"
  [ $__h_before -lt $__h_from ] || break
  shift
done
lines_before "$1"
__h_part=$1
shift
{ tail -n +$((__h_from - __h_before + 1)) "$__h_part"; [ $# -eq 0 ] || cat "$@"; } 2>/dev/null |
  head -n "$__h_lines" | head -c "$__h_bytes"
"#;

/// What was written from some byte on. Arguments: the folder, the byte counted from 0, how many. Prints a
/// line with the number of the byte after the last, then the bytes.
pub(super) const SINCE: &str = r#"cd -- "$1" || exit 1
__h_from=$2 __h_most=$3
for __h_p in log.*; do
  [ -f "$__h_p" ] || continue
  __h_before=${__h_p##*.}
  __h_size=$(wc -c <"$__h_p")
  [ $((__h_before + __h_size)) -gt "$__h_from" ] || continue
  [ "$__h_before" -le "$__h_from" ] || __h_from=$__h_before
  __h_there=$((__h_before + __h_size - __h_from))
  [ $__h_there -le "$__h_most" ] || __h_there=$__h_most
  echo $((__h_from + __h_there))
  tail -c +$((__h_from - __h_before + 1)) "$__h_p" 2>/dev/null | head -c $__h_there
  exit 0
done
echo "$__h_from"
"#;

/// Waits until a job is over. Arguments: the folder, how many quarters of a second at most.
pub(super) const WAIT: &str = r#"__h_n=$2 __h_k=
read -r __h_k __h_rest <"$1/keeper"
while [ "$__h_n" -gt 0 ] && [ ! -e "$1/end" ] && kill -0 "$__h_k" 2>/dev/null; do
  sleep 0.25 2>/dev/null || sleep 1
  __h_n=$((__h_n - 1))
done
"#;

/// Writes what is read to a job's input. Argument: the folder.
pub(super) const WRITE: &str = r#"__h_h=
[ ! -e "$1/end" ] || { echo 'it has ended' >&2; exit 1; }
read -r __h_h <"$1/holder"
kill -0 "$__h_h" 2>/dev/null || { echo 'its input is closed' >&2; exit 1; }
cat >"$1/in"
"#;

/// Ends a job's input. Argument: the folder.
pub(super) const CLOSE: &str = r#"__h_h=
[ ! -e "$1/end" ] || { echo 'it has ended' >&2; exit 1; }
read -r __h_h <"$1/holder"
kill "$__h_h" 2>/dev/null
exit 0
"#;

/// Notes that a job was asked to stop. Argument: the folder.
pub(super) const KILLED: &str = r#"[ -e "$1/end" ] || : >"$1/killed""#;

/// Notes how much somebody has heard of. Arguments: the folder, bytes, whether of the end, whether
/// something that was watched for was seen.
pub(super) const TOLD: &str =
    r#"cd -- "$1" && printf '%s %s %s\n' "$2" "$3" "$4" >told.new && mv -f told.new told"#;

/// Tells when there is something new about jobs, until nobody listens. Argument: the folder of all.
///
/// A job with a file `follow` is looked at. A line tells its id, how many bytes it has written, and `1` when
/// it is over.
pub(super) const FOLLOW: &str = r#"__h_all=$1
look() {
  for __h_d in "$__h_all"/*/; do
    __h_d=${__h_d%/} __h_p= __h_last= __h_over=0 __h_size=0 __h_k=
    [ -e "$__h_d/follow" ] || continue
    [ ! -e "$__h_d/keeper" ] || read -r __h_k __h_rest <"$__h_d/keeper"
    if [ -e "$__h_d/end" ] || { [ -n "$__h_k" ] && ! kill -0 "$__h_k"; }; then __h_over=1; fi
    if [ -s "$__h_d/follow" ]; then
      for __h_p in "$__h_d"/log.*; do __h_last=$__h_p; done
      [ ! -f "$__h_last" ] || __h_size=$((${__h_last##*.} + $(wc -c <"$__h_last")))
    fi
    echo "${__h_d##*/} $__h_size $__h_over"
    [ $__h_over = 0 ] || rm -f -- "$__h_d/follow"
  done
}
(
  __h_was=
  while :; do
    __h_now=$(look)
    [ "$__h_now" = "$__h_was" ] || printf '%s\n' "$__h_now"
    __h_was=$__h_now
    sleep 0.4 || sleep 1
  done
) 2>/dev/null &
__h_loop=$!
cat >/dev/null
kill $__h_loop
"#;

/// Asks for a job to be followed. Arguments: the folder, anything when what it writes is looked at too.
pub(super) const LISTEN: &str = r#"printf %s "$2" >"$1/follow""#;
