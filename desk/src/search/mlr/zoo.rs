//! Knows simulated devices with hidden settings: what each loses of a trial, by its seed alone.
//!
//! Never: how a search goes about it.

/// What each device is called, in the order of their numbers.
pub const DEVICES: [&str; 12] = [
    "hard",
    "buffer of 4,096",
    "buffer of 65,536",
    "jitter of 1 %",
    "jitter of 0.2 %",
    "stalls of 2 ms",
    "stalls of 20 ms",
    "thin loss above 0.6",
    "soft knee",
    "two states",
    "bit errors",
    "collapse",
];

/// The search that they are searched with: least and largest load, frames a second.
pub const WITHIN: [f64; 2] = [1e4, 14.88e6];

/// The middle of the capacities, frames a second.
const CAPACITY: f64 = 3.217e6;

/// A device of a number, with chance of its own.
#[derive(Clone, Debug)]
pub struct Device {
    number: usize,
    /// Frames a second.
    capacity: f64,
    chance: Chance,
}

impl Device {
    /// The device of this number, of which every seed has another capacity.
    #[must_use]
    pub fn new(number: usize, seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(1000).wrapping_add(number as u64));
        let capacity = CAPACITY * (0.8 + 0.45 * chance.share());
        Self { number, capacity, chance }
    }

    /// Frames sent, and lost of them, in a trial at this load of so many seconds.
    pub fn trial(&mut self, load: f64, seconds: f64) -> [f64; 2] {
        let (sent, capacity) = ((load * seconds).round(), self.capacity);
        let above = |rate: f64, held: f64| (sent - rate * seconds - held).max(0.0);
        let chance = &mut self.chance;
        let lost = match self.number {
            0 => above(capacity, 0.0),
            1 => above(capacity, 4096.0),
            2 => above(capacity, 65536.0),
            3 => above(capacity * (1.0 + 0.01 * chance.normal()), 0.0),
            4 => above(capacity * (1.0 + 0.002 * chance.normal()), 0.0),
            5 => above(capacity, 0.0) + chance.poisson(0.3 * seconds) * load * 0.002,
            6 => above(capacity, 0.0) + chance.poisson(0.02 * seconds) * load * 0.02,
            7 if load > 0.6 * capacity => above(capacity, 0.0) + chance.poisson(2e-5 * sent),
            8 => {
                let over = ((load / capacity - 0.7) / 0.3).max(0.0);
                above(capacity, 0.0) + chance.poisson(0.002 * over * over * sent)
            }
            9 if chance.share() < 0.3 => above(0.9 * capacity, 0.0),
            10 => above(capacity, 0.0) + chance.poisson(2e-7 * sent),
            // The more is offered, the less gets through.
            11 => (sent - seconds * capacity * (capacity / load).min(1.0)).max(0.0),
            _ => above(capacity, 0.0),
        };
        [sent, lost.min(sent).round()]
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014), so that devices are the same whatever library there is.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.share(), self.share());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// By Knuth's product, of a large mean by the normal distribution.
    fn poisson(&mut self, mean: f64) -> f64 {
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let (least, mut product, mut count) = ((-mean).exp(), self.share(), 0.0);
        while product > least {
            product *= self.share();
            count += 1.0;
        }
        count
    }
}
