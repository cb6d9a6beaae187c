//! Bytes through vendors who carry only text: what a program writes travels as lines of base64, and
//! where a vendor's input is text too, what it reads does.
//!
//! A line is short enough to be written at once, so that lines of both outputs never mix.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::environment::{End, Output, Stream};

use crate::far::quote::quoted;

/// Stands around a program. Arguments: `i` when its input comes as lines, then the program and its words.
///
/// Prints lines: `o` and bytes of its output, `e` and bytes of its complaints, `x` and its status. Reads
/// lines: bytes, `@` and a file to read and remove, `.` at the end. The first few lines are made by what
/// every system has; if there are many, by something faster.
const CARRY: &str = r#"__h_in=$1; shift
__h_d=$(mktemp -d "${TMPDIR:-/tmp}/hermes-io.XXXXXX") || exit 1
trap 'rm -rf -- "$__h_d"' EXIT
trap 'exit 143' HUP INT TERM
mkfifo "$__h_d/o" "$__h_d/e" "$__h_d/i" || exit 1
lines() {
  __h_n=0
  while :; do
    __h_b=$(dd bs=2997 count=1 2>/dev/null | base64 | tr -d '\n')
    [ -n "$__h_b" ] || return 0
    printf '%s%s\n' "$1" "$__h_b"
    __h_n=$((__h_n + 1))
    [ $__h_n -eq 8 ] || continue
    if perl -MMIME::Base64 -e 1 2>/dev/null; then
      exec perl -MMIME::Base64 -e '$|=1; while (sysread STDIN, $b, 2997) { print $ARGV[0], encode_base64($b, ""), "\n" }' "$1"
    elif python3 -c 'import base64' 2>/dev/null; then
      exec python3 -c 'import base64, os, sys
for b in iter(lambda: os.read(0, 2997), b""): os.write(1, sys.argv[1].encode() + base64.b64encode(b) + b"\n")' "$1"
    fi
  done
}
lines o <"$__h_d/o" & __h_o=$!
lines e <"$__h_d/e" & __h_e=$!
if [ -n "$__h_in" ]; then
  exec 3<&0
  {
    while IFS= read -r __h_l <&3; do
      case $__h_l in
      .) break ;;
      @*) cat -- "${__h_l#@}"; rm -f -- "${__h_l#@}" ;;
      *) printf %s "$__h_l" | base64 -d ;;
      esac
    done
  } >"$__h_d/i" 2>/dev/null & __h_r=$!
  "$@" <"$__h_d/i" >"$__h_d/o" 2>"$__h_d/e" 3<&-
  __h_s=$?
  kill $__h_r 2>/dev/null
else
  "$@" >"$__h_d/o" 2>"$__h_d/e"
  __h_s=$?
fi
wait $__h_o $__h_e
printf 'x%s\n' "$__h_s"
"#;

/// Where a program's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// As the vendor carries it: bytes.
    Bytes,
    /// As lines of ours.
    Lines,
}

/// Program and words around those of a program.
pub(super) fn words(reads: Reads, program: &[String]) -> Vec<String> {
    let how = if reads == Reads::Lines { "i" } else { "" };
    let around = ["sh", "-c", CARRY, "hermes", how].into_iter().map(str::to_owned);
    around.chain(program.iter().cloned()).collect()
}

/// The same as one line for a shell.
pub(super) fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Bytes of input as lines.
pub(super) fn input(bytes: &[u8]) -> String {
    bytes.chunks(24 * 1024).map(|piece| STANDARD.encode(piece) + "\n").collect()
}

/// The end of the input.
pub(super) const INPUT_ENDS: &str = ".\n";

/// Hears what the script says.
pub(super) struct Ear {
    output: Arc<dyn Output>,
    held: Vec<u8>,
}

impl Ear {
    pub(super) fn new(output: Arc<dyn Output>) -> Self {
        Self { output, held: Vec::new() }
    }

    /// Takes what came; tells how the program ended, once that was said.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<End> {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            let end = if self.held.is_empty() {
                self.line(line)
            } else {
                let mut whole = std::mem::take(&mut self.held);
                whole.extend_from_slice(line);
                self.line(&whole)
            };
            if end.is_some() {
                return end;
            }
        }
        self.held.extend_from_slice(rest);
        None
    }

    /// Takes what was said beside the lines.
    pub(super) fn complaint(&self, bytes: &[u8]) {
        self.output.take(Stream::Err, bytes);
    }

    fn line(&self, line: &[u8]) -> Option<End> {
        // Some logs tell their streams apart by marks in front of lines; ours has only one.
        let marks = line.iter().take_while(|byte| matches!(byte, 1 | 2)).count();
        let line = line.get(marks..).unwrap_or_default();
        let (kind, rest) = line.split_first()?;
        let stream = match kind {
            b'o' => Stream::Out,
            b'e' => Stream::Err,
            b'x' => return std::str::from_utf8(rest).ok()?.trim().parse().ok().map(End::Code),
            _ => return self.noise(line),
        };
        match STANDARD.decode(rest) {
            Ok(bytes) => self.output.take(stream, &bytes),
            Err(_) => return self.noise(line),
        }
        None
    }

    /// Something else than the script spoke.
    fn noise(&self, line: &[u8]) -> Option<End> {
        self.complaint(line);
        self.complaint(b"\n");
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

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

    #[test]
    fn what_is_not_of_the_script_is_a_complaint() {
        let heard = Arc::new(Heard::default());
        let mut ear = Ear::new(Arc::clone(&heard) as Arc<_>);

        assert_eq!(ear.take(b"\x02\x02\x02sh: mktemp: not found\n\no%%%\n\x01x3\nmore"), Some(End::Code(3)));

        assert_eq!(heard.0.lock().unwrap().1, b"sh: mktemp: not found\no%%%\n");
    }

    proptest! {
        #[test]
        fn bytes_arrive_however_the_text_is_cut(
            parts in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 1..50)), 0..9),
            cut in 1_usize..20,
        ) {
            let (mut text, mut out, mut err) = (String::new(), Vec::new(), Vec::new());
            for (to_out, bytes) in &parts {
                text += if *to_out { "o" } else { "e" };
                text += &STANDARD.encode(bytes);
                text.push('\n');
                (if *to_out { &mut out } else { &mut err }).extend_from_slice(bytes);
            }
            text += "x7\n";
            let heard = Arc::new(Heard::default());
            let mut ear = Ear::new(Arc::clone(&heard) as Arc<_>);

            let ends: Vec<_> = text.as_bytes().chunks(cut).filter_map(|piece| ear.take(piece)).collect();

            prop_assert_eq!(ends, vec![End::Code(7)]);
            prop_assert_eq!(&*heard.0.lock().unwrap(), &(out, err));
        }
    }
}
