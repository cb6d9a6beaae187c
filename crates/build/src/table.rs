//! The text of a table: file stems in, Rust source out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file in `OUT_DIR` that holds the table of `folder`.
pub(crate) fn file_name(folder: &str) -> String {
    format!("{}.rs", folder.strip_prefix("src/").unwrap_or(folder).replace('/', "."))
}

/// The macro that `mod.rs` expands. What is wrong with a file becomes a compile error that
/// names it; the other files are listed all the same, so that it is the only error.
pub(crate) fn source(folder: &str, stems: &[String]) -> String {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let (mut modules, mut entries, mut checks) = (String::new(), String::new(), String::new());
    for stem in stems {
        let ident = ident(stem);
        if let Some(complaint) = complaint(folder, stem, taken.get(&ident).copied()) {
            _ = writeln!(modules, "        ::core::compile_error!({complaint:?});");
            continue;
        }
        let file = format!("{folder}/{stem}.rs");
        let mismatch = format!("{file}: the entry's name must be `{stem}`, as the file's");
        _ = writeln!(modules, "        #[path = \"{stem}.rs\"]\n        pub(crate) mod {ident};");
        _ = write!(entries, "&{ident}::$item, ");
        _ = writeln!(
            checks,
            "        const _: () = ::core::assert!(::core::matches!({ident}::$item.name().as_bytes(), b\"{stem}\"), {mismatch:?});"
        );
        taken.insert(ident, stem);
    }
    format!(
        "// Lists {folder}; written by its build script.\n\
         macro_rules! gathered {{\n    \
         ($(#[$note:meta])* $vis:vis static $table:ident: [&$entry:ty] = $item:ident;) => {{\n\
         {modules}{checks}        \
         $(#[$note])*\n        \
         $vis static $table: &[&$entry] = &[{entries}];\n    \
         }};\n}}\n"
    )
}

/// What is wrong with a file name, if anything is.
fn complaint(folder: &str, stem: &str, rival: Option<&str>) -> Option<String> {
    let plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    if stem.is_empty() || !stem.chars().all(plain) {
        return Some(format!(
            "{folder}/{stem}.rs: a file name here is a name, and may hold only a-z, 0-9, `_` and `-`"
        ));
    }
    let rival = rival?;
    Some(format!("{folder}/{stem}.rs and {folder}/{rival}.rs make the same module name; rename one"))
}

/// The module's name for a stem. Two stems may come out the same; the caller tells.
fn ident(stem: &str) -> String {
    let ident = stem.replace('-', "_");
    match ident.as_str() {
        "_" | "self" | "super" | "crate" => format!("{ident}_"),
        word if word.starts_with(|c: char| c.is_ascii_digit()) => format!("_{ident}"),
        word if KEYWORDS.contains(&word) => format!("r#{ident}"),
        _ => ident,
    }
}

/// Words that a module can only be called with `r#` in front. `loop` and `use` are good names
/// for a command.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::{file_name, ident, source};

    fn table(stems: &[&str]) -> String {
        source("src/things", &stems.iter().map(|&stem| stem.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_table_is_named_after_the_folder() {
        assert_eq!(file_name("src/tools"), "tools.rs");
        assert_eq!(file_name("src/prompt/sections"), "prompt.sections.rs");
        assert_eq!(file_name("things"), "things.rs");
    }

    #[test]
    fn any_good_stem_makes_a_module_name() {
        assert_eq!(ident("web"), "web");
        assert_eq!(ident("hermes-api-server"), "hermes_api_server");
        assert_eq!(ident("loop"), "r#loop");
        assert_eq!(ident("self"), "self_");
        assert_eq!(ident("7zip"), "_7zip");
        assert_eq!(ident("-"), "__");
    }

    #[test]
    fn entries_keep_the_order_they_are_given_in() {
        let source = table(&["a", "b-c"]);

        assert!(source.contains("&[&a::$item, &b_c::$item, ]"), "{source}");
        assert!(source.contains("#[path = \"b-c.rs\"]"), "{source}");
    }

    #[test]
    fn a_folder_without_files_is_an_empty_table() {
        assert!(table(&[]).contains("= &[];"));
    }

    #[test]
    fn a_bad_file_is_a_compile_error_and_the_rest_is_listed() {
        let source = table(&["Web", "a_b", "a-b", "naïve", "with\"quote"]);

        assert_eq!(source.matches("compile_error!").count(), 4);
        assert!(source.contains("src/things/Web.rs: a file name here"), "{source}");
        assert!(source.contains("src/things/a-b.rs and src/things/a_b.rs make the same"), "{source}");
        assert!(source.contains("with\\\"quote.rs"), "{source}");
        assert!(source.contains("&[&a_b::$item, ]"), "{source}");
    }
}
