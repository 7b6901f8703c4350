//! Knows the machine as hot loops need it.
//!
//! Gives: [`kernel`]. Never: what a loop's figures mean.
//! Start reading at `kernel`.

pub mod kernel;
