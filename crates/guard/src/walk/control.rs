//! Lists, pipelines, branches, loops and functions.

use std::rc::Rc;

use super::flow::{Flow, HOLE};
use super::{Arg, COMPOUND, Src, WALKED, Walk};
use crate::effect::{Kind, Span};
use crate::shell::{Item, List, Node, Part, Parts, Word};

/// Most rounds of one loop that are followed.
const MOST_ROUNDS: usize = 512;

impl Walk<'_> {
    /// Walks the commands of a list; its output is theirs, one after the other.
    pub(crate) fn list(&mut self, src: Src<'_>, list: &List<'_>, stdin: &Flow) -> Flow {
        let mut out = Flow::none();
        if list.items.is_empty() || !self.down(Span::default()) {
            return out;
        }
        for item in &list.items {
            if self.fuel == 0 {
                break;
            }
            let flow = self.item(src, item, stdin);
            join(&mut out, flow);
        }
        self.up();
        out
    }

    pub(super) fn item(&mut self, src: Src<'_>, item: &Item<'_>, stdin: &Flow) -> Flow {
        let background = self.background;
        self.background |= item.background;
        if item.conditional {
            self.scope.branches += 1;
        }
        let flow = self.node(src, &item.node, stdin);
        if item.conditional {
            self.scope.branches -= 1;
        }
        self.background = background;
        flow
    }

    fn node(&mut self, src: Src<'_>, node: &Node<'_>, stdin: &Flow) -> Flow {
        // A long working directory is copied and compared by nearly every command.
        self.spend(WALKED + self.scope.cwd.len().saturating_sub(256));
        if !matches!(node, Node::Simple(_) | Node::Pipeline(_)) {
            self.spend(COMPOUND);
        }
        match node {
            Node::Simple(simple) => self.simple(src, simple, stdin),
            Node::Pipeline(stages) => self.pipeline(src, stages, stdin),
            Node::Group(list, redirects) => {
                let input = self.input(src, redirects, stdin);
                let flow = self.list(src, list, input.as_ref().unwrap_or(stdin));
                self.output(src, redirects, flow)
            }
            Node::Subshell(list) => {
                // Variables may leak out of it here, which only errs on the careful side.
                let cwd = self.scope.cwd.clone();
                let flow = self.list(src, list, stdin);
                self.scope.cwd = cwd;
                flow
            }
            Node::If(conditions, bodies) => self.branches(src, conditions, bodies, stdin),
            Node::For(name, words, body) => self.for_loop(src, name, words.as_deref(), body, stdin),
            Node::CountedFor(head, body) => {
                let empty: String = head.chars().filter(|c| !c.is_whitespace() && *c != ')').collect();
                self.arithmetic(src, head);
                if empty == ";;" {
                    self.endless(src, None, body);
                }
                self.rounds(src, body, stdin)
            }
            Node::While(condition, body) if reads_lines(condition, stdin) => {
                self.each_line(src, condition, body, stdin)
            }
            Node::While(condition, body) => {
                self.endless(src, Some(condition), body);
                self.scope.rounds += 1;
                let first = self.list(src, condition, stdin);
                self.scope.rounds -= 1;
                let mut flow = self.rounds(src, body, stdin);
                join(&mut flow, first);
                flow
            }
            Node::Case(subject, arms) => {
                self.text(src, subject);
                let mut out = Flow::none();
                for (patterns, body) in arms {
                    if self.fuel == 0 {
                        break;
                    }
                    for pattern in patterns {
                        self.text(src, pattern);
                    }
                    let flow = self.branch(src, body, stdin);
                    join(&mut out, flow);
                }
                out
            }
            Node::Function(name, text, body) => {
                self.define(name, text, body);
                Flow::none()
            }
            Node::Test(words) => {
                for word in words {
                    if !self.spend(WALKED) {
                        break;
                    }
                    let text = self.text(src, word);
                    self.subscript(&text);
                }
                Flow::none()
            }
            Node::Arithmetic(text) => {
                self.arithmetic(src, text);
                Flow::none()
            }
        }
    }

    /// `a[$(command)]` where a number or the name of a variable is wanted: the command runs.
    pub(crate) fn subscript(&mut self, text: &str) {
        if let Some((name, inner)) = text.split_once('[')
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && (inner.contains("$(") || inner.contains('`'))
            && self.spend(text.len())
        {
            let inner = inner.rsplit_once(']').map_or(inner, |(inner, _)| inner);
            self.run_text(&format!(": {inner}"), &Flow::none(), Span::default());
        }
    }

    fn branch(&mut self, src: Src<'_>, body: &List<'_>, stdin: &Flow) -> Flow {
        self.scope.branches += 1;
        let flow = self.list(src, body, stdin);
        self.scope.branches -= 1;
        flow
    }

    /// `while read …` over lines that are known: once for each.
    fn each_line(&mut self, src: Src<'_>, condition: &List<'_>, body: &List<'_>, stdin: &Flow) -> Flow {
        let mut out = Flow::none();
        for line in stdin.seen().lines().take(MOST_LINES) {
            if !self.spend(line.len() + WALKED) {
                break;
            }
            let input = Flow { text: Some(format!("{line}\n").into()), origin: stdin.origin };
            self.list(src, condition, &input);
            let flow = self.list(src, body, &Flow::none());
            join(&mut out, flow);
        }
        out
    }

    /// The body of a loop that runs nobody knows how often.
    fn rounds(&mut self, src: Src<'_>, body: &List<'_>, stdin: &Flow) -> Flow {
        self.scope.rounds += 1;
        let flow = self.branch(src, body, stdin);
        self.scope.rounds -= 1;
        flow
    }

    fn branches(&mut self, src: Src<'_>, conditions: &[List<'_>], bodies: &[List<'_>], stdin: &Flow) -> Flow {
        let mut out = Flow::none();
        for condition in conditions {
            let flow = self.list(src, condition, stdin);
            join(&mut out, flow);
        }
        for body in bodies {
            let flow = self.branch(src, body, stdin);
            join(&mut out, flow);
        }
        out
    }

    fn pipeline(&mut self, src: Src<'_>, stages: &[Node<'_>], stdin: &Flow) -> Flow {
        self.self_pipe(src, stages);
        let mut flow = None;
        for stage in stages {
            if self.fuel == 0 {
                break;
            }
            let next = self.node(src, stage, flow.as_ref().unwrap_or(stdin));
            // A stage always connects something to the next, even if nothing is known of it.
            let text = next.text.or(Some("".into()));
            flow = Some(Flow { text, origin: next.origin });
        }
        flow.unwrap_or_default()
    }

    /// `$0 | $0 &`: a script that starts itself twice.
    fn self_pipe(&mut self, src: Src<'_>, stages: &[Node<'_>]) {
        if stages.len() < 2 || !self.background {
            return;
        }
        let own = stages.iter().filter(|stage| starts_with_self(stage)).count();
        if own >= 2 {
            self.emit_grave(
                Kind::ForkBomb,
                "a script that pipes itself into itself",
                Span::new(0, src.text.len()),
            );
        }
    }

    fn for_loop(
        &mut self,
        src: Src<'_>,
        name: &str,
        words: Option<&[Word<'_>]>,
        body: &List<'_>,
        stdin: &Flow,
    ) -> Flow {
        let mut items: Vec<String> = Vec::new();
        match words {
            Some(words) => {
                let mut fields: Vec<Arg<'_>> = Vec::new();
                for word in words {
                    self.fields(src, word, &mut fields);
                }
                items.extend(fields.into_iter().take(MOST_ROUNDS + 1).map(|field| field.text.into_owned()));
            }
            None => items.extend(self.scope.arguments.iter().map(ToString::to_string)),
        }
        let mut out = Flow::none();
        if items.is_empty() {
            items.push(HOLE.to_string());
        }
        if items.len() > MOST_ROUNDS {
            self.emit(Kind::Unreadable, "a loop over too many words", Span::default());
        }
        let origin = self.last_unknown;
        for item in items.into_iter().take(MOST_ROUNDS) {
            if !self.spend(item.len() + WALKED) {
                break;
            }
            let branches = std::mem::take(&mut self.scope.branches);
            self.scope.set(name, &item);
            if item.contains(HOLE) && !name.is_empty() {
                self.scope.origins.insert(name.to_owned(), origin);
            }
            self.scope.branches = branches;
            let flow = self.list(src, body, stdin);
            join(&mut out, flow);
        }
        out
    }

    /// Remembers a function; one that starts itself twice or beside itself is a fork bomb.
    fn define(&mut self, name: &str, text: &str, body: &Node<'_>) {
        let mut signs = Signs::default();
        count(name, body, false, &mut signs, 0);
        if signs.piped || signs.beside || (signs.calls >= 2 && signs.any_background) {
            self.emit_grave(
                Kind::ForkBomb,
                "a function that starts itself again and again",
                Span::new(0, text.len()),
            );
        }
        let name: String = name.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        if name == "command_not_found_handle" || name == "command_not_found_handler" {
            self.run_text(text, &Flow::none(), Span::new(0, text.len()));
        }
        self.scope.functions.insert(name, Rc::from(text));
    }

    /// Runs a function that the text defined.
    pub(crate) fn call_function(
        &mut self,
        name: &str,
        body: &str,
        args: &[Arg<'_>],
        stdin: &Flow,
        span: Span,
    ) -> Flow {
        // A function that redefines itself is another function: bodies tell them apart. One that
        // calls itself is followed a little, as long as it is given something else.
        let plain = format!("{name}()\n{body}\n");
        let again = self.calls.iter().filter(|call| call.starts_with(&plain)).count();
        let given: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
        let key = plain + &given.join("\n");
        if again > 0 && self.background {
            self.emit_grave(Kind::ForkBomb, "functions that start each other again and again", span);
        }
        if again > 2 || self.calls.contains(&key) || !self.spend(key.len() / 4) {
            return Flow::none();
        }
        if self.calls.len() >= 12 {
            self.emit(Kind::Unreadable, "nested too deeply", span);
            return Flow::unknown(super::Origin::default());
        }
        self.calls.push(key);
        let arguments = args.iter().map(|arg| Rc::from(&*arg.text)).collect();
        let saved = std::mem::replace(&mut self.scope.arguments, arguments);
        let flow = self.run_text(body, stdin, span);
        self.scope.arguments = saved;
        self.calls.pop();
        flow
    }
}

/// Most lines that are handed to a loop one by one.
const MOST_LINES: usize = 24;

/// Whether a condition is `read`, and the lines it will read are known and few.
fn reads_lines(condition: &List<'_>, stdin: &Flow) -> bool {
    let [Item { node: Node::Simple(simple), .. }] = condition.items.as_slice() else { return false };
    simple.words.first().and_then(Word::bare) == Some("read")
        && !simple.words.iter().any(|word| matches!(word.bare(), Some("-d" | "-u" | "-n" | "-N")))
        && simple.redirects.is_empty()
        && stdin.exact().is_some_and(|text| (1..=MOST_LINES).contains(&text.lines().count()))
}

/// Adds one output to another.
pub(super) fn join(all: &mut Flow, next: Flow) {
    all.origin = all.origin.and(next.origin);
    let Some(text) = next.text else { return };
    match &mut all.text {
        None => all.text = Some(text),
        Some(have) if have.len() + text.len() <= super::expand::LONGEST => have.to_mut().push_str(&text),
        Some(have) => {
            if !have.ends_with(HOLE) {
                have.to_mut().push(HOLE);
            }
        }
    }
}

#[derive(Default)]
struct Signs {
    calls: u32,
    piped: bool,
    beside: bool,
    any_background: bool,
}

/// Counts how a function calls itself.
fn count(name: &str, node: &Node<'_>, background: bool, signs: &mut Signs, depth: u8) {
    if depth > 40 {
        return;
    }
    let list = |list: &List<'_>, signs: &mut Signs| {
        for item in &list.items {
            signs.any_background |= item.background;
            count(name, &item.node, background || item.background, signs, depth + 1);
        }
    };
    match node {
        Node::Simple(simple) => {
            if simple.words.first().is_some_and(|word| is_self(name, word)) {
                signs.calls += 1;
                signs.beside |= background;
            }
        }
        Node::Pipeline(stages) => {
            let before = signs.calls;
            for stage in stages {
                count(name, stage, background, signs, depth + 1);
            }
            signs.piped |= signs.calls >= before + 2;
        }
        Node::Group(inner, _)
        | Node::Subshell(inner)
        | Node::CountedFor(_, inner)
        | Node::For(_, _, inner) => list(inner, signs),
        Node::If(conditions, bodies) => conditions.iter().chain(bodies).for_each(|inner| list(inner, signs)),
        Node::While(condition, body) => {
            list(condition, signs);
            list(body, signs);
        }
        Node::Case(_, arms) => arms.iter().for_each(|(_, inner)| list(inner, signs)),
        Node::Function(_, _, body) => count(name, body, background, signs, depth + 1),
        Node::Test(_) | Node::Arithmetic(_) => {}
    }
}

fn is_self(name: &str, word: &Word<'_>) -> bool {
    if word.bare() == Some(name) {
        return true;
    }
    let part = match &word.parts {
        Parts::One(Part::Double(inner)) => inner.first(),
        other => other.as_slice().first(),
    };
    match part {
        Some(Part::Param(param)) => matches!(param.name, "FUNCNAME" | "0"),
        Some(Part::Quoted(text)) => word.parts.as_slice().len() == 1 && text == name,
        _ => false,
    }
}

fn starts_with_self(node: &Node<'_>) -> bool {
    let Node::Simple(simple) = node else { return false };
    simple.words.iter().take(2).any(|word| is_self("$0", word))
}
