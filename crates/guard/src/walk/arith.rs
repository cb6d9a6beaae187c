//! Integer arithmetic as in `$(( … ))`, for expressions whose every part is known.

/// The value of `text`, or `None` when something in it is unknown or beyond this small reader.
pub(crate) fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    if text.len() > 512 {
        return None;
    }
    let mut reader = Reader { rest: text, variable, depth: 0 };
    let value = reader.ternary()?;
    reader.blanks();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
    variable: &'t dyn Fn(&str) -> Option<i64>,
    depth: u8,
}

/// Binary operators by how tightly they bind, loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["**", "*", "/", "%"],
];

impl Reader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let yes = self.ternary()?;
        if !self.eat(":") {
            return None;
        }
        let no = self.ternary()?;
        Some(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.blanks();
            let Some(sign) = signs.iter().find(|sign| self.rest.starts_with(**sign) && !self.longer(sign))
            else {
                return Some(left);
            };
            self.rest = self.rest.get(sign.len()..)?;
            let right = self.binary(level + 1)?;
            left = apply(sign, left, right)?;
        }
    }

    /// Whether the text begins with a longer operator than `sign`.
    fn longer(&self, sign: &str) -> bool {
        let two = self.rest.get(..2).unwrap_or_default();
        sign.len() == 1 && matches!(two, "||" | "&&" | "<<" | ">>" | "**" | "<=" | ">=")
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 60 {
            return None;
        }
        let value = if self.eat("-") {
            self.unary()?.checked_neg()
        } else if self.eat("+") {
            self.unary()
        } else if self.eat("~") {
            self.unary().map(|value| !value)
        } else if self.eat("!") {
            self.unary().map(|value| i64::from(value == 0))
        } else if self.eat("(") {
            let value = self.ternary()?;
            self.eat(")").then_some(value)
        } else {
            self.atom()
        };
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Option<i64> {
        self.blanks();
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '#' | '@'))
            .unwrap_or(self.rest.len());
        let word = self.rest.get(..end)?;
        self.rest = self.rest.get(end..)?;
        if let Some((base, digits)) = word.split_once('#') {
            return i64::from_str_radix(digits, base.parse().ok().filter(|b| (2..=36).contains(b))?).ok();
        }
        if let Some(hex) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            return i64::from_str_radix(hex, 16).ok();
        }
        if word.len() > 1 && word.starts_with('0') {
            return i64::from_str_radix(word, 8).ok();
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().ok();
        }
        if word.is_empty() { None } else { (self.variable)(word) }
    }
}

fn apply(sign: &str, left: i64, right: i64) -> Option<i64> {
    Some(match sign {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
        ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "**" => left.checked_pow(u32::try_from(right).ok()?)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn known_sums_come_out_right() {
        let none = |_: &str| None;
        assert_eq!(evaluate("1 + 2 * 3", &none), Some(7));
        assert_eq!(evaluate("(1+2)*3 << 1", &none), Some(18));
        assert_eq!(evaluate("16#ff", &none), Some(255));
        assert_eq!(evaluate("2**3 > 7 ? 5 : 6", &none), Some(5));
        assert_eq!(evaluate("x + 1", &none), None);
        assert_eq!(evaluate("1/0", &none), None);
    }
}
