//! Sound as a file of its own: samples wrapped as WAV, and headers of WAV files that came through a pipe.

/// Samples of 16 bits in a WAV file.
pub(crate) fn wrapped(samples: &[u8], rate: u32, channels: u16) -> Vec<u8> {
    let frame = u32::from(channels) * 2;
    let mut file = Vec::with_capacity(samples.len() + 44);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&size(samples.len() + 36));
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&channels.to_le_bytes());
    file.extend_from_slice(&rate.to_le_bytes());
    file.extend_from_slice(&rate.saturating_mul(frame).to_le_bytes());
    file.extend_from_slice(&(channels * 2).to_le_bytes());
    file.extend_from_slice(&16_u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&size(samples.len()));
    file.extend_from_slice(samples);
    file
}

/// A WAV file with the right sizes in its header: a program that writes to a pipe cannot know them.
pub(crate) fn mended(mut file: Vec<u8>) -> Vec<u8> {
    let whole = file.len();
    if !file.starts_with(b"RIFF") || file.get(8..12) != Some(b"WAVE") {
        return file;
    }
    put(&mut file, 4, whole.saturating_sub(8));
    let mut at = 12;
    while let (Some(name), Some(length)) = (file.get(at..at + 4), file.get(at + 4..at + 8)) {
        if name == b"data" {
            put(&mut file, at + 4, whole - at - 8);
            return file;
        }
        let length = length.iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        at = at.saturating_add(8).saturating_add(length).saturating_add(length & 1);
    }
    file
}

fn put(file: &mut [u8], at: usize, number: usize) {
    if let Some(place) = file.get_mut(at..at + 4) {
        place.copy_from_slice(&size(number));
    }
}

fn size(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_become_a_file_of_the_right_size() {
        let file = wrapped(&[1, 2, 3, 4], 24_000, 1);

        assert_eq!(file.len(), 48);
        assert_eq!(&file[..8], b"RIFF\x28\0\0\0");
        assert_eq!(&file[40..], [4, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(mended(file.clone()), file);
    }

    #[test]
    fn sizes_that_were_not_known_are_mended() {
        let good = wrapped(&[7; 100], 22_050, 1);
        let mut piped = good.clone();
        put(&mut piped, 4, 0x7FFF_F024);
        put(&mut piped, 40, 0x7FFF_F000);

        assert_eq!(mended(piped), good);
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_length(rest in proptest::collection::vec(any::<u8>(), 0..64)) {
            let file = [&b"RIFF\0\0\0\0WAVE"[..], &rest].concat();
            prop_assert_eq!(mended(file.clone()).len(), file.len());
        }
    }
}
