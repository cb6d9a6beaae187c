//! What the file policy answers, case by case, and what holds for every path.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;

fn cx() -> PathCx<'static> {
    PathCx::new(
        Path::new("/home/user"),
        Path::new("/home/user/project"),
        Path::new("/home/user/.hermes"),
        Path::new("/tmp"),
    )
}

fn judge(path: &str, access: Access) -> PathVerdict {
    judge_path(Path::new(path), access, &cx())
}

#[track_caller]
fn expect(want: &str, access: Access, paths: &[&str]) {
    for path in paths {
        let verdict = judge(path, access);
        let got = match verdict {
            PathVerdict::Allow => "allow",
            PathVerdict::Ask { .. } => "ask",
            PathVerdict::Deny { .. } => "deny",
        };
        assert_eq!(got, want, "{access:?} {path}: {verdict:?}");
    }
}

#[test]
fn work_in_the_workspace_is_free() {
    let files = [
        "/home/user/project/src/main.rs",
        "/home/user/project/.github/workflows/ci.yml",
        "/home/user/project/config.yaml",
        "/home/user/project/.env.example",
        "/home/user/project/etc/hosts",
        "/home/user/project/bin/run",
    ];
    for access in [Access::Read, Access::Write, Access::Delete] {
        expect("allow", access, &files);
    }
}

#[test]
fn temporary_files_and_plain_home_files_may_be_written() {
    expect(
        "allow",
        Access::Write,
        &["/tmp/x", "/home/user/notes.txt", "/home/user/Documents/a.md", "/dev/null"],
    );
    expect("allow", Access::Delete, &["/tmp/x/y"]);
    expect("ask", Access::Delete, &["/home/user/notes.txt", "/srv/www/index.html"]);
    expect(
        "ask",
        Access::Write,
        &["/srv/x", "/var/www/x", "/home/user/.config/app/x", "/opt/x", "/usr/local/bin/x"],
    );
}

#[test]
fn system_files_may_be_read_and_not_written() {
    let files = [
        "/etc/hosts",
        "/etc/nginx/nginx.conf",
        "/usr/lib/systemd/system/x.service",
        "/boot/grub/grub.cfg",
        "/usr/bin/ls",
    ];
    expect("allow", Access::Read, &files);
    expect("deny", Access::Write, &files);
    expect("deny", Access::Delete, &files);
    expect(
        "deny",
        Access::Write,
        &["/private/etc/hosts", "/private/var/db/x", "/etc", "/etc/cron.d/x", "/var/spool/cron/root"],
    );
}

#[test]
fn credentials_are_not_read_without_a_question() {
    expect(
        "ask",
        Access::Read,
        &[
            "/home/user/.ssh/id_rsa",
            "/home/user/.ssh/work_key",
            "/home/user/.aws/credentials",
            "/home/user/.kube/config",
            "/home/user/.docker/config.json",
            "/home/user/.netrc",
            "/home/user/.pgpass",
            "/home/user/.npmrc",
            "/home/user/.pypirc",
            "/home/user/.config/gh/hosts.yml",
            "/home/user/.config/gcloud/credentials.db",
            "/home/user/.cargo/credentials.toml",
            "/home/other/.ssh/id_ed25519",
            "/root/.aws/credentials",
            "/Users/x/.ssh/id_rsa",
            "/home/user/project/deploy/id_rsa",
            "/home/user/project/.npmrc",
            "/srv/site.p12",
        ],
    );
    expect(
        "deny",
        Access::Read,
        &[
            "/etc/shadow",
            "/etc/shadow-",
            "/etc/ssh/ssh_host_rsa_key",
            "/home/user/.gnupg/secring.gpg",
            "/home/user/.mozilla/firefox/x.default/logins.json",
            "/home/user/.config/google-chrome/Default/Cookies",
            "/Users/x/Library/Keychains/login.keychain-db",
            "/home/user/project/.env",
            "/home/user/project/a/.env.local",
            "/home/user/project/.env.production",
            "/home/user/project/.envrc",
            "/proc/1/environ",
            "/proc/self/mem",
            "/proc/self/root/etc/hosts",
            "/proc/self/task/1/environ",
            "/run/secrets/token",
            "/var/run/docker.sock",
        ],
    );
    expect(
        "allow",
        Access::Read,
        &[
            "/home/user/.ssh/id_rsa.pub",
            "/home/user/.ssh/known_hosts",
            "/home/user/.ssh",
            "/home/user/.ssh/config",
            "/home/user/.aws/config",
        ],
    );
}

#[test]
fn credential_folders_are_not_written() {
    expect(
        "deny",
        Access::Write,
        &[
            "/home/user/.ssh/authorized_keys",
            "/home/user/.ssh/config",
            "/home/user/.ssh",
            "/home/user/.aws/config",
            "/home/user/.gnupg/x",
            "/home/user/.kube/config",
            "/home/user/.docker/config.json",
            "/home/user/.azure/x",
            "/home/user/.config/gh/hosts.yml",
            "/home/user/.config/gcloud/x",
            "/home/user/.netrc",
            "/etc/sudoers.d/x",
        ],
    );
}

#[test]
fn files_that_are_run_later_ask() {
    expect(
        "ask",
        Access::Write,
        &[
            "/home/user/.bashrc",
            "/home/user/.zshrc",
            "/home/user/.profile",
            "/home/user/.config/systemd/user/x.service",
            "/home/user/.config/autostart/x.desktop",
            "/home/user/project/.git/hooks/pre-commit",
            "/home/user/project/.git/config",
            "/home/user/.gitconfig",
            "/home/user/.local/bin/ls",
            "/home/user/project/.env",
            "/home/user/Library/LaunchAgents/x.plist",
            "/home/user/project/sub/.git/HEAD",
        ],
    );
    expect("allow", Access::Read, &["/home/user/.bashrc", "/home/user/project/.git/config"]);
}

#[test]
fn the_agent_does_not_rewrite_itself() {
    expect(
        "deny",
        Access::Read,
        &[
            "/home/user/.hermes/.env",
            "/home/user/.hermes/auth.json",
            "/home/user/.hermes/mcp-tokens/x.json",
            "/home/user/.hermes/google_token.json",
        ],
    );
    expect(
        "deny",
        Access::Write,
        &[
            "/home/user/.hermes/config.yaml",
            "/home/user/.hermes/state.db",
            "/home/user/.hermes/sessions/a.json",
            "/home/user/.hermes/pairing/x",
            "/home/user/.hermes/trusted.json",
            "/home/user/.hermes/skills/.usage.json",
            "/home/user/.hermes/skills/.trusted.json",
            "/home/user/.hermes/profiles/work/skills/.usage.json",
            "/home/user/.hermes/profiles/work/trusted.json",
            "/home/user/.hermes/cache/plugin-roster.packed",
            "/home/user/.hermes/cache/plugins.jsonl",
            "/home/user/.hermes/cache/pycache/home/user/app/.hermes/plugins/pol/__init__.cpython-313.pyc",
            "/home/user/.hermes/profiles/work/cache/plugins.jsonl",
            "/home/user/.hermes/mcp/github.json",
            "/home/user/.hermes/profiles/work/mcp/github.json",
        ],
    );
    expect("allow", Access::Write, &["/home/user/.hermes/cache/images/a.png"]);
    expect(
        "ask",
        Access::Write,
        &[
            "/home/user/.hermes/plugins/x/plugin.yaml",
            "/home/user/.hermes/tools/x.py",
            "/home/user/.hermes/SOUL.md",
            "/home/user/.hermes/skills/tea/SKILL.md",
            "/home/user/.hermes/skills/kitchen/tea/scripts/boil.sh",
        ],
    );
    expect(
        "allow",
        Access::Read,
        &["/home/user/.hermes/config.yaml", "/home/user/.hermes/skills/a/SKILL.md"],
    );
}

#[test]
fn a_workspace_chosen_in_an_unusual_place_is_worked_in() {
    for workspace in
        ["/opt/app", "/home/user/.config/nvim", "/home/user/.hermes/profiles/a", "/srv/site", "/mnt/c/work"]
    {
        let cx = PathCx { workspace: Path::new(workspace), ..cx() };
        let file = Path::new(workspace).join("src/a.lua");
        assert_eq!(judge_path(&file, Access::Write, &cx), PathVerdict::Allow, "{workspace}");
        let hook = Path::new(workspace).join(".git/hooks/x");
        assert_ne!(judge_path(&hook, Access::Write, &cx), PathVerdict::Allow, "{workspace}");
    }
}

#[test]
fn devices_are_left_alone() {
    expect(
        "deny",
        Access::Write,
        &[
            "/dev/sda",
            "/dev/nvme0n1",
            "/dev/mem",
            "/proc/sysrq-trigger",
            "/sys/power/state",
            "/proc/sys/kernel/x",
        ],
    );
    expect(
        "deny",
        Access::Read,
        &["/dev/sda", "/dev/zero", "/dev/urandom", "/dev/stdin", "/dev/tty", "/dev/fd/0", "/proc/self/fd/0"],
    );
    expect("allow", Access::Read, &["/dev/null", "/proc/cpuinfo", "/proc/1/status", "/sys/class/net"]);
    expect("allow", Access::Write, &["/dev/null", "/dev/stdout", "/dev/fd/3", "/dev/shm/x"]);
}

#[test]
fn no_whole_tree_is_deleted() {
    expect(
        "deny",
        Access::Delete,
        &[
            "/",
            "/home",
            "/home/user",
            "/home/other",
            "/root",
            "/etc",
            "/usr",
            "/usr/bin",
            "/var",
            "/opt",
            "/home/user/project",
            "/home/user/.hermes",
            "/Users/x",
            "/Users",
            "/tmp",
        ],
    );
}

#[test]
fn other_spellings_of_a_name_change_nothing() {
    expect(
        "deny",
        Access::Write,
        &[
            "/ETC/hosts",
            "/Home/user/.SSH/authorized_keys",
            "/home/user/.s\u{200c}sh/x",
            "/home/user/.ssh /x",
            "/home/user/.ſsh/x",
        ],
    );
    expect(
        "deny",
        Access::Read,
        &["/home/user/project/.ENV", "/home/user/project/.env.", "/home/user/project/.env::$DATA"],
    );
    expect("ask", Access::Write, &["/home/user/project/.GIT/hooks/x", "/home/user/project/.git./hooks/x"]);
    let loose = cx().ignoring_case();
    assert_eq!(judge_path(Path::new("/Home/User/Project/x"), Access::Delete, &loose), PathVerdict::Allow);
    assert_ne!(judge_path(Path::new("/Home/User/Project/x"), Access::Delete, &cx()), PathVerdict::Allow);
}

#[test]
fn write_roots_bind_every_write_and_no_read() {
    let roots = [Path::new("/home/user/project/out")];
    let cx = cx().only_write_in(&roots);
    assert!(matches!(
        judge_path(Path::new("/home/user/project/src/a"), Access::Write, &cx),
        PathVerdict::Deny { rule: "write-roots", .. }
    ));
    assert_eq!(judge_path(Path::new("/home/user/project/out/a"), Access::Write, &cx), PathVerdict::Allow);
    assert_eq!(judge_path(Path::new("/home/user/project/src/a"), Access::Read, &cx), PathVerdict::Allow);
    assert_eq!(judge_path(Path::new("/dev/null"), Access::Write, &cx), PathVerdict::Allow);
}

#[test]
fn a_path_without_a_normal_form_is_refused() {
    expect("deny", Access::Read, &["relative", "", "/a/../b", "../x"]);
}

#[test]
fn paths_are_brought_into_normal_form() {
    let at = |path: &str| lexical(Path::new(path), Path::new("/home/user/project"), Path::new("/home/user"));
    for (path, want) in [
        ("src/../x", "/home/user/project/x"),
        ("./a//b/./c/", "/home/user/project/a/b/c"),
        ("../../../../../etc", "/etc"),
        ("~", "/home/user"),
        ("~/x", "/home/user/x"),
        ("~/../other", "/home/other"),
        ("~other/x", "/home/other/x"),
        ("~root", "/root"),
        ("a/~/b", "/home/user/project/a/~/b"),
        ("~1", "/home/user/project/~1"),
        ("//etc///hosts", "/etc/hosts"),
        ("/..", "/"),
        (".", "/home/user/project"),
    ] {
        assert_eq!(at(path), Ok(PathBuf::from(want)), "{path}");
    }
    assert_eq!(at(""), Err(LexicalError::Empty));
    assert_eq!(at("a\0b"), Err(LexicalError::Nul));
    assert_eq!(lexical(Path::new("x"), Path::new("rel"), Path::new("/h")), Err(LexicalError::NoBase));
}

#[test]
fn rule_names_are_unique_and_patterns_can_match() {
    let mut names = Vec::new();
    for rule in TABLES.into_iter().flatten() {
        assert!(!names.contains(&rule.name), "{}", rule.name);
        names.push(rule.name);
        for pattern in rule.patterns {
            assert_eq!(*pattern, pattern.to_lowercase(), "{}", rule.name);
            assert!(!pattern.starts_with('/') && !pattern.ends_with('/'), "{pattern}");
            assert!(pattern.matches('*').count() <= 4, "{pattern}");
        }
    }
}

proptest! {
    #[test]
    fn any_path_gets_an_answer(text in "(/|~|\\.\\.|[a-zA-Z.~ :\\\\éſ\u{200c}]{0,6}|\\PC{0,4}){0,12}") {
        if let Ok(path) = lexical(Path::new(&text), Path::new("/home/user/project"), Path::new("/home/user")) {
            prop_assert!(path.has_root());
            prop_assert!(!path.components().any(|part| matches!(part, std::path::Component::ParentDir | std::path::Component::CurDir)));
            prop_assert_eq!(lexical(&path, Path::new("/"), Path::new("/x")), Ok(path.clone()));
            for access in [Access::Read, Access::Write, Access::Delete] {
                judge_path(&path, access, &cx());
            }
        }
    }

    #[test]
    fn deleting_is_never_easier_than_writing(parts in prop::collection::vec("[a-z.]{1,8}|etc|home|user|\\.ssh|project|dev|tmp", 0..6)) {
        let path = lexical(Path::new(&format!("/{}", parts.join("/"))), Path::new("/"), Path::new("/home/user")).unwrap();
        let write = judge_path(&path, Access::Write, &cx());
        let delete = judge_path(&path, Access::Delete, &cx());
        prop_assert_eq!(delete.stricter(write), delete, "{:?}", path);
    }
}
