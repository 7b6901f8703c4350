//! Knows how chance moves a rate: all of it from seeds, each visit with a stream of its own.
//!
//! Must not know what is measured.

use super::field::{At, Span};
use super::physics::{Physics, Rare};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::f64::consts::TAU;

/// Streams of launches stand above those of visits.
const LAUNCHES: u64 = 1 << 40;
/// Streams of boots stand above those of launches.
const BOOTS: u64 = 1 << 41;
/// The stream of the session stands above those of boots.
const SESSION: u64 = 1 << 42;
/// Streams of one trial: more than it is ever visited.
const VISITS: u64 = 1 << 8;

/// Chance over a run, in the order of its visits.
#[derive(Clone, Debug)]
pub struct Chance {
    seed: [u8; 32],
    /// State of the autoregression, in standard deviations.
    correlated: f64,
    /// What the session adds to the log of the rate, in all of its visits.
    session: f64,
    /// What the present launch adds to the log of the rate.
    launch: f64,
    launches: u64,
    visits_of_launch: u32,
}

/// What was drawn for one visit.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Multiplier of the rate.
    pub pace: f64,
    /// Multiplier of CPU time.
    pub cpu: f64,
    /// A number from 0 to 1 for each planted fault.
    pub luck: Vec<f64>,
}

impl Chance {
    /// Chance of a plan under a physics; the first launch is drawn.
    #[must_use]
    pub fn new(plan_seed: u64, physics: &Physics) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&plan_seed.to_le_bytes());
        seed[8..16].copy_from_slice(&physics.seed.to_le_bytes());
        let mut chance = Self {
            seed,
            correlated: 0.0,
            session: 0.0,
            launch: 0.0,
            launches: 0,
            visits_of_launch: 0,
        };
        chance.session = physics.noise.session.sd * normal(&mut chance.stream(SESSION));
        chance.correlated = normal(&mut chance.stream(LAUNCHES - 1));
        chance.relaunch(physics);
        chance
    }

    fn stream(&self, number: u64) -> ChaCha8Rng {
        let mut stream = ChaCha8Rng::from_seed(self.seed);
        stream.set_stream(number);
        stream
    }

    /// A lab built anew.
    pub fn relaunch(&mut self, physics: &Physics) {
        let drawn = normal(&mut self.stream(LAUNCHES + self.launches));
        self.launches += 1;
        self.launch = physics.noise.launch.sd * drawn + planted(physics, "launch", self.launches);
        self.visits_of_launch = 0;
    }

    /// What a boot (from 1) adds to the log of the rate; 0 where the plan asks for none. The same
    /// boot always adds the same.
    #[must_use]
    pub fn boot(&self, physics: &Physics, boot: u32) -> f64 {
        if boot == 0 {
            return 0.0;
        }
        let drawn = normal(&mut self.stream(BOOTS + u64::from(boot)));
        physics.noise.boot.sd * drawn + planted(physics, "boot", boot.into())
    }

    /// Draws for a visit (from 1) to a trial, `at_s` of `run_s` seconds into the run. The same
    /// numbers are drawn whatever the physics uses of them.
    pub fn draw(
        &mut self,
        physics: &Physics,
        (trial, visit): (u32, u32),
        (at_s, run_s): (f64, f64),
    ) -> Drawn {
        let noise = &physics.noise;
        if noise.launch.every > 0 && self.visits_of_launch >= noise.launch.every {
            self.relaunch(physics);
        }
        self.visits_of_launch += 1;
        let mut stream = self.stream(u64::from(trial) * VISITS + u64::from(visit));
        let fresh = (1.0 - noise.ar * noise.ar).sqrt() * normal(&mut stream);
        self.correlated = noise.ar * self.correlated + fresh;
        let mut log = noise.sd * self.correlated + self.launch + self.session;
        for rare in [&noise.dips, &noise.outliers, &noise.slow] {
            log += lower(&mut stream, rare);
        }
        log += drifted(physics, at_s, run_s) + stepped(physics, at_s, run_s);
        let cpu = (noise.cpu * normal(&mut stream)).exp();
        let luck = physics.faults.iter().map(|_| uniform(&mut stream)).collect();
        Drawn { pace: log.exp(), cpu, luck }
    }
}

/// What is planted on the log of the rate for a boot or a launch of this number.
fn planted(physics: &Physics, what: &str, number: u64) -> f64 {
    let levels = physics.effects.get(what);
    levels.and_then(|levels| levels.get(&number.to_string())).map_or(0.0, |by| by.ln())
}

/// What a rare event adds to the log of the rate, 0 or less.
fn lower(stream: &mut ChaCha8Rng, rare: &Rare) -> f64 {
    let (luck, spread) = (uniform(stream), normal(stream));
    if luck >= rare.share {
        return 0.0;
    }
    let whole = (1.0 - rare.size).max(1e-9).ln();
    whole * (rare.spread * spread).exp()
}

fn drifted(physics: &Physics, at_s: f64, run_s: f64) -> f64 {
    let over = match physics.drift.over {
        Span::Run => run_s,
        Span::Seconds(seconds) => seconds,
    };
    (1.0 - physics.drift.share).max(1e-9).ln() * (at_s / over.max(1e-9)).clamp(0.0, 1.0)
}

fn stepped(physics: &Physics, at_s: f64, run_s: f64) -> f64 {
    let from = match physics.step.at {
        At::Share(share) => share * run_s,
        At::Seconds(seconds) => seconds,
    };
    if at_s >= from { (1.0 - physics.step.size).max(1e-9).ln() } else { 0.0 }
}

/// From 0, included, to 1, excluded.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn uniform(stream: &mut ChaCha8Rng) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Standard normal (Box and Muller 1958); the second of the pair is not used.
fn normal(stream: &mut ChaCha8Rng) -> f64 {
    let (a, b) = (1.0 - uniform(stream), uniform(stream));
    (-2.0 * a.ln()).sqrt() * (TAU * b).cos()
}
