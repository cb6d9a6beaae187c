//! Fingerprints of what others may change.

use hermes_core::hex::hex;
use sha2::{Digest as _, Sha256};

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_fingerprint_is_the_usual_one() {
        assert_eq!(super::digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
