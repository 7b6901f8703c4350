//! Checks which claims follow from findings.
