//! The form of a server, put to the person field by field.
//!
//! What the person says is read as the field wants it and checked against its schema; what does not fit is
//! told and asked for again, a few times.

use hermes_core::clarify::{Answer, Asker, Question};
use hermes_core::json::validate;
use serde_json::{Map, Value, json};

/// How often a field is asked for before the form counts as declined.
const TRIES: usize = 3;

/// Choices that can be shown to be picked from; more are named above the question.
const PICKED_FROM: usize = 4;

/// Asks for every field of a form, one question each; nothing when the person does not want to.
pub(super) async fn fill(
    server: &str,
    message: &str,
    schema: &Value,
    asker: &dyn Asker,
) -> Option<Map<String, Value>> {
    let mut filled = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let intro = format!("MCP server `{server}` asks: {message}");
    if fields.is_empty() {
        let choices = ["Accept", "Decline"].map(str::to_owned).to_vec();
        let said = asker.ask(Question { text: intro, choices, patience: None }).await;
        return matches!(said, Answer::Said(word) if word == "Accept").then_some(filled);
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, schema) in &fields {
        let needed = required.iter().any(|it| it.as_str() == Some(name));
        let field = Field { name, schema, needed };
        if let Some(value) = field.asked(&intro, asker).await? {
            filled.insert(name.clone(), value);
        }
    }
    Some(filled)
}

/// One field of a form.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    needed: bool,
}

/// One of the values that a field may have.
struct Choice {
    value: String,
    /// What it is called, where that is something else.
    title: Option<String>,
}

impl Choice {
    fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }

    fn is_meant(&self, said: &str) -> bool {
        [self.shown(), &self.value].iter().any(|name| name.eq_ignore_ascii_case(said))
    }
}

impl Field<'_> {
    /// What the person says; nothing of it when the field may stay empty. Nothing at all when the person
    /// does not want to.
    async fn asked(&self, intro: &str, asker: &dyn Asker) -> Option<Option<Value>> {
        let mut wrong = String::new();
        for _ in 0..TRIES {
            let text = format!("{intro}\n{}{wrong}", self.words());
            let question = Question { text, choices: self.picked_from(), patience: None };
            let Answer::Said(said) = asker.ask(question).await else { return None };
            if said.trim().is_empty() {
                match (self.schema.get("default"), self.needed) {
                    (Some(usual), _) => return Some(Some(usual.clone())),
                    (None, true) => return None,
                    (None, false) => return Some(None),
                }
            }
            match self.read(said.trim()) {
                Ok(value) => return Some(Some(value)),
                Err(why) => wrong = format!("\n`{}` does not fit: {why}", said.trim()),
            }
        }
        None
    }

    /// The name of the field, and what is to be known about it.
    fn words(&self) -> String {
        let about = self.schema.get("description").or_else(|| self.schema.get("title"));
        let about = about.and_then(Value::as_str).map(|about| format!(": {about}")).unwrap_or_default();
        let choices = self.choices();
        let named = choices.iter().map(Choice::shown).collect::<Vec<_>>().join(", ");
        let offered = match (self.is_list(), choices.len()) {
            (true, 0) => "\nseveral, with commas between".to_owned(),
            (true, _) => format!("\nany of these, with commas between: {named}"),
            (false, count) if count > PICKED_FROM => format!("\none of: {named}"),
            (false, _) => String::new(),
        };
        format!("{}{about}{offered}", self.name)
    }

    fn is_list(&self) -> bool {
        self.kind() == Some("array")
    }

    fn kind(&self) -> Option<&str> {
        self.schema.get("type").and_then(Value::as_str)
    }

    /// What can be picked from; the person may write something else.
    fn picked_from(&self) -> Vec<String> {
        if self.kind() == Some("boolean") {
            return ["yes", "no"].map(str::to_owned).to_vec();
        }
        let choices = self.choices();
        let few = !self.is_list() && choices.len() <= PICKED_FROM;
        if few { choices.iter().map(|choice| choice.shown().to_owned()).collect() } else { Vec::new() }
    }

    /// The values the field may have, where they are listed. There are three ways to write them.
    fn choices(&self) -> Vec<Choice> {
        let place = if self.is_list() { self.schema.get("items") } else { Some(self.schema) };
        let list = |key: &str| place.and_then(|place| place.get(key)).and_then(Value::as_array);
        if let Some(values) = list("enum") {
            let titles = list("enumNames");
            let title = |at: usize| Some(titles?.get(at)?.as_str()?.to_owned());
            let one = |(at, value): (usize, &Value)| {
                Some(Choice { value: value.as_str()?.to_owned(), title: title(at) })
            };
            return values.iter().enumerate().filter_map(one).collect();
        }
        let one = |choice: &Value| {
            let text = |key: &str| choice.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(Choice { value: text("const")?, title: text("title") })
        };
        let titled = list("oneOf").or_else(|| list("anyOf")).map(Vec::as_slice).unwrap_or_default();
        titled.iter().filter_map(one).collect()
    }

    /// The words of the person as the field wants them, or why they do not fit.
    fn read(&self, said: &str) -> Result<Value, String> {
        let choices = self.choices();
        let chosen = |said: &str| match choices.iter().find(|choice| choice.is_meant(said)) {
            Some(choice) => Ok(Value::from(choice.value.clone())),
            None if choices.is_empty() => Ok(said.into()),
            None => Err("it is none of those that are offered".to_owned()),
        };
        let value = match self.kind() {
            Some("boolean") => match said.to_lowercase().as_str() {
                "yes" | "y" | "true" | "1" => true.into(),
                "no" | "n" | "false" | "0" => false.into(),
                _ => return Err("yes or no is wanted".to_owned()),
            },
            Some("integer") => said.parse::<i64>().map_err(|_| "a whole number is wanted".to_owned())?.into(),
            Some("number") => said.parse::<f64>().map_err(|_| "a number is wanted".to_owned())?.into(),
            Some("array") => said.split(',').map(|one| chosen(one.trim())).collect::<Result<_, _>>()?,
            _ => chosen(said)?,
        };
        let form = json!({ "type": "object", "properties": { self.name: self.schema } });
        let filled = Map::from_iter([(self.name.to_owned(), value.clone())]);
        validate(&form, &filled).map_err(|violation| violation.message)?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::future::BoxFuture;

    use super::*;

    /// Says one word after the other, and keeps what it was asked.
    struct Words(Mutex<Vec<&'static str>>, Mutex<Vec<Question>>);

    impl Asker for Words {
        fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
            self.1.lock().unwrap().push(question);
            let mut words = self.0.lock().unwrap();
            let said =
                if words.is_empty() { Answer::Nobody } else { Answer::Said(words.remove(0).to_owned()) };
            Box::pin(std::future::ready(said))
        }
    }

    /// The field filled in with these words, and what was asked.
    fn filled(field: &Value, words: &[&'static str]) -> (Option<Value>, Vec<Question>) {
        let asker = Words(Mutex::new(words.to_vec()), Mutex::default());
        let schema = json!({ "type": "object", "properties": { "f": field }, "required": ["f"] });
        let form = futures::executor::block_on(fill("s", "Who?", &schema, &asker));
        (form.and_then(|mut form| form.remove("f")), asker.1.into_inner().unwrap())
    }

    #[test]
    fn a_choice_is_meant_by_its_title_or_its_value_and_sent_as_its_value() {
        let titled = json!({ "type": "string", "oneOf": [
            { "const": "hero-1", "title": "Superman" }, { "const": "hero-2", "title": "Wonder Woman" },
        ] });
        let older = json!({ "type": "string", "enum": ["pet-1", "pet-2"], "enumNames": ["Cats", "Dogs"] });
        let several = json!({ "type": "array", "minItems": 1, "items": { "anyOf": [
            { "const": "f1", "title": "Tuna" }, { "const": "f2", "title": "Trout" },
        ] } });

        let (hero, asked) = filled(&titled, &["wonder woman"]);
        assert_eq!(
            (hero, &asked[0].choices),
            (Some(json!("hero-2")), &["Superman", "Wonder Woman"].map(str::to_owned).to_vec())
        );
        assert_eq!(filled(&older, &["pet-2"]).0, Some(json!("pet-2")));
        assert_eq!(filled(&older, &["Dogs"]).0, Some(json!("pet-2")));
        let (fish, asked) = filled(&several, &["Trout, f1"]);
        assert_eq!(fish, Some(json!(["f2", "f1"])));
        assert!(asked[0].text.contains("with commas between: Tuna, Trout"), "{}", asked[0].text);
    }

    #[test]
    fn more_choices_than_can_be_picked_from_are_named() {
        let many = json!({ "type": "string", "enum": ["a", "b", "c", "d", "e"] });

        let (value, asked) = filled(&many, &["e"]);

        assert_eq!((value, asked[0].choices.len()), (Some(json!("e")), 0));
        assert!(asked[0].text.ends_with("one of: a, b, c, d, e"), "{}", asked[0].text);
    }

    #[test]
    fn what_does_not_fit_is_told_and_asked_for_again() {
        let number = json!({ "type": "integer", "minimum": 1, "maximum": 100 });

        let (value, asked) = filled(&number, &["many", "700", "70"]);

        assert_eq!(value, Some(json!(70)));
        assert!(asked[1].text.contains("`many` does not fit: a whole number is wanted"), "{}", asked[1].text);
        assert!(asked[2].text.contains("`700` does not fit: "), "{}", asked[2].text);
        for (field, word) in [
            (number, "0"),
            (json!({ "type": "boolean" }), "perhaps"),
            (json!({ "type": "number" }), "nan"),
            (json!({ "type": "string", "enum": ["a"] }), "b"),
            (json!({ "type": "string", "maxLength": 2 }), "abc"),
        ] {
            let (value, asked) = filled(&field, &[word, word, word, word]);
            assert_eq!((value, asked.len()), (None, TRIES), "{word}");
        }
    }

    #[test]
    fn nothing_said_means_what_is_usual_and_else_no() {
        assert_eq!(filled(&json!({ "type": "integer", "default": 7 }), &[""]).0, Some(json!(7)));
        assert_eq!(filled(&json!({ "type": "integer" }), &[""]).0, None);
        assert_eq!(filled(&json!({ "type": "boolean" }), &["no"]).0, Some(json!(false)));
    }
}
