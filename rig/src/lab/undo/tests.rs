//! Knows what a journal must survive.
