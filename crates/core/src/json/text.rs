//! JSON that stays as it is written until somebody looks into it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value, as text or already read. Of most schemas that a program knows nobody asks for more than that
/// they are there.
#[derive(Clone, Default)]
pub struct JsonText {
    written: Option<Arc<str>>,
    /// Apart: there are many of these, and most are never read.
    read: OnceLock<Box<Value>>,
}

impl JsonText {
    /// What was written as JSON before, and was kept so that it is sure to be that still.
    pub fn kept(text: &str) -> Self {
        Self { written: Some(text.into()), read: OnceLock::new() }
    }

    /// It as text, to be kept.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.written {
            Some(written) => Cow::Borrowed(written),
            None => Cow::Owned(self.value().to_string()),
        }
    }

    /// What it says.
    pub fn value(&self) -> &Value {
        self.read.get_or_init(|| {
            // What was taken for JSON can be read, but for one that is nested beyond all measure.
            Box::new(self.written().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default())
        })
    }
}

impl JsonText {
    /// It as text, where it came as that.
    pub(crate) fn written(&self) -> Option<&str> {
        self.written.as_deref()
    }
}

impl From<Value> for JsonText {
    fn from(value: Value) -> Self {
        Self { written: None, read: OnceLock::from(Box::new(value)) }
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.written().zip(other.written()).is_some_and(|(a, b)| a == b) || self.value() == other.value()
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.written().and_then(|text| serde_json::from_str::<&RawValue>(text).ok()) {
            Some(written) => written.serialize(serializer),
            None => self.value().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self { written: Some(written.get().into()), read: OnceLock::new() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_the_same_as_text_and_as_a_value() {
        let value = json!({ "type": "object", "properties": { "a": [1, null] } });
        let text: JsonText = serde_json::from_str(&serde_json::to_string_pretty(&value).unwrap()).unwrap();

        assert_eq!(text, JsonText::from(value.clone()));
        assert_ne!(text, JsonText::default());
        assert_eq!(text.value(), &value);
        assert_eq!(serde_json::to_value(&text).unwrap(), value);
        assert_eq!(serde_json::from_value::<JsonText>(value.clone()).unwrap(), text);
        assert_eq!(serde_json::to_value(JsonText::from(value.clone())).unwrap(), value);
        assert_eq!(*JsonText::default().value(), Value::Null);
        assert_eq!(
            (JsonText::kept(&text.text()), JsonText::kept(&JsonText::from(value).text())),
            (text.clone(), text)
        );
    }

    #[test]
    fn what_is_no_json_is_refused() {
        assert!(serde_json::from_str::<JsonText>("{\"a\": }").is_err());
    }
}
