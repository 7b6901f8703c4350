//! Knows the head of a response: found by a comparison with the last one, or parsed.
//!
//! Must not know sockets.

use super::Wrong;
use std::ops::Range;

/// Longest head, bytes; `httpd` and `nginx` send less than 8 KiB.
pub const HEAD_MAX: usize = 64 << 10;
/// Most fields of a head.
const FIELDS: usize = 100;
/// A head that is the same as the last is parsed all the same every so many times.
const TRUST: u32 = 64;

/// How the end of a body is found (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// So many bytes.
    Length(u64),
    /// Chunks, the last one empty.
    Chunked,
    /// Whatever comes until the connection ends.
    ToEnd,
}

/// The head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its bytes with the empty line.
    pub bytes: usize,
    /// Status code.
    pub status: u16,
    /// How the body is framed.
    pub body: Body,
    /// Whether the server ends the connection after it.
    pub closes: bool,
}

/// Finds heads. A server sends the same one again and again but for its date, so that most are
/// known by a comparison.
#[derive(Debug, Default)]
pub struct Heads {
    last: Vec<u8>,
    /// Where the value of `Date` stands in it; empty where there is none.
    date: Range<usize>,
    head: Option<Head>,
    trusted: u32,
}

impl Heads {
    /// The head at the front of these bytes; none where it is not whole yet.
    ///
    /// # Errors
    /// Where it is no head of a response, or longer than [`HEAD_MAX`].
    #[inline]
    pub fn find(&mut self, bytes: &[u8]) -> Result<Option<Head>, Wrong> {
        if self.trusted < TRUST
            && let Some(head) = self.head
            && self.is_last(bytes)
        {
            self.trusted += 1;
            return Ok(Some(head));
        }
        self.parse(bytes)
    }

    #[inline]
    fn is_last(&self, bytes: &[u8]) -> bool {
        let Range { start, end } = self.date;
        bytes.len() >= self.last.len()
            && bytes[..start] == self.last[..start]
            && bytes[end..self.last.len()] == self.last[end..]
            // Nothing but a date stands where the date stood: no end of a line above all.
            && bytes[start..end].iter().all(|byte| (b' '..=b'~').contains(byte))
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Head>, Wrong> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let whole = match response.parse(bytes) {
            Ok(httparse::Status::Complete(whole)) if whole <= HEAD_MAX => whole,
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Wrong("head_too_large")),
            Err(_) => return Err(Wrong("malformed")),
        };
        let head = told(&response, whole)?;
        let is_date = |field: &&httparse::Header<'_>| {
            field.name.eq_ignore_ascii_case("date") && !field.value.is_empty()
        };
        let date = response.headers.iter().find(is_date);
        let start = date.map_or(0, |date| date.value.as_ptr() as usize - bytes.as_ptr() as usize);
        self.date = start..start + date.map_or(0, |date| date.value.len());
        self.last.clear();
        self.last.extend_from_slice(&bytes[..whole]);
        (self.head, self.trusted) = (Some(head), 0);
        Ok(Some(head))
    }
}

/// What fields say of the body and of the connection.
fn told(response: &httparse::Response<'_, '_>, bytes: usize) -> Result<Head, Wrong> {
    let status = response.code.unwrap_or(0);
    let (mut length, mut chunked, mut closes) = (None, false, response.version == Some(0));
    for field in response.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let read = number(field.value).ok_or(Wrong("malformed"))?;
            // Two that differ may be a smuggled response (RFC 9112, 6.3).
            if length.replace(read).is_some_and(|other| other != read) {
                return Err(Wrong("malformed"));
            }
        } else if is("transfer-encoding") {
            chunked = field.value.eq_ignore_ascii_case(b"chunked");
            if !chunked {
                return Err(Wrong("unknown_coding"));
            }
        } else if is("connection") {
            let mut words = field.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            closes = match closes {
                true => !words.any(|word| word.eq_ignore_ascii_case(b"keep-alive")),
                false => words.any(|word| word.eq_ignore_ascii_case(b"close")),
            };
        }
    }
    let body = match (status, chunked, length) {
        (100..=199 | 204 | 304, _, _) => Body::Length(0),
        (_, true, None) => Body::Chunked,
        (_, true, Some(_)) => return Err(Wrong("malformed")),
        (_, false, Some(length)) => Body::Length(length),
        (_, false, None) => Body::ToEnd,
    };
    Ok(Head { bytes, status, body, closes: closes || body == Body::ToEnd })
}

/// A number of decimal digits and nothing else.
fn number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(text: &str) -> Result<Option<Head>, Wrong> {
        Heads::default().find(text.as_bytes())
    }

    #[test]
    fn a_head_says_where_the_body_ends_and_whether_the_connection_does() {
        let of = |fields: &str| {
            let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\nrest");
            head(&text).map(|head| head.map(|head| (head.body, head.closes)))
        };
        assert_eq!(of("Content-Length: 7\r\n"), Ok(Some((Body::Length(7), false))));
        assert_eq!(
            of("content-length: 7\r\nContent-Length: 7\r\n"),
            Ok(Some((Body::Length(7), false)))
        );
        assert_eq!(of("Transfer-Encoding: Chunked\r\n"), Ok(Some((Body::Chunked, false))));
        assert_eq!(of(""), Ok(Some((Body::ToEnd, true))));
        let closes = "Content-Length: 0\r\nConnection: x, Close\r\n";
        assert_eq!(of(closes), Ok(Some((Body::Length(0), true))));
        for wrong in [
            "Content-Length: 7\r\nContent-Length: 8\r\n",
            "Content-Length: +7\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n",
            "no colon\r\n",
        ] {
            assert_eq!(of(wrong), Err(Wrong("malformed")), "{wrong}");
        }
        assert_eq!(of("Transfer-Encoding: gzip\r\n"), Err(Wrong("unknown_coding")));
        assert_eq!(head("HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap().body, Body::Length(0));
        assert!(head("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n").unwrap().unwrap().closes);
        let kept = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n";
        assert!(!head(kept).unwrap().unwrap().closes);
    }

    #[test]
    fn a_head_without_end_is_refused_and_takes_no_memory() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(1 << 20));
        assert_eq!(head(&long[..HEAD_MAX - 1]), Ok(None));
        assert_eq!(head(&long), Err(Wrong("head_too_large")));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(FIELDS + 1));
        assert_eq!(head(&many), Err(Wrong("head_too_large")));
    }

    #[test]
    fn a_head_that_differs_in_more_than_its_date_is_read_anew() {
        let text = |date: &str, length: u8| {
            format!("HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: {length}\r\n\r\nxyz")
        };
        let mut heads = Heads::default();
        let mut of = |text: String| heads.find(text.as_bytes()).unwrap().unwrap().body;
        assert_eq!(of(text("Thu, 26 Nov 2026 06:00:00 GMT", 3)), Body::Length(3));
        for round in 0..200 {
            let date = format!("Thu, 26 Nov 2026 06:{:02}:00 GMT", round % 60);
            assert_eq!(of(text(&date, 3)), Body::Length(3));
        }
        assert_eq!(of(text("Thu, 26 Nov 2026 06:00:00 GMT", 4)), Body::Length(4));
        assert_eq!(of(text("Thu, 26 Nov 2026 06:00:00 GM", 5)), Body::Length(5));
        assert_eq!(of(text("", 6)), Body::Length(6), "no date");
        // A line may not end within the date.
        let mut heads = Heads::default();
        let first = "HTTP/1.1 200 OK\r\nDate: abcdefgh\r\n\r\n";
        assert!(heads.find(first.as_bytes()).unwrap().is_some());
        let wrong = first.replace("abcdefgh", "ab\r\n\u{1}: x");
        assert_eq!(heads.find(wrong.as_bytes()), Err(Wrong("malformed")));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// What the comparison says is what the parser says.
        #[test]
        fn a_remembered_head_is_the_parsed_one(
            lengths in proptest::collection::vec(0..3_u8, 1..150),
            cut in 0..80_usize,
        ) {
            let mut heads = Heads::default();
            for (at, length) in lengths.iter().enumerate() {
                let text = format!(
                    "HTTP/1.1 200 OK\r\nDate: {:029}\r\nContent-Length: {length}\r\n\r\n", at
                );
                let bytes = &text.as_bytes()[..text.len().saturating_sub(cut * (at % 2))];
                prop_assert_eq!(heads.find(bytes), Heads::default().find(bytes));
            }
        }

        #[test]
        fn chance_bytes_are_refused_or_waited_for(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            if let Ok(Some(head)) = Heads::default().find(&bytes) {
                prop_assert!(head.bytes <= bytes.len());
            }
        }
    }
}
