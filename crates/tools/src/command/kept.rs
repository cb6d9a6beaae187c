//! The output of a command as text.

use hermes_core::environment::Kept;

use crate::command::ansi::plain;

/// The output as text, with a word about what was left out of it.
pub(crate) fn text(kept: &Kept) -> String {
    let head = plain(&kept.head);
    let left_out = kept.left_out();
    if left_out == 0 {
        return head.trim_end().to_owned();
    }
    let place = match &kept.saved_to {
        Some(path) if kept.saved == kept.total => format!("; the whole output is in {}", path.display()),
        Some(path) => format!("; its first {} bytes are in {}", kept.saved, path.display()),
        None => String::new(),
    };
    let total = kept.total;
    let notice = format!("[… {left_out} of {total} bytes left out{place} …]");
    format!("{}\n{notice}\n{}", head.trim_end(), plain(&kept.tail).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_its_place_is_named() {
        let kept = Kept {
            head: b"begin ".to_vec(),
            tail: b" end".to_vec(),
            total: 110,
            saved_to: Some("/f".into()),
            saved: 110,
        };

        assert_eq!(text(&kept), "begin\n[… 100 of 110 bytes left out; the whole output is in /f …]\nend");
    }
}
