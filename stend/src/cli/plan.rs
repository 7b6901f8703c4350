//! Knows `stend plan`: what would be done and what could be seen, before anything runs.

use super::error::CliError;
use super::{OK, plans};
use desk::plan::{Budget, budget, quicken};
use desk::record::Plan;
use desk::verdict::reclassed;
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints trials, time and the smallest effects of a plan.
///
/// # Errors
/// When there is no such plan or it is refused.
pub fn show(name: &str, quick: bool) -> Result<u8, CliError> {
    let (mut plan, _) = plans::load(name)?;
    if quick {
        quicken(&mut plan);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(describe(&plan, &budget(&plan)).as_bytes())?;
    Ok(OK)
}

/// The plan in a dozen lines.
fn describe(plan: &Plan, budget: &Budget) -> String {
    let mut text = format!("{}\n{}\n\n", plan.title, plan.question);
    let mut row = |label: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<18}{value}");
    };
    let links: Vec<&str> = plan.lab.links.iter().map(|l| l.name.as_str()).collect();
    row("lab", format!("{} clients, links: {}", plan.lab.clients, links.join(", ")));
    for factor in &plan.factors {
        let levels: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
        let role = if factor.name == plan.method.compare { "  (compared)" } else { "" };
        row("factor", format!("{}: {}{role}", factor.name, levels.join(", ")));
    }
    for one in reclassed(plan) {
        let unknown = if one.known { "" } else { "  (no such key is known)" };
        let [class, usual] = [one.class, one.usual].map(|c| format!("{c:?}").to_lowercase());
        row("environment", format!("{}: {class}, not {usual}{unknown}", one.key));
    }
    for load in &plan.loads {
        for (name, values) in &load.over {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            row("sweep", format!("{name}: {}", values.join(", ")));
        }
    }
    row(
        "trials",
        format!(
            "{} counted ({} points x {} treatments x {} blocks), {} dry",
            budget.trials, budget.points, budget.treatments, plan.method.blocks, budget.dry_trials
        ),
    );
    if !plan.method.looks.is_empty() {
        let looks: Vec<String> = plan.method.looks.iter().map(ToString::to_string).collect();
        row("looks", format!("after {} blocks; ends where all is decided", looks.join(", ")));
    }
    let [least, most] = [budget.shortest, budget.longest].map(|time| minutes(time.value));
    row("time", if least == most { most } else { format!("{least} to {most}") });
    row("decided by", format!("{}, margin {}", plan.method.primary, plan.method.margin));
    text.push_str("\nSmallest effect seen in four of five such runs:\n");
    let _ = writeln!(
        text,
        "{:<18}{:<18}on every point of a curve of {}",
        "noise of a trial", "on one ratio", budget.family
    );
    for smallest in &budget.smallest {
        let _ = writeln!(
            text,
            "{:<18}{:<18}{}",
            smallest.noise.to_string(),
            smallest.single.to_string(),
            smallest.curve
        );
    }
    text
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.1} min", seconds / 60.0) }
}
