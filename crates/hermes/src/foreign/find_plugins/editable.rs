//! Where the code of a package lies that was installed in place (`pip install -e`, `setup.py develop`): elsewhere
//! than where packages are. Found by reading what the installer left behind; nothing of it is run.
//!
//! | left behind | says |
//! |---|---|
//! | a `.pth` file with folders | modules are looked for in these folders as well |
//! | a `.pth` file that imports a finder of setuptools | the finder has a table of modules and where each lies |
//! | `direct_url.json` | the folder of the project |
//! | a `.egg-link` and a line of `easy-install.pth` | the folder of the code, and of what tells about the package |

use std::path::{Path, PathBuf};

use hermes_store::foreign::{self, Seen};
use hermes_store::witness::Witnesses;
use serde_json::Value;

/// Where projects keep their modules, from their folder on.
const USUAL: [&str; 4] = ["", "src", "lib", "python"];

/// The file by which Python follows links: one to a folder that it does not name leads nowhere.
const FOLLOWED: &str = "easy-install.pth";

/// The folders that links among packages lead to. They hold packages as the place itself does.
pub(super) fn linked(place: &Path, witnesses: &mut Witnesses) -> Vec<PathBuf> {
    let file = place.join(FOLLOWED);
    // Mostly there is none. Should it come, the place is not as it was.
    if foreign::stamp(&file).is_none() {
        return Vec::new();
    }
    let text = seen(&file, witnesses).unwrap_or_default();
    let followed: Vec<PathBuf> = lines(&text).map(|line| place.join(line)).collect();
    let mut folder = |link: Seen| {
        let text = seen(&link.path, witnesses)?;
        let folder = place.join(lines(&text).next()?);
        followed.contains(&folder).then_some(folder)
    };
    foreign::files(place, "egg-link").into_iter().filter_map(&mut folder).collect()
}

/// Whether the package was installed in place.
pub(super) fn is_in_place(about: &Path) -> bool {
    project(about).is_some()
}

/// Where a module of a package that was installed in place lies; `about` is the folder that tells about it.
pub(super) fn place_of(module: &str, about: &Path, witnesses: &mut Witnesses) -> Option<PathBuf> {
    let site = about.parent()?;
    for file in left_behind(about).iter().filter(|file| file.extension().is_some_and(|end| end == "pth")) {
        let text = seen(&site.join(file), witnesses).unwrap_or_default();
        for line in lines(&text) {
            let found = match line.strip_prefix("import ") {
                Some(code) => by_finder(code, module, site, witnesses),
                None => in_folder(&site.join(line), module),
            };
            if found.is_some() {
                return found;
            }
        }
    }
    let project = project(about)?;
    USUAL.iter().find_map(|inner| in_folder(&project.join(inner), module))
}

/// The lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// A module in a folder where modules are: the folder or file that its first name means.
pub(super) fn in_folder(folder: &Path, module: &str) -> Option<PathBuf> {
    let first = module.split('.').next().filter(|name| !name.is_empty())?;
    as_code(&folder.join(first))
}

/// A folder with code, or the file of that name.
fn as_code(path: &Path) -> Option<PathBuf> {
    if foreign::is_folder(path) {
        return Some(path.to_owned());
    }
    let file = path.with_file_name(format!("{}.py", path.file_name()?.to_string_lossy()));
    foreign::stamp(&file).map(|_| file)
}

/// By the table of the finder that a line of a `.pth` file installs: `FINDER; FINDER.install()`.
fn by_finder(code: &str, module: &str, site: &Path, witnesses: &mut Witnesses) -> Option<PathBuf> {
    let finder = code.split(';').next()?.trim();
    let plain = finder.starts_with("__editable__") && finder.chars().all(|c| c.is_alphanumeric() || c == '_');
    let text = seen(&site.join(format!("{finder}.py")), witnesses).filter(|_| plain)?;
    let table = table(&text)?;
    let holds =
        |name: &str| module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let nearest = table.iter().filter(|(name, _)| holds(name)).max_by_key(|(name, _)| name.len())?;
    as_code(Path::new(&nearest.1))
}

/// The table of a finder: one line, `MAPPING: dict[str, str] = {'module': '/its/place', …}`.
fn table(text: &str) -> Option<Vec<(String, String)>> {
    let is_table =
        |line: &&str| line.strip_prefix("MAPPING").is_some_and(|rest| rest.starts_with([':', ' ', '=']));
    let (_, mut rest) = text.lines().find(is_table)?.split_once('{')?;
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if rest.starts_with('}') {
            return Some(found);
        }
        let (module, after) = quoted(rest)?;
        let (place, after) = quoted(after.trim_start().strip_prefix(':')?.trim_start())?;
        found.push((module, place));
        rest = after;
    }
}

/// A text as Python writes it, and what comes behind it; nothing when it holds more than is understood.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.chars();
    let quote = chars.next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut said = String::new();
    loop {
        match chars.next()? {
            '\\' => said.push(chars.next().filter(|c| matches!(c, '\\' | '\'' | '"'))?),
            c if c == quote => return Some((said, chars.as_str())),
            c => said.push(c),
        }
    }
}

/// The files that the installer put beside the folder that tells about the package.
fn left_behind(about: &Path) -> Vec<PathBuf> {
    let record = foreign::text(&about.join("RECORD")).ok().flatten().unwrap_or_default();
    let names = record.lines().filter_map(|line| line.split(',').next());
    names.filter(|name| !name.contains('/')).map(|name| PathBuf::from(name.trim_matches('"'))).collect()
}

/// The folder of the project, if the package was installed in place from there.
fn project(about: &Path) -> Option<PathBuf> {
    let text = foreign::text(&about.join("direct_url.json")).ok()??;
    let said: Value = serde_json::from_str(&text).ok()?;
    let in_place = said.pointer("/dir_info/editable").and_then(Value::as_bool).unwrap_or_default();
    let path = said.get("url").and_then(Value::as_str)?.strip_prefix("file://").filter(|_| in_place)?;
    Some(PathBuf::from(decoded(path)))
}

/// A path of a URL as it is; what is no number stays as it is written.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let number = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        if let Some(byte) = number.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn seen(path: &Path, witnesses: &mut Witnesses) -> Option<String> {
    witnesses.see(path);
    foreign::text(path).ok().flatten()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write what installers leave behind")]
mod tests {
    use super::*;

    /// A folder with these files.
    fn yard(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("HERE", &dir.path().display().to_string())).unwrap();
        }
        dir
    }

    /// Where a module is found, from the folder on.
    fn found(yard: &tempfile::TempDir, module: &str) -> Option<PathBuf> {
        let about = yard.path().join("site/pack-1.0.dist-info");
        let place = place_of(module, &about, &mut Witnesses::default())?;
        Some(place.strip_prefix(yard.path()).unwrap().to_owned())
    }

    #[test]
    fn a_file_of_folders_leads_to_the_code() {
        let yard = yard(&[
            ("site/pack-1.0.dist-info/RECORD", "_pack.pth,sha256=x,1\npack-1.0.dist-info/RECORD,,\n"),
            ("site/_pack.pth", "# in place\nHERE/nowhere\nHERE/work/src\n"),
            ("work/src/pack/__init__.py", ""),
            ("work/src/single.py", ""),
        ]);

        assert_eq!(found(&yard, "pack.inner"), Some("work/src/pack".into()));
        assert_eq!(found(&yard, "single"), Some("work/src/single.py".into()));
        assert_eq!(found(&yard, "other"), None);
    }

    #[test]
    fn the_table_of_a_finder_leads_to_the_code() {
        let finder = "__editable___pack_1_0_finder";
        let install = format!("import {finder}; {finder}.install()");
        let table = "import sys\nMAPPING: dict[str, str] = {'pack': 'HERE/work/pack', \"it's\": 'x', \
                     'group.part': 'HERE/work/part', 'single': 'HERE/work/single'}\nNAMESPACES = {}\n";
        let yard = yard(&[
            ("site/pack-1.0.dist-info/RECORD", "__editable__.pack-1.0.pth,,\n"),
            ("site/__editable__.pack-1.0.pth", &install),
            (&format!("site/{finder}.py"), table),
            ("work/pack/__init__.py", ""),
            ("work/part/__init__.py", ""),
            ("work/single.py", ""),
        ]);

        assert_eq!(found(&yard, "pack"), Some("work/pack".into()));
        assert_eq!(found(&yard, "group.part.inner"), Some("work/part".into()));
        assert_eq!(found(&yard, "single"), Some("work/single.py".into()));
        assert_eq!(found(&yard, "packed"), None);
    }

    #[test]
    fn the_folder_of_the_project_is_looked_into_when_nothing_else_helps() {
        let yard = yard(&[
            (
                "site/pack-1.0.dist-info/direct_url.json",
                r#"{"url": "file://HERE/my%20work", "dir_info": {"editable": true}}"#,
            ),
            ("my work/src/pack/__init__.py", ""),
            (
                "site/far-1.0.dist-info/direct_url.json",
                r#"{"url": "https://example.org/far", "dir_info": {"editable": true}}"#,
            ),
            ("site/copy-1.0.dist-info/direct_url.json", r#"{"url": "file://HERE/copy", "dir_info": {}}"#),
        ]);

        assert_eq!(found(&yard, "pack"), Some("my work/src/pack".into()));
        let is = |name: &str| is_in_place(&yard.path().join(format!("site/{name}-1.0.dist-info")));
        assert!(is("pack") && !is("far") && !is("copy") && !is("none"));
    }

    #[test]
    fn links_are_followed_where_python_follows_them() {
        let yard = yard(&[
            ("site/easy-install.pth", "import sys\n\nHERE/work/src\n./inside\n"),
            ("site/pack.egg-link", "HERE/work/src\n../"),
            ("site/inner.egg-link", "inside\n."),
            ("site/left.egg-link", "HERE/left\n."),
            ("site/empty.egg-link", "\n"),
            ("other/pack.egg-link", "HERE/work/src\n../"),
        ]);
        let linked = |place: &str| linked(&yard.path().join(place), &mut Witnesses::default());

        assert_eq!(linked("site"), ["site/inside", "work/src"].map(|folder| yard.path().join(folder)));
        assert_eq!(linked("other"), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_is_no_table_is_passed_over() {
        for text in
            ["", "MAPPING = load()", "MAPPING = {'a': b}", "MAPPING = {'a': '\\x41'}", "MAPPING = {'a'"]
        {
            assert_eq!(table(text), None, "{text}");
        }
        assert_eq!(table("MAPPING = {}"), Some(Vec::new()));
    }
}
