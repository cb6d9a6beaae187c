//! The table of patch cases of the tools, each on real files through the whole runtime: what is on
//! the disk afterwards is what the table says, and after an error it is what was there before.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the test makes and looks at real files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes::core::policy::{Policy, PolicyRequest, Verdict};
use hermes::{Runtime, ToolCall};
use serde_json::{Value, json};

struct Yes;

impl Policy for Yes {
    fn judge(&self, _: &PolicyRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/patch_cases");
    let read = |file: fs::DirEntry| fs::read_to_string(file.path()).unwrap();
    let list = |file| serde_json::from_str::<Vec<Value>>(&read(file)).unwrap();
    fs::read_dir(folder).unwrap().flat_map(|file| list(file.unwrap())).collect()
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn every_case_holds_on_the_disk() {
    for case in cases() {
        let one = |value: &Value| BTreeMap::from([("f".to_owned(), value.as_str().unwrap().to_owned())]);
        let many = |value: &Value| serde_json::from_value::<BTreeMap<String, String>>(value.clone()).unwrap();
        let is_patch = case["patch"].is_string();
        let read = |key: &str| if is_patch { many(&case[key]) } else { one(&case[key]) };
        let dir = tempfile::tempdir().unwrap();
        let before = read("before");
        for (name, text) in &before {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let runtime = Runtime::builder().cwd(dir.path()).policy(Yes).build().unwrap();
        let arguments = if is_patch {
            json!({ "mode": "patch", "patch": case["patch"] })
        } else {
            json!({ "path": "f", "old_string": case["old"], "new_string": case["new"],
                    "replace_all": case["all"] == true })
        };

        let outcome = runtime.call_blocking(ToolCall::new("patch", arguments.to_string()));

        let fails = case["error"].is_string();
        let answer: Value = serde_json::from_str(&outcome.body).unwrap();
        assert_eq!(answer["success"], json!(!fails), "{case}\n{answer}");
        assert_eq!(answer["error"].is_string(), fails, "{case}\n{answer}");
        let wanted = if fails { before } else { read("after") };
        assert_eq!(files(dir.path()), wanted, "{case}\n{answer}");
    }
}
