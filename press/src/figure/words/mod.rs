//! Knows the words that a figure adds to the names it was given; the only place where they are
//! made.
//!
//! Gives: [`say`], [`label`] and [`Args`]. Never: a number of its own; every number is an argument.

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource};
use std::fmt::Display;

/// The messages in English.
pub(crate) const ENGLISH: &str = include_str!("en/figure.ftl");

thread_local! {
    static MESSAGES: FluentBundle<FluentResource> = english();
}

/// The messages of [`ENGLISH`]; a test reads them as strictly as those of the article.
fn english() -> FluentBundle<FluentResource> {
    let language = unic_langid::LanguageIdentifier::from_bytes(b"en").unwrap_or_default();
    let mut bundle = FluentBundle::new(vec![language]);
    bundle.set_use_isolating(false);
    #[cfg(test)]
    bundle.set_transform(Some(accents::accented));
    let (Ok(resource) | Err((resource, _))) = FluentResource::try_new(ENGLISH.into());
    bundle.add_resource_overriding(resource);
    bundle
}

/// What is set into a message.
#[derive(Default)]
pub struct Args(FluentArgs<'static>);

impl Args {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A text as it is written: a name, a quantity with its unit.
    pub fn name(mut self, key: &'static str, text: impl Display) -> Self {
        self.0.set(key, text.to_string());
        self
    }

    /// A number of things; the message may choose its plural by it.
    pub fn count(mut self, key: &'static str, count: usize) -> Self {
        self.0.set(key, count);
        self
    }
}

/// A message with its arguments.
///
/// A picture is not refused for want of words: the key stands for a message that does not exist.
/// Tests find such a key, and a debug build stops at an argument that was not given.
pub fn say(key: &str, args: Args) -> String {
    MESSAGES.with(|messages| {
        let Some(pattern) = messages.get_message(key).and_then(|message| message.value()) else {
            debug_assert!(false, "no message: {key}");
            return key.to_owned();
        };
        let mut errors = Vec::new();
        let text = messages.format_pattern(pattern, Some(&args.0), &mut errors).into_owned();
        debug_assert!(errors.is_empty(), "{key}: {errors:?}");
        text
    })
}

/// A message without arguments.
pub fn label(key: &str) -> String {
    say(key, Args::new())
}

#[cfg(test)]
pub(crate) mod accents;
#[cfg(test)]
mod tests;
