//! Sockets and signals.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::Command;

use hermes::env::fence::{Effect, Level};

use crate::yard::{Yard, refused, works};

/// Each makes one kind of socket, or a ring that could.
const SOCKETS: &str = r"
import socket, sys
kind = sys.argv[1]
if kind == 'pair':
    a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'
elif kind == 'unix':
    socket.socket(socket.AF_UNIX).connect(sys.argv[2])
elif kind == 'udp':
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))
elif kind == 'v6':
    socket.socket(socket.AF_INET6)
elif kind == 'netlink':
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
elif kind in ('ring', 'x32'):
    import ctypes
    number = 425 if kind == 'ring' else 0x40000000 | 41
    libc = ctypes.CDLL(None, use_errno=True)
    got = libc.syscall(number, 2, ctypes.create_string_buffer(120), 0)
    if got < 0:
        import os
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
";

#[test]
fn in_the_workspace_the_network_is_there_and_in_strict_it_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let yard = Yard::new();

    works(&yard, Level::Workspace, &[&connect]);
    refused(&yard, Level::Strict, &[&connect]);
    assert!(!yard.fence(Level::Workspace).makes_impossible(Effect::Connect));
    assert!(yard.fence(Level::Strict).makes_impossible(Effect::Connect));
    let said = yard.behind(&yard.fence(Level::Workspace).without_network(), &connect);
    assert!(said.err.contains("Permission denied"), "{said:?}");
}

#[test]
fn in_strict_no_kind_of_socket_can_be_made_but_connected_pairs() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let yard = Yard::new();
    std::fs::write(yard.at("ws/s.py"), SOCKETS).unwrap();
    let _listener = UnixListener::bind(yard.at("ws/socket")).unwrap();

    works(&yard, Level::Workspace, &["python3 s.py udp", "python3 s.py pair", "python3 s.py unix socket"]);
    works(&yard, Level::Strict, &["python3 s.py pair"]);
    refused(
        &yard,
        Level::Strict,
        &["python3 s.py udp", "python3 s.py v6", "python3 s.py netlink", "python3 s.py unix socket"],
    );
    refused(&yard, Level::Strict, &["python3 s.py ring"]);
    if cfg!(target_arch = "x86_64") {
        refused(&yard, Level::Strict, &["python3 s.py x32"]);
    }
    let with_files = yard.fence(Level::Strict).with_unix_sockets();
    assert_eq!(yard.behind(&with_files, "python3 s.py unix socket").code, Some(0));
    assert_ne!(yard.behind(&with_files, "python3 s.py udp").code, Some(0));
}

#[test]
fn in_strict_signals_stay_inside() {
    let yard = Yard::new();
    if !yard.fence(Level::Strict).makes_impossible(Effect::Signal) {
        return;
    }
    let outside = format!("kill -0 {}", std::process::id());

    refused(&yard, Level::Strict, &[&outside]);
    works(&yard, Level::Strict, &["sleep 60 & kill -0 $! && kill $!"]);
    works(&yard, Level::Workspace, &[&outside]);
}
