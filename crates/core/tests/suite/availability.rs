//! Gates: asked once, at the same time, with a deadline, and never stale by accident.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::join;
use hermes_core::availability::{Availability, Change, Verdicts};
use hermes_core::gate::Gate;
use hermes_testkit::{FakeHost, FakeProbe, Latch, Rig, Service, echo};
use serde_json::json;

struct Scene {
    host: Arc<FakeHost>,
    probe: Arc<FakeProbe>,
    gates: Availability,
}

fn scene() -> Scene {
    let (host, probe) = (FakeHost::new(), FakeProbe::new());
    Scene { gates: Availability::new(host.clone(), probe.clone()), host, probe }
}

impl Scene {
    fn ask(&self, gates: &[Gate]) -> Verdicts {
        block_on(self.gates.verdicts(gates))
    }

    fn why_closed(&self, gate: &Gate) -> Option<String> {
        self.ask(std::slice::from_ref(gate)).closed(gate).map(str::to_owned)
    }
}

fn service(address: &'static str) -> Gate {
    Gate::Service(address.into())
}

#[test]
fn each_kind_of_gate_says_what_is_missing_and_opens_when_it_is_there() {
    let scene = scene();
    let gates = [
        (Gate::env("KEY"), "needs KEY"),
        (Gate::program("docker"), "needs the program `docker`"),
        (Gate::File("~/x".into()), "needs ~/x"),
        (Gate::Config("a.b".into()), "needs `a.b` in config.yaml"),
        (service("localhost:1"), "nothing answers at localhost:1"),
        (
            Gate::check("ready", |probe| async move {
                if probe.env("KEY") { Ok(()) } else { Err("not ready".into()) }
            }),
            "not ready",
        ),
        (Gate::All(vec![Gate::env("KEY"), Gate::program("docker")]), "needs KEY; needs the program `docker`"),
        (
            Gate::Any(vec![Gate::env("KEY"), Gate::program("docker")]),
            "needs KEY, or needs the program `docker`",
        ),
        (Gate::Any(vec![]), "no alternative is configured"),
    ];
    for (gate, why) in &gates {
        assert_eq!(scene.why_closed(gate).as_deref(), Some(*why), "{gate}");
    }

    for there in ["KEY", "docker", "~/x"] {
        scene.probe.set(there, true);
    }
    scene.probe.set_config("a.b", json!("x"));
    scene.probe.set_service("localhost:1", Service::Up);
    scene.host.advance(Duration::from_secs(30));

    for (gate, _) in gates.iter().take(8) {
        assert_eq!(scene.why_closed(gate), None, "{gate}");
    }
    assert_eq!(scene.why_closed(&Gate::Open), None);
}

#[test]
fn a_configured_value_that_means_off_keeps_its_gate_closed() {
    let off = [json!(null), json!(false), json!(""), json!([]), json!({})];
    let on = [json!(true), json!(0), json!("x"), json!([1]), json!({ "a": 1 })];
    let open = |value: &serde_json::Value| {
        let scene = scene();
        scene.probe.set_config("key", value.clone());
        scene.why_closed(&Gate::Config("key".into())).is_none()
    };

    assert!(off.iter().all(|value| !open(value)));
    assert!(on.iter().all(open));
}

#[test]
fn a_gate_that_several_tools_share_is_asked_once_per_build() {
    let gate = || Gate::All(vec![Gate::env("KEY"), service("a:1")]);
    let rig = Rig::with([echo("a").gate(gate()), echo("b").gate(gate()), echo("c").gate(gate())]);

    let toolbox = rig.toolbox_now();

    assert_eq!((rig.probe.asked("KEY"), rig.probe.asked("a:1")), (1, 1));
    assert_eq!(toolbox.unavailable().len(), 3);
}

#[test]
fn gates_are_asked_at_the_same_time() {
    let scene = scene();
    let latch = Arc::new(Latch::default());
    for address in ["a:1", "b:1", "c:1"] {
        scene.probe.set_service(address, Service::Slow(latch.clone()));
    }
    let gates = [service("a:1"), service("b:1"), service("c:1")];

    let opened = async {
        latch.until_arrived(3).await;
        latch.open();
    };
    let (verdicts, ()) = block_on(join(scene.gates.verdicts(&gates), opened));

    assert!(gates.iter().all(|gate| verdicts.closed(gate).is_none()));
}

#[test]
fn a_gate_that_does_not_answer_is_closed_after_five_seconds_and_holds_up_no_other() {
    let scene = scene();
    scene.probe.set_service("slow:1", Service::Hangs);
    scene.probe.set("KEY", true);
    let gates = [service("slow:1"), Gate::env("KEY")];

    let (verdicts, ()) =
        block_on(join(scene.gates.verdicts(&gates), scene.host.pass(Duration::from_secs(5))));

    assert_eq!(verdicts.closed(&gates[0]), Some("no answer within 5 s (slow:1 answers)"));
    assert_eq!(verdicts.closed(&gates[1]), None);
    assert_eq!(scene.host.sleepers(), 0);
}

#[test]
fn a_gate_that_panics_is_closed_with_a_reason() {
    let scene = scene();
    scene.probe.set_service("bad:1", Service::Panics);
    let sync = Gate::check("broken", |_| -> std::future::Ready<Result<(), String>> { panic!("no") });
    let later = Gate::check("breaks", |_| async { panic!("no") });

    assert_eq!(scene.why_closed(&service("bad:1")).as_deref(), Some("its check broke (bad:1 answers)"));
    assert_eq!(scene.why_closed(&sync).as_deref(), Some("its check broke (broken)"));
    assert_eq!(scene.why_closed(&later).as_deref(), Some("its check broke (breaks)"));
}

#[test]
fn an_answer_is_good_for_thirty_seconds() {
    let scene = scene();
    let gate = Gate::env("KEY");
    let first = scene.ask(std::slice::from_ref(&gate));
    scene.probe.set("KEY", true);

    scene.host.advance(Duration::from_millis(29_999));
    let fresh = scene.why_closed(&gate);
    scene.host.advance(Duration::from_millis(1));
    let held = scene.gates.still_holds(first.epoch, first.until);
    let stale = scene.why_closed(&gate);

    assert_eq!(fresh.as_deref(), Some("needs KEY"));
    assert!(!held);
    assert_eq!((stale, scene.probe.asked("KEY")), (None, 2));
}

#[test]
fn an_event_makes_the_gates_it_touches_be_asked_again_at_once() {
    let check =
        || Gate::check("c", |probe| async move { if probe.env("c") { Ok(()) } else { Err("no".into()) } });
    let cases = [
        (Gate::env("e"), "e", vec![Change::Environment]),
        (Gate::program("p"), "p", vec![Change::Environment]),
        (Gate::File("f".into()), "f", vec![Change::Environment]),
        (Gate::Config("k".into()), "k", vec![Change::Config]),
        (service("s:1"), "s:1", vec![Change::Connection]),
        (check(), "c", vec![Change::Environment, Change::Config, Change::Connection]),
        (
            Gate::All(vec![Gate::env("ae"), service("as:1")]),
            "ae",
            vec![Change::Environment, Change::Connection],
        ),
    ];
    for (gate, asked, by) in cases {
        for change in [Change::Environment, Change::Config, Change::Connection] {
            let scene = scene();
            let before = scene.ask(std::slice::from_ref(&gate));

            scene.gates.changed(&change);
            let held = scene.gates.still_holds(before.epoch, before.until);
            scene.ask(std::slice::from_ref(&gate));

            assert!(!held, "whatever was built from the old answers is looked at again");
            let again = scene.probe.asked(asked) == 2;
            assert_eq!(again, by.contains(&change), "{gate} after {change:?}");
        }
    }
}

#[test]
fn the_epoch_moves_when_an_answer_changes_and_stays_when_it_does_not() {
    let scene = scene();
    let gate = [Gate::env("KEY")];
    let first = scene.ask(&gate).epoch;
    scene.host.advance(Duration::from_secs(30));
    let same = scene.ask(&gate).epoch;
    scene.probe.set("KEY", true);
    scene.host.advance(Duration::from_secs(30));

    let moved = scene.ask(&gate).epoch;

    assert_eq!(first, same);
    assert_ne!(same, moved);
}

#[test]
fn a_change_while_gates_are_asked_makes_them_be_asked_again() {
    let scene = scene();
    let latch = Arc::new(Latch::default());
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = {
        let (latch, asked) = (latch.clone(), asked.clone());
        Gate::check("slow", move |probe| {
            let (latch, open) = (latch.clone(), probe.env("KEY"));
            asked.fetch_add(1, Ordering::SeqCst);
            async move {
                latch.wait().await;
                if open { Ok(()) } else { Err("no KEY".to_owned()) }
            }
        })
    };
    let change = async {
        latch.until_arrived(1).await;
        scene.probe.set("KEY", true);
        scene.gates.changed(&Change::Environment);
        latch.open();
    };

    let (verdicts, ()) = block_on(join(scene.gates.verdicts([&gate]), change));

    assert_eq!(verdicts.closed(&gate), None);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(scene.gates.still_holds(verdicts.epoch, verdicts.until));
}

#[test]
fn gates_that_change_all_the_time_are_answered_in_the_end_and_not_kept() {
    let scene = Arc::new(scene());
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = {
        let (scene, asked) = (Arc::downgrade(&scene), asked.clone());
        Gate::check("restless", move |_| {
            asked.fetch_add(1, Ordering::SeqCst);
            if let Some(scene) = scene.upgrade() {
                scene.gates.changed(&Change::Connection);
            }
            async { Ok(()) }
        })
    };

    let verdicts = scene.ask(std::slice::from_ref(&gate));

    assert_eq!(verdicts.closed(&gate), None);
    assert!(asked.load(Ordering::SeqCst) <= 3);
    assert!(!scene.gates.still_holds(verdicts.epoch, verdicts.until));
}

#[test]
fn two_builds_at_the_same_time_do_not_close_each_others_gates() {
    let scene = scene();
    let latch = Arc::new(Latch::default());
    scene.probe.set_service("slow:1", Service::Slow(latch.clone()));
    scene.probe.set("KEY", true);
    let (slow, quick) = ([service("slow:1")], [Gate::env("KEY")]);
    let other = async {
        latch.until_arrived(1).await;
        let verdicts = scene.gates.verdicts(&quick).await;
        latch.open();
        verdicts
    };

    let (slowly, quickly) = block_on(join(scene.gates.verdicts(&slow), other));

    assert_eq!(slowly.closed(&slow[0]), None);
    assert_eq!(quickly.closed(&quick[0]), None);
}
