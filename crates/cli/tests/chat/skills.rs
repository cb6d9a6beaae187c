//! Skills at the prompt of the chat: `/skills` lists those that can be used, and `/NAME words` uses one.

use hermes_testkit::Answer;

use crate::screen::Terminal;
use crate::stage::Stage;

/// A skill of the home.
fn skill(stage: &Stage, name: &str, more: &str) {
    let folder = stage.state().join("skills/kitchen").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: How {name} is made\n{more}---\n1. Boil the {name}\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

#[test]
fn skills_are_listed_and_used_by_their_names() {
    let stage = Stage::saying([Answer::text("It is on its way.")]);
    skill(&stage, "tea", "");
    skill(&stage, "snow", "platforms: [macos, windows]\n");
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("");

    terminal.type_line("/skills");
    let listed = terminal.until_shown("How tea is made");
    terminal.type_line("/tea with milk");
    terminal.until_shown("It is on its way.");

    assert!(listed.contains("/tea") && listed.contains("kitchen"), "{listed}");
    assert!(!listed.contains("/snow"), "it is for other systems\n{listed}");
    let bodies = stage.server.bodies();
    assert_eq!(bodies.len(), 1, "the list is not for the model");
    let said = bodies[0]["messages"].to_string();
    assert!(said.contains("I want you to use the skill `tea`"), "{said}");
    assert!(said.contains("1. Boil the tea") && said.contains("What I want:\\nwith milk"), "{said}");
}

#[test]
fn a_name_that_is_no_skill_is_no_message() {
    let stage = Stage::saying([]);
    skill(&stage, "tea", "");
    let Some(terminal) = Terminal::open(&stage) else { return };
    terminal.chat("");

    terminal.type_line("/coffee");
    let told = terminal.until_shown("There is no command /coffee");

    assert!(!told.contains("Boil"), "{told}");
    assert_eq!(stage.server.bodies().len(), 0);
}
