//! Knows length and content of the first response for each path of a server that stend did not
//! start: what later responses are compared with.
//!
//! Must not know who serves them.

use super::super::spec::{CHECK, LENGTH, RESPONSE_SIZE, STATUS};
use crate::engine::exchange::Order;
use desk::record::Value;
use std::io;

/// Most bytes of content that a thread keeps.
const ROOM: usize = 64 << 20;

/// What all bodies of a page have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Common {
    Content,
    Length,
    Nothing,
}

/// What was learned of a page.
#[derive(Clone, Debug, Default)]
struct OfPage {
    length: Option<u64>,
    bytes: Vec<u8>,
}

/// What was learned of all pages.
#[derive(Debug)]
pub struct Learned {
    common: Common,
    pages: Vec<OfPage>,
    room: usize,
}

impl Learned {
    /// Nothing, of so many pages.
    pub fn of(order: &Order, pages: usize) -> Self {
        let common = match order.params.get(CHECK.name).and_then(Value::word) {
            Some(STATUS) => Common::Nothing,
            Some(LENGTH) => Common::Length,
            _ => Common::Content,
        };
        Self { common, pages: vec![OfPage::default(); pages], room: ROOM }
    }

    /// Whether content is compared.
    pub fn has_content(&self) -> bool {
        self.common == Common::Content
    }

    /// Compares bytes of a body with those of the first one, or keeps them as such.
    ///
    /// # Errors
    /// When they differ.
    pub fn compare(&mut self, page: u32, from: u64, bytes: &[u8]) -> io::Result<()> {
        let known = &mut self.pages[page as usize].bytes;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        // What did not fit is not known.
        if self.common != Common::Content || from > known.len() {
            return Ok(());
        }
        let both = (known.len() - from).min(bytes.len());
        if known[from..from + both] != bytes[..both] {
            return Err(changes("content"));
        }
        let kept = &bytes[both..bytes.len().min(both + self.room)];
        self.room -= kept.len();
        known.extend_from_slice(kept);
        Ok(())
    }

    /// Refuses a body of another length than the first one, or than was asked where that is known.
    ///
    /// # Errors
    /// When it differs, with the remedy.
    pub fn fits(&mut self, (page, asked): (u32, u64), length: u64) -> io::Result<()> {
        if self.common == Common::Nothing {
            return Ok(());
        }
        if asked != 0 && asked != length {
            let name = RESPONSE_SIZE.name;
            let what = format!(
                "a page of {length} B, and {name} = {asked} B; write {name} = \"{length} B\""
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        match *self.pages[page as usize].length.get_or_insert(length) == length {
            true => Ok(()),
            false => Err(changes("length")),
        }
    }
}

fn changes(what: &str) -> io::Error {
    let name = CHECK.name;
    let what = format!(
        "a page whose {what} is not that of the page before; choose one that stays the same, or \
         write {name} = \"{STATUS}\""
    );
    io::Error::new(io::ErrorKind::InvalidData, what)
}
