//! The promises on another machine, which is a real server on loopback, and what must hold when the
//! connection lets us down.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_core::environment::{End, EnvError, Run, Why};
use hermes_core::jobs::{Happening, JobState, NewJob};
use serde_json::{Value, json};

use crate::background::{Background, plain};
use crate::bench::{Bench, usual};
use crate::given::{self, Given};
use crate::processes::until;
use crate::sshd::{Server, make_key};
use crate::{LONG, cost, tried};

fn bench(server: &Server, more: &Value) -> Bench {
    Bench::far("ssh", |_| server.section(more))
}

#[test]
fn skills_and_credential_files_are_sent_and_what_was_changed_comes_back_beside() {
    let Some(server) = Server::start() else { return };
    let given = Given::new();
    let mut bench = Bench::far_with("ssh", given.around(), |_| server.section(&json!({})));

    given::is_sent(&mut bench, &given);
}

#[test]
fn what_was_sent_is_not_sent_again_by_the_next_run() {
    let Some(server) = Server::start() else { return };
    let given = Given::new();
    let mut bench = Bench::far_with("ssh", given.around(), |_| server.section(&json!({})));
    bench.run("true");
    let file = server.path("home/.hermes/skills/one/SKILL.md");
    let number = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&file).unwrap());
    let before = number();

    bench.come_back();
    given.skill("two", "changed");
    bench.run("true");

    assert_eq!(number(), before);
    assert_eq!(fs::read_to_string(server.path("home/.hermes/skills/two/SKILL.md")).unwrap(), "changed");
}

#[test]
fn a_hermes_that_lives_there_is_left_alone() {
    let Some(server) = Server::start() else { return };
    let given = Given::new();
    fs::create_dir_all(server.path("home/.hermes")).unwrap();
    fs::write(server.path("home/.hermes/config.yaml"), "model: x\n").unwrap();
    let bench = Bench::far_with("ssh", given.around(), |_| server.section(&json!({})));

    let ran = bench.run("ls -A ~/.hermes");

    assert_eq!(ran.output.head, b"config.yaml\n");
    assert!(ran.notes.iter().any(|note| note.contains("a Hermes home there already")), "{:?}", ran.notes);
}

/// What is said about a command that cannot be run.
fn wrong(bench: &Bench) -> String {
    let permit = bench.permit("true");
    bench.runtime.block_on(bench.place.run(permit, usual())).unwrap_err().to_string()
}

/// The clients of this machine that hold shared connections to the server.
fn masters(server: &Server) -> Vec<String> {
    let far = format!(":{:04X}", server.port);
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let sockets: Vec<String> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.get(2).is_some_and(|peer| peer.ends_with(&far)))
        .filter_map(|fields| Some(format!("socket:[{}]", fields.get(9)?)))
        .collect();
    let holds = |pid: &PathBuf| {
        let open = fs::read_dir(pid.join("fd")).into_iter().flatten().flatten();
        let mut targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        targets.any(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
    };
    let shared = |pid: &PathBuf| {
        String::from_utf8_lossy(&fs::read(pid.join("cmdline")).unwrap_or_default()).contains("[mux]")
    };
    let pids = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let found = pids.filter(|pid| shared(pid) && holds(pid));
    found.map(|pid| pid.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

fn kill(pids: &[String]) {
    assert!(!pids.is_empty());
    for pid in pids {
        assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
    }
}

/// Folders for sockets that this process holds.
fn folders() -> Vec<PathBuf> {
    let own = format!("-{}.", std::process::id());
    let entries = fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.path());
    let ours = |path: &PathBuf| {
        path.to_str().is_some_and(|path| path.starts_with("/tmp/hermes-ssh-") && path.contains(&own))
    };
    entries.filter(ours).collect()
}

#[test]
fn another_machine_keeps_every_promise() {
    let Some(server) = Server::start() else { return };
    for (name, promise) in tried(LONG) {
        eprintln!("ssh: {name}");
        promise(&bench(&server, &json!({})));
    }
}

#[test]
fn a_machine_whose_key_is_not_known_is_not_believed_unless_it_is_asked_for() {
    let Some(server) = Server::start() else { return };
    fs::write(server.path("known"), "").unwrap();

    let said = wrong(&bench(&server, &json!({})));

    assert!(
        said.contains("is not known") && said.contains("accept-new") && said.contains("`ssh -F none"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(server.path("known")).unwrap(), "");
    let trusting = bench(&server, &json!({ "host_keys": "accept-new" }));
    assert_eq!(trusting.run("true").why, Why::Ended(End::Code(0)));
    assert!(fs::read_to_string(server.path("known")).unwrap().contains("ssh-ed25519"));
}

#[test]
fn a_machine_whose_key_has_changed_is_never_believed() {
    let Some(mut server) = Server::start() else { return };
    make_key(&server.path("host"));
    server.restart();

    for host_keys in ["known", "accept-new"] {
        let said = wrong(&bench(&server, &json!({ "host_keys": host_keys })));
        assert!(
            said.contains("has changed") && said.contains("SHA256:") && said.contains("ssh-keygen"),
            "{said}"
        );
    }

    server.know("host.pub");
    assert_eq!(bench(&server, &json!({})).run("true").why, Why::Ended(End::Code(0)));
}

#[test]
fn a_key_that_is_wrong_or_not_there_is_a_clear_error() {
    let Some(server) = Server::start() else { return };
    make_key(&server.path("other"));

    let refused = wrong(&bench(&server, &json!({ "key": server.path("other") })));
    let missing = wrong(&bench(&server, &json!({ "key": "~/no/such/key" })));

    assert!(refused.contains("does not let us in") && refused.contains("ssh-add"), "{refused}");
    assert!(missing.contains("~/no/such/key"), "{missing}");
}

#[test]
fn a_machine_that_is_not_there_is_a_clear_error_and_is_found_when_it_is() {
    let Some(mut server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    server.stop();

    let said = wrong(&bench);

    assert!(said.contains("Connection refused") && said.contains("`port`"), "{said}");
    server.restart();
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

#[test]
fn a_connection_that_died_between_calls_is_made_again_and_the_shell_goes_on() {
    let Some(mut server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    let mut shell = bench.run("export A=1").shell;

    kill(&masters(&server));
    shell = bench.run_with("export A=$((A + 1))", Run { shell, ..usual() }).shell;
    server.restart();

    assert_eq!(bench.output("echo $A", &shell), "2\n");
    assert_eq!(masters(&server).len(), 1);
}

/// Cuts the connection while a command runs.
fn cut_off(bench: &Bench, cut: impl FnOnce()) {
    bench.run("true");
    let permit = bench.permit("echo so far; echo once >> ran; sleep 0.3; echo $$ > pid; sleep 1000");
    let run = Run { timeout: Duration::from_secs(30), ..usual() };

    let wrong = std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, run)));
        until("it runs", || {
            fs::read_to_string(bench.work().join("pid")).is_ok_and(|pid| pid.ends_with('\n'))
        });
        cut();
        running.join().unwrap().unwrap_err()
    });

    let so_far = match &wrong {
        EnvError::CutOff { output, .. } => Some(output.head.as_slice()),
        _ => None,
    };
    assert_eq!(so_far, Some(b"so far\n".as_slice()), "{wrong}");
    // What comes next finds the machine as it is.
    for _ in 0..3 {
        assert_eq!(bench.run("sleep 0.1").why, Why::Ended(End::Code(0)));
    }
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    let pid = fs::read_to_string(bench.work().join("pid")).unwrap();
    until("what ran is gone", || !bench.runs(&pid));
}

#[test]
fn a_command_whose_client_is_killed_is_cut_off_and_never_run_twice() {
    let Some(server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    cut_off(&bench, || kill(&masters(&server)));
}

#[test]
fn a_command_whose_server_drops_the_connection_is_cut_off_and_never_run_twice() {
    let Some(server) = Server::start() else { return };
    cut_off(&bench(&server, &json!({})), || kill(&server.connections()));
}

#[test]
fn more_commands_at_once_than_a_server_carries_on_a_connection_all_run() {
    let Some(server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    bench.run("true");
    let permits: Vec<_> = (0..15).map(|n| bench.permit(&format!("sleep 1; exit {n}"))).collect();

    let ends: Vec<_> = std::thread::scope(|scope| {
        let bench = &bench;
        let running: Vec<_> = permits
            .into_iter()
            .map(|permit| {
                scope.spawn(move || bench.runtime.block_on(bench.place.run(permit, usual())).unwrap().why)
            })
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });

    assert_eq!(ends, (0..15).map(|n| Why::Ended(End::Code(n))).collect::<Vec<_>>());
    assert_eq!(masters(&server).len(), 1);
}

#[test]
fn a_long_command_full_of_quotes_arrives_as_it_is() {
    let Some(server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    let text = format!("printf %s \"{}\"; cat", "'é!\n".repeat(10_000));

    let ran = bench.run_with(&text, Run { input: b"the rest".to_vec(), keep: 100_000, ..usual() });

    let all = [ran.output.head, ran.output.tail].concat();
    assert_eq!(String::from_utf8(all).unwrap(), "'é!\n".repeat(10_000) + "the rest");
}

#[test]
fn the_persons_own_settings_and_jump_hosts_are_followed() {
    let Some(server) = Server::start() else { return };
    let common = format!(
        "HostName 127.0.0.1\nPort {}\nIdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\n",
        server.port,
        server.path("user").display(),
        server.path("known").display()
    );
    let config = format!("Host gate\n{common}Host lab\n{common}ProxyJump gate\n");
    fs::write(server.path("ssh_config"), config).unwrap();
    let config = server.path("ssh_config");

    let by_alias = json!({ "host": "lab", "config": config });
    let by_setting = server.section(&json!({ "jump": "gate", "config": config }));

    for section in [by_alias, by_setting] {
        let bench = Bench::far("ssh", |_| section);
        assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
        // One connection to the machine, and the one that it goes through.
        assert_eq!(server.connections().len(), 2);
        bench.runtime.block_on(bench.place.close(false)).unwrap();
        until("both are closed", || server.connections().is_empty());
    }
}

#[test]
fn a_key_that_only_the_agent_holds_opens_the_machine() {
    let Some(server) = Server::start() else { return };
    let socket = server.path("agent");
    let mut agent =
        Command::new("ssh-agent").args(["-D", "-a"]).arg(&socket).stdout(Stdio::null()).spawn().unwrap();
    until("the agent listens", || socket.exists());
    let added =
        Command::new("ssh-add").arg("-q").arg(server.path("user")).env("SSH_AUTH_SOCK", &socket).status();
    assert!(added.unwrap().success());
    let options = json!({ "key": "", "options": [format!("IdentityAgent={}", socket.display())] });

    let ran = bench(&server, &options).run("echo in");

    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(ran.output.head, b"in\n");
}

#[test]
fn a_place_that_closes_leaves_no_client_and_no_socket() {
    let Some(server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    bench.run("true");
    assert_eq!((masters(&server).len(), server.connections().len()), (1, 1));
    let before = folders();

    bench.runtime.block_on(bench.place.close(false)).unwrap();

    until("the connection is closed", || masters(&server).is_empty() && server.connections().is_empty());
    assert!(folders().len() < before.len());
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

#[test]
fn a_client_that_is_not_there_is_a_clear_error() {
    let said = wrong(&Bench::far("ssh", |_| json!({ "host": "lab", "binary": "/no/such/ssh" })));

    assert!(said.contains("/no/such/ssh"), "{said}");
}

#[test]
fn a_call_costs_no_more_than_the_bare_client_over_a_connection_that_is_there() {
    let Some(server) = Server::start() else { return };
    let (key, known, socket) = (server.path("user"), server.path("known"), server.path("c"));
    let bare = |more: &[&str]| {
        let known = format!("UserKnownHostsFile={}", known.display());
        let mut client = Command::new("ssh");
        client.args(["-F", "none", "-o", "BatchMode=yes", "-o", &known]);
        client.arg("-i").arg(&key).arg("-S").arg(&socket).args(["-p", &server.port.to_string()]);
        let done = client.args(more).args(["127.0.0.1", "true"]).stdin(Stdio::null()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };

    let given = Given::new();
    let place = Bench::far_with("ssh", given.around(), |_| server.section(&json!({})));
    cost::no_more_than("ssh", &place, || {
        bare(&["-o", "ControlMaster=yes", "-o", "ControlPersist=60"]);
        || bare(&[])
    });
}

#[test]
fn a_job_goes_on_without_a_connection_and_is_found_again() {
    let Some(mut server) = Server::start() else { return };
    let mut bench = bench(&server, &json!({}));
    let told = NewJob { notify: true, ..plain() };
    let job =
        Background(&bench).start("echo on; until [ -e go ]; do sleep 0.1; done; echo off; exit 5", told);
    until("it runs", || Background(&bench).tail(&job.id) == "on\n");

    kill(&masters(&server));
    assert_eq!(Background(&bench).look(&job.id).state, JobState::Running);
    server.restart();
    bench.come_back();
    assert_eq!(Background(&bench).look(&job.id).state, JobState::Running);
    fs::write(bench.work().join("go"), "").unwrap();

    assert_eq!(Background(&bench).ended(&job.id), JobState::Exited(5));
    assert_eq!(Background(&bench).tail(&job.id), "on\noff\n");
}

#[test]
fn the_end_of_a_job_is_told_although_the_connection_broke_meanwhile() {
    let Some(server) = Server::start() else { return };
    let bench = bench(&server, &json!({}));
    let told = NewJob { notify: true, ..plain() };
    let job = Background(&bench).start("until [ -e go ]; do sleep 0.1; done; echo off", told);

    kill(&masters(&server));
    fs::write(bench.work().join("go"), "").unwrap();

    let mut heard = Vec::new();
    let begin = Instant::now();
    while heard.is_empty() && begin.elapsed() < Duration::from_secs(40) {
        heard = bench.place.jobs().unwrap().notices();
        std::thread::sleep(Duration::from_millis(20));
    }
    let ends: Vec<_> = heard.iter().map(|notice| (&notice.job, &notice.what)).collect();
    let end = Happening::Ended { state: JobState::Exited(0), output: "off\n".to_owned() };
    assert_eq!(ends, [(&job.id, &end)]);
}
