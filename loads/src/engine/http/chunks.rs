//! Knows a body in chunks (RFC 9112, 7.1): sizes, extensions, data, trailers.
//!
//! Must not know sockets, nor what the data must be.

use super::Wrong;

/// Longest line of a size with its extensions, and most bytes of trailers.
const LINE_MAX: u32 = 4096;

/// Where in a body it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In the digits of a size.
    Size { value: u64, digits: u8 },
    /// Behind them, before the end of the line.
    Extension { value: u64 },
    /// In data, so many bytes before its end.
    Data(u64),
    /// Behind data, at the end of the line.
    Behind,
    /// In the trailers, so many bytes into a line.
    Trailer(u32),
    /// Behind the last line.
    End,
}

/// Takes a body apart that comes piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    at: At,
    /// Bytes of the present line or of the trailers.
    line: u32,
}

impl Default for Chunks {
    fn default() -> Self {
        Self { at: At::Size { value: 0, digits: 0 }, line: 0 }
    }
}

impl Chunks {
    /// Whether the last chunk and the trailers have come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.at == At::End
    }

    /// Takes bytes and hands data on; gives how many belonged to this body.
    ///
    /// # Errors
    /// Where a size is no size, or a line has no end.
    pub fn take<E: From<Wrong>>(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut rest = bytes;
        while let Some((first, behind)) = rest.split_first() {
            match self.at {
                At::Data(left) => {
                    let now = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    let (piece, behind) = rest.split_at(now);
                    data(piece)?;
                    let left = left - now as u64;
                    self.at = if left == 0 { At::Behind } else { At::Data(left) };
                    rest = behind;
                }
                At::End => break,
                at => {
                    self.at = self.step(at, *first)?;
                    rest = behind;
                }
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// One byte of what is no data.
    fn step(&mut self, at: At, byte: u8) -> Result<At, Wrong> {
        self.line += 1;
        if self.line > LINE_MAX {
            return Err(Wrong("malformed"));
        }
        match (at, byte) {
            (At::Size { digits: 1.., value } | At::Extension { value }, b'\n') => {
                self.line = 0;
                Ok(if value == 0 { At::Trailer(0) } else { At::Data(value) })
            }
            (At::Size { value, digits }, _) if byte.is_ascii_hexdigit() && digits < 16 => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                Ok(At::Size { value: value << 4 | digit, digits: digits + 1 })
            }
            (At::Size { value, digits: 1.. }, b';' | b'\r' | b' ' | b'\t')
            | (At::Extension { value }, _) => Ok(At::Extension { value }),
            (At::Behind, b'\r') => Ok(At::Behind),
            (At::Behind, b'\n') => {
                self.line = 0;
                Ok(At::Size { value: 0, digits: 0 })
            }
            (At::Trailer(0), b'\n') => Ok(At::End),
            (At::Trailer(_), b'\n') => Ok(At::Trailer(0)),
            (At::Trailer(0), b'\r') => Ok(At::Trailer(0)),
            (At::Trailer(length), _) => Ok(At::Trailer(length + 1)),
            _ => Err(Wrong("malformed")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Data of these bytes, and how many belonged to the body; none where it is not whole.
    fn whole(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Wrong> {
        let (mut chunks, mut data) = (Chunks::default(), Vec::new());
        let taken = chunks.take(bytes, |piece| {
            data.extend_from_slice(piece);
            Ok::<(), Wrong>(())
        })?;
        Ok(chunks.is_whole().then_some((data, taken)))
    }

    #[test]
    fn chunks_extensions_and_trailers_are_taken_apart() {
        let body = b"4;a=b\r\nWiki\r\n6\r\npedia \r\n0\r\nX: y\r\nZ: w\r\n\r\nHTTP";
        assert_eq!(whole(body), Ok(Some((b"Wikipedia ".to_vec(), body.len() - 4))));
        assert_eq!(whole(b"0\r\n\r\n"), Ok(Some((Vec::new(), 5))));
        assert_eq!(whole(b"A\r\n0123456789\r\n"), Ok(None));
    }

    #[test]
    fn what_is_no_size_and_lines_without_end_are_refused() {
        for wrong in [&b"g\r\n"[..], b"\r\n", b"-1\r\n", b"11112222333344445\r\n", b"1\r\nab"] {
            assert_eq!(whole(wrong), Err(Wrong("malformed")), "{wrong:?}");
        }
        let endless = [b"1;", "x".repeat(5000).as_bytes()].concat();
        assert_eq!(whole(&endless), Err(Wrong("malformed")));
        let trailers = [b"0\r\n", "a: b\r\n".repeat(1000).as_bytes()].concat();
        assert_eq!(whole(&trailers), Err(Wrong("malformed")));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Cuts at any byte do not matter.
        #[test]
        fn pieces_give_what_the_whole_gives(
            parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..8),
            cuts in proptest::collection::vec(1..20_usize, 1..40),
        ) {
            let mut body = Vec::new();
            for part in &parts {
                body.extend(format!("{:x}\r\n", part.len()).bytes());
                body.extend(part);
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\n\r\n");
            let (mut chunks, mut data, mut rest) = (Chunks::default(), Vec::new(), &body[..]);
            let mut cuts = cuts.iter().cycle();
            while let (false, Some(cut)) = (chunks.is_whole(), cuts.next()) {
                let piece = &rest[..(*cut).min(rest.len())];
                let taken = chunks.take(piece, |piece| {
                    data.extend_from_slice(piece);
                    Ok::<(), Wrong>(())
                });
                rest = &rest[taken.unwrap()..];
            }
            prop_assert_eq!((data, rest.len()), (parts.concat(), 0));
        }
    }
}
