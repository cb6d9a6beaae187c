//! The lists behind [`crate::place`]: names of folders and files that mean something.

use crate::paths::{secret_in_home, secret_of_system};
use crate::place::{Ground, Place, within};

/// Folders a system does not survive losing.
pub(crate) const SYSTEM_TOPS: [&str; 22] = [
    "/etc",
    "/usr",
    "/var",
    "/bin",
    "/sbin",
    "/boot",
    "/lib",
    "/lib64",
    "/lib32",
    "/sys",
    "/proc",
    "/dev",
    "/usr/bin",
    "/usr/lib",
    "/usr/sbin",
    "/usr/local",
    "/usr/share",
    "/var/lib",
    "/System",
    "/Library",
    "/Applications",
    "/run",
];

/// Homes and the folders that hold them.
pub(crate) const HOME_TOPS: [&str; 4] = ["/home", "/root", "/Users", "/var/root"];

/// Folders for temporary files.
pub(crate) const TEMP: [&str; 6] =
    ["/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/var/folders", "/run/user"];

/// Whether a file is one that programs keep their data in.
pub(crate) fn keeps_data(path: &str) -> bool {
    [".db", ".sqlite", ".sqlite3", ".mdb", ".kdbx", ".rdb", ".aof", ".tfstate", ".pem", ".key"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Whether a file is a copy of a whole database.
pub(crate) fn is_dump(path: &str) -> bool {
    [".sql", ".dump", ".bak", ".sqlite", ".sqlite3", ".db", ".rdb", ".bson"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Whether the name of a file of statements says that they remove things.
pub(crate) fn named_for_loss(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".sql", ".cql", ".js", ".redis"].iter().find_map(|end| name.strip_suffix(end)).is_some_and(|stem| {
        stem.split(['-', '_', '.']).any(|part| {
            matches!(
                part,
                "drop" | "wipe" | "delete" | "destroy" | "purge" | "truncate" | "nuke" | "erase" | "reset"
            )
        })
    })
}

/// Whether a file records who was logged in.
pub(crate) fn records_logins(path: &str) -> bool {
    matches!(path, "/var/log/wtmp" | "/var/log/btmp" | "/var/log/lastlog" | "/run/utmp" | "/var/run/utmp")
}

/// Files and folders with a meaning of their own, wherever the workspace is.
pub(crate) fn marked(path: &str, ground: Ground<'_>) -> Option<Place> {
    let inside = |folder: &String| below(path, folder);
    if let Some(place) = ground.agent.iter().filter_map(inside).find_map(agent_file) {
        return Some(place);
    }
    // Whoever chose such a folder to work in has answered.
    let taught = |folder: &&String| within(path, folder) && !within(ground.workspace, folder);
    if ground.skills.iter().any(|folder| taught(&folder)) {
        return Some(Place::AgentConfig);
    }
    if let Some(inside) = home_relative(path, ground)
        && let Some(place) = home_file(inside)
    {
        return Some(place);
    }
    if let Some(place) = system_file(path) {
        return Some(place);
    }
    let last = path.rsplit('/').next().unwrap_or(path);
    if !path.bytes().any(|b| b == b'.') {
        return matches!(last, "id_rsa" | "id_ed25519" | "id_ecdsa" | "id_dsa" | "authorized_keys")
            .then_some(Place::Credential);
    }
    if let Some((_, inside)) = path.split_once("/.git/") {
        if inside.starts_with("hooks/") || inside == "hooks" {
            return (!inside.ends_with(".sample")).then_some(Place::Startup);
        }
        return Some(if inside == "config" { Place::Startup } else { Place::GitData });
    }
    match last {
        ".git" => Some(Place::GitData),
        "usercustomize.py" | "sitecustomize.py" => Some(Place::Startup),
        _ if last.ends_with(".pth") && path.contains("-packages/") => Some(Place::Startup),
        "config.yaml" => Some(Place::ProjectEnv),
        ".envrc" | ".netrc" | ".pgpass" | ".npmrc" | ".pypirc" => Some(Place::Startup),
        ".git-credentials" | "master.key" | "credentials.json" | "service-account.json" => {
            Some(Place::Credential)
        }
        "id_rsa" | "id_ed25519" | "id_ecdsa" | "id_dsa" | "authorized_keys" => Some(Place::Credential),
        _ if last.starts_with(".env") => env_file(last),
        _ => None,
    }
}

fn env_file(name: &str) -> Option<Place> {
    let rest = name.strip_prefix(".env")?;
    if [".md", ".txt", ".rb", ".js", ".ts", ".py", ".rs", ".go"].iter().any(|end| name.ends_with(end)) {
        return None;
    }
    let template = ["example", "sample", "template", "dist", "defaults", "schema", "test", "ci"]
        .iter()
        .any(|t| rest.contains(t));
    ((rest.is_empty() || rest.starts_with(['.', '*', '-', '_'])) && !template).then_some(Place::ProjectEnv)
}

/// The part of the path below a home, also below somebody else's.
fn home_relative<'p>(path: &'p str, ground: Ground<'_>) -> Option<&'p str> {
    if ground.home.len() > 1
        && let Some(rest) = path.strip_prefix(ground.home).and_then(|rest| rest.strip_prefix('/'))
    {
        return Some(rest);
    }
    if let Some(rest) = path.strip_prefix("/root/") {
        return Some(rest);
    }
    let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
    rest.split_once('/').map(|(_, inside)| inside)
}

pub(crate) const PROFILES: [&str; 51] = [
    ".shrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pythonrc",
    ".pythonrc.py",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
    ".zprofile",
    ".bash_login",
    ".bash_logout",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".gitconfig",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".bash_aliases",
    ".inputrc",
    ".vimrc",
    ".tmux.conf",
    ".condarc",
    ".pam_environment",
    ".emacs",
    ".gvimrc",
    ".exrc",
    ".nanorc",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".sqliterc",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".hgrc",
    ".direnvrc",
    ".screenrc",
    ".xsessionrc",
    ".lesskey",
    ".lessfilter",
    ".curlrc",
    ".wgetrc",
    ".forward",
    ".procmailrc",
    ".mailcap",
];

const SECRETS: [&str; 27] = [
    ".config/doctl",
    ".wrangler/config",
    ".subversion/auth",
    ".aws/credentials",
    ".aws/sso/cache",
    ".config/gcloud",
    ".kube/config",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/share/keyrings",
    ".config/op",
    ".terraform.d/credentials.tfrc.json",
    "Library/Keychains",
    ".mozilla/firefox",
    ".config/google-chrome",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    ".config/chromium",
    ".config/rclone/rclone.conf",
    ".config/sops",
    ".gem/credentials",
    ".m2/settings.xml",
    ".config/hcloud",
    ".snowflake",
];

const RUNS: [&str; 43] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".config/opencode",
    ".config/autostart",
    ".config/systemd/user",
    ".config/fish",
    ".config/git/config",
    ".config/environment.d",
    "Library/LaunchAgents",
    ".local/share/systemd/user",
    ".config/nushell",
    ".config/direnv",
    ".config/i3",
    ".config/sway",
    ".config/hypr",
    ".config/openbox",
    ".config/lxsession",
    ".config/plasma-workspace",
    ".config/autostart-scripts",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".config/pip",
    ".pip",
    ".cargo/config",
    ".cargo/config.toml",
    ".config/nvim",
    ".vim",
    ".emacs.d/init.el",
    ".config/emacs",
    ".ipython/profile_default/startup",
    ".config/tmux",
    ".config/kitty",
    ".config/powershell",
    ".config/zsh",
    ".bashrc.d",
    ".gradle/init.d",
    ".config/mise",
    ".git-templates",
    ".ipython/profile_default/ipython_config.py",
];

/// Programs that everybody calls by their bare name: another one of that name goes first.
const CALLED: [&str; 20] = [
    "sudo", "su", "ssh", "scp", "git", "ls", "cat", "rm", "cp", "mv", "ps", "sh", "bash", "zsh", "gpg",
    "curl", "passwd", "login", "cd", "less",
];

fn home_file(inside: &str) -> Option<Place> {
    if let Some(name) = inside.strip_prefix(".local/bin/").or_else(|| inside.strip_prefix("bin/"))
        && CALLED.contains(&name)
    {
        return Some(Place::Startup);
    }
    if !inside.starts_with(['.', 'L', 'A', 's']) && !inside.bytes().any(|b| b == b'.') {
        // Every name in the lists below begins or ends otherwise.
        return None;
    }
    let first = inside.split('/').next().unwrap_or(inside);
    let spelled =
        first.bytes().filter(u8::is_ascii_alphabetic).count() >= 4 && first.contains(['*', '?', '[']);
    if inside == first
        && (PROFILES.contains(&first)
            || spelled && PROFILES.iter().any(|name| crate::walk::glob_matches(first, name)))
    {
        return Some(Place::Startup);
    }
    match first {
        ".ssh" => {
            let name = inside.strip_prefix(".ssh").unwrap_or_default().trim_start_matches('/');
            let public = name.ends_with(".pub") || name.starts_with("known_hosts");
            return Some(if name.is_empty() || name.starts_with("config") || name == "rc" || public {
                Place::Startup
            } else {
                Place::Credential
            });
        }
        ".hermes" => return below(inside, ".hermes").and_then(agent_file),
        ".netrc" | ".pgpass" | ".npmrc" | ".pypirc" | ".git-credentials" | ".vault-token" | ".my.cnf"
        | ".boto" | ".s3cfg" | ".password-store" | ".gnupg" | ".azure" => return Some(Place::Credential),
        // The whole folder holds the keys among other things.
        ".aws" | ".kube" if inside == first => return Some(Place::Credential),
        _ if (inside.ends_with(".pem")
            || inside.ends_with(".key")
            || inside.ends_with(".p12")
            || inside.ends_with(".kdbx"))
            && !inside.contains(".pub") =>
        {
            return Some(Place::Credential);
        }
        _ => {}
    }
    if SECRETS.iter().any(|known| within(inside, known)) {
        return Some(Place::Credential);
    }
    if RUNS.iter().any(|known| within(inside, known)) {
        return Some(Place::Startup);
    }
    (inside.starts_with(['.', 'L', 'A', 's']) && secret_in_home(inside)).then_some(Place::Credential)
}

/// Folders of the agent whose content is run, or decides what is.
const AGENT_FOLDERS: [&str; 11] = [
    "hooks",
    "agent-hooks",
    "plugins",
    "tools",
    "policy",
    "skills",
    "profiles",
    "managed",
    "cron",
    "cache/pycache",
    // What a person agreed to of each MCP server.
    "mcp",
];

/// What stands behind a folder in the path of something in it; nothing behind the folder itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// A file of the agent, by its path in the agent's folder.
fn agent_file(name: &str) -> Option<Place> {
    match name {
        "" => Some(Place::AgentConfig),
        "config.yaml" | ".env" | "auth.json" | "SOUL.md" => Some(Place::AgentConfig),
        _ if name.starts_with("mcp-tokens") => Some(Place::Credential),
        _ if AGENT_FOLDERS.iter().any(|folder| within(name, folder))
            || !name.contains('/')
                && [".json", ".yaml", ".yml", ".toml", ".db", ".md"]
                    .iter()
                    .any(|end| name.ends_with(end)) =>
        {
            Some(Place::AgentConfig)
        }
        // What was found out about plugins and servers; the folders beside it hold what tools have made.
        _ if name.strip_prefix("cache/").is_some_and(|kept| {
            !kept.contains('/') && (kept.contains(".json") || kept.contains(".packed"))
        }) =>
        {
            Some(Place::AgentConfig)
        }
        _ => None,
    }
}

fn system_file(path: &str) -> Option<Place> {
    if !matches!(path.as_bytes().get(1), Some(b'e' | b'u' | b'v' | b'l' | b'p' | b'r' | b'L')) {
        return None;
    }
    match path {
        "/etc/shadow"
        | "/etc/gshadow"
        | "/etc/shadow-"
        | "/etc/master.passwd"
        | "/etc/krb5.keytab"
        | "/etc/sudoers"
        | "/usr/local/etc/sudoers" => return Some(Place::Credential),
        "/etc/ld.so.preload" | "/etc/rc.local" | "/etc/crontab" | "/etc/profile" | "/etc/bash.bashrc" => {
            return Some(Place::Startup);
        }
        _ => {}
    }
    if path == "/proc/kcore"
        || path.starts_with("/proc/") && (path.ends_with("/environ") || path.ends_with("/mem"))
    {
        return Some(Place::Credential);
    }
    if path.starts_with("/etc/ssh/ssh_host_") && path.ends_with("_key")
        || path.starts_with("/etc/ssl/private/")
    {
        return Some(Place::Credential);
    }
    if path.starts_with("/run/secrets/") || path.starts_with("/var/run/secrets/") {
        return Some(Place::Credential);
    }
    let runs = path.starts_with("/etc/cron")
        || path.starts_with("/var/spool/cron")
        || path.starts_with("/etc/systemd/system")
        || path.starts_with("/usr/lib/systemd/")
        || path.starts_with("/lib/systemd/")
        || path.starts_with("/etc/init.d/")
        || path.starts_with("/usr/local/etc/rc.d/")
        || path.starts_with("/etc/profile.d")
        || path.starts_with("/usr/local/share/ca-certificates/")
        || path.starts_with("/Library/LaunchDaemons")
        || path.starts_with("/Library/LaunchAgents");
    if runs {
        return Some(Place::Startup);
    }
    let kept = ["/etc/", "/var/lib/jenkins/", "/var/lib/kubelet/"];
    (kept.iter().any(|folder| path.starts_with(folder)) && secret_of_system(path))
        .then_some(Place::Credential)
}
