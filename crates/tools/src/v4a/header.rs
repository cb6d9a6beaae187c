//! What stands around the hunks of a patch: headers, and the wrappings models put around it all.

use super::PatchError;

/// A line of a patch that is no text.
pub(super) enum Header {
    /// A file is changed.
    Update(String),
    /// A file is made.
    Add(String),
    /// A file is removed.
    Delete(String),
    /// A file gets another name, and may be changed.
    Move(String, String),
    /// The file that is being changed gets another name.
    To(String),
    /// The hunk stands at the end of the file.
    EndOfFile,
    /// The patch begins or ends.
    Edge,
}

/// The blanks that stand before the first header, when the whole patch was written further right.
pub(super) fn shift(patch: &str) -> &str {
    let marker = |line: &&str| matches!(header(line.trim_start()), Ok(Some(_)) | Err(_));
    let first = patch.lines().find(marker).unwrap_or_default();
    first.get(..first.len() - first.trim_start().len()).unwrap_or_default()
}

/// The word that ends a text given to a command, as in `apply_patch <<'EOF'`.
pub(super) fn end_word(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("<<")?;
    let word = behind.trim_start_matches('-').trim_start();
    let word = word.split(|c: char| c.is_whitespace() || c == '|').next()?.trim_matches(['\'', '"', '\\']);
    (!word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(word)
}

/// The header a line is, if it is one.
pub(super) fn header(line: &str) -> Result<Option<Header>, PatchError> {
    let Some(rest) = line.trim_end().strip_prefix("***") else { return Ok(None) };
    let rest = rest.trim().trim_end_matches("***").trim_end();
    let lower = rest.to_ascii_lowercase();
    if lower.starts_with("begin patch") || lower.starts_with("end patch") {
        return Ok(Some(Header::Edge));
    }
    if lower.trim_end_matches(':') == "end of file" {
        return Ok(Some(Header::EndOfFile));
    }
    let after =
        |words: &str| lower.starts_with(words).then(|| rest.get(words.len()..).unwrap_or_default()).map(path);
    let header = if let Some(path) = after("update file:") {
        Header::Update(path)
    } else if let Some(path) = after("add file:").or_else(|| after("create file:")) {
        Header::Add(path)
    } else if let Some(path) = after("delete file:").or_else(|| after("remove file:")) {
        Header::Delete(path)
    } else if let Some(both) = after("move file:").or_else(|| after("rename file:")) {
        let Some((from, to)) = ["->", "=>", "→"].iter().find_map(|arrow| both.split_once(arrow)) else {
            let why = format!("`{}` does not say where to; write `*** Move File: old -> new`", line.trim());
            return Err(PatchError::Syntax(why));
        };
        Header::Move(path(from), path(to))
    } else if let Some(path) = after("move to:").or_else(|| after("rename to:")) {
        Header::To(path)
    } else {
        return Ok(None);
    };
    checked(header, line).map(Some)
}

/// A header needs a path, and one that stays where it says.
fn checked(header: Header, line: &str) -> Result<Header, PatchError> {
    let paths: &[&String] = match &header {
        Header::Update(path) | Header::Add(path) | Header::Delete(path) | Header::To(path) => &[path],
        Header::Move(from, to) => &[from, to],
        Header::EndOfFile | Header::Edge => &[],
    };
    if paths.iter().any(|path| path.is_empty()) {
        return Err(PatchError::Syntax(format!("`{}` names no path", line.trim())));
    }
    if let Some(path) = paths.iter().find(|path| path.split(['/', '\\']).any(|part| part == "..")) {
        let why = "`..` in a path of a patch is not allowed; write where the file is";
        return Err(PatchError::file(path, why));
    }
    Ok(header)
}

fn path(text: &str) -> String {
    text.trim().trim_matches(['`', '"', '\'']).trim().to_owned()
}
