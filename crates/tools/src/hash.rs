//! Digests: names for what was made, and signatures.

use hermes_core::hex::hex;
use sha2::{Digest as _, Sha256};

/// Bytes that the hash takes at a time.
const BLOCK: usize = 64;

/// The SHA-256 of all parts, one after the other, as text.
pub(crate) fn sha256_hex(parts: &[&[u8]]) -> String {
    hex(&sha256(parts))
}

/// The HMAC-SHA-256 of a text as text (RFC 2104).
pub(crate) fn hmac_hex(key: &[u8], text: &[u8]) -> String {
    let mut block = [0_u8; BLOCK];
    let short = if key.len() > BLOCK { sha256(&[key]).to_vec() } else { key.to_vec() };
    block.iter_mut().zip(&short).for_each(|(to, from)| *to = *from);
    let with = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = sha256(&[&with(0x36), text]);
    hex(&sha256(&[&with(0x5C), &inner]))
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

        assert_eq!(sha256_hex(&[b"a", b"bc"]), abc);
    }

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let first = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        let second = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let sixth = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";

        assert_eq!(hmac_hex(&[0x0B; 20], b"Hi There"), first);
        assert_eq!(hmac_hex(b"Jefe", b"what do ya want for nothing?"), second);
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(hmac_hex(&[0xAA; 131], long), sixth);
    }
}
