//! Forms with files in them, as services take them (`multipart/form-data`).

use crate::hash::sha256_hex;

/// A form that is being filled in.
#[derive(Debug, Default)]
pub(crate) struct Form {
    parts: Vec<(String, Vec<u8>)>,
}

impl Form {
    /// Adds a field.
    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        let head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
        self.parts.push((head, value.as_bytes().to_vec()));
        self
    }

    /// Adds a file.
    pub(crate) fn file(mut self, name: &str, file: &str, media_type: &str, bytes: &[u8]) -> Self {
        let head = format!(
            "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}",
            quoted(name),
            quoted(file),
            quoted(media_type)
        );
        self.parts.push((head, bytes.to_vec()));
        self
    }

    /// The media type, with what separates the parts, and the body.
    pub(crate) fn finish(self) -> (String, Vec<u8>) {
        let all: Vec<&[u8]> =
            self.parts.iter().flat_map(|(head, body)| [head.as_bytes(), body.as_slice()]).collect();
        // Nothing holds its own digest, so no part can hold the separator.
        let digest: String = sha256_hex(&all).chars().take(40).collect();
        let boundary = format!("hermes-{digest}");
        let mut whole = Vec::new();
        for (head, body) in &self.parts {
            whole.extend_from_slice(format!("--{boundary}\r\n{head}\r\n\r\n").as_bytes());
            whole.extend_from_slice(body);
            whole.extend_from_slice(b"\r\n");
        }
        whole.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), whole)
    }
}

/// A text that cannot leave the quotes or the line it stands in.
fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn a_form_holds_its_fields_in_order() {
        let (kind, body) =
            Form::default().text("model", "m").file("f", "a\"\r\nb.png", "image/png", b"\x89P").finish();

        let boundary = kind.split_once("boundary=").unwrap().1;
        let body = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(
            body,
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--{boundary}\r\n\
                 Content-Disposition: form-data; name=\"f\"; filename=\"a%22  b.png\"\r\n\
                 Content-Type: image/png\r\n\r\n\u{fffd}P\r\n--{boundary}--\r\n"
            )
        );
    }
}
