//! Every tool that works with files and commands works in a place elsewhere.

use hermes::Session;
use serde_json::{Value, json};

use crate::doubles::Double;
use crate::sshd::Server;
use crate::support::{Bench, Engine, Everything, call, fresh, instance, output, until};

/// What holds in every place: `work` is a folder there.
fn every_tool_works(session: &Session, work: &str) {
    files(session, work);
    terminals(session);
    background(session, work);
    scripts(session, work);
}

fn files(session: &Session, work: &str) {
    let path = format!("{work}/notes/a.txt");
    let wrote = call(session, "write_file", &json!({ "path": path, "content": "one\ntwo\nthree\n" }));
    assert_eq!((&wrote["bytes_written"], &wrote["dirs_created"]), (&json!(14), &json!(true)), "{wrote}");
    assert_eq!(output(session, &format!("cat {path}")), "one\ntwo\nthree");

    let patched = call(session, "patch", &json!({ "path": path, "old_string": "two", "new_string": "2" }));
    assert_eq!(patched["success"], true, "{patched}");
    let read = call(session, "read_file", &json!({ "path": path, "offset": 2 }));
    assert!(read["content"].as_str().unwrap().contains("2|2\n"), "{read}");
    assert_eq!(read["total_lines"], 3, "{read}");

    let found = call(session, "search_files", &json!({ "pattern": "thr.e", "path": work }));
    assert!(found.to_string().contains("notes/a.txt"), "{found}");
    let named =
        call(session, "search_files", &json!({ "pattern": "*.txt", "target": "files", "path": work }));
    assert!(named.to_string().contains("notes/a.txt"), "{named}");

    let missing = call(session, "read_file", &json!({ "path": format!("{work}/notes/aa.txt") }));
    assert!(missing.to_string().contains("a.txt"), "{missing}");
}

fn terminals(session: &Session) {
    let command = "test -t 0 && test -t 1 && stty size";
    let answer = call(session, "terminal", &json!({ "command": command, "pty": true }));
    assert_eq!(answer["output"], "30 120", "{answer}");

    output(session, "cd /tmp; export KEPT='a b'");
    assert_eq!(output(session, "pwd; echo \"$KEPT\""), "/tmp\na b");
}

fn background(session: &Session, work: &str) {
    let command = "echo up; read x; echo \"got $x\"; sleep 1000";
    let started = call(
        session,
        "terminal",
        &json!({ "command": command, "background": true, "workdir": work, "pty": true }),
    );
    let id = started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    let process = |action: &str, more: Value| {
        let mut arguments = json!({ "action": action, "session_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(session, "process", &arguments)
    };
    until("it is up", || process("poll", json!({})).to_string().contains("up"));
    process("submit", json!({ "data": "word" }));
    until("it has read", || process("log", json!({})).to_string().contains("got word"));
    let killed = process("kill", json!({}));
    assert_eq!(killed["status"], "killed", "{killed}");

    let quick = call(session, "terminal", &json!({ "command": "exit 4", "background": true }));
    let waited = call(
        session,
        "process",
        &json!({ "action": "wait", "session_id": quick["session_id"], "timeout": 20 }),
    );
    assert_eq!((&waited["status"], &waited["exit_code"]), (&json!("exited"), &json!(4)), "{waited}");
}

fn scripts(session: &Session, work: &str) {
    let code = format!(
        "import os\nfrom hermes_tools import terminal, read_file, write_file\n\
         write_file('{work}/s.txt', 'made\\n')\n\
         print(terminal('cat {work}/s.txt')['output'], read_file('{work}/s.txt')['total_lines'])\n\
         print(os.path.exists('{work}/s.txt'))"
    );
    let ran = call(session, "execute_code", &json!({ "code": code }));
    assert_eq!(
        (&ran["status"], &ran["output"], &ran["tool_calls_made"]),
        (&json!("success"), &json!("made 1\nTrue"), &json!(3)),
        "{ran}"
    );
}

#[test]
fn every_tool_works_on_another_machine() {
    let Some(server) = Server::start() else { return };
    let mut section = server.section(&json!({}));
    section.as_object_mut().unwrap().insert("backend".to_owned(), json!("ssh"));
    let bench = Bench::new(&json!({ "backend": "local", "environments": { "lab": section } }));
    let runtime = bench.runtime();
    let session = runtime.session().environment("lab").open().unwrap();

    every_tool_works(&session, server.path("home").to_str().unwrap());

    // A call that names the other place works there.
    let here = call(&session, "terminal", &json!({ "command": "pwd", "environment": "default" }));
    assert_eq!(here["output"], bench.path("work").to_str().unwrap(), "{here}");
}

#[test]
fn every_tool_works_in_a_container() {
    for engine in Engine::all() {
        let name = fresh("tools");
        let bench = Bench::new(&json!({ "environments": { &name: engine.section(&json!({})) } }));
        let session = bench.runtime().session().environment(name).open().unwrap();

        every_tool_works(&session, "/workspace");
    }
}

#[test]
fn a_directory_that_is_set_is_where_sessions_of_this_machine_begin() {
    let bench = Bench::new(&json!({}));
    let begins = |cwd: &str| {
        bench.configure(&json!({ "terminal": { "cwd": cwd } }));
        output(&bench.runtime().session().open().unwrap(), "pwd")
    };
    let (user, work) = (bench.path("user").display().to_string(), bench.path("work").display().to_string());

    assert_eq!([begins("~"), begins(&user)], [user.as_str(); 2]);
    assert_eq!([begins("."), begins("auto"), begins("/no/such/directory")], [work.as_str(); 3]);
}

#[test]
fn every_tool_works_in_an_instance() {
    let Some(mut section) = instance() else { return };
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    section["scratch_dir"] = json!(dir.path());
    let bench = Bench::new(&json!({ "environments": { "cluster": section } }));
    let session = bench.runtime().session().environment("cluster").open().unwrap();

    every_tool_works(&session, "/workspace");
}

#[test]
fn every_tool_works_in_a_sandbox_of_a_vendor() {
    for (vendor, api) in [("daytona", "/api"), ("modal", ""), ("vercel_sandbox", "/api")] {
        let Some(double) = Double::start(vendor) else { return };
        let url = format!("http://127.0.0.1:{}{api}", double.port);
        let section = json!({ "backend": vendor, "api_url": url, "persistent": false, "cwd": "~" });
        let bench = Bench::new(&json!({ "environments": { "far": section } }));
        let session = bench.runtime().session().environment("far").open().unwrap();
        let folder = output(&session, "cd ~; pwd");

        every_tool_works(&session, &folder);
    }
}

#[test]
fn a_script_where_there_is_no_python_is_a_clear_error_and_a_shells_script_runs() {
    for engine in Engine::all() {
        let name = fresh("bare");
        let section = engine.section(&json!({ "image": engine.plain }));
        let bench = Bench::new(&json!({ "environments": { &name: section } }));
        let session = bench.runtime().session().environment(&name).open().unwrap();

        let python = call(&session, "execute_code", &json!({ "code": "print(1)" }));
        let shell = call(&session, "execute_code", &json!({ "code": "#!/bin/sh\necho here" }));

        assert!(python.to_string().contains(&format!("{name} has no python3")), "{python}");
        assert_eq!((&shell["status"], &shell["output"]), (&json!("success"), &json!("here")), "{shell}");
    }
}

#[test]
fn skills_and_the_credential_files_that_are_named_are_there_to_be_read() {
    let Some(server) = Server::start() else { return };
    let mut lab = server.section(&json!({}));
    lab.as_object_mut().unwrap().insert("backend".to_owned(), json!("ssh"));
    let mut environments = json!({ "lab": lab });
    let places = environments.as_object_mut().unwrap();
    for engine in Engine::all() {
        places.insert(fresh(engine.name), engine.section(&json!({})));
    }
    let places: Vec<String> = places.keys().cloned().collect();
    let terminal = json!({ "environments": environments, "credential_files": ["token.json", "../work/x"] });
    let bench = Bench::new(&terminal);
    let front =
        "---\nname: fly\ndescription: How to fly\nrequired_credential_files: [map.json, auth.json]\n---\n";
    bench.write("home/skills/fly/SKILL.md", &format!("{front}Flap in ${{HERMES_SKILL_DIR}}.\n"));
    for (file, text) in [("token.json", "t"), ("map.json", "m"), ("auth.json", "never"), ("other.json", "o")]
    {
        bench.write(&format!("home/{file}"), text);
    }
    bench.write("home/cache/images/i.png", "i");
    bench.write("work/x", "outside");
    let runtime = bench.runtime();

    for place in &places {
        let session = runtime.session().environment(place).open().unwrap();
        let found = output(
            &session,
            "cd ~/.hermes; tail -n 1 skills/fly/SKILL.md; cat token.json map.json; echo; find . -type f | grep -v '/\\.' | sort",
        );
        assert_eq!(
            found,
            "Flap in ${HERMES_SKILL_DIR}.\ntm\n./cache/images/i.png\n./map.json\n./skills/fly/SKILL.md\n./token.json",
            "{place}"
        );
        // What a skill says about its own folder holds for commands there.
        let viewed = call(&session, "skill_view", &json!({ "name": "fly" }));
        let folder = viewed["skill_dir"].as_str().unwrap().to_owned();
        assert!(folder.starts_with('/') && folder.ends_with("/.hermes/skills/fly"), "{place}: {viewed}");
        assert!(viewed["content"].as_str().unwrap().ends_with(&format!("Flap in {folder}.\n")), "{viewed}");
        assert_eq!(output(&session, &format!("tail -n 1 \"{folder}/SKILL.md\" | cut -c1-4")), "Flap");
    }
    let here = call(&runtime.session().open().unwrap(), "skill_view", &json!({ "name": "fly" }));
    assert_eq!(here["skill_dir"], bench.path("home/skills/fly").to_str().unwrap());
}

#[test]
fn files_that_are_given_are_looked_at_every_time_where_that_is_wanted() {
    let Some(server) = Server::start() else { return };
    let lab = server.section(&json!({ "backend": "ssh" }));
    let bench = Bench::new(&json!({ "environments": { "lab": lab } }));
    let forced = [("HERMES_FORCE_FILE_SYNC".to_owned(), "1".to_owned())];
    let runtime = bench.guarded().env(forced).policy(Everything).build().unwrap();
    let session = runtime.session().environment("lab").open().unwrap();

    for word in ["one", "two", "three"] {
        let skill = format!("---\nname: fly\ndescription: x\n---\n{word}\n");
        bench.write("home/skills/fly/SKILL.md", &skill);
        assert_eq!(output(&session, "tail -n 1 ~/.hermes/skills/fly/SKILL.md"), word);
    }
}
