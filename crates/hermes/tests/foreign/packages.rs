//! Plugins in Python packages that were installed in place: their code lies where somebody works on it, and a
//! change of it is noticed.

use std::os::unix::fs::PermissionsExt as _;

use hermes::Runtime;
use hermes::store::Home;
use hermes_testkit::TempHome;
use serde_json::json;

use crate::{call, tool_lines};

/// A runtime whose Python has its packages in the folder `site`.
fn runtime(home: &TempHome) -> Runtime {
    let (bin, site) = (home.path().join("bin"), home.path().join("site"));
    home.write("boot/sitecustomize.py", &format!("import site\nsite.addsitedir('{}')\n", site.display()));
    let path = std::env::var("PATH").unwrap();
    let lines = format!(
        "#!/bin/sh\nPATH='{path}'\nexport PATH PYTHONPATH='{}'\nexec python3 \"$@\"\n",
        home.path().join("boot").display()
    );
    let python = home.write("bin/python3", &lines);
    std::fs::set_permissions(python, std::fs::Permissions::from_mode(0o755)).unwrap();
    Runtime::builder()
        .cwd(home.path().join("project"))
        .home(Home::at(&home.path().join("home")))
        .env([("PATH".to_owned(), format!("{}:{path}", bin.display()))])
        .build()
        .unwrap()
}

/// What pip leaves behind of a package that was installed in place from the folder `work`.
fn installed(home: &TempHome, module: &str, pth: &str) {
    let about = "site/pack-1.2.dist-info";
    home.write(&format!("{about}/entry_points.txt"), &format!("[hermes_agent.plugins]\npack = {module}\n"));
    home.write(&format!("{about}/RECORD"), "__editable__.pack-1.2.pth,sha256=x,1\n");
    let url =
        json!({ "url": format!("file://{}/work", home.path().display()), "dir_info": { "editable": true } });
    home.write(&format!("{about}/direct_url.json"), &url.to_string());
    home.write("site/__editable__.pack-1.2.pth", &pth.replace("HERE", &home.path().display().to_string()));
    home.write("home/config.yaml", "plugins:\n  enabled: [pack]\n");
}

fn bringing(tool: &str) -> String {
    format!("import json\n\ndef register(ctx):\n{}", tool_lines(tool))
}

/// At each start its tools are those that its code brings by then.
fn is_followed(home: &TempHome, code: &str) {
    home.write(code, &bringing("first"));
    let learning = runtime(home);
    // Where packages are is asked beside everything else.
    learning.plugins();
    learning.try_plugins(&["pack".to_owned()]);
    let first = call(&learning, "first", &json!({}));
    assert!(first.body.contains("first"), "{first:?} {:?}", learning.foreign_problems());
    assert_eq!(learning.foreign_problems(), Vec::<String>::new());

    home.write(code, &bringing("second_and_longer"));
    let later = runtime(home);
    later.wait_for_tool("second_and_longer");

    let tools = later.tools();
    assert!(tools.tool("second_and_longer").is_some(), "{:?}", later.foreign_problems());
    assert!(tools.tool("first").is_none());
}

#[test]
fn code_in_a_folder_that_a_path_file_names_is_followed() {
    let home = TempHome::new();
    installed(&home, "pack_plugin.inner:register", "HERE/work/src\n");
    home.write("work/src/pack_plugin/__init__.py", "");

    is_followed(&home, "work/src/pack_plugin/inner.py");
}

#[test]
fn a_package_that_was_linked_after_python_was_asked_is_found_and_followed() {
    let home = TempHome::new();
    home.write("site/README", "");
    home.write("home/config.yaml", "plugins:\n  enabled: [pack]\n");
    assert!(runtime(&home).plugins().iter().all(|plugin| plugin.key != "pack"));

    // What `setup.py develop` leaves behind.
    let folder = format!("{}\n", home.path().join("work/src").display());
    home.write("site/easy-install.pth", &folder);
    home.write("site/pack.egg-link", &format!("{folder}../"));
    home.write(
        "work/src/pack.egg-info/entry_points.txt",
        "[hermes_agent.plugins]\npack = pack_plugin:register\n",
    );
    home.write("work/src/pack_plugin.py", &bringing("linked"));
    let later = runtime(&home);
    later.wait_for_tool("linked");
    assert!(later.tools().tool("linked").is_some(), "{:?}", later.foreign_problems());

    is_followed(&home, "work/src/pack_plugin.py");
}

#[test]
fn code_that_a_finder_of_setuptools_knows_is_followed() {
    let home = TempHome::new();
    let finder = "__editable___pack_1_2_finder";
    installed(&home, "pack_plugin:register", &format!("import {finder}; {finder}.install()\n"));
    let place = home.path().join("work/pack_plugin");
    let lines = format!(
        "import importlib.util, sys\nMAPPING: dict = {{'pack_plugin': '{}'}}\n\nclass Finder:\n    \
         @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            \
         return importlib.util.spec_from_file_location(name, MAPPING[name] + '.py')\n\n\
         def install():\n    sys.meta_path.append(Finder)\n",
        place.display()
    );
    home.write(&format!("site/{finder}.py"), &lines);

    is_followed(&home, "work/pack_plugin.py");
}
