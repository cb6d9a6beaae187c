//! When there is a browser to use. Nothing is started to find out.

use hermes_core::browser::{ADDRESS, NAMES, PLACES, PROGRAM};
use hermes_core::gate::{Gate, Probe};

/// A browser of this machine, or the address of a running one.
pub(crate) fn needs() -> Gate {
    Gate::check("there is a browser", |probe| async move {
        if is_there(probe.as_ref()) {
            return Ok(());
        }
        Err("needs Chromium or Chrome, or the address of a running one in BROWSER_CDP_URL".to_owned())
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
