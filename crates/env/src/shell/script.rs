//! The scripts commands run in.
//!
//! Names begin with `__h_` and are not exported, so they are neither seen by programs nor kept.

/// Reads the user's start-up files and writes down what they set. Arguments:
///
/// 1. file to write to
/// 2. the mark that separates its parts
/// 3. start-up files, one per line; nothing means the usual ones
///
/// The command of the permit is not run.
pub(crate) const LOGIN: &str = r##"__h_to=$1 __h_mark=$2 __h_init=$3
builtin set --
{
  if [[ -n $__h_init ]]; then
    builtin mapfile -t __h_files <<<"$__h_init"
    for __h_file in "${__h_files[@]}"; do [[ ! -r $__h_file ]] || builtin . "$__h_file"; done
  else
    [[ ! -r /etc/profile ]] || builtin . /etc/profile
    for __h_file in ~/.bash_profile ~/.bash_login ~/.profile; do
      if [[ -r $__h_file ]]; then builtin . "$__h_file"; break; fi
    done
    [[ ! -r ~/.bashrc ]] || builtin . ~/.bashrc
  fi
  builtin trap - EXIT ERR DEBUG RETURN
  builtin set +euvx
  { builtin export -p; builtin printf "#%s\n" "$__h_mark"; builtin declare -f; builtin declare -Fx; builtin alias -p
    builtin printf "#%s\n%s\n#%s\n" "$__h_mark" "$PWD" "$__h_mark"; } >|"$__h_to"
} >/dev/null 2>&1
builtin exit 0
"##;

/// Runs a command. Arguments, then the command in as many pieces as it takes:
///
/// 1. file with functions and aliases to put back, or nothing
/// 2. file for what the next command should know, or nothing
/// 3. the mark that separates its parts
/// 4. the directory
///
/// What a command leaves is saved at its end and, through the trap, when it calls `exit`.
pub(crate) const COMMAND: &str = r##"__h_rest=$1 __h_out=$2 __h_mark=$3 __h_dir=$4
builtin printf -v __h_cmd %s "${@:5}"
builtin set --
__h_save='__h_st=$?; if [[ -n $__h_out ]]; then builtin set +eux; { builtin export -p; builtin printf "#%s\n" "$__h_mark"; builtin declare -f; builtin declare -Fx; builtin alias -p; builtin printf "#%s\n%s\n#%s\n" "$__h_mark" "$PWD" "$__h_mark"; } >|"$__h_out"; __h_out=; fi'
builtin shopt -s expand_aliases
[[ -z $__h_rest ]] || builtin . "$__h_rest" >/dev/null 2>&1
__h_old=$OLDPWD
builtin cd -- "$__h_dir" || builtin exit 126
OLDPWD=$__h_old
builtin trap '[[ -z $__h_out ]] || { builtin eval "$__h_save"; } 2>/dev/null' EXIT
builtin eval "$__h_cmd"
{ builtin eval "$__h_save"; } 2>/dev/null
builtin exit "$__h_st"
"##;

/// Runs a command that neither needs nor leaves more than variables. Arguments, then the command in as
/// many pieces as it takes:
///
/// 1. the directory
pub(crate) const PLAIN: &str = r#"builtin printf -v __h_cmd %s "${@:2}"
__h_old=$OLDPWD
builtin cd -- "$1" || builtin exit 126
OLDPWD=$__h_old
builtin set --
builtin eval "$__h_cmd"
"#;

/// Runs a program that calls back. Arguments, then the command in as many pieces as it takes:
///
/// 1. most memory of each process, in kilobytes, or nothing
/// 2. the directory
///
/// A limit that is lower already stays.
pub(crate) const CALLING: &str = r#"__h_memory=$1 __h_dir=$2
builtin printf -v __h_cmd %s "${@:3}"
builtin set --
[[ -z $__h_memory ]] || builtin ulimit -v "$__h_memory" 2>/dev/null
builtin cd -- "$__h_dir" || builtin exit 126
builtin eval "$__h_cmd"
"#;

/// Longest piece of a command in one argument; the system takes no longer ones.
const PIECE: usize = 100_000;

/// A text in pieces that fit an argument each.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text;
    std::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let (piece, rest) = left.split_at_checked(left.floor_char_boundary(PIECE))?;
        left = rest;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_nothing_is_lost() {
        let text = "é".repeat(PIECE);

        let cut: Vec<&str> = pieces(&text).collect();

        assert!(cut.len() > 1 && cut.iter().all(|piece| piece.len() <= PIECE));
        assert_eq!(cut.concat(), text);
        assert_eq!(pieces("").count(), 0);
    }
}
