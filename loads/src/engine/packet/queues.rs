//! Knows the output queues of a port, and in which order they are served.
//!
//! Must not know frames: what stands in a queue is a slot, with its bytes.

use serde::{Deserialize, Serialize};

/// Most queues of a port: one bit of a word each.
pub const QUEUES_MOST: usize = 64;
/// Bytes that a queue of weight 1 may send in a round (Shreedhar and Varghese 1995: at least the
/// longest frame).
const QUANTUM: u64 = 9_216;

/// In which order the queues of a port are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheduler {
    /// The first queue that is not empty (strict priority).
    Priority,
    /// By weight (deficit round robin).
    Weighted,
    /// The first queue before all others, the others by weight.
    Mixed,
}

/// A frame in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Where it lies.
    pub slot: u32,
    /// Its bytes.
    pub bytes: u32,
}

/// A queue: its frames in the order in which they came. It begins at its first place again where it
/// was emptied, so that a short one stays in few lines of the cache.
#[derive(Clone, Debug)]
struct Queue {
    places: Box<[Queued]>,
    first: usize,
    count: usize,
    bytes: u64,
    /// Bytes that it may send in a round.
    quantum: u64,
    deficit: u64,
}

impl Queue {
    fn new(weight: u64, length: usize) -> Self {
        let places = vec![Queued { slot: 0, bytes: 0 }; length].into_boxed_slice();
        let quantum = QUANTUM * weight.max(1);
        Self { places, first: 0, count: 0, bytes: 0, quantum, deficit: 0 }
    }

    /// False where it is full.
    #[inline]
    fn push(&mut self, frame: Queued) -> bool {
        let (at, length) = (self.first + self.count, self.places.len());
        let fits = self.count < length;
        if fits {
            self.places[if at < length { at } else { at - length }] = frame;
            self.count += 1;
            self.bytes += u64::from(frame.bytes);
        }
        fits
    }

    #[inline]
    fn front(&self) -> Option<Queued> {
        (self.count > 0).then(|| self.places[self.first])
    }

    #[inline]
    fn pop(&mut self) -> Option<Queued> {
        let frame = self.front()?;
        self.count -= 1;
        self.bytes -= u64::from(frame.bytes);
        let next = self.first + 1;
        self.first = if next == self.places.len() { 0 } else { next };
        if self.count == 0 {
            self.empty();
        }
        Some(frame)
    }

    /// All of them.
    #[inline]
    fn pour(&mut self, sent: &mut Vec<u32>) {
        let end = self.first + self.count;
        let over = end.saturating_sub(self.places.len());
        self.places[self.first..end - over].iter().for_each(|frame| sent.push(frame.slot));
        if over > 0 {
            sent.extend(self.places[..over].iter().map(|frame| frame.slot));
        }
        self.empty();
    }

    /// An empty queue saves nothing for later.
    #[inline]
    fn empty(&mut self) {
        (self.first, self.count, self.bytes, self.deficit) = (0, 0, 0, 0);
    }
}

/// The queues of a port.
#[derive(Clone, Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    scheduler: Scheduler,
    /// One bit for each queue that is not empty.
    waiting: u64,
    /// The queue that is served, of those that are by weight.
    turn: usize,
}

impl Queues {
    /// Queues by their weights, 1 to [`QUEUES_MOST`] of them; each holds so many frames.
    #[must_use]
    pub fn new(weights: &[u64], scheduler: Scheduler, length: usize) -> Self {
        let weights = &weights[..weights.len().min(QUEUES_MOST)];
        Self {
            queues: weights.iter().map(|weight| Queue::new(*weight, length)).collect(),
            scheduler,
            waiting: 0,
            turn: usize::from(scheduler == Scheduler::Mixed),
        }
    }

    /// Queues of the port.
    #[must_use]
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Whether any frame is in them.
    #[inline]
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Puts a frame at the end of a queue; false where that is full and the frame is dropped.
    #[inline]
    pub fn put(&mut self, queue: usize, frame: Queued) -> bool {
        let fits = self.queues[queue].push(frame);
        self.waiting |= u64::from(fits) << queue;
        fits
    }

    /// The frame that goes next; none where all queues are empty.
    #[inline]
    pub fn take(&mut self) -> Option<Queued> {
        if self.waiting == 0 {
            return None;
        }
        match self.scheduler {
            Scheduler::Priority => self.front(self.waiting.trailing_zeros() as usize),
            Scheduler::Mixed if self.waiting & 1 != 0 => self.front(0),
            Scheduler::Mixed | Scheduler::Weighted => self.weighted(),
        }
    }

    /// Adds all frames to `sent`, in the order in which [`Self::take`] would give them one by one.
    pub fn drain(&mut self, sent: &mut Vec<u32>) {
        while self.waiting != 0 {
            let first = self.waiting.trailing_zeros() as usize;
            match self.scheduler {
                Scheduler::Mixed if first > 0 => self.drain_turn(sent),
                Scheduler::Weighted => self.drain_turn(sent),
                Scheduler::Priority | Scheduler::Mixed => {
                    self.queues[first].pour(sent);
                    self.waiting &= !(1 << first);
                }
            }
        }
    }

    /// What the queue whose turn it is may send of its deficit; then it is the next one's turn.
    #[inline]
    fn drain_turn(&mut self, sent: &mut Vec<u32>) {
        let queue = &mut self.queues[self.turn];
        if queue.bytes <= queue.deficit {
            queue.pour(sent);
            self.waiting &= !(1 << self.turn);
        }
        while let Some(frame) =
            queue.front().filter(|frame| u64::from(frame.bytes) <= queue.deficit)
        {
            queue.deficit -= u64::from(frame.bytes);
            sent.push(frame.slot);
            queue.pop();
        }
        self.pass_turn();
    }

    /// The next queue with a frame gets its quantum; where there is none the turn stays.
    #[inline]
    fn pass_turn(&mut self) {
        if let Some(next) = self.after(self.turn) {
            self.turn = next;
            let queue = &mut self.queues[next];
            queue.deficit += queue.quantum;
        }
    }

    fn weighted(&mut self) -> Option<Queued> {
        loop {
            let queue = &mut self.queues[self.turn];
            let bytes = queue.front().map(|frame| u64::from(frame.bytes));
            if let Some(bytes) = bytes.filter(|bytes| *bytes <= queue.deficit) {
                queue.deficit -= bytes;
                return self.front(self.turn);
            }
            self.pass_turn();
        }
    }

    /// The next queue with a frame, round robin, of those by weight.
    fn after(&self, queue: usize) -> Option<usize> {
        let by_weight = match self.scheduler {
            Scheduler::Mixed => self.waiting & !1,
            _ => self.waiting,
        };
        let later = by_weight.checked_shr(queue as u32 + 1).unwrap_or(0);
        match (by_weight, later) {
            (0, _) => None,
            (_, 0) => Some(by_weight.trailing_zeros() as usize),
            (..) => Some(queue + 1 + later.trailing_zeros() as usize),
        }
    }

    #[inline]
    fn front(&mut self, queue: usize) -> Option<Queued> {
        let frame = self.queues[queue].pop();
        self.waiting &= !(u64::from(self.queues[queue].count == 0) << queue);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn frame(slot: u32, bytes: u32) -> Queued {
        Queued { slot, bytes }
    }

    fn full(weights: &[u64], scheduler: Scheduler, bytes: u32) -> Queues {
        let mut queues = Queues::new(weights, scheduler, 4000);
        for at in 0..4000 * weights.len() {
            assert!(queues.put(at % weights.len(), frame((at % weights.len()) as u32, bytes)));
        }
        queues
    }

    /// Bytes of each queue among so many frames.
    fn served(queues: &mut Queues, frames: usize) -> Vec<u64> {
        let mut bytes = vec![0; queues.count()];
        for _ in 0..frames {
            let frame = queues.take().unwrap();
            bytes[frame.slot as usize] += u64::from(frame.bytes);
        }
        bytes
    }

    #[test]
    fn weights_are_shares_of_bytes() {
        let mut queues = full(&[1, 2, 5], Scheduler::Weighted, 1500);
        let served = served(&mut queues, 5000);
        let all: u64 = served.iter().sum();
        for (bytes, weight) in served.iter().zip([1.0, 2.0, 5.0]) {
            let share = *bytes as f64 / all as f64 / (weight / 8.0);
            assert!((share - 1.0).abs() < 0.01, "{share} of weight {weight}");
        }
    }

    #[test]
    fn shares_are_of_bytes_and_not_of_frames() {
        let mut queues = Queues::new(&[1, 1], Scheduler::Weighted, 100_000);
        for _ in 0..50_000 {
            queues.put(0, frame(0, 64));
            queues.put(1, frame(1, 1518));
        }
        let served = served(&mut queues, 40_000);
        let ratio = served[0] as f64 / served[1] as f64;
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn the_first_queue_goes_before_all_others_by_priority() {
        let mut queues = full(&[1, 1, 1], Scheduler::Priority, 64);
        assert_eq!(served(&mut queues, 4001), [4000 * 64, 64, 0]);
        queues.put(0, frame(0, 64));
        assert_eq!(queues.take(), Some(frame(0, 64)));
    }

    #[test]
    fn mixed_is_priority_for_the_first_and_weights_for_the_others() {
        let mut queues = full(&[1, 1, 3], Scheduler::Mixed, 1000);
        let first = served(&mut queues, 4000);
        assert_eq!(first, [4_000_000, 0, 0]);
        let then = served(&mut queues, 2000);
        let share = then[2] as f64 / then[1] as f64;
        assert!(then[0] == 0 && (2.9..3.1).contains(&share), "{then:?}");
    }

    #[test]
    fn a_drain_gives_the_order_of_single_frames() {
        for scheduler in [Scheduler::Priority, Scheduler::Weighted, Scheduler::Mixed] {
            let mut single = Queues::new(&[1, 2, 3, 1, 5], scheduler, 500);
            for at in 0..2500 {
                single.put((at * at % 5) as usize, frame(at, 64 + at * 7 % 9000));
            }
            assert_eq!((0..40).filter_map(|_| single.take()).count(), 40);
            let mut whole = single.clone();
            let mut drained = Vec::new();
            whole.drain(&mut drained);
            let taken: Vec<u32> =
                std::iter::from_fn(|| single.take()).map(|frame| frame.slot).collect();
            assert_eq!(drained, taken, "{scheduler:?}");
            assert!(!whole.is_waiting() && taken.len() > 1000);
        }
    }

    #[test]
    fn frames_of_a_queue_stay_in_order_and_all_come_out() {
        for scheduler in [Scheduler::Priority, Scheduler::Weighted, Scheduler::Mixed] {
            let mut queues = Queues::new(&[1; 64], scheduler, 16);
            let put: Vec<u32> =
                (0..2000).filter(|at| queues.put((*at % 64) as usize, frame(*at, 9000))).collect();
            assert_eq!(put.len(), 64 * 16, "a full queue drops");
            let out: Vec<u32> =
                std::iter::from_fn(|| queues.take()).map(|frame| frame.slot).collect();
            assert_eq!(out.len(), put.len());
            for queue in 0..64 {
                let of: Vec<u32> =
                    out.iter().filter(|slot| **slot % 64 == queue).copied().collect();
                assert!(of.is_sorted(), "{scheduler:?}");
            }
            assert_eq!(queues.take(), None);
        }
    }
}
