//! Knows how several comparisons are said as one ratio.

use super::say::sentence;
use super::{Part, Writer};
use crate::claim::of_index;
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;

/// The section on all of them; nothing where a plan has one load and one stratum.
pub(super) fn section(writer: &Writer, part: &Part<'_>) -> Result<Option<Node>, ReportError> {
    let all = part.analysis.indexes.iter().map(|one| sentence(writer, &of_index(part.run, one)));
    let mut said = all.collect::<Result<Vec<_>, _>>()?;
    if said.is_empty() {
        return Ok(None);
    }
    said.push(writer.label("index-scope")?);
    let id = format!("index-{}", part.run.id);
    let body = vec![Node::Paragraph(Prose::join(&said))];
    Ok(Some(Node::section(id, writer.label("index-title")?, body)))
}
