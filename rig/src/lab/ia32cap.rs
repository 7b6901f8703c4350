// tidy: table
//! Knows which features of an x86 processor OpenSSL and its kin are told not to see, by a word, and
//! the value of the variable that tells them.
//!
//! Must not know which program is told, nor whether one hears it: a factor sets a level, and the
//! load that runs such a program reads it back.

/// Name of the variable; OpenSSL reads it once, when its library is loaded into a process.
pub const VARIABLE: &str = "OPENSSL_ia32cap";

/// What a level leaves out, and how that is written.
///
/// Source: OpenSSL's manual page `OPENSSL_ia32cap(3)`, of 3.0 for the first two vectors (bits 0-63:
/// CPUID 1 EDX and ECX; 64-127: CPUID 7 EBX and ECX) and of 3.5 for the three behind them, which
/// older releases do not read. `~` clears the bits that follow, an empty vector stays as it is, and
/// a vector that is not written at all is cleared.
///
/// Vector 0: 33 PCLMULQDQ, 41 SSSE3, 43 XOP, 54 MOVBE, 57 AES-NI, 60 AVX. Vector 1: 5 AVX2, 16
/// AVX512F, 17 AVX512DQ, 21 AVX512IFMA, 29 SHA, 30 AVX512BW, 31 AVX512VL, 41 VAES, 42 VPCLMULQDQ.
/// Vector 2: 32 SHA512. Vector 3: 19 AVX10.
const MASKS: [(&str, Option<&str>); 6] = [
    // The variable is not set.
    ("all", None),
    // AES-NI and PCLMULQDQ, and the wider forms of both.
    ("no_aesni", Some("~0x200000200000000:~0x60000000000:::")),
    // AVX, AVX2, AVX-512, XOP, and the forms of others that AVX carries; nothing of vectors 2 to 4.
    ("no_avx", Some("~0x1000080000000000:~0x600c0230020:0")),
    // AVX-512 and AVX10.
    ("no_avx512", Some(":~0xc0230000::~0x80000:")),
    // The instructions for SHA-1, SHA-256 and SHA-512.
    ("no_sha", Some(":~0x20000000:~0x100000000::")),
    // What every x86-64 has, SSE2: everything above, SSSE3 and MOVBE, nothing of vectors 1 to 4.
    ("plain", Some("~0x12400a0200000000:0")),
];

/// The levels, in the order in which they are offered.
pub const LEVELS: &[&str] = &["all", "no_aesni", "no_avx", "no_avx512", "no_sha", "plain"];

/// The value of the variable for a level: the inner none where it must not be set. None for a word
/// that is no level.
#[must_use]
pub fn mask(level: &str) -> Option<Option<&'static str>> {
    MASKS.iter().find(|(name, _)| *name == level).map(|(_, mask)| *mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The first two vectors as the installed OpenSSL sees them at a level; none where there is no
    /// OpenSSL that says so, or it is not of an x86.
    fn seen(level: &str) -> Option<[u64; 2]> {
        let mut command = Command::new("openssl");
        command.args(["info", "-cpusettings"]).env_remove(VARIABLE);
        if let Some(mask) = mask(level).unwrap() {
            command.env(VARIABLE, mask);
        }
        let said = String::from_utf8(command.output().ok()?.stdout).ok()?;
        let (_, vectors) = said.split_once("OPENSSL_ia32cap=")?;
        let mut vectors = vectors.split_whitespace().next()?.split(':');
        let mut next = || u64::from_str_radix(vectors.next()?.strip_prefix("0x")?, 16).ok();
        Some([next()?, next()?])
    }

    #[test]
    fn every_level_has_its_mask() {
        assert!(LEVELS.iter().copied().eq(MASKS.iter().map(|(name, _)| *name)));
        assert_eq!((mask("all"), mask("none")), (Some(None), None));
    }

    #[test]
    fn the_installed_openssl_loses_what_a_level_says_and_nothing_else() {
        let Some([first, second]) = seen("all") else {
            return println!("skipped: no openssl that tells its settings");
        };
        let bits = |list: &[u32]| list.iter().fold(0_u64, |all, bit| all | 1 << bit);
        let wide = bits(&[5, 16, 17, 21, 30, 31, 41, 42]);
        let narrow = bits(&[33, 41, 43, 54, 57, 60]);
        let cases = [
            ("no_aesni", [bits(&[33, 57]), bits(&[41, 42])]),
            ("no_avx", [bits(&[43, 60]), wide]),
            ("no_avx512", [0, bits(&[16, 17, 21, 30, 31])]),
            ("no_sha", [0, bits(&[29])]),
            ("plain", [narrow, u64::MAX]),
        ];
        for (level, [off, wide_off]) in cases {
            assert_eq!(seen(level), Some([first & !off, second & !wide_off]), "{level}");
        }
    }
}
