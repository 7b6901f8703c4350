//! Knows how a run and its analysis become an article and a card.
//!
//! Gives: [`compose`], [`compose_survey`] and [`compose_comparison`] (facts to [`Document`]),
//! [`html`], [`text`], [`summary`], [`card`].
//! Never: computes a statistic, types a number, or knows how anything was measured.
//! Start reading at `document.rs`, then `compose/mod.rs`.

mod card;
mod compose;
mod document;
mod error;
mod html;
mod text;
mod words;

pub use card::{CardInput, card};
pub use compose::{Part, Role, compose, compose_comparison, compose_survey};
pub use document::{
    Argument, Column, Document, Exact, Link, Node, Prose, Ruling, Source, Table, Tone,
};
pub use error::ReportError;
pub use html::html;
pub use text::{summary, text};

#[cfg(test)]
mod findings;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod outline;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trace;
