//! Calls that delete, write, read or move files, and a few others with weight.

use super::Program;
use super::rights::is_rights_call;
use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::programs::tokens::Token;
use crate::programs::{code, files};
use crate::walk::{Arg, Flow, HOLE, Origin, Walk};

/// Functions that delete; true when a whole tree goes.
pub(super) fn deletes(name: &str, before: Option<&str>) -> Option<bool> {
    let file_module = matches!(
        before,
        Some(
            "os" | "fs"
                | "FileUtils"
                | "File"
                | "Dir"
                | "promises"
                | "fsp"
                | "fsPromises"
                | "IO"
                | "Path"
                | "path"
                | "Deno"
                | "shutil"
                | "pathlib"
                | "p"
                | "nt"
                | "posix"
                | "file"
                | "Files"
                | "FileManager"
                | "Sys"
                | "fn"
        )
    );
    match name {
        "rmtree"
        | "rm_rf"
        | "rm_r"
        | "remove_tree"
        | "rmSync"
        | "rmdirSync"
        | "remove_entry_secure"
        | "remove_entry"
        | "rimraf"
        | "removeSync"
        | "removedirs"
        | "RemoveAll"
        | "remove_dir_all"
        | "rm_f"
        | "emptyDirSync"
        | "emptyDir"
        | "rmdir_r"
        | "removeItem"
        | "deleteRecursively"
        | "deleteDirectory"
        | "rmrf"
        | "removeDir"
        | "remove_all"
        | "rm_tree"
        | "deleteDir"
        | "delete_tree"
        | "deleteTree"
        | "remove_dir"
        | "deltree"
        | "rmRF" => Some(true),
        "removeFile" | "removeItemAtPath" | "deleteIfExists" | "unlinkat" => Some(false),
        "unlinkSync" | "unlink" => Some(false),
        "rmdir" | "rm" | "remove" | "delete" | "safe_unlink" if file_module => {
            Some(name == "rm" && before != Some("FileUtils"))
        }
        _ => None,
    }
}

impl Program {
    pub(super) fn delete_call(&self, walk: &mut Walk<'_>, at: usize, first: usize, tree: bool, span: Span) {
        // Much of the program is looked through for what is deleted.
        if !walk.spend(self.list.len() / 8) {
            return;
        }
        let mut paths: Vec<String> = match self.words(first) {
            Some(words) => words,
            None => self.constant(first).into_iter().collect(),
        };
        if paths.is_empty() {
            paths.extend(self.receiver(at));
        }
        if paths.is_empty() {
            // `Path('x').unlink()`, or a name bound in a loop: the constants nearby tell.
            paths = self
                .list
                .iter()
                .take(at)
                .rev()
                .filter_map(|token| match token {
                    Token::Text(text)
                        if text.starts_with(['/', '~', '.', '*'])
                            || text.contains('/')
                            || crate::places::keeps_data(text) =>
                    {
                        Some(text.clone())
                    }
                    _ => None,
                })
                .take(4)
                .collect();
        }
        if paths.is_empty() {
            // `removeItem(atPath: "x")`: the constants in the call tell.
            paths = self
                .list
                .iter()
                .skip(first)
                .take(8)
                .filter_map(|token| match token {
                    Token::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .take(2)
                .collect();
        }
        if paths.is_empty() {
            paths.push(self.walked().unwrap_or_else(|| HOLE.to_string()));
        }
        let tree = tree
            || walk.found
            || self.mentions(&["stdin", "argv", "ARGV", "STDIN"])
            || self.name(first).is_some_and(|name| matches!(name, "ARGV" | "glob" | "_"))
            || self.mentions(&[
                "glob",
                "rglob",
                "walk",
                "listdir",
                "iglob",
                "readdirSync",
                "scandir",
                "iterdir",
                "readdir",
                "each_child",
                "children",
                "entries",
                "Find",
            ]);
        let args: Vec<Arg<'_>> = paths.iter().map(|path| Arg { text: path.as_str().into(), span }).collect();
        let refs: Vec<&Arg<'_>> = args.iter().collect();
        if !tree {
            // Who would only tidy up uses `rm`; work and data that go inside a program are easily overlooked.
            let kept = |path: &&String| files::by_hand(path) || crate::places::keeps_data(path);
            let kept: Vec<Target> = paths
                .iter()
                .filter(kept)
                .map(|path| walk.target(path))
                .filter(|target| target.place == Place::Workspace)
                .collect();
            if !kept.is_empty() {
                let how = How { all: true, ..How::default() };
                return walk.emit_on(Kind::Delete, "deletes a file from inside a program", span, kept, how);
            }
        }
        files::delete(walk, &refs, tree, span);
    }

    pub(super) fn file_call(
        &self,
        walk: &mut Walk<'_>,
        at: usize,
        first: usize,
        name: &str,
        before: Option<&str>,
        span: Span,
    ) {
        let path = self.constant(first);
        match name {
            "open" | "fopen" | "File" | "createWriteStream" => {
                self.open_call(walk, first, name, path, span);
            }
            "truncate" | "truncateSync" | "ftruncate" if path.is_none() => {
                // One after the other of those that are gone through.
                if let Some(folder) = self.walked() {
                    files::emptied(walk, &[&folder], span);
                }
            }
            "writeFileSync" | "writeFile" | "appendFile" | "appendFileSync" | "file_put_contents"
            | "truncate" | "truncateSync" | "outputFileSync" => {
                if let Some(path) = path {
                    written(walk, &path, span);
                }
            }
            "set_key" | "unset_key" => {
                if let Some(path) = path {
                    written(walk, &path, span);
                }
            }
            "write" | "binwrite" if self.pathname && self.receiver(at).is_some() => {
                if let Some(path) = self.receiver(at) {
                    written(walk, &path, span);
                }
            }
            "write" | "binwrite" if matches!(before, Some("File" | "IO")) => {
                if let Some(path) = path {
                    written(walk, &path, span);
                }
            }
            "write_text" | "write_bytes" | "read_text" | "read_bytes" => {
                let near = self.path_before(at);
                match near {
                    Some(path) if name.starts_with("write") => written(walk, &path, span),
                    Some(path) => drop(walk.read_file(&path, span)),
                    None => {}
                }
            }
            "readFileSync" | "readFile" | "file_get_contents" | "read" | "readlines" | "slurp" => {
                if let Some(path) = path.filter(|path| !path.contains("://")) {
                    walk.read_file(&path, span);
                }
            }
            "move" | "rename" | "replace" | "copy" | "copyfile" | "copy2" | "copyFileSync" | "renameSync"
            | "cp" | "mv" | "symlink" | "symlinkSync"
                if matches!(before, Some("os" | "shutil" | "fs" | "FileUtils" | "File" | "promises"))
                    || name.ends_with("Sync")
                    || name == "rename" && before.is_none()
                    || matches!(name, "copyfile" | "copy2") =>
            {
                let moves = matches!(name, "move" | "rename" | "mv" | "renameSync" | "replace");
                let links = name.starts_with("symlink");
                let program = if moves {
                    "mv"
                } else if links {
                    "ln"
                } else {
                    "cp"
                };
                if let (Some(from), Some(to)) = (path, self.second(first)) {
                    let words =
                        if links { vec![program, "-sf", &from, &to] } else { vec![program, &from, &to] };
                    let args: Vec<Arg<'_>> =
                        words.iter().map(|word| Arg { text: (*word).into(), span }).collect();
                    walk.run(&args, &Flow::none(), span);
                }
            }
            _ => self.other_call(walk, at, first, name, before, span),
        }
    }

    /// `open` in its many forms: a file to read or write, or a command behind a pipe.
    fn open_call(&self, walk: &mut Walk<'_>, first: usize, name: &str, path: Option<String>, span: Span) {
        for near in first..first + 8 {
            if let Some(Token::Text(text)) = self.list.get(near)
                && let Some(command) = text.strip_prefix('|').or_else(|| text.trim_end().strip_suffix('|'))
            {
                walk.run_text(command, &Flow::none(), span);
            }
        }
        let Some(path) = path else {
            if self.second(first).is_some_and(|mode| mode.contains('w')) && self.leaves_nothing() {
                // Opened for writing one after the other, and nothing is ever written.
                let all = self.walked().unwrap_or_else(|| "*".to_owned());
                files::emptied(walk, &[all.as_str()], span);
            }
            // Perl: `open F, ">file"`, `open(my $f, ">", "file")`.
            let texts = self.given_texts(first);
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            match texts.as_slice() {
                [mode, file, ..] if matches!(*mode, ">" | ">>" | "+<" | "+>") => written(walk, file, span),
                [file, ..] if file.starts_with('>') => {
                    written(walk, file.trim_start_matches('>').trim(), span);
                }
                ["<", file, ..] => drop(walk.read_file(file, span)),
                [file, ..] if file.starts_with('<') || file.starts_with('/') => {
                    walk.read_file(file.trim_start_matches('<').trim(), span);
                }
                _ => {}
            }
            return;
        };
        let mode = self.second(first).unwrap_or_default();
        if let Some(command) = path.strip_prefix('|').or_else(|| path.trim_end().strip_suffix('|')) {
            walk.run_text(command, &Flow::none(), span);
        } else if mode.contains('|') {
            walk.run_text(&self.third(first).unwrap_or_default(), &Flow::none(), span);
        } else if let Some(file) = path.strip_prefix('>') {
            written(walk, file.trim_start_matches('>').trim(), span);
        } else if mode.contains(['w', 'a', '+', '>', 'x']) || name == "createWriteStream" {
            let path = if mode.starts_with('>') { self.third(first).unwrap_or(path) } else { path };
            written(walk, &path, span);
        } else {
            walk.read_file(&path, span);
        }
    }

    /// Whether files are gone through and nothing is written to any.
    fn leaves_nothing(&self) -> bool {
        const WRITES: [&str; 9] =
            ["write", "dump", "writelines", "print", "write_text", "puts", "save", "writer", "copyfileobj"];
        self.walked().is_some() && !self.mentions(&WRITES)
    }

    /// Calls on permissions, processes, modules and the machine.
    fn other_call(
        &self,
        walk: &mut Walk<'_>,
        at: usize,
        first: usize,
        name: &str,
        before: Option<&str>,
        span: Span,
    ) {
        let path = self.constant(first);
        match name {
            _ if is_rights_call(name) => self.rights_call(walk, first, name, span),
            "loads" | "load"
                if matches!(before, Some("pickle" | "marshal" | "dill" | "cPickle" | "Marshal")) =>
            {
                code::unseen(walk, Origin::default(), span);
            }
            "kill" | "killpg" => {
                let minus = self.sign(first, '-') || self.sign(first + 2, '-');
                if matches!(before, Some("os" | "process" | "Process"))
                    || !self.sign(at.saturating_sub(1), '.')
                {
                    if minus
                        && (self.list.get(first + 1) == Some(&Token::Number(1))
                            || self.list.get(first + 3) == Some(&Token::Number(1)))
                    {
                        walk.emit_grave(Kind::Kill, "signals every process", span);
                    } else {
                        walk.emit(Kind::Kill, "signals a process", span);
                    }
                }
            }
            "__import__" | "import_module" | "require"
                if path.is_none() && !matches!(self.list.get(first), Some(Token::Sign(')'))) =>
            {
                code::unseen(walk, Origin::default(), span);
            }
            "getattr"
                if matches!(
                    self.name(first).map(|name| self.renamed.get(name).map_or(name, String::as_str)),
                    Some(
                        "os" | "subprocess"
                            | "shutil"
                            | "__builtins__"
                            | "builtins"
                            | "sys"
                            | "__import__"
                            | "posix"
                    )
                ) =>
            {
                let end =
                    (first..self.list.len()).find(|near| self.sign(*near, ')') && self.sign(near + 1, '('));
                let called = self.second(first).or_else(|| self.third(first));
                match end {
                    // `getattr(os, "system")("…")`
                    Some(end) if called.is_some_and(|name| super::calls::RUNS.contains(&name.as_str())) => {
                        self.run_call(walk, end + 2, span);
                        walk.emit(Kind::RunUnseen, "hides which function it calls", span);
                    }
                    _ => code::unseen(walk, Origin::default(), span),
                }
            }
            "setuid" | "setresuid" | "setreuid" if self.list.get(first) == Some(&Token::Number(0)) => {
                walk.emit(Kind::Privilege, "takes the rights of root", span);
            }
            "reboot" | "shutdown" if before.is_some_and(|b| b == "os" || b == "System") => {
                walk.emit_grave(Kind::Power, "restarts the machine", span);
            }
            "reboot" if self.mentions(&["ctypes", "CDLL", "syscall", "libc"]) => {
                walk.emit_grave(Kind::Power, "restarts the machine", span);
            }
            "reboot" => walk.emit(Kind::Power, "restarts a machine", span),
            _ => {}
        }
    }
}

/// A path in which the home folder is not yet put in place of its variable.
fn homed(path: &str) -> String {
    let forms = [
        "$ENV{HOME}",
        "$ENV{'HOME'}",
        "#{ENV['HOME']}",
        "#{ENV[\"HOME\"]}",
        "#{Dir.home}",
        "${process.env.HOME}",
        "$HOME",
    ];
    let form = forms.iter().find_map(|form| path.strip_prefix(form));
    form.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"))
}

/// Notes that a program writes a file or a device.
fn written(walk: &mut Walk<'_>, path: &str, span: Span) {
    let path = &homed(path);
    let target = walk.target(path);
    if target.place == Place::Device {
        walk.emit_on(
            Kind::Device,
            "overwrites a device",
            span,
            vec![target],
            How { grave: true, ..How::default() },
        );
    } else {
        walk.write_file(path, Flow::unknown(Origin::default()), false, "writes a file", span);
    }
}
