//! Redirections: what a command reads, and what is written where.

use std::borrow::Cow;

use super::flow::{Flow, Origin};
use super::{MOST_FILES, Src, WALKED, Walk};
use crate::effect::{How, Kind, Span};
use crate::place::{Place, within};
use crate::places;
use crate::shell::{Doc, Node, Redirect, RedirectOp, RedirectTarget};

impl Walk<'_> {
    /// What the redirections put on standard input; `None` when they do not.
    pub(crate) fn input(&mut self, src: Src<'_>, redirects: &[Redirect<'_>], _stdin: &Flow) -> Option<Flow> {
        let mut found = None;
        for redirect in redirects {
            if !self.spend(5 * WALKED) {
                break;
            }
            match (&redirect.target, redirect.op) {
                (RedirectTarget::Doc(slot), _) => {
                    let Some(doc) = src.docs.get(*slot) else { continue };
                    let flow = Flow::known(self.body(src, doc));
                    match redirect.fd {
                        Some(fd) if fd > 2 => drop(self.scope.files.insert(format!("/dev/fd/{fd}"), flow)),
                        _ => found = Some(flow),
                    }
                }
                (RedirectTarget::Word(word), RedirectOp::HereString) => {
                    self.last_unknown = Origin::default();
                    let text = self.text(src, word);
                    let origin = self.last_unknown;
                    let flow = Flow { text: Some(Cow::Owned(text + "\n")), origin };
                    match redirect.fd {
                        Some(fd) if fd > 2 => drop(self.scope.files.insert(format!("/dev/fd/{fd}"), flow)),
                        _ => found = Some(flow),
                    }
                }
                (RedirectTarget::Word(word), RedirectOp::Read | RedirectOp::ReadWrite) => {
                    let path = self.text(src, word);
                    if let Some(flow) = self.scope.files.get(&format!("/dev/fd/{path}")) {
                        found = Some(flow.clone());
                    }
                    if redirect.fd.is_none_or(|fd| fd == 0)
                        && !path.bytes().all(|b| b.is_ascii_digit() || b == b'-')
                    {
                        found = Some(self.read_file(&path, redirect.span));
                    } else if let Some(fd) = redirect.fd.filter(|fd| *fd > 2)
                        && redirect.op == RedirectOp::Read
                        && self.scope.files.contains_key(&path)
                    {
                        let flow = self.read_file(&path, redirect.span);
                        self.scope.files.insert(format!("/dev/fd/{fd}"), flow);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// The text of a here-document.
    fn body(&mut self, src: Src<'_>, doc: &Doc<'_>) -> String {
        if !doc.live || !doc.text.contains(['$', '`', '\\']) {
            self.spend(doc.text.len() / 16);
            return doc.text.clone().into_owned();
        }
        if !self.spend(doc.text.len() / 8) {
            return String::new();
        }
        let parts = self.live_parts(&doc.text);
        let nested = Src { text: &doc.text, docs: src.docs };
        self.text_of(nested, &parts)
    }

    /// Sends an output where the redirections say; what is left over goes on.
    pub(crate) fn output(&mut self, src: Src<'_>, redirects: &[Redirect<'_>], flow: Flow) -> Flow {
        let mut flow = flow;
        for redirect in redirects {
            if self.fuel == 0 {
                break;
            }
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let append = match redirect.op {
                RedirectOp::Write | RedirectOp::ReadWrite => false,
                RedirectOp::Append => true,
                _ => continue,
            };
            if redirect.op == RedirectOp::ReadWrite && redirect.fd.is_none_or(|fd| fd == 0) {
                continue;
            }
            let mut fields = Vec::new();
            self.fields(src, word, &mut fields);
            let mut paths: Vec<String> = fields.into_iter().map(|field| field.text.into_owned()).collect();
            let Some(path) = paths.pop() else { continue };
            for extra in paths {
                self.write_file(
                    &extra,
                    Flow::unknown(Origin::default()),
                    append,
                    "overwrites by redirection",
                    redirect.span,
                );
            }
            let main = redirect.fd.is_none_or(|fd| fd == 1);
            let what = if append { "appends by redirection" } else { "overwrites by redirection" };
            let content = if main { flow.clone() } else { Flow::known(String::new()) };
            self.write_file(&path, content, append, what, redirect.span);
            if main && !matches!(&*path, "/dev/stdout" | "/dev/stderr" | "/dev/tty") {
                flow = Flow { text: Some(Cow::Borrowed("")), origin: Origin::default() };
            }
        }
        flow
    }

    /// Notes that a file is written, and keeps what is known of its new content.
    pub(crate) fn write_file(
        &mut self,
        path: &str,
        content: Flow,
        append: bool,
        what: &'static str,
        span: Span,
    ) {
        if path.is_empty() {
            return;
        }
        if let Some(reader) = self.scope.sinks.get(path).cloned() {
            self.run_text(&reader, &content, span);
            return;
        }
        let normal = self.path(path);
        let mut target = self.target_at(normal.clone(), path);
        if target.place == Place::Credential
            && [".pem", ".key", ".p12"].iter().any(|end| normal.ends_with(end))
            && within(&normal, &self.context.workspace)
        {
            // A key that is made in the project gives nothing away.
            target.place = Place::Workspace;
        }
        if target.place == Place::Sink {
            self.socket(&normal, &content, span);
            return;
        }
        let place = target.place;
        if self.found && !append && content.text.as_deref() == Some("") {
            crate::programs::emptied(self, path, span);
        }
        if content.origin.endless && place != Place::Device {
            self.emit_on(
                Kind::Device,
                "fills the disk without end",
                span,
                vec![target.clone()],
                How::default(),
            );
        }
        if normal == "/proc/sysrq-trigger" && content.seen().trim_start().starts_with(['b', 'o', 'c']) {
            self.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        if !append
            && content.text.as_deref() == Some("")
            && matches!(place, Place::Elsewhere | Place::Home)
            && (what.contains("redirection")
                || matches!(what, "overwrites a file" | "writes standard input to a file"))
        {
            self.emit_on(
                Kind::Delete,
                "empties a file",
                span,
                vec![target.clone()],
                How { all: true, ..How::default() },
            );
        }
        if !append
            && normal.starts_with("/var/log/")
            && content.exact().is_some_and(|text| text.trim().is_empty())
        {
            self.emit_on(Kind::Traces, "empties a log", span, vec![target.clone()], How::default());
        }
        if !append
            && content.text.as_deref() == Some("")
            && (place == Place::Workspace && (places::keeps_data(&normal) || normal.contains('*'))
                || place == Place::Unseen && self.last_unknown.listed)
        {
            let how = How { all: true, ..How::default() };
            self.emit_on(Kind::Delete, "empties a file that keeps data", span, vec![target.clone()], how);
        }
        if place == Place::GitData && !append && content.exact().is_some_and(|text| text.trim().is_empty()) {
            self.emit_on(Kind::Git, "empties what git keeps", span, vec![target.clone()], How::default());
        }
        if places::records_logins(&normal) {
            self.emit_on(
                Kind::Traces,
                "changes records of logins",
                span,
                vec![target.clone()],
                How::default(),
            );
        }
        if content.origin.credential && matches!(place, Place::Elsewhere) {
            self.emit(Kind::ReadCredential, "copies credentials", span);
        }
        self.emit_on(Kind::Write, what, span, vec![target], How::default());
        if self.scope.files.len() >= MOST_FILES {
            return;
        }
        if append && let Some(before) = self.scope.files.get(&normal) {
            let mut text = before.seen().to_owned();
            text.push_str(content.seen());
            let origin = before.origin.and(content.origin);
            self.spend(text.len());
            self.scope.files.insert(normal, Flow { text: Some(Cow::Owned(text)), origin });
        } else if append {
            let origin = content.origin.and(Origin { file: true, ..Origin::default() });
            let text = format!("{}{}", super::HOLE_STR, content.seen());
            self.scope.files.insert(normal, Flow { text: Some(Cow::Owned(text)), origin });
        } else {
            self.scope.files.insert(normal, content);
        }
    }

    /// `/dev/tcp/host/port` as a file: a connection.
    fn socket(&mut self, path: &str, content: &Flow, span: Span) {
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            if content.origin.credential || content.origin.local {
                self.emit_names(Kind::SendOut, "sends data through /dev/tcp", span, &[path]);
            } else {
                self.emit_names(Kind::ReverseShell, "opens a connection through /dev/tcp", span, &[path]);
            }
        }
    }

    /// What is in a file: known if the text wrote it.
    pub(crate) fn read_file(&mut self, path: &str, span: Span) -> Flow {
        let normal = self.path(path);
        if normal.starts_with("/dev/tcp/") || normal.starts_with("/dev/udp/") {
            self.emit_names(Kind::ReverseShell, "opens a connection through /dev/tcp", span, &[&normal]);
            return Flow::unknown(Origin { network: true, ..Origin::default() });
        }
        if normal == "/dev/null" {
            return Flow::known(String::new());
        }
        if let Some(flow) = self.scope.files.get(&normal) {
            let flow = flow.clone();
            self.spend(flow.seen().len() / 4);
            return flow;
        }
        if normal.ends_with(".pid")
            && (normal.contains("/.hermes/") || normal.contains("hermes-gateway") || self.is_agents(&normal))
        {
            let text = format!("{}{}", super::HOLE_STR, super::AGENT_PID);
            return Flow { text: Some(text.into()), origin: Origin { file: true, ..Origin::default() } };
        }
        let target = self.target(path);
        let mut origin = Origin {
            file: true,
            local: true,
            whole: places::is_dump(&normal),
            doomed: places::named_for_loss(&normal),
            ..Origin::default()
        };
        let keys = target.place == Place::Startup
            && (target.text.ends_with("/.ssh")
                || target.text.contains("/.ssh/*") && !target.text.ends_with(".pub")
                || ends_in_login(&target.text));
        let globbed =
            path.contains(['*', '?', '[']) && !path.ends_with(".pub") && self.may_be_credential(&target.text);
        if keys
            || globbed
            || target.place == Place::Credential && !target.text.ends_with("/authorized_keys")
            || target.place == Place::AgentConfig
                && (agent_secret(&target.text) || self.context.agent.contains(&target.text))
            || is_secret_env(&target.text, target.place)
        {
            origin.credential = true;
            if !target.text.ends_with("config.yaml") && !target.text.ends_with("SOUL.md") {
                self.emit_on(
                    Kind::ReadCredential,
                    "reads a file that holds credentials",
                    span,
                    vec![target],
                    How::default(),
                );
            }
        } else if normal.ends_with(".pid") && (normal.starts_with("/run/") || normal.starts_with("/var/run/"))
        {
            // The number of a service, not of something this text started.
            origin.file = false;
        } else if target.place == Place::Device {
            self.emit_on(Kind::Device, "reads a raw device", span, vec![target], How::default());
        } else if target.place == Place::Sink {
            let endless =
                matches!(normal.as_str(), "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/full");
            return Flow::unknown(Origin { endless, ..Origin::default() });
        }
        Flow::unknown(origin)
    }

    /// Whether a pattern can stand for a file that holds credentials.
    fn may_be_credential(&self, pattern: &str) -> bool {
        const KNOWN: [&str; 12] = [
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "~/.ssh/id_rsa",
            "~/.ssh/id_ed25519",
            "~/.ssh/id_ecdsa",
            "~/.aws/credentials",
            "~/.netrc",
            "~/.kube/config",
            "~/.docker/config.json",
            "~/.git-credentials",
            "~/.pgpass",
        ];
        let home = &self.context.home;
        pattern.len() < 256
            && KNOWN.iter().any(|known| crate::walk::glob_matches(pattern, &known.replacen('~', home, 1)))
    }

    /// `$(<file)`: the content of a file.
    pub(crate) fn read_file_form(&mut self, src: Src<'_>, node: &Node<'_>) -> Option<String> {
        let Node::Simple(simple) = node else { return None };
        if !simple.words.is_empty() || !simple.assigns.is_empty() {
            return None;
        }
        let [redirect] = simple.redirects.as_slice() else { return None };
        if redirect.op != RedirectOp::Read {
            return None;
        }
        let flow = self.input(src, &simple.redirects, &Flow::none())?;
        self.last_unknown = self.last_unknown.and(flow.origin);
        Some(flow.seen().trim_end_matches('\n').to_owned())
    }
}

/// Files that hold a name and a password.
fn ends_in_login(path: &str) -> bool {
    [".netrc", ".pgpass", ".npmrc", ".pypirc", ".envrc"].iter().any(|name| path.ends_with(name))
}

/// `.env` of a project holds secrets; `config.yaml` does not count as such.
fn is_secret_env(path: &str, place: Place) -> bool {
    place == Place::ProjectEnv && path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"))
}

impl Walk<'_> {
    /// Whether something is in the agent's own folder, by its names beside `.hermes` in a home.
    fn is_agents(&self, normal: &str) -> bool {
        self.context.agent.iter().any(|folder| within(normal, folder))
    }
}

/// Whether a part of the agent's folder holds keys; its skills, hooks and plugins do not.
fn agent_secret(path: &str) -> bool {
    [".env", "auth.json", "config.yaml", "SOUL.md", "/.hermes"].iter().any(|end| path.ends_with(end))
}
