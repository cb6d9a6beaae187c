//! Variables that make other programs run something.

use crate::effect::{Kind, Span};
use crate::place::Place;
use crate::walk::{Flow, HOLE, Walk};

/// Looks at an assignment for what it does by itself. `alone` tells `X=…` from `X=… command`.
pub(crate) fn set(walk: &mut Walk<'_>, name: &str, value: &str, alone: bool, span: Span) {
    if let Some(function) = name.strip_prefix("BASH_FUNC_") {
        // A shell that is started takes it for a function.
        let function = function.trim_end_matches(['%', '(', ')']);
        walk.run_text(&format!("{function}{value}"), &Flow::none(), span);
        return;
    }
    match name {
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" if !value.is_empty() && !known_library(value) => {
            walk.emit_names(Kind::Environment, "loads a library into every program", span, &[name, value]);
        }
        "PROMPT_COMMAND"
        | "GIT_SSH_COMMAND"
        | "GIT_SSH"
        | "GIT_PAGER"
        | "PAGER"
        | "MANPAGER"
        | "EDITOR"
        | "VISUAL"
        | "GIT_EDITOR"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_PROXY_COMMAND"
        | "GIT_SEQUENCE_EDITOR"
        | "LESSOPEN"
        | "LESSCLOSE"
        | "BROWSER"
        | "SUDO_ASKPASS"
        | "SSH_ASKPASS"
        | "GIT_ASKPASS"
        | "SUDO_EDITOR"
        | "BASH_COMMAND"
        | "FZF_DEFAULT_COMMAND"
        | "RSYNC_RSH"
        | "CC"
        | "CXX"
        | "RUSTC_WRAPPER" => {
            if name.ends_with("PAGER") || name == "GIT_EXTERNAL_DIFF" || name == "LESSOPEN" {
                from_nowhere(walk, value, span);
            }
            command(walk, value, span);
        }
        "MANOPT" if value.contains("-P") || value.contains("--pager") => {
            walk.emit_names(Kind::ToolProgram, "makes a tool run a program", span, &[name, value]);
        }
        "RIPGREP_CONFIG_PATH" if value.starts_with("/dev/fd/") || walk.target(value).place == Place::Temp => {
            walk.emit_names(Kind::ToolProgram, "takes options from a file nobody has seen", span, &[value]);
        }
        "BASH_ENV" | "ENV" if !value.is_empty() && value.contains('/') => {
            if !walk.scope.files.contains_key(&walk.path(value)) {
                walk.emit_names(
                    Kind::Environment,
                    "makes every shell read a file first",
                    span,
                    &[name, value],
                );
            }
            super::shells::script(walk, value, &[], &Flow::none(), span);
        }
        "PS1" | "PS2" | "PS4" if value.contains(['$', '`']) => {
            if let Some(inner) = value.split_once("$(").map(|(_, rest)| rest.trim_end_matches([')', ' '])) {
                command(walk, inner, span);
            }
        }
        "PERL5OPT" | "RUBYOPT" | "PYTHONSTARTUP" | "PYTHONINSPECT" if value.contains(['M', '/', 'r']) => {
            walk.emit_names(Kind::Environment, "makes an interpreter load code first", span, &[name, value]);
        }
        "NODE_OPTIONS"
            if value.contains("--require") || value.contains("-r ") || value.contains("--import") =>
        {
            walk.emit_names(Kind::Environment, "makes an interpreter load code first", span, &[name, value]);
        }
        "HISTFILE" if alone && (value == "/dev/null" || value.is_empty()) => {
            walk.emit(Kind::Traces, "switches shell history off", span);
        }
        "HISTSIZE" | "HISTFILESIZE" if alone && value == "0" => {
            walk.emit(Kind::Traces, "switches shell history off", span);
        }
        "PATH" => path(walk, value, span),
        "LD_LIBRARY_PATH" | "DYLD_LIBRARY_PATH" | "GCONV_PATH" | "GIT_EXEC_PATH" => path(walk, value, span),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS"
            if value.contains("-javaagent") || value.contains("-agentpath") =>
        {
            walk.emit_names(Kind::Environment, "makes an interpreter load code first", span, &[name, value]);
        }
        "DOTNET_STARTUP_HOOKS" | "npm_config_script_shell" | "PYTHONUSERBASE" if !value.is_empty() => {
            walk.emit_names(Kind::Environment, "makes an interpreter load code first", span, &[name, value]);
        }
        "GIT_SSL_NO_VERIFY" if !matches!(value, "" | "0" | "false") => unchecked(walk, name, span),
        "NODE_TLS_REJECT_UNAUTHORIZED" | "PYTHONHTTPSVERIFY" | "GIT_SSL_VERIFY" if value == "0" => {
            unchecked(walk, name, span);
        }
        "HERMES_YOLO_MODE" if !matches!(value, "" | "0" | "false") => {
            walk.emit_names(Kind::Agent, "switches the agent's questions off", span, &[name]);
        }
        _ if !alone && runs_value(name) && value.contains(' ') => command(walk, value, span),
        _ => {
            super::handed::script_in(walk, value, span);
        }
    }
}

/// Whether a variable by that name usually holds a command line: `CRASHPAGER`, `X_PASSWORD_COMMAND`.
fn runs_value(name: &str) -> bool {
    ["PAGER", "EDITOR", "_COMMAND", "_HOOK", "OPENER", "ASKPASS", "BROWSER", "PERL5DB"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// A tool shows its text by a program that is not one of the system's.
fn from_nowhere(walk: &mut Walk<'_>, value: &str, span: Span) {
    let program = value.trim_start_matches('|').split_whitespace().next().unwrap_or_default();
    if program.starts_with("./") || program.starts_with("/tmp/") || program.starts_with("../") {
        walk.emit_names(Kind::ToolProgram, "makes a tool run a program", span, &[program]);
    }
}

fn command(walk: &mut Walk<'_>, value: &str, span: Span) {
    if !value.is_empty() && !value.chars().all(|c| c == HOLE) {
        walk.run_text(value, &Flow::none(), span);
    }
}

/// Programs started from here on believe any server.
fn unchecked(walk: &mut Walk<'_>, name: &str, span: Span) {
    walk.emit_names(Kind::Security, "switches the check of certificates off", span, &[name]);
}

fn known_library(value: &str) -> bool {
    value.split([':', ' ']).all(|library| {
        [
            "jemalloc",
            "tcmalloc",
            "mimalloc",
            "libasan",
            "libtsan",
            "libubsan",
            "libfaketime",
            "libeatmydata",
            "stdbuf",
        ]
        .iter()
        .any(|known| library.contains(known))
    })
}

/// A folder for temporary files in front of the search path lets anybody replace programs.
fn path(walk: &mut Walk<'_>, value: &str, span: Span) {
    let first = value.split(':').next().unwrap_or_default();
    if matches!(first, "." | "/tmp" | "/var/tmp" | "/dev/shm")
        || (walk.target(first).place == Place::Temp
            && first.starts_with('/')
            && (value.contains(':') || !value.contains("bin")))
    {
        walk.emit_names(
            Kind::Environment,
            "searches for programs in a folder anybody can write",
            span,
            &[first],
        );
    }
}
