//! Ways in and out: ports, tunnels, files handed to others, secrets shown, text fetched to be run.

use super::{Harm, OPENS, SENDS, harm};
use crate::effect::Kind;

pub(super) const TABLE: &[Harm] = &[
    harm(&["nmcli"], &["-s", "--show-secrets"], Kind::ReadCredential, "prints secrets"),
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
    harm(
        &["ansible-galaxy"],
        &["git+*", "http://*", "https://*"],
        Kind::RunDownloaded,
        "fetches plays from an address",
    ),
    harm(&["ansible-pull"], &["-U", "--url*"], Kind::RunDownloaded, "fetches a play and runs it"),
    harm(&["pre-commit"], &["try-repo"], Kind::RunDownloaded, "fetches hooks and runs them"),
    harm(&["smbclient"], &["*put *", "*mput *", "*del *"], Kind::SendOut, SENDS),
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
    harm(&["socket", "ztcp"], &["/bin/*", "-svp", "-qvp", "-*p"], Kind::ReverseShell, OPENS),
    harm(&["kickstart"], &["-activate", "-configure"], Kind::ReverseShell, OPENS),
    harm(&["terraform", "tofu"], &["-from-module=*"], Kind::RunDownloaded, "fetches what it will run"),
    harm(&["helm"], &["plugin install"], Kind::RunDownloaded, "fetches what it will run"),
    harm(&["slackcat"], &[], Kind::SendOut, SENDS),
    harm(&["cloudflared"], &["tunnel run"], Kind::ReverseShell, OPENS),
    harm(&["netlify"], &["env:list", "env:get"], Kind::ReadCredential, "prints secrets"),
    harm(&["glab"], &["status -t", "--show-token"], Kind::ReadCredential, "prints secrets"),
    harm(&["vault"], &["token create"], Kind::ReadCredential, "prints secrets"),
    harm(&["aws"], &["get-federation-token"], Kind::ReadCredential, "prints secrets"),
    harm(
        &["docker", "podman"],
        &["--grant-all-permissions"],
        Kind::RunDownloaded,
        "gives a plugin all rights",
    ),
];
