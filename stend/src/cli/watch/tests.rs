//! Draws screens.
