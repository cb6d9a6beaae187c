#![expect(clippy::disallowed_methods, reason = "a test reads the contract fixtures")]
#![expect(
    dead_code,
    clippy::struct_field_names,
    reason = "the types stand for contracts: their names are given, and they are never filled"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

/// The recorded parameters of a tool.
fn recorded(name: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tools.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let tools = fixture["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap()["parameters"].clone()
}

/// Removes descriptions, which the record does not hold; a property may have that name.
fn bare(schema: &Value) -> Value {
    let Value::Object(node) = schema else { return schema.clone() };
    let mut node = node.clone();
    node.shift_remove("description");
    for (word, value) in &mut node {
        match value {
            Value::Object(named) if word == "properties" => {
                named.values_mut().for_each(|part| *part = bare(part));
            }
            part if word == "items" => *part = bare(part),
            _ => {}
        }
    }
    Value::Object(node)
}

#[track_caller]
fn same<T: JsonSchema>(name: &str) {
    let derived = derived::<T>();
    let (ours, theirs) = (bare(&derived.parameters), recorded(name));
    assert_eq!(ours, theirs, "{ours:#}");
    let names =
        |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
}

/// Read a text file with line numbers,
/// page by page.
///
/// Second paragraph:
/// - one item
/// - another
#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// Path of the file: absolute,
    /// or relative
    path: String,
    /// First line
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    offset: u32,
    #[serde(default = "page")]
    #[schemars(range(max = 2000))]
    limit: u32,
}

fn first() -> u32 {
    1
}

fn page() -> u32 {
    500
}

#[test]
fn read_file_is_as_recorded() {
    same::<ReadFile>("read_file");
}

#[derive(Deserialize, Serialize, Default, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    /// Text inside files
    #[default]
    Content,
    /// Names of files
    Files,
}

#[derive(Deserialize, Serialize, Default, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    FilesOnly,
    Count,
}

#[derive(Deserialize, JsonSchema)]
struct SearchFiles {
    pattern: String,
    #[serde(default)]
    target: Target,
    #[serde(default = "here")]
    path: String,
    file_glob: Option<String>,
    #[serde(default = "fifty")]
    limit: usize,
    #[serde(default)]
    offset: u64,
    /// How to show
    #[serde(default)]
    output_mode: OutputMode,
    #[serde(default)]
    context: u32,
}

fn here() -> String {
    ".".to_owned()
}

fn fifty() -> usize {
    50
}

#[test]
fn search_files_is_as_recorded() {
    same::<SearchFiles>("search_files");
}

#[derive(Deserialize, JsonSchema)]
struct Todo {
    todos: Option<Vec<TodoItem>>,
    #[serde(default)]
    merge: bool,
}

/// One thing to do
#[derive(Deserialize, JsonSchema)]
struct TodoItem {
    id: String,
    content: String,
    status: Status,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[test]
fn todo_is_as_recorded() {
    same::<Todo>("todo");
}

#[derive(Deserialize, JsonSchema)]
struct Terminal {
    command: String,
    #[serde(default)]
    background: bool,
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    workdir: Option<String>,
    #[serde(default)]
    pty: bool,
    #[serde(default)]
    notify_on_complete: bool,
    watch_patterns: Option<Vec<String>>,
}

#[test]
fn terminal_is_as_recorded() {
    same::<Terminal>("terminal");
}

#[derive(Deserialize, JsonSchema)]
struct Process {
    action: Action,
    session_id: Option<String>,
    data: Option<String>,
    #[schemars(range(min = 1))]
    timeout: Option<u32>,
    offset: Option<u32>,
    #[schemars(range(min = 1))]
    limit: Option<u16>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

#[test]
fn process_is_as_recorded() {
    same::<Process>("process");
}

#[derive(Deserialize, JsonSchema)]
struct Patch {
    #[schemars(extend("default" = "replace"))]
    mode: Mode,
    path: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    patch: Option<String>,
    #[serde(default)]
    cross_profile: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Replace,
    Patch,
}

#[test]
fn patch_is_as_recorded() {
    same::<Patch>("patch");
}

#[derive(Deserialize, JsonSchema)]
struct HaCallService {
    domain: String,
    service: String,
    entity_id: Option<String>,
    data: Option<String>,
}

#[test]
fn ha_call_service_is_as_recorded() {
    same::<HaCallService>("ha_call_service");
}

#[derive(Deserialize, JsonSchema)]
struct Cronjob {
    action: String,
    job_id: Option<String>,
    prompt: Option<String>,
    schedule: Option<String>,
    name: Option<String>,
    repeat: Option<i64>,
    deliver: Option<String>,
    skills: Option<Vec<String>>,
    model: Option<Model>,
    script: Option<String>,
    #[serde(default)]
    no_agent: bool,
    context_from: Option<Vec<String>>,
    enabled_toolsets: Option<Vec<String>>,
    workdir: Option<String>,
    attach_to_session: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Model {
    provider: Option<String>,
    model: String,
}

#[test]
fn cronjob_is_as_recorded() {
    same::<Cronjob>("cronjob");
}

#[derive(Deserialize, JsonSchema)]
struct DelegateTask {
    goal: Option<String>,
    context: Option<String>,
    tasks: Option<Vec<Task>>,
    role: Option<Role>,
    background: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct Task {
    goal: String,
    context: Option<String>,
    role: Option<Role>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Role {
    /// Works alone
    Leaf,
    /// May hand on
    Orchestrator,
}

#[test]
fn delegate_task_is_as_recorded() {
    same::<DelegateTask>("delegate_task");
}

#[derive(Deserialize, JsonSchema)]
struct Mixed {
    choice: Option<Choice>,
}

#[derive(Deserialize, JsonSchema)]
enum Choice {
    A,
    /// Explained
    B,
    C,
}

#[test]
fn variants_with_and_without_comments_are_one_list() {
    let wanted = json!({"type": "string", "enum": ["A", "C", "B"]});
    assert_eq!(derived::<Mixed>().parameters["properties"]["choice"], wanted);
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[test]
fn no_arguments_still_have_properties_and_required() {
    same::<NoArguments>("browser_back");
    assert_eq!(derived::<NoArguments>().description, "");
}

#[test]
fn wrapped_comments_are_joined_and_paragraphs_kept() {
    let derived = derived::<ReadFile>();
    let wanted =
        "Read a text file with line numbers, page by page.\n\nSecond paragraph:\n- one item\n- another";
    assert_eq!(derived.description, wanted);
    let path = r#"{"type":"string","description":"Path of the file: absolute, or relative"}"#;
    assert_eq!(derived.parameters["properties"]["path"].to_string(), path);
}

#[test]
fn keys_stand_in_a_fixed_order() {
    let text = derived::<ReadFile>().parameters.to_string();
    assert!(text.starts_with(r#"{"type":"object","properties":{"#), "{text}");
    assert!(text.ends_with(r#","required":["path"]}"#), "{text}");
    assert!(
        text.contains(r#"{"type":"integer","description":"First line","default":1,"minimum":1}"#),
        "{text}"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Limits {
    byte: u8,
    short: i16,
    #[schemars(range(min = 1, max = 9))]
    small: u8,
    #[schemars(range(min = 0))]
    signed: i32,
    plain: u64,
    ratio: f64,
    title: String,
    format: Option<String>,
    default: Option<String>,
}

#[test]
fn only_limits_that_were_asked_for_stay() {
    let wanted = json!({
        "byte": {"type": "integer"}, "short": {"type": "integer"},
        "small": {"type": "integer", "minimum": 1, "maximum": 9},
        "signed": {"type": "integer", "minimum": 0},
        "plain": {"type": "integer"}, "ratio": {"type": "number"},
        "title": {"type": "string"}, "format": {"type": "string"}, "default": {"type": "string"},
    });
    assert_eq!(derived::<Limits>().parameters["properties"], wanted);
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    name: String,
    kids: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
struct Forest {
    tree: Tree,
}

#[test]
fn a_type_inside_itself_is_cut_without_references() {
    for text in [derived::<Tree>().parameters.to_string(), derived::<Forest>().parameters.to_string()] {
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
        assert!(text.contains(r#""kids":{"type":"array""#), "{text}");
    }
}
