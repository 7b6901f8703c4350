//! Knows a tree over rules: nodes cut them by bits of a packet until few are left, which a leaf
//! holds in blocks.
//!
//! A tree only leaves out rules that a packet cannot match: a leaf compares all fields. Must not
//! know that there may be several trees.

use super::block::{self, Block};
use super::cut::choose;
use super::entry::{BLOCKS_MAX, Entry};
use super::key::Key;
use super::span::{Region, Spans, Window, covers};
use std::collections::{BTreeMap, VecDeque};

/// Words of a tree for each rule, at most, before it is cut no further; with [`WORDS_FREE`].
const WORDS_EACH: usize = 24;
/// Words that every tree may have.
const WORDS_FREE: usize = 1 << 14;
/// Longest way to a leaf.
const DEPTH_MAX: u32 = 8;
/// Of so many rules and fewer, those are left out that another one hides.
const HIDE_MAX: usize = 64;

/// A tree over rules.
#[derive(Clone, Debug)]
pub struct Tree {
    pub root: Entry,
    pub entries: Vec<Entry>,
    pub blocks: Vec<Block>,
    /// Steps of the longest way from the root to a leaf.
    pub depth: u32,
}

/// A word before it is known where nodes begin.
#[derive(Clone, Copy)]
enum Slot {
    Node(usize, [Window; 2]),
    Leaf(u32, usize),
}

/// Rules that are to be cut, and the word that will lead to them.
struct Work {
    slot: usize,
    rules: Vec<u32>,
    region: Region,
    depth: u32,
}

/// A tree that is being made.
struct Making<'r> {
    rules: &'r [(u32, Spans)],
    slots: Vec<Slot>,
    blocks: Vec<Block>,
    leaves: BTreeMap<Vec<u32>, Slot>,
    work: VecDeque<Work>,
    depth: u32,
}

impl Tree {
    /// A tree over rules, each with its index, in rising order.
    ///
    /// # Errors
    /// The rules of a leaf, where they are more than one can hold.
    pub fn build(rules: &[(u32, Spans)]) -> Result<Self, usize> {
        let mut making = Making {
            rules,
            slots: vec![Slot::Leaf(0, 1)],
            blocks: vec![Block::EMPTY],
            leaves: BTreeMap::from([(Vec::new(), Slot::Leaf(0, 1))]),
            work: VecDeque::new(),
            depth: 0,
        };
        let all = (0..rules.len()).filter_map(|at| u32::try_from(at).ok()).collect();
        making.add(Work { slot: 0, rules: all, region: Region::default(), depth: 0 })?;
        while let Some(work) = making.work.pop_front() {
            making.cut(&work)?;
        }
        Ok(making.made())
    }

    /// Bytes of a tree.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.blocks)
    }

    /// The leaf of a packet.
    #[inline]
    pub fn leaf(&self, key: &Key) -> Entry {
        (0..self.depth).fold(self.root, |entry, _| self.entries[entry.next(key)])
    }

    /// The blocks of a leaf.
    #[inline]
    pub fn blocks(&self, leaf: Entry) -> &[Block] {
        &self.blocks[leaf.first()..leaf.first() + leaf.blocks()]
    }
}

/// Index of the first rule of blocks that a packet matches, by how one block is compared.
#[expect(clippy::inline_always, reason = "it takes the instructions of its caller")]
#[inline(always)]
pub fn first(blocks: &[Block], matched: impl Fn(&Block) -> u32) -> u32 {
    // A leaf has a block, and few have another.
    let [one, others @ ..] = blocks else { return block::NONE };
    let mut index = one.index(matched(one));
    for other in others {
        if index != block::NONE {
            break;
        }
        index = other.index(matched(other));
    }
    index
}

impl Making<'_> {
    /// Leaves out the rules that cannot be the first that matches, and makes a leaf where few are
    /// left, else work.
    fn add(&mut self, mut work: Work) -> Result<(), usize> {
        self.depth = self.depth.max(work.depth);
        let spans = |at: &u32| &self.rules[*at as usize].1;
        if let Some(last) = work.rules.iter().position(|at| covers(spans(at), &work.region)) {
            work.rules.truncate(last + 1);
        }
        if work.rules.len() <= HIDE_MAX {
            self.unhide(&mut work);
        }
        let is_leaf = work.rules.len() <= block::RULES || work.depth == DEPTH_MAX;
        if is_leaf {
            self.leaf(work)
        } else {
            self.work.push_back(work);
            Ok(())
        }
    }

    /// Leaves out rules of which the region has nothing that an earlier one does not match.
    fn unhide(&self, work: &mut Work) {
        let left: Vec<Spans> = work.rules.iter().map(|at| self.left(*at, &work.region)).collect();
        let hidden = |at: usize| {
            left[..at].iter().any(|one| {
                one.iter().zip(&left[at]).all(|(a, b)| a.low <= b.low && b.high <= a.high)
            })
        };
        let kept = (0..left.len()).filter(|at| !hidden(*at)).map(|at| work.rules[at]).collect();
        work.rules = kept;
    }

    /// The spans of a rule within a region that it meets.
    fn left(&self, at: u32, region: &Region) -> Spans {
        let spans = &self.rules[at as usize].1;
        std::array::from_fn(|field| spans[field].within(region[field]).unwrap_or(spans[field]))
    }

    fn cut(&mut self, work: &Work) -> Result<(), usize> {
        let spans: Vec<&Spans> = work.rules.iter().map(|at| &self.rules[*at as usize].1).collect();
        let words = self.slots.len() + self.blocks.len() * size_of::<Block>() / size_of::<Entry>();
        let has_room = words <= WORDS_FREE + WORDS_EACH * self.rules.len();
        let Some(windows) = has_room.then(|| choose(&spans, &work.region)).flatten() else {
            let Work { slot, region, depth, .. } = *work;
            return self.leaf(Work { slot, region, depth, rules: work.rules.clone() });
        };
        let [low, high] = windows;
        let base = self.slots.len();
        self.slots[work.slot] = Slot::Node(base, windows);
        let children = low.values() * high.values();
        self.slots.resize(base + children as usize, Slot::Leaf(0, 1));
        for (child, rules) in (0..children).zip(self.parts(work, windows)) {
            let mut region = work.region;
            region[low.field] = region[low.field].with(low, child & (low.values() - 1));
            region[high.field] = region[high.field].with(high, child >> low.bits);
            let slot = base + child as usize;
            self.add(Work { slot, rules, region, depth: work.depth + 1 })?;
        }
        Ok(())
    }

    /// The rules that packets of each child can match, the lower window's values first.
    fn parts(&self, work: &Work, [low, high]: [Window; 2]) -> Vec<Vec<u32>> {
        let mut parts = vec![Vec::new(); (low.values() * high.values()) as usize];
        for rule in &work.rules {
            let spans = self.left(*rule, &work.region);
            let (across, down) = (low.reach(spans[low.field]), high.reach(spans[high.field]));
            for row in (0..down.count).map(|step| (down.first + step) % high.values()) {
                for column in (0..across.count).map(|step| (across.first + step) % low.values()) {
                    parts[(row << low.bits | column) as usize].push(*rule);
                }
            }
        }
        parts
    }

    fn leaf(&mut self, work: Work) -> Result<(), usize> {
        let slot = match self.leaves.get(&work.rules) {
            Some(slot) => *slot,
            None => {
                let slot = self.filled(&work.rules)?;
                self.leaves.insert(work.rules, slot);
                slot
            }
        };
        self.slots[work.slot] = slot;
        Ok(())
    }

    /// A new leaf of these rules.
    fn filled(&mut self, rules: &[u32]) -> Result<Slot, usize> {
        let first = u32::try_from(self.blocks.len()).map_err(|_| rules.len())?;
        let rows: Vec<(u32, Spans)> = rules.iter().map(|at| self.rules[*at as usize]).collect();
        let blocks = rows.len().div_ceil(block::RULES);
        if blocks > BLOCKS_MAX {
            return Err(rows.len());
        }
        self.blocks.extend(rows.chunks(block::RULES).map(Block::of));
        Ok(Slot::Leaf(first, blocks))
    }

    /// The tree: a word for each block, which leaves lead to, then the words of nodes.
    fn made(self) -> Tree {
        let homes = self.blocks.len();
        let entry = |slot: &Slot| match slot {
            Slot::Leaf(first, blocks) => Entry::leaf(*first, *blocks),
            Slot::Node(first, windows) => {
                // Checked in `build`: trees are far below 2^32 words.
                Entry::node(u32::try_from(homes + first).unwrap_or(u32::MAX), *windows)
            }
        };
        let mut entries = vec![Entry::leaf(0, 1); homes];
        for slot in &self.slots {
            if let Slot::Leaf(first, _) = slot {
                entries[*first as usize] = entry(slot);
            }
        }
        entries.extend(self.slots.iter().map(entry));
        Tree { root: entries[homes], entries, blocks: self.blocks, depth: self.depth }
    }
}
