//! Knows the host's side of every load of one machine.

use super::recipe::{Order, Ready, Recipe};
use desk::record::{self, Settings};
use rig::lab::agent::Part;
use rig::metal::{Gang, Span, Together, Unready, can_watch};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the conductor asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// Make the loops.
    Stage(Order),
    /// Run them.
    Measure(Span),
    /// Give back what they hold.
    End,
}

/// What the host answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Told {
    /// All loops are made.
    Staged {
        /// In this way.
        made_with: Settings,
        /// The shortest window that they need, nanoseconds.
        least_ns: u64,
    },
    /// They cannot be.
    Unready(Unready),
    /// What they did.
    Measured(Together),
    /// Nothing is held any more.
    Ended,
}

/// The host's side of a workload of this recipe.
#[must_use]
pub fn part(recipe: &'static Recipe) -> Part {
    let mut gang: Option<Gang> = None;
    Box::new(move |body: Value| {
        let ask: Ask = serde_json::from_value(body).map_err(|e| e.to_string())?;
        let told = match ask {
            Ask::Stage(order) => {
                // The memory of the last load is free before the next takes its own.
                gang = None;
                match stage(recipe, &order) {
                    Ok((made, made_with)) => {
                        let least_ns = made.least_ns();
                        gang = Some(made);
                        Told::Staged { made_with, least_ns }
                    }
                    Err(why) => Told::Unready(why),
                }
            }
            Ask::Measure(span) => {
                let staged = gang.as_ref().ok_or("nothing is staged")?;
                Told::Measured(staged.measure(span)?)
            }
            Ask::End => {
                gang = None;
                Told::Ended
            }
        };
        serde_json::to_value(told).map_err(|e| e.to_string())
    })
}

fn stage(recipe: &Recipe, order: &Order) -> Result<(Gang, Settings), Unready> {
    let Ready { members, mut made_with } = (recipe.ready)(order)?;
    if !can_watch() {
        let none = record::Value::Word("none: this kernel has no schedstat".into());
        made_with.insert("guard".into(), none);
    }
    Ok((Gang::start(members)?, made_with))
}
