//! Delegation to people: every call that sends, spends, schedules or controls says so before it is made.
//!
//! A loop over the table of tools. For every tool, and for every action of one that has several, there is a
//! call below with what it must declare; a tool or an action without one fails the test.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers are part of the tests")]

use std::collections::BTreeSet;
use std::sync::Arc;

use hermes_core::cx::Services;
use hermes_core::effect::{ActKind, Effect};
use hermes_core::keys::Keys;
use hermes_core::session::Place;
use hermes_core::tool::ToolEntry;
use hermes_testkit::{FakeFiles, FakeHost};
use serde_json::{Value, json};

/// Every key is set; speech is by a service.
struct Rich;

impl Keys for Rich {
    fn key(&self, name: &str) -> Option<String> {
        Some(format!("{}-value", name.to_lowercase()))
    }

    fn setting(&self, key: &str) -> Option<Value> {
        (key == "tts.provider").then(|| json!("openai"))
    }
}

use ActKind::{Control, Schedule, Send, Spend};

/// What acts, and how.
fn acts() -> Vec<(&'static str, Value, ActKind)> {
    let at = json!([1, 2]);
    let screen = |action: &str, more: &Value| {
        let mut arguments = json!({ "action": action });
        merge(&mut arguments, more);
        ("computer_use", arguments, Control)
    };
    let message = |action: &str| {
        let arguments = json!({ "action": action, "guild_id": "1", "channel_id": "2", "message_id": "3", "user_id": "4", "role_id": "5" });
        ("discord_admin", arguments, Control)
    };
    let play = |action: &str, more: &Value| {
        let mut arguments = json!({ "action": action });
        merge(&mut arguments, more);
        ("spotify_playback", arguments, Control)
    };
    let track = "spotify:track:4iV5W9uYEdYUVa79Axb7Rh";
    let list = |action: &str| {
        let arguments = json!({ "action": action, "playlist_id": "37i9dQZF1DXcBWIGoYBM5M", "uris": [track], "name": "n" });
        ("spotify_playlists", arguments, Control)
    };
    vec![
        screen("click", &json!({ "coordinate": at })),
        screen("double_click", &json!({ "coordinate": at })),
        screen("right_click", &json!({ "coordinate": at })),
        screen("middle_click", &json!({ "coordinate": at })),
        screen("drag", &json!({ "from_coordinate": at, "to_coordinate": at })),
        screen("scroll", &json!({ "direction": "down", "coordinate": at })),
        screen("type", &json!({ "text": "x" })),
        screen("key", &json!({ "keys": "a" })),
        screen("set_value", &json!({ "element": 1, "value": "x" })),
        screen("focus_app", &json!({ "app": "x" })),
        ("cronjob", json!({ "action": "create", "schedule": "@daily", "prompt": "Look" }), Schedule),
        ("cronjob", json!({ "action": "update", "job_id": "x" }), Schedule),
        ("cronjob", json!({ "action": "resume", "job_id": "x" }), Schedule),
        ("cronjob", json!({ "action": "run", "job_id": "x" }), Schedule),
        ("cronjob", json!({ "action": "remove", "job_id": "x" }), Schedule),
        ("discord", json!({ "action": "create_thread", "channel_id": "1", "name": "n" }), Send),
        message("pin_message"),
        message("unpin_message"),
        message("delete_message"),
        message("add_role"),
        message("remove_role"),
        ("feishu_drive_add_comment", json!({ "file_token": "doxcnabc", "content": "x" }), Send),
        (
            "feishu_drive_reply_comment",
            json!({ "file_token": "doxcnabc", "comment_id": "1", "content": "x" }),
            Send,
        ),
        (
            "ha_call_service",
            json!({ "domain": "light", "service": "turn_on", "entity_id": "light.x" }),
            Control,
        ),
        ("image_generate", json!({ "prompt": "x" }), Spend),
        ("video_generate", json!({ "prompt": "x" }), Spend),
        ("xai_video_edit", json!({ "prompt": "x", "video_url": "https://v.example/a.mp4" }), Spend),
        ("xai_video_extend", json!({ "prompt": "x", "video_url": "https://v.example/a.mp4" }), Spend),
        ("text_to_speech", json!({ "text": "x" }), Spend),
        ("mixture_of_agents", json!({ "user_prompt": "x" }), Spend),
        ("rl_start_training", json!({}), Spend),
        ("rl_test_inference", json!({}), Spend),
        ("send_message", json!({ "action": "send", "target": "telegram:7", "message": "x" }), Send),
        ("spotify_devices", json!({ "action": "transfer", "device_id": "d1" }), Control),
        ("spotify_library", json!({ "kind": "tracks", "action": "save", "uris": [track] }), Control),
        ("spotify_library", json!({ "kind": "tracks", "action": "remove", "uris": [track] }), Control),
        play("play", &json!({})),
        play("pause", &json!({})),
        play("next", &json!({})),
        play("previous", &json!({})),
        play("seek", &json!({ "position_ms": 1 })),
        play("set_repeat", &json!({ "state": "track" })),
        play("set_shuffle", &json!({ "state": true })),
        play("set_volume", &json!({ "volume_percent": 5 })),
        list("create"),
        list("add_items"),
        list("remove_items"),
        list("update_details"),
        ("spotify_queue", json!({ "action": "add", "uri": track }), Control),
        ("yb_send_dm", json!({ "user_id": "u", "message": "x" }), Send),
        ("yb_send_sticker", json!({ "sticker": "x", "chat_id": "c" }), Send),
    ]
}

/// What acts in nobody's name: it looks, works on this machine, or is judged as a command or by its address.
fn others() -> Vec<(&'static str, Value)> {
    let mut calls = actions();
    calls.extend([
        ("browser_dialog", json!({ "action": "accept" })),
        ("browser_dialog", json!({ "action": "dismiss" })),
        ("computer_use", json!({ "action": "wait", "seconds": 1 })),
        ("computer_use", json!({ "action": "capture" })),
        ("computer_use", json!({ "action": "list_apps" })),
        ("computer_use", json!({ "action": "list_windows" })),
        ("cronjob", json!({ "action": "list" })),
        ("cronjob", json!({ "action": "pause", "job_id": "x" })),
        ("discord", json!({ "action": "search_members", "guild_id": "1", "query": "a" })),
        ("discord", json!({ "action": "fetch_messages", "channel_id": "1" })),
        ("send_message", json!({ "action": "list" })),
        ("spotify_devices", json!({ "action": "list" })),
        ("spotify_library", json!({ "kind": "albums", "action": "list" })),
        ("spotify_playlists", json!({ "action": "list" })),
        ("spotify_playlists", json!({ "action": "get", "playlist_id": "37i9dQZF1DXcBWIGoYBM5M" })),
        ("spotify_queue", json!({ "action": "get" })),
        ("spotify_albums", json!({ "action": "get", "album_id": "4aawyAB9vmqN3uQ7FjRGTy" })),
        ("spotify_albums", json!({ "action": "tracks", "album_id": "4aawyAB9vmqN3uQ7FjRGTy" })),
        ("spotify_search", json!({ "query": "x" })),
        ("memory", json!({ "action": "add", "target": "memory", "content": "x" })),
        ("memory", json!({ "action": "replace", "target": "memory", "content": "x", "old_text": "y" })),
        ("memory", json!({ "action": "remove", "target": "memory", "old_text": "y" })),
        ("yb_query_group_info", json!({ "group_code": "1" })),
        ("yb_search_sticker", json!({ "query": "x" })),
        ("clarify", json!({ "question": "x" })),
        ("delegate_task", json!({ "goal": "x" })),
        ("web_search", json!({ "query": "x" })),
        ("web_extract", json!({ "urls": ["https://example.org"] })),
        ("x_search", json!({ "query": "x" })),
        ("terminal", json!({ "command": "ls" })),
        ("execute_code", json!({ "code": "1" })),
        ("read_file", json!({ "path": "x" })),
        ("write_file", json!({ "path": "x", "content": "y" })),
        ("patch", json!({ "mode": "replace", "path": "x", "old_string": "a", "new_string": "b" })),
        ("search_files", json!({ "pattern": "x" })),
        ("todo", json!({})),
        ("session_search", json!({})),
        ("skills_list", json!({})),
        ("skill_view", json!({ "name": "x" })),
        ("vision_analyze", json!({ "image_url": "x.png", "question": "y" })),
        ("video_analyze", json!({ "video_url": "x.mp4", "question": "y" })),
        ("project_list", json!({})),
        ("project_create", json!({ "name": "x" })),
        ("project_switch", json!({ "project": "x" })),
        ("read_terminal", json!({})),
        ("close_terminal", json!({ "process_id": "x" })),
        ("feishu_doc_read", json!({ "doc_token": "doxcnabc" })),
        ("feishu_drive_list_comments", json!({ "file_token": "doxcnabc" })),
        ("feishu_drive_list_comment_replies", json!({ "file_token": "doxcnabc", "comment_id": "1" })),
        ("ha_get_state", json!({ "entity_id": "light.x" })),
        ("ha_list_entities", json!({})),
        ("ha_list_services", json!({})),
        ("rl_list_environments", json!({})),
        ("rl_select_environment", json!({ "name": "x" })),
        ("rl_get_current_config", json!({})),
        ("rl_edit_config", json!({ "field": "x", "value": 1 })),
        ("rl_check_status", json!({ "run_id": "x" })),
        ("rl_stop_training", json!({ "run_id": "x" })),
        ("rl_get_results", json!({ "run_id": "x" })),
        ("rl_list_runs", json!({})),
        ("browser_back", json!({})),
        ("browser_cdp", json!({ "method": "Browser.getVersion" })),
        ("browser_click", json!({ "ref": "@e1" })),
        ("browser_console", json!({})),
        ("browser_get_images", json!({})),
        ("browser_navigate", json!({ "url": "https://example.org" })),
        ("browser_press", json!({ "key": "Enter" })),
        ("browser_scroll", json!({ "direction": "down" })),
        ("browser_snapshot", json!({})),
        ("browser_type", json!({ "ref": "@e1", "text": "x" })),
        ("browser_vision", json!({ "question": "x" })),
    ]);
    calls
}

/// Those of them that are actions of one tool.
fn actions() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for action in ["get_state", "get_currently_playing", "recently_played"] {
        calls.push(("spotify_playback", json!({ "action": action })));
    }
    for action in [
        "list_guilds",
        "server_info",
        "list_channels",
        "channel_info",
        "list_roles",
        "member_info",
        "list_pins",
    ] {
        calls.push((
            "discord_admin",
            json!({ "action": action, "guild_id": "1", "channel_id": "2", "user_id": "4" }),
        ));
    }
    for action in ["list", "poll", "log", "wait", "kill", "write", "submit", "close"] {
        calls.push(("process", json!({ "action": action, "session_id": "proc_1", "data": "x" })));
    }
    for action in ["create", "patch", "edit", "delete", "write_file", "remove_file"] {
        let more = json!({ "action": action, "name": "x", "content": "---\nname: x\n---\n", "file_path": "references/a.md", "file_content": "x", "old_string": "a", "new_string": "b" });
        calls.push(("skill_manage", more));
    }
    for action in ["find", "list_bots", "list_all"] {
        calls.push(("yb_query_group_members", json!({ "group_code": "1", "action": action, "name": "x" })));
    }
    for (name, arguments) in [
        ("attach", json!({ "filename": "a", "content_base64": "" })),
        ("attach_url", json!({ "url": "https://example.org/a" })),
        ("attachments", json!({})),
        ("block", json!({ "reason": "x" })),
        ("comment", json!({ "task_id": "t", "body": "x" })),
        ("complete", json!({})),
        ("create", json!({ "title": "x", "assignee": "y" })),
        ("heartbeat", json!({})),
        ("link", json!({ "parent_id": "a", "child_id": "b" })),
        ("list", json!({})),
        ("show", json!({})),
        ("unblock", json!({ "task_id": "t" })),
    ] {
        let name =
            hermes_tools::tools().iter().map(|def| def.name()).find(|it| *it == format!("kanban_{name}"));
        calls.push((name.unwrap(), arguments));
    }
    calls
}

fn merge(into: &mut Value, more: &Value) {
    let into = into.as_object_mut().unwrap();
    into.extend(more.as_object().unwrap().clone());
}

fn tool(name: &str) -> ToolEntry {
    let def = hermes_tools::tools().iter().find(|def| def.name() == name);
    ToolEntry::from(*def.unwrap_or_else(|| panic!("there is no tool {name}")))
}

fn declared(name: &str, arguments: &Value) -> Vec<Effect> {
    let place = Place { cwd: "/w".into(), home: Some("/home/ann".into()) };
    let keys: Arc<dyn Keys> = Arc::new(Rich);
    let services = Services::new(Arc::new(FakeHost::default()), Arc::new(FakeFiles::default())).with(keys);
    let arguments = arguments.as_object().unwrap().clone();
    tool(name).effects_of(arguments, &place, &services).unwrap_or_else(|wrong| panic!("{name}: {wrong}"))
}

fn kinds(effects: &[Effect]) -> Vec<ActKind> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Act(act) = effect { Some(act.kind) } else { None })
        .collect()
}

#[test]
fn what_sends_spends_schedules_or_controls_declares_it_in_words_a_person_can_judge() {
    for (name, arguments, kind) in acts() {
        let effects = declared(name, &arguments);

        assert_eq!(kinds(&effects), [kind], "{name} {arguments}: {effects:?}");
        let told = effects
            .iter()
            .find_map(|effect| if let Effect::Act(act) = effect { Some(&act.detail) } else { None });
        assert!(told.unwrap().chars().count() >= 8, "{name} {arguments}: {told:?}");
    }
}

#[test]
fn what_acts_in_nobodys_name_does_not_say_that_it_does() {
    for (name, arguments) in others() {
        let effects = declared(name, &arguments);

        assert_eq!(kinds(&effects), [], "{name} {arguments}: {effects:?}");
    }
}

#[test]
fn no_tool_and_no_action_is_forgotten_here() {
    let tried = acts().into_iter().map(|(name, arguments, _)| (name, arguments)).chain(others());
    let tried: BTreeSet<(String, String)> = tried
        .map(|(name, arguments)| {
            (name.to_owned(), arguments["action"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    for def in hermes_tools::tools() {
        let entry = ToolEntry::from(*def);
        let actions = entry.definition().parameters["properties"]["action"]["enum"].as_array().cloned();
        let actions: Vec<Value> = actions.unwrap_or_default();
        for action in &actions {
            let pair = (def.name().to_owned(), action.as_str().unwrap().to_owned());
            assert!(tried.contains(&pair), "{} {action} is not tried", def.name());
        }
        let named = tried.iter().any(|(name, _)| name == def.name());
        assert!(named, "{} is not tried", def.name());
    }
}
