//! Kernel settings, modules, mounts, firewalls and other protections.

use super::Handler;
use super::opts::{Spec, parse};
use crate::effect::Kind;
use crate::place::Place;
use crate::walk::{Call, Flow, Walk};

/// The program with that name.
pub(crate) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "sysctl" => sysctl,
        "insmod" | "rmmod" | "modprobe" | "kexec" | "kextload" | "kextunload" | "dkms" | "bpftool"
        | "depmod" => module,
        "mount" | "umount" | "pivot_root" | "losetup" => mount,
        "iptables" | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "pfctl" | "ipfw" | "ebtables"
        | "iptables-restore" | "arptables" | "ipset" | "netsh" => firewall,
        "aa-complain" | "semanage" | "chcon" | "grubby" | "tpm2_clear" | "fail2ban-client" | "keyctl"
        | "pmset" | "setenforce" | "aa-disable" | "aa-teardown" | "auditctl" | "apparmor_parser"
        | "csrutil" | "spctl" | "tccutil" | "fdesetup" | "semodule" | "setsebool" | "mokutil" | "bcdedit"
        | "tmutil" | "nvram" => protection,
        "journalctl" | "logrotate" | "lastlog" | "utmpdump" | "wevtutil" | "log" => logs,
        "tc" | "ip" | "ifconfig" | "route" | "nmcli" | "ifdown" | "networksetup" | "resolvectl"
        | "iwconfig" | "rfkill" => interface,
        "date" | "hwclock" | "timedatectl" | "hostnamectl" | "localectl" => clock,
        "fwupdmgr" | "update-grub" | "grub-install" | "efibootmgr" | "update-initramfs" | "dracut"
        | "bless" => boot,
        "update-alternatives" | "alternatives" => alternatives,
        "augtool" | "ldconfig" | "locale-gen" | "dpkg-reconfigure" | "defaults" | "gsettings" | "dconf" => {
            defaults
        }
        _ => return None,
    })
}

fn words(call: Call<'_>) -> Vec<&str> {
    call.args.iter().map(|arg| &*arg.text).collect()
}

fn sysctl(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    if words
        .iter()
        .any(|word| matches!(*word, "-w" | "--write" | "-p" | "--load" | "--system") || word.contains('='))
    {
        walk.emit_names(Kind::Kernel, "changes kernel settings", call.span, &words);
    }
    Flow::none()
}

fn module(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    let shows = words.iter().any(|word| {
        matches!(*word, "-n" | "--dry-run" | "--show" | "list" | "status" | "-c" | "--showconfig" | "show")
    }) || (call.name == "depmod");
    let restarts = call.name == "kexec"
        && words.iter().any(|word| {
            *word == "--exec" || word.starts_with('-') && !word.starts_with("--") && word.contains('e')
        });
    if restarts {
        walk.emit_grave(Kind::Power, "restarts the machine", call.span);
    } else if !shows && !words.is_empty() {
        walk.emit_names(Kind::Kernel, "loads or removes kernel code", call.span, &words);
    }
    Flow::none()
}

fn mount(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let parsed = parse(
        call.args,
        Spec { short: "toLUOT", long: &["types", "options", "source", "target"], stops: false },
    );
    let words = words(call);
    if call.name == "losetup" {
        let disk = parsed.rest().skip(1).any(|arg| walk.target(&arg.text).place == Place::Device);
        if disk || parsed.has("D", "detach-all") || parsed.has("d", "detach") {
            walk.emit_names(Kind::Kernel, "takes disks away", call.span, &words);
        }
        return Flow::none();
    }
    if call.name == "umount" {
        let heavy = parsed.has("a", "all")
            || parsed.has("l", "lazy")
            || parsed.has("f", "force")
            || parsed.has("R", "recursive")
            || parsed.rest().any(|arg| walk.target(&arg.text).place >= Place::SystemTop);
        if heavy {
            walk.emit_names(Kind::Kernel, "takes file systems away", call.span, &words);
        }
    } else if parsed.rest().count() > 0 || parsed.value("o", "options").is_some() {
        let remount = parsed.value("o", "options").is_some_and(|options| options.contains("remount"));
        let over = parsed.rest().skip(1).last().is_some_and(|arg| {
            let target = walk.target(&arg.text);
            target.place >= Place::System && target.place != Place::Device
                || target.place == Place::Elsewhere
                    && !["/mnt", "/media", "/run/media", "/Volumes"]
                        .iter()
                        .any(|folder| target.text.starts_with(folder))
        });
        let bound = parsed.flags.iter().any(|flag| flag.long && flag.name.contains("bind"))
            || parsed.value("o", "options").is_some_and(|options| options.contains("bind"));
        if remount
            || over
            || parsed.has("M", "move")
            || (bound
                && parsed.rest().next().is_some_and(|arg| walk.target(&arg.text).place >= Place::SystemTop))
            || call.name == "pivot_root"
        {
            walk.emit_names(Kind::Kernel, "changes what is mounted in system places", call.span, &words);
        }
    }
    Flow::none()
}

fn firewall(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let changes = match call.name {
        "ufw" => {
            has(&["disable", "reset", "delete", "allow", "default", "deny", "reject"])
                && !has(&["status", "--dry-run"])
        }
        "firewall-cmd" => words.iter().any(|word| {
            word.starts_with("--remove")
                || word.starts_with("--panic")
                || word.starts_with("--set-default")
                || word.starts_with("--add")
        }),
        "pfctl" => has(&["-d", "-F"]) || words.iter().any(|word| word.starts_with("-F")),
        // nft takes its whole command as one word, too.
        "nft" => words
            .iter()
            .flat_map(|word| word.split_whitespace())
            .any(|word| matches!(word, "flush" | "delete" | "add" | "insert" | "destroy")),
        "netsh" => has(&["set", "delete", "reset", "add"]),
        "iptables-restore" => true,
        "ipset" => has(&["destroy", "flush", "-X", "-F"]),
        _ => words.iter().any(|word| {
            matches!(
                *word,
                "-F" | "-X"
                    | "-P"
                    | "-D"
                    | "-Z"
                    | "--flush"
                    | "--policy"
                    | "--delete"
                    | "--delete-chain"
                    | "-A"
                    | "-I"
                    | "--append"
                    | "--insert"
                    | "-R"
            )
        }),
    };
    if changes {
        walk.emit_names(Kind::Security, "changes the firewall", call.span, &words);
    }
    Flow::none()
}

fn protection(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let weakens = match call.name {
        "setenforce" => has(&["0", "Permissive", "permissive"]),
        "auditctl" => has(&["-e", "-D", "-d"]),
        "apparmor_parser" => words.iter().any(|word| word.starts_with("-R")),
        "csrutil" => has(&["disable"]),
        "spctl" => words.iter().any(|word| word.contains("disable")),
        "tmutil" => has(&["disable", "delete", "deletelocalsnapshots"]),
        "mokutil" => words.iter().any(|word| word.contains("disable")),
        "semodule" => has(&["-r", "-d"]),
        "semanage" => has(&["-a", "-d", "-D", "-m", "--add", "--delete"]),
        "grubby" => words.iter().any(|word| {
            word.starts_with("--update") || word.starts_with("--remove") || word.starts_with("--set")
        }),
        "fail2ban-client" => has(&["unban", "stop", "set", "reload"]),
        "keyctl" => has(&["clear", "purge", "revoke", "unlink", "invalidate"]),
        "pmset" => words.first().is_some_and(|word| {
            matches!(*word, "-a" | "-b" | "-c" | "sleepnow" | "restoredefaults" | "schedule")
        }),
        "bcdedit" => !has(&["/enum", "/v", "/?", "/export"]) && !words.is_empty(),
        "nvram" => has(&["-c", "-d"]) || words.iter().any(|word| word.contains('=')),
        _ => true,
    };
    if weakens {
        walk.emit_names(Kind::Security, "switches a protection off", call.span, &words);
    }
    Flow::none()
}

fn logs(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    let wipes = match call.name {
        "journalctl" => {
            words.iter().any(|word| word.starts_with("--vacuum") || *word == "--rotate" && words.len() > 1)
        }
        "logrotate" => words.iter().any(|word| matches!(*word, "-f" | "--force")),
        "wevtutil" => words.first().is_some_and(|verb| matches!(*verb, "cl" | "clear-log")),
        "log" => words.first() == Some(&"erase"),
        "lastlog" => words.iter().any(|word| matches!(*word, "-C" | "--clear")),
        _ => false,
    };
    if wipes {
        walk.emit_names(Kind::Traces, "wipes logs", call.span, &words);
    }
    Flow::unknown(crate::walk::Origin { local: true, ..crate::walk::Origin::default() })
}

fn interface(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    if let [first, second, _, rest @ ..] = call.args
        && call.name == "ip"
        && &*first.text == "netns"
        && &*second.text == "exec"
    {
        return super::run(walk, rest, call.stdin, call.span);
    }
    let words = words(call);
    let cuts = match call.name {
        "ip" => {
            words.windows(2).any(|pair| matches!(pair, ["set", _]) && words.contains(&"down"))
                || words.iter().any(|word| matches!(*word, "flush" | "del" | "delete"))
                || (words.contains(&"link") && words.contains(&"down"))
        }
        "tc" => words.iter().any(|word| matches!(*word, "add" | "del" | "delete" | "replace" | "change")),
        "ifconfig" => words.contains(&"down"),
        "route" => words.iter().any(|word| matches!(*word, "del" | "flush" | "delete")),
        "nmcli" => words.iter().any(|word| matches!(*word, "off" | "down" | "delete" | "disconnect")),
        "ifdown" => true,
        "networksetup" => words
            .iter()
            .any(|word| word.ends_with("off") || word.starts_with("-set") || word.starts_with("-remove")),
        "resolvectl" => {
            words.first().is_some_and(|verb| matches!(*verb, "dns" | "domain" | "revert" | "dnssec"))
                && words.len() > 2
        }
        "rfkill" => words.first() == Some(&"block"),
        _ => false,
    };
    if cuts {
        walk.emit_names(Kind::Kernel, "cuts network connections", call.span, &words);
    }
    Flow::unknown(crate::walk::Origin { local: true, ..crate::walk::Origin::default() })
}

fn clock(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    let sets = match call.name {
        "date" => words.iter().any(|word| {
            matches!(*word, "-s" | "--set") || word.starts_with("--set=") || word.starts_with("-s")
        }),
        "hwclock" => {
            words.iter().any(|word| matches!(*word, "-w" | "-s" | "--systohc" | "--hctosys" | "--set"))
        }
        _ => words.first().is_some_and(|verb| verb.starts_with("set-")),
    };
    if sets {
        walk.emit_names(Kind::Kernel, "changes machine settings", call.span, &words);
    }
    Flow::unknown(crate::walk::Origin::default())
}

fn boot(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    if call.name == "fwupdmgr" {
        if words.first().is_some_and(|verb| matches!(*verb, "update" | "install" | "downgrade" | "reinstall"))
        {
            walk.emit_names(Kind::Kernel, "replaces firmware", call.span, &words);
        }
        return Flow::none();
    }
    if call.name != "efibootmgr"
        || words.iter().any(|word| word.starts_with('-') && word.contains(['B', 'b', 'o', 'c', 'n']))
    {
        walk.emit_names(Kind::Kernel, "changes how the machine starts", call.span, &words);
    }
    Flow::none()
}

fn alternatives(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    if words.iter().any(|word| matches!(*word, "--set" | "--install" | "--config" | "--set-selections")) {
        walk.emit_names(Kind::Kernel, "replaces a program for everybody", call.span, &words);
    }
    if words.iter().any(|word| matches!(*word, "--remove" | "--remove-all")) {
        walk.emit_names(Kind::Package, "removes system-wide choices", call.span, &words);
    }
    Flow::none()
}

fn defaults(walk: &mut Walk<'_>, call: Call<'_>) -> Flow {
    let words = words(call);
    if matches!(words.first(), Some(&("delete" | "reset" | "reset-recursively")))
        || words.first() == Some(&"write")
            && words.get(1).is_some_and(|domain| domain.starts_with("/Library"))
        || matches!(call.name, "locale-gen") && words.contains(&"--purge")
        || call.name == "dpkg-reconfigure"
        || call.name == "augtool"
            && words.iter().any(|word| matches!(*word, "set" | "rm" | "mv" | "insert" | "save" | "setm"))
    {
        walk.emit_names(Kind::Kernel, "deletes settings", call.span, &words);
    }
    Flow::none()
}
