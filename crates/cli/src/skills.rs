//! Skills at the prompt: `/name words` puts a skill into the conversation.

use hermes::core::skills::View;

use crate::chat::talk::Talk;

/// What is said to the model when a line begins with the name of a skill behind a `/`; nothing when
/// there is no such skill.
pub(crate) fn message(talk: &dyn Talk, line: &str) -> Option<String> {
    let rest = line.strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(told(&talk.skill(&name.to_lowercase())?, words.trim()))
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
            needs: Needs::default(),
            threat: None,
        };

        let text = told(&view, "version 2");

        assert!(text.contains("`release`") && text.contains("/skills/release:\n\n# Steps\n\n"), "{text}");
        assert!(text.ends_with("What I want:\nversion 2"), "{text}");
    }
}
