//! Commands of `cmd` and cmdlets of PowerShell, by name.

use crate::effect::{How, Kind, Span, Target};
use crate::place::Place;
use crate::walk::{Flow, Walk};

/// The words that are paths: switches start with a dash, or with a slash and one letter.
pub(super) fn names(walk: &Walk<'_>, words: &[&str]) -> Vec<Target> {
    words
        .iter()
        .filter(|word| !(word.starts_with('-') || word.starts_with('/') && word.len() <= 3))
        .map(|word| target(walk, word))
        .collect()
}

/// A path as a target; those of other systems are told by how they begin.
pub(super) fn target(walk: &Walk<'_>, path: &str) -> Target {
    let relative = !path.contains(':') && !path.starts_with(['\\', '%', '$', '~', '/']);
    if relative
        && let Some(folder) =
            walk.scope.cwd.strip_prefix('/').filter(|cwd| cwd.as_bytes().get(1) == Some(&b':'))
    {
        let whole = format!(
            "{}\\{}",
            folder.replace('/', "\\"),
            path.trim_start_matches(".\\").trim_start_matches("./")
        );
        return Target { place: windows_place(&whole), text: whole };
    }
    let place = windows_place(path);
    let posix = path.starts_with('~') || path.starts_with('/') && !path.starts_with("//");
    if posix && place == Place::Elsewhere {
        return walk.target(&path.replace('\\', "/"));
    }
    Target { text: crate::walk::shown(path), place }
}

pub(super) fn windows_place(path: &str) -> Place {
    let lower = path.to_ascii_lowercase().replace('/', "\\");
    // A relative path, from where the work is done.
    let relative = !lower.contains(':') && !lower.starts_with(['\\', '%', '$', '~']);
    let inside = lower.replace('\\', "/");
    if relative
        && !inside.contains("..")
        && crate::rebuilt::rebuilt(&format!("/work/{}", inside.trim_start_matches("./")))
    {
        return Place::Rebuilt;
    }
    let bare = lower.trim_end_matches(['\\', '*', '.', '"']);
    if bare.starts_with("%temp%") || bare.starts_with("%tmp%") || bare.starts_with("$env:temp") {
        return Place::Temp;
    }
    if matches!(bare, "c:" | "d:" | "%systemdrive%" | "$env:systemdrive" | "\\")
        || (bare.len() == 2 && bare.ends_with(':'))
    {
        Place::Root
    } else if [
        "c:\\windows",
        "c:windows",
        "%windir%",
        "%systemroot%",
        "$env:windir",
        "$env:systemroot",
        "c:\\program files",
        "c:program",
    ]
    .iter()
    .any(|top| bare.starts_with(top))
    {
        Place::SystemTop
    } else if matches!(bare, "c:\\users" | "c:users" | "%userprofile%" | "$home" | "$env:userprofile" | "~")
        || bare.strip_prefix("c:\\users\\").is_some_and(|user| !user.contains('\\') && user != "public")
    {
        Place::HomeTop
    } else {
        Place::Elsewhere
    }
}

/// Whether a name is one of those judged here, or starts a Windows shell.
pub(in crate::programs) fn known(name: &str) -> bool {
    name.contains('-') || COMMANDS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Names without a dash, which cmdlets always have.
const COMMANDS: [&str; 50] = [
    "cmd",
    "powershell",
    "pwsh",
    "del",
    "erase",
    "rd",
    "rmdir",
    "ri",
    "rm",
    "format",
    "diskpart",
    "shutdown",
    "taskkill",
    "spps",
    "sc",
    "net",
    "net1",
    "reg",
    "vssadmin",
    "wbadmin",
    "wmic",
    "cipher",
    "robocopy",
    "fsutil",
    "attrib",
    "wsl",
    "bcdedit",
    "wevtutil",
    "iex",
    "takeown",
    "icacls",
    "cacls",
    "schtasks",
    "certutil",
    "mshta",
    "regsvr32",
    "rundll32",
    "bitsadmin",
    "tasklist",
    "runas",
    "cscript",
    "wscript",
    "msiexec",
    "copy",
    "xcopy",
    "forfiles",
    "manage-bde",
    "dism",
    "ren",
    "move",
];

#[expect(clippy::too_many_lines, reason = "a table of commands")]
/// One command or cmdlet, in lower case; false when it is not known.
pub(super) fn verb(walk: &mut Walk<'_>, name: &str, words: &[&str], span: Span, stdin: &Flow) -> bool {
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let has = |wanted: &str| lower.iter().any(|word| word == wanted);
    let short = |prefix: &str| lower.iter().any(|word| word.starts_with(prefix));
    let recursive = How { recursive: true, ..How::default() };
    if lower.iter().any(|word| word == "-whatif" || word == "/?" || word == "-?") {
        return true;
    }
    match name {
        "del" | "erase" => walk.emit_on(
            Kind::Delete,
            "deletes files",
            span,
            names(walk, words),
            How { recursive: has("/s") || has("/f") || has("/q"), ..How::default() },
        ),
        "rd" => walk.emit_on(Kind::Delete, "deletes folders", span, names(walk, words), recursive),
        "rmdir" if has("/s") || has("/q") => {
            walk.emit_on(Kind::Delete, "deletes folders", span, names(walk, words), recursive);
        }
        // The shell of another language has the same name, and so has a reader of manuals.
        "iex"
            if lower
                .iter()
                .any(|word| matches!(word.as_str(), "-s" | "--erl" | "--sname" | "--name" | "--remsh")) => {}
        "ri" if words.is_empty() && !stdin.present() => {}
        "remove-item" | "ri" | "rm" | "rmdir" | "clear-content" | "clear-item" => {
            let how =
                How { recursive: short("-r") || short("-fo") || name == "clear-content", ..How::default() };
            let mut targets = names(walk, words);
            if targets.is_empty() {
                // What the pipe brings.
                targets.push(Target { text: "…".to_owned(), place: Place::Elsewhere });
            }
            walk.emit_on(Kind::Delete, "deletes files or folders", span, targets, how);
        }
        "format"
            if lower.iter().any(|word| {
                word.ends_with(':') || word.starts_with("/fs") || word == "/q" || word == "/y"
            }) =>
        {
            walk.emit_on(
                Kind::Device,
                "formats a disk",
                span,
                names(walk, words),
                How { grave: true, ..How::default() },
            );
        }
        "diskpart" => {
            let script = lower.iter().position(|word| word == "/s").and_then(|at| words.get(at + 1));
            let known = script
                .and_then(|file| {
                    // Under the name it has here, or the one a shell without drives has made of it.
                    let files = &walk.scope.files;
                    files.get(&walk.path(&super::posix(file))).or_else(|| files.get(&walk.path(file)))
                })
                .map(|flow| flow.seen().to_ascii_lowercase());
            let told = known.unwrap_or_else(|| stdin.seen().to_ascii_lowercase());
            let grave = ["clean", "format"].iter().any(|verb| told.contains(verb));
            walk.emit_on(
                Kind::Device,
                "changes what is on a disk",
                span,
                Vec::new(),
                How { grave, ..How::default() },
            );
        }
        "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition" | "set-disk" => {
            walk.emit_on(
                Kind::Device,
                "changes what is on a disk",
                span,
                names(walk, words),
                How { grave: matches!(name, "format-volume" | "clear-disk"), ..How::default() },
            );
        }
        "stop-computer" | "restart-computer" => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "shutdown" if has("/s") || has("/r") || has("/p") || has("/g") || has("-s") || has("-r") => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "stop-process" | "taskkill" | "spps" => {
            let forced = short("-f") || has("/f");
            walk.emit_on(
                Kind::Kill,
                if forced { "ends processes by force" } else { "ends processes" },
                span,
                Vec::new(),
                How { recursive: forced, ..How::default() },
            );
        }
        "stop-service" | "restart-service" | "suspend-service" | "remove-service" => {
            walk.emit_names(Kind::Service, "stops a service", span, words);
        }
        "sc" if lower.iter().any(|word| matches!(word.as_str(), "stop" | "delete" | "config")) => {
            walk.emit_names(Kind::Service, "stops or removes a service", span, words);
        }
        "net" | "net1" => match lower.first().map(String::as_str) {
            Some("stop") => walk.emit_names(Kind::Service, "stops a service", span, words),
            Some("user" | "localgroup") if lower.len() > 2 => {
                walk.emit_names(Kind::Users, "changes accounts or groups", span, words);
            }
            _ => return false,
        },
        "reg"
            if lower
                .iter()
                .any(|word| matches!(word.as_str(), "delete" | "add" | "import" | "restore" | "save")) =>
        {
            if has("delete")
                || has("import")
                || has("restore")
                || has("save")
                || lower.iter().any(|word| word.contains("\\run") || word.contains("currentversion"))
            {
                walk.emit_names(Kind::Kernel, "changes the registry", span, words);
            }
        }
        "remove-itemproperty" => walk.emit_names(Kind::Kernel, "changes the registry", span, words),
        "wmic" if lower.iter().any(|word| matches!(word.as_str(), "reboot" | "win32shutdown")) => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "vssadmin" | "wbadmin" | "wmic" if lower.iter().any(|word| word == "delete" || word == "resize") => {
            walk.emit_names(Kind::Security, "deletes backups", span, words);
        }
        "wmic" if lower.iter().any(|word| word == "call" || word == "terminate") => {
            walk.emit_names(Kind::Kill, "runs or ends processes", span, words);
        }
        "robocopy" if has("/mir") || has("/purge") => {
            walk.emit_on(Kind::Delete, "deletes what the source lacks", span, names(walk, words), recursive);
        }
        "fsutil"
            if lower.iter().any(|word| {
                word == "setzerodata" || word == "delete" || word == "deletejournal" || word == "usn"
            }) =>
        {
            walk.emit_names(Kind::Device, "changes what is on a disk", span, words);
        }
        "attrib" if has("/s") => {
            walk.emit_names(Kind::Permissions, "changes many files' attributes", span, words);
        }
        "wsl" if has("--unregister") => {
            walk.emit_names(Kind::Container, "removes a Linux system", span, words);
        }
        "cipher" if short("/w") => walk.emit(Kind::Delete, "wipes free space", span),
        "bcdedit" => walk.emit_names(Kind::Security, "changes how the machine starts", span, words),
        "set-executionpolicy" => walk.emit_names(Kind::Security, "lets any script run", span, words),
        "set-mppreference"
        | "add-mppreference"
        | "disable-netfirewallrule"
        | "set-netfirewallprofile"
        | "uninstall-windowsfeature"
        | "disable-windowsoptionalfeature" => {
            walk.emit_names(Kind::Security, "switches a protection off", span, words);
        }
        "clear-eventlog" | "remove-eventlog" | "clear-history" | "wevtutil" => {
            walk.emit_names(Kind::Traces, "wipes logs", span, words);
        }
        "invoke-expression" | "iex" => {
            let fetched = stdin.origin.network
                || lower.iter().any(|word| {
                    word.contains("iwr")
                        || word.contains("irm")
                        || word.contains("invoke-web")
                        || word.contains("invoke-rest")
                        || word.contains("download")
                        || word.contains("http")
                });
            if fetched {
                walk.emit(Kind::RunDownloaded, "runs text from the network", span);
            } else {
                walk.emit(Kind::RunUnseen, "runs text as a command", span);
            }
        }
        "takeown" | "icacls" | "cacls" | "set-acl" => {
            if name == "takeown"
                || name == "set-acl"
                || lower.iter().any(|word| {
                    word.contains("everyone") || word.contains("/grant") || word.contains("/reset")
                })
            {
                walk.emit_names(Kind::Permissions, "changes who may use files", span, words);
            }
        }
        "schtasks" if has("/create") || has("/delete") || has("/change") => {
            walk.emit_startup("changes scheduled tasks", span);
        }
        "register-scheduledtask" | "new-service" => {
            walk.emit_startup("starts something by itself from now on", span);
        }
        "start-process" => {
            if short("-verb") {
                walk.emit_names(Kind::Privilege, "starts a program with more rights", span, words);
            }
            if stdin.origin.network {
                walk.emit_names(Kind::RunDownloaded, "starts a program that was just fetched", span, words);
            }
        }
        "certutil" if lower.iter().any(|word| word.contains("urlcache") || word.contains("decode")) => {
            walk.emit_names(Kind::RunDecoded, "fetches or decodes a file with certutil", span, words);
        }
        "mshta" | "regsvr32" | "rundll32" | "bitsadmin"
            if lower.iter().any(|word| word.contains("http") || word.contains("javascript")) =>
        {
            walk.emit_names(Kind::RunDownloaded, "runs text from the network", span, words);
        }
        "remove-aduser"
        | "remove-localuser"
        | "new-localuser"
        | "disable-localuser"
        | "add-localgroupmember" => walk.emit_names(Kind::Users, "changes accounts or groups", span, words),
        "copy" | "move" | "xcopy" | "ren" | "rename" | "copy-item" | "move-item" | "set-content"
        | "add-content" | "out-file" | "new-item" | "rename-item" => {
            let paths = names(walk, words);
            let system = paths.iter().any(|target| {
                matches!(target.place, Place::SystemTop | Place::Root | Place::SystemConfig | Place::Startup)
            });
            let starts = lower.iter().any(|word| {
                word.contains("\\startup\\")
                    || word.contains("$profile")
                    || word.contains("/.config/powershell/")
            });
            let nowhere = name.starts_with("move")
                && paths.last().is_some_and(|last| last.text.eq_ignore_ascii_case("nul"));
            if nowhere {
                walk.emit_on(Kind::Delete, "moves things away", span, paths, recursive);
            } else if system
                && !(paths.first().is_some_and(|first| paths.len() == 2 && first.place == Place::SystemTop)
                    && matches!(name, "copy" | "xcopy" | "copy-item"))
            {
                walk.emit_names(Kind::Kernel, "writes into a folder of the system", span, words);
            } else if starts {
                walk.emit_startup("starts something by itself from now on", span);
            } else {
                return false;
            }
        }
        "forfiles" => {
            if let Some(at) = lower.iter().position(|word| word == "/c") {
                super::cmd::text(
                    walk,
                    &words
                        .get(at + 1..)
                        .unwrap_or_default()
                        .join(" ")
                        .replace("@file", "*")
                        .replace("@path", "*"),
                    span,
                );
            }
        }
        "disable-netadapter" | "remove-netipaddress" | "disable-netadapterbinding" => {
            walk.emit_names(Kind::Kernel, "cuts network connections", span, words);
        }
        "manage-bde"
            if lower
                .iter()
                .any(|word| word == "-off" || word == "-forcerecovery" || word == "-wipefreespace") =>
        {
            walk.emit_names(Kind::Security, "changes the encryption of a disk", span, words);
        }
        "disable-bitlocker"
        | "remove-mppreference"
        | "remove-netfirewallrule"
        | "disable-computerrestore" => {
            walk.emit_names(Kind::Security, "switches a protection off", span, words);
        }
        "rundll32" if lower.iter().any(|word| word.contains("exitwindows") || word.contains("shutdown")) => {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "rundll32"
            if lower
                .iter()
                .any(|word| word.contains("setsuspendstate") || word.contains("lockworkstation")) =>
        {
            walk.emit(Kind::Power, "puts the machine to sleep", span);
        }
        "set-itemproperty" | "new-itemproperty" | "sp"
            if lower.iter().any(|word| {
                word.starts_with("hklm:") || word.starts_with("hkcu:") || word.contains("registry::")
            }) =>
        {
            walk.emit_names(Kind::Kernel, "changes the registry", span, words);
        }
        "invoke-cimmethod" | "invoke-wmimethod"
            if lower.iter().any(|word| word.contains("shutdown") || word.contains("reboot")) =>
        {
            walk.emit_grave(Kind::Power, "switches the machine off or restarts it", span);
        }
        "clear-recyclebin" => walk.emit(Kind::Delete, "empties the trash", span),
        "remove-adcomputer" | "remove-adgroup" | "remove-adobject" | "set-aduser" | "set-localuser"
        | "remove-localgroup" => {
            walk.emit_names(Kind::Users, "changes accounts or groups", span, words);
        }
        "unregister-scheduledtask" | "disable-scheduledtask" | "set-service" => {
            walk.emit_names(Kind::Service, "changes services or scheduled tasks", span, words);
        }
        "uninstall-package" | "remove-appxpackage" | "uninstall-module" => {
            walk.emit_names(Kind::Package, "removes packages", span, words);
        }
        "dism" if lower.iter().any(|word| word.contains("remove") || word.contains("disable-feature")) => {
            walk.emit_names(Kind::Package, "removes parts of the system", span, words);
        }
        "remove-azresourcegroup" | "remove-azvm" | "remove-vm" | "stop-vm" => {
            walk.emit_names(Kind::Cloud, "deletes machines", span, words);
        }
        _ => return false,
    }
    true
}
