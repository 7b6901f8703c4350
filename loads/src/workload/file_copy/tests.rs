//! Knows what the parameters of `file_copy` promise.

use super::check::figures;
use super::spec::SPEC;
use desk::record::ParamRole;
use desk::unit::Unit;

#[test]
fn the_published_file_is_a_size_that_may_be_asked_for() {
    let size = SPEC.params.iter().find(|param| param.role == Some(ParamRole::Size)).unwrap();
    let range = size.kind.range.unwrap();
    assert!((range.least..=range.most).contains(&378_741_855.0), "{range:?}");
}

#[test]
fn a_byte_has_eight_bits() {
    let figures = figures(1e6, (1.0, 1.0));
    assert_eq!(figures[0].metric, "throughput");
    assert_eq!(figures[0].quantity.unit, Unit::BitPerSecond);
    assert!((figures[0].quantity.value - 8e6).abs() < 1e-6);
}
