//! Looks at the machine: is a program, a file or a service there?
//!
//! Nothing is started and nothing is sent, so asking is safe and quick.

#![expect(clippy::disallowed_methods, reason = "looking whether things are there is what it is for")]

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Where a program is, given the value of `PATH`.
///
/// A name with a directory in it stands for itself. Relative entries of `PATH` do not count: what
/// they mean would change with the working directory.
pub fn program_on_path(name: &str, path_var: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if Path::new(name).components().nth(1).is_some() {
        return Some(PathBuf::from(name)).filter(|path| runnable(path));
    }
    env::split_paths(path_var)
        .filter(|directory| directory.is_absolute())
        .flat_map(|directory| spellings(name).map(move |name| directory.join(name)))
        .find(|path| runnable(path))
}

/// Whether we run as the machine's administrator.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether something is at this path.
pub fn file_exists(path: &Path) -> bool {
    path.exists()
}

/// Whether a directory is at this path.
pub fn is_directory(path: &Path) -> bool {
    path.is_dir()
}

/// Whether something accepts connections at `host:port` or at the address of an http(s) URL.
///
/// Connects and hangs up again. Waits no longer than `timeout` in all; resolving a name goes on
/// alone after that until the system gives up.
pub fn service_answers(target: &str, timeout: Duration) -> bool {
    let Some((host, port)) = host_and_port(target) else {
        return false;
    };
    let deadline = Instant::now() + timeout;
    let left = || Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero());
    let Some(time) = left() else {
        return false;
    };
    let addresses = resolve(host, port, time);
    addresses
        .iter()
        .any(|address| left().is_some_and(|left| TcpStream::connect_timeout(address, left).is_ok()))
}

fn resolve(host: &str, port: u16, timeout: Duration) -> Vec<SocketAddr> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return vec![SocketAddr::new(address, port)];
    }
    let (answer, wait) = mpsc::channel();
    let host = host.to_owned();
    thread::spawn(move || {
        let addresses = (host.as_str(), port).to_socket_addrs().map(Vec::from_iter).unwrap_or_default();
        // Nobody listens any more when the time was up.
        let _ = answer.send(addresses);
    });
    wait.recv_timeout(timeout).unwrap_or_default()
}

/// Splits `host:port`, `[v6]:port` or an http(s) URL.
fn host_and_port(target: &str) -> Option<(&str, u16)> {
    let (scheme, rest) =
        target.split_once("://").map_or((None, target), |(scheme, rest)| (Some(scheme), rest));
    let default = match scheme.map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("http" | "ws") => Some(80),
        Some("https" | "wss") => Some(443),
        Some(_) => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':')?)),
        None => address.rsplit_once(':').map_or((address, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        Some("") | None => default?,
        Some(port) => port.parse().ok()?,
    };
    (!host.is_empty()).then_some((host, port))
}

#[cfg(unix)]
fn runnable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn runnable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The names a program may have on disk.
#[cfg(not(windows))]
fn spellings(name: &str) -> impl Iterator<Item = String> {
    std::iter::once(name.to_owned())
}

/// The names a program may have on disk.
#[cfg(windows)]
fn spellings(name: &str) -> impl Iterator<Item = String> {
    ["", ".exe", ".cmd", ".bat", ".com"].map(|end| format!("{name}{end}")).into_iter()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_program_is_an_executable_file_in_the_first_directory_that_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let put = |place: &str, mode: u32| {
            let path = dir.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        put("a/tool", 0o644);
        let second = put("b/tool", 0o755);
        put("c/tool", 0o755);
        fs::create_dir_all(dir.path().join("b/folder")).unwrap();
        let path = env::join_paths(["a", "b", "c"].map(|name| dir.path().join(name))).unwrap();

        assert_eq!(program_on_path("tool", &path), Some(second.clone()));
        assert_eq!(program_on_path(second.to_str().unwrap(), OsStr::new("")), Some(second));
        for missing in ["folder", "nothing", "", "../b/none"] {
            assert_eq!(program_on_path(missing, &path), None, "{missing}");
        }
        assert_eq!(program_on_path("Cargo.toml", OsStr::new(".::src")), None);
    }

    #[test]
    fn a_service_answers_when_it_accepts_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let time = Duration::from_secs(5);

        assert!(service_answers(&format!("127.0.0.1:{port}"), time));
        assert!(service_answers(&format!("localhost:{port}"), time));
        assert!(service_answers(&format!("http://user:pw@127.0.0.1:{port}/health?x#y"), time));
        assert!(!service_answers(&format!("127.0.0.1:{port}"), Duration::ZERO));
        drop(listener);
        assert!(!service_answers(&format!("127.0.0.1:{port}"), time));
    }

    #[test]
    fn a_target_is_a_host_with_a_port_or_a_url() {
        for (target, wanted) in [
            ("a.example:80", Some(("a.example", 80))),
            ("[::1]:8080", Some(("::1", 8080))),
            ("http://a.example", Some(("a.example", 80))),
            ("HTTPS://a.example/x:1", Some(("a.example", 443))),
            ("https://[::1]/", Some(("::1", 443))),
            ("http://a.example:8080?q=1:2", Some(("a.example", 8080))),
            ("a.example", None),
            ("a.example:http", None),
            ("a.example:99999", None),
            ("ftp://a.example:21", None),
            (":80", None),
            ("", None),
        ] {
            assert_eq!(host_and_port(target), wanted, "{target}");
        }
    }

    #[test]
    fn a_file_exists_or_does_not() {
        let dir = tempfile::tempdir().unwrap();
        assert!(file_exists(dir.path()));
        assert!(!file_exists(&dir.path().join("none")));
    }
}
