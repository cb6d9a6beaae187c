//! What can be written and read behind the fence.

use std::fs;
use std::os::unix::fs::symlink;

use hermes::env::fence::{Effect, Fence, Ground, Level};

use crate::yard::{HERMES, Yard, refused, said, works};

const BOTH: [Level; 2] = [Level::Workspace, Level::Strict];

#[test]
fn work_inside_goes_on_as_usual() {
    for level in BOTH {
        works(
            &Yard::new(),
            level,
            &[
                "echo x > new && cat new && rm new",
                "mkdir -p a/b && echo x > a/b/c && mv a/b/c sub/c && ln sub/c sub/d && rm -r a sub",
                "ln -s file link && mkfifo pipe && chmod +x file && : > file",
                "echo x > $Y/temp/x && mv $Y/temp/x . ",
                "echo x > /dev/null && echo x > /dev/stdout && head -c 9 /dev/urandom > /dev/null",
                "cat < <(echo x) && echo x | tee sub2 | cat",
                "ls / ~ /etc > /dev/null; cat $Y/out/file $Y/home/plain $Y/home/docs/a /etc/passwd > /dev/null",
                "exec 5<<<here; cat <&5; cat /proc/self/status > /dev/null; ls -l /proc/self/fd > /dev/null",
            ],
        );
    }
}

#[test]
fn nothing_outside_is_written_by_any_road() {
    for level in BOTH {
        let yard = Yard::new();
        symlink(yard.at("out"), yard.at("ws/link")).unwrap();
        symlink(yard.at("out/file"), yard.at("ws/filelink")).unwrap();

        refused(
            &yard,
            level,
            &[
                "echo x > $Y/out/new",
                "echo x >> $Y/out/file",
                "truncate -s 0 $Y/out/file",
                "rm $Y/out/file",
                "mkdir $Y/out/d",
                "ln -s x $Y/out/l",
                "mkfifo $Y/out/p",
                "echo x > link/new",
                "echo x > filelink",
                "echo x > ../out/new",
                "echo x > /proc/self/cwd/../out/new",
                "echo x > /proc/self/root$Y/out/new",
                "mv file $Y/out/moved",
                "mv -n $Y/out/file moved",
                "ln file $Y/out/hard",
                "ln $Y/out/file hard",
                "mv $Y/out $Y/ws/out",
                "bash -c '(setsid bash -c \"echo x > $Y/out/grandchild\")'",
                "cp /bin/true ./own && ./own && bash -c 'echo x > $Y/out/new'",
                "echo x > /etc/hermes-fence",
                "mknod ./disk b 7 0",
                "mknod ./mem c 1 1",
                "echo x > /proc/sys/kernel/hostname",
            ],
        );
        assert_eq!(fs::read_to_string(yard.at("out/file")).unwrap(), "out/file");
        assert_eq!(fs::read_dir(yard.at("out")).unwrap().count(), 1);
    }
}

#[test]
fn credentials_cannot_be_read_by_any_road() {
    for level in BOTH {
        let yard = Yard::new();
        symlink(yard.at("home/.ssh"), yard.at("ws/keys")).unwrap();

        refused(
            &yard,
            level,
            &[
                "cat $Y/home/.ssh/id",
                "cat keys/id",
                "cat /proc/self/root$Y/home/.ssh/id",
                "cp -r $Y/home/.ssh/id .",
                "ln $Y/home/.ssh/id mine",
                "mv $Y/home/.ssh mine",
                "echo x >> $Y/home/.ssh/config",
                "tr '\\0' '\\n' < /proc/$PPID/environ",
                "bash -c 'exec cat $Y/home/.ssh/id'",
            ],
        );
        works(&yard, level, &["cat $Y/home/.ssh/config $Y/home/plain", "ls $Y/home"]);
    }
}

#[test]
fn a_link_is_followed_when_the_fence_is_made_and_never_again() {
    let yard = Yard::new();
    fs::create_dir(yard.at("real")).unwrap();
    fs::write(yard.at("real/key"), "").unwrap();
    symlink(yard.at("real"), yard.at("home/.gnupg")).unwrap();
    fs::create_dir(yard.at("ws/granted")).unwrap();
    let mut ground = yard.ground();
    ground.unreadable.push(yard.at("home/.gnupg"));
    ground.granted.push(yard.at("ws/granted"));
    let fence = Fence::new(Level::Workspace, HERMES, &ground).unwrap();

    assert_ne!(yard.behind(&fence, "cat $Y/real/key").code, Some(0));
    assert_ne!(yard.behind(&fence, "cat $Y/home/.gnupg/key").code, Some(0));
    // A command replaces what was granted; the next one is not led outside by it.
    assert_eq!(yard.behind(&fence, "rmdir granted && ln -s $Y/out granted").code, Some(0));
    let said = yard.behind(&fence, "echo x > granted/new");
    assert!(said.err.contains("Permission denied"), "{said:?}");
    assert!(!yard.at("out/new").exists());
}

#[test]
fn credentials_in_the_workspace_are_kept_and_the_rest_of_it_can_be_used() {
    let yard = Yard::new();
    let ground =
        Ground { workspace: yard.at("home"), unwritable: vec![yard.at("home/docs")], ..yard.ground() };
    let fence = Fence::new(Level::Workspace, HERMES, &ground).unwrap();

    assert_eq!(fence.frozen(), [yard.at("home")]);
    for (script, code) in [
        ("cd $Y/home && echo x > .config/gh/new && echo x > plain && cat docs/a .ssh/config", 0),
        ("cat $Y/home/.ssh/id", 1),
        ("echo x > $Y/home/.ssh/authorized_keys", 1),
        ("mkdir $Y/home/.aws", 1),
        ("mv $Y/home/.ssh $Y/home/x", 1),
        ("echo x > $Y/home/docs/a", 1),
        ("echo x > $Y/home/docs/new", 1),
        ("echo x > $Y/home/new", 1),
    ] {
        assert_eq!(yard.behind(&fence, script).code, Some(code), "{script}");
    }
}

#[test]
fn what_is_called_impossible_is_refused() {
    let yard = Yard::new();
    let fence = yard.fence(Level::Workspace);
    for name in ["ws/x", "out/x", "temp/x", "home/x", "home/.ssh/x", "ws/sub/x", "home/docs/x"] {
        let path = yard.at(name);

        let worked = yard.behind(&fence, &format!("echo x > {}", path.display())).code == Some(0);

        assert_eq!(fence.makes_impossible(Effect::Write(&path)), !worked, "{name}");
    }
    for name in ["ws/file", "out/file", "home/.ssh/id", "home/.ssh/config", "home/plain"] {
        let path = yard.at(name);

        let worked = yard.behind(&fence, &format!("cat {}", path.display())).code == Some(0);

        assert_eq!(fence.makes_impossible(Effect::Read(&path)), !worked, "{name}");
    }
}

#[test]
fn the_fence_holds_for_other_users_too() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let yard = Yard::new();
    let fence = Fence::new(Level::Strict, yard.open_to_all(), &yard.ground()).unwrap();
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let run = |script: &str| said(yard.prepared(&fence, &nobody, script));

    assert_eq!(run("id -u").out, "65534\n");
    assert_eq!(run("echo x > new").code, Some(0));
    for script in ["echo x > $Y/out/new", "cat $Y/home/.ssh/id", "exec 3<>/dev/tcp/127.0.0.1/1"] {
        let said = run(script);
        assert!(said.err.contains("Permission denied"), "{script}: {said:?}");
    }
}

#[test]
fn a_fence_cannot_be_taken_down_from_inside() {
    let yard = Yard::new();
    let wider = Ground { workspace: yard.at(""), ..Ground::default() };
    let wrapped =
        Fence::new(Level::Workspace, HERMES, &wider).unwrap().wrap("/bin/bash".as_ref(), ["bash".into()]);
    let words: Vec<String> =
        wrapped.arguments[1..].iter().map(|word| format!("'{}'", word.display())).collect();

    let script = format!("{HERMES} {} -c 'echo x > $Y/out/new'", words.join(" "));
    let said = yard.run(Level::Workspace, &script);

    assert!(said.err.contains("Permission denied"), "{said:?}");
    assert!(!yard.at("out/new").exists());
    refused(
        &yard,
        Level::Workspace,
        &["mount -t tmpfs none $Y/out", "unshare -rm true && unshare -m mount --bind $Y/ws $Y/out"],
    );
}
