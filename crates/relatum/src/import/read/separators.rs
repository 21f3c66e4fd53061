//! Where the tabs and line ends of a block are.

/// The positions of all tabs and line ends, ascending.
///
/// A search for each of them alone would begin anew after every field, and fields are short; here
/// 64 bytes at a time become 64 bits, one for each byte that is wanted.
pub(super) struct Separators<'a> {
    bytes: &'a [u8],
    /// Where the bytes begin that `wanted` describes.
    from: usize,
    wanted: u64,
}

const WIDTH: usize = 64;

impl<'a> Separators<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, from: 0, wanted: bits(bytes) }
    }
}

impl Iterator for Separators<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.wanted == 0 {
            self.from += WIDTH;
            self.wanted = bits(self.bytes.get(self.from..)?);
        }
        let at = self.from + self.wanted.trailing_zeros() as usize;
        self.wanted &= self.wanted - 1;
        Some(at)
    }
}

/// Bit i says whether byte i is a tab or a line end.
fn bits(bytes: &[u8]) -> u64 {
    let Some(bytes) = bytes.first_chunk::<WIDTH>() else {
        let mut padded = [0; WIDTH];
        padded[..bytes.len()].copy_from_slice(bytes);
        return bits(&padded);
    };
    // Two plain steps that compile to vector instructions everywhere: a byte 0 or 1 for each byte,
    // then a product that gathers eight such bytes in its highest byte.
    let found = bytes.map(|byte| u8::from(byte == b'\t' || byte == b'\n'));
    let (words, _) = found.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, &word| {
        (bits << 8) | (u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_tab_and_line_end_is_found_once(bytes in prop::collection::vec(prop::sample::select(b"\t\n\x08\x0b\r a\xff\x89".as_slice()), 0..300)) {
            let wanted = |&at: &usize| matches!(bytes[at], b'\t' | b'\n');
            let expected: Vec<usize> = (0..bytes.len()).filter(wanted).collect();
            prop_assert_eq!(Separators::of(&bytes).collect::<Vec<_>>(), expected);
        }
    }
}
