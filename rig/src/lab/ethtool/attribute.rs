//! Knows how netlink lays out attributes (length, type, value, padding to four bytes).
//! Never: which message they belong to.

/// Bytes of the length and type that precede every value.
const HEADER: usize = 4;
/// Says that the value is itself a list of attributes.
const NESTED: u16 = 0x8000;
/// The type without the nested and byte-order flags.
const TYPE_MASK: u16 = 0x3fff;

/// Appends one attribute. A value over 65,531 bytes cannot be written and never occurs here.
pub(super) fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(HEADER + value.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Appends a text with the zero byte that the kernel wants at its end.
pub(super) fn put_text(out: &mut Vec<u8>, kind: u16, text: &str) {
    let mut value = text.as_bytes().to_vec();
    value.push(0);
    put(out, kind, &value);
}

/// Appends a list of attributes as one attribute.
pub(super) fn put_nested(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    put(out, kind | NESTED, value);
}

/// The attributes in `bytes`, as type and value; ends at the first that does not fit.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..HEADER)?.try_into().ok()?);
        let value = bytes.get(HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind & TYPE_MASK, value))
    })
}

/// The value of the first attribute of a type.
pub(super) fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(k, _)| *k == kind).map(|(_, value)| value)
}

/// The first attribute of a type as a 32-bit number.
pub(super) fn find_u32(bytes: &[u8], kind: u16) -> Option<u32> {
    Some(u32::from_ne_bytes(find(bytes, kind)?.try_into().ok()?))
}

/// A text up to its zero byte.
pub(super) fn text(value: &[u8]) -> String {
    let end = value.iter().position(|b| *b == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_past_the_padding() {
        let mut inner = Vec::new();
        put_text(&mut inner, 2, "eth0x");
        put(&mut inner, 3, &7_u32.to_ne_bytes());
        let mut outer = Vec::new();
        put_nested(&mut outer, 1, &inner);
        assert_eq!(outer.len() % 4, 0);
        let nest = find(&outer, 1).unwrap();
        assert_eq!(text(find(nest, 2).unwrap()), "eth0x");
        assert_eq!(find_u32(nest, 3), Some(7));
        assert_eq!(find(nest, 4), None);
    }

    #[test]
    fn a_truncated_or_absurd_attribute_ends_the_list() {
        let mut bytes = Vec::new();
        put(&mut bytes, 1, &[1, 2, 3, 4]);
        assert_eq!(attributes(&bytes[..7]).count(), 0);
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0, "a length below its own header");
        assert_eq!(attributes(&[]).count(), 0);
    }
}
