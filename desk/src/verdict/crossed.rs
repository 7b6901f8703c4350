//! Knows what the factors do that a plan crosses but does not compare; never which of them matters.

use super::compared::Compared;
use super::finding::Comparison;
use super::winner::judge;

/// Every level of every other factor against the first of that factor, under each level of the
/// rest, in the order of the plan.
///
/// They are judged like the comparisons that the plan asks for, each by itself: a plan with many of
/// them calls one different by chance more often than its level says.
pub(super) fn others(crossed: &[Compared<'_>]) -> Vec<Comparison> {
    let asked = crossed.iter().flat_map(|compared| &compared.asked);
    asked
        .filter_map(|one| judge(&one.contest, one.rule, &one.barred))
        .map(|j| j.comparison)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::finding::Verdict;
    use super::super::simulated::Simulated;

    /// A second factor that triples one link and does nothing to the other.
    #[test]
    fn a_crossed_factor_is_judged_under_every_level_of_the_compared_one() {
        let run = Simulated {
            offloads: vec!["off", "on"],
            truth: |cell| if cell.offload == "on" { 3.0 } else { 1.0 },
            ..Simulated::default()
        }
        .run();
        let found = analyse(&run).others;
        let told: Vec<(&str, &str, bool)> = found
            .iter()
            .map(|c| (c.factor.as_str(), c.stratum["path"].as_str(), c.overall.low.value > 2.9))
            .collect();
        assert_eq!(told, [("offload", "onboard", false), ("offload", "pro1000", true)]);
        assert_eq!(found[1].verdict, Verdict::Better);
        let ids: std::collections::BTreeSet<&str> = found.iter().map(|c| c.id.as_str()).collect();
        assert!(ids.len() == 2 && analyse(&run).comparisons.iter().all(|c| !ids.contains(&*c.id)));
    }

    #[test]
    fn a_plan_of_one_factor_has_no_others() {
        assert!(analyse(&Simulated::default().run()).others.is_empty());
    }
}
