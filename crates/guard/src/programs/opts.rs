//! Options and operands, as GNU and POSIX programs read them.

use crate::effect::Span;
use crate::walk::Arg;

/// Which options of a program take a value, and whether options end at the first operand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spec {
    /// Letters whose value follows: `-o value` or `-ovalue`.
    pub(crate) short: &'static str,
    /// Long names whose value follows as the next word.
    pub(crate) long: &'static [&'static str],
    /// Whether the first operand ends the options.
    pub(crate) stops: bool,
}

/// One option as written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag<'a> {
    /// The letter or the long name, without dashes.
    pub(crate) name: &'a str,
    /// Its value, if one was given.
    pub(crate) value: Option<&'a str>,
    /// Whether it was written with two dashes.
    pub(crate) long: bool,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The options and the rest.
#[derive(Debug, Default)]
pub(crate) struct Parsed<'a> {
    /// Options in order.
    pub(crate) flags: Vec<Flag<'a>>,
    /// Everything else in order.
    pub(crate) operands: &'a [Arg<'a>],
    scattered: Vec<&'a Arg<'a>>,
}

impl<'a> Parsed<'a> {
    /// The operands.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &'a Arg<'a>> + Clone + '_ {
        self.scattered.iter().copied().chain(self.operands)
    }

    /// The operand at a place.
    pub(crate) fn operand(&self, at: usize) -> Option<&'a Arg<'a>> {
        self.rest().nth(at)
    }

    /// The text of the operand at a place.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.operand(at).map_or("", |arg| &*arg.text)
    }

    /// Whether a letter or a long name was given. Long names may be shortened, as GNU allows.
    pub(crate) fn has(&self, letter: &str, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.is(letter, name))
    }

    /// The value of a letter or a long name.
    pub(crate) fn value(&self, letter: &str, name: &str) -> Option<&'a str> {
        self.flags.iter().rev().find(|flag| flag.is(letter, name)).and_then(|flag| flag.value)
    }

    /// Every value of a letter or a long name.
    pub(crate) fn values<'s>(
        &'s self,
        letter: &'s str,
        name: &'s str,
    ) -> impl Iterator<Item = (&'a str, Span)> + 's {
        self.flags
            .iter()
            .filter(move |flag| flag.is(letter, name))
            .filter_map(|flag| flag.value.map(|value| (value, flag.span)))
    }
}

impl Flag<'_> {
    /// Whether this is the option with that letter or that long name.
    pub(crate) fn is(&self, letter: &str, name: &str) -> bool {
        if self.long {
            !name.is_empty() && (self.name == name || (self.name.len() >= 3 && name.starts_with(self.name)))
        } else {
            !letter.is_empty() && self.name == letter
        }
    }
}

/// Reads options as GNU programs do.
pub(crate) fn parse<'a>(args: &'a [Arg<'a>], spec: Spec) -> Parsed<'a> {
    let mut parsed = Parsed::default();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let text = &*arg.text;
        if text == "--" {
            parsed.operands = args.get(at..).unwrap_or_default();
            return parsed;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, mut value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let shortened = |full: &&&str| name.len() >= 3 && full.starts_with(name);
            if value.is_none()
                && (spec.long.contains(&name) || spec.long.iter().filter(shortened).count() == 1)
            {
                value = args.get(at).map(|arg| &*arg.text);
                at += 1;
            }
            parsed.flags.push(Flag { name, value, long: true, span: arg.span });
        } else if text.len() > 1 && text.starts_with('-') {
            at += letters(text, arg.span, args.get(at), spec.short, &mut parsed.flags);
        } else if spec.stops {
            parsed.operands = args.get(at - 1..).unwrap_or_default();
            return parsed;
        } else {
            parsed.scattered.push(arg);
        }
    }
    parsed
}

/// One word of letters; answers how many further words it used.
fn letters<'a>(
    text: &'a str,
    span: Span,
    next: Option<&'a Arg<'a>>,
    valued: &str,
    flags: &mut Vec<Flag<'a>>,
) -> usize {
    for (at, letter) in text.char_indices().skip(1) {
        let end = at + letter.len_utf8();
        let name = text.get(at..end).unwrap_or_default();
        if valued.contains(letter) {
            let rest = text.get(end..).unwrap_or_default();
            if rest.is_empty() {
                flags.push(Flag { name, value: next.map(|arg| &*arg.text), long: false, span });
                return usize::from(next.is_some());
            }
            flags.push(Flag { name, value: Some(rest), long: false, span });
            return 0;
        }
        flags.push(Flag { name, value: None, long: false, span });
    }
    0
}
