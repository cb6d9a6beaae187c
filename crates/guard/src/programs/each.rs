//! `parallel` and `rush`: a command line run once for each input.

use super::batch::as_written;
use super::opts::{Parsed, Spec, parse};
use super::{base_name, code, filters};
use crate::walk::{Call, Flow, HOLE_STR, Origin, Walk};

/// How many inputs are followed.
const MOST: usize = 32;

const PARALLEL: Spec = Spec {
    short: "jIaNnSdCPLlEsUiJ",
    long: &[
        "jobs",
        "arg-file",
        "delay",
        "timeout",
        "colsep",
        "sshlogin",
        "joblog",
        "results",
        "max-args",
        "tagstring",
        "delimiter",
        "max-procs",
        "max-chars",
        "retries",
        "halt",
        "load",
        "memfree",
        "nice",
        "block",
        "workdir",
        "wd",
        "tmpdir",
        "env",
    ],
    stops: true,
};

const RUSH: Spec = Spec {
    short: "jiDdnorTvt",
    long: &[
        "jobs",
        "infile",
        "delimiter",
        "field-delimiter",
        "nrecords",
        "out-file",
        "retries",
        "trim",
        "timeout",
        "assign",
        "record-delimiter",
    ],
    stops: false,
};

/// GNU parallel: the command is shell text, inputs come after `:::`, from files or on standard input.
pub(super) fn parallel(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, PARALLEL);
    if rehearses(&parsed) {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    let mut command = Vec::new();
    let mut sources: Vec<Vec<String>> = Vec::new();
    let mut origin = walk.last_unknown.and(call.stdin.origin);
    let (mut files, mut given) = (false, false);
    for (file, span) in parsed.values("a", "arg-file") {
        let flow = walk.read_file(file, span);
        origin = origin.and(flow.origin);
        sources.push(lines(flow.seen()));
    }
    for arg in parsed.rest() {
        let text = &*arg.text;
        if text.starts_with(":::") {
            files = text.starts_with("::::");
            given = true;
            sources.push(Vec::new());
        } else if given && let Some(source) = sources.last_mut() {
            if files {
                let flow = walk.read_file(text, arg.span);
                origin = origin.and(flow.origin);
                source.extend(lines(flow.seen()));
            } else {
                source.push(text.to_owned());
            }
        } else {
            command.push(text);
        }
    }
    if parsed.has("", "pipe") || parsed.has("", "spreadstdin") {
        return code::shell(walk, &command.join(" "), origin, call.stdin, call.span);
    }
    if command.is_empty() && sources.is_empty() && !call.stdin.present() {
        // Nothing to run: it only tells about itself.
        return Flow::none();
    }
    as_written(walk, call, &command);
    let mark = parsed.value("I", "").unwrap_or("{}");
    let command = command.join(" ").replace(mark, "{}");
    each(walk, call, &command, sources, origin)
}

/// `rush 'command {}'`: the same, with the command in one word. Without a place for the input this is
/// another program of that name.
pub(super) fn rush(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, RUSH);
    let Some(command) = parsed.rest().find(|arg| arg.text.contains('{')) else {
        let met = super::Met { tame: true, ..super::remembered(walk, call.name) };
        return super::stranger::run(walk, call, met);
    };
    if rehearses(&parsed) {
        return Flow::unknown(Origin { local: true, ..Origin::default() });
    }
    let mut origin = walk.last_unknown.and(call.stdin.origin);
    let mut sources = Vec::new();
    for (file, span) in parsed.values("i", "infile") {
        let flow = walk.read_file(file, span);
        origin = origin.and(flow.origin);
        sources.push(lines(flow.seen()));
    }
    each(walk, call, &command.text, sources, origin)
}

/// Whether the commands are only shown.
fn rehearses(parsed: &Parsed<'_>) -> bool {
    parsed.flags.iter().any(|flag| flag.long && matches!(flag.name, "dry-run" | "dryrun"))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().take(MOST).map(str::to_owned).collect()
}

/// Runs a command line once for each input.
fn each(
    walk: &mut Walk<'_>,
    call: Call<'_>,
    command: &str,
    mut sources: Vec<Vec<String>>,
    origin: Origin,
) -> Flow {
    if sources.iter().all(Vec::is_empty) {
        let text = if call.stdin.present() { call.stdin.seen() } else { HOLE_STR };
        sources = vec![lines(text)];
    }
    let outer = walk.found;
    walk.found |= origin.listed || sources.iter().flatten().any(|input| filters::is_unknown(input));
    let mut last = Flow::none();
    let run: Vec<String> = if command.contains("{1") || command.contains("{2") {
        by_place(command, &sources)
    } else {
        sources.iter().flatten().take(MOST).map(|input| filled(command, input)).collect()
    };
    for line in &run {
        last = code::shell(walk, line, origin, &Flow::none(), call.span);
    }
    walk.found = outer;
    last
}

/// A command with one input in its places: `{}`, without its ending `{.}`, without its folder `{/}`, its
/// folder `{//}`. A command without places has it behind.
fn filled(command: &str, input: &str) -> String {
    if command.is_empty() {
        return input.to_owned();
    }
    if !["{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}"].iter().any(|place| command.contains(place)) {
        return format!("{command} {input}");
    }
    if !command.contains("{.") && !command.contains("{/") && !command.contains("{#") {
        return command.replace("{}", input);
    }
    let name = base_name(input);
    let stem = |text: &str| {
        text.rsplit_once('.')
            .filter(|(stem, _)| !stem.ends_with('/'))
            .map_or(text, |(stem, _)| stem)
            .to_owned()
    };
    let folder = input.rsplit_once('/').map_or(".", |(folder, _)| folder);
    command
        .replace("{}", input)
        .replace("{.}", &stem(input))
        .replace("{//}", folder)
        .replace("{/.}", &stem(name))
        .replace("{/}", name)
        .replace("{#}", "1")
}

/// The lines that a command with `{1}`, `{2}` becomes: one input of each source, in every combination.
fn by_place(command: &str, sources: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![command.to_owned()];
    for (at, source) in sources.iter().enumerate().take(8) {
        let mark = format!("{{{}}}", at + 1);
        if !command.contains(&mark) {
            continue;
        }
        let filled =
            |line: &String| source.iter().take(8).map(|input| line.replace(&mark, input)).collect::<Vec<_>>();
        lines = lines.iter().flat_map(filled).take(MOST).collect();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_goes_where_its_place_is_or_behind() {
        assert_eq!(filled("rm", "a/b.c"), "rm a/b.c");
        assert_eq!(filled("rm {} x", "a/b.c"), "rm a/b.c x");
        assert_eq!(filled("cp {} {.}.d {/} {//} {/.}", "a/b.c"), "cp a/b.c a/b.d b.c a b");
        assert_eq!(filled("", "rm a"), "rm a");
    }

    #[test]
    fn every_combination_of_two_sources_is_a_line() {
        let sources = [vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]];
        assert_eq!(by_place("mv {1} {2}", &sources), ["mv a c", "mv b c"]);
    }
}
