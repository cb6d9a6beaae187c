//! Skills at the prompt: `/name words` puts a skill into the conversation.

use std::path::Path;

use hermes::core::skills::{SkillError, View};
use hermes::core::suggest::suggest;
use hermes::env::probe::file_exists;

use crate::chat::slash;
use crate::chat::talk::Talk;

/// How something is asked that would be read as the name of a skill.
const AS_WRITTEN: &str = "a space before the `/` asks it as it is written";

/// What is said to the model when a line begins with the name of a skill behind a `/`; nothing when
/// there is no such skill, and an error when there is one that cannot be used.
pub(crate) fn message(talk: &dyn Talk, line: &str) -> Result<Option<String>, String> {
    let Some(rest) = line.strip_prefix('/') else { return Ok(None) };
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // As written first: skills of others have names with capital letters.
    let found = match talk.skill(name) {
        Err(SkillError::Unknown { .. }) => talk.skill(&name.to_lowercase()),
        found => found,
    };
    match found {
        Ok(view) => Ok(Some(told(&view, words.trim()))),
        Err(SkillError::Unknown { .. }) => Ok(None),
        Err(why) => Err(why.to_string()),
    }
}

/// What is said to the model for a question that is asked without a screen. A skill behind a `/` is put before
/// it, as at the prompt. Neither a skill nor the beginning of a path there is refused: no model knows what it
/// means.
pub(crate) fn question(talk: &dyn Talk, text: String) -> Result<String, String> {
    let Some(command) = slash::parse(&text) else { return Ok(text) };
    let name = text.split_whitespace().next().unwrap_or_default().trim_start_matches('/');
    let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter));
    if !is_word {
        return Ok(text);
    }
    if let Ok((def, _)) = command {
        let name = def.name();
        return Err(format!("/{name} is a command for the screen of `hermes chat`; {AS_WRITTEN}"));
    }
    let said = message(talk, &text);
    if let Ok(Some(message)) = said {
        return Ok(message);
    }
    if talk.plugin_commands().iter().any(|command| command.name == name) {
        return Err(format!(
            "/{name} is a command of a plugin for the screen of `hermes chat`; {AS_WRITTEN}"
        ));
    }
    if file_exists(&Path::new("/").join(name)) {
        return Ok(text);
    }
    said.map_err(|why| format!("{why} ({AS_WRITTEN})"))?;
    let skills = talk.skills();
    let near = suggest(name, skills.iter().map(|skill| skill.name.as_str()), 1);
    let near = near.first().map(|near| format!("; did you mean /{near}?")).unwrap_or_default();
    Err(format!("there is no skill /{name}{near} ({AS_WRITTEN})"))
}

fn told(view: &View, words: &str) -> String {
    let name = &view.skill.name;
    let mut text = format!(
        "I want you to use the skill `{name}`. This is what it says; its folder is {}:\n\n{}",
        view.folder.display(),
        view.text.trim_end()
    );
    if !words.is_empty() {
        text.push_str("\n\nWhat I want:\n");
        text.push_str(words);
    }
    text
}

#[cfg(test)]
mod tests {
    use hermes::core::skills::{Conditions, Needs, Origin, Skill};

    use super::*;
    use crate::chat::double::Double;

    #[test]
    fn a_question_that_is_a_command_of_a_plugin_is_told_from_one_about_a_skill() {
        let refused = |text: &str| question(&Double::new(), text.to_owned()).unwrap_err();

        assert!(refused("/greet Ann").contains("/greet is a command of a plugin for the screen"));
        assert!(refused("/greeet Ann").contains("there is no skill /greeet"));
    }

    #[test]
    fn a_skill_is_put_before_what_the_person_says() {
        let skill = Skill {
            name: "release".to_owned(),
            description: String::new(),
            category: None,
            origin: Origin::Home,
            conditions: Conditions::default(),
        };
        let view = View {
            skill,
            text: "# Steps\n".to_owned(),
            tags: Vec::new(),
            related: Vec::new(),
            path: String::new(),
            folder: "/skills/release".into(),
            linked: Vec::new(),
            more: 0,
            needs: Needs::default(),
            threat: None,
        };

        let text = told(&view, "version 2");

        assert!(text.contains("`release`") && text.contains("/skills/release:\n\n# Steps\n\n"), "{text}");
        assert!(text.ends_with("What I want:\nversion 2"), "{text}");
    }
}
