//! Messages as Modal's protocol writes them: numbered fields. Only the fields that are needed are named,
//! where they are needed; the rest is passed over.

/// A message being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
            value >>= 7;
        }
        self.0.push(u8::try_from(value).unwrap_or_default());
    }

    /// A number, a choice or a truth. Nought is as not being there.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        if value != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(value);
        }
        self
    }

    /// A text that is there even if it is empty.
    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Several texts.
    pub(super) fn texts<'a>(self, field: u32, texts: impl IntoIterator<Item = &'a str>) -> Self {
        texts.into_iter().fold(self, |message, text| message.text(field, text))
    }

    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(u64::try_from(bytes.len()).unwrap_or_default());
        self.0.extend_from_slice(bytes);
        self
    }

    /// A fraction, of four bytes.
    pub(super) fn fraction(mut self, field: u32, value: f32) -> Self {
        self.varint(u64::from(field) << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn nested(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A message that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(u32, Value)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Fields {
    /// Reads a message; nothing when it is none.
    pub(super) fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            let field = u32::try_from(key >> 3).ok()?;
            let value = match key & 7 {
                0 => Value::Number(varint(&mut bytes)?),
                1 => Value::Number(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
                2 => {
                    let length = usize::try_from(varint(&mut bytes)?).ok()?;
                    Value::Bytes(take(&mut bytes, length)?.to_vec())
                }
                5 => Value::Number(u64::from(u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?))),
                _ => return None,
            };
            fields.push((field, value));
        }
        Some(Self(fields))
    }

    /// A number, if it is there; the last one counts.
    pub(super) fn number(&self, field: u32) -> Option<u64> {
        self.0.iter().rev().find_map(|(known, value)| match value {
            Value::Number(number) if *known == field => Some(*number),
            _ => None,
        })
    }

    /// The bytes of a field, as often as it is there.
    pub(super) fn all(&self, field: u32) -> impl Iterator<Item = &[u8]> {
        self.0.iter().filter_map(move |(known, value)| match value {
            Value::Bytes(bytes) if *known == field => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// A text; empty when it is not there.
    pub(super) fn text(&self, field: u32) -> String {
        self.all(field).last().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    }

    /// A message inside; an empty one when it is not there.
    pub(super) fn nested(&self, field: u32) -> Self {
        self.all(field).last().and_then(Self::read).unwrap_or_default()
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_written_as_others_write_it() {
        let inner = Message::new().text(1, "a");
        let message = Message::new().number(1, 300).number(2, 0).texts(3, ["x", ""]).nested(4, &inner);

        assert_eq!(message.as_bytes(), b"\x08\xac\x02\x1a\x01x\x1a\x00\x22\x03\x0a\x01a");
        assert_eq!(Message::new().fraction(2, 1.0).as_bytes(), b"\x15\x00\x00\x80\x3f");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number in 1_u64.., text in ".*", bytes in any::<Vec<u8>>(), field in 1_u32..1000) {
            let message = Message::new().number(field, number).text(field + 1, &text).bytes(field + 2, &bytes);

            let read = Fields::read(message.as_bytes()).unwrap();

            prop_assert_eq!(read.number(field), Some(number));
            prop_assert_eq!(read.text(field + 1), text);
            prop_assert_eq!(read.all(field + 2).collect::<Vec<_>>(), vec![bytes.as_slice()]);
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in any::<Vec<u8>>()) {
            let _ = Fields::read(&bytes);
        }
    }
}
