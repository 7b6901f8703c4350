//! Knows `stend doctor --cable IF`: the driver tests the cable, and each pair is told.

use crate::cli::error::CliError;
use crate::cli::{OK, terminal};
use rig::lab::ethtool::{CableState, Ethtool, Strand};
use std::io::Write as _;

/// Exit status where a pair has a fault, or is not known to be whole.
const FAULTY: u8 = 1;

/// Tests the cable of an adapter. Says first that its link goes down.
///
/// # Errors
/// What the kernel refuses, in its words; standard output that cannot be written.
pub(super) fn cable(adapter: &str) -> Result<u8, CliError> {
    let mut ethtool = Ethtool::open()?;
    let mut err = std::io::stderr();
    writeln!(err, "the link of {adapter} goes down for some seconds while its cable is tested")?;
    let strands = ethtool.test_cable(adapter)?;
    let mut out = terminal::out();
    for strand in &strands {
        writeln!(out, "{}", line(strand))?;
    }
    if strands.is_empty() {
        writeln!(out, "the driver of {adapter} tells nothing of any pair")?;
    }
    let whole = strands.iter().all(|strand| strand.state == CableState::Good);
    Ok(if whole && !strands.is_empty() { OK } else { FAULTY })
}

fn line(strand: &Strand) -> String {
    let state = match strand.state {
        CableState::Good => "good",
        CableState::Open => "open: cut, or nothing at the other end",
        CableState::Short => "its two wires touch",
        CableState::CrossShort => "it touches another pair",
        CableState::Unknown => "not told",
    };
    let metres = strand.fault_cm.map(|cm| f64::from(cm) / 100.0);
    let far = metres.map(|metres| format!(", at {metres:.2} m")).unwrap_or_default();
    format!("pair {}: {state}{far}", strand.pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_told_with_its_fault_and_how_far_that_is() {
        let strand = |state, fault_cm| Strand { pair: 'B', state, fault_cm };
        assert_eq!(line(&strand(CableState::Good, None)), "pair B: good");
        let open = line(&strand(CableState::Open, Some(1234)));
        assert_eq!(open, "pair B: open: cut, or nothing at the other end, at 12.34 m");
    }

    #[test]
    fn an_adapter_that_is_not_there_is_refused_by_its_name() {
        let said = cable("nowhere0").unwrap_err().to_string();
        assert!(said.contains("no link named 'nowhere0'"), "{said}");
    }
}
