//! Checks the messages of a figure as such; `report/words/tests.rs` reads them as a translator would.

use super::*;

#[test]
fn the_messages_are_read_without_a_fault() {
    assert!(FluentResource::try_new(ENGLISH.into()).is_ok());
}
