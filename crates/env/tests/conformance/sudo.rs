//! The password of `sudo`: who gets it, who does not, and where it never shows.
//!
//! Only root can make a set-uid program, so most of this needs root: a shell with that bit, called
//! `sudo`, plays its part. What it looks like to everybody else is what `/proc` tells about any process.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hermes_core::environment::{Ran, Run, ShellState, Size};
use hermes_core::jobs::{JobState, NewJob};
use hermes_core::sudo::{Password, SudoAsker, SudoQuestion};
use hermes_env::sudo::SudoSettings;

use crate::bench::{Bench, usual};

/// Put together here, so that it stands in no file and on no command line.
fn secret() -> String {
    ["vErY", "s3cret", "w0rd"].join("-")
}

/// Types one password after the other.
#[derive(Default)]
struct Typist {
    typed: Mutex<Vec<Option<String>>>,
    asked: Mutex<Vec<SudoQuestion>>,
    warned: Mutex<Vec<String>>,
}

impl Typist {
    fn new(typed: &[Option<&str>]) -> Arc<Self> {
        let typed = typed.iter().rev().map(|text| text.map(str::to_owned)).collect();
        Arc::new(Self { typed: Mutex::new(typed), ..Self::default() })
    }

    fn questions(&self) -> Vec<SudoQuestion> {
        self.asked.lock().unwrap().clone()
    }

    fn warnings(&self) -> String {
        self.warned.lock().unwrap().join("\n")
    }
}

impl SudoAsker for Typist {
    fn password(&self, question: SudoQuestion) -> BoxFuture<'_, Option<Password>> {
        self.asked.lock().unwrap().push(question);
        let typed = self.typed.lock().unwrap().pop().flatten();
        Box::pin(std::future::ready(typed.and_then(Password::new)))
    }

    fn warn(&self, what: &str) {
        self.warned.lock().unwrap().push(what.to_owned());
    }
}

fn bench(configured: Option<&str>, typist: Option<&Arc<Typist>>) -> Bench {
    Bench::answering(SudoSettings {
        helper: env!("CARGO_BIN_EXE_fence_launcher").into(),
        configured: configured.and_then(Password::new),
        asker: typist.map(|typist| Arc::clone(typist) as Arc<dyn SudoAsker>),
    })
}

fn said(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.output.head).into_owned()
}

/// A program that looks like `sudo` to everybody, and does what it is told.
fn playing_sudo(bench: &Bench) -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        assert!(
            std::env::var_os("HERMES_TEST_FULL").is_none(),
            "HERMES_TEST_FULL wants everything, but only root can play sudo"
        );
        eprintln!("skipped: only root can make a program that looks like sudo");
        return None;
    }
    let path = bench.work().join("sudo");
    fs::copy("/bin/bash", &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    Some(path)
}

/// Asks as `sudo` does, `times` over, and tells how long each answer was.
fn asking(sudo: &Path, times: u8) -> String {
    let once = r#"p=$(exec "$SUDO_ASKPASS" "[sudo] password for ann: "); echo "code $? length ${#p}"; "#;
    format!("{} -c '{}'", sudo.display(), once.repeat(times.into()))
}

#[test]
fn a_real_sudo_gets_what_was_configured_and_nobody_is_asked() {
    let typist = Typist::new(&[]);
    let bench = bench(Some(&secret()), Some(&typist));
    let Some(sudo) = playing_sudo(&bench) else { return };

    let ran = bench.run(&asking(&sudo, 1));

    assert_eq!(said(&ran), format!("code 0 length {}\n", secret().len()));
    assert!(typist.questions().is_empty() && typist.warnings().is_empty(), "{}", typist.warnings());
}

#[test]
fn the_person_is_asked_once_and_sees_what_is_to_run() {
    let typist = Typist::new(&[Some(&secret())]);
    let bench = bench(None, Some(&typist));
    let Some(sudo) = playing_sudo(&bench) else { return };

    for _ in 0..2 {
        assert_eq!(said(&bench.run(&asking(&sudo, 1))), format!("code 0 length {}\n", secret().len()));
    }

    let questions = typist.questions();
    let [question] = questions.as_slice() else { panic!("{questions:?}") };
    assert!(question.command.contains("sudo -c"), "{question:?}");
    assert_eq!(question.prompt, "[sudo] password for ann:");
    assert!(!question.again);
}

#[test]
fn three_wrong_passwords_end_a_command_and_the_next_may_try_again() {
    let typist = Typist::new(&[Some("one"), Some("three"), Some("twelve"), Some("right")]);
    let bench = bench(None, Some(&typist));
    let Some(sudo) = playing_sudo(&bench) else { return };

    let told = said(&bench.run(&asking(&sudo, 4)));

    let lengths: Vec<&str> = told.lines().filter(|line| line.starts_with("code")).collect();
    assert_eq!(lengths, ["code 0 length 3", "code 0 length 5", "code 0 length 6", "code 1 length 0"]);
    assert!(told.contains("3 wrong passwords"), "{told}");
    let again: Vec<bool> = typist.questions().iter().map(|question| question.again).collect();
    assert_eq!(again, [false, true, true]);
    assert_eq!(said(&bench.run(&asking(&sudo, 1))), "code 0 length 5\n");
}

#[test]
fn without_anybody_to_ask_it_fails_at_once_and_says_how_to_help() {
    let bench = bench(None, None);
    let Some(sudo) = playing_sudo(&bench) else { return };

    let told = said(&bench.run(&asking(&sudo, 1)));

    assert!(told.contains("nobody is here") && told.contains("SUDO_PASSWORD"), "{told}");
    assert!(told.ends_with("code 1 length 0\n"), "{told}");
}

#[test]
fn somebody_who_says_no_is_not_asked_twice_by_one_command() {
    let typist = Typist::new(&[None, Some("never")]);
    let bench = bench(None, Some(&typist));
    let Some(sudo) = playing_sudo(&bench) else { return };

    let told = said(&bench.run(&asking(&sudo, 2)));

    assert!(!told.contains("code 0"), "{told}");
    assert_eq!(typist.questions().len(), 1);
}

/// What must not get the password: each tells how it would have got it.
fn thieves(bench: &Bench, sudo: Option<&Path>) -> Vec<String> {
    let plain = bench.work().join("plain");
    fs::create_dir_all(&plain).unwrap();
    // Called so, but without the bit that makes it what it is called.
    let forged = plain.join("sudo");
    symlink("/bin/bash", &forged).unwrap();
    let mut thieves = vec![
        r#"p=$("$SUDO_ASKPASS" x); echo "stolen ${#p}""#.to_owned(),
        format!(r#"{} -c 'p=$("$SUDO_ASKPASS" x); echo "stolen ${{#p}}"'"#, forged.display()),
        // Nobody knows who started it.
        r#"(setsid sh -c '"$SUDO_ASKPASS" x > stolen' &); sleep 0.3; wc -c < stolen"#.to_owned(),
    ];
    if let Some(sudo) = sudo.map(Path::display) {
        thieves.extend([
            format!(r#"{sudo} -c '"$SUDO_ASKPASS" x > stolen; true'; wc -c < stolen"#),
            format!(r#"{sudo} -c '"$SUDO_ASKPASS" x; true'"#),
            format!(r#"{sudo} -c '"$SUDO_ASKPASS" x | cat > stolen'; wc -c < stolen"#),
            format!(r#"mkfifo f; cat f > stolen & {sudo} -c '"$SUDO_ASKPASS" x > f; true'; wait; wc -c < stolen"#),
            // A program that stands between sudo and the helper, and one that reads along.
            format!(r#"{sudo} -c 'p=$(sh -c "\"\$SUDO_ASKPASS\" x; true"); echo "stolen ${{#p}}"'"#),
            format!(
                r#"{sudo} -c 'p=$(sleep 3 </proc/self/fd/1 >/dev/null 2>&1 & exec "$SUDO_ASKPASS" x); echo "stolen ${{#p}}"'"#
            ),
        ]);
    }
    thieves
}

#[test]
fn nobody_but_the_real_sudo_gets_it_and_the_person_hears_of_who_tried() {
    let typist = Typist::new(&[]);
    let bench = bench(Some(&secret()), Some(&typist));
    let sudo = playing_sudo(&bench);
    for (at, thief) in thieves(&bench, sudo.as_deref()).into_iter().enumerate() {
        let told = said(&bench.run(&thief));

        assert!(!told.contains(&secret()), "{thief}: {told}");
        let length = secret().len().to_string();
        let got_it = told.lines().any(|line| line.trim() == length || line == format!("stolen {length}"));
        assert!(!got_it, "{thief}: {told}");
        let stolen = fs::read_to_string(bench.work().join("stolen")).unwrap_or_default();
        assert_eq!(stolen, "", "{thief}");
        let warned = typist.warned.lock().unwrap().len();
        assert!(warned > at, "nobody was warned of {thief}: {}", typist.warnings());
    }
    assert!(typist.questions().is_empty());
}

#[test]
fn the_password_shows_in_no_output_and_in_no_process() {
    let bench = bench(Some(&secret()), None);
    let Some(sudo) = playing_sudo(&bench) else { return };
    // Once it has been handed over, everything there is to see is looked at from inside.
    let look = r#"p=$(exec "$SUDO_ASKPASS" x); echo "length ${#p}"; p=; env; tr "\0" "\n" < /proc/$PPID/environ; cat /proc/[0-9]*/cmdline"#;

    let told = said(&bench.run(&format!("{} -c '{look}'; export -p; set; history", sudo.display())));

    assert!(told.contains("SUDO_ASKPASS="), "{told}");
    assert!(told.contains(&format!("length {}", secret().len())), "{told}");
    assert!(!told.contains(&secret()), "{told}");
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let seen = fs::read(process.path().join("environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&seen).contains(&secret()), "{}", process.path().display());
    }
}

#[test]
fn a_job_in_the_background_gets_what_is_known_and_asks_nobody() {
    let typist = Typist::new(&[Some(&secret())]);
    let bench = bench(None, Some(&typist));
    let Some(sudo) = playing_sudo(&bench) else { return };
    let job = |text: &str| {
        let jobs = bench.place.jobs().unwrap();
        let new = NewJob {
            session: "s".to_owned(),
            shell: ShellState::default(),
            terminal: None,
            notify: false,
            watch: Vec::new(),
        };
        let permit = bench.permit(text);
        bench.runtime.block_on(async {
            let started = jobs.start(permit, new).await.unwrap();
            let ended = jobs.wait("s", &started.id, Duration::from_secs(20)).await.unwrap();
            assert!(matches!(ended.state, JobState::Exited(_)), "{ended:?}");
            String::from_utf8(jobs.tail("s", &started.id, 10_000).await.unwrap()).unwrap()
        })
    };

    assert!(job(&asking(&sudo, 1)).contains("in the background"));
    bench.run(&asking(&sudo, 1));

    assert_eq!(job(&asking(&sudo, 1)), format!("code 0 length {}\n", secret().len()));
    assert_eq!(typist.questions().len(), 1);
}

#[test]
fn sudo_is_told_of_the_helper_unless_there_is_a_terminal() {
    let bench = bench(None, None);
    let real = bench.work().join("real");
    fs::create_dir(&real).unwrap();
    let tells = "#!/bin/sh\necho \"$0:\" \"$@\"\n";
    fs::write(real.join("sudo"), tells).unwrap();
    fs::set_permissions(real.join("sudo"), fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("PATH=${{PATH%%:*}}:{}:/usr/bin:/bin; sudo -u bob id; sudo -S id", real.display());

    let without = said(&bench.run(&command));
    let terminal = Some(Size { rows: 24, columns: 80 });
    let within = said(&bench.run_with(&command, Run { terminal, ..usual() }));

    let words = |told: &str| -> Vec<String> {
        told.lines().map(|line| line.split_once(": ").unwrap().1.trim().to_owned()).collect()
    };
    assert_eq!(words(&without), ["-A -u bob id", "-S id"]);
    assert_eq!(words(&within), ["-u bob id", "-S id"]);
}

/// As a user whom the real `sudo` asks, with their password in `HERMES_TEST_SUDO_PASSWORD`.
#[test]
fn the_real_sudo_of_this_machine_takes_the_password() {
    let Ok(right) = std::env::var("HERMES_TEST_SUDO_PASSWORD") else {
        eprintln!("skipped: HERMES_TEST_SUDO_PASSWORD does not say the password of this user");
        return;
    };
    let typist = Typist::new(&[Some("wrong"), Some(&right)]);
    let bench = bench(None, Some(&typist));

    let told = said(&bench.run("sudo -k; sudo id -u; sudo -k; sudo -n true || echo asks; sudo whoami"));

    assert!(told.contains("0\n") && told.contains("asks\n") && told.ends_with("root\n"), "{told}");
    let again: Vec<bool> = typist.questions().iter().map(|question| question.again).collect();
    assert_eq!(again, [false, true], "{told}");
    assert!(!told.contains(&right) && typist.warnings().is_empty(), "{told}");
}
