//! When there is a browser to use. Nothing is started to find out.

use hermes_core::browser::{ADDRESS, NAMES, PLACES, PROGRAM};
use hermes_core::gate::{Gate, Probe};

/// A browser of this machine, or the address of a running one.
pub(crate) fn needs() -> Gate {
    Gate::check("there is a browser", |probe| async move {
        if is_there(probe.as_ref()) {
            return Ok(());
        }
        Err("needs Chromium or Chrome (on Debian: apt install chromium), or the address of a running one in \
             BROWSER_CDP_URL"
            .to_owned())
    })
}

fn is_there(probe: &dyn Probe) -> bool {
    let ((address, address_setting), (programs, program_setting)) = (ADDRESS, PROGRAM);
    let configured = |key: &str| {
        probe.config(key).is_some_and(|value| value.as_str().is_some_and(|text| !text.trim().is_empty()))
    };
    probe.env(address)
        || programs.iter().any(|name| probe.env(name))
        || configured(address_setting)
        || configured(program_setting)
        || NAMES.iter().any(|name| probe.program(name))
        || PLACES.iter().any(|path| probe.file(path))
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use serde_json::{Value, json};

    use super::*;

    /// A machine with one variable, one program, one file or one setting.
    struct Machine(&'static str);

    impl Probe for Machine {
        fn env(&self, name: &str) -> bool {
            self.0 == name
        }

        fn program(&self, name: &str) -> bool {
            self.0 == name
        }

        fn file(&self, path: &str) -> bool {
            self.0 == path
        }

        fn config(&self, key: &str) -> Option<Value> {
            (self.0 == key).then(|| json!("x"))
        }

        fn service(&self, _: &str) -> BoxFuture<'static, bool> {
            Box::pin(std::future::ready(false))
        }
    }

    #[test]
    fn a_program_a_path_or_an_address_is_enough() {
        for one in
            ["chromium", "google-chrome", "BROWSER_PATH", "BROWSER_CDP_URL", "browser.cdp_url", PLACES[1]]
        {
            assert!(is_there(&Machine(one)), "{one}");
        }
        assert!(!is_there(&Machine("firefox")));
    }
}
