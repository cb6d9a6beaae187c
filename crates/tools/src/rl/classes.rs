//! The environments of a Python file, by reading it: classes that derive from `BaseEnv`, what they say about
//! themselves, and the fields of their configuration with the defaults that stand there. Pure.

use serde_json::{Value, json};

use super::lex::{Line, Token, lines};
use super::values::{arguments, at_top, keyword_of, last_name, literal, written};

/// What every environment derives from, and every configuration of one.
const BASE: &str = "BaseEnv";
const BASE_CONFIG: &str = "BaseEnvConfig";

/// The function by which an environment makes its configuration.
const CONFIG_INIT: &str = "config_init";

/// Most steps from a class to the one it derives from by way of others.
const MOST_STEPS: usize = 16;

/// An environment that was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Environment {
    /// What it is called: its own `name`, or else the file's.
    pub(crate) name: String,
    pub(crate) class: String,
    /// The first line of its docstring.
    pub(crate) description: String,
    /// The class of its configuration.
    pub(crate) config_class: String,
    /// The fields that this class adds to those every environment has.
    pub(crate) fields: Vec<Declared>,
    /// What `config_init` sets to plain values.
    pub(crate) set: Vec<(String, Value)>,
}

/// A field of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// Its type as it is written.
    pub(crate) kind: String,
    /// Null where there is none, or where it is no plain value.
    pub(crate) default: Value,
    pub(crate) description: String,
}

/// The environments of a file that is called so.
pub(crate) fn environments(source: &str, stem: &str) -> Vec<Environment> {
    let lines = lines(source);
    let classes = classes(&lines);
    let mut found: Vec<Environment> = Vec::new();
    for class in classes.iter().filter(|class| class.derives(&classes, BASE)) {
        let mut environment = class.environment(&classes, stem);
        // A name leads to one class.
        if found.iter().any(|known| known.name == environment.name) {
            environment.name = format!("{}.{}", environment.name, environment.class);
        }
        found.push(environment);
    }
    found
}

#[derive(Debug)]
struct Class<'a> {
    name: &'a str,
    bases: Vec<&'a str>,
    body: &'a [Line],
}

fn classes(lines: &[Line]) -> Vec<Class<'_>> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let [Token::Word(keyword), Token::Word(name), rest @ ..] = line.tokens.as_slice() else { continue };
        if keyword != "class" {
            continue;
        }
        let after = lines.get(at + 1..).unwrap_or_default();
        let end = after.iter().position(|next| next.indent <= line.indent).unwrap_or(after.len());
        let bases = arguments(rest).filter(|base| keyword_of(base).is_none()).filter_map(last_name).collect();
        found.push(Class { name, bases, body: after.get(..end).unwrap_or_default() });
    }
    found
}

impl<'a> Class<'a> {
    /// Whether it derives from that class, directly or by way of others in the same file.
    fn derives(&self, all: &[Class<'_>], base: &str) -> bool {
        let mut ways: Vec<&str> = self.bases.clone();
        for _ in 0..MOST_STEPS {
            if ways.contains(&base) {
                return true;
            }
            let above = all.iter().filter(|class| ways.contains(&class.name) && class.name != self.name);
            ways = above.flat_map(|class| class.bases.iter().copied()).collect();
        }
        false
    }

    /// Itself and what it derives from in the same file, the furthest first.
    fn line<'b>(&'b self, all: &'b [Class<'a>]) -> Vec<&'b Class<'a>> {
        let mut line = vec![self];
        while let Some(above) = line
            .last()
            .and_then(|class| all.iter().find(|other| class.bases.contains(&other.name)))
            .filter(|above| line.len() < MOST_STEPS && !line.iter().any(|known| known.name == above.name))
        {
            line.push(above);
        }
        line.reverse();
        line
    }

    /// The statements of the class itself.
    fn statements(&self) -> impl Iterator<Item = &'a Line> {
        let level = self.body.first().map_or(0, |line| line.indent);
        self.body.iter().filter(move |line| line.indent == level)
    }

    /// What is assigned to a name in its body.
    fn value(&self, name: &str) -> Option<&'a [Token]> {
        self.statements()
            .filter_map(|line| assignment(&line.tokens))
            .find_map(|it| (it.name == name).then_some(it.value))
    }

    fn description(&self) -> String {
        let first = self.body.first().map(|line| line.tokens.as_slice());
        let Some([Token::Text(Some(text))]) = first else { return String::new() };
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }

    fn environment(&self, all: &[Class<'a>], stem: &str) -> Environment {
        let line = self.line(all);
        let inherited = |name: &str| line.iter().rev().find_map(|class| class.value(name));
        let name = inherited("name").and_then(literal).and_then(|name| Some(name.as_str()?.to_owned()));
        let config = inherited("env_config_cls").and_then(last_name).unwrap_or(BASE_CONFIG);
        let own = all.iter().find(|class| class.name == config && class.derives(all, BASE_CONFIG));
        let mut fields: Vec<Declared> = Vec::new();
        for field in own.iter().flat_map(|class| class.line(all)).flat_map(Class::fields) {
            match fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => *known = field,
                None => fields.push(field),
            }
        }
        Environment {
            name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| stem.to_owned()),
            class: self.name.to_owned(),
            description: self.description(),
            config_class: config.to_owned(),
            fields,
            set: line.iter().rev().find_map(|class| class.set(config)).unwrap_or_default(),
        }
    }

    /// The annotated names of its body.
    fn fields(&self) -> Vec<Declared> {
        let all = self.statements().filter_map(|line| assignment(&line.tokens));
        all.filter(|it| !it.annotation.is_empty() && it.name != "model_config")
            .map(|it| declared(&it))
            .collect()
    }

    /// The plain values that `config_init` hands to the configuration.
    fn set(&self, config: &str) -> Option<Vec<(String, Value)>> {
        let mut lines = self.body.iter().skip_while(|line| !is_function(line, CONFIG_INIT));
        let head = lines.next()?;
        let body = lines.take_while(|line| line.indent > head.indent);
        let call = body
            .flat_map(|line| calls(&line.tokens))
            .find(|(name, _)| *name == config || *name == BASE_CONFIG || matches!(*name, "env_config_cls"))?;
        let given = arguments(call.1).filter_map(|argument| {
            let (name, value) = keyword_of(argument)?;
            Some((name.to_owned(), literal(value)?))
        });
        Some(given.collect())
    }
}

fn is_function(line: &Line, name: &str) -> bool {
    let mut words = line.tokens.iter().map(|token| if let Token::Word(word) = token { word } else { "" });
    let first = words.next();
    let first = if first == Some("async") { words.next() } else { first };
    first == Some("def") && words.next() == Some(name)
}

/// Every call in a line: the last name of what is called, and what stands after it.
fn calls(tokens: &[Token]) -> impl Iterator<Item = (&str, &[Token])> {
    tokens.windows(2).enumerate().filter_map(|(at, pair)| match pair {
        [Token::Word(name), Token::Sign('(')] => Some((name.as_str(), tokens.get(at + 1..)?)),
        _ => None,
    })
}

struct Assignment<'a> {
    name: &'a str,
    annotation: &'a [Token],
    value: &'a [Token],
}

/// `name = value`, `name: type = value` or `name: type`.
fn assignment(tokens: &[Token]) -> Option<Assignment<'_>> {
    let [Token::Word(name), rest @ ..] = tokens else { return None };
    match rest {
        [Token::Sign('='), value @ ..] if value.first() != Some(&Token::Sign('=')) => {
            Some(Assignment { name, annotation: &[], value })
        }
        [Token::Sign(':'), rest @ ..] => {
            let equals = at_top(rest).find(|(_, token)| **token == Token::Sign('=')).map(|(at, _)| at);
            let (annotation, value) = match equals {
                Some(at) => (rest.get(..at)?, rest.get(at + 1..)?),
                None => (rest, [].as_slice()),
            };
            // A compound statement such as `else:` has nothing after its colon.
            (!annotation.is_empty()).then_some(Assignment { name, annotation, value })
        }
        _ => None,
    }
}

fn declared(it: &Assignment<'_>) -> Declared {
    let mut field = Declared {
        name: it.name.to_owned(),
        kind: written(it.annotation),
        default: literal(it.value).unwrap_or_default(),
        description: String::new(),
    };
    if let [Token::Word(called), Token::Sign('('), ..] = it.value
        && called == "Field"
    {
        for (at, argument) in arguments(it.value.get(1..).unwrap_or_default()).enumerate() {
            match keyword_of(argument) {
                Some(("default", value)) => field.default = literal(value).unwrap_or_default(),
                Some(("default_factory", value)) => field.default = made_by(value),
                Some(("description", value)) => {
                    let text = literal(value).and_then(|text| Some(text.as_str()?.to_owned()));
                    field.description = text.unwrap_or_default();
                }
                None if at == 0 => field.default = literal(argument).unwrap_or_default(),
                _ => {}
            }
        }
    }
    field
}

/// What a factory makes, as far as it is known.
fn made_by(factory: &[Token]) -> Value {
    match last_name(factory) {
        Some("list" | "List") => json!([]),
        Some("dict" | "Dict") => json!({}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made after the shape of real environments, with what a careless reader stumbles over.
    const SOURCE: &str = r#"
"""class Fake(BaseEnv): a docstring"""
import x  # class Comment(BaseEnv):
from atroposlib.envs import base

TEXT = """
class InText(BaseEnv):
    name = "no"
"""

class Row(TypedDict):
    question: str

class MathConfig(base.BaseEnvConfig):
    """Settings."""
    model_config = {"extra": "forbid"}
    difficulty: Literal["easy", "hard"] = "easy"
    group_size: int = Field(default=16, description="Answers " "per question")
    rate: Optional[float] = Field(None, ge=0)
    names: list[str] = Field(default_factory=list)
    limit: int
    odd: int = compute()

    def helper(self):
        inner: int = 3

class MathEnv(Generic[T], base.BaseEnv, metaclass=ABCMeta):
    """

    Sums and products.
    More of it.
    """

    name: Optional[str] = "math"
    env_config_cls = MathConfig

    @classmethod
    def config_init(cls) -> Tuple[MathConfig, List[Server]]:
        steps = other(1)
        env_config = MathConfig(
            tokenizer_name=steps.model,
            batch_size=1_024, eval_handling=EvalHandlingEnum.LIMIT_TRAIN,
            temperature=-0.5,
        )
        return env_config, []

class Harder(MathEnv):
    pass

def make():
    class Unnamed(BaseEnv): pass
"#;

    #[test]
    fn environments_are_found_by_what_they_derive_from() {
        let found = environments(SOURCE, "file");

        let told: Vec<(&str, &str, &str)> =
            found.iter().map(|it| (it.name.as_str(), it.class.as_str(), it.description.as_str())).collect();
        assert_eq!(
            told,
            [
                ("math", "MathEnv", "Sums and products."),
                ("math.Harder", "Harder", ""),
                ("file", "Unnamed", "")
            ]
        );
        assert!(environments("class A(B): pass\nclass B(A): pass", "x").is_empty());
    }

    #[test]
    fn fields_have_their_types_defaults_and_descriptions() {
        let math = environments(SOURCE, "file").remove(0);

        let field = |name: &str, kind: &str, default: Value, description: &str| Declared {
            name: name.to_owned(),
            kind: kind.to_owned(),
            default,
            description: description.to_owned(),
        };
        assert_eq!(math.config_class, "MathConfig");
        assert_eq!(
            math.fields,
            [
                field("difficulty", r#"Literal["easy", "hard"]"#, json!("easy"), ""),
                field("group_size", "int", json!(16), "Answers per question"),
                field("rate", "Optional[float]", Value::Null, ""),
                field("names", "list[str]", json!([]), ""),
                field("limit", "int", Value::Null, ""),
                field("odd", "int", Value::Null, ""),
            ]
        );
        assert_eq!(
            math.set,
            [
                ("batch_size".to_owned(), json!(1024)),
                ("eval_handling".to_owned(), json!("LIMIT_TRAIN")),
                ("temperature".to_owned(), json!(-0.5)),
            ]
        );
    }

    #[test]
    fn a_class_that_derives_from_another_has_what_that_one_says() {
        let harder = environments(SOURCE, "file").remove(1);

        assert_eq!((harder.fields.len(), harder.set.len()), (6, 3));
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_looked_at(source in "(class [AB]\\(BaseEnv|[AB]\\)|:|\n {0,4}|x: int|= |Field\\(|[\"'()\\[,.]|def config_init|[0-9]e?){0,30}") {
            let found = environments(&source, "x");

            proptest::prop_assert!(found.len() <= source.matches("class").count());
        }
    }
}
