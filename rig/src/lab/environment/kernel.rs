//! Knows what is taken from longer texts of the kernel: its preemption, and whether clocks may
//! turbo.

use super::fact::fact;
use super::tree::Tree;
use desk::record::Fact;

/// Preemption and turbo, as far as the kernel says.
pub(super) fn observe(tree: &Tree) -> Vec<Fact> {
    [preemption(tree), turbo(tree)].into_iter().flatten().collect()
}

/// `PREEMPT_DYNAMIC` of `#1 SMP PREEMPT_DYNAMIC Thu Jan 1 ...`; `none` where no such word is.
fn preemption(tree: &Tree) -> Option<Fact> {
    let path = "proc/sys/kernel/version";
    let text = tree.text(path)?;
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| word.starts_with("PREEMPT")).collect();
    let value = if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    Some(fact("kernel.preemption", path, &value))
}

/// Whether frequencies above the rated one are allowed; Intel's own driver asks the other way
/// round.
fn turbo(tree: &Tree) -> Option<Fact> {
    let on_off = |on: bool| if on { "on" } else { "off" };
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    if let Some(off) = tree.number::<u8>(intel) {
        return Some(fact("cpu.turbo", intel, on_off(off == 0)));
    }
    let others = "sys/devices/system/cpu/cpufreq/boost";
    Some(fact("cpu.turbo", others, on_off(tree.number::<u8>(others)? != 0)))
}
