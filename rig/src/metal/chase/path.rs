//! Knows in which order the members of a chase are visited. Must not know memory.

/// Bytes of a page within which [`Order::InPage`] shuffles.
pub const PAGE: usize = 4096;
/// Most members: their numbers are kept in 32 bits.
const MOST: usize = 1 << 32;

/// In which order members are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By rising address: what prefetchers like best.
    Sequential,
    /// Shuffled within each page of 4 KiB, the pages by rising address: no stream, but neighbours.
    InPage,
    /// One shuffle of all members: nothing to foresee.
    Random,
}

/// What a chase is made like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes that the members span.
    pub size: usize,
    /// Bytes from one member to its neighbour in memory: a power of two, 4 to 4096.
    pub stride: usize,
    /// In which order they are visited.
    pub order: Order,
    /// Of the shuffle.
    pub seed: u64,
}

/// The order of a layout's members: each once, then again from the first.
#[derive(Clone, Debug)]
pub struct Path {
    layout: Layout,
    members: usize,
    /// Members by rank; empty unless the order is random.
    shuffled: Vec<u32>,
}

impl Path {
    /// Draws the order.
    ///
    /// # Errors
    /// When the stride is no power of two from 4 to 4096, or there are fewer than 2 members, or
    /// more than 2^32.
    pub fn new(layout: Layout) -> Result<Self, String> {
        let members = Self::check(layout)?;
        let shuffled = match layout.order {
            Order::Random => shuffle(members, layout.seed),
            Order::Sequential | Order::InPage => Vec::new(),
        };
        Ok(Self { layout, members, shuffled })
    }

    /// How many members a layout has; nothing is drawn.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn check(layout: Layout) -> Result<usize, String> {
        let Layout { size, stride, .. } = layout;
        if !stride.is_power_of_two() || !(4..=PAGE).contains(&stride) {
            return Err(format!("a stride of {stride} bytes; take a power of two from 4 to 4096"));
        }
        let members = size / stride;
        if !(2..=MOST).contains(&members) {
            return Err(format!(
                "{members} members ({size} bytes in steps of {stride}); take from 2 to {MOST}"
            ));
        }
        Ok(members)
    }

    /// What it was made from.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How many members there are.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members
    }

    /// Offset of the member of a rank, bytes; ranks go round.
    #[must_use]
    pub fn at(&self, rank: usize) -> usize {
        let rank = rank % self.members;
        let member = match self.layout.order {
            Order::Sequential => rank,
            Order::InPage => {
                let first = rank - rank % self.of_page();
                first + self.page(first)[rank - first] as usize
            }
            Order::Random => self.shuffled[rank] as usize,
        };
        member * self.layout.stride
    }

    /// Calls with the offset of every member, by rank.
    pub fn visit(&self, mut each: impl FnMut(usize)) {
        let stride = self.layout.stride;
        match self.layout.order {
            Order::Sequential => (0..self.members).for_each(|member| each(member * stride)),
            Order::InPage => {
                for first in (0..self.members).step_by(self.of_page()) {
                    let page = self.page(first);
                    page.iter().for_each(|member| each((first + *member as usize) * stride));
                }
            }
            Order::Random => {
                self.shuffled.iter().for_each(|member| each(*member as usize * stride));
            }
        }
    }

    /// Members of a whole page.
    fn of_page(&self) -> usize {
        PAGE / self.layout.stride
    }

    /// The order within the page whose first member this is.
    fn page(&self, first: usize) -> Vec<u32> {
        let members = self.of_page().min(self.members - first);
        shuffle(members, self.layout.seed ^ mix(first as u64))
    }
}

/// The numbers below `members` in an order drawn from a seed: Fisher and Yates' shuffle
/// (Durstenfeld 1964). Read as a ring it is one cycle, every cycle being as likely.
///
/// A number of 64 bits is scaled to the range (Lemire 2019, without his rejection: with at most
/// 2^32 members the bias is below 2^-32).
#[expect(clippy::cast_possible_truncation, reason = "at most 2^32 members, checked by the caller")]
fn shuffle(members: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..members).map(|member| member as u32).collect();
    for last in (1..members).rev() {
        let drawn = mix(seed.wrapping_add((last as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let other = (u128::from(drawn) * (last as u128 + 1)) >> 64;
        order.swap(last, other as usize);
    }
    order
}

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
