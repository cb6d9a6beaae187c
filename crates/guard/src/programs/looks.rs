//! Administration tools that may look but not touch: told by the words that only look.
//!
//! What such a tool can do to a machine is too much to list, and grows with every version. What
//! only shows is little and stays. Whatever is neither help nor one of these words is asked about.

use super::verbs;
use crate::effect::Kind;
use crate::walk::Arg;

/// One set of tools, and the words with which they only look, or make something new. A word that
/// ends in `*` is a beginning.
struct Tool {
    names: &'static [&'static str],
    looks: &'static [&'static str],
    kind: Kind,
    what: &'static str,
}

const fn tool(
    names: &'static [&'static str],
    looks: &'static [&'static str],
    kind: Kind,
    what: &'static str,
) -> Tool {
    Tool { names, looks, kind, what }
}

const DISK: &str = "changes what is on a disk";
const MACHINE: &str = "changes settings of the machine";
const SERVICE: &str = "changes a service";
const WALL: &str = "changes the firewall";

const TOOLS: &[Tool] = &[
    tool(
        &["zpool"],
        &[
            "status", "list", "get", "iostat", "history", "events", "scrub", "import", "version", "wait",
            "sync", "online",
        ],
        Kind::Device,
        DISK,
    ),
    tool(
        &["zfs"],
        &[
            "list",
            "get",
            "mount",
            "snapshot",
            "snap",
            "send",
            "holds",
            "hold",
            "diff",
            "userspace",
            "groupspace",
            "version",
            "create",
            "clone",
            "bookmark",
            "-n*",
        ],
        Kind::Device,
        DISK,
    ),
    tool(
        &["btrfs"],
        &[
            "show",
            "df",
            "usage",
            "list",
            "stats",
            "status",
            "scrub",
            "snapshot",
            "create",
            "get-default",
            "find-new",
            "sync",
            "du",
            "get",
            "defragment",
        ],
        Kind::Device,
        DISK,
    ),
    tool(
        &["cryptsetup"],
        &[
            "status",
            "luksDump",
            "isLuks",
            "benchmark",
            "open",
            "luksOpen",
            "luksUUID",
            "luksHeaderBackup",
            "close",
            "luksClose",
        ],
        Kind::Device,
        DISK,
    ),
    tool(
        &[
            "lvchange", "vgchange", "pvchange", "lvrename", "vgrename", "pvmove", "vgexport", "vgmerge",
            "vgsplit",
        ],
        &["-ay", "-t", "--test"],
        Kind::Device,
        DISK,
    ),
    tool(&["dmsetup"], &["ls", "info", "status", "table", "deps", "version"], Kind::Device, DISK),
    tool(
        &["snapper"],
        &["list", "ls", "status", "diff", "create", "get-config", "list-*"],
        Kind::Device,
        DISK,
    ),
    tool(&["timeshift"], &["--list*", "--check", "--create", "--snapshot-list"], Kind::Device, DISK),
    tool(&["hostnamectl"], &["status", "show"], Kind::Kernel, MACHINE),
    tool(
        &["timedatectl", "localectl"],
        &["status", "list-*", "show*", "timesync-status"],
        Kind::Kernel,
        MACHINE,
    ),
    tool(
        &["exportfs"],
        &["-v", "-s", "-ra", "-r", "-a", "-rv"],
        Kind::Security,
        "lets other machines write here",
    ),
    tool(&["route"], &["-n*", "-e*", "show", "get", "print", "PRINT", "-v"], Kind::Kernel, MACHINE),
    tool(
        &["update-alternatives", "alternatives"],
        &["--list", "--display", "--query", "--get-selections"],
        Kind::Kernel,
        MACHINE,
    ),
    tool(&["auditctl"], &["-l", "-s", "-v"], Kind::Security, "changes what is recorded"),
    tool(
        &["firewall-cmd"],
        &["--list*", "--get*", "--state", "--query*", "--check-config", "--info*", "--zone=*"],
        Kind::Security,
        WALL,
    ),
    tool(&["ufw"], &["status", "show", "app", "version"], Kind::Security, WALL),
    tool(
        &["rabbitmqctl"],
        &[
            "list_*",
            "status",
            "cluster_status",
            "environment",
            "report",
            "ping",
            "version",
            "await_*",
            "wait",
            "node_health_check",
            "help",
        ],
        Kind::Service,
        SERVICE,
    ),
    tool(
        &["nodetool"],
        &[
            "status",
            "info",
            "ring",
            "*stats",
            "describe*",
            "version",
            "get*",
            "gossipinfo",
            "*histograms",
            "snapshot",
            "listsnapshots",
            "flush",
            "repair",
            "compact",
        ],
        Kind::Service,
        SERVICE,
    ),
    tool(
        &["patronictl"],
        &["list", "history", "topology", "show-config", "version", "query", "dsn"],
        Kind::Service,
        SERVICE,
    ),
    tool(
        &["drbdadm"],
        &["status", "dump", "cstate", "role", "dstate", "sh-*", "up", "attach", "connect"],
        Kind::Service,
        SERVICE,
    ),
    tool(
        &["kafka-configs", "kafka-configs.sh"],
        &["--describe"],
        Kind::Database,
        "changes how messages are kept",
    ),
];

/// Whether a program is in the list at all.
pub(super) fn knows(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.names.contains(&name))
}

/// What a tool does that is more than looking.
pub(super) fn touches(name: &str, args: &[Arg<'_>]) -> Option<(Kind, &'static str)> {
    let tool = TOOLS.iter().find(|tool| tool.names.contains(&name))?;
    if args.is_empty() || verbs::only_shows(args) {
        return None;
    }
    let looks = args.iter().any(|arg| tool.looks.iter().any(|word| fits(word, &arg.text)));
    (!looks).then_some((tool.kind, tool.what))
}

fn fits(word: &str, text: &str) -> bool {
    if let Some(start) = word.strip_suffix('*') {
        return text.starts_with(start);
    }
    word.strip_prefix('*').map_or(word == text, |end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn touched(line: &str) -> bool {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let args: Vec<Arg<'_>> = words.map(|word| Arg { text: word.into(), span: Span::default() }).collect();
        touches(name, &args).is_some()
    }

    #[test]
    fn what_only_looks_is_left_alone() {
        for line in
            ["zpool status", "zfs list -t snapshot", "hostnamectl", "route -n", "rabbitmqctl list_queues"]
        {
            assert!(!touched(line), "{line}");
        }
    }

    #[test]
    fn everything_else_is_more_than_looking() {
        for line in [
            "zpool export -f tank",
            "zfs set readonly=on tank",
            "hostnamectl hostname x",
            "route add default",
        ] {
            assert!(touched(line), "{line}");
        }
    }
}
