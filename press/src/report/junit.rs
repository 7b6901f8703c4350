//! Knows how a gate becomes a JUnit report: a suite for the plan, a test case a comparison.
//!
//! A failure is evidence and nothing else. Inconclusive is skipped, because every reader of these
//! files counts an error as a failure; what could not be measured is an error. The exit status
//! keeps an inconclusive gate from passing.
//! Never: a time of day, so that the same run gives the same bytes.

use super::compose::{gate_headline, gate_lines};
use super::document::Prose;
use super::error::ReportError;
use desk::record::Run;
use desk::verdict::{Gate, GateCheck, GateOutcome};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The gate as JUnit XML.
///
/// # Errors
/// Words that are missing, or a report that cannot be written.
pub fn junit(run: &Run, gate: &Gate) -> Result<String, ReportError> {
    let mut suite = TestSuite::new(&run.plan.title);
    suite.add_property(("run", run.id.as_str()));
    suite.add_property(("stend", run.version.as_str()));
    suite.add_property(("fail-if", gate.fail_if.word()));
    suite.add_property(("metric", gate.metric.as_str()));
    suite.set_system_out(spaced(&gate_headline(run, gate)?));
    for (check, (name, said)) in gate.checks.iter().zip(gate_lines(run, gate)?) {
        let mut case = TestCase::new(spaced(&name), status(check, &spaced(&said)));
        case.set_classname(format!("stend.{}", check.comparison));
        case.set_system_out(spaced(&said));
        suite.add_test_case(case);
    }
    let mut report = Report::new("stend gate");
    report.add_test_suite(suite);
    report.to_string().map_err(|e| ReportError::Junit(e.to_string()))
}

fn status(check: &GateCheck, said: &str) -> TestCaseStatus {
    let mut status = match check.outcome {
        GateOutcome::Passed => return TestCaseStatus::success(),
        GateOutcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        GateOutcome::Inconclusive => TestCaseStatus::skipped(),
        GateOutcome::NotMeasured => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_message(said);
    status
}

fn spaced(prose: &Prose) -> String {
    prose.text().replace('\u{a0}', " ")
}
