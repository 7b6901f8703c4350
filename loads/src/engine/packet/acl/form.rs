//! Knows with which instructions packets go through a tree here.
//!
//! Must not know what the instructions do.

use super::keys::{self, Keys};
use super::tree::Tree;
#[cfg(target_arch = "x86_64")]
use super::{half, wide};

/// A set of instructions. All find the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Those that every CPU has.
    Plain,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Half(Has),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Wide(Has),
}

/// That this CPU has the instructions of a form: only [`Form::all`] makes it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Has(());

impl Form {
    /// The forms that this CPU has, the quickest last.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Plain];
        all.extend(Self::vectors());
        all
    }

    #[cfg(not(target_arch = "x86_64"))]
    const fn vectors() -> [Self; 0] {
        []
    }

    #[cfg(target_arch = "x86_64")]
    fn vectors() -> impl Iterator<Item = Self> {
        use std::arch::is_x86_feature_detected as has;
        let is_half = has!("avx2") && has!("bmi1") && has!("bmi2");
        let words = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
        let half = is_half.then_some(Self::Half(Has(())));
        half.into_iter().chain((is_half && words).then_some(Self::Wide(Has(()))))
    }

    /// What the instructions are called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            #[cfg(target_arch = "x86_64")]
            Self::Half(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::Wide(_) => "AVX-512",
        }
    }

    /// Lowers each index to that of the first rule of a tree that the packet matches.
    pub fn classify(self, tree: &Tree, keys: &Keys, matched: &mut [u32]) {
        match self {
            Self::Plain => keys::classify(tree, keys, matched),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Form::all` has looked for AVX2, BMI1 and BMI2.
            Self::Half(_) => unsafe { half::classify(tree, keys, matched) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Form::all` has looked for AVX-512 F, BW, VL and DQ, BMI1 and BMI2.
            Self::Wide(_) => unsafe { wide::classify(tree, keys, matched) },
        }
    }
}
