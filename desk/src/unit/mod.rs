//! Knows what a number is measured in, how it is written and how it is read.
//!
//! Gives: [`Quantity`], [`Unit`], formatting and parsing. Only this room knows "Mbit/s" or "MiB".
//! Never: what was measured, or why.
//! Start reading at `quantity.rs`.

mod format;
mod parse;
mod quantity;
#[cfg(test)]
mod tests_laws;

pub use format::{axis_scale, percent_change, plain, ratio, show_centre, show_range};
pub use parse::{Kind, UnitError, parse, parse_sweep};
pub use quantity::{Quantity, Unit};
