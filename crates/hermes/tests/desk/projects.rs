//! Projects: a folder gets a name, and a session goes there.

use serde_json::json;

use crate::{done, refused, runtime};

#[test]
fn a_session_goes_from_project_to_project() {
    let home = tempfile::tempdir().unwrap();
    for folder in ["web", "app/src"] {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
    }
    std::fs::write(home.path().join("app/notes.txt"), "milk\n").unwrap();
    let session = runtime(&home, "{}", &[]).session().open().unwrap();
    let path = |folder: &str| home.path().join(folder).display().to_string();

    let made = done(&session, "project_create", &json!({ "name": "Web", "path": "web" }));
    assert_eq!((&made["project"]["path"], &made["cwd"]), (&json!(path("web")), &json!(path("web"))));
    done(&session, "project_create", &json!({ "name": "App", "path": "../app" }));
    assert!(
        done(&session, "read_file", &json!({ "path": "notes.txt" }))["content"]
            .as_str()
            .unwrap()
            .contains("milk")
    );
    assert_eq!(done(&session, "project_switch", &json!({ "project": "web" }))["cwd"], path("web"));
    let listed = done(&session, "project_list", &json!({}));

    assert_eq!((&listed["count"], &listed["current"]), (&json!(2), &json!("Web")));
    assert_eq!(listed["last_switched_to"], "Web");
    let other = runtime(&home, "{}", &[]).session().open().unwrap();
    assert_eq!(
        done(&other, "project_list", &json!({}))["current"],
        json!(null),
        "each session stands where it stands"
    );
    assert_eq!(done(&other, "project_switch", &json!({ "project": path("app") }))["project"]["name"], "App");
}

#[test]
fn what_is_no_folder_is_no_project_and_nobody_moves() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "x").unwrap();
    std::fs::create_dir(home.path().join("gone")).unwrap();
    let session = runtime(&home, "{}", &[]).session().open().unwrap();
    let here = done(&session, "project_list", &json!({}))["cwd"].clone();

    for path in ["file", "nowhere"] {
        refused(&session, "project_create", &json!({ "name": "x", "path": path }));
    }
    done(&session, "project_create", &json!({ "name": "here" }));
    let why = refused(&session, "project_create", &json!({ "name": "HERE", "path": "gone" }));
    assert!(why.contains("already a project `here`"), "{why}");
    assert_eq!(done(&session, "project_list", &json!({}))["cwd"], here);
    let why = refused(&session, "project_switch", &json!({ "project": "there" }));
    assert!(why.contains("there are here"), "{why}");
    done(&session, "project_create", &json!({ "name": "gone", "path": "gone" }));
    done(&session, "project_switch", &json!({ "project": "here" }));
    std::fs::remove_dir(home.path().join("gone")).unwrap();
    refused(&session, "project_switch", &json!({ "project": "gone" }));
    assert_eq!(done(&session, "project_list", &json!({}))["cwd"], here);
}
