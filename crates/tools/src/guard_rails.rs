//! Content that was surely not meant to be written to a file.

/// How many lines must carry numbers for a text to be taken for a reading: three of five.
const SHARE: (usize, usize) = (3, 5);

/// Refuses text that is the output of reading a file, numbers and all.
pub(crate) fn not_a_reading(content: &str) -> Result<(), String> {
    if content.contains("\"dedup\":true") && content.contains("\"status\":\"unchanged\"") {
        return Err("this is the note that a file is unchanged, not the content of the file; nothing was \
                    written"
            .to_owned());
    }
    let mut numbered = 0;
    let mut lines = 0;
    let mut next = None;
    for line in content.lines() {
        lines += 1;
        let number = line.split_once('|').and_then(|(number, _)| number.trim_start().parse::<u64>().ok());
        if let Some(number) = number {
            if next.is_none_or(|next| next == number) {
                numbered += 1;
            }
            next = Some(number + 1);
        }
    }
    if numbered >= 2 && numbered * SHARE.1 >= lines * SHARE.0 {
        return Err("the content has line numbers in front of its lines (`1|…`), as reading a file shows \
                    them; nothing was written, send the content without them"
            .to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::not_a_reading;

    #[test]
    fn a_numbered_reading_is_refused() {
        assert!(not_a_reading("1|a\n2|b\n").is_err());
        assert!(not_a_reading("  9|a\n 10|b\n 11|c").is_err());
        assert!(not_a_reading("7|a\n8|b\nplain\n").is_err());
        assert!(not_a_reading("{\"status\":\"unchanged\",\"dedup\":true}").is_err());
    }

    #[test]
    fn text_that_only_has_bars_is_fine() {
        assert!(not_a_reading("").is_ok());
        assert!(not_a_reading("1|a\n").is_ok());
        assert!(not_a_reading("5|x\n9|y\n2|z\n").is_ok());
        assert!(not_a_reading("| a | b |\n| 1 | 2 |\n").is_ok());
        assert!(not_a_reading("1|a\nb\nc\n2|d\ne\nf\n").is_ok());
    }
}
