//! Numbers and texts in the readable forms of protocol 0, and integers of any length.

/// The decimal number of `INT` and `LONG`; beyond 64 bits up to 128, which is more than any
/// program writes in this old form.
pub(super) fn decimal(line: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(line).ok()?;
    text.strip_suffix('L').unwrap_or(text).trim().parse().ok()
}

/// The number of `FLOAT`.
pub(super) fn float(line: &[u8]) -> Option<f64> {
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// A little-endian two's complement integer, if it fits into 128 bits.
pub(super) fn little_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.last().is_some_and(|&last| last >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let mut wide = [fill; 16];
    let (low, high) = bytes.split_at(bytes.len().min(16));
    wide[..low.len()].copy_from_slice(low);
    let value = i128::from_le_bytes(wide);
    let fits = high.iter().all(|&byte| byte == fill) && (value < 0) == negative;
    fits.then_some(value)
}

/// The bytes of a Python 2 `str` as `repr` wrote it, quotes and backslashes included.
pub(super) fn unquote(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let (&quote, rest) = line.split_first()?;
    let (&last, inner) = rest.split_last()?;
    if !matches!(quote, b'\'' | b'"') || last != quote {
        return None;
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        match escape {
            b'\\' | b'\'' | b'"' => bytes.push(escape),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'x' => {
                bytes.push(u8::try_from(hex(rest.get(..2)?)?).ok()?);
                rest = &rest[2..];
            }
            _ => return None,
        }
    }
    Some(bytes)
}

/// The text of `UNICODE`: Latin-1 with `\u` and `\U` escapes, surrogate pairs joined.
pub(super) fn raw_unicode_escape(line: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(line.len());
    let mut high = None;
    let mut rest = line;
    while let Some(&byte) = rest.first() {
        let (code, len) = match rest.get(..2) {
            Some(br"\u") => (hex(rest.get(2..6)?)?, 6),
            Some(br"\U") => (hex(rest.get(2..10)?)?, 10),
            _ => (u32::from(byte), 1),
        };
        rest = &rest[len..];
        match (high.take(), code) {
            (None, 0xd800..0xdc00) => high = Some(code),
            (None, _) => text.push(char::from_u32(code)?),
            (Some(high), 0xdc00..0xe000) => {
                text.push(char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00))?);
            }
            (Some(_), _) => return None,
        }
    }
    high.is_none().then_some(text)
}

/// The Latin-1 bytes of a text, if every character has one.
pub(super) fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn hex(digits: &[u8]) -> Option<u32> {
    // `from_str_radix` alone would take a sign as well.
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn little_endian_reads_every_128_bit_number_however_it_is_padded(value: i128, padding in 0usize..4) {
            let fill = if value < 0 { 0xff } else { 0 };
            let mut bytes = value.to_le_bytes().to_vec();
            bytes.extend(std::iter::repeat_n(fill, padding));
            prop_assert_eq!(little_endian(&bytes), Some(value));
        }
    }

    #[test]
    fn little_endian_refuses_what_needs_more_than_128_bits() {
        let mut unsigned = [0xff; 17];
        unsigned[16] = 0;
        assert_eq!(little_endian(&unsigned), None);
        assert_eq!(little_endian(&[]), Some(0));
        assert_eq!(little_endian(&[0xff]), Some(-1));
    }

    #[test]
    fn quoted_bytes_lose_their_quotes_and_escapes() {
        assert_eq!(unquote(br"'a\\b\x00\n\''"), Some(b"a\\b\0\n'".to_vec()));
        for bad in [&b"'"[..], b"", b"'a\"", br"'\q'", br"'\x1'", br"'\x+1'"] {
            assert_eq!(unquote(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn escaped_text_joins_surrogate_pairs_and_refuses_halves() {
        assert_eq!(raw_unicode_escape(b"\\u20ac\xe9\\U0001f600\\ud83d\\ude00").unwrap(), "€é😀😀");
        for bad in [&br"\ud83d"[..], br"\ude00", br"\ud83dx", br"\u12", br"\U00110000"] {
            assert_eq!(raw_unicode_escape(bad), None, "{}", bad.escape_ascii());
        }
    }
}
