//! Signs texts with a key of ours, as JSON web signatures want it (RFC 7518). It is the same cryptography
//! that encrypts connections.

use std::path::Path;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

/// How a signature is made: its name in a signature's head, and ours; for those with two numbers, how many
/// bytes each has.
const WAYS: [(&str, SignatureScheme, Option<usize>); 4] = [
    ("ES256", SignatureScheme::ECDSA_NISTP256_SHA256, Some(32)),
    ("ES384", SignatureScheme::ECDSA_NISTP384_SHA384, Some(48)),
    ("EdDSA", SignatureScheme::ED25519, None),
    ("RS256", SignatureScheme::RSA_PKCS1_SHA256, None),
];

/// A private key.
pub struct SigningKey {
    key: Arc<dyn rustls::sign::SigningKey>,
    name: &'static str,
    scheme: SignatureScheme,
    number: Option<usize>,
}

/// Shows nothing of the key.
impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key in a PEM file, not encrypted; why not, in words that do not show it.
    pub fn read(file: &Path) -> Result<Self, String> {
        let told = |why: String| format!("{}: {why}", file.display());
        let key = PrivateKeyDer::from_pem_file(file).map_err(|error| told(error.to_string()))?;
        Self::of(&key).map_err(told)
    }

    fn of(key: &PrivateKeyDer<'_>) -> Result<Self, String> {
        let key = any_supported_type(key).map_err(|error| error.to_string())?;
        let fits =
            WAYS.iter().find(|(_, scheme, _)| key.choose_scheme(std::slice::from_ref(scheme)).is_some());
        let (name, scheme, number) = *fits.ok_or("it is a key of a kind that is not known here")?;
        Ok(Self { key, name, scheme, number })
    }

    /// What the signature is called (`alg`).
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The signature of a text.
    pub fn sign(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let signer = self.key.choose_scheme(&[self.scheme]).ok_or("the key does not sign like this")?;
        let signed = signer.sign(text).map_err(|error| error.to_string())?;
        match self.number {
            None => Ok(signed),
            Some(size) => numbers(&signed, size).ok_or_else(|| "the signature is malformed".to_owned()),
        }
    }
}

/// The two numbers of a signature one behind the other, out of the wrapping that certificates have them in.
fn numbers(wrapped: &[u8], size: usize) -> Option<Vec<u8>> {
    let inside = element(wrapped, 0x30)?.0;
    let (first, rest) = element(inside, 0x02)?;
    let (second, _) = element(rest, 0x02)?;
    let mut out = Vec::with_capacity(2 * size);
    for number in [first, second] {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let digits = number.get(zeros..)?;
        out.extend(std::iter::repeat_n(0, size.checked_sub(digits.len())?));
        out.extend_from_slice(digits);
    }
    Some(out)
}

/// The content of an element of this kind, and what comes behind it. None here is longer than 255 bytes.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    match bytes {
        [found, 0x81, length, rest @ ..] if *found == kind => rest.split_at_checked(usize::from(*length)),
        [found, length, rest @ ..] if *found == kind && *length < 0x80 => {
            rest.split_at_checked(usize::from(*length))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_taken_out_of_their_wrapping_and_filled_up() {
        let wrapped = [0x30, 0x07, 0x02, 0x02, 0x00, 0xff, 0x02, 0x01, 0x05];

        assert_eq!(numbers(&wrapped, 2), Some(vec![0x00, 0xff, 0x00, 0x05]));
        assert_eq!(numbers(&wrapped, 1), Some(vec![0xff, 0x05]));
        assert_eq!(numbers(&[0x30, 0x04, 0x02, 0x02, 0x01, 0x01], 1), None);
        assert_eq!(numbers(b"", 1), None);
    }

    #[test]
    fn what_is_no_key_is_told_without_showing_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        std::fs::write(&file, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n").unwrap();

        let why = SigningKey::read(&file).unwrap_err();

        assert!(why.contains("key.pem") && !why.contains("c2VjcmV0"), "{why}");
        assert!(SigningKey::read(&folder.path().join("none.pem")).is_err());
    }
}
