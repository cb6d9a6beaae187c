//! What commands are given, and what of their own stays.

use super::*;

fn dressed(variables: &[(&str, &str)], asks: Asks) -> Vec<(String, String)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let host: Arc<dyn Host> = Arc::new(TestHost(runtime.handle().clone()));
    let private = tempfile::tempdir().unwrap();
    let settings = SudoSettings { helper: "/bin/true".into(), configured: None, asker: None };
    let sudo = Sudo::open(settings, private.path(), &host).unwrap();
    let mut given = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();

    sudo.dress(&mut given, asks);

    let folder = private.path().to_str().unwrap();
    let shown = |text: OsString| text.into_string().unwrap().replace(folder, "PRIVATE");
    given.into_iter().map(|(name, value)| (shown(name), shown(value))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

struct TestHost(tokio::runtime::Handle);

impl Host for TestHost {
    fn now(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn sleep(&self, time: std::time::Duration) -> futures::future::BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn run_blocking(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.spawn_blocking(job);
    }
}

#[test]
fn a_command_finds_the_helper_and_the_link_once() {
    let expected =
        pairs(&[("PATH", "PRIVATE/sudo/bin:/usr/bin:/bin"), ("SUDO_ASKPASS", "PRIVATE/sudo/hermes-askpass")]);

    assert_eq!(dressed(&[("PATH", "/usr/bin:/bin")], Asks::ThePerson), expected);
}

#[test]
fn in_the_background_another_helper_is_found_whatever_an_earlier_command_left() {
    let left = [("SUDO_ASKPASS", "/run/old/sudo/hermes-askpass"), ("PATH", "/bin")];

    let given = dressed(&left, Asks::Nobody);

    let expected =
        pairs(&[("PATH", "PRIVATE/sudo/bin:/bin"), ("SUDO_ASKPASS", "PRIVATE/sudo/hermes-askpass-quiet")]);
    assert_eq!(given, expected);
}

#[test]
fn a_helper_of_the_persons_own_stays() {
    let own = [("SUDO_ASKPASS", "/usr/bin/ksshaskpass"), ("PATH", "/bin")];

    assert_eq!(dressed(&own, Asks::ThePerson), pairs(&own));
}
