//! The promises in sandboxes of vendors, against doubles of them, and what must hold when a vendor lets
//! us down.

use std::fs;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hermes_core::environment::{End, EnvError, Run, Why};
use hermes_env::backends::Surroundings;
use serde_json::{Value, json};

use crate::bench::{Bench, usual};
use crate::doubles::Double;
use crate::given::{self, Given};
use crate::processes::until;
use crate::{LONG, tried};

/// A vendor: its backend, where its address is set, and the variables that hold its key.
pub(crate) struct Vendor {
    pub(crate) backend: &'static str,
    address: fn(u16) -> Value,
    keys: &'static [(&'static str, &'static str)],
}

const DAYTONA: Vendor = Vendor {
    backend: "daytona",
    address: |port| json!({ "api_url": format!("http://127.0.0.1:{port}/api") }),
    keys: &[("DAYTONA_API_KEY", "right")],
};

const VERCEL: Vendor = Vendor {
    backend: "vercel_sandbox",
    address: |port| json!({ "api_url": format!("http://127.0.0.1:{port}/api") }),
    keys: &[("VERCEL_TOKEN", "right"), ("VERCEL_TEAM_ID", "team"), ("VERCEL_PROJECT_ID", "project")],
};

const MODAL: Vendor = Vendor {
    backend: "modal",
    address: |port| json!({ "api_url": format!("http://127.0.0.1:{port}") }),
    keys: &[("MODAL_TOKEN_ID", "right"), ("MODAL_TOKEN_SECRET", "right")],
};

pub(crate) const VENDORS: [Vendor; 3] = [DAYTONA, MODAL, VERCEL];

impl Vendor {
    pub(crate) fn bench(&self, double: &Double, more: &Value) -> Bench {
        self.bench_with(double, self.keys, more)
    }

    fn bench_with(&self, double: &Double, keys: &[(&str, &str)], more: &Value) -> Bench {
        self.bench_around(double, keys, more, Surroundings::default())
    }

    fn bench_around(
        &self,
        double: &Double,
        keys: &[(&str, &str)],
        more: &Value,
        around: Surroundings,
    ) -> Bench {
        let mut section = (self.address)(double.port);
        let fields = section.as_object_mut().unwrap();
        fields.insert("persistent".to_owned(), json!(false));
        fields.extend(more.as_object().unwrap().clone());
        Bench::given(self.backend, keys, section, double.folder(), around)
    }

    fn wrong_keys(&self) -> Vec<(&'static str, &'static str)> {
        self.keys.iter().map(|(name, _)| (*name, "wrong")).collect()
    }
}

/// One test for each thing that must hold for every vendor.
macro_rules! vendors {
    ($($name:ident = $vendor:ident),*) => { $(mod $name {
        use super::*;
        vendors!(@each $vendor,
            the_vendors_own_sdk_agrees_with_the_double,
            every_promise_is_kept,
            large_output_is_taken_whole,
            a_missing_key_is_named,
            a_wrong_key_is_a_clear_error,
            a_key_that_runs_out_is_told_and_another_goes_on,
            a_limit_of_the_account_is_told_in_the_vendors_words,
            being_asked_for_patience_is_waited_out,
            a_sandbox_that_vanished_between_calls_is_made_anew_with_a_note,
            a_sandbox_that_vanishes_under_a_command_is_a_clear_error_and_nothing_runs_twice,
            a_connection_that_is_cut_loses_nothing_and_runs_nothing_twice,
            a_full_disk_loses_nothing_but_what_was_being_written,
            a_slow_start_is_waited_for,
            a_place_that_closes_leaves_no_sandbox,
            what_is_kept_is_there_after_a_restart,
            what_dead_runs_left_is_removed_and_nothing_else,
            a_change_of_settings_makes_another_sandbox,
            skills_and_credential_files_are_sent_and_what_was_changed_comes_back_beside
        );
    })* };
    (@each $vendor:ident, $($promise:ident),*) => { $(#[test] fn $promise() { super::$promise(&$vendor); })* };
}

vendors! { daytona = DAYTONA, modal = MODAL, vercel_sandbox = VERCEL }

fn the_vendors_own_sdk_agrees_with_the_double(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };

    assert!(double.driven_by_its_sdk().ends_with("agreed\n"), "{}", double.driven_by_its_sdk());
}

fn every_promise_is_kept(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    // By way of a vendor half a gigabyte takes minutes too.
    for (name, promise) in tried(&[LONG, &["huge_output_is_taken_whole"]].concat()) {
        let begin = Instant::now();
        promise(&vendor.bench(&double, &json!({})));
        eprintln!("{}: {name} ({:?})", vendor.backend, begin.elapsed());
    }
    assert_eq!(double.sandboxes(), Vec::<Value>::new());
}

fn large_output_is_taken_whole(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));

    let ran = bench.run("head -c 20000000 /dev/zero; echo; echo the end");

    assert_eq!(ran.why, Why::Ended(End::Code(0)));
    assert_eq!(ran.output.total, 20_000_009);
    assert!(ran.output.tail.ends_with(b"the end\n"));
}

fn skills_and_credential_files_are_sent_and_what_was_changed_comes_back_beside(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let given = Given::new();
    let mut bench = vendor.bench_around(&double, vendor.keys, &json!({}), given.around());

    given::is_sent(&mut bench, &given);
}

fn wrong(bench: &Bench) -> String {
    let permit = bench.permit("true");
    bench.runtime.block_on(bench.place.run(permit, usual())).unwrap_err().to_string()
}

fn a_missing_key_is_named(vendor: &Vendor) {
    let backend = hermes_env::backends::find(vendor.backend).unwrap();

    for (name, _) in vendor.keys {
        let missing =
            backend.missing(|other| other != *name && vendor.keys.iter().any(|(key, _)| *key == other));
        assert!(missing.as_ref().is_some_and(|said| said.contains(name)), "{missing:?}");
    }
    assert_eq!(backend.missing(|name| vendor.keys.iter().any(|(key, _)| *key == name)), None);
}

fn a_wrong_key_is_a_clear_error(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };

    let said = wrong(&vendor.bench_with(&double, &vendor.wrong_keys(), &json!({})));

    assert!(
        said.contains("does not accept the key")
            && vendor.keys.first().is_some_and(|(name, _)| said.contains(name)),
        "{said}"
    );
}

fn a_key_that_runs_out_is_told_and_another_goes_on(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let kept = json!({ "persistent": true });
    let bench = vendor.bench(&double, &kept);
    bench.run("echo kept > ~/file");
    double.told(&json!({ "status": 401, "message": "Token has expired", "times": 1000 }));

    let said = wrong(&bench);

    assert!(said.contains("does not accept the key") && said.contains("Token has expired"), "{said}");
    double.told(&json!({ "times": 0 }));
    assert_eq!(bench.run("cat ~/file").output.head, b"kept\n");
    bench.runtime.block_on(bench.place.close(true)).unwrap();
}

#[test]
fn a_pass_of_modal_that_runs_out_is_fetched_again() {
    let Some(double) = Double::start("modal") else { return };
    let bench = MODAL.bench(&double, &json!({}));
    bench.run("true");

    let ran =
        disturbed(&bench, "echo a; echo once >> ran; until [ -e go ]; do sleep 0.05; done; echo b", || {
            double.told(&json!({ "expire": true, "cut": true }));
            fs::write(bench.work().join("go"), "").unwrap();
        });

    assert_eq!(ran.unwrap().output.head, b"a\nb\n");
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    assert_eq!(bench.run("echo c").output.head, b"c\n");
}

#[test]
fn a_pass_of_vercel_opens_its_project_until_it_runs_out() {
    let Some(double) = Double::start("vercel_sandbox") else { return };
    let pass = |ends: u64| {
        let claims = json!({ "owner_id": "team", "project_id": "project", "exp": ends }).to_string();
        format!("head.{}.sign", URL_SAFE_NO_PAD.encode(claims))
    };
    let with = |pass: &str| VERCEL.bench_with(&double, &[("VERCEL_OIDC_TOKEN", pass)], &json!({}));

    assert_eq!(with(&pass(u64::from(u32::MAX))).run("echo in").output.head, b"in\n");
    let said = wrong(&with(&pass(1)));

    assert!(said.contains("has expired") && said.contains("`vercel env pull`"), "{said}");
}

fn a_limit_of_the_account_is_told_in_the_vendors_words(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    double.told(&json!({ "status": 402, "message": "10 sandboxes are the most of your plan", "times": 20 }));

    let said = wrong(&bench);

    assert!(said.contains("limit") && said.contains("10 sandboxes are the most of your plan"), "{said}");
    double.told(&json!({ "times": 0 }));
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

fn being_asked_for_patience_is_waited_out(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    let patience =
        json!({ "status": 429, "message": "slow down", "times": 2, "headers": { "Retry-After": "1" } });
    double.told(&patience);
    assert_eq!(bench.run("echo a").output.head, b"a\n");

    double.told(&patience);

    assert_eq!(bench.run("echo b").output.head, b"b\n");
}

fn a_sandbox_that_vanished_between_calls_is_made_anew_with_a_note(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    let shell = bench.run("export A=1").shell;
    double.told(&json!({ "vanish": true }));

    let ran = bench.run_with("echo \"[$A]\"", Run { shell, ..usual() });

    assert_eq!(ran.output.head, b"[]\n");
    assert!(ran.notes.iter().any(|note| note.contains("made anew")), "{:?}", ran.notes);
}

/// Runs a command until it has begun, and does something to it then.
fn disturbed(
    bench: &Bench,
    text: &str,
    disturb: impl FnOnce(),
) -> Result<hermes_core::environment::Ran, EnvError> {
    bench.run("true");
    let permit = bench.permit(text);
    let run = Run { timeout: Duration::from_secs(30), ..usual() };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.runtime.block_on(bench.place.run(permit, run)));
        // The file is there before anything is in it.
        until("it runs", || fs::read(bench.work().join("ran")).is_ok_and(|text| !text.is_empty()));
        disturb();
        running.join().unwrap()
    })
}

fn a_sandbox_that_vanishes_under_a_command_is_a_clear_error_and_nothing_runs_twice(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));

    let wrong = disturbed(&bench, "echo once >> ran; sleep 100", || double.told(&json!({ "vanish": true })));

    let wrong = wrong.unwrap_err();
    assert!(matches!(wrong, EnvError::CutOff { .. }), "{wrong}");
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

fn a_connection_that_is_cut_loses_nothing_and_runs_nothing_twice(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    let text = "echo before; echo once >> ran; until [ -e go ]; do sleep 0.05; done; echo after; exit 3";

    let ran = disturbed(&bench, text, || {
        double.told(&json!({ "cut": true }));
        fs::write(bench.work().join("go"), "").unwrap();
    });

    let ran = ran.unwrap();
    assert_eq!(ran.why, Why::Ended(End::Code(3)));
    assert_eq!(ran.output.head, b"before\nafter\n");
    assert_eq!(fs::read_to_string(bench.work().join("ran")).unwrap(), "once\n");
}

fn a_full_disk_loses_nothing_but_what_was_being_written(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT RUN: only root can make a small disk");
        return;
    }
    double.told(&json!({ "disk": 2 }));
    let bench = vendor.bench(&double, &json!({}));
    let shell = bench.run("export A=1; echo kept > ~/file").shell;

    let full = bench.run_with("head -c 5000000 /dev/zero > ~/fill", Run { shell, ..usual() });
    assert!(String::from_utf8_lossy(&full.output.head).contains("No space left"));
    // Our own folder there is on the same disk: a command is told as it is all the same, and reads what it
    // is given, however much that is.
    let next = bench.run_with("echo $A; exit 3", Run { shell: full.shell, ..usual() });
    assert_eq!((next.why, next.output.head.as_slice()), (Why::Ended(End::Code(3)), b"1\n".as_slice()));
    let read = bench.run_with("wc -c", Run { input: vec![b'x'; 500_000], ..usual() });
    assert_eq!(String::from_utf8_lossy(&read.output.head).trim(), "500000");
    let freed = bench.run_with("rm ~/fill; export B=2", Run { shell: next.shell, ..usual() });

    assert_eq!(bench.output("echo $A$B; cat ~/file", &freed.shell), "12\nkept\n");
    drop(bench);
    assert_eq!(double.sandboxes(), Vec::<Value>::new());
}

#[test]
fn a_disk_that_the_account_does_not_have_is_told_in_the_vendors_words() {
    let Some(double) = Double::start("daytona") else { return };
    let bench = DAYTONA.bench(&double, &json!({}));
    let said = "Total disk limit exceeded. Maximum allowed: 30GiB.";
    double.told(&json!({ "status": 403, "message": said, "times": 20 }));

    let wrong = wrong(&bench);

    assert!(wrong.contains("limit of the account") && wrong.contains(said), "{wrong}");
    double.told(&json!({ "times": 0 }));
    assert_eq!(bench.run("true").why, Why::Ended(End::Code(0)));
}

fn a_slow_start_is_waited_for(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    double.told(&json!({ "slow": 1.5 }));

    let begin = Instant::now();
    let bench = vendor.bench(&double, &json!({}));

    assert_eq!(bench.run("echo there").output.head, b"there\n");
    assert!(begin.elapsed() > Duration::from_millis(1500));
    assert_eq!(double.sandboxes().len(), 1);
}

fn a_place_that_closes_leaves_no_sandbox(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    bench.run("true");
    assert_eq!(double.sandboxes().len(), 1);

    drop(bench);

    assert_eq!(double.sandboxes(), Vec::<Value>::new());
}

fn what_is_kept_is_there_after_a_restart(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let kept = json!({ "persistent": true });
    let bench = vendor.bench(&double, &kept);
    bench.run("echo kept > ~/file");
    drop(bench);
    until("it is stopped", || double.sandboxes().iter().all(|one| one["state"] != "started"));

    let bench = vendor.bench(&double, &kept);
    let ran = bench.run("cat ~/file");

    assert_eq!(ran.output.head, b"kept\n");
    bench.runtime.block_on(bench.place.close(true)).unwrap();
    assert_eq!(double.sandboxes(), Vec::<Value>::new());
}

fn what_dead_runs_left_is_removed_and_nothing_else(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({}));
    bench.run("true");
    let labels = double.sandboxes().first().unwrap().get("labels").unwrap().clone();
    let made = |name: &str, change: &[(&str, &str)]| {
        let mut labels = labels.clone();
        for (label, value) in change {
            labels.as_object_mut().unwrap().insert((*label).to_owned(), json!(value));
        }
        double.told(&json!({ "make": { "name": name, "labels": labels } }));
    };
    made("dead", &[("hermes_made_by", "4000000.1")]);
    made("kept", &[("hermes_made_by", "4000000.1"), ("hermes_stays", "1")]);
    made("foreign", &[("hermes_made_by", "4000000.1"), ("hermes_owner", "somebody")]);

    vendor.bench(&double, &json!({})).run("true");

    let names: Vec<_> =
        double.sandboxes().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"kept".to_owned()) && names.contains(&"foreign".to_owned()), "{names:?}");
}

#[test]
fn a_sandbox_that_the_vendor_stopped_is_started_again() {
    for vendor in [DAYTONA, VERCEL] {
        let Some(double) = Double::start(vendor.backend) else { return };
        let bench = vendor.bench(&double, &json!({ "persistent": true }));
        bench.run("echo kept > ~/file");
        double.told(&json!({ "stop": true }));

        let ran = bench.run("cat ~/file");

        assert_eq!(ran.output.head, b"kept\n");
        assert!(ran.notes.iter().any(|note| note.contains("started again")), "{:?}", ran.notes);
        bench.runtime.block_on(bench.place.close(true)).unwrap();
    }
}

#[test]
fn a_modal_sandbox_that_ended_begins_again_with_what_was_kept_last() {
    let Some(double) = Double::start("modal") else { return };
    let bench = MODAL.bench(&double, &json!({ "persistent": true }));
    bench.run("echo kept > ~/file");
    bench.runtime.block_on(bench.place.close(false)).unwrap();
    assert_eq!(bench.run("cat ~/file; echo lost > ~/other").output.head, b"kept\n");
    double.told(&json!({ "stop": true }));

    let ran = bench.run("cat ~/file ~/other 2>/dev/null");

    assert_eq!(ran.output.head, b"kept\n");
    assert!(ran.notes.iter().any(|note| note.contains("started again")), "{:?}", ran.notes);
    bench.runtime.block_on(bench.place.close(true)).unwrap();
    assert_eq!(double.sandboxes(), Vec::<Value>::new());
}

fn a_change_of_settings_makes_another_sandbox(vendor: &Vendor) {
    let Some(double) = Double::start(vendor.backend) else { return };
    let bench = vendor.bench(&double, &json!({ "persistent": true }));
    bench.run("echo kept > ~/file");
    drop(bench);

    let bench = vendor.bench(&double, &json!({ "persistent": true, "env": { "COLOUR": "blue" } }));
    let ran = bench.run("cat ~/file 2>/dev/null; echo $COLOUR");

    assert_eq!(ran.output.head, b"blue\n");
    assert_eq!(double.sandboxes().len(), 1);
    bench.runtime.block_on(bench.place.close(true)).unwrap();
}

#[test]
fn an_image_that_cannot_be_built_is_told_and_leaves_nothing_behind() {
    for (vendor, expected) in
        [(DAYTONA, "could not be started"), (MODAL, "could not be built: no such image")]
    {
        let Some(double) = Double::start(vendor.backend) else { return };
        let bench = vendor.bench(&double, &json!({ "image": "no-such-image:1" }));

        let said = wrong(&bench);

        assert!(said.contains(expected), "{said}");
        assert_eq!(double.sandboxes(), Vec::<Value>::new());
    }
}
