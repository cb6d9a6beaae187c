//! Commands and members that PowerShell text uses: what they do, and what they give back.

use super::power::{Given, Shell, hole};
use super::values::{self, Value};
use super::{cmd, cmdlets, posix};
use crate::effect::Kind;
use crate::programs::code;
use crate::walk::{Arg, Call, Flow, HOLE, Origin, glob_matches};

/// Cmdlets a wildcard is likely to stand for, in order of what it would be worst to miss.
const LIKELY: [&str; 14] = [
    "Remove-Item",
    "Invoke-Expression",
    "Stop-Computer",
    "Restart-Computer",
    "Format-Volume",
    "Clear-Disk",
    "Stop-Service",
    "Stop-Process",
    "Restart-Service",
    "Clear-Content",
    "Invoke-WebRequest",
    "Invoke-RestMethod",
    "Set-Content",
    "Start-Process",
];

/// The cmdlet an alias stands for; names in lower case.
fn cmdlet(name: &str) -> &str {
    match name {
        "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" => "remove-item",
        "gci" | "ls" | "dir" | "gi" | "get-item" | "rvpa" | "resolve-path" => "get-childitem",
        "%" | "foreach" => "foreach-object",
        "?" | "where" => "where-object",
        "iex" => "invoke-expression",
        "iwr" | "curl" | "wget" => "invoke-webrequest",
        "irm" => "invoke-restmethod",
        "gc" | "cat" | "type" => "get-content",
        "spps" | "kill" => "stop-process",
        "saps" | "start" => "start-process",
        "icm" => "invoke-command",
        "gcm" => "get-command",
        "sal" | "nal" | "new-alias" => "set-alias",
        "sv" | "nv" | "new-variable" => "set-variable",
        "echo" | "write" => "write-output",
        "clc" => "clear-content",
        "cpi" | "copy" | "cp" => "copy-item",
        "mi" | "move" | "mv" => "move-item",
        "ni" => "new-item",
        "sp" => "set-itemproperty",
        "rp" => "remove-itemproperty",
        "sort" => "sort-object",
        "select" => "select-object",
        "tee" => "tee-object",
        other => other,
    }
}

/// Options whose value is neither a path nor a name to act on.
const VALUED: [&str; 12] = [
    "-erroraction",
    "-ea",
    "-warningaction",
    "-wa",
    "-errorvariable",
    "-ev",
    "-include",
    "-exclude",
    "-filter",
    "-depth",
    "-encoding",
    "-stream",
];

/// Options of `Start-Process`.
const STARTS: [&str; 8] = [
    "-argumentlist",
    "-filepath",
    "-nonewwindow",
    "-passthru",
    "-verb",
    "-wait",
    "-windowstyle",
    "-workingdirectory",
];

impl Shell<'_, '_> {
    /// Runs a command by name.
    pub(super) fn command(&mut self, name: &str, args: Vec<Given<'_, '_>>, input: Option<&Value>) -> Value {
        let bare = crate::programs::base_name(name);
        let lower = bare.to_ascii_lowercase();
        if let Some(real) = self.aliases.get(&lower).cloned()
            && real.to_ascii_lowercase() != lower
            && self.walk.spend(64)
        {
            return self.command(&real, args, input);
        }
        let words: Vec<String> = args
            .iter()
            .filter_map(|arg| match arg {
                Given::Value(value) => Some(value.joined()),
                Given::Block(_) => None,
            })
            .collect();
        let origin = args.iter().fold(Origin::default(), |origin, arg| match arg {
            Given::Value(value) => origin.and(value.origin),
            Given::Block(_) => origin,
        });
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        match cmdlet(&lower) {
            "write-output" => Value { list: words, origin },
            "write-host" | "write-verbose" | "write-error" | "write-warning" | "get-help" | "help"
            | "man" | "rem" => Value::default(),
            "get-content" | "select-string" | "findstr" | "more" => {
                let mut origin = Origin { file: true, local: true, ..Origin::default() };
                for word in plain.iter().filter(|word| !word.starts_with('-')) {
                    origin = origin.and(self.walk.read_file(&posix(word), self.span).origin);
                }
                Value::unknown(origin)
            }
            "foreach-object" => self.for_each(&args, &plain, input),
            "get-childitem" => {
                Value { list: vec![listed(&plain)], origin: Origin { local: true, ..Origin::default() } }
            }
            "get-command" => {
                let wanted = operand(&plain);
                let found = LIKELY
                    .iter()
                    .filter(|known| glob_matches(&wanted.to_ascii_lowercase(), &known.to_ascii_lowercase()));
                let list: Vec<String> = if wanted.contains(['*', '?', '[']) {
                    found.take(1).map(|name| (*name).to_owned()).collect()
                } else {
                    vec![wanted.to_owned()]
                };
                if list.is_empty() { Value::unknown(Origin::default()) } else { Value { list, origin } }
            }
            "where-object" | "sort-object" | "select-object" | "out-string" | "get-unique"
            | "out-default" => {
                self.blocks(&args);
                input.cloned().unwrap_or_default()
            }
            "invoke-expression" => self.evaluated(&words, origin, input),
            "invoke-webrequest" | "invoke-restmethod" | "start-bitstransfer" => {
                super::fetched(self.walk, &plain, self.span);
                Value::unknown(Origin { network: true, ..Origin::default() })
            }
            "set-alias" | "set-variable" => self.named_anew(cmdlet(&lower), &plain, origin),
            "start-process" => self.started(&plain),
            "set-content" | "add-content" | "out-file" | "tee-object" => self.kept(&lower, &plain, input),
            "copy-item" | "move-item" => {
                self.other(cmdlet(&lower), bare, &plain, input);
                if let Some(file) = without_values(&plain).iter().filter(|word| !word.starts_with('-')).nth(1)
                {
                    super::written(self.walk, file, Flow::unknown(Origin::default()), false, self.span);
                }
                Value::default()
            }
            "invoke-sqlcmd" => {
                let query = plain.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
                crate::programs::sql::judge(self.walk, query, self.span);
                Value::unknown(Origin { local: true, ..Origin::default() })
            }
            "join-path" => Value::text(
                plain.iter().filter(|word| !word.starts_with('-')).copied().collect::<Vec<_>>().join("\\"),
            ),
            "powershell" | "pwsh" | "cmd" => {
                let given: Vec<Arg<'_>> =
                    plain.iter().map(|word| Arg { text: (*word).into(), span: self.span }).collect();
                let stdin = flow(input);
                let call = Call { name: &lower, args: &given, span: self.span, stdin: &stdin };
                if lower == "cmd" {
                    super::shell(self.walk, call);
                } else {
                    super::powershell(self.walk, call);
                }
                self.blocks(&args);
                Value::unknown(Origin { local: true, ..Origin::default() })
            }
            known => {
                self.other(known, bare, &plain, input);
                self.blocks(&args)
                    .unwrap_or_else(|| Value::unknown(Origin { local: true, ..Origin::default() }))
            }
        }
    }

    /// A new name for a command, or a value for a variable.
    fn named_anew(&mut self, how: &str, words: &[&str], origin: Origin) -> Value {
        let mut operands = words.iter().filter(|word| !word.starts_with('-'));
        if let Some(name) = operands.next() {
            let rest: Vec<String> = operands.map(|word| (*word).to_owned()).collect();
            let name = name.to_ascii_lowercase();
            if how == "set-variable" {
                self.variables.insert(name, Value { list: rest, origin });
            } else if let Some(real) = rest.into_iter().next() {
                self.aliases.insert(name, real);
            }
        }
        Value::default()
    }

    /// A cmdlet with no value of its own, or a program.
    fn other(&mut self, lower: &str, name: &str, words: &[&str], input: Option<&Value>) {
        let mut words = without_values(words);
        let stdin = flow(input);
        let brought: Vec<&str> = match input {
            Some(value) if matches!(lower, "remove-item" | "clear-content" | "move-item" | "clear-item") => {
                value.list.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        };
        if !words.iter().any(|word| !word.starts_with('-')) {
            words.extend(brought.iter().copied().filter(|text| !text.is_empty()));
        }
        let before = self.walk.effects.len();
        if cmdlets::verb(self.walk, lower, &words, self.span, &stdin) {
            return;
        }
        if super::takes_away(name) {
            self.walk.emit_names(Kind::Cloud, "removes, stops or resets something", self.span, &words);
            return;
        }
        if !name.contains('-') && self.walk.effects.len() == before {
            super::program(self.walk, name, &words, &stdin, self.span);
        }
    }

    /// `things | % { … }`, `things | % Delete`.
    fn for_each(&mut self, args: &[Given<'_, '_>], words: &[&str], input: Option<&Value>) -> Value {
        let value = input.cloned().unwrap_or_else(|| Value::text(hole()));
        let member = words.iter().find(|word| !word.starts_with('-'));
        if let Some(member) = member
            && !args.iter().any(|arg| matches!(arg, Given::Block(_)))
        {
            return self.member(&value, member, Some(&[]));
        }
        let mut last = None;
        let mut made = Vec::new();
        for item in value.list.iter().take(64) {
            let one = Value { list: vec![item.clone()], origin: value.origin };
            self.variables.insert("_".to_owned(), one.clone());
            self.variables.insert("psitem".to_owned(), one);
            last = self.blocks(args);
            made.extend(last.iter().flat_map(|value| value.list.iter().cloned()));
            if !self.walk.spend(16) {
                break;
            }
        }
        let origin = last.map_or(value.origin, |value| value.origin);
        Value { list: made, origin }
    }

    /// Text that is run as a command.
    fn evaluated(&mut self, words: &[String], origin: Origin, input: Option<&Value>) -> Value {
        let origin = input.map_or(origin, |value| origin.and(value.origin));
        let text =
            if words.is_empty() { input.map(Value::joined).unwrap_or_default() } else { words.join(" ") };
        // The shell of another language has the same name.
        if words
            .iter()
            .any(|word| matches!(word.as_str(), "-s" | "-S" | "--erl" | "--sname" | "--name" | "--remsh"))
        {
            return Value::default();
        }
        if origin.network || text.contains("http") {
            self.walk.emit(Kind::RunDownloaded, "runs text from the network", self.span);
        } else if origin.decoded {
            self.walk.emit(Kind::RunDecoded, "runs decoded text", self.span);
        } else {
            self.walk.emit(Kind::RunUnseen, "runs text as a command", self.span);
        }
        self.run(&text)
    }

    /// Text put into a file.
    fn kept(&mut self, name: &str, words: &[&str], input: Option<&Value>) -> Value {
        self.other(cmdlet(name), name, words, None);
        let rest = without_values(words);
        let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
        let Some(file) = operands.next() else { return Value::default() };
        let content = match (operands.next(), input) {
            (Some(text), _) if !text.contains(HOLE) => Flow::known((*text).to_owned()),
            (None, Some(value)) => flow(Some(value)),
            _ => Flow::unknown(Origin::default()),
        };
        let append =
            cmdlet(name) == "add-content" || words.iter().any(|word| word.eq_ignore_ascii_case("-append"));
        super::written(self.walk, file, content, append, self.span);
        input.cloned().unwrap_or_default()
    }

    fn started(&mut self, words: &[&str]) -> Value {
        if !cmdlets::verb(self.walk, "start-process", words, self.span, &Flow::none()) {
            return Value::default();
        }
        // The program comes first or after `-FilePath`, its arguments next or after `-ArgumentList`.
        let mut program = None;
        let mut line: Vec<&str> = Vec::new();
        let mut handed = false;
        for word in words {
            let lower = word.to_ascii_lowercase();
            let option = lower.starts_with('-')
                && STARTS.iter().any(|name| name.starts_with(&lower) && lower.len() > 2);
            if option {
                handed = lower.starts_with("-a");
            } else if handed || program.is_some() {
                line.push(word);
            } else {
                program = Some(*word);
            }
        }
        if let Some(program) = program {
            super::program_line(self.walk, program, &line.join(" "), self.span);
        }
        Value::default()
    }

    /// `value.Name(…)`.
    pub(super) fn member(&mut self, value: &Value, name: &str, args: Option<&[Value]>) -> Value {
        let lower = name.to_ascii_lowercase();
        let Some(args) = args else {
            // `.FullName`, `.Content`, `.Value`: as much is known of it as of the whole.
            return value.clone();
        };
        if let Some(made) = values::method(value, &lower, args) {
            return made;
        }
        let given: Vec<String> = args.iter().map(Value::joined).collect();
        match lower.as_str() {
            "delete" | "deletefolder" | "deletefile" | "deletedirectory" | "deletesubkeytree"
            | "deletetree" => {
                let paths = if given.is_empty() {
                    value.list.clone()
                } else {
                    given.get(..1).unwrap_or_default().to_vec()
                };
                self.deleted(&paths);
            }
            "invokeverb" if given.iter().any(|verb| verb.eq_ignore_ascii_case("delete")) => {
                self.deleted(&value.list);
            }
            "kill" | "terminate" => self.walk.emit(Kind::Kill, "ends processes", self.span),
            "stop" | "stopservice" => self.walk.emit(Kind::Service, "stops a service", self.span),
            "reboot" | "shutdown" | "win32shutdown" => {
                self.walk.emit_grave(Kind::Power, "switches the machine off or restarts it", self.span);
            }
            "downloadstring" | "downloaddata" | "getstringasync" | "openread" => {
                return Value::unknown(Origin { network: true, ..Origin::default() });
            }
            "downloadfile" => {
                if let Some(file) = given.get(1) {
                    let flow = Flow::unknown(Origin { network: true, ..Origin::default() });
                    self.walk.write_file(&posix(file), flow, false, "keeps what it fetched", self.span);
                }
            }
            "invokescript" | "newscriptblock" | "addscript" => {
                return self.evaluated(&given, origin_of(args), None);
            }
            "invoke" | "invokereturnasis" | "invokecommand" if value.origin.network => {
                self.walk.emit(Kind::RunDownloaded, "runs text from the network", self.span);
            }
            "run" | "exec" | "create" | "shellexecute" if !given.is_empty() => {
                if let [program, rest @ ..] = given.as_slice() {
                    let line = format!("{program} {}", rest.join(" "));
                    cmd::text(self.walk, &line, self.span);
                }
            }
            _ => {}
        }
        Value::unknown(value.origin.and(origin_of(args)))
    }

    /// `[type]::name(…)`; both in lower case.
    pub(super) fn static_member(&mut self, kind: &str, name: &str, args: Option<&[Value]>) -> Value {
        let Some(args) = args else { return Value::unknown(Origin::default()) };
        if let Some(made) = values::static_method(kind, name, args) {
            return made;
        }
        let given: Vec<String> = args.iter().map(Value::joined).collect();
        let short = kind.rsplit('.').next().unwrap_or(kind);
        match (short, name) {
            ("scriptblock", "create") => return self.evaluated(&given, origin_of(args), None),
            ("process", "start") => {
                if let [program, rest @ ..] = given.as_slice() {
                    super::program_line(self.walk, program, &rest.join(" "), self.span);
                }
            }
            ("file" | "directory" | "filesystem", _) if name.starts_with("delete") => {
                self.deleted(given.get(..1).unwrap_or_default());
            }
            ("file", "readalltext" | "readalllines" | "readallbytes" | "openread") => {
                let flow = self.walk.read_file(&posix(given.first().map_or("", String::as_str)), self.span);
                return Value::unknown(flow.origin);
            }
            ("file", _) if name.starts_with("write") || name.starts_with("append") || name == "create" => {
                let file = given.first().cloned().unwrap_or_default();
                let known = given.get(1).filter(|text| !text.contains(HOLE)).cloned();
                let flow = known.map_or_else(|| Flow::unknown(Origin::default()), Flow::known);
                super::written(self.walk, &file, flow, name.starts_with("append"), self.span);
            }
            ("directory" | "file", "move") => self.deleted(given.get(..1).unwrap_or_default()),
            ("array", "reverse") => {}
            ("registry" | "registrykey", _) if name.contains("delete") || name.contains("set") => {
                self.walk.emit(Kind::Kernel, "changes the registry", self.span);
            }
            ("environment", "failfast" | "exit") => {}
            _ if name == "create" || name == "load" && origin_of(args).network => {
                code::unseen(self.walk, origin_of(args), self.span);
            }
            _ => {}
        }
        Value::unknown(origin_of(args))
    }
}

fn origin_of(args: &[Value]) -> Origin {
    args.iter().fold(Origin::default(), |origin, arg| origin.and(arg.origin))
}

/// What a pipe brings, as another program reads it.
fn flow(input: Option<&Value>) -> Flow {
    match input {
        None => Flow::none(),
        Some(value) if value.is_unknown() => Flow::unknown(value.origin),
        Some(value) => Flow { origin: value.origin, ..Flow::known(value.list.join("\n")) },
    }
}

fn operand<'a>(words: &[&'a str]) -> &'a str {
    words.iter().copied().find(|word| !word.starts_with('-')).unwrap_or_default()
}

/// What a listing names: a folder, and the pattern it is narrowed by.
fn listed(words: &[&str]) -> String {
    let mut folder = "";
    let mut pattern = "";
    let mut deep = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let lower = word.to_ascii_lowercase();
        deep |= lower.starts_with("-r");
        if ["-include", "-filter"].contains(&lower.as_str()) {
            pattern = words.get(at + 1).copied().unwrap_or_default();
            at += 2;
            continue;
        }
        if VALUED.contains(&lower.as_str()) {
            at += 2;
            continue;
        }
        if !word.starts_with('-') && folder.is_empty() {
            folder = word;
        }
        at += 1;
    }
    let folder = if folder.is_empty() { "." } else { folder };
    if !pattern.is_empty() && !pattern.trim_matches('*').is_empty() && pattern != "*.*" {
        return format!("{}\\{pattern}", folder.trim_end_matches(['\\', '/']));
    }
    if folder.contains('*') || !deep && folder != "." {
        folder.to_owned()
    } else {
        format!("{}\\*", folder.trim_end_matches(['\\', '/']))
    }
}

/// The words without options that take a value, and those values.
fn without_values<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut out = Vec::with_capacity(words.len());
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = VALUED.contains(&word.to_ascii_lowercase().as_str());
        if !skip {
            out.push(*word);
        }
    }
    out
}
