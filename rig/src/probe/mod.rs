//! Knows what can be read beside the load at the two edges of the window.
//!
//! Gives: [`Probe`], [`all`]. Never: what the load was, or what a reading means.
//! Start reading at `cpu.rs`.

mod cpu;

pub use cpu::CpuProbe;

use desk::record::Reading;

/// Something that is read when the window opens and when it closes.
pub trait Probe {
    /// Reads at the opening.
    fn begin(&mut self);
    /// Reads at the close and gives what happened between; empty when the kernel does not say.
    fn end(&mut self) -> Vec<Reading>;
}

/// All probes, sorted by name.
#[must_use]
pub fn all() -> Vec<Box<dyn Probe>> {
    vec![Box::new(CpuProbe::new("/"))]
}
