//! Knows the features of CPUs that cipher code is chosen by, and how `OPENSSL_ia32cap` masks them.
//!
//! Source of the layout: `OPENSSL_ia32cap(3)`. Word 0 is EDX and ECX of CPUID leaf 1, word 1 is EBX
//! and ECX of leaf 7. Must not know the engines.

pub use rig::lab::ia32cap::VARIABLE;

/// Name, word and bit of a feature.
const TABLE: [(&str, usize, u32); 16] = [
    ("adx", 1, 19),
    ("aes", 0, 57),
    ("avx", 0, 60),
    ("avx2", 1, 5),
    ("avx512bw", 1, 30),
    ("avx512f", 1, 16),
    ("avx512ifma", 1, 21),
    ("avx512vl", 1, 31),
    ("bmi1", 1, 3),
    ("bmi2", 1, 8),
    ("pclmulqdq", 0, 33),
    ("sha", 1, 29),
    ("sse2", 0, 26),
    ("ssse3", 0, 41),
    ("vaes", 1, 41),
    ("vpclmulqdq", 1, 42),
];

/// What the processor and the kernel offer, in the layout of the variable.
#[cfg(target_arch = "x86_64")]
fn offered() -> [u64; 2] {
    use std::arch::is_x86_feature_detected as has;
    let found = |name: &str| match name {
        "adx" => has!("adx"),
        "aes" => has!("aes"),
        "avx" => has!("avx"),
        "avx2" => has!("avx2"),
        "avx512bw" => has!("avx512bw"),
        "avx512f" => has!("avx512f"),
        "avx512ifma" => has!("avx512ifma"),
        "avx512vl" => has!("avx512vl"),
        "bmi1" => has!("bmi1"),
        "bmi2" => has!("bmi2"),
        "pclmulqdq" => has!("pclmulqdq"),
        "sha" => has!("sha"),
        "sse2" => has!("sse2"),
        "ssse3" => has!("ssse3"),
        "vaes" => has!("vaes"),
        "vpclmulqdq" => has!("vpclmulqdq"),
        _ => false,
    };
    let mut words = [0; 2];
    for (name, word, bit) in TABLE {
        words[word] |= u64::from(found(name)) << bit;
    }
    words
}

/// Features that code of this process may use, under a mask or without one.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn own(mask: Option<&str>) -> String {
    names(masked(offered(), mask.unwrap_or_default()))
}

/// Features that code of this process may use; the variable of x86-64 says nothing of them.
#[cfg(target_arch = "aarch64")]
#[must_use]
pub fn own(_: Option<&str>) -> String {
    use std::arch::is_aarch64_feature_detected as has;
    let all = [
        ("aes", has!("aes")),
        ("asimd", has!("asimd")),
        ("pmull", has!("pmull")),
        ("sha2", has!("sha2")),
        ("sha3", has!("sha3")),
        ("sve", has!("sve")),
    ];
    let names: Vec<&str> = all.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    names.join(" ")
}

/// No feature is known of other processors.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
pub fn own(_: Option<&str>) -> String {
    String::new()
}

/// Features in what OpenSSL says of itself (`openssl version -c`, `OPENSSL_info`), the mask
/// applied: `OPENSSL_ia32cap=0x..:0x..`; its own words where they are others.
#[must_use]
pub fn told(text: &str) -> String {
    let text = text.trim().trim_start_matches("CPUINFO:").trim();
    let Some(rest) = text.strip_prefix("OPENSSL_ia32cap=") else { return text.to_owned() };
    let settings = rest.split_whitespace().next().unwrap_or_default();
    let mut words = [0; 2];
    for (word, part) in words.iter_mut().zip(settings.split(':')) {
        *word = number(part).unwrap_or(0);
    }
    names(words)
}

fn names(words: [u64; 2]) -> String {
    let on = |(_, word, bit): &&(&str, usize, u32)| words[*word] >> bit & 1 == 1;
    let names: Vec<&str> = TABLE.iter().filter(on).map(|(name, _, _)| *name).collect();
    names.join(" ")
}

/// Applies a mask: for each word a number that replaces it, or `~` and what is taken away.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "x86-64 alone has the variable")
)]
fn masked(mut words: [u64; 2], mask: &str) -> [u64; 2] {
    for (word, part) in words.iter_mut().zip(mask.split(':')) {
        match part.strip_prefix('~') {
            Some(less) => *word &= !number(less).unwrap_or(0),
            // What the processor has not cannot be switched on.
            None => *word &= number(part).unwrap_or(u64::MAX),
        }
    }
    words
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_takes_away_what_it_names() {
        let all = [u64::MAX; 2];
        assert_eq!(names(masked(all, "~0x200000000000000")).split(' ').next(), Some("adx"));
        let no_aes = names(masked(all, "~0x200000000000000"));
        assert!(!no_aes.split(' ').any(|n| n == "aes") && no_aes.contains("vaes"), "{no_aes}");
        let no_sha = names(masked(all, "~0x0:~0x20000000"));
        assert!(no_sha.contains(" aes ") && !no_sha.contains("sha"), "{no_sha}");
        assert_eq!(names(masked(all, ":~0")), names(all));
        assert!(!names(masked(all, ":~0xc0230000::~0x80000:")).contains("avx512"));
        assert_eq!(names(masked(all, "0x4000000:0")), "sse2");
    }

    #[test]
    fn what_openssl_tells_is_read() {
        let text = "CPUINFO: OPENSSL_ia32cap=0xfffa32034f8bffff:0x1a415f46d1bf2ffb env:~0x0:~0x2";
        let names = told(text);
        assert!(names.starts_with("adx aes avx avx2 avx512bw avx512f"), "{names}");
        assert!(!names.split(' ').any(|name| name == "sha"), "{names}");
        assert_eq!(told("CPUINFO: OPENSSL_armcap=0xbd"), "OPENSSL_armcap=0xbd");
        assert_eq!(told("CPUINFO: N/A"), "N/A");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn every_x86_64_has_sse2_until_it_is_masked() {
        assert!(own(None).contains("sse2"));
        assert!(!own(Some("~0x4000000")).contains("sse2"));
    }
}
