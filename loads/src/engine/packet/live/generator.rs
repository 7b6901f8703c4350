//! Knows the program that makes frames, and the thread that runs it.
//!
//! Every frame gets all of its headers: the kernel uses the pages of live frames again, with what
//! the last way through a router left in them. A paced program sends a frame when its moment has
//! come and drops the run otherwise; a frame more than its slack late is skipped and counted. Of
//! frames in a list a page has the longest, and each run cuts it; the kernel undoes the cut before
//! the page comes again.
//! Must not know what becomes of the frames.

use super::PHASES;
use super::table::{Table, of_sender};
use super::wire::{Layout, ODD, SOURCE_BITS, SOURCE_FIRST, TARGET_FIRST, Wire, first_flow, mixed};
use crate::engine::packet::bpf::{
    Assembler, BpfError, Cond, Label, Map, MapKind, Op, Program, Reg, Size, action, helper,
    interrupt, take_interrupts, this_thread,
};
use Reg::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10};
use rig::lab::clock;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that the kernel sends at once: one less than a virtual adapter takes in a round of NAPI,
/// since after a full round it looks for more.
const BATCH: u32 = 63;
/// Nothing is late below this, whatever the interval, nanoseconds.
const SLACK_NS: f64 = 100_000.0;
/// Frames that may be sent at once because they are late, and how late they may be, nanoseconds.
const BURST: f64 = 256.0;
const BURST_NS: f64 = 1_000_000.0;
/// One frame of so many has a stamp where every one would cost too much; a power of two.
const SPARSE: i32 = 16;
/// Of the scrambled number of a frame with a stamp these bits are 0.
pub(super) const SPARSE_MASK: u64 = SPARSE as u64 - 1;
/// From this interval on each frame has one, nanoseconds.
const DENSE_NS: f64 = 1_000.0;
/// How often the thread is told to stop until it has.
const AGAIN: Duration = Duration::from_millis(1);
/// How often it is looked whether a run is over.
const LOOK: Duration = Duration::from_millis(50);
/// Runs of a program in one call at most: as many as sequence numbers.
const MOST: u32 = u32::MAX;

/// Words of the value that the program writes.
mod state {
    pub const SEQUENCE: i16 = 0;
    pub const DUE: i16 = 8;
    pub const FRACTION: i16 = 16;
    pub const NOW: i16 = 24;
    pub const FLOW: i16 = 32;
    pub const SENT: i16 = 40;
    pub const UNSENT: i16 = 64;
    pub const WORDS: usize = 11;
}

/// Words of the value that this process writes.
mod control {
    pub const OPENS: i16 = 0;
    pub const CLOSES: i16 = 8;
    pub const PHASE: i16 = 16;
    pub const STOP: i16 = 24;
    pub const WORDS: usize = 4;

    pub fn words(edges: super::Edges, phase: u64, stop: bool) -> [u64; WORDS] {
        [edges.opens_ns, edges.closes_ns, phase, u64::from(stop)]
    }
}

/// Time between two frames of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Nanoseconds; a fraction of one counts too.
    pub interval_ns: f64,
    /// From go to the first frame, nanoseconds.
    pub offset_ns: f64,
}

impl Pace {
    /// From so late on a frame is not sent, nanoseconds: by more than one interval and than 0.1 ms,
    /// and so much that 256 frames would follow it at once, or by 1 ms.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
    pub fn slack_ns(&self) -> u64 {
        let burst_ns = (self.interval_ns * BURST).min(BURST_NS);
        self.interval_ns.max(SLACK_NS).max(burst_ns) as u64
    }

    /// A moment between the last of so many frames and the next one, of which the first is due at
    /// a moment, nanoseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of a window")]
    fn after(&self, first_ns: u64, frames: u32) -> u64 {
        first_ns + ((f64::from(frames) - 0.5) * self.interval_ns).max(0.0) as u64
    }

    /// Whether every frame has a stamp.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.interval_ns >= DENSE_NS
    }

    /// Frames due in a window from the moment of the next frame on.
    #[expect(clippy::cast_precision_loss, reason = "a trial is below 2^53 ns")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    pub(super) fn left(&self, next_ns: u64, window: Edges) -> u64 {
        let before = |edge_ns: u64| {
            (edge_ns.saturating_sub(next_ns) as f64 / self.interval_ns.max(1e-3)).ceil() as u64
        };
        if window.closes_ns == u64::MAX {
            return 0;
        }
        before(window.closes_ns).saturating_sub(before(window.opens_ns))
    }
}

/// In which order flows follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// One after the other, then from the first.
    Counter,
    /// As chance has it (RFC 4814).
    Random,
    /// As the list of the frames says.
    Listed,
}

/// What a generator sends, and when.
#[derive(Clone, Debug)]
pub struct Sending {
    /// The frames.
    pub wire: Wire,
    /// Index of the adapter.
    pub adapter: u32,
    /// Flows: pairs of ports.
    pub flows: u32,
    /// Their order.
    pub pattern: Pattern,
    /// When, or as fast as it goes.
    pub pace: Option<Pace>,
    /// So many frames from the opening of the window on, and no others; none where it is endless.
    pub burst: Option<u32>,
    /// Whether every tag is wrong, as a test asks.
    pub spoilt: bool,
    /// Whether every header is written; without, as a test shows, a router's changes come again.
    pub rewritten: bool,
    /// Whether no frame of a pace waits for its moment: as fast as a paced sender goes.
    pub rushed: bool,
}

/// What a generator sent, and what it should have sent, by phases of the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Frames handed to the adapter.
    pub sent: [u64; PHASES],
    /// Frames whose moment went by.
    pub unsent: [u64; PHASES],
}

/// The window, moments of the monotonic clock in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    /// When it opens.
    pub opens_ns: u64,
    /// When it closes.
    pub closes_ns: u64,
}

impl Edges {
    const UNKNOWN: Self = Self { opens_ns: u64::MAX, closes_ns: u64::MAX };

    /// The phase of a frame that is due at a moment: before, in or after the window.
    pub(super) const fn phase(self, due_ns: u64) -> u16 {
        match due_ns {
            _ if due_ns < self.opens_ns => 0,
            _ if due_ns < self.closes_ns => 1,
            _ => 2,
        }
    }
}

/// What a thread that sends does before, such as to move to its CPU.
struct Ready(Box<dyn FnOnce() -> std::io::Result<()> + Send>);

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ready")
    }
}

/// A program that sends, and the thread that runs it, once it goes.
#[derive(Debug)]
pub struct Generator {
    program: Arc<Program>,
    state: Map,
    control: Arc<Map>,
    edges: Edges,
    /// The phase that a program without a pace was told; the window is told more than once.
    phase: u64,
    pace: Option<Pace>,
    burst: Option<u32>,
    /// A burst as fast as it goes begins with the window: how long it may last, what comes before.
    waits: Option<(Duration, Ready)>,
    first_flow: u64,
    frame: Vec<u8>,
    thread: Option<thread::JoinHandle<Result<(), BpfError>>>,
    running: Arc<Running>,
}

#[derive(Debug, Default)]
struct Running {
    thread: AtomicI32,
    over: AtomicBool,
}

impl Running {
    /// Ends the call, again and again: the signal may come before the call that it shall end.
    fn end(&self) {
        while !self.over.load(SeqCst) {
            let number = self.thread.load(SeqCst);
            if number != 0 {
                interrupt(number);
            }
            thread::sleep(AGAIN);
        }
    }

    /// Ends a run that lasts longer.
    fn limit(&self, longest: Duration, control: &Map) {
        let deadline = Instant::now() + longest;
        while !self.over.load(SeqCst) && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        if !self.over.load(SeqCst) {
            let stop = control::words(Edges::UNKNOWN, 2, true);
            let _ = control.write(&0_u32.to_ne_bytes(), &stop);
            self.end();
        }
    }
}

impl Generator {
    /// Loads the program; nothing is sent.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(sending: &Sending) -> Result<Self, BpfError> {
        let one = |words: usize| {
            let bytes = u32::try_from(words * 8).unwrap_or(0);
            Map::new(MapKind::Array, (4, bytes), 1)
        };
        let (state, control) = (one(state::WORDS)?, one(control::WORDS)?);
        let adapters = Map::new(MapKind::Adapters, (4, 8), 1)?;
        adapters.write(&0_u32.to_ne_bytes(), &[u64::from(sending.adapter)])?;
        let maps = [&state, &control, &adapters];
        let table = Table::of_sender(&sending.wire)?;
        let code =
            Maker { sending, table: table.as_ref(), code: Assembler::new() }.program(maps)?;
        let generator = Self {
            program: Arc::new(Program::load("stend_send", &code)?),
            state,
            control: Arc::new(control),
            edges: Edges::UNKNOWN,
            phase: 0,
            pace: sending.pace,
            burst: sending.burst,
            waits: None,
            first_flow: first_flow(u64::from(sending.flows.max(1)), sending.wire.seed),
            frame: sending.wire.template(),
            thread: None,
            running: Arc::default(),
        };
        generator.tell(0, false)?;
        Ok(generator)
    }

    /// Begins to send from this moment on, for so long at the most, on the CPU that `ready` moves
    /// the thread to. A burst begins with the window; on a schedule its call stands from now on,
    /// since the kernel needs some 10 ms for it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn go(
        &mut self,
        (at_ns, longest): (u64, Duration),
        ready: impl FnOnce() -> std::io::Result<()> + Send + 'static,
    ) -> Result<(), BpfError> {
        let ready = Ready(Box::new(ready));
        match (self.burst, self.pace) {
            (None, _) => self.due(at_ns + self.offset_ns())?,
            (Some(_), Some(_)) => self.due(u64::MAX)?,
            (Some(_), None) => {
                self.waits = Some((longest, ready));
                return Ok(());
            }
        }
        self.begin(at_ns, (longest, ready))
    }

    /// Sets the moment of the first frame; nothing was sent.
    fn due(&self, first_ns: u64) -> Result<(), BpfError> {
        let mut words = [0; state::WORDS];
        words[state::DUE as usize / 8] = first_ns;
        words[state::FLOW as usize / 8] = self.first_flow;
        self.state.write(&0_u32.to_ne_bytes(), &words)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of a schedule")]
    fn offset_ns(&self) -> u64 {
        self.pace.map_or(0, |pace| pace.offset_ns as u64)
    }

    /// Starts the thread, which calls the program from this moment on.
    fn begin(
        &mut self,
        at_ns: u64,
        (longest, Ready(ready)): (Duration, Ready),
    ) -> Result<(), BpfError> {
        let failed = |source| BpfError::Call { call: "PROG_TEST_RUN", source };
        take_interrupts().map_err(failed)?;
        // A paced program has to be called more often than it sends.
        let calls = self.burst.filter(|_| self.pace.is_none()).unwrap_or(MOST);
        let (program, running) = (Arc::clone(&self.program), Arc::clone(&self.running));
        let frame = self.frame.clone();
        let work = move || {
            running.thread.store(this_thread(), SeqCst);
            let ran = ready().map_err(failed).and_then(|()| {
                clock::sleep_until(at_ns);
                program.run_live(&frame, calls, BATCH)
            });
            running.over.store(true, SeqCst);
            ran
        };
        let thread = thread::Builder::new().name("frames".into()).spawn(work);
        self.thread = Some(thread.map_err(failed)?);
        let (running, control) = (Arc::clone(&self.running), Arc::clone(&self.control));
        // Whatever happens to the conductor, the load ends.
        thread::spawn(move || running.limit(longest, &control));
        Ok(())
    }

    /// Tells the program its window, ahead of it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn announce(&mut self, edges: Edges) -> Result<(), BpfError> {
        let Some(frames) = self.burst else {
            self.edges = edges;
            return self.tell(self.phase, false);
        };
        // It is told again when the window closes.
        if self.edges.opens_ns != Edges::UNKNOWN.opens_ns {
            return Ok(());
        }
        let first_ns = edges.opens_ns + self.offset_ns();
        let closes_ns = self.pace.map_or(edges.closes_ns, |pace| pace.after(first_ns, frames));
        self.edges = Edges { closes_ns, ..edges };
        self.tell(1, false)?;
        self.due(first_ns)?;
        match self.waits.take() {
            Some(waits) => self.begin(edges.opens_ns, waits),
            None => Ok(()),
        }
    }

    /// Tells a program that is not paced, which reads no clock, in which phase the trial is. Of a
    /// burst all frames are those of the window.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn enter(&mut self, phase: u64) -> Result<(), BpfError> {
        if self.burst.is_some() {
            return Ok(());
        }
        self.phase = phase;
        self.tell(phase, false)
    }

    fn tell(&self, phase: u64, stop: bool) -> Result<(), BpfError> {
        let words = control::words(self.edges, phase, stop);
        self.control.write(&0_u32.to_ne_bytes(), &words)
    }

    /// What was sent so far.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn sent(&self) -> Result<Sent, BpfError> {
        let words = self.state.sums(0)?;
        let of = |at: i16| {
            std::array::from_fn(|phase| words.get(at as usize / 8 + phase).copied().unwrap_or(0))
        };
        Ok(Sent { sent: of(state::SENT), unsent: of(state::UNSENT) })
    }

    /// Stops and tells what was sent.
    ///
    /// # Errors
    /// What the kernel said to the program's run.
    pub fn stop(&mut self) -> Result<Sent, BpfError> {
        self.tell(2, true)?;
        self.end()?;
        let mut sent = self.sent()?;
        if let Some(pace) = self.pace {
            // Frames of the window that were due and had no run of the program yet.
            let words = self.state.sums(0)?;
            let next_ns = words.get(state::DUE as usize / 8).copied().unwrap_or(u64::MAX);
            sent.unsent[1] += pace.left(next_ns, self.edges);
        }
        Ok(sent)
    }

    fn end(&mut self) -> Result<(), BpfError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.running.end();
        let gone = || std::io::Error::other("the thread that sends frames panicked");
        let failed = |_| BpfError::Call { call: "PROG_TEST_RUN", source: gone() };
        thread.join().map_err(failed)?
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        let _ = self.tell(2, true);
        let _ = self.end();
    }
}

/// Where the program keeps what a call would lose.
const PHASE: (Reg, i16) = (R10, -8);
const STAMP: (Reg, i16) = (R10, -16);
/// Of frames in a list: what the kernel handed to the program, and the words of the frame.
const CONTEXT: (Reg, i16) = (R10, -24);
const ENTRY: (Reg, i16) = (R10, -32);

/// Writes the program. `R6` has the sequence number, `R7` the frame, `R8` the state, `R9` first the
/// control and then the scrambled number.
struct Maker<'s> {
    sending: &'s Sending,
    table: Option<&'s Table>,
    code: Assembler,
}

impl Maker<'_> {
    fn program(mut self, [state, control, adapters]: [&Map; 3]) -> Result<Vec<u64>, BpfError> {
        let drop = self.code.label();
        match self.table {
            Some(_) => self.code.store(Size::D, CONTEXT, R1),
            None => self.frame(drop),
        }
        let code = &mut self.code;
        code.value(R8, state);
        code.value(R9, control);
        code.load(Size::D, R1, (R9, control::STOP));
        code.jump_imm(Cond::Ne, R1, 0, drop);
        match self.sending.pace {
            Some(pace) => self.wait(pace, drop),
            None => self.phase(),
        }
        self.number();
        self.stamp();
        self.cut(drop);
        self.headers();
        self.ports();
        self.marks();
        self.redirect(adapters);
        self.code.bind(drop);
        self.code.mov_imm(R0, action::DROP);
        self.code.exit();
        self.code.finish()
    }

    /// The frame into `R7`, of what `R1` has from the kernel.
    fn frame(&mut self, drop: Label) {
        let end = i32::from(self.layout().end());
        let code = &mut self.code;
        code.load(Size::W, R7, (R1, 0));
        code.load(Size::W, R2, (R1, 4));
        code.mov(R3, R7);
        code.op_imm(Op::Add, R3, end);
        code.jump(Cond::Gt, R3, R2, drop);
    }

    /// Cuts the frame to the length that the list has for its number.
    fn cut(&mut self, drop: Label) {
        let Some(table) = self.table else { return };
        let (whole, code) = (self.code.label(), &mut self.code);
        table.entry(code, (R1, R6), R2, drop);
        code.store(Size::D, ENTRY, R1);
        code.load(Size::H, R3, (R1, of_sender::CUT));
        code.load(Size::D, R1, CONTEXT);
        code.jump_imm(Cond::Eq, R3, 0, whole);
        code.mov_imm(R2, 0);
        code.op(Op::Sub, R2, R3);
        code.call(helper::ADJUST_TAIL);
        code.jump_imm(Cond::Ne, R0, 0, drop);
        code.load(Size::D, R1, CONTEXT);
        code.bind(whole);
        self.frame(drop);
    }

    /// As the process says: it is told which phase it is.
    fn phase(&mut self) {
        let code = &mut self.code;
        code.load(Size::D, R2, (R9, control::PHASE));
        self.within_phases();
        let code = &mut self.code;
        code.store(Size::D, PHASE, R2);
        code.mov_imm(R1, 0);
        code.store(Size::D, STAMP, R1);
    }

    /// The verifier wants to see that `R2` is a phase.
    fn within_phases(&mut self) {
        let fits = self.code.label();
        self.code.jump_imm(Cond::Lt, R2, 3, fits);
        self.code.mov_imm(R2, 2);
        self.code.bind(fits);
    }

    /// Goes on when the moment of the next frame has come, and sets that of the one after it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
    fn wait(&mut self, pace: Pace, drop: Label) {
        let [due, skip, phased, ended] = [0; 4].map(|_| self.code.label());
        let code = &mut self.code;
        // While frames are overdue by the last look at the clock, it need not be looked at again.
        code.load(Size::D, R1, (R8, state::DUE));
        code.load(Size::D, R0, (R8, state::NOW));
        code.jump(Cond::Le, R1, R0, due);
        code.call(helper::CLOCK);
        code.store(Size::D, (R8, state::NOW), R0);
        code.load(Size::D, R1, (R8, state::DUE));
        match self.sending.rushed {
            true => code.mov(R0, R1),
            false => code.jump(Cond::Gt, R1, R0, drop),
        }
        code.bind(due);
        // By its moment a frame is before, in or after the window.
        code.mov_imm(R2, 0);
        code.load(Size::D, R3, (R9, control::OPENS));
        code.jump(Cond::Lt, R1, R3, phased);
        code.mov_imm(R2, 1);
        code.load(Size::D, R3, (R9, control::CLOSES));
        code.jump(Cond::Lt, R1, R3, phased);
        code.mov_imm(R2, 2);
        code.bind(phased);
        if self.sending.burst.is_some() {
            code.jump_imm(Cond::Ne, R2, 1, drop);
        }
        let whole = pace.interval_ns.max(0.0);
        let fraction = ((whole - whole.floor()) * 4_294_967_296.0) as u64;
        code.load(Size::D, R3, (R8, state::FRACTION));
        code.load64(R4, fraction.min(u64::from(u32::MAX)));
        code.op(Op::Add, R3, R4);
        code.mov(R4, R3);
        code.low(R4);
        code.store(Size::D, (R8, state::FRACTION), R4);
        code.op_imm(Op::Rsh, R3, 32);
        code.load64(R4, whole.floor() as u64);
        code.op(Op::Add, R3, R4);
        code.op(Op::Add, R3, R1);
        code.store(Size::D, (R8, state::DUE), R3);
        code.op(Op::Sub, R0, R1);
        code.load64(R3, pace.slack_ns());
        code.jump(Cond::Gt, R0, R3, skip);
        code.store(Size::D, PHASE, R2);
        code.store(Size::D, STAMP, R1);
        code.go(ended);
        code.bind(skip);
        code.mov(R3, R8);
        code.op_imm(Op::Lsh, R2, 3);
        code.op(Op::Add, R3, R2);
        code.add_to((R3, state::UNSENT), 1, R4);
        code.go(drop);
        code.bind(ended);
    }

    /// Counts the frame and gives it its number.
    fn number(&mut self) {
        let code = &mut self.code;
        code.load(Size::D, R2, PHASE);
        self.within_phases();
        let code = &mut self.code;
        code.op_imm(Op::Lsh, R2, 3);
        code.mov(R3, R8);
        code.op(Op::Add, R3, R2);
        code.add_to((R3, state::SENT), 1, R4);
        code.load(Size::D, R6, (R8, state::SEQUENCE));
        code.mov(R1, R6);
        code.op_imm(Op::Add, R1, 1);
        code.store(Size::D, (R8, state::SEQUENCE), R1);
        code.low(R6);
        scramble(code, (R9, R6), R1, self.sending.wire.key);
    }

    /// Of a paced frame its moment, else that of now; of some frames only, or the clock would be
    /// the load.
    fn stamp(&mut self) {
        let (stamped, dense) = (self.code.label(), self.sending.pace);
        let code = &mut self.code;
        if dense.is_some_and(|pace| pace.is_dense()) {
            return;
        }
        let none = code.label();
        code.mov(R1, R9);
        code.op_imm(Op::And, R1, SPARSE - 1);
        code.jump_imm(Cond::Ne, R1, 0, none);
        if dense.is_none() {
            code.call(helper::CLOCK);
            code.store(Size::D, STAMP, R0);
        }
        code.go(stamped);
        code.bind(none);
        code.mov_imm(R1, 0);
        code.store(Size::D, STAMP, R1);
        code.bind(stamped);
    }

    fn layout(&self) -> Layout {
        self.sending.wire.layout()
    }

    /// All headers, first those of the longest frame.
    fn headers(&mut self) {
        if !self.sending.rewritten {
            return;
        }
        let (wire, layout) = (&self.sending.wire, self.layout());
        let mut template = wire.template();
        template.truncate(usize::try_from(layout.mark()).unwrap_or(0));
        for (at, bytes) in (0_i16..).step_by(8).zip(template.chunks(8)) {
            self.constant(at, bytes);
        }
        if self.table.is_none() {
            return;
        }
        let code = &mut self.code;
        let checked = (!layout.six).then_some((of_sender::IP_CHECK, layout.ip() + 10));
        let length = layout.ip() + if layout.six { 4 } else { 2 };
        let both = [(of_sender::IP_LENGTH, length), (of_sender::UDP_LENGTH, layout.udp() + 4)];
        code.load(Size::D, R1, ENTRY);
        for (from, to) in both.into_iter().chain(checked) {
            code.load(Size::H, R2, (R1, from));
            code.store(Size::H, (R7, to), R2);
        }
    }

    /// The ports of the flow.
    fn ports(&mut self) {
        self.flow();
        let Wire { varied, stream, .. } = self.sending.wire;
        let (layout, code) = (self.layout(), &mut self.code);
        varied.assemble(code, layout, stream);
        let (source, target) = (layout.udp(), layout.udp() + 2);
        code.mov(R1, R5);
        code.op_imm(Op::And, R1, (1 << SOURCE_BITS) - 1);
        code.op_imm(Op::Add, R1, i32::from(SOURCE_FIRST));
        code.network16(R1);
        code.store(Size::H, (R7, source), R1);
        code.op_imm(Op::Rsh, R5, i32::try_from(SOURCE_BITS).unwrap_or(0));
        code.op_imm(Op::Add, R5, i32::from(TARGET_FIRST));
        code.network16(R5);
        code.store(Size::H, (R7, target), R5);
        // For a checksum.
        code.op(Op::Add, R5, R1);
    }

    /// Writes an even number of bytes, eight at the most.
    fn constant(&mut self, at: i16, bytes: &[u8]) {
        let code = &mut self.code;
        if let Ok(eight) = bytes.try_into() {
            code.load64(R1, u64::from_ne_bytes(eight));
            code.store(Size::D, (R7, at), R1);
            return;
        }
        for (at, two) in (at..).step_by(2).zip(bytes.chunks_exact(2)) {
            code.mov_imm(R1, i32::from(u16::from_ne_bytes([two[0], two[1]])));
            code.store(Size::H, (R7, at), R1);
        }
    }

    /// The number of the flow, into `R5`.
    fn flow(&mut self) {
        let flows = u64::from(self.sending.flows.max(1));
        let code = &mut self.code;
        match self.sending.pattern {
            Pattern::Counter => {
                let next = code.label();
                code.load(Size::D, R5, (R8, state::FLOW));
                code.mov(R1, R5);
                code.op_imm(Op::Add, R1, 1);
                code.load64(R2, flows);
                code.jump(Cond::Lt, R1, R2, next);
                code.mov_imm(R1, 0);
                code.bind(next);
                code.store(Size::D, (R8, state::FLOW), R1);
            }
            Pattern::Random => {
                // The upper half of 32 random bits times the number of flows.
                code.load64(R5, mixed(self.sending.wire.seed));
                code.op(Op::Xor, R5, R6);
                code.load64(R1, ODD[1]);
                code.op(Op::Mul, R5, R1);
                code.op_imm(Op::Rsh, R5, 32);
                code.load64(R1, flows);
                code.op(Op::Mul, R5, R1);
                code.op_imm(Op::Rsh, R5, 32);
            }
            Pattern::Listed => {
                code.load(Size::D, R1, ENTRY);
                code.load(Size::W, R5, (R1, of_sender::FLOW));
            }
        }
    }

    /// What tells the frame from others.
    fn marks(&mut self) {
        let (stream, layout) = (i32::from(self.sending.wire.stream) << 8, self.layout());
        let code = &mut self.code;
        code.load(Size::D, R2, PHASE);
        code.op_imm(Op::Or, R2, stream);
        code.load(Size::D, R3, STAMP);
        code.store(Size::H, (R7, layout.mark()), R2);
        code.store(Size::W, (R7, layout.sequence()), R6);
        code.store(Size::D, (R7, layout.stamp()), R3);
        finish_tag(code, (R9, R3, R2), R1);
        if self.sending.spoilt {
            code.op_imm(Op::Xor, R9, 1);
        }
        code.store(Size::W, (R7, layout.tag()), R9);
        if layout.six {
            self.checksum();
        }
    }

    /// The checksum of UDP: of what is the same in every frame, and of ports (`R5`), mark (`R2`),
    /// number, stamp (`R3`) and tag. Words of 32 bits are added, and then folded to 16.
    fn checksum(&mut self) {
        let (check, code) = (self.layout().check(), &mut self.code);
        if self.table.is_some() {
            code.load(Size::D, R1, ENTRY);
            code.load(Size::D, R1, (R1, of_sender::SUM));
        } else {
            let wire = &self.sending.wire;
            code.load64(R1, wire.constant(&wire.template()));
        }
        for word in [R5, R2, R6, R9] {
            code.op(Op::Add, R1, word);
        }
        code.mov(R4, R3);
        code.low(R4);
        code.op(Op::Add, R1, R4);
        code.op_imm(Op::Rsh, R3, 32);
        code.op(Op::Add, R1, R3);
        // The sum is below 2^35, then below 2^20, then below 2^16 + 16.
        code.fold(R1, R4, 3);
        code.op_imm(Op::Xor, R1, 0xffff);
        let some = code.label();
        code.jump_imm(Cond::Ne, R1, 0, some);
        code.mov_imm(R1, 0xffff);
        code.bind(some);
        code.store(Size::H, (R7, check), R1);
    }

    /// By a map: the kernel has the adapter at hand, which it would look up for each frame.
    fn redirect(&mut self, adapters: &Map) {
        let code = &mut self.code;
        code.map(R1, adapters);
        code.mov_imm(R2, 0);
        code.mov_imm(R3, 0);
        code.call(helper::REDIRECT_MAP);
        code.exit();
    }
}

/// `into` = [`super::wire::scrambled`] of the number in `from`.
pub(super) fn scramble(code: &mut Assembler, (into, from): (Reg, Reg), scratch: Reg, key: u64) {
    code.load64(into, key);
    code.op(Op::Xor, into, from);
    code.load64(scratch, ODD[0]);
    code.op(Op::Mul, into, scratch);
    code.mov(scratch, into);
    code.op_imm(Op::Rsh, scratch, 32);
    code.op(Op::Xor, into, scratch);
}

/// Makes the tag of the scrambled number in `word`, a stamp and a mark: [`super::wire::tag`].
pub(super) fn finish_tag(code: &mut Assembler, (word, stamp, mark): (Reg, Reg, Reg), scratch: Reg) {
    code.op(Op::Xor, word, stamp);
    code.op(Op::Xor, word, mark);
    code.load64(scratch, ODD[1]);
    code.op(Op::Mul, word, scratch);
    code.op_imm(Op::Rsh, word, 32);
}
