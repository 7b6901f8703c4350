//! Knows how a plan is written, fills in what it leaves out and refuses what cannot be measured.
//!
//! Knows: the TOML form of a plan.
//! Gives: [`read`], [`read_seeded`], [`recheck`], [`PlanError`].
//! Never: the order or cost of trials.
//! Start reading at `lab.rs`; what hangs on several places of the plan stands in `check.rs`.

mod boxes;
mod check;
mod environment;
mod error;
mod fact;
mod factor;
mod lab;
mod lab_file;
mod ladder;
mod load;
mod method;
mod nearest;
mod node;
mod param;
mod part;
mod primary;
mod search;
mod stored;
mod topology;
mod value;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_factor;
#[cfg(test)]
mod tests_ladder;
#[cfg(test)]
mod tests_laws;
#[cfg(test)]
mod tests_mlr;
#[cfg(test)]
mod tests_part;
#[cfg(test)]
mod tests_search;
#[cfg(test)]
mod tests_topology;

pub(super) use boxes::{BOXES_MOST, PORTS_MOST};
pub use check::TRIALS;
pub use error::PlanError;
pub(super) use factor::PARTS;
pub(super) use lab::{CLIENTS_BOUNDS, WHOLE_RUN};
pub use lab_file::{HERE, LabFile};
pub(super) use method::MOST_LOOKS;
pub use method::{BLOCKS_BOUNDS, BOOTS_BOUNDS};
pub use nearest::remedy;
pub(super) use part::COUNT_BOUNDS;
pub(super) use search::{SHARES, STEPS_BOUNDS};
pub use stored::{StoredError, recheck};
pub(super) use topology::CABLES_BOUNDS;

use super::Catalogue;
use crate::record::{Place, Plan, claim_sources};
use node::{Lines, Node, Section};

/// Seed of a plan that names none and is not run: any number would do, it only has to stay.
const SEED: u64 = 1;

/// [`read_seeded`] with one and the same seed for every plan that names none: for those who look at
/// a plan. Whoever runs it draws a seed.
///
/// # Errors
/// As [`read_seeded`].
pub fn read(text: &str, catalogue: &Catalogue) -> Result<Plan, PlanError> {
    read_seeded(text, catalogue, SEED)
}

/// Reads a plan, with every default written out and every unit resolved; `seed` is that of a plan
/// that names none.
///
/// A plan without factors compares nothing: its `compare` is then empty.
///
/// # Errors
/// The first thing in the text that cannot be, with its line, the value and the remedy.
pub fn read_seeded(text: &str, catalogue: &Catalogue, seed: u64) -> Result<Plan, PlanError> {
    let table = node::parse(text)?;
    let root = Section::new(text, table.get_ref(), 1);
    root.only(&[
        "title",
        "question",
        "published",
        "lab",
        "factors",
        "load",
        "method",
        "environment",
        "fact",
        "part",
    ])?;
    let title = root.text("title")?.ok_or(PlanError::Missing {
        line: 1,
        what: "title",
        remedy: "begin the plan with title = \"...\"",
    })?;
    let (mut loads, specs) = load::read(&root.section("load")?, catalogue)?;
    let alone = specs.iter().all(|spec| spec.place == Place::Machine);
    let lab = lab::read(&root.section("lab")?, catalogue, alone)?;
    let known = factor::Known { lab: &lab, loads: &loads, specs: &specs, catalogue };
    let factors = factor::read(&root.section("factors")?, &known)?;
    let usual = || specs.first().map_or("", |spec| spec.question).to_owned();
    let question = root.text("question")?.unwrap_or_else(usual);
    let section = root.section("method")?;
    let method = method::read(&section, &factors, &loads, (&specs, seed))?;
    let written = section.get("primary").is_some();
    load::decide(&mut loads, &specs, (&method.primary, written));
    let published = root.get("published").map(published).transpose()?;
    let reclass = environment::read(&root.section("environment")?)?;
    let things = fact::Things { factors: &factors, lab: &lab, loads: &loads, machines: &[] };
    let facts = fact::read(&root, &things)?;
    let parts = part::read(&root, &factors, &facts)?;
    let plan =
        Plan { title, question, lab, factors, loads, method, published, reclass, facts, parts };
    check::check(&plan, &Lines::new(&root))?;
    Ok(plan)
}

/// The published test beside whose claims the findings are set.
fn published(node: &Node<'_>) -> Result<String, PlanError> {
    let text = node.text_like("the number of a published test in quotes")?;
    let known = claim_sources();
    if known.iter().any(|source| source == text) {
        return Ok(text.into());
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Err(PlanError::UnknownName {
        line: node.line,
        what: "published test",
        name: text.into(),
        remedy: nearest::remedy(text, &known),
    })
}
