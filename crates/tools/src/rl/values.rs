//! Parts of Python code as values: what stands between the brackets of a call, names, and literals. Pure.

use serde_json::{Number, Value, json};

use super::lex::Token;

/// The tokens that stand in no bracket, with their places.
pub(super) fn at_top(tokens: &[Token]) -> impl Iterator<Item = (usize, &Token)> {
    let mut depth = 0_usize;
    tokens.iter().enumerate().filter(move |(_, token)| match token {
        Token::Sign('(' | '[' | '{') => {
            depth += 1;
            depth == 1
        }
        // One that closes nothing here belongs to whatever stands around.
        Token::Sign(')' | ']' | '}') if depth == 0 => true,
        Token::Sign(')' | ']' | '}') => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    })
}

/// The parts between the commas of the bracket that these tokens begin with.
pub(super) fn arguments(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let inside = match tokens {
        [Token::Sign('(' | '[' | '{'), rest @ ..] => {
            let end = at_top(rest).find(|(_, token)| matches!(token, Token::Sign(')' | ']' | '}')));
            rest.get(..end.map_or(rest.len(), |(at, _)| at)).unwrap_or_default()
        }
        _ => &[],
    };
    let commas: Vec<usize> =
        at_top(inside).filter(|(_, token)| **token == Token::Sign(',')).map(|(at, _)| at).collect();
    let begins = std::iter::once(0).chain(commas.clone().into_iter().map(|at| at + 1));
    let ends = commas.into_iter().chain(std::iter::once(inside.len()));
    begins.zip(ends).filter_map(|(begin, end)| inside.get(begin..end)).filter(|part| !part.is_empty())
}

/// The name and the value of `name=value`.
pub(super) fn keyword_of(argument: &[Token]) -> Option<(&str, &[Token])> {
    match argument {
        [Token::Word(name), Token::Sign('='), value @ ..] if value.first() != Some(&Token::Sign('=')) => {
            Some((name, value))
        }
        _ => None,
    }
}

/// The last part of a dotted name, whatever stands in brackets after it.
pub(super) fn last_name(tokens: &[Token]) -> Option<&str> {
    let plain = tokens.iter().take_while(|token| matches!(token, Token::Word(_) | Token::Sign('.')));
    plain.filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None }).last()
}

/// Tokens as they were written, more or less.
pub(super) fn written(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Word(word) | Token::Number(word) => text.push_str(word),
            Token::Text(inner) => text.push_str(&json!(inner.as_deref().unwrap_or_default()).to_string()),
            Token::Sign(',') => text.push_str(", "),
            Token::Sign('|') => text.push_str(" | "),
            Token::Sign(c) => text.push(*c),
        }
    }
    text
}

/// A plain value; the member of an enumeration is its name.
pub(super) fn literal(tokens: &[Token]) -> Option<Value> {
    match tokens {
        [Token::Word(word)] => match word.as_str() {
            "True" => Some(json!(true)),
            "False" => Some(json!(false)),
            "None" => Some(Value::Null),
            _ => None,
        },
        [Token::Number(number)] => parsed(number, false),
        [Token::Sign('-'), Token::Number(number)] => parsed(number, true),
        [Token::Text(_), ..] => {
            let part = |token: &Token| if let Token::Text(text) = token { text.clone() } else { None };
            tokens.iter().map(part).collect::<Option<String>>().map(Value::String)
        }
        [Token::Sign('('), inner @ .., Token::Sign(')')]
            if at_top(inner).all(|(_, token)| *token != Token::Sign(',')) =>
        {
            literal(inner)
        }
        [Token::Sign('[' | '('), .., Token::Sign(']' | ')')] => {
            arguments(tokens).map(literal).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        [Token::Sign('{'), Token::Sign('}')] => Some(json!({})),
        [Token::Word(_), Token::Sign('.'), Token::Word(member)]
            if member.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') =>
        {
            Some(json!(member))
        }
        _ => None,
    }
}

fn parsed(number: &str, negative: bool) -> Option<Value> {
    let plain = number.replace('_', "");
    let signed = if negative { format!("-{plain}") } else { plain };
    if let Ok(whole) = signed.parse::<i64>() {
        return Some(json!(whole));
    }
    let with_digit = if let Some(rest) = signed.strip_suffix('.') { format!("{rest}.0") } else { signed };
    with_digit.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
}
