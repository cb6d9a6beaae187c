//! What runs at the other end, around commands. POSIX `sh` unless it says bash.
//!
//! Names begin with `__h_` and are not exported, so they are neither seen by programs nor kept.

/// Looks around. Arguments: the owner's part of folder names.
///
/// Prints `name=value` lines after `#facts`; makes the folder for what is ours there. What the place was
/// given of this machine follows after `#end`.
pub(super) const PROBE: &str = r##"umask 077
echo "#facts"
__h_sh=$(command -v bash) && __h_bash=1 || { __h_sh=$(command -v sh); __h_bash=; }
echo "shell=$__h_sh"; echo "bash=$__h_bash"
command -v setsid >/dev/null 2>&1 && echo "setsid=1"
command -v stty >/dev/null 2>&1 && echo "stty=1"
command -v script >/dev/null 2>&1 && echo "script=1"
command -v tar >/dev/null 2>&1 && echo "tar=1"
grep -qsF " $HOME/.hermes " /proc/mounts && echo "mounted=1"
if [ -n "$__h_bash" ]; then [ ! -e /dev/fd/0 ] || echo "lane=1"
else ! command -v mkfifo >/dev/null 2>&1 || echo "lane=1"; fi
__h_id=$(id -u 2>/dev/null)
echo "uid=$__h_id"; echo "home=$HOME"; echo "cwd=$(pwd)"; echo "system=$(uname -srm 2>/dev/null)"
for __h_base in "${TMPDIR:-/tmp}" /tmp /var/tmp "$HOME"; do
  __h_dir=$__h_base/hermes-$__h_id-$1
  mkdir -p "$__h_dir/s" "$__h_dir/jobs" 2>/dev/null || continue
  if [ ! -L "$__h_dir" ] && [ -O "$__h_dir" ] && [ -w "$__h_dir/s" ]; then
    chmod 700 "$__h_dir" 2>/dev/null
    echo "folder=$__h_dir"
    for __h_job in "$__h_dir"/jobs/*/record; do [ ! -e "$__h_job" ] || { echo "jobs=1"; break; }; done
    break
  fi
done
echo "#end"
cat -- "$HOME/.hermes/.given-$1" 2>/dev/null
exit 0
"##;

/// Stands around a program: says that it is there, waits to be told to begin, says how it ended.
/// Arguments, then the program and its words:
///
/// 1. the mark, in front of everything that is said
/// 2. `m` outputs merged, `s` separate, `t` a terminal; then `e` when there is no input, `b` when all of it is
///    there: what the program does not read of that is read after it, since a client that cannot hand it
///    over may not listen to what is said
/// 3. file in which the shell tells its last status and directory, or nothing
/// 4. the directory, or nothing
/// 5. rows and columns of a terminal
/// 6. files to remove
pub(super) const AROUND: &str = r#"__h_mark=$1 __h_how=$2 __h_left=$3 __h_dir=$4 __h_size=$5 __h_old=$6
shift 6
case $__h_how in t*) [ -z "$__h_size" ] || stty rows "${__h_size% *}" cols "${__h_size#* }" 2>/dev/null ;; esac
printf '#%s begin %s\n' "$__h_mark" "$$"
case $__h_how in t*) ;; *) IFS= read -r __h_go || exit 0 ;; esac
if [ -n "$__h_dir" ] && ! cd -- "$__h_dir" 2>/dev/null; then
  printf '#%s nodir #%s over\n' "$__h_mark" "$__h_mark"
  case $__h_how in s*) printf '#%s over\n' "$__h_mark" >&2 ;; esac
  exit 126
fi
trap : TERM INT QUIT HUP
exec 4>&2 2>/dev/null
case $__h_how in
me) "$@" </dev/null 2>&1 4>&- ;;
m*) "$@" 2>&1 4>&- ;;
se) "$@" </dev/null 2>&4 4>&- ;;
*) "$@" 2>&4 4>&- ;;
esac
__h_st=$?
case $__h_how in ?b) cat >/dev/null 2>&1 ;; esac
__h_whole=no
[ -z "$__h_left" ] || [ ! -f "$__h_left" ] || __h_whole=yes
case $__h_how in s*) printf '#%s over\n' "$__h_mark" >&4 ;; esac
printf '#%s end %s %s ' "$__h_mark" "$__h_st" "$__h_whole"
[ $__h_whole = no ] || { cat -- "$__h_left"; rm -f -- "$__h_left"; }
printf '#%s over\n' "$__h_mark"
[ -z "$__h_old" ] || rm -f -- $__h_old
"#;

/// Finds everything that carries a mark, and what that started, and stops it. What was found once counts
/// to the end, so that children of what has been killed, whose marks cannot be read, are found too.
/// Arguments:
///
/// 1. the mark, or the beginning of several
/// 2. how often to look whether it has stopped by itself, twenty times in a second, before it is killed
/// 3. anything: begin only when standard input ends
/// 4. a shell of ours whose child that leads a session is meant, or nothing
/// 5. a session that is meant, or nothing
///
/// The last two are for what became another user: whether that carries a mark is not ours to see.
pub(super) const STOP: &str = r#"__h_mark=$1 __h_grace=$2 __h_parent=${4:--} __h_session=$5
if [ -n "$3" ]; then trap '' HUP INT TERM PIPE; cat >/dev/null; fi
__h_ever=" $__h_session "
members() {
  __h_ours=' '
  for __h_f in $(grep -lsF "_HERMES_RUN=$__h_mark" /proc/[0-9]*/environ 2>/dev/null); do
    __h_f=${__h_f#/proc/}
    __h_ours="$__h_ours${__h_f%/environ} " __h_ever="$__h_ever${__h_f%/environ} "
  done
  __h_again=1
  while [ -n "$__h_again" ]; do
    __h_again=
    for __h_f in /proc/[0-9]*/stat; do
      IFS= read -r __h_line 2>/dev/null <"$__h_f" || continue
      __h_pid=${__h_line%% *}
      set -- ${__h_line##*) }
      case $1 in Z | X) continue ;; esac
      case $__h_ours in *" $__h_pid "*) continue ;; esac
      case "$__h_ever|$2.$__h_pid" in
      *" $2 "* | *" $4 "* | *"|$__h_parent.$4") __h_ours="$__h_ours$__h_pid " __h_ever="$__h_ever$__h_pid " __h_again=1 ;;
      esac
    done
  done
  [ "$__h_ours" != ' ' ]
}
{
  if [ "$__h_grace" -gt 0 ]; then
    # Looking takes long where there is much to look at: the clock counts too.
    __h_up=0
    read -r __h_up _ </proc/uptime || __h_up=0
    __h_late=$((${__h_up%.*} + __h_grace / 20 + 1))
    members || exit 0
    kill -TERM $__h_ours
    while [ "$__h_grace" -gt 0 ] && [ "${__h_up%.*}" -le "$__h_late" ]; do
      sleep 0.05 || sleep 1
      members || exit 0
      __h_grace=$((__h_grace - 1))
      read -r __h_up _ </proc/uptime
    done
  fi
  __h_n=0
  while [ $__h_n -lt 50 ] && members; do
    kill -KILL $__h_ours
    __h_n=$((__h_n + 1))
  done
} 2>/dev/null
exit 0
"#;

/// Runs a command (bash). Arguments, then the command in as many pieces as it takes:
///
/// 1. file with what the session's last shell left, or nothing
/// 2. file for what the next should know, or nothing
/// 3. the directory
/// 4. file with what start-up files set, or nothing when they are not wanted
/// 5. file in which to tell the last status and directory, or nothing
pub(super) const COMMAND: &str = r#"__h_from=$1 __h_out=$2 __h_dir=$3 __h_login=$4 __h_tell=$5
builtin printf -v __h_cmd %s "${@:6}"
builtin set --
__h_dump='builtin export -p; builtin declare -f; builtin declare -Fx; builtin alias -p'
builtin shopt -s expand_aliases
__h_mark=$_HERMES_RUN
if [[ -n $__h_from && -r $__h_from ]]; then
  for __h_v in $(builtin compgen -e); do builtin unset "$__h_v"; done
  builtin . "$__h_from" >/dev/null 2>&1
elif [[ -n $__h_login && ! -e $__h_login ]]; then
  : >|"$__h_login"
  (
    [[ ! -r /etc/profile ]] || builtin . /etc/profile
    for __h_file in ~/.bash_profile ~/.bash_login ~/.profile; do
      if [[ -r $__h_file ]]; then builtin . "$__h_file"; break; fi
    done
    [[ ! -r ~/.bashrc ]] || builtin . ~/.bashrc
    builtin trap - EXIT ERR DEBUG RETURN
    builtin set +euvx
    builtin umask 077
    builtin unset _HERMES_RUN
    builtin eval "$__h_dump" >|"$__h_login.new" && mv -f -- "$__h_login.new" "$__h_login"
  ) </dev/null >/dev/null 2>&1
  builtin . "$__h_login" >/dev/null 2>&1
elif [[ -n $__h_login && -r $__h_login ]]; then
  builtin . "$__h_login" >/dev/null 2>&1
fi
builtin export _HERMES_RUN=$__h_mark
__h_save='__h_st=$?; if [[ -n $__h_out ]]; then builtin set +eux; builtin unset _HERMES_RUN; builtin umask 077; { builtin eval "$__h_dump"; } >|"$__h_out" && builtin printf "%s %s" "$__h_st" "$PWD" >|"$__h_tell"; __h_out=; fi'
__h_old=$OLDPWD
builtin cd -- "$__h_dir" || builtin exit 126
OLDPWD=$__h_old
builtin trap '[[ -z $__h_out ]] || { builtin eval "$__h_save"; } 2>/dev/null' EXIT
builtin eval "$__h_cmd"
{ builtin eval "$__h_save"; } 2>/dev/null
builtin exit "$__h_st"
"#;

/// The same where there is no bash: exported variables and the directory stay, functions and aliases
/// do not.
pub(super) const COMMAND_SH: &str = r#"__h_from=$1 __h_out=$2 __h_dir=$3 __h_tell=$5
shift 5
__h_cmd=
for __h_p; do __h_cmd=$__h_cmd$__h_p; done
set --
__h_mark=$_HERMES_RUN
[ -z "$__h_from" ] || [ ! -r "$__h_from" ] || . "$__h_from" >/dev/null 2>&1
export _HERMES_RUN="$__h_mark"
cd -- "$__h_dir" || exit 126
trap '__h_st=$?; trap - EXIT; if [ -n "$__h_out" ]; then unset _HERMES_RUN; umask 077; { export -p >"$__h_out" && printf "%s %s" "$__h_st" "$PWD" >"$__h_tell"; } 2>/dev/null; fi; exit $__h_st' EXIT
eval "$__h_cmd"
exit $?
"#;

/// Runs one command after the other for us (bash), so that none has to wait for a program to be started
/// by way of a client. Arguments:
///
/// 1. the word that ends a request
/// 2. where files of its own begin
/// 3. the shell of commands, 4. its name, 5. `setsid` or nothing, 6. the script commands run in
///
/// A request is words, quoted for a shell, on as many lines as they need: the mark, files to remove, then
/// the arguments of the script. What the command writes comes through a pipe of its own, so that a child
/// it leaves behind has no part in what comes later: that pipe's reader ends before the next command.
pub(super) const LANE: &str = r##"__h_word=$1 __h_file=$2 __h_shell=$3 __h_name=$4 __h_setsid=$5 __h_script=$6
exec 2>/dev/null
# What whoever started us left open is none of a command's business.
for __h_fd in /proc/self/fd/*; do
  __h_fd=${__h_fd##*/}
  [[ $__h_fd != +([0-9]) ]] || ((__h_fd < 3)) || eval "exec $__h_fd>&-"
done
trap : TERM INT QUIT HUP
umask 077
while :; do
  exec 7> >(exec cat) || exit 3
  __h_cat=$!
  __h_all=
  while :; do
    IFS= read -r __h_line || exit 0
    [[ $__h_line != "#$__h_word" ]] || break
    __h_all=$__h_all$__h_line$'\n'
  done
  eval "set -- $__h_all"
  __h_mark=$1 __h_old=$2 __h_dir=$5
  shift 2
  printf '#%s begin %s\n' "$__h_mark" "$$"
  IFS= read -r __h_line || exit 0
  if [[ -d $__h_dir && -x $__h_dir ]]; then
    : >|"$__h_file"
    _HERMES_RUN=$__h_mark $__h_setsid "$__h_shell" -c "$__h_script" "$__h_name" "${@:1:4}" "$__h_file" "${@:5}" \
      </dev/null >&7 2>&1 7>&-
    __h_st=$?
    __h_told=
    IFS= read -r -d '' __h_told <"$__h_file"
    if [[ -n $__h_told ]]; then printf '#%s end %s yes %s#%s over\n' "$__h_mark" $__h_st "$__h_told" "$__h_mark" >&7
    else printf '#%s end %s no #%s over\n' "$__h_mark" $__h_st "$__h_mark" >&7; fi
  else
    printf '#%s nodir #%s over\n' "$__h_mark" "$__h_mark" >&7
  fi
  exec 7>&-
  [[ -z $__h_old ]] || rm -f -- $__h_old
  IFS= read -r __h_line || exit 0
  kill $__h_cat
done
"##;

/// The same where there is no bash.
pub(super) const LANE_SH: &str = r##"__h_word=$1 __h_file=$2 __h_shell=$3 __h_name=$4 __h_setsid=$5 __h_script=$6
exec 2>/dev/null
trap : TERM INT QUIT HUP
umask 077
while :; do
  mkfifo "$__h_file.p" || exit 3
  cat <"$__h_file.p" &
  __h_cat=$!
  exec 7>"$__h_file.p"
  rm -f -- "$__h_file.p"
  __h_all=
  while :; do
    IFS= read -r __h_line || exit 0
    [ "$__h_line" != "#$__h_word" ] || break
    __h_all="$__h_all$__h_line
"
  done
  eval "set -- $__h_all"
  __h_mark=$1 __h_old=$2 __h_from=$3 __h_left=$4 __h_dir=$5 __h_login=$6
  shift 6
  printf '#%s begin %s\n' "$__h_mark" "$$"
  IFS= read -r __h_line || exit 0
  if [ -d "$__h_dir" ] && [ -x "$__h_dir" ]; then
    : >"$__h_file"
    _HERMES_RUN=$__h_mark $__h_setsid "$__h_shell" -c "$__h_script" "$__h_name" \
      "$__h_from" "$__h_left" "$__h_dir" "$__h_login" "$__h_file" "$@" </dev/null >&7 2>&1 7>&-
    __h_st=$?
    if [ -s "$__h_file" ]; then
      { printf '#%s end %s yes ' "$__h_mark" $__h_st; cat "$__h_file"; printf '#%s over\n' "$__h_mark"; } >&7
    else printf '#%s end %s no #%s over\n' "$__h_mark" $__h_st "$__h_mark" >&7; fi
  else
    printf '#%s nodir #%s over\n' "$__h_mark" "$__h_mark" >&7
  fi
  exec 7>&-
  [ -z "$__h_old" ] || rm -f -- $__h_old
  IFS= read -r __h_line || exit 0
  kill $__h_cat
done
"##;
