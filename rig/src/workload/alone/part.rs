//! Knows the host's side of every load of one machine.

use super::recipe::{Order, Ready, Recipe};
use crate::lab::agent::Part;
use crate::metal::{Gang, Span, Together, Unready};
use desk::record::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the conductor asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// Make the loops.
    Stage(Order),
    /// Run them.
    Measure(Span),
}

/// What the host answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Told {
    /// All loops are made, in this way.
    Staged(Settings),
    /// They cannot be.
    Unready(Unready),
    /// What they did.
    Measured(Together),
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
                        gang = Some(made);
                        Told::Staged(made_with)
                    }
                    Err(why) => Told::Unready(why),
                }
            }
            Ask::Measure(span) => {
                let staged = gang.as_ref().ok_or("nothing is staged")?;
                Told::Measured(staged.measure(span)?)
            }
        };
        serde_json::to_value(told).map_err(|e| e.to_string())
    })
}

fn stage(recipe: &Recipe, order: &Order) -> Result<(Gang, Settings), Unready> {
    let Ready { members, made_with } = (recipe.ready)(order)?;
    Ok((Gang::start(members)?, made_with))
}
