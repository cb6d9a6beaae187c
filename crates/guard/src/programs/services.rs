//! Services: systemd, init scripts, launchd, supervisors.

use super::Handler;
use super::opts::{Spec, parse};
use super::processes::power_verb;
use super::verbs;
use crate::effect::Kind;
use crate::walk::{Call, Flow, Origin, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "systemctl" => systemctl,
        "service" | "rc-service" | "invoke-rc.d" | "initctl" | "sv" | "supervisorctl" | "pm2" | "monit"
        | "s6-svc" | "runsvctrl" | "nssm" | "pg_ctl" | "pg_ctlcluster" | "rabbitmqctl" | "rcctl"
        | "svcadm" | "s6-rc" | "dinitctl" | "herd" | "shepherd" | "circusctl" | "forever" | "god"
        | "rabbitmqadmin" | "catalina.sh" | "varnishadm" => service,
        "rc-update" | "update-rc.d" | "chkconfig" => disable,
        "launchctl" => launchctl,
        "brew-services" => service,
        "nginx" | "apachectl" | "apache2ctl" | "httpd" => server,
        "stop" | "restart" => upstart,
        _ => return None,
    })
}

fn systemctl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let spec = Spec {
        short: "HMtpno",
        long: &[
            "host", "machine", "type", "property", "lines", "output", "state", "signal", "kill-who", "root",
            "job-mode", "message",
        ],
        stops: false,
    };
    let parsed = parse(call.args, spec);
    let verb = parsed.text(0);
    if power_verb(walk, verb, call.span) {
        return Flow::none();
    }
    let names: Vec<&str> = parsed.rest().skip(1).map(|arg| &*arg.text).collect();
    match verb {
        _ if verbs::only_shows(call.args) => {}
        "start" | "isolate" | "enable" if names.iter().any(|name| ends_the_machine(name)) => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", call.span);
        }
        "stop" | "restart" | "disable" | "mask" | "kill" | "try-restart" | "reload-or-restart"
        | "force-reload" | "condrestart" | "isolate" | "revert" | "clean" => {
            walk.emit_names(Kind::Service, service_word(verb), call.span, &names);
        }
        "daemon-reexec" => walk.emit(Kind::Service, "restarts the service manager", call.span),
        "start"
            if names
                .iter()
                .any(|name| ["rescue", "emergency"].contains(&name.trim_end_matches(".target"))) =>
        {
            walk.emit(Kind::Power, "switches the machine off or restarts it", call.span);
        }
        "set-default" | "link" | "edit" | "set-property" => {
            walk.emit_names(Kind::Service, "changes how services are set up", call.span, &names);
        }
        "enable"
            if parsed.has("", "user")
                || names.iter().any(|name| name.starts_with('/') || name.starts_with("./")) =>
        {
            walk.emit_startup("starts a unit by itself from now on", call.span);
        }
        _ => {}
    }
    Flow::unknown(Origin { local: true, ..Origin::default() })
}

/// Targets of systemd that switch the machine off or restart it.
fn ends_the_machine(unit: &str) -> bool {
    matches!(
        unit,
        "reboot.target"
            | "poweroff.target"
            | "halt.target"
            | "kexec.target"
            | "shutdown.target"
            | "runlevel0.target"
            | "runlevel6.target"
            | "systemd-reboot.service"
            | "systemd-poweroff.service"
            | "systemd-halt.service"
            | "ctrl-alt-del.target"
    )
}

fn service_word(verb: &str) -> &'static str {
    match verb {
        "stop" | "kill" => "stops a service",
        "disable" | "mask" => "disables a service",
        "isolate" => "stops every other service",
        _ => "restarts a service",
    }
}

fn service(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> =
        call.args.iter().map(|arg| &*arg.text).filter(|text| !text.starts_with('-')).collect();
    let stops = words.iter().any(|word| {
        matches!(
            *word,
            "stop"
                | "restart"
                | "force-stop"
                | "down"
                | "kill"
                | "delete"
                | "shutdown"
                | "try-restart"
                | "condrestart"
                | "full-restart"
                | "remove"
                | "force-restart"
                | "stop_app"
                | "reset"
                | "force_reset"
                | "disable"
                | "stopall"
                | "delete_vhost"
                | "purge_queue"
                | "delete_queue"
        )
    });
    if verbs::only_shows(call.args) {
        return Flow::none();
    }
    let flags = call.args.iter().any(|arg| matches!(&*arg.text, "-d" | "-k"))
        && matches!(call.name, "s6-svc" | "s6-rc");
    if stops || flags {
        walk.emit_names(Kind::Service, "stops or restarts a service", call.span, &words);
    }
    Flow::none()
}

fn disable(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    if words.iter().any(|word| matches!(*word, "del" | "delete" | "remove" | "disable" | "off" | "--del")) {
        walk.emit_names(Kind::Service, "disables a service", call.span, &words);
    } else if words.iter().any(|word| matches!(*word, "add" | "on" | "enable" | "defaults" | "--add")) {
        walk.emit_startup("starts a service by itself from now on", call.span);
    }
    Flow::none()
}

fn launchctl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(call.args, Spec::default());
    let words: Vec<&str> = parsed.rest().map(|arg| &*arg.text).collect();
    if words.iter().skip(1).any(|word| word.contains("hermes"))
        && !matches!(words.first(), Some(&("list" | "print")))
    {
        walk.emit_names(Kind::Agent, "stops or restarts the agent", call.span, &words);
        return Flow::none();
    }
    match words.first().copied().unwrap_or_default() {
        "unload" | "bootout" | "stop" | "kill" | "disable" | "remove" | "kickstart" => {
            walk.emit_names(Kind::Service, "stops a service", call.span, &words);
        }
        "load" | "bootstrap" | "submit" | "enable" => {
            walk.emit_startup("starts a job by itself from now on", call.span);
        }
        "reboot" => walk.emit_grave(Kind::Power, "restarts the machine", call.span),
        _ => {}
    }
    Flow::none()
}

fn server(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words: Vec<&str> = call.args.iter().map(|arg| &*arg.text).collect();
    let stops = matches!(words.as_slice(), [.., "-s" | "-k", "stop" | "quit" | "restart" | "graceful-stop"])
        || matches!(words.first(), Some(&("stop" | "restart")));
    if stops {
        walk.emit_names(Kind::Service, "stops a service", call.span, &[call.name]);
    }
    Flow::none()
}

fn upstart(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if walk.elevated && call.args.len() == 1 {
        walk.emit(Kind::Service, "stops a service", call.span);
    }
    Flow::none()
}
