//! Tools that are known here by one thing only: the words with which they do harm.
//!
//! A line is a set of programs, the words that make them dangerous (none: always), and what
//! that is. A word of two parts stands for two neighbours; one that ends in `*` is a beginning,
//! one that begins with it an end, one with both a part.

use crate::effect::Kind;
use crate::walk::Arg;

/// One set of programs and the words that matter.
struct Harm {
    names: &'static [&'static str],
    words: &'static [&'static str],
    kind: Kind,
    what: &'static str,
}

const fn harm(
    names: &'static [&'static str],
    words: &'static [&'static str],
    kind: Kind,
    what: &'static str,
) -> Harm {
    Harm { names, words, kind, what }
}

const STOPS: &str = "stops or takes down a service";
const ERASES: &str = "erases what is stored";
const DISK: &str = "changes what is on a disk";
const OPENS: &str = "opens this machine to the network";
const SENDS: &str = "sends local files to others";
const WEAKENS: &str = "weakens a protection of the system";
const CUTS: &str = "cuts the machine off a network";
const FLASHES: &str = "erases or replaces what a device runs";
const POWER: &str = "switches a machine off or restarts it";
const ACCOUNTS: &str = "changes accounts or who may log in";

const HARMS: &[Harm] = &[
    harm(&["vault"], &["remove-peer", "step-down", "unwrap"], Kind::Database, ERASES),
    harm(&["velero"], &["restore create", "backup delete", "schedule delete"], Kind::Cluster, ERASES),
    harm(&["argocd"], &["--prune", "--force"], Kind::Cluster, ERASES),
    harm(&["helm"], &["--force", "--reset-values"], Kind::Cluster, "replaces what runs"),
    harm(&["etcdctl", "etcdutl"], &["snapshot restore"], Kind::Database, ERASES),
    harm(&["setcap"], &["-r"], Kind::Permissions, "takes rights from a program"),
    harm(&["tailscale"], &["--exit-node*"], Kind::Kernel, "sends all traffic through another machine"),
    harm(&["uwsgi"], &["--stop", "--reload"], Kind::Service, STOPS),
    harm(
        &["gnome-session-quit", "qdbus"],
        &["--force", "--no-prompt", "--logout", "logout"],
        Kind::Power,
        POWER,
    ),
    harm(&["swaymsg", "i3-msg"], &["exit"], Kind::Power, POWER),
    harm(&["monit"], &["unmonitor"], Kind::Service, STOPS),
    harm(&["httpd", "apache2"], &["-k stop", "-k graceful-stop", "-k restart"], Kind::Service, STOPS),
    harm(
        &["mysql_secure_installation", "mysql_upgrade", "pg_upgrade"],
        &[],
        Kind::Database,
        "changes a whole database",
    ),
    harm(&["nmcli"], &["modify", "mod"], Kind::Kernel, CUTS),
    harm(&["ip"], &["replace", "change"], Kind::Kernel, CUTS),
    harm(&["vboxmanage"], &["poweroff", "unregistervm", "delete", "closemedium"], Kind::Container, STOPS),
    harm(
        &["grub-set-default", "grub-reboot", "grub-editenv", "grub-mkconfig", "update-grub2"],
        &[],
        Kind::Kernel,
        "changes how the machine starts",
    ),
    harm(
        &["gem"],
        &["sources --add", "sources -a", "sources --remove", "sources -r"],
        Kind::Package,
        "changes where packages come from",
    ),
    harm(
        &["npm"],
        &[
            "access public",
            "access restricted",
            "access grant",
            "access revoke",
            "dist-tag add",
            "dist-tag rm",
            "team destroy",
            "org rm",
            "profile set",
        ],
        Kind::Package,
        "changes what others get or may do",
    ),
    harm(&["heroku"], &["domains:clear", "domains:remove"], Kind::Cloud, ERASES),
    harm(&["nix"], &["wipe-history"], Kind::Package, "removes what could be gone back to"),
    harm(&["chef-client"], &["*wipe*", "*destroy*", "*remove*"], Kind::Cloud, ERASES),
    harm(&["octave", "matlab"], &["*rmdir(*", "*delete(*", "*unlink(*"], Kind::Delete, "deletes files"),
    harm(&["lvconvert"], &["--merge", "--repair", "--uncache"], Kind::Device, DISK),
    harm(&["hdparm"], &["-W0", "--dco-restore"], Kind::Device, DISK),
    harm(&["nvme"], &["delete-ns", "detach-ns", "reset", "subsystem-reset", "fw-*"], Kind::Device, DISK),
    harm(&["qemu-img"], &["commit", "snapshot -d", "snapshot -a", "--shrink", "rebase"], Kind::Device, DISK),
    harm(&["fastboot"], &["flash*", "erase", "oem", "format*", "-w", "set_active"], Kind::Device, FLASHES),
    harm(&["esptool", "esptool.py"], &["erase*", "burn*"], Kind::Device, FLASHES),
    harm(&["avrdude"], &["-e"], Kind::Device, FLASHES),
    harm(
        &["openocd", "st-flash", "nrfjprog", "pyocd"],
        &["*erase*", "erase", "--eraseall", "--recover"],
        Kind::Device,
        FLASHES,
    ),
    harm(
        &["dfu-util", "dfu-programmer", "heimdall"],
        &["-D", "--download", "flash", "erase"],
        Kind::Device,
        FLASHES,
    ),
    harm(
        &["idevicerestore", "flash_erase", "flash_eraseall", "nandwrite", "mtd_debug", "flashcp"],
        &[],
        Kind::Device,
        FLASHES,
    ),
    harm(&["xattr"], &["-c", "-cr", "-rc", "-dr *quarantine", "-rd *quarantine"], Kind::Security, WEAKENS),
    harm(&["nmcli"], &["-s", "--show-secrets"], Kind::ReadCredential, "prints secrets"),
    harm(&["socketfilterfw"], &["--set*", "off"], Kind::Security, WEAKENS),
    harm(
        &["dpkg-divert"],
        &["--add", "--rename", "--remove"],
        Kind::Package,
        "replaces programs of the system",
    ),
    harm(
        &["yum-config-manager", "dnf-config-manager"],
        &["--add-repo*"],
        Kind::Package,
        "changes where packages come from",
    ),
    harm(
        &["sshd", "dropbear", "telnetd", "in.telnetd"],
        &["-p*", "-o*", "-D", "-f*", "-R", "-E*", "-F", "-debug"],
        Kind::ReverseShell,
        OPENS,
    ),
    harm(&["dockerd", "containerd"], &["tcp://*", "--host=tcp*"], Kind::ReverseShell, OPENS),
    harm(&["redis-server"], &["--protected-mode no"], Kind::ReverseShell, OPENS),
    harm(
        &["jupyter", "jupyter-notebook", "jupyter-lab"],
        &["*token=*", "*password=*"],
        Kind::ReverseShell,
        OPENS,
    ),
    harm(&["code", "code-insiders", "cursor"], &["tunnel", "serve-web"], Kind::ReverseShell, OPENS),
    harm(&["adb"], &["tcpip"], Kind::ReverseShell, OPENS),
    harm(&["migrate"], &["drop", "down"], Kind::Database, ERASES),
    harm(&["hasura"], &["clear", "rollback"], Kind::Database, ERASES),
    harm(&["consul"], &["force-leave", "maint"], Kind::Cloud, STOPS),
    harm(&["vault"], &["-policy=root", "policy=root", "rekey", "generate-root"], Kind::Users, ACCOUNTS),
    harm(&["wp"], &["--role=administrator", "core update", "plugin deactivate"], Kind::Users, ACCOUNTS),
    harm(&["drush"], &["site:install", "sql:drop", "sql-drop", "site-install", "si"], Kind::Database, ERASES),
    harm(&["magento"], &["setup:uninstall"], Kind::Database, ERASES),
    harm(&["kamal", "mrsk"], &["remove", "stop", "rollback", "prune"], Kind::Cloud, STOPS),
    harm(&["mina", "cap"], &["rollback", "deploy:rollback"], Kind::Cloud, STOPS),
    harm(&["sst"], &["remove"], Kind::Cloud, ERASES),
    harm(&["cf"], &["unbind-*", "unmap-*", "unshare-*", "unset-*"], Kind::Cloud, ERASES),
    harm(&["mongoexport", "mongofiles"], &["delete", "delete_id"], Kind::Database, ERASES),
    harm(
        &["ansible-galaxy"],
        &["git+*", "http://*", "https://*"],
        Kind::RunDownloaded,
        "fetches plays from an address",
    ),
    harm(&["ansible-playbook"], &["*state=absent*", "*state=stopped*"], Kind::Cloud, ERASES),
    harm(&["ansible-pull"], &["-U", "--url*"], Kind::RunDownloaded, "fetches a play and runs it"),
    harm(&["pre-commit"], &["try-repo"], Kind::RunDownloaded, "fetches hooks and runs them"),
    harm(&["setpci"], &["*=*"], Kind::Kernel, "writes to the hardware"),
    harm(&["wrmsr"], &[], Kind::Kernel, "writes to the hardware"),
    harm(&["netplan"], &["apply", "try"], Kind::Kernel, "changes how the machine is connected"),
    harm(&["ldconfig"], &["-f", "-C"], Kind::Kernel, "changes which libraries programs load"),
    harm(&["ntpdate", "rdate"], &[], Kind::Kernel, "sets the clock from another machine"),
    harm(&["codesign"], &["--remove-signature"], Kind::Security, WEAKENS),
    harm(&["mdutil"], &["-E", "-d", "-i off"], Kind::Kernel, "changes settings of the system"),
    harm(
        &["apt", "apt-get", "aptitude", "dnf", "yum", "zypper"],
        &[
            "--allow-remove-essential",
            "--allow-downgrades",
            "--allow-unauthenticated",
            "--no-gpg-check*",
            "--nogpgcheck",
            "--add-repo*",
            "history undo",
            "history rollback",
            "addrepo",
            "ar",
        ],
        Kind::Package,
        "changes what the system is made of",
    ),
    harm(
        &["apt-mark", "dpkg"],
        &["unhold", "--force-*", "--set-selections"],
        Kind::Package,
        "changes what the system is made of",
    ),
    harm(&["portupgrade", "portmaster"], &["-a*"], Kind::Package, "changes what the system is made of"),
    harm(
        &["pip", "pip3"],
        &["--break-system-packages", "--trusted-host*"],
        Kind::Package,
        "changes what the system is made of",
    ),
    harm(
        &["flatpak"],
        &["remote-add", "remote-delete", "--no-gpg-verify"],
        Kind::Package,
        "changes where packages come from",
    ),
    harm(
        &["go"],
        &["GOFLAGS=-insecure", "GONOSUMDB=*", "GONOSUMCHECK=*", "GOINSECURE=*", "GOPROXY=*"],
        Kind::Security,
        WEAKENS,
    ),
    harm(
        &["nvm", "asdf", "fnm", "rbenv", "pyenv", "volta", "mise", "sdk"],
        &["uninstall"],
        Kind::Package,
        "removes a toolchain",
    ),
    harm(&["systemd-tmpfiles"], &["--remove", "--purge"], Kind::Delete, "deletes files"),
    harm(&["ipvsadm"], &["-C", "--clear", "-D"], Kind::Kernel, CUTS),
    harm(&["iw"], &["disconnect", "del"], Kind::Kernel, CUTS),
    harm(&["nft"], &["-f", "--file"], Kind::Security, WEAKENS),
    harm(&["sshuttle"], &["-r", "--remote"], Kind::Kernel, "sends all traffic through another machine"),
    harm(&["screen"], &["-X quit", "-X kill"], Kind::Kill, "ends other sessions"),
    harm(&["god", "circusctl"], &["terminate", "quit"], Kind::Service, STOPS),
    harm(&["crictl"], &["stop", "stopp", "rm", "rmp", "rmi"], Kind::Container, STOPS),
    harm(&["nomad"], &["drain", "-purge", "gc"], Kind::Cloud, STOPS),
    harm(&["etcdctl"], &["member remove", "defrag"], Kind::Database, ERASES),
    harm(&["werf", "helmsman"], &["dismiss", "purge"], Kind::Cloud, ERASES),
    harm(&["oc"], &["prune"], Kind::Cluster, ERASES),
    harm(&["smbclient"], &["*put *", "*mput *", "*del *"], Kind::SendOut, SENDS),
    harm(&["bootsect", "reagentc"], &["/nt60", "/nt52", "/disable", "/mbr"], Kind::Security, WEAKENS),
    harm(&["chkdsk"], &["/f", "/r", "/F", "/R", "/x"], Kind::Device, DISK),
    harm(&["createuser"], &[], Kind::Users, ACCOUNTS),
    harm(
        &["racadm", "redfishtool"],
        &["serveraction", "racreset*", "systemerase", "ForceOff"],
        Kind::Power,
        POWER,
    ),
    harm(&["smartctl"], &["-s off", "--smart=off", "security-*"], Kind::Device, DISK),
    harm(&["ethtool"], &["-s", "--change", "-E"], Kind::Kernel, CUTS),
    harm(&["cpupower"], &["*-set", "set"], Kind::Kernel, "changes how the machine runs"),
    harm(&["prlimit"], &["--pid", "-p"], Kind::Kernel, "changes the limits of other processes"),
    harm(&["stress", "stress-ng", "memtester"], &[], Kind::Kernel, "takes all the machine has"),
    harm(&["cupsdisable", "cupsreject", "lprm", "crm_standby"], &[], Kind::Service, STOPS),
    harm(&["crm", "pcs"], &["standby", "stop", "delete", "erase", "disable"], Kind::Service, STOPS),
    harm(
        &["drbdadm"],
        &["down", "detach", "disconnect", "invalidate", "wipe-md", "secondary"],
        Kind::Service,
        STOPS,
    ),
    harm(&["ctdb"], &["disable", "ban", "stop", "shutdown"], Kind::Service, STOPS),
    harm(&["esxcli", "vim-cmd"], &["shutdown", "kill", "remove", "*power.off"], Kind::Service, STOPS),
    harm(&["juju", "docker-machine"], &["kill-controller", "rm", "kill", "remove-*"], Kind::Cloud, ERASES),
    harm(&["rbd", "rados"], &["rm", "remove", "rmpool", "purge"], Kind::Cloud, ERASES),
    harm(&["ceph"], &["rm", "purge", "destroy", "zap", "out", "down"], Kind::Cloud, ERASES),
    harm(&["radosgw-admin"], &["user rm", "bucket rm"], Kind::Cloud, ERASES),
    harm(&["gluster"], &["stop", "delete", "reset", "detach", "remove-brick"], Kind::Cloud, ERASES),
    harm(&["nats"], &["rm", "purge", "del"], Kind::Database, ERASES),
    harm(&["hdfs", "hadoop"], &["-format", "-rm*", "-deleteSnapshot"], Kind::Database, ERASES),
    harm(&["kadmin", "kadmin.local"], &["delprinc*", "delete_principal*"], Kind::Users, ACCOUNTS),
    harm(&["ldapmodify", "ldapdelete", "ldappasswd", "ldapmodrdn"], &[], Kind::Users, ACCOUNTS),
    harm(&["samba-tool"], &["delete", "remove", "setpassword"], Kind::Users, ACCOUNTS),
    harm(&["smbpasswd"], &["-x", "-a", "-d"], Kind::Users, ACCOUNTS),
    harm(&["pam-auth-update", "authselect", "authconfig"], &["--*", "select"], Kind::Users, ACCOUNTS),
    harm(&["realm"], &["leave", "join"], Kind::Users, ACCOUNTS),
    harm(&["faillock", "faillog"], &["--reset", "-r"], Kind::Users, ACCOUNTS),
    harm(&["dseditgroup", "sysadminctl"], &["-o", "-add*", "-delete*", "-reset*"], Kind::Users, ACCOUNTS),
    harm(&["dmraid", "geli"], &["-E", "-x", "kill", "init", "detach"], Kind::Device, DISK),
    harm(&["arcconf", "ssacli", "hpssacli", "perccli", "tw_cli"], &["del*", "DELETE"], Kind::Device, DISK),
    harm(&["nvmecontrol", "camcontrol"], &["format", "sanitize", "security"], Kind::Device, DISK),
    harm(&["bioctl", "disklabel"], &["-d", "-c", "-w", "-e", "-E"], Kind::Device, DISK),
    harm(&["fdformat", "installboot", "sg_sanitize", "sg_unmap", "sg_write_same"], &[], Kind::Device, DISK),
    harm(&["trust"], &["anchor"], Kind::Security, "makes the system trust another authority"),
    harm(&["update-ca-certificates"], &["--fresh"], Kind::Security, WEAKENS),
    harm(&["systemsetup", "networksetup"], &["-set*"], Kind::Security, "changes settings of the system"),
    harm(&["defaults"], &["LoginHook", "LogoutHook", "LSQuarantine"], Kind::Security, WEAKENS),
    harm(&["profiles"], &["remove", "-R", "-D"], Kind::Security, WEAKENS),
    harm(&["tccutil"], &["reset"], Kind::Security, WEAKENS),
    harm(&["scutil"], &["--set"], Kind::Security, "changes settings of the system"),
    harm(&["fail2ban-client"], &["stop", "unban", "set"], Kind::Security, WEAKENS),
    harm(&["chcon", "setsebool", "aa-complain"], &[], Kind::Security, WEAKENS),
    harm(&["semodule", "apparmor_parser"], &["-r", "-d", "-i", "-R", "-B"], Kind::Security, WEAKENS),
    harm(&["semanage"], &["-a", "-d", "-m", "-D", "--add", "--delete"], Kind::Security, WEAKENS),
    harm(&["shorewall", "csf"], &["stop", "clear", "-x", "-f"], Kind::Security, WEAKENS),
    harm(&["ebtables", "arptables", "conntrack"], &["-F", "-D", "--flush"], Kind::Security, WEAKENS),
    harm(&["ipset", "ipfw"], &["flush", "destroy", "delete", "-f"], Kind::Security, WEAKENS),
    harm(&["clamscan"], &["--remove", "--remove=yes"], Kind::Delete, "deletes what it finds"),
    harm(&["arp"], &["-s", "-d"], Kind::Kernel, "changes how neighbours are found"),
    harm(&["brctl"], &["delbr", "delif"], Kind::Kernel, CUTS),
    harm(&["ovs-vsctl", "ovs-ofctl"], &["del-*", "emer-reset"], Kind::Kernel, CUTS),
    harm(&["rfkill"], &["block"], Kind::Kernel, CUTS),
    harm(&["dhclient"], &["-r"], Kind::Kernel, CUTS),
    harm(&["renice"], &["-n -*", "-1*", "-2*"], Kind::Kernel, "takes the processor from others"),
    harm(&["dmesg"], &["-C", "-c", "--clear", "--read-clear"], Kind::Traces, "empties the kernel's log"),
    harm(&["lastlog"], &["-C", "--clear", "-S"], Kind::Traces, "wipes records of logins"),
    harm(&["snmpset"], &[], Kind::Cloud, "changes a device on the network"),
    harm(&["apt-key"], &["add", "adv", "del"], Kind::Security, "changes whose packages are trusted"),
    harm(&["rpmkeys"], &["--import", "--erase"], Kind::Security, "changes whose packages are trusted"),
    harm(&["do-release-upgrade", "leapp"], &[], Kind::Package, "replaces the whole system"),
    harm(&["lt", "localtunnel"], &["--port", "-p"], Kind::ReverseShell, OPENS),
    harm(&["tailscale"], &["funnel", "serve"], Kind::ReverseShell, OPENS),
    harm(&["zrok", "expose"], &["share"], Kind::ReverseShell, OPENS),
    harm(&["devtunnel", "upterm"], &["host"], Kind::ReverseShell, OPENS),
    harm(
        &["tmate", "gotty", "ttyd", "wetty", "sshx", "teleconsole", "x11vnc", "vncserver", "frps"],
        &[],
        Kind::ReverseShell,
        OPENS,
    ),
    harm(&["croc", "wormhole", "magic-wormhole"], &["send"], Kind::SendOut, SENDS),
    harm(
        &["pastebinit", "wgetpaste", "nopaste", "fpaste", "megaput", "mega-put", "onionshare-cli"],
        &[],
        Kind::SendOut,
        SENDS,
    ),
    harm(&["ffsend", "gdrive", "dropbox_uploader.sh"], &["upload"], Kind::SendOut, SENDS),
    harm(&["telegram-send", "slackcat"], &["--file", "-f"], Kind::SendOut, SENDS),
    harm(&["ipfs"], &["add"], Kind::SendOut, SENDS),
];

/// Whether a program is in the list at all.
pub(super) fn knows(name: &str) -> bool {
    HARMS.iter().any(|harm| harm.names.contains(&name))
}

/// What a program with these words does that somebody should be asked about.
pub(super) fn of(name: &str, args: &[Arg<'_>]) -> Option<(Kind, &'static str)> {
    HARMS
        .iter()
        .find(|harm| {
            harm.names.contains(&name)
                && (harm.words.is_empty() && !args.is_empty()
                    || harm.words.iter().any(|word| said(word, args)))
        })
        .map(|harm| (harm.kind, harm.what))
        .or_else(|| controls(name, args).then_some((Kind::Service, STOPS)))
}

fn said(wanted: &str, args: &[Arg<'_>]) -> bool {
    let fits = |wanted: &str, text: &str| {
        if let Some(middle) = wanted.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
            return text.contains(middle);
        }
        wanted.strip_suffix('*').map_or_else(
            || wanted.strip_prefix('*').map_or(wanted == text, |end| text.ends_with(end)),
            |start| text.starts_with(start),
        )
    };
    match wanted.split_once(' ') {
        Some((first, second)) if !wanted.starts_with('*') => args
            .windows(2)
            .any(|pair| matches!(pair, [one, two] if fits(first, &one.text) && fits(second, &two.text))),
        _ => args.iter().any(|arg| fits(wanted, &arg.text)),
    }
}

/// Verbs with which a tool made to control something stops it or takes it away.
const CONTROLS: [&str; 42] = [
    "stop",
    "stopall",
    "down",
    "disable",
    "kill",
    "restart",
    "reset",
    "unload",
    "detach",
    "standby",
    "drain",
    "evict",
    "isolate",
    "fence",
    "suspend",
    "quit",
    "halt",
    "offline",
    "delete",
    "remove",
    "rm",
    "destroy",
    "purge",
    "flush",
    "wipe",
    "clear",
    "terminate",
    "abort",
    "unregister",
    "deregister",
    "revoke",
    "failover",
    "switchover",
    "reinit",
    "promote",
    "demote",
    "decommission",
    "remove-peer",
    "step-down",
    "unmonitor",
    "shutdown",
    "erase",
];

/// Whether a program made to control or administer something is told to stop or remove it.
fn controls(name: &str, args: &[Arg<'_>]) -> bool {
    let controller =
        ["ctl", "adm", "admin", "-cli", "-manager", "-client"].iter().any(|end| name.ends_with(end))
            && !["playerctl", "brightnessctl", "bluetoothctl", "audacious-ctl"].contains(&name);
    controller
        && args
            .iter()
            .map(|arg| &*arg.text)
            .find(|word| !word.starts_with('-'))
            .is_some_and(|verb| CONTROLS.contains(&verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Span;

    fn found(line: &str) -> bool {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let args: Vec<Arg<'_>> = words.map(|word| Arg { text: word.into(), span: Span::default() }).collect();
        of(name, &args).is_some()
    }

    #[test]
    fn words_that_do_harm_are_found_alone_in_pairs_and_by_their_beginning() {
        for line in [
            "lprm -",
            "radosgw-admin user rm --uid=x",
            "networksetup -setdnsservers Wi-Fi 203.0.113.5",
            "haproxyctl stop",
            "drbdadm down all",
        ] {
            assert!(found(line), "{line}");
        }
    }

    #[test]
    fn other_words_of_the_same_tools_are_not() {
        for line in [
            "ceph status",
            "radosgw-admin user list",
            "dmesg -T",
            "arp -a",
            "playerctl stop",
            "croc abc-def",
            "lprm",
        ] {
            assert!(!found(line), "{line}");
        }
    }
}
