//! Knows which noise is planted, and what tests of each noise could see.
//!
//! The sizes are those under which the method was chosen by simulation. They are sizes of logs,
//! while a physics is written in shares of the rate: 4 % of the log are 3.92 % of the rate. What
//! that simulation leaves open (spread of the dips, noise of each of two states) is what gives its
//! own error rates and power for each test. Power is that of the same simulation (scipy, 4,000
//! repetitions): the paired t test below 8 blocks, signed ranks from 8 on.

/// A noise, as a physics writes it.
pub struct Cell {
    /// What the table calls it.
    pub name: &'static str,
    /// TOML of a physics. `STEP_AT` stands for a moment that is drawn anew for every plan.
    pub noise: &'static str,
    /// Points of the curve; of one point it is none.
    pub points: usize,
    /// Visits in a row that share a disturbance of their own; a script that repeats a level inside
    /// it takes them for so many trials.
    pub repeats: usize,
    /// Blocks, and the per cent of plans in which +3 % was seen with as many.
    pub power: &'static [(u32, f64)],
}

/// All of them. The one with boots as a level (a factor that needs a reboot, its unit the boot)
/// belongs below `launches`, with `power` empty: the table of the simulation has none for it.
pub const CELLS: [Cell; 8] = [
    Cell {
        name: "normal 2 %",
        noise: "noise = { sd = \"2 %\", ar = 0.0 }",
        points: 1,
        repeats: 5,
        power: &[(3, 20.0), (5, 43.0), (10, 83.0)],
    },
    Cell {
        name: "skewed: log-normal dips, median 5 %",
        noise: "noise = { sd = \"0 %\", ar = 0.0, dips = { share = \"100 %\", size = \"4.88 %\", \
                spread = 0.8 } }",
        points: 1,
        repeats: 5,
        power: &[(10, 24.0)],
    },
    Cell {
        name: "1 %, and 7 % outliers of -20 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0, outliers = { share = \"7 %\", \
                size = \"18.1 %\" } }",
        points: 1,
        repeats: 5,
        power: &[(10, 55.0), (20, 91.0)],
    },
    Cell {
        name: "bimodal, 4 % apart",
        noise: "noise = { sd = \"0.4 %\", ar = 0.0, slow = { share = \"50 %\", \
                size = \"3.92 %\" } }",
        points: 1,
        repeats: 5,
        power: &[(10, 78.0)],
    },
    Cell {
        name: "2 %, AR(1) 0.7",
        noise: "noise = { sd = \"2 %\", ar = 0.7 }",
        points: 1,
        repeats: 5,
        power: &[(10, 100.0)],
    },
    Cell {
        name: "1 %, drift of 5 % over the run",
        noise: "noise = { sd = \"1 %\", ar = 0.0 }\ndrift = { share = \"4.88 %\", over = \"run\" }",
        points: 1,
        repeats: 5,
        power: &[(5, 91.0)],
    },
    Cell {
        name: "1 %, one step of 3 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0 }\nstep = { at = \"STEP_AT\", size = \"2.96 %\" }",
        points: 1,
        repeats: 5,
        power: &[(10, 100.0)],
    },
    // A launch a block: three points under both levels. The dry visits are a launch of their own.
    Cell {
        name: "launches 2 %, within them 1 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0, launch = { sd = \"2 %\", every = 6 } }",
        points: 3,
        repeats: 6,
        power: &[],
    },
];

/// Noise of 1 % while all levels lose a fifth of their rate over the run.
pub const DRIFTING: Cell = Cell {
    name: "1 %, drift of 20 % over the run",
    noise: "noise = { sd = \"1 %\", ar = 0.0 }\ndrift = { share = \"20 %\", over = \"run\" }",
    points: 1,
    repeats: 5,
    power: &[],
};

/// The same while they lose two fifths.
pub const STEEP: Cell = Cell {
    name: "1 %, drift of 40 % over the run",
    noise: "noise = { sd = \"1 %\", ar = 0.0 }\ndrift = { share = \"40 %\", over = \"run\" }",
    ..DRIFTING
};

/// Harsher kinds, by those who wanted to see the method fail; nothing says what could be seen.
pub const HARSH: [Cell; 10] = [
    DRIFTING,
    Cell {
        name: "1 %, and a fifth of trials dips by 30 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0, dips = { share = \"20 %\", size = \"30 %\", \
                spread = 0.8 } }",
        ..QUIET
    },
    Cell { name: "2 %, AR(1) 0.9", noise: "noise = { sd = \"2 %\", ar = 0.9 }", ..QUIET },
    Cell { name: "2 %, AR(1) -0.95", noise: "noise = { sd = \"2 %\", ar = -0.95 }", ..QUIET },
    Cell {
        name: "1 %, drift of 60 % over the run",
        noise: "noise = { sd = \"1 %\", ar = 0.0 }\ndrift = { share = \"60 %\", over = \"run\" }",
        ..QUIET
    },
    Cell {
        name: "1 %, half of all trials at half the rate",
        noise: "noise = { sd = \"1 %\", ar = 0.0, slow = { share = \"50 %\", size = \"50 %\" } }",
        ..QUIET
    },
    Cell {
        name: "1 %, and 10 % outliers of -50 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0, outliers = { share = \"10 %\", \
                size = \"50 %\" } }",
        ..QUIET
    },
    Cell {
        name: "launches 5 % every third visit, within them 1 %",
        noise: "noise = { sd = \"1 %\", ar = 0.0, launch = { sd = \"5 %\", every = 3 } }",
        repeats: 3,
        ..QUIET
    },
    Cell {
        name: "1 %, throttled by 30 % from a moment on",
        noise: "noise = { sd = \"1 %\", ar = 0.0 }\nstep = { at = \"STEP_AT\", size = \"30 %\" }",
        ..QUIET
    },
    Cell { name: "normal 10 %", noise: "noise = { sd = \"10 %\", ar = 0.0 }", ..QUIET },
];

/// Noise of 1 % and nothing else, for pairs that are equal.
pub const QUIET: Cell = Cell {
    name: "normal 1 %",
    noise: "noise = { sd = \"1 %\", ar = 0.0 }",
    points: 1,
    repeats: 5,
    power: &[],
};
