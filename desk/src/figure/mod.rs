//! Knows how a figure is laid out and drawn; one semantic model, several media.
//!
//! Gives: [`Figure`] and its renderings. Never: computes a statistic; what it shows it was given.
//! Start reading at `model.rs`.

mod model;

pub use model::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
