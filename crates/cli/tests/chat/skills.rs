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

#[test]
fn a_question_without_a_screen_uses_a_skill_by_its_name_too() {
    let stage = Stage::saying(["Here it is.", "A list of names.", "Full.", "So it is."].map(Answer::text));
    skill(&stage, "tea", "");
    let asked = |question: &str| {
        let said = stage.chat(&["-q", question]);
        (said.code, said.err)
    };
    let heard = || stage.server.bodies().last().map(|body| body["messages"].to_string()).unwrap_or_default();

    assert_eq!(asked("/tea with milk").0, Some(0));
    assert!(
        heard().contains("1. Boil the tea") && heard().contains("What I want:\\nwith milk"),
        "{}",
        heard()
    );
    for question in ["/etc/hosts says what?", "/tmp is full", " /teaa as it is"] {
        assert_eq!(asked(question).0, Some(0));
        assert!(heard().contains(question.trim()), "{}", heard());
    }
    let unknown = asked("/teaa with milk");
    let command = asked("/model other");

    assert!(
        unknown.0 == Some(2) && unknown.1.contains("there is no skill /teaa; did you mean /tea?"),
        "{unknown:?}"
    );
    assert!(command.0 == Some(2) && command.1.contains("/model is a command for the screen"), "{command:?}");
    assert_eq!(stage.server.bodies().len(), 4);
    assert_eq!(stage.json(&["sessions", "list"]).as_array().unwrap().len(), 4);
}

#[test]
fn a_skill_is_called_as_it_is_written_and_one_that_cannot_be_used_says_why() {
    let stage = Stage::saying([Answer::text("Here it is.")]);
    skill(&stage, "MySkill", "");
    skill(&stage, "snow", "platforms: [macos, windows]\n");
    skill(&stage, "tea", "");
    let other = stage.state().join("skills/bar/tea");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("SKILL.md"), "---\nname: tea\ndescription: Iced\n---\n1. Cool it\n").unwrap();
    let asked = |question: &str| {
        let said = stage.chat(&["-q", question]);
        (said.code, said.err)
    };

    let written = asked("/MySkill hi");
    let heard = stage.server.bodies().last().map(|body| body["messages"].to_string()).unwrap_or_default();
    let elsewhere = asked("/snow falls");
    let several = asked("/Tea with milk");

    assert!(written.0 == Some(0) && heard.contains("1. Boil the MySkill"), "{written:?} {heard}");
    assert!(elsewhere.0 == Some(2) && elsewhere.1.contains("is only for macos, windows"), "{elsewhere:?}");
    assert!(several.0 == Some(2) && several.1.contains("is the name of several skills"), "{several:?}");
    assert_eq!(stage.server.bodies().len(), 1);
}
