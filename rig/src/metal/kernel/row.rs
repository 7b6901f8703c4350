//! What a loop is, as data.
//!
//! Knows words, lengths and bytes. Must not know how a loop is written, nor call it.

use super::code::Code;

/// What is done with each eight bytes; `a` is where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `b` is loaded.
    Read,
    /// `a = s`.
    Write,
    /// `a = b`.
    Copy,
    /// `a = s * b`.
    Scale,
    /// `a = b + c`.
    Add,
    /// `a = b + s * c`.
    Triad,
}

/// With which instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Registers of 64 bits.
    Scalar,
    /// 16 bytes, SSE2.
    Sse,
    /// 32 bytes, AVX2 and FMA.
    Avx2,
    /// 64 bytes, AVX-512F.
    Avx512,
    /// `rep movsb`, `rep stosb`.
    Rep,
    /// `rep movsq`, `rep stosq`.
    RepQ,
    /// What the compiler makes of a plain loop.
    Compiler,
    /// `memcpy` of the libc that this program is linked to.
    Libc,
}

impl Isa {
    /// Registers, from the widest to the narrowest.
    pub const WIDEST: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Sse, Self::Scalar];
}

/// How results reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Through the caches, which first load what will be overwritten.
    Temporal,
    /// Past the caches.
    NonTemporal,
}

/// In which order an array is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// From the first byte to the last.
    Straight,
    /// As `Straight`, with the line 512 bytes ahead asked for.
    Prefetched,
    /// Four quarters of the array in step.
    Streams,
    /// Eight pages of 4 KiB in step; what is left over straight.
    Pages,
    /// By blocks of so many bytes, each written to a block that stays in the first cache, and from
    /// there on.
    Blocks(usize),
}

/// A loop.
#[derive(Debug)]
pub struct Row {
    /// Its name, unlike that of all others of the build.
    pub name: &'static str,
    /// What it does.
    pub operation: Operation,
    /// With which instructions.
    pub isa: Isa,
    /// How it stores.
    pub store: Store,
    /// How it walks.
    pub walk: Walk,
    /// An array is a multiple of so many bytes.
    pub granule: usize,
    /// A read leaves the last so many bytes of each quarter, or of the array, in `a`; else 0.
    pub keeps: usize,
    pub(super) needs: &'static [Feature],
    pub(super) code: Code,
}

/// Something that a CPU may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// AVX2, and the state saved by the kernel.
    Avx2,
    /// Fused multiply-add.
    Fma,
    /// AVX-512 Foundation, and the state saved by the kernel.
    Avx512f,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::Copy, Self::Scale, Self::Add, Self::Triad];

    /// As it stands in plans.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Scale => "scale",
            Self::Add => "add",
            Self::Triad => "triad",
        }
    }

    /// Arrays that it reads, 0-2.
    #[must_use]
    pub fn loads(self) -> u64 {
        match self {
            Self::Write => 0,
            Self::Read | Self::Copy | Self::Scale => 1,
            Self::Add | Self::Triad => 2,
        }
    }

    /// Arrays that it writes, 0-1.
    #[must_use]
    pub fn stores(self) -> u64 {
        u64::from(self != Self::Read)
    }

    /// Arrays in all, 1-3.
    #[must_use]
    pub fn arrays(self) -> u64 {
        self.loads() + self.stores()
    }
}

impl Isa {
    /// As it stands in plans and names of rows.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse => "sse",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Rep => "rep",
            Self::RepQ => "rep_q",
            Self::Compiler => "compiler",
            Self::Libc => "libc",
        }
    }
}

impl Store {
    /// As it stands in plans.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Temporal => "temporal",
            Self::NonTemporal => "nontemporal",
        }
    }
}

impl Feature {
    /// As CPUs' makers write it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Avx2 => "AVX2",
            Self::Fma => "FMA",
            Self::Avx512f => "AVX-512F",
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_here(self) -> bool {
        match self {
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            Self::Fma => std::arch::is_x86_feature_detected!("fma"),
            Self::Avx512f => std::arch::is_x86_feature_detected!("avx512f"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_here(self) -> bool {
        false
    }
}

impl Row {
    /// The first thing that this loop needs and the CPU at hand lacks.
    #[must_use]
    pub fn missing(&self) -> Option<Feature> {
        self.needs.iter().copied().find(|feature| !feature.is_here())
    }

    /// Its instructions, as assembled; empty for what is not written by us.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.code.text
    }

    /// Bytes that one pass over arrays of `bytes` loads and stores, as STREAM counts: what is
    /// asked for, whatever the caches do for it.
    #[must_use]
    pub fn counted(&self, bytes: u64) -> u64 {
        self.operation.arrays().saturating_mul(bytes)
    }

    /// Bytes that one pass moves between memory and the caches if nothing stays in them: as
    /// [`Row::counted`], and once more what temporal stores overwrite. By the book: a CPU may
    /// spare the load where it sees that whole lines are written.
    #[must_use]
    pub fn bus(&self, bytes: u64) -> u64 {
        let loaded = match self.store {
            Store::Temporal => self.operation.stores(),
            Store::NonTemporal => 0,
        };
        self.counted(bytes).saturating_add(loaded.saturating_mul(bytes))
    }

    /// Bytes that `two` has: an array, the block of a copy by blocks, or nothing.
    #[must_use]
    pub fn second(&self, bytes: usize) -> usize {
        match self.walk {
            Walk::Blocks(block) => block,
            _ if self.operation.loads() == 2 => bytes,
            _ => 0,
        }
    }
}
