//! Knows the flows of a load as rows: two ends each, and figures in columns of the load's own.
//!
//! A stream of TCP is a flow, a pair of ports of a tester is another.

use crate::unit::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Payload that the receiver took in the window, bytes.
pub const RECEIVED: &str = "received";
/// Operations that were complete in the window.
pub const OPERATIONS: &str = "operations";
/// Time with data in flight in the window, seconds.
pub const BUSY: &str = "busy";
/// Share of it held back by the peer's receive window, seconds.
pub const RECEIVE_WINDOW: &str = "receive_window_limited";
/// Share of it held back by the own send buffer, seconds.
pub const SEND_BUFFER: &str = "send_buffer_limited";

/// Most columns.
pub const COLUMNS_MAX: usize = 64;

/// What the figures of flows are, in the order of each row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowColumn {
    /// Name.
    pub name: String,
    /// Unit of every figure.
    pub unit: Unit,
}

/// One flow over the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Name, for instance `c01.0 transmit`.
    pub name: String,
    /// Host of the sending end.
    pub sender: String,
    /// Host of the receiving end.
    pub receiver: String,
    /// CPU that the sending thread was pinned to, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_cpu: Option<u32>,
    /// CPU that the receiving thread was pinned to, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_cpu: Option<u32>,
    /// Text attributes, such as the congestion control.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
    /// Its figures, one a column; none where it has none.
    pub figures: Vec<Option<f64>>,
}

/// The flows of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flows {
    /// What the figures are.
    pub columns: Vec<FlowColumn>,
    /// One a flow.
    pub rows: Vec<Flow>,
}

impl Flows {
    /// Rows with these columns, name and unit.
    #[must_use]
    pub fn new(columns: &[(&str, Unit)], rows: Vec<Flow>) -> Self {
        let column = |&(name, unit): &(&str, Unit)| FlowColumn { name: name.into(), unit };
        Self { columns: columns.iter().map(column).collect(), rows }
    }

    /// Whether there is no flow.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The figure of a flow in a column, in the column's unit; none where it has none.
    #[must_use]
    pub fn figure(&self, flow: &Flow, column: &str) -> Option<f64> {
        flow.figures.get(self.place(column)?).copied().flatten()
    }

    /// Sum of a column over the flows that are wanted, in the column's unit; 0 where no flow has
    /// the figure.
    #[must_use]
    pub fn sum(&self, column: &str, wanted: impl Fn(&Flow) -> bool) -> f64 {
        let Some(place) = self.place(column) else { return 0.0 };
        let rows = self.rows.iter().filter(|flow| wanted(flow));
        rows.filter_map(|flow| *flow.figures.get(place)?).fold(0.0, |sum, figure| sum + figure)
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|one| one.name == column)
    }

    /// Whether every row has a figure or none for each column, and the columns are at most
    /// [`COLUMNS_MAX`] of different names.
    #[must_use]
    pub fn fit(&self) -> bool {
        let width = self.columns.len();
        let names: BTreeSet<&str> = self.columns.iter().map(|one| one.name.as_str()).collect();
        width <= COLUMNS_MAX
            && names.len() == width
            && self.rows.iter().all(|flow| flow.figures.len() == width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_its_name_and_what_is_absent_is_not_zero() {
        let row = |sender: &str, figures: &[Option<f64>]| Flow {
            sender: sender.into(),
            figures: figures.to_vec(),
            ..Flow::default()
        };
        let columns = [(RECEIVED, Unit::Byte), (BUSY, Unit::Second)];
        let rows = vec![row("sut", &[Some(3.0), None]), row("c01", &[Some(4.0), Some(0.5)])];
        let flows = Flows::new(&columns, rows);
        assert_eq!(flows.figure(&flows.rows[0], RECEIVED), Some(3.0));
        assert_eq!(flows.figure(&flows.rows[0], BUSY), None);
        assert_eq!(flows.figure(&flows.rows[1], "lost"), None);
        assert!(flows.fit());
        let mut short = flows.clone();
        short.rows[0].figures.pop();
        let mut twice = flows.clone();
        twice.columns[1].name = RECEIVED.into();
        assert!(!short.fit() && !twice.fit());
        assert_eq!(flows.sum(RECEIVED, |_| true).to_bits(), 7.0_f64.to_bits());
        assert_eq!(flows.sum(BUSY, |flow| flow.sender == "sut").to_bits(), 0.0_f64.to_bits());
    }
}
