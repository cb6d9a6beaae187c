//! Numbers that nobody can guess, for tokens and handles.

use std::fmt::Write;

/// The system gave no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes")]
pub struct NoRandom;

/// 32 random bytes.
pub fn random_bytes() -> Result<[u8; 32], NoRandom> {
    let mut bytes = [0; 32];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).map_err(|_| NoRandom)?;
    Ok(bytes)
}

/// The same as 64 hexadecimal digits.
pub fn random_hex() -> Result<String, NoRandom> {
    let mut text = String::with_capacity(64);
    for byte in random_bytes()? {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let (one, other) = (random_hex().unwrap(), random_hex().unwrap());

        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
    }
}
