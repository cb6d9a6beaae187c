//! What a program in a scripting language would do, from its calls and constant strings.

use std::collections::BTreeMap;

use super::tokens::{Token, tokens};
use super::{code, database};
use crate::effect::{How, Kind, Span};
use crate::walk::{Arg, Flow, HOLE, Origin, Walk};

/// Judges a program.
pub(crate) fn judge(walk: &mut Walk<'_>, language: &str, text: &str, span: Span) {
    if text.len() < 4 {
        return;
    }
    let list = tokens(text, language);
    let mut program = Program { list, constants: BTreeMap::new(), renamed: BTreeMap::new() };
    program.learn();
    let saved = walk.effects.len();
    program.calls(walk, language, span);
    program.overall(walk, language, text, span, saved);
}

/// What a program prints when it only prints constants.
pub(crate) fn printed(text: &str) -> Option<String> {
    let list = tokens(text, "python");
    let mut program = Program { list, constants: BTreeMap::new(), renamed: BTreeMap::new() };
    program.learn();
    for (at, token) in program.list.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        if matches!(name.as_str(), "print" | "puts" | "log" | "write" | "echo" | "say" | "cat") {
            let from = if program.sign(at + 1, '(') { at + 2 } else { at + 1 };
            return program.constant(from).map(|text| text + "\n");
        }
    }
    None
}

/// Functions that hand a text or words to the system.
const RUNS: [&str; 48] = [
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
];

/// Functions that delete; true when a whole tree goes.
fn deletes(name: &str, before: Option<&str>) -> Option<bool> {
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
        | "rmdir_r" => Some(true),
        "unlinkSync" | "unlink" => Some(false),
        "rmdir" | "rm" | "remove" | "delete" | "safe_unlink" if file_module => {
            Some(name == "rm" && before != Some("FileUtils"))
        }
        _ => None,
    }
}

/// Words that mean the program talks to the network.
const NETWORK: [&str; 24] = [
    "urlopen",
    "urlretrieve",
    "requests",
    "urllib",
    "http",
    "https",
    "fetch",
    "axios",
    "curl_exec",
    "file_get_contents",
    "LWP",
    "HTTP",
    "open_uri",
    "Net",
    "httpx",
    "aiohttp",
    "WebClient",
    "curl_init",
    "got",
    "request",
    "URI",
    "socket",
    "Socket",
    "TCPSocket",
];

/// Words that mean the program decodes something.
const DECODES: [&str; 18] = [
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

struct Program {
    list: Vec<Token>,
    constants: BTreeMap<String, String>,
    renamed: BTreeMap<String, String>,
}

impl Program {
    fn name(&self, at: usize) -> Option<&str> {
        match self.list.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn sign(&self, at: usize, sign: char) -> bool {
        self.list.get(at) == Some(&Token::Sign(sign))
    }

    fn mentions(&self, words: &[&str]) -> bool {
        self.list.iter().any(|token| matches!(token, Token::Name(name) if words.contains(&name.as_str())))
    }

    fn holds_text(&self, want: &str) -> bool {
        self.list.iter().any(|token| matches!(token, Token::Text(text) if text.contains(want)))
    }

    /// Learns constants (`x = 'rm'`) and new names for functions (`r = os.system`, `import … as`).
    fn learn(&mut self) {
        for at in 0..self.list.len() {
            let Some(name) = self.name(at).map(str::to_owned) else { continue };
            if self.sign(at + 1, '=') && !self.sign(at + 2, '=') {
                if let Some(value) = self.constant(at + 2) {
                    self.constants.insert(name, value);
                } else if let Some(function) = self.path_end(at + 2) {
                    self.renamed.insert(name, function);
                }
            } else if self.name(at + 1) == Some("as")
                && let Some(new) = self.name(at + 2).map(str::to_owned)
            {
                self.renamed.insert(new, name);
            }
        }
    }

    /// The last name of `a.b.c` at `at` when nothing is called.
    fn path_end(&self, at: usize) -> Option<String> {
        let mut last = self.name(at)?.to_owned();
        let mut next = at + 1;
        while self.sign(next, '.') {
            last = self.name(next + 1)?.to_owned();
            next += 2;
        }
        (!self.sign(next, '(')
            && (RUNS.contains(&last.as_str())
                || deletes(&last, Some("os")).is_some()
                || matches!(last.as_str(), "exec" | "eval")))
        .then_some(last)
    }

    /// The constant text of the expression at `at`, up to a comma or a closing bracket.
    fn constant(&self, at: usize) -> Option<String> {
        let mut out = String::new();
        let mut next = at;
        loop {
            let (piece, after) = self.term(next)?;
            out.push_str(&piece);
            next = after;
            match self.list.get(next) {
                Some(Token::Sign('+')) => next += 1,
                Some(Token::Sign('.')) if self.name(next + 1).is_none() => {
                    next += 1;
                    if self.sign(next, '.') {
                        next += 1;
                    }
                }
                Some(Token::Text(_)) => {}
                Some(Token::Sign(',' | ')' | ']' | ';' | '}' | ':')) | None => return Some(out),
                Some(Token::Name(_) | Token::Command(_) | Token::Number(_)) => return Some(out),
                Some(Token::Sign(_)) => return None,
            }
        }
    }

    /// One term of a concatenation and where it ends.
    fn term(&self, at: usize) -> Option<(String, usize)> {
        let (mut value, mut next) = match self.list.get(at)? {
            Token::Text(text) => (text.clone(), at + 1),
            Token::Sign('(') => {
                let inner = self.constant(at + 1)?;
                let mut end = at + 1;
                while end < self.list.len() && !self.sign(end, ')') {
                    end += 1;
                }
                (inner, end + 1)
            }
            Token::Name(name)
                if matches!(name.as_str(), "chr" | "fromCharCode" | "char")
                    || (name == "String" && self.name(at + 2) == Some("fromCharCode")) =>
            {
                let open = if name == "String" { at + 3 } else { at + 1 };
                return self.characters(open);
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "b64decode" | "decode64" | "base64_decode" | "atob" | "decode_base64"
                ) =>
            {
                let inner = self.constant(at + 2)?;
                let bytes = super::encode::decode64(&inner)?;
                (String::from_utf8_lossy(&bytes).into_owned(), at + 4)
            }
            Token::Name(name)
                if matches!(name.as_str(), "base64" | "Base64" | "bytes" | "codecs" | "os" | "Buffer")
                    && self.sign(at + 1, '.') =>
            {
                return self.term(at + 2);
            }
            Token::Name(name) if name == "fromhex" || name == "unhexlify" => {
                let inner = self.constant(at + 2)?;
                (hex(&inner)?, at + 4)
            }
            Token::Name(name) if name == "from" && self.sign(at + 1, '(') => {
                let inner = self.constant(at + 2)?;
                let kind = self.constant(at + 4).unwrap_or_default();
                let text = if kind == "hex" {
                    hex(&inner)?
                } else {
                    String::from_utf8_lossy(&super::encode::decode64(&inner)?).into_owned()
                };
                (text, at + 6)
            }
            Token::Name(name)
                if matches!(
                    name.as_str(),
                    "expanduser" | "Path" | "str" | "PosixPath" | "homedir" | "abspath" | "resolve"
                ) && self.sign(at + 1, '(') =>
            {
                let inner = if name == "homedir" { "~".to_owned() } else { self.constant(at + 2)? };
                let mut end = at + 2;
                while end < self.list.len() && !self.sign(end, ')') {
                    end += 1;
                }
                (inner, end + 1)
            }
            Token::Name(name) if name == "path" && self.sign(at + 1, '.') => return self.term(at + 2),
            Token::Name(name) if name == "strrev" || name == "reverse" => {
                let inner = self.constant(at + 2)?;
                (inner.chars().rev().collect(), at + 4)
            }
            Token::Name(name) => (self.constants.get(name)?.clone(), at + 1),
            _ => return None,
        };
        // `[::-1]`, `.decode()`, `.join([...])`, `.reverse`, `.toString()`.
        loop {
            if self.sign(next, '[')
                && self.sign(next + 1, ':')
                && self.sign(next + 2, ':')
                && self.sign(next + 3, '-')
            {
                value = value.chars().rev().collect();
                next += 6;
            } else if self.sign(next, '.') && self.name(next + 1).is_some() {
                match self.name(next + 1)? {
                    "decode" | "encode" | "toString" | "strip" | "reverse" | "rstrip" | "chomp" | "to_s"
                    | "lower" => {
                        if self.name(next + 1) == Some("reverse") {
                            value = value.chars().rev().collect();
                        }
                        next += 2;
                        if self.sign(next, '(') {
                            while next < self.list.len() && !self.sign(next, ')') {
                                next += 1;
                            }
                            next += 1;
                        }
                    }
                    "join" => {
                        let (joined, after) = self.joined(next + 2, &value)?;
                        value = joined;
                        next = after;
                    }
                    _ => return None,
                }
            } else {
                return Some((value, next));
            }
        }
    }

    /// `(114, 109)` as characters.
    fn characters(&self, open: usize) -> Option<(String, usize)> {
        let mut out = String::new();
        let mut next = open + 1;
        loop {
            match self.list.get(next)? {
                Token::Number(number) => out.push(u32::try_from(*number).ok().and_then(char::from_u32)?),
                Token::Sign(',') => {}
                Token::Sign(')') => return Some((out, next + 1)),
                _ => return None,
            }
            next += 1;
        }
    }

    /// `(['a', 'b'])` or `(map(chr, [114, 109]))` joined.
    fn joined(&self, open: usize, separator: &str) -> Option<(String, usize)> {
        let mut pieces: Vec<String> = Vec::new();
        let mut next = open;
        let mut depth = 0;
        let characters = (open..open + 8).any(|at| self.name(at) == Some("chr"));
        loop {
            match self.list.get(next)? {
                Token::Text(text) => pieces.push(text.clone()),
                Token::Number(number) if characters => {
                    pieces.push(u32::try_from(*number).ok().and_then(char::from_u32)?.to_string())
                }
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some((pieces.join(separator), next + 1));
                    }
                }
                Token::Name(name)
                    if matches!(
                        name.as_str(),
                        "chr" | "map" | "for" | "in" | "c" | "x" | "i" | "reversed" | "str"
                    ) =>
                {
                    if name == "reversed" {
                        return None;
                    }
                }
                Token::Sign(',') => {}
                _ => return None,
            }
            next += 1;
        }
    }

    /// Strings of a list literal at `at`: `["rm", "-rf", "/"]`.
    fn words(&self, at: usize) -> Option<Vec<String>> {
        if !self.sign(at, '[') {
            return None;
        }
        let mut out = Vec::new();
        let mut next = at + 1;
        while next < self.list.len() && !self.sign(next, ']') {
            match self.constant(next) {
                Some(text) => out.push(text),
                None => out.push(HOLE.to_string()),
            }
            while next < self.list.len() && !self.sign(next, ',') && !self.sign(next, ']') {
                next += 1;
            }
            if self.sign(next, ',') {
                next += 1;
            }
        }
        Some(out)
    }

    fn calls(&self, walk: &mut Walk<'_>, language: &str, span: Span) {
        for at in 0..self.list.len() {
            match self.list.get(at) {
                Some(Token::Command(text)) => {
                    walk.run_text(text, &Flow::none(), span);
                }
                Some(Token::Text(text)) => self.literal(walk, language, at, text, span),
                Some(Token::Name(name)) => {
                    let real = self.renamed.get(name).map_or(name.as_str(), String::as_str);
                    self.call(walk, language, at, real, span);
                }
                _ => {}
            }
        }
    }

    /// A string literal on its own: SQL, or a command at an awk or Groovy pipe.
    fn literal(&self, walk: &mut Walk<'_>, language: &str, at: usize, text: &str, span: Span) {
        if text.len() > 8 && database::looks_destructive(text) {
            database::judge(walk, text, span);
        }
        if language == "awk" {
            let piped = self.sign(at + 1, '|')
                || (at > 0 && self.sign(at - 1, '|'))
                || (at > 1 && self.sign(at - 1, '&') && self.sign(at - 2, '|'));
            if text.starts_with("/inet/") {
                walk.emit_names(Kind::ReverseShell, "opens a connection from awk", span, &[text]);
            } else if piped {
                walk.run_text(text, &Flow::none(), span);
            } else if at > 0 && self.sign(at - 1, '>') {
                walk.write_file(
                    text,
                    Flow::unknown(Origin::default()),
                    false,
                    "writes a file from awk",
                    span,
                );
            }
        }
        if self.sign(at + 1, '.') && self.name(at + 2) == Some("execute") {
            walk.run_text(text, &Flow::none(), span);
        }
        if language == "applescript" && at > 0 && self.name(at - 1) == Some("script") {
            walk.run_text(text, &Flow::none(), span);
        }
    }

    fn call(&self, walk: &mut Walk<'_>, language: &str, at: usize, name: &str, span: Span) {
        let open = self.sign(at + 1, '(') || self.sign(at + 1, '{') && name == "cmd";
        let bare = matches!(language, "perl" | "ruby" | "php" | "raku" | "tcl" | "lua" | "awk" | "julia")
            && matches!(self.list.get(at + 1), Some(Token::Text(_) | Token::Sign('[')))
            || (matches!(language, "perl" | "ruby" | "php")
                && matches!(self.list.get(at + 1), Some(Token::Name(_)))
                && name != "exec"
                && deletes(name, None).is_some());
        if language == "tcl" && name == "exec" {
            return self.tcl(walk, at, span);
        }
        if !(open || bare) {
            return;
        }
        let first = if open { at + 2 } else { at + 1 };
        let before = (at > 1 && (self.sign(at - 1, '.') || self.sign(at - 1, ':')))
            .then(|| self.qualifier(at))
            .flatten();
        let method = at > 0 && (self.sign(at - 1, '.') || self.sign(at - 1, ':') || self.sign(at - 1, '>'));
        if self.runs(language, name, before.as_deref(), method) {
            return self.run_call(walk, first, span);
        }
        if self.code_call(language, name, method) {
            return self.code(walk, language, first, span);
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
        self.file_call(walk, at, first, name, before.as_deref(), span);
    }

    /// The name two tokens before a method: `os` in `os.system`, `child_process` in
    /// `require('child_process').exec`.
    fn qualifier(&self, at: usize) -> Option<String> {
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

    fn runs(&self, language: &str, name: &str, before: Option<&str>, method: bool) -> bool {
        if RUNS.contains(&name) {
            return match name {
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
                        )
                    ) || (matches!(language, "perl" | "ruby" | "raku" | "lua" | "erl") && name != "execute")
                        || (name == "spawn" && !method)
                }
                _ => true,
            };
        }
        match name {
            "exec" => {
                matches!(language, "perl" | "ruby" | "php" | "node" | "c")
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
            "open" => false,
            _ => false,
        }
    }

    fn code_call(&self, language: &str, name: &str, method: bool) -> bool {
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

    fn run_call(&self, walk: &mut Walk<'_>, first: usize, span: Span) {
        if let Some(words) = self.words(first) {
            let args: Vec<Arg<'_>> =
                words.iter().map(|word| Arg { text: word.as_str().into(), span }).collect();
            walk.run(&args, &Flow::none(), span);
            return;
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
                let skip = usize::from(
                    list.first().is_some_and(|word| super::base_name(word) == super::base_name(&text)),
                );
                words.extend(list.into_iter().skip(skip));
            } else {
                while self.sign(next, ',') {
                    if let Some(word) = self.constant(next + 1) {
                        words.push(word);
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

    /// Where unknown text in this program is likely to come from.
    fn origin(&self) -> Origin {
        Origin { network: self.mentions(&NETWORK), decoded: self.mentions(&DECODES), ..Origin::default() }
    }

    fn code(&self, walk: &mut Walk<'_>, language: &str, first: usize, span: Span) {
        match self.constant(first) {
            Some(text) if !text.contains(HOLE) => {
                if walk.spend(text.len() + 64) {
                    judge(walk, language, &text, span);
                }
            }
            _ if self.sign(first, '{') || matches!(self.list.get(first), Some(Token::Sign(')')) | None) => {}
            // `compile(open(…).read(), …)` of a local file is running a script.
            _ if self.name(first) == Some("open") => {}
            _ => code::unseen(walk, self.origin(), span),
        }
    }

    fn delete_call(&self, walk: &mut Walk<'_>, at: usize, first: usize, tree: bool, span: Span) {
        let mut paths: Vec<String> = match self.words(first) {
            Some(words) => words,
            None => self.constant(first).into_iter().collect(),
        };
        if paths.is_empty() {
            // `Path('x').unlink()`, or a name bound in a loop: the constants nearby tell.
            paths = self
                .list
                .iter()
                .take(at)
                .rev()
                .filter_map(|token| match token {
                    Token::Text(text) if text.starts_with(['/', '~', '.', '*']) || text.contains('/') => {
                        Some(text.clone())
                    }
                    _ => None,
                })
                .take(4)
                .collect();
        }
        if paths.is_empty() {
            paths.push(HOLE.to_string());
        }
        let tree = tree || self.mentions(&["glob", "rglob", "walk", "listdir", "iglob", "readdirSync"]);
        let args: Vec<Arg<'_>> = paths.iter().map(|path| Arg { text: path.as_str().into(), span }).collect();
        let refs: Vec<&Arg<'_>> = args.iter().collect();
        super::files::delete(walk, &refs, tree, span);
    }

    fn file_call(
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
                let Some(path) = path else { return };
                let mode = self.second(first).unwrap_or_default();
                if let Some(command) = path.strip_prefix('|').or_else(|| path.trim_end().strip_suffix('|')) {
                    walk.run_text(command, &Flow::none(), span);
                } else if mode.contains('|') {
                    walk.run_text(&self.third(first).unwrap_or_default(), &Flow::none(), span);
                } else if let Some(file) = path.strip_prefix('>') {
                    self.written(walk, file.trim_start_matches('>').trim(), span);
                } else if mode.contains(['w', 'a', '+', '>', 'x']) || name == "createWriteStream" {
                    let path = if mode.starts_with('>') { self.third(first).unwrap_or(path) } else { path };
                    self.written(walk, &path, span);
                } else {
                    walk.read_file(&path, span);
                }
            }
            "writeFileSync" | "writeFile" | "appendFile" | "appendFileSync" | "file_put_contents"
            | "truncate" | "truncateSync" | "outputFileSync" => {
                if let Some(path) = path {
                    self.written(walk, &path, span);
                }
            }
            "write" if matches!(before, Some("File" | "IO")) => {
                if let Some(path) = path {
                    self.written(walk, &path, span);
                }
            }
            "write_text" | "write_bytes" | "read_text" | "read_bytes" => {
                let near =
                    self.list.iter().take(at).rev().find_map(|token| {
                        if let Token::Text(text) = token { Some(text.clone()) } else { None }
                    });
                match near {
                    Some(path) if name.starts_with("write") => self.written(walk, &path, span),
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
                    || matches!(name, "copyfile" | "copy2") =>
            {
                if let Some(from) = &path {
                    walk.read_file(from, span);
                }
                if let Some(to) = self.second(first) {
                    self.written(walk, &to, span);
                }
                if matches!(name, "move" | "rename" | "mv" | "renameSync" | "replace")
                    && let Some(from) = path
                {
                    let target = walk.target(&from);
                    if target.place >= crate::place::Place::System {
                        walk.emit_on(
                            Kind::Delete,
                            "moves things away",
                            span,
                            vec![target],
                            How { recursive: true, ..How::default() },
                        );
                    }
                }
            }
            "chmod" | "chmodSync" => {
                let number =
                    self.list.iter().skip(first).take(6).find_map(|token| {
                        if let Token::Number(number) = token { Some(*number) } else { None }
                    });
                let octal = number.map(|number| {
                    if number == 777 || number == 666 { format!("{number}") } else { format!("{number:o}") }
                });
                let paths: Vec<String> = path.or_else(|| self.second(first)).into_iter().collect();
                let refs: Vec<&str> = paths.iter().map(String::as_str).collect();
                super::perms::mode(walk, &octal.unwrap_or_default(), &refs, false, span);
            }
            "kill" | "killpg" => {
                let minus = self.sign(first, '-') || (self.sign(first + 2, '-'));
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
                    self.name(first),
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
                code::unseen(walk, Origin::default(), span);
            }
            "setuid" | "setresuid" | "setreuid" if self.list.get(first) == Some(&Token::Number(0)) => {
                walk.emit(Kind::Privilege, "takes the rights of root", span)
            }
            "reboot" | "shutdown" if before.is_some_and(|b| b == "os" || b == "System") => {
                walk.emit_grave(Kind::Power, "restarts the machine", span)
            }
            _ => {}
        }
    }

    fn written(&self, walk: &mut Walk<'_>, path: &str, span: Span) {
        let target = walk.target(path);
        if target.place == crate::place::Place::Device {
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

    fn second(&self, first: usize) -> Option<String> {
        let mut next = first;
        let mut depth = 0;
        while let Some(token) = self.list.get(next) {
            match token {
                Token::Sign('(' | '[') => depth += 1,
                Token::Sign(')' | ']') if depth == 0 => return None,
                Token::Sign(')' | ']') => depth -= 1,
                Token::Sign(',') if depth == 0 => {
                    let named = if self.sign(next + 2, '=') { next + 3 } else { next + 1 };
                    return self.constant(named);
                }
                _ => {}
            }
            next += 1;
        }
        None
    }

    fn third(&self, first: usize) -> Option<String> {
        let comma = (first..self.list.len()).filter(|at| self.sign(*at, ',')).nth(1)?;
        self.constant(comma + 1)
    }

    fn tcl(&self, walk: &mut Walk<'_>, at: usize, span: Span) {
        let mut words = String::new();
        for token in self.list.iter().skip(at + 1) {
            match token {
                Token::Name(text) | Token::Text(text) => {
                    if !words.is_empty() && !words.ends_with(['-', '/']) {
                        words.push(' ');
                    }
                    words.push_str(text);
                }
                Token::Sign(';' | ']') => break,
                Token::Sign('-') => words.push_str(" -"),
                Token::Sign(sign) => {
                    if *sign == '/' && !words.ends_with(|c: char| c.is_alphanumeric()) || *sign == '/' {
                        if words.ends_with(|c: char| c.is_alphanumeric()) {
                            words.push(' ');
                        }
                    }
                    words.push(*sign);
                }
                _ => {}
            }
        }
        walk.run_text(&words, &Flow::none(), span);
    }

    /// Things that only the whole program shows: fork bombs, reverse shells, stolen secrets.
    fn overall(&self, walk: &mut Walk<'_>, language: &str, text: &str, span: Span, before: usize) {
        let forks = self.mentions(&["fork", "pcntl_fork"]);
        let forever =
            self.mentions(&["while", "loop", "until"]) || (self.mentions(&["for"]) && text.contains("(;;)"));
        if forks && forever && language != "c" {
            walk.emit_grave(Kind::ForkBomb, "forks without end", span);
        }
        let socket = self.mentions(&[
            "socket",
            "Socket",
            "TCPSocket",
            "fsockopen",
            "IO",
            "net",
            "createConnection",
            "stream_socket_client",
        ]) && self.mentions(&[
            "connect",
            "TCPSocket",
            "fsockopen",
            "INET",
            "createConnection",
            "Socket",
            "open",
            "bind",
            "listen",
            "stream_socket_client",
            "sockaddr_in",
            "Client",
        ]);
        let shell = ["/bin/sh", "/bin/bash", "cmd.exe", "powershell", "/bin/zsh", "bash -i", "sh -i"]
            .iter()
            .any(|shell| self.holds_text(shell))
            || text.contains("/bin/sh")
            || self.mentions(&["dup2"]);
        if socket && shell {
            walk.emit(Kind::ReverseShell, "connects a shell to a socket", span);
        }
        let secret = walk
            .effects
            .get(before..)
            .unwrap_or_default()
            .iter()
            .any(|effect| effect.kind == Kind::ReadCredential);
        if secret && self.mentions(&NETWORK) {
            walk.emit(Kind::SendOut, "reads credentials and talks to the network", span);
        }
        if self.mentions(&["environ"]) && self.mentions(&["post", "urlopen", "Request", "PUT", "POST"]) {
            walk.emit(Kind::SendOut, "sends the environment to the network", span);
        }
    }
}

fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .filter_map(|pair| if let [high, low] = pair { u8::try_from(high * 16 + low).ok() } else { None })
        .collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
