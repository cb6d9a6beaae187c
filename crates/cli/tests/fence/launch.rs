//! What the launcher passes on, and that it fails closed.

use std::collections::BTreeMap;
use std::process::Command;

use hermes::env::fence::{Fence, Level, NOT_RUN};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::yard::{HERMES, Said, Yard, said};

#[test]
fn everything_else_is_passed_on_as_it_was() {
    let yard = Yard::new();
    let fence = yard.fence(Level::Strict);
    let through = ["bash", "-c", "echo $$; exec 7<file; exec \"$0\" \"$@\""];
    let mut command = yard.prepared(&fence, &through, "echo $$ $0 $PWD $WITH; cat <&7; cat; exit 7");
    command.env("WITH", "a  b");

    let said = said(command);

    let mut lines = said.out.lines();
    let pid = lines.next().unwrap();
    assert_eq!(lines.next().unwrap(), format!("{pid} the-name {} a b", yard.at("ws").display()));
    assert_eq!((lines.next(), lines.next()), (Some("ws/file"), None));
    assert_eq!((said.code, said.err.as_str()), (Some(7), ""));
}

#[test]
fn the_parent_death_signal_stays_and_privileges_cannot_be_gained() {
    let yard = Yard::new();

    let script = "exec setpriv --dump";
    let said =
        said(yard.prepared(&yard.fence(Level::Workspace), &["setpriv", "--pdeathsig", "KILL"], script));

    assert!(said.out.contains("Parent death signal: KILL"), "{said:?}");
    assert!(said.out.contains("no_new_privs: 1"), "{said:?}");
}

#[test]
fn wrong_demands_run_nothing() {
    let yard = Yard::new();
    let mark = yard.at("ws/ran");
    let touch = ["/bin/touch", "touch", mark.to_str().unwrap()];
    for demands in [&["--"][..0], &["write:relative", "--"], &["stirct", "--"]] {
        let mut command = Command::new(HERMES);
        command.arg("__fenced").args(demands).args(touch);

        let said = said(command);

        assert_eq!(said.code, Some(i32::from(NOT_RUN)), "{said:?}");
        assert!(said.err.starts_with("hermes: the command was not run: "), "{said:?}");
    }
    assert!(!mark.exists());
}

#[test]
fn a_program_that_is_not_there_is_said_so() {
    let yard = Yard::new();
    let fence = yard.fence(Level::Workspace);
    let wrapped = fence.wrap("/no/such".as_ref(), ["such".into()]);
    let mut command = Command::new(wrapped.program);
    command.args(&wrapped.arguments[1..]);

    let said = said(command);

    assert_eq!(said.code, Some(i32::from(NOT_RUN)));
    assert!(said.err.contains("cannot start /no/such: No such file"), "{said:?}");
}

/// Runs a script where the kernel answers one call as if it did not have it.
fn on_a_kernel_without(call: i64, yard: &Yard, fence: &Fence, script: &str) -> Said {
    let answer = SeccompAction::Errno(u32::try_from(libc::ENOSYS).unwrap());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter =
        SeccompFilter::new(BTreeMap::from([(call, Vec::new())]), SeccompAction::Allow, answer, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let command = yard.prepared(fence, &[], script);
    // The filter is for one thread and what it starts; the thread ends with the answer.
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            seccompiler::apply_filter(&program).unwrap();
            said(command)
        });
        running.join().unwrap()
    })
}

#[test]
fn without_landlock_or_seccomp_nothing_runs_that_needs_them() {
    let yard = Yard::new();
    let script = "echo ran; touch $Y/ws/ran";
    let (workspace, strict) = (yard.fence(Level::Workspace), yard.fence(Level::Strict));

    for (call, fence) in [
        (libc::SYS_landlock_create_ruleset, &workspace),
        (libc::SYS_landlock_add_rule, &workspace),
        (libc::SYS_landlock_restrict_self, &workspace),
        (libc::SYS_landlock_create_ruleset, &strict),
        (libc::SYS_seccomp, &strict),
    ] {
        let said = on_a_kernel_without(call, &yard, fence, script);

        assert_eq!((said.code, said.out.as_str()), (Some(i32::from(NOT_RUN)), ""), "{call}: {said:?}");
        assert!(said.err.contains("the fence could not be put up: "), "{said:?}");
    }
    assert!(!yard.at("ws/ran").exists());
    let open = on_a_kernel_without(libc::SYS_landlock_create_ruleset, &yard, &yard.fence(Level::Off), script);
    assert_eq!((open.code, open.out.as_str()), (Some(0), "ran\n"), "{open:?}");
}

#[test]
fn the_self_test_says_when_the_fence_cannot_be_put_up() {
    let yard = Yard::new();
    let fence = Fence::new(Level::Strict, "/bin/false", &yard.ground()).unwrap();

    let report = fence.self_test(&yard.at("temp"));

    assert!(!report.holds());
    assert!(report.broken.unwrap().contains("exit status: 1"));
    assert!(!yard.fence(Level::Strict).self_test(&yard.at("none")).holds());
    let good = yard.fence(Level::Strict).self_test(&yard.at("temp"));
    assert!(good.holds(), "{good:?}");
    assert_eq!(std::fs::read_dir(yard.at("temp")).unwrap().count(), 0);
}
