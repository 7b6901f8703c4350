//! Knows how long a load takes whose address is the result of the load before.
//!
//! Gives: [`Chase`] (a closed path of links through memory and the walk along it), [`Path`] (in
//! which order the members are visited), [`Injector`] (a thread that keeps the memory busy
//! meanwhile), [`node`] (memory of a certain NUMA node).
//! Never: what a latency means. Start reading at [`Chase::build`].

mod inject;
pub mod node;
mod path;
#[cfg(test)]
mod tests;
mod walk;

pub use inject::{BURST, Inject, Injector};
pub use path::{Layout, Order, Path};
pub use walk::LOADS_OF_PASS;

use crate::metal::{DIGEST, Hot, Memory, digest};

/// Links that a digest is made of, at most.
const DIGESTED: usize = 4096;

/// Links in memory that form one closed path, and a place on it.
pub struct Chase {
    memory: Memory,
    path: Path,
    /// Offset of the member at which the walk stands, bytes.
    at: usize,
    /// Loads done since the member of rank 0.
    loads: u64,
}

impl Chase {
    /// Writes the links of a layout into memory; the walk stands at rank 0.
    ///
    /// # Errors
    /// When the layout is not possible, or the memory is smaller than it.
    pub fn build(memory: Memory, layout: Layout) -> Result<Self, String> {
        let path = Path::new(layout)?;
        if memory.len() < layout.size {
            let (has, needs) = (memory.len(), layout.size);
            return Err(format!("a chase of {needs} bytes in {has} bytes of memory; map more"));
        }
        let mut last = None;
        let mut first = 0;
        path.visit(|place| {
            match last {
                Some(from) => walk::link(&memory, layout.stride, from, place),
                None => first = place,
            }
            last = Some(place);
        });
        walk::link(&memory, layout.stride, last.unwrap_or(first), first);
        Ok(Self { memory, path, at: first, loads: 0 })
    }

    /// Walks on by so many times [`LOADS_OF_PASS`] loads; the loads done, each of which waited for
    /// the one before.
    pub fn walk(&mut self, passes: u64) -> u64 {
        let loads = passes * LOADS_OF_PASS;
        self.at = walk::walk(&self.memory, self.path.layout().stride, self.at, passes);
        self.loads += loads;
        loads
    }

    /// Whether the links form one closed path over all members, each visited once, and whether the
    /// walk stands where its number of loads had to take it; the members looked at.
    ///
    /// # Errors
    /// The first member that is wrong, with what stands there and what should.
    pub fn look(&self) -> Result<u64, String> {
        let members = self.path.members();
        let rank = usize::try_from(self.loads % members as u64).unwrap_or(0);
        let due = self.path.at(rank);
        if self.at != due {
            let (at, loads) = (self.at, self.loads);
            return Err(format!("after {loads} loads the walk is at byte {at}, not at {due}"));
        }
        let mut seen = vec![0_u64; members.div_ceil(64)];
        let (mut count, mut wrong, mut last) = (0, None, None);
        let stride = self.path.layout().stride;
        self.path.visit(|place| {
            let member = place / stride;
            let fresh = seen.get(member / 64).is_some_and(|word| word & (1 << (member % 64)) == 0);
            if fresh {
                seen[member / 64] |= 1 << (member % 64);
                count += 1;
            }
            let led = last.map_or(place, |from| walk::next(&self.memory, stride, from));
            if (!fresh || led != place) && wrong.is_none() {
                wrong = Some(format!("a link leads to byte {led}, not to {place}"));
            }
            last = Some(place);
        });
        let home = last.map(|from| walk::next(&self.memory, stride, from));
        match wrong {
            Some(wrong) => Err(wrong),
            None if home != Some(self.path.at(0)) => Err("the path does not close".into()),
            None if count != members => Err(format!("{count} members are linked, not {members}")),
            None => Ok(count as u64),
        }
    }

    /// Members of the path.
    #[must_use]
    pub fn members(&self) -> usize {
        self.path.members()
    }

    /// The memory that is walked through.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Hot for Chase {
    fn pass(&mut self, passes: u64) -> u64 {
        self.walk(passes)
    }

    fn verify(&mut self) -> Result<u64, String> {
        self.look()
    }

    /// Of the first links in memory.
    fn digest(&self) -> u64 {
        let stride = self.path.layout().stride;
        let (mut at, mut so_far) = (self.path.at(0), DIGEST);
        for _ in 0..DIGESTED.min(self.members()) {
            so_far = digest(so_far, &(at as u64).to_le_bytes());
            at = walk::next(&self.memory, stride, at);
        }
        so_far
    }

    /// A link that leads to itself.
    fn spoil(&mut self) {
        let from = self.path.at(self.members() / 2);
        walk::link(&self.memory, self.path.layout().stride, from, from);
    }
}
