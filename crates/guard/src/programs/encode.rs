//! Encodings: undone when the input is known, remembered as decoded when it is not.

use super::amount;
use super::filters::source;
use super::opts::{Spec, parse};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Arg, Call, Flow, HOLE_STR, Origin, Walk};

pub(super) fn decoded(origin: Origin) -> Origin {
    Origin { decoded: true, file: false, ..origin }
}

fn text_flow(bytes: &[u8], origin: Origin) -> Flow {
    Flow { text: Some(String::from_utf8_lossy(bytes).into_owned().into()), origin }
}

pub(crate) fn base(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "wbi", long: &["wrap", "input", "break"], stops: false });
    let mut files: Vec<&Arg<'_>> = parsed.rest().collect();
    let input = call.args.iter().position(|arg| &*arg.text == "-i").and_then(|at| call.args.get(at + 1));
    if files.is_empty() && call.name == "base64" {
        files.extend(input.filter(|arg| !arg.text.starts_with('-')));
    }
    let flow = source(walk, &files, call.stdin);
    let decodes =
        parsed.has("d", "decode") || parsed.has("D", "") || matches!(call.name, "uudecode" | "b64decode");
    if !decodes {
        return match flow.exact() {
            Some(text) if matches!(call.name, "base64" | "gbase64") => {
                Flow { text: Some((encode64(text.as_bytes()) + "\n").into()), origin: flow.origin }
            }
            _ => Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin },
        };
    }
    let bytes = flow.exact().and_then(|text| match call.name {
        "base64" | "gbase64" => decode64(text),
        "base32" => decode32(text),
        "base16" => decode16(text),
        "basenc" if parsed.has("", "base64") || parsed.has("", "base64url") => decode64(text),
        "basenc" if parsed.has("", "base32") => decode32(text),
        "basenc" if parsed.has("", "base16") => decode16(text),
        _ => None,
    });
    match bytes {
        Some(bytes) => text_flow(&bytes, decoded(flow.origin)),
        None => Flow::unknown(decoded(flow.origin)),
    }
}

pub(crate) fn hex(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: if call.name == "xxd" { "closn" } else { "ASjNtew" }, long: &[], stops: false },
    );
    let files: Vec<&Arg<'_>> = parsed.rest().take(1).collect();
    let flow = source(walk, &files, call.stdin);
    // In xxd, `-ps` and `-r` may be written together or apart.
    let reverses =
        call.name == "xxd" && call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('r'));
    if !reverses {
        return Flow { text: flow.text.map(|_| HOLE_STR.into()), origin: flow.origin };
    }
    if let Some(file) = parsed.operand(1) {
        walk.write_file(
            &file.text,
            Flow::unknown(decoded(flow.origin)),
            false,
            "writes its output",
            file.span,
        );
    }
    let bytes = flow.exact().and_then(|text| {
        if text.lines().any(|line| line.contains(": ")) {
            // A dump with offsets and a text column.
            let digits: String = text
                .lines()
                .filter_map(|line| line.split_once(": "))
                .map(|(_, rest)| rest.split("  ").next().unwrap_or(rest))
                .collect();
            decode16(&digits)
        } else {
            decode16(text)
        }
    });
    match bytes {
        Some(bytes) => text_flow(&bytes, decoded(flow.origin)),
        None => Flow::unknown(decoded(flow.origin)),
    }
}

pub(crate) fn openssl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let file = words.iter().position(|word| *word == "-in").and_then(|at| call.args.get(at + 1));
    let files: Vec<&Arg<'_>> = file.into_iter().collect();
    if words.contains(&"s_client") {
        if call.stdin.origin.local || call.stdin.origin.credential {
            walk.emit(Kind::SendOut, "sends local data to another machine", call.span);
        }
        return Flow::unknown(Origin { network: true, ..Origin::default() });
    }
    if words.iter().any(|word| *word == "-engine" || *word == "-provider")
        && words.iter().any(|word| word.contains('/'))
    {
        walk.emit(Kind::ToolProgram, "makes openssl load code", call.span);
    }
    if words.first() == Some(&"rand") {
        let endless = words.iter().skip(1).any(|size| amount::is_huge(size));
        return Flow::unknown(Origin { endless, ..Origin::default() });
    }
    let flow = if words.first().is_some_and(|verb| {
        matches!(
            *verb,
            "enc"
                | "base64"
                | "rsautl"
                | "pkeyutl"
                | "smime"
                | "cms"
                | "aes-256-cbc"
                | "dgst"
                | "rsa"
                | "pkcs12"
                | "pkcs8"
        )
    }) {
        source(walk, &files, call.stdin)
    } else {
        call.stdin.clone()
    };
    if let Some(file) = words.iter().position(|word| *word == "-out").and_then(|at| call.args.get(at + 1))
        && (walk.target(&file.text).place != Place::Credential || file.text.starts_with("/etc/"))
    {
        walk.write_file(&file.text, Flow::unknown(Origin::default()), false, "writes its output", file.span);
    }
    let decodes = words.iter().any(|word| matches!(*word, "-d" | "-decrypt" | "-D"));
    let plain = words.first() == Some(&"base64")
        || (words.contains(&"enc")
            && (words.contains(&"-base64") || words.contains(&"-a"))
            && !words.iter().any(|w| w.starts_with("-aes")));
    if decodes {
        if plain && let Some(bytes) = flow.exact().and_then(decode64) {
            return text_flow(&bytes, decoded(flow.origin));
        }
        return Flow::unknown(decoded(flow.origin));
    }
    Flow { text: Some(HOLE_STR.into()), origin: flow.origin }
}

pub(crate) fn decrypt(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if words.iter().any(|word| matches!(*word, "--export-secret-keys" | "--export-secret-subkeys")) {
        walk.emit(Kind::ReadCredential, "prints secret keys", call.span);
        return Flow::unknown(Origin { credential: true, ..Origin::default() });
    }
    if words.iter().any(|word| word.starts_with("--delete-secret")) {
        walk.emit(Kind::Delete, "deletes secret keys", call.span);
    }
    let output = words.iter().position(|word| matches!(*word, "-o" | "--output"));
    if let Some(file) =
        output.and_then(|at| words.get(at + 1)).filter(|_| !super::verbs::only_shows(call.args))
    {
        walk.write_file(
            file,
            Flow::unknown(decoded(Origin::default())),
            false,
            "writes its output",
            call.span,
        );
    }
    if super::signs::look(walk, call) {
        return Flow::unknown(Origin { credential: true, ..decoded(call.stdin.origin) });
    }
    Flow::unknown(decoded(call.stdin.origin))
}

pub(crate) fn unpack(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec { short: "o", long: &["output"], stops: false });
    let files: Vec<&Arg<'_>> = parsed.rest().filter(|arg| !arg.text.starts_with('-')).collect();
    for (file, span) in parsed.values("o", "output") {
        walk.write_file(file, Flow::unknown(Origin::default()), false, "writes its output", span);
    }
    let decodes = call.name.starts_with("un")
        || call.name.contains("unzip")
        || call.name.contains("unz")
        || parsed.has("d", "decompress")
        || parsed.has("d", "uncompress");
    let shown = parsed.has("c", "stdout");
    let flow =
        if decodes || shown || files.is_empty() { source(walk, &files, call.stdin) } else { Flow::none() };
    if decodes {
        return Flow::unknown(decoded(flow.origin));
    }
    Flow { text: Some(HOLE_STR.into()), origin: flow.origin }
}

/// Base64, standard or URL alphabet, blanks ignored.
pub(crate) fn decode64(text: &str) -> Option<Vec<u8>> {
    bits(text, 6, |byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

fn decode32(text: &str) -> Option<Vec<u8>> {
    bits(text, 5, |byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    })
}

fn decode16(text: &str) -> Option<Vec<u8>> {
    let text = text.replace("\\x", "").replace("0x", "");
    bits(&text, 4, |byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
}

fn bits(text: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut have = 0u32;
    let mut buffer = 0u32;
    for byte in text.bytes() {
        if byte.is_ascii_whitespace() || byte == b'=' {
            continue;
        }
        buffer = (buffer << width) | u32::from(value(byte)?);
        have += width;
        if have >= 8 {
            have -= 8;
            out.push(u8::try_from((buffer >> have) & 0xff).unwrap_or_default());
            buffer &= (1 << have) - 1;
        }
    }
    Some(out)
}

fn encode64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .enumerate()
            .fold(0u32, |word, (at, byte)| word | (u32::from(*byte) << (16 - 8 * at)));
        for at in 0..4 {
            if at <= chunk.len() {
                let index = usize::try_from((word >> (18 - 6 * at)) & 63).unwrap_or_default();
                out.push(LETTERS.get(index).copied().map_or('=', char::from));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_come_back_as_text() {
        assert_eq!(decode64("cm0gLXJmIC8=").unwrap(), b"rm -rf /");
        assert_eq!(decode16("726d202d7266202f").unwrap(), b"rm -rf /");
        assert_eq!(decode32("OJWSALLSMYQC6===").unwrap(), b"rm -rf /");
        assert_eq!(encode64(b"rm -rf /"), "cm0gLXJmIC8=");
        assert!(decode64("!!").is_none());
    }
}
