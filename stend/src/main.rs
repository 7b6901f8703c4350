//! The door: nothing is decided here.
fn main() {}
