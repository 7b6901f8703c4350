//! Knows how a figure is laid out and drawn; one semantic model, several media.
//!
//! Gives: [`Figure`] and its renderings: [`svg`], [`braille`], [`alt_text`], [`csv`],
//! [`standalone`].
//! Never: computes a statistic; what it shows it was given.
//! Start reading at `model.rs`, then `layout.rs`.

mod advances;
mod alt;
mod braille;
mod csv;
mod dots;
mod font;
mod forest;
mod groups;
mod heatmap;
mod layout;
mod measure;
mod model;
mod percentile;
mod plot;
mod projection;
mod roofline;
mod roofs;
mod rows;
mod scales;
mod scene;
mod sparkline;
mod standalone;
mod svg;
mod sweep;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod tests_b;
mod timeline;
mod track;
mod waterfall;
pub(crate) mod words;

pub use alt::alt_text;
pub use braille::braille;
pub use csv::csv;
pub use font::font_faces;
pub use model::{Axis, Figure, FigureKind, Mark, Reference, Roof, Scale, Series, Zone};
pub use standalone::{Theme, standalone};
pub use svg::{svg, svg_beside, svg_style};
