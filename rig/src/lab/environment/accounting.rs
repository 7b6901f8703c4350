//! Knows how the kernel says it was built to keep CPU time; reads its configuration.
//!
//! Never: what that means for a figure.

use super::fact::fact;
use super::tree::Tree;
use desk::record::Fact;

/// Most that a configuration may unpack to, bytes; they are a quarter of a megabyte.
const LARGEST: usize = 8 << 20;

/// The fact `kernel.cpu_accounting`: what busy time is made of, and whether interrupts are kept
/// apart from whom they interrupt. Not every user may read the configuration.
pub(super) fn observe(tree: &Tree) -> Option<Fact> {
    let release = tree.text("proc/sys/kernel/osrelease")?;
    let built_in = "proc/config.gz".to_owned();
    let beside = format!("boot/config-{release}");
    let packed = tree.bytes(&built_in).and_then(|bytes| gunzip(&bytes)).map(|t| (built_in, t));
    let found = packed.or_else(|| Some((beside.clone(), tree.text(&beside)?)));
    let cmdline = tree.text("proc/cmdline").unwrap_or_default();
    let said = found.and_then(|(path, config)| Some((path, describe(&config, &cmdline)?)));
    let (path, value) = said.unwrap_or_else(|| (beside, "not said by the kernel".to_owned()));
    Some(fact("kernel.cpu_accounting", &path, &value))
}

/// Whether the kernel keeps the time of interrupts by a clock, apart from whom they interrupt;
/// false where it does not say.
pub(super) fn keeps_interrupts(tree: &Tree) -> bool {
    observe(tree).is_some_and(|fact| fact.value.ends_with("interrupts kept apart"))
}

/// From the options of `init/Kconfig`. Generic virtual accounting is built into most kernels and
/// works only on CPUs that `nohz_full` names at boot; elsewhere it is tick samples again.
fn describe(config: &str, cmdline: &str) -> Option<String> {
    let on = |option: &str| config.lines().any(|l| l.trim() == format!("CONFIG_{option}=y"));
    let full = cmdline.split_ascii_whitespace().any(|word| word.starts_with("nohz_full="));
    let busy = if on("VIRT_CPU_ACCOUNTING_NATIVE") {
        "native virtual clocks"
    } else if on("VIRT_CPU_ACCOUNTING_GEN") && full {
        "generic virtual clocks on the CPUs of nohz_full, else tick samples"
    } else if on("TICK_CPU_ACCOUNTING") || on("VIRT_CPU_ACCOUNTING_GEN") {
        "tick samples"
    } else {
        return None;
    };
    let apart = if on("IRQ_TIME_ACCOUNTING") { "kept apart" } else { "not kept apart" };
    Some(format!("{busy}; interrupts {apart}"))
}

/// The text in a gzip file of one member (RFC 1952); none if it is not one.
fn gunzip(bytes: &[u8]) -> Option<String> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    // A name and a comment, each up to a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            rest = rest.get(rest.iter().position(|byte| *byte == 0)? + 1..)?;
        }
    }
    rest = rest.get(if flags & 2 != 0 { 2 } else { 0 }..)?;
    let text = miniz_oxide::inflate::decompress_to_vec_with_limit(rest, LARGEST).ok()?;
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_options_mean_is_said_in_words() {
        let tick = "CONFIG_TICK_CPU_ACCOUNTING=y\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n";
        let say = |config: &str, cmdline: &str| describe(config, cmdline).unwrap();
        assert_eq!(say(tick, ""), "tick samples; interrupts not kept apart");
        let common = "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n";
        assert_eq!(say(common, "quiet"), "tick samples; interrupts kept apart");
        assert!(say(common, "quiet nohz_full=2-7").starts_with("generic virtual clocks"));
        let native = "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y\n";
        assert_eq!(say(native, ""), "native virtual clocks; interrupts not kept apart");
        assert_eq!(describe("CONFIG_HZ=250\n", ""), None);
    }

    #[test]
    fn a_packed_configuration_is_read_whatever_its_head_holds() {
        let packed = miniz_oxide::deflate::compress_to_vec(b"CONFIG_A=y\n", 6);
        let head = |flags: u8| vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 2, 3];
        let plain = [head(0), packed.clone()].concat();
        assert_eq!(gunzip(&plain).as_deref(), Some("CONFIG_A=y\n"));
        let all = [head(4 | 8 | 16 | 2), vec![3, 0, 7, 7, 7], b"a\0b\0".to_vec(), vec![9, 9]];
        assert_eq!(gunzip(&[all.concat(), packed].concat()).as_deref(), Some("CONFIG_A=y\n"));
        assert_eq!(gunzip(b"CONFIG_A=y\n"), None);
        assert_eq!(gunzip(&plain[..14]), None, "cut off");
    }
}
