//! Knows how a run and its analysis become an article and a card.
//!
//! Gives: [`compose`], [`compose_survey`], [`compose_comparison`] and [`compose_gate`] (facts to
//! [`Document`]), [`html`], [`text`], [`summary`], [`markdown`], [`json`], [`card`], [`junit`]; a
//! [`Bundle`] of what an article was made from, the [`page`] that carries it; in [`watch`] what a
//! screen says of a run that is going on.
//! Never: computes a statistic, types a number, or knows how anything was measured.
//! Start reading at `document.rs`, then `compose/mod.rs`.

mod bundle;
mod card;
mod compose;
mod document;
mod error;
mod html;
mod json;
mod junit;
mod markdown;
mod text;
pub mod watch;
mod words;

pub use bundle::{
    Asked, Bundle, BundleError, FILE_MAX, FORMAT, Judged, LARGEST, PartBundle, over, page,
};
pub use card::{CardInput, card};
pub use compose::{
    Part, Role, aa_words, compose, compose_comparison, compose_gate, compose_survey,
    elasticity_words, gate_headline, gate_lines,
};
pub use document::{
    Argument, Column, Document, Exact, Link, Node, Prose, Ruling, Source, Table, Tone,
};
pub use error::ReportError;
pub use html::html;
pub use json::{Article, Piece, article, json};
pub use junit::junit;
pub use markdown::markdown;
pub use text::{ascii, summary, text};

#[cfg(test)]
mod families;
#[cfg(test)]
mod findings;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod media;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod ranking;
#[cfg(test)]
pub(super) mod tests;
#[cfg(test)]
mod trace;
#[cfg(test)]
mod tuning;
