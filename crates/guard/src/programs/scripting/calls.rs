//! Calls that run something: commands of the system, or code of the same language.

use super::file_calls::deletes;
use super::rights::is_rights_call;
use super::{NETWORK, Program, judge};
use crate::effect::{How, Kind, Span};
use crate::programs::tokens::Token;
use crate::programs::{base_name, code, sql};
use crate::walk::{Arg, Flow, HOLE, Origin, Walk};

/// Functions that hand a text or words to the system.
pub(super) const RUNS: [&str; 49] = [
    "system",
    "popen",
    "popen2",
    "popen3",
    "execSync",
    "execFile",
    "execFileSync",
    "spawn",
    "spawnSync",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "getoutput",
    "getstatusoutput",
    "check_call",
    "check_output",
    "Popen",
    "execl",
    "execlp",
    "execle",
    "execv",
    "execvp",
    "execvpe",
    "execve",
    "execute",
    "posix_spawn",
    "capture2",
    "capture3",
    "capture2e",
    "qx",
    "system2",
    "shell",
    "cmd",
    "spawn_link",
    "backtick",
    "os_cmd",
    "create_subprocess_shell",
    "create_subprocess_exec",
    "startfile",
    "syscmd",
    "readProcess",
    "callCommand",
    "Command",
    "command",
];

/// Words that mean the program decodes something.
const DECODES: [&str; 20] = [
    "pack",
    "Buffer",
    "b64decode",
    "base64_decode",
    "decode64",
    "fromhex",
    "unhexlify",
    "a85decode",
    "b32decode",
    "b85decode",
    "decompress",
    "gzinflate",
    "gzuncompress",
    "str_rot13",
    "rot13",
    "loads",
    "atob",
    "unpack",
    "decode_base64",
    "rot_13",
];

/// Words that change the text a variable holds.
const TURNS: [&str; 8] = ["tr", "y", "reverse", "gsub", "rot13", "translate", "maketrans", "xor"];

impl Program {
    pub(super) fn call(&self, walk: &mut Walk<'_>, language: &str, at: usize, name: &str, span: Span) {
        let open = self.sign(at + 1, '(')
            || (self.sign(at + 1, '!') && self.sign(at + 2, '('))
            || self.sign(at + 1, '{') && name == "cmd";
        let bare = matches!(
            language,
            "perl" | "ruby" | "php" | "raku" | "tcl" | "lua" | "awk" | "julia" | "haskell" | "lisp"
        ) && matches!(self.list.get(at + 1), Some(Token::Text(_) | Token::Sign('[')))
            || (matches!(language, "perl" | "ruby" | "php")
                && matches!(self.list.get(at + 1), Some(Token::Name(_) | Token::Number(_)))
                && (deletes(name, None).is_some()
                    || at > 1 && self.sign(at - 1, '.') && deletes(name, self.name(at - 2)).is_some()
                    || matches!(name, "eval" | "kill" | "rename" | "open" | "exec" | "system" | "truncate")
                    || is_rights_call(name)));
        if self.special_call(walk, language, at, name, open, span) {
            return;
        }
        if !(open || bare) {
            return;
        }
        let first = if open && self.sign(at + 1, '!') {
            at + 3
        } else if open {
            at + 2
        } else {
            at + 1
        };
        let before = (at > 1 && (self.sign(at - 1, '.') || self.sign(at - 1, ':')))
            .then(|| self.qualifier(at))
            .flatten();
        let pathname = self.pathname && matches!(name, "delete" | "rmtree" | "rmdir" | "unlink");
        let before = if pathname { Some("Path".to_owned()) } else { before };
        let method = at > 0
            && (self.sign(at - 1, '.')
                || self.sign(at - 1, ':')
                || (at > 1 && self.sign(at - 1, '>') && self.sign(at - 2, '-')));
        if self.runs(language, name, before.as_deref(), method) {
            return self.run_call(walk, first, span);
        }
        if code_call(language, name, method) {
            let first = if name == "Function" { self.last_argument(first) } else { first };
            return self.code(walk, language, first, span);
        }
        if language == "node" && matches!(name, "rm" | "rmdir") && self.mentions(&["recursive"]) {
            return self.delete_call(walk, at, first, true, span);
        }
        if language == "julia" && name == "rm" && !method {
            return self.delete_call(walk, at, first, self.mentions(&["recursive"]), span);
        }
        if let Some(tree) = deletes(
            name,
            before.as_deref().or_else(|| {
                (!method && name != "remove" && name != "delete" && name != "rm").then_some("os")
            }),
        ) {
            let tree = tree || self.mentions(&["recursive"]) && matches!(name, "rm" | "unlink" | "rmdir");
            return self.delete_call(walk, at, first, tree, span);
        }
        self.git_call(walk, first, name, before.as_deref().filter(|_| method), span);
        if method
            && matches!(
                name,
                "execute"
                    | "query"
                    | "exec"
                    | "executescript"
                    | "executemany"
                    | "run"
                    | "raw"
                    | "exec_driver_sql"
                    | "do"
            )
            && !(matches!(self.list.get(first), Some(Token::Text(_)))
                && matches!(self.list.get(first + 1), Some(Token::Sign(')' | ',')) | None))
            && let Some(text) = self.constant(first)
            && sql::looks_destructive(&text)
        {
            // A statement put together: `' '.join(['DROP', …])`.
            sql::judge(walk, &text, span);
        }
        self.file_call(walk, at, first, name, before.as_deref(), span);
    }

    /// Calls of libraries that drive git: `repo.git.reset("--hard")`, `remote.push(force=True)`.
    fn git_call(&self, walk: &mut Walk<'_>, first: usize, name: &str, before: Option<&str>, span: Span) {
        if name == "push" && (self.mentions(&["git", "Repo"]) || self.holds_text("simple-git")) {
            let forced = self.list.iter().skip(first).take(12).any(|token| match token {
                Token::Name(name) => name == "force",
                Token::Text(text) => {
                    matches!(text.as_str(), "-f" | "--force" | "--mirror") || text.starts_with('+')
                }
                _ => false,
            });
            if forced {
                walk.emit(Kind::Git, "overwrites history on the remote (push --force)", span);
            }
        } else if before == Some("git") && self.mentions(&["Repo"]) {
            let mut words = vec!["git".to_owned(), name.replace('_', "-")];
            let end = (first..self.list.len()).find(|near| self.sign(*near, ')')).unwrap_or(first);
            words.extend((first..end).filter_map(|near| match self.list.get(near) {
                Some(Token::Text(text)) => Some(text.clone()),
                _ => None,
            }));
            let args: Vec<Arg<'_>> =
                words.iter().map(|word| Arg { text: word.as_str().into(), span }).collect();
            walk.run(&args, &Flow::none(), span);
        }
    }

    /// Calls with a shape of their own in one language; true when this was one.
    fn special_call(
        &self,
        walk: &mut Walk<'_>,
        language: &str,
        at: usize,
        name: &str,
        open: bool,
        span: Span,
    ) -> bool {
        if language == "tcl" && name == "file" && self.name(at + 1) == Some("delete") {
            let paths: String = self
                .list
                .iter()
                .skip(at + 2)
                .filter_map(|token| match token {
                    Token::Name(text) | Token::Text(text) if text != "force" => Some(text.clone()),
                    Token::Sign('/') => Some("/".to_owned()),
                    _ => None,
                })
                .collect();
            walk.run_text(&format!("rm -rf {paths}"), &Flow::none(), span);
            return true;
        }
        if language == "perl"
            && matches!(name, "system" | "exec")
            && self.sign(at + 1, '{')
            && let Some(end) = (at + 2..at + 12).find(|near| self.sign(*near, '}'))
        {
            // The program stands in brackets, its words after them.
            self.run_call(walk, end + 1, span);
            return true;
        }
        if language == "perl"
            && matches!(name, "unlink" | "rmtree" | "rmdir")
            && (matches!(self.list.get(at + 1), Some(Token::Sign('}' | ';' | '|' | '&')))
                || matches!(self.name(at + 1), Some("or" | "and" | "if" | "unless" | "for"))
                || self.name(at + 1) == Some("File") && self.name(at + 4) == Some("Find"))
        {
            // Of `$_`, which `find` or a loop sets.
            match self.searched() {
                Some(folder) => {
                    let targets = vec![walk.target(&folder)];
                    let how = How { recursive: true, ..How::default() };
                    walk.emit_on(Kind::Delete, "deletes everything that is found", span, targets, how);
                }
                None => self.delete_call(walk, self.list.len(), at + 1, true, span),
            }
            return true;
        }
        if matches!(
            name,
            "array_map" | "array_walk" | "call_user_func" | "call_user_func_array" | "array_filter"
        ) && open
            && let Some(Token::Text(callback)) = self.list.get(at + 2)
        {
            let first = at + 4;
            if let Some(tree) = deletes(callback, Some("os")) {
                self.delete_call(walk, first + 8, first, tree, span);
                return true;
            }
            if self.runs(language, callback, None, false) {
                self.run_call(walk, first, span);
                return true;
            }
        }
        if matches!(name, "send" | "public_send" | "__send__") && open {
            let verb = (at..at + 8)
                .find_map(|near| self.name(near).filter(|name| RUNS.contains(name) || *name == "exec"));
            if verb.is_some()
                && let Some(text) = self.second(at + 2)
            {
                walk.run_text(&text, &Flow::none(), span);
            } else if verb.is_none()
                && matches!(self.list.get(at + 3), Some(Token::Text(_) | Token::Sign('+')))
                && at > 1
                && matches!(
                    self.name(at - 2),
                    Some("FileUtils" | "File" | "Dir" | "Kernel" | "Process" | "IO")
                )
            {
                // Which method it is was put together.
                code::unseen(walk, Origin::default(), span);
            }
            return true;
        }
        if language == "lisp"
            && matches!(name, "sh" | "program" | "command" | "process" | "system" | "shell" | "run")
        {
            // `(uiop:run-program "…")`, `(clojure.java.shell/sh "rm" "-rf" "/")`.
            let words: Vec<&str> = self
                .list
                .iter()
                .skip(at + 1)
                .take_while(|token| {
                    matches!(token, Token::Text(_) | Token::Sign('(' | '\''))
                        || matches!(token, Token::Name(name) if name == "list")
                })
                .filter_map(|token| if let Token::Text(text) = token { Some(text.as_str()) } else { None })
                .collect();
            walk.run_text(&words.join(" "), &Flow::none(), span);
            return true;
        }
        false
    }

    /// The name two tokens before a method: `os` in `os.system`, `child_process` in
    /// `require('child_process').exec`.
    pub(super) fn qualifier(&self, at: usize) -> Option<String> {
        match self.list.get(at - 2) {
            Some(Token::Name(name)) => Some(self.renamed.get(name).cloned().unwrap_or_else(|| name.clone())),
            Some(Token::Sign(')' | ':')) => {
                match (self.list.get(at.checked_sub(3)?), at.checked_sub(5).and_then(|at| self.list.get(at)))
                {
                    (Some(Token::Text(text)), Some(Token::Name(name)))
                        if matches!(name.as_str(), "require" | "__import__" | "import_module" | "import") =>
                    {
                        Some(text.trim_start_matches("node:").to_owned())
                    }
                    (Some(Token::Text(_)), Some(Token::Name(name))) => Some(name.clone()),
                    (Some(Token::Name(name)), _) => Some(name.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn runs(&self, language: &str, name: &str, before: Option<&str>, method: bool) -> bool {
        if RUNS.contains(&name) {
            return match name {
                "command" => before == Some("Sys"),
                "cmd" | "shell" | "Command" | "execute" | "spawn" => {
                    matches!(
                        before,
                        Some(
                            "System"
                                | "os"
                                | "subprocess"
                                | "child_process"
                                | "cp"
                                | "pty"
                                | "Process"
                                | "Deno"
                                | "Bun"
                                | "exec"
                                | "process"
                                | "sys"
                                | "Command"
                        )
                    ) || (matches!(language, "perl" | "ruby" | "raku" | "lua" | "erl") && name != "execute")
                        || (name == "spawn" && !method)
                }
                _ => true,
            };
        }
        match name {
            "exec" => {
                matches!(language, "perl" | "ruby" | "php" | "node" | "c" | "scala")
                    && !matches!(before, Some("db" | "re" | "regex" | "cursor" | "pattern"))
                    && !(language == "node"
                        && method
                        && before.is_none_or(|b| !matches!(b, "child_process" | "cp" | "c" | "shell")))
            }
            "run" | "call" => {
                matches!(before, Some("subprocess" | "sp" | "Deno" | "Process" | "s"))
                    || (matches!(language, "raku" | "julia") && !method)
                    || (name == "run" && self.mentions(&["subprocess"]) && !method)
            }
            _ => false,
        }
    }

    pub(super) fn run_call(&self, walk: &mut Walk<'_>, first: usize, span: Span) {
        let listed =
            self.name(first).and_then(|name| self.lists.get(name)).filter(|_| !self.sign(first + 1, '.'));
        if let Some(words) =
            self.words(first).filter(|_| !self.list_is_asked(first)).or_else(|| listed.cloned())
        {
            let args: Vec<Arg<'_>> =
                words.iter().map(|word| Arg { text: word.as_str().into(), span }).collect();
            walk.run(&args, &Flow::none(), span);
            return;
        }
        let turned =
            self.name(first).is_some_and(|name| self.constants.contains_key(name)) && self.mentions(&TURNS);
        if turned {
            // What the variable held was changed on the way, in ways nobody follows here.
            code::unseen(walk, Origin { decoded: true, ..Origin::default() }, span);
            if let Some(text) = self.constant(first).and_then(|text| self.letters_turned(&text)) {
                walk.run_text(&text, &Flow::none(), span);
            }
        }
        let Some(text) = self.constant(first) else {
            if matches!(self.list.get(first), Some(Token::Sign(')')) | None) {
                return;
            }
            code::unseen(walk, self.origin(), span);
            return;
        };
        // `execvp("rm", ["rm", "-rf", "/"])`, `spawn("rm", ["-rf", "/"])`, `system("rm", "-rf", "/")`.
        let mut words = vec![text.clone()];
        let mut next = first;
        while next < self.list.len()
            && !self.sign(next, ',')
            && !self.sign(next, ')')
            && !self.sign(next, ';')
        {
            next += 1;
        }
        if self.sign(next, ',') {
            if let Some(list) = self.words(next + 1) {
                let skip = usize::from(list.first().is_some_and(|word| base_name(word) == base_name(&text)));
                words.extend(list.into_iter().skip(skip));
            } else {
                while self.sign(next, ',') {
                    let option =
                        self.sign(next + 1, '{') || self.sign(next + 2, '=') || self.sign(next + 2, ':');
                    match self.constant(next + 1) {
                        Some(word) => words.push(word),
                        None if option || self.name(next + 1) == Some("function") => {}
                        None => words.push(HOLE.to_string()),
                    }
                    next += 1;
                    while next < self.list.len()
                        && !self.sign(next, ',')
                        && !self.sign(next, ')')
                        && !self.sign(next, ';')
                    {
                        next += 1;
                    }
                }
            }
        }
        if words.len() > 1 && !text.contains(' ') {
            let args: Vec<Arg<'_>> =
                words.iter().map(|word| Arg { text: word.as_str().into(), span }).collect();
            walk.run(&args, &Flow::none(), span);
        }
        code::shell(walk, &text, self.origin(), &Flow::none(), span);
    }

    /// Whether something is asked of the list that begins here: `["rm", …].join(" ")`.
    pub(super) fn list_is_asked(&self, first: usize) -> bool {
        self.sign(self.closing(first, ']') + 1, '.')
    }

    /// Where the last argument of a call begins.
    fn last_argument(&self, first: usize) -> usize {
        let end = (first..self.list.len()).find(|near| self.sign(*near, ')')).unwrap_or(self.list.len());
        (first..end).rev().find(|near| self.sign(*near, ',')).map_or(first, |comma| comma + 1)
    }

    /// Where unknown text in this program is likely to come from.
    pub(super) fn origin(&self) -> Origin {
        Origin { network: self.mentions(&NETWORK), decoded: self.mentions(&DECODES), ..Origin::default() }
    }

    pub(super) fn code(&self, walk: &mut Walk<'_>, language: &str, first: usize, span: Span) {
        match self.constant(first) {
            Some(text) if !text.contains(HOLE) => {
                if self.mentions(&DECODES) {
                    code::unseen(walk, Origin { decoded: true, ..Origin::default() }, span);
                }
                if walk.spend(text.len() + 64) {
                    judge(walk, language, &text, span);
                }
            }
            _ if self.sign(first, '{') || matches!(self.list.get(first), Some(Token::Sign(')')) | None) => {}
            // `compile(open(…).read(), …)` of a file of the project is running a script.
            _ if self.name(first) == Some("open")
                && !self.constant(first + 2).is_some_and(|file| file.starts_with(['/', '~'])) => {}
            _ => code::unseen(walk, self.origin(), span),
        }
    }
}

/// Whether a call runs its argument as code of the same language.
fn code_call(language: &str, name: &str, method: bool) -> bool {
    match name {
        "exec" | "eval" | "compile" => {
            matches!(language, "python" | "node" | "ruby" | "perl" | "php" | "r" | "lua")
                && !(method && language != "python")
                && !(name == "compile" && method)
        }
        "Function" | "instance_eval" | "class_eval" | "runInNewContext" | "runInThisContext"
        | "create_function" | "loadstring" => true,
        "load" => language == "lua",
        "assert" => language == "php",
        _ => false,
    }
}
