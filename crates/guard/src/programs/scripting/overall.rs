//! Things that only a whole program shows: fork bombs, reverse shells, stolen secrets.

use super::{NETWORK, PRINTS, Program};
use crate::effect::{Kind, Span};
use crate::programs::tokens::Token;
use crate::walk::Walk;

/// Whether a Perl glob stands in a program: `<data/*>`.
fn globbed(text: &str) -> bool {
    text.split('<').skip(1).any(|rest| {
        rest.split_once('>')
            .is_some_and(|(inside, _)| inside.contains('*') && !inside.contains([' ', ';', '\n']))
    })
}

/// What a program starts is this program.
enum Itself {
    Surely,
    Perhaps,
}

/// Calls that start a program.
const STARTS: [&str; 5] = ["spawn", "fork", "exec", "execFile", "Popen"];

/// How far the arguments of a call are followed.
const LONGEST_CALL: usize = 200;

impl Program {
    /// Whether it starts itself: its own name is handed to a call that starts programs. That a program
    /// reads its arguments and starts something else says nothing.
    fn starts_itself(&self) -> Option<Itself> {
        let mut calls = (0..self.list.len())
            .filter(|at| self.name(*at).is_some_and(|name| STARTS.contains(&name)) && self.sign(at + 1, '('));
        calls.find_map(|at| self.hands_itself(at + 1))
    }

    /// The same of the call whose opening bracket is here.
    fn hands_itself(&self, open: usize) -> Option<Itself> {
        let (mut depth, mut words, mut program, mut file) = (0_usize, 0, false, false);
        for token in self.list.get(open..)?.iter().take(LONGEST_CALL) {
            match token {
                Token::Sign('(') => depth += 1,
                Token::Sign(')') if depth <= 1 => break,
                Token::Sign(')') => depth -= 1,
                Token::Name(name) => match name.as_str() {
                    "argv" => words += 1,
                    "execPath" | "executable" => program = true,
                    "__filename" | "__FILE__" => file = true,
                    _ => {}
                },
                _ => {}
            }
        }
        if file || words > 1 || program && words > 0 {
            return Some(Itself::Surely);
        }
        program.then_some(Itself::Perhaps)
    }

    /// Things that only the whole program shows: fork bombs, reverse shells, stolen secrets.
    pub(super) fn overall(&self, walk: &mut Walk<'_>, language: &str, text: &str, span: Span, before: usize) {
        let forks = self.mentions(&["fork", "pcntl_fork"]);
        let forever =
            self.mentions(&["while", "loop", "until"]) || (self.mentions(&["for"]) && text.contains("(;;)"));
        // Only asked of programs that fork at all: it copies the text.
        let compact: String =
            if forks { text.chars().filter(|c| !c.is_whitespace()).collect() } else { String::new() };
        let forever = forever
            || ["iter(int,1)", "count()", "cycle(", "repeat(None)"]
                .iter()
                .any(|endless| compact.contains(endless));
        let again = forever || self.mentions(&["setInterval", "setImmediate"]);
        if again && language != "c" {
            match self.starts_itself() {
                Some(Itself::Surely) => walk.emit_grave(Kind::ForkBomb, "starts itself without end", span),
                Some(Itself::Perhaps) => walk.emit(Kind::ForkBomb, "starts itself again and again", span),
                None => {}
            }
        }
        if forever
            && self.mentions(&["Process", "Thread"])
            && text.contains("target=")
            && self.called("start")
        {
            walk.emit(Kind::ForkBomb, "starts processes without end", span);
        }
        if forks && self.mentions(&["for"]) && text.contains("..") {
            walk.emit(Kind::ForkBomb, "forks again and again", span);
        }
        if self.mentions(&["docker"])
            && ["stop", "kill", "remove", "restart", "prune", "pause"].iter().any(|verb| self.called(verb))
        {
            walk.emit(Kind::Container, "stops or deletes containers", span);
        }
        // Who forks and waits, or forks for those who come, ends again.
        let waits = self
            .mentions(&["accept", "wait", "waitpid", "wait3", "wait4", "listen", "bind", "recv", "sleep"]);
        if forks && forever && language != "c" && !waits {
            walk.emit_grave(Kind::ForkBomb, "forks without end", span);
        } else if forks && self.mentions(&["iter", "repeat", "count", "cycle"]) {
            walk.emit(Kind::ForkBomb, "forks again and again", span);
        }
        if self.mentions(&NETWORK) && self.list.windows(3).any(|window| matches!(window, [Token::Sign('('), Token::Name(name), Token::Sign(')')] if matches!(name.as_str(), "eval" | "exec" | "Function"))) {
            walk.emit(Kind::RunDownloaded, "runs text from the network", span);
        }
        if language == "applescript" {
            if ["shut down", "restart"].iter().any(|verb| text.contains(verb)) {
                walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
            } else if text.contains("login item") {
                walk.emit_startup("starts something at every login", span);
            } else if text.contains("log out") {
                walk.emit(Kind::Power, "ends the session", span);
            }
            if text.contains("Finder")
                && ["delete ", "empty trash", "empty the trash"].iter().any(|verb| text.contains(verb))
            {
                walk.emit(Kind::Delete, "deletes files through the Finder", span);
            }
        }
        self.connects(walk, text, span);
        if self.empties() {
            walk.emit(Kind::Database, "empties tables", span);
        }
        let cloud = self.mentions(&["boto3", "botocore", "google", "azure", "aws_sdk", "kubernetes"]);
        let kills = self.list.windows(2).any(|pair| {
            matches!(pair, [Token::Name(name), Token::Sign('(')]
                if name.starts_with("delete") || name.starts_with("terminate") || name.starts_with("Delete"))
        });
        if cloud && kills {
            walk.emit(Kind::Cloud, "deletes resources of an account", span);
        }
        if language == "perl" && self.mentions(&["unlink"]) && globbed(text) {
            walk.emit_names(Kind::Delete, "deletes whatever it finds", span, &["*"]);
        }
        let bare = |at: usize| matches!(self.list.get(at), None | Some(Token::Sign(';' | '}')));
        if language == "perl"
            && (0..self.list.len()).any(|at| self.name(at) == Some("unlink") && bare(at + 1))
        {
            // Without a name it takes the line at hand.
            walk.emit_names(Kind::Delete, "deletes whatever it is given", span, &["…"]);
        }
        self.reaches_out(walk, span);
        self.reads_secrets(walk, span, before);
        let secret = walk
            .effects
            .get(before..)
            .unwrap_or_default()
            .iter()
            .any(|effect| effect.kind == Kind::ReadCredential);
        if secret && self.mentions(&NETWORK) {
            walk.emit(Kind::SendOut, "reads credentials and talks to the network", span);
        }
        if self.whole_environment() && self.mentions(&NETWORK) {
            walk.emit(Kind::SendOut, "sends the environment to the network", span);
        }
        if self.mentions(&["environ"]) && self.mentions(&["post", "urlopen", "Request", "PUT", "POST"]) {
            walk.emit(Kind::SendOut, "sends the environment to the network", span);
        }
    }

    /// Shells connected to sockets, and files sent through them.
    fn connects(&self, walk: &mut Walk<'_>, text: &str, span: Span) {
        let socket = self.mentions(&[
            "socket",
            "Socket",
            "TCPSocket",
            "fsockopen",
            "IO",
            "net",
            "createConnection",
            "stream_socket_client",
        ]) || self
            .list
            .iter()
            .any(|token| matches!(token, Token::Text(text) if matches!(text.as_str(), "net" | "node:net")));
        let socket = socket
            && self.mentions(&[
                "createServer",
                "create_connection",
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
            || self.holds_text("<&3")
            || self.mentions(&["dup2", "pty"]);
        if socket && shell {
            walk.emit(Kind::ReverseShell, "connects a shell to a socket", span);
        }
        if self.mentions(&NETWORK)
            && self.mentions(&["post", "put", "Request", "urlopen", "POST", "PUT", "request"])
            && self
                .list
                .iter()
                .any(|token| matches!(token, Token::Text(text) if crate::places::is_dump(text)))
        {
            walk.emit(Kind::SendOut, "sends a whole database to another machine", span);
        }
        if self.mentions(&["socket", "create_connection", "TCPSocket"])
            && self.mentions(&["send", "sendall", "sendfile"])
            && self.mentions(&["read", "readFileSync", "sendfile"])
            && self.mentions(&["open", "File", "readFileSync"])
        {
            walk.emit(Kind::SendOut, "sends a local file to another machine", span);
        }
    }

    /// Everything in a table, by way of an object mapper.
    fn empties(&self) -> bool {
        self.mentions(&["delete_all", "destroy_all", "truncate_tables", "deleteMany"])
            || ["flushall", "flushdb", "flushAll", "flushDb", "dropDatabase", "drop_database", "drop_all"]
                .iter()
                .any(|verb| self.called(verb))
            || self.mentions(&["objects"]) && self.mentions(&["all"]) && self.mentions(&["delete"])
            || self.mentions(&["DB", "Schema"])
                && self.mentions(&["truncate", "drop", "dropIfExists", "dropAllTables"])
    }

    /// Whether the environment is taken as a whole: `process.env`, `ENV.to_h`, `getenv()`.
    fn whole_environment(&self) -> bool {
        (0..self.list.len()).any(|at| match self.name(at) {
            Some("env") => {
                at > 1
                    && self.sign(at - 1, '.')
                    && self.name(at - 2) == Some("process")
                    && !self.sign(at + 1, '.')
                    && !self.sign(at + 1, '[')
            }
            Some("ENV") => {
                self.sign(at + 1, '.')
                    && matches!(
                        self.name(at + 2),
                        Some("to_h" | "to_a" | "to_s" | "inspect" | "map" | "to_json")
                    )
            }
            Some("getenv") => self.sign(at + 1, '(') && self.sign(at + 2, ')'),
            _ => false,
        })
    }

    /// Whether a function or method by that name is called.
    fn called(&self, name: &str) -> bool {
        self.list
            .windows(2)
            .any(|pair| matches!(pair, [Token::Name(known), Token::Sign('(')] if known.as_str() == name))
    }

    /// `source("https://…")`, `include(download("https://…"))`: code is loaded from an address.
    fn loads_address(&self) -> bool {
        const LOADS: [&str; 6] = ["source", "include", "source_url", "import", "loadstring", "importScripts"];
        const FETCHES: [&str; 4] = ["download", "url", "getURL", "fetch"];
        self.list.windows(5).any(|window| {
            let address = |token: &Token| matches!(token, Token::Text(text) if text.contains("://"));
            match window {
                [Token::Name(name), Token::Sign('('), text, ..] if LOADS.contains(&name.as_str()) => {
                    address(text)
                        || matches!(window, [_, _, Token::Name(get), Token::Sign('('), text]
                            if FETCHES.contains(&get.as_str()) && address(text))
                }
                _ => false,
            }
        })
    }

    /// `print(os.environ['TOKEN'])`, `console.log(process.env.TOKEN)`, or nothing but the latter.
    fn prints_secret(&self) -> bool {
        (0..self.list.len()).any(|at| {
            let secret = match (self.name(at), self.list.get(at + 1), self.list.get(at + 2)) {
                (
                    Some("environ" | "env" | "ENV" | "getenv"),
                    Some(Token::Sign('[' | '(')),
                    Some(Token::Text(name)),
                )
                | (Some("env"), Some(Token::Sign('.')), Some(Token::Name(name))) => {
                    crate::walk::secret_name(name)
                }
                _ => false,
            };
            // Back over `os.` or `process.` to what is done with it.
            let start = if at > 1 && self.sign(at - 1, '.') { at - 2 } else { at };
            secret
                && (start == 0
                    || start > 1
                        && self.sign(start - 1, '(')
                        && self.name(start - 2).is_some_and(|verb| PRINTS.contains(&verb)))
        })
    }

    /// Paths put together in pieces: `Path.home() / '.aws' / 'credentials'`.
    fn reads_secrets(&self, walk: &mut Walk<'_>, span: Span, before: usize) {
        const READS: [&str; 10] = [
            "read",
            "read_text",
            "read_bytes",
            "open",
            "readFileSync",
            "readFile",
            "File",
            "slurp",
            "readlines",
            "IO",
        ];
        let known = walk
            .effects
            .get(before..)
            .unwrap_or_default()
            .iter()
            .any(|effect| effect.kind == Kind::ReadCredential);
        if known || !self.mentions(&READS) {
            return;
        }
        let mut pieces: Vec<&str> = Vec::new();
        for token in self.list.iter().take(4096) {
            match token {
                Token::Text(text) if text.len() < 200 && !text.contains([' ', crate::walk::HOLE]) => {
                    pieces.push(text);
                }
                Token::Sign('/') => continue,
                _ => pieces.clear(),
            }
            let joined = pieces.join("/");
            let path = if joined.starts_with(['/', '~']) { joined } else { format!("~/{joined}") };
            if path.len() > 4 && walk.target(&path).place == crate::place::Place::Credential {
                walk.emit_names(Kind::ReadCredential, "reads a file that holds credentials", span, &[&path]);
                return;
            }
        }
    }

    /// Calls to servers that delete there, load code from there, or show secrets.
    fn reaches_out(&self, walk: &mut Walk<'_>, span: Span) {
        if self.mentions(&["requests", "httpx", "axios"])
            && self.called("delete")
            && self.list.iter().any(|token| {
                matches!(token, Token::Text(url) if url.starts_with("http")
                    && !url.contains("localhost") && !url.contains("127.0.0.1"))
            })
        {
            walk.emit(Kind::Cloud, "asks a server to delete something", span);
        }
        if self.loads_address() {
            walk.emit(Kind::RunDownloaded, "runs text from the network", span);
        }
        if self.prints_secret() {
            walk.emit(Kind::ReadCredential, "prints a secret from the environment", span);
        }
    }
}
