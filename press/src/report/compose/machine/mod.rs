//! Knows how it is shown what loads of the system under test alone gave: figures and
//! derived facts. The tables stand in `measured`.
//!
//! Gives: [`nodes`], [`runs_alone`]. Never: which level of a factor is better.
//! Start reading at [`nodes`].

mod facts;
mod figures;
mod pairs;
mod roofs;
#[cfg(test)]
mod tests;

use super::{Nodes, Part, Writer};
use crate::report::document::Node;

/// Nodes that stand open: three figures, each with its sentence.
const OPEN: usize = 6;

/// Whether nothing in an article goes between hosts: no clients, no links, nothing of theirs to
/// tell.
pub(in crate::report) fn runs_alone(parts: &[Part<'_>]) -> bool {
    parts.iter().all(|part| part.run.plan.is_alone())
}

/// What a part gave; nothing for a run without such loads.
pub(super) fn nodes(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let mut body = figures::nodes(writer, part)?;
    let further = body.split_off(body.len().min(OPEN));
    body.extend(facts::nodes(writer, part)?);
    if !further.is_empty() {
        let id = format!("machine-further-{}", part.run.id);
        body.push(Node::section(id, writer.label("machine-further")?, further).fold());
    }
    if !body.is_empty() {
        let (id, title) = (format!("machine-{}", part.run.id), writer.label("machine-title")?);
        body = vec![Node::section(id, title, body)];
    }
    Ok(body)
}
