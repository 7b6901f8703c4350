//! Knows the words of a language; the only place where a sentence is made, but for what a figure
//! says (`figure/words`).
//!
//! Gives: [`Words::say`] and [`Args`]. Never: a number of its own; every number is an argument.

use super::document::{Argument, Link, Prose, Source, unbroken};
use super::error::ReportError;
use desk::stats::Estimate;
use desk::unit::{Quantity, percent_change, show_range};
use fluent_bundle::{FluentArgs, FluentBundle, FluentResource};

/// The messages in English, a file a chapter.
const ENGLISH: [&str; 18] = [
    include_str!("en/verdict.ftl"),
    include_str!("en/compare.ftl"),
    include_str!("en/testbed.ftl"),
    include_str!("en/results.ftl"),
    include_str!("en/measured.ftl"),
    include_str!("en/doubts.ftl"),
    include_str!("en/cost.ftl"),
    include_str!("en/advice.ftl"),
    include_str!("en/published.ftl"),
    include_str!("en/glance.ftl"),
    include_str!("en/report.ftl"),
    include_str!("en/page.ftl"),
    include_str!("en/gate.ftl"),
    include_str!("en/elasticity.ftl"),
    include_str!("en/ladder.ftl"),
    include_str!("en/machine.ftl"),
    include_str!("en/tune.ftl"),
    include_str!("en/watch.ftl"),
];

/// BCP 47 name of the only language so far.
pub const LANGUAGE: &str = "en";

/// What is set into a sentence, with every formatted argument kept.
#[derive(Default)]
pub struct Args {
    values: FluentArgs<'static>,
    shown: Vec<Argument>,
    links: Vec<Link>,
}

impl Args {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn text(mut self, key: &'static str, text: String, source: Source) -> Self {
        self.shown.push(Argument { text: text.clone(), source });
        self.values.set(key, text);
        self
    }

    /// A name that a person or a machine gave; it is never inflected.
    pub fn name(self, key: &'static str, name: &str) -> Self {
        self.text(key, name.into(), Source::Name)
    }

    /// A quantity in its own unit that is no estimate: a setting, a level of confidence.
    pub fn quantity(self, key: &'static str, quantity: Quantity) -> Self {
        self.text(key, unbroken(&quantity.to_string()), Source::Quantity)
    }

    /// The centre of an estimate, its interval standing elsewhere.
    pub fn estimate(self, key: &'static str, estimate: &Estimate) -> Self {
        let source = Source::Estimate(vec![estimate.centre.into()]);
        self.text(key, unbroken(&estimate.centre.to_string()), source)
    }

    /// An end of an interval over its centre, as the change in per cent that it means.
    pub fn off_centre(self, key: &'static str, end: Quantity, centre: Quantity) -> Self {
        let source = Source::Estimate(vec![end.into(), centre.into()]);
        self.text(key, unbroken(&percent_change(end.value / centre.value)), source)
    }

    /// The centre or an end of an estimated ratio, as the change in per cent that it means.
    pub fn changed(self, key: &'static str, ratio: Quantity) -> Self {
        let source = Source::Estimate(vec![ratio.into()]);
        self.text(key, unbroken(&percent_change(ratio.value)), source)
    }

    /// Two like quantities in one unit.
    pub fn range(self, key: &'static str, low: Quantity, high: Quantity) -> Self {
        self.text(key, unbroken(&show_range(low, high)), Source::Quantity)
    }

    /// Two centres or ends of estimates in one unit.
    pub fn ends(self, key: &'static str, low: Quantity, high: Quantity) -> Self {
        let source = Source::Estimate(vec![low.into(), high.into()]);
        self.text(key, unbroken(&show_range(low, high)), source)
    }

    /// A number of things; the sentence may choose its plural by it.
    pub fn count(mut self, key: &'static str, count: u32) -> Self {
        self.shown.push(Argument { text: count.to_string(), source: Source::Count });
        self.values.set(key, count);
        self
    }

    /// A number of things that a record keeps as a quantity.
    pub fn number(self, key: &'static str, quantity: Quantity) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        self.count(key, quantity.value as u32)
    }

    /// What n counts here, where that is not what the whole text counts: see
    /// [`Words::counting`].
    pub fn repeat(mut self, repeat: &'static str) -> Self {
        self.values.set(REPEAT, repeat);
        self
    }

    /// What the sentence chooses by, which is not shown itself.
    pub fn choose(mut self, key: &'static str, word: &str) -> Self {
        self.values.set(key, word.to_owned());
        self
    }

    /// A text that was said before.
    pub fn prose(mut self, key: &'static str, prose: &Prose) -> Self {
        self.shown.extend(prose.sources().iter().cloned());
        self.links.extend(prose.links().iter().cloned());
        self.values.set(key, prose.text().to_owned());
        self
    }
}

/// Name of the argument that says what n counts; every message has it.
const REPEAT: &str = "repeat";

/// The messages of one language.
pub struct Words {
    bundle: FluentBundle<FluentResource>,
    repeat: &'static str,
}

impl Words {
    /// English.
    ///
    /// # Errors
    /// A file of messages that is not Fluent or repeats a message.
    pub fn english() -> Result<Self, ReportError> {
        let language: unic_langid::LanguageIdentifier =
            LANGUAGE.parse().map_err(|e| ReportError::BadWords(format!("{LANGUAGE}: {e}")))?;
        let mut bundle = FluentBundle::new(vec![language]);
        bundle.set_use_isolating(false);
        #[cfg(test)]
        bundle.set_transform(Some(crate::figure::words::accents::accented));
        for source in ENGLISH {
            let resource = FluentResource::try_new(source.into())
                .map_err(|(_, errors)| ReportError::BadWords(format!("{errors:?}")))?;
            bundle
                .add_resource(resource)
                .map_err(|errors| ReportError::BadWords(format!("{errors:?}")))?;
        }
        Ok(Self { bundle, repeat: "block" })
    }

    /// The same words where n counts something else: `block`, `boot`, or `mixed` for both.
    pub fn counting(self, repeat: &'static str) -> Self {
        Self { repeat, ..self }
    }

    /// A sentence.
    ///
    /// # Errors
    /// A message that does not exist, or one that names an argument it was not given.
    pub fn say(&self, key: &str, mut args: Args) -> Result<Prose, ReportError> {
        if args.values.get(REPEAT).is_none() {
            args = args.repeat(self.repeat);
        }
        let pattern = self
            .bundle
            .get_message(key)
            .and_then(|message| message.value())
            .ok_or_else(|| ReportError::MissingWords(key.into()))?;
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(&args.values), &mut errors);
        if errors.is_empty() {
            // A message need not show all that it was given.
            args.shown.retain(|argument| text.contains(&argument.text));
            args.links.retain(|link| text.contains(&link.words));
            Ok(Prose::said(text.into_owned(), args.shown, args.links))
        } else {
            Err(ReportError::Unsaid { key: key.into(), why: format!("{errors:?}") })
        }
    }

    /// A text without arguments: a heading, a label.
    ///
    /// # Errors
    /// As [`Self::say`].
    pub fn label(&self, key: &str) -> Result<Prose, ReportError> {
        self.say(key, Args::new())
    }
}

#[cfg(test)]
mod pseudo;
#[cfg(test)]
mod tests;
