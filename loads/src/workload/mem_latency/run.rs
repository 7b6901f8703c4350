//! Knows how a trial's parameters become threads, memory and a chase. Must not know what they give.

use crate::engine::alone::{Order, Ready, bytes_of, memory_of};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::metal::chase::{Chase, Inject, Injector, Layout, Order as Visit, Path as Visits, node};
use rig::metal::kernel::CORE_CLOCK;
use rig::metal::{
    Cpus, Hot, Made, Member, Memory, PageSize, Unready, available, core_hertz, huge_enough, pin,
    room_for,
};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Most members of a random order: drawing it takes a second for each 16 million.
const SHUFFLED_MOST: usize = 1 << 26;

/// Loads a second of a plain machine: a size in bytes up to which it is so fast.
const NOMINAL: [(f64, f64); 4] = [(32e3, 7e8), (1e6, 1.6e8), (32e6, 2.5e7), (f64::INFINITY, 1.0e7)];
/// Bytes a second of one injector of a plain machine.
const NOMINAL_INJECTED: f64 = 1e10;

/// What a trial asks of this machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// CPU that walks.
    pub cpu: u32,
    /// CPUs that keep the memory busy.
    pub busy: Vec<u32>,
    /// Bytes of each of them; 0 of none.
    pub busy_bytes: usize,
    pub inject: Inject,
    /// Between two bursts of an injector.
    pub pause: Duration,
    pub layout: Layout,
    pub pages: PageSize,
    /// Where the memory comes from; none for where the CPU is.
    pub node: Option<u32>,
}

impl Wanted {
    /// Reads the parameters for a machine of these CPUs and nodes, with so many bytes of memory
    /// that can be had.
    pub fn read(
        order: &Order,
        cpus: &Cpus,
        nodes: &[u32],
        available: u64,
    ) -> Result<Self, Unready> {
        let cpu = cpu_of(order, cpus)?;
        let busy = busy(order, cpus, cpu)?;
        let layout = layout(order, bytes_of(order, cpus, &[cpu], available)?)?;
        // Drawing an order takes 4 bytes a member.
        let drawn = if layout.order == Visit::Random { layout.size / layout.stride * 4 } else { 0 };
        let walked = layout.size + drawn;
        room_for(&[(walked, 1)], available)?;
        let mut busy_bytes = 0;
        if !busy.is_empty() {
            // Injectors have what the walker leaves.
            let rest = available.saturating_sub(walked as u64);
            busy_bytes = to_usize(memory_of(cpus, busy.len(), rest)?);
            room_for(&[(walked, 1), (busy_bytes, busy.len())], available)?;
        }
        Ok(Self {
            cpu,
            busy,
            busy_bytes,
            inject: if order.word("inject") == "copy" { Inject::Copy } else { Inject::Read },
            pause: Duration::from_secs_f64(order.quantity("pause").unwrap_or(0.0)),
            layout,
            pages: order.pages(),
            node: node_of(order, nodes)?,
        })
    }

    /// Which of three latencies it is, by the share of the memory in huge pages: they answer
    /// different questions.
    pub fn kind(&self, granted: Option<f64>) -> &'static str {
        let huge = huge_enough(granted).is_ok();
        match (self.layout.order, huge) {
            (Visit::Sequential | Visit::InPage, _) => "prefetch-helped",
            (Visit::Random, true) => "load-to-use",
            (Visit::Random, false) => "load-to-use with TLB misses",
        }
    }
}

/// What each thread will do, and how.
///
/// # Errors
/// CPUs, nodes, memory or huge pages that the machine lacks; a layout that no chase can have.
pub fn ready(order: &Order) -> Result<Ready, Unready> {
    let root = Path::new("/");
    let nodes = node::nodes(root);
    let wanted = Wanted::read(order, &Cpus::read(root), &nodes, available())?;
    let place = place(&wanted)?;
    let mut made_with = made_with(&wanted, &place);
    made_with.extend(order.words(&["pages"]));
    let mut members = vec![walker(&wanted, place.memory)];
    members.extend(wanted.busy.iter().map(|cpu| injector(&wanted, *cpu)));
    Ok(Ready { members, made_with })
}

/// The walker's memory, touched on its CPU.
struct Place {
    memory: Memory,
    /// Share of it in huge pages, 0-1; none where the kernel does not tell.
    granted: Option<f64>,
    /// Clocks a second of the core; none where they cannot be told.
    hertz: Option<f64>,
}

fn place(wanted: &Wanted) -> Result<Place, Unready> {
    let Wanted { cpu, layout, pages, node, .. } = *wanted;
    let map = move || {
        pin(cpu)?;
        let memory = memory(layout.size, pages, node)?;
        Ok(Place { granted: memory.granted(), memory, hertz: core_hertz() })
    };
    let thread = thread::Builder::new().name("place".into()).spawn(map);
    let thread = thread.map_err(|e| format!("no thread can be started: {e}"))?;
    thread.join().map_err(|_| "the thread that maps memory ended".to_owned())?
}

fn walker(wanted: &Wanted, memory: Memory) -> Member {
    let layout = wanted.layout;
    let make = move || -> Made {
        let hot: Box<dyn Hot> = Box::new(Chase::build(memory, layout)?);
        Ok(hot)
    };
    Member { cpu: Some(wanted.cpu), make: Box::new(make) }
}

/// The same node as the walker's, so that both ask the same memory; huge pages where they come.
fn injector(wanted: &Wanted, cpu: u32) -> Member {
    let Wanted { busy_bytes, inject, pause, node, .. } = *wanted;
    let make = move || -> Made {
        let memory = node::with(node, || Memory::map(busy_bytes, PageSize::Huge))?;
        let hot: Box<dyn Hot> = Box::new(Injector::new(memory, inject, pause)?);
        Ok(hot)
    };
    Member { cpu: Some(cpu), make: Box::new(make) }
}

/// Memory as it was asked for, or why not.
fn memory(bytes: usize, pages: PageSize, node: Option<u32>) -> Result<Memory, Unready> {
    let memory = node::with(node, || Memory::map(bytes, pages))?;
    if pages == PageSize::Huge {
        huge_enough(memory.granted())?;
    }
    let Some(node) = node else { return Ok(memory) };
    match node::of(memory.as_mut_ptr() as usize) {
        Ok(found) if found == node => Ok(memory),
        Ok(found) => Err(format!("memory of node {node} came from node {found}").into()),
        Err(e) => Err(format!("the node of the memory cannot be read: {e}").into()),
    }
}

fn cpu_of(order: &Order, cpus: &Cpus) -> Result<u32, Unready> {
    if order.word("cpu") == "first" {
        let lacks = || Unready::Failed("there is no CPU to run on".into());
        return cpus.order().first().copied().ok_or_else(lacks);
    }
    let wanted = u32::try_from(order.count("cpu")).unwrap_or(u32::MAX);
    cpus.get(wanted).map(|thread| thread.cpu)
}

/// CPUs of the threads that keep the memory busy: one of every core first, never the walker's.
fn busy(order: &Order, cpus: &Cpus, walks: u32) -> Result<Vec<u32>, Unready> {
    let wanted = usize::try_from(order.count("load")).unwrap_or(usize::MAX);
    let mut rest: Vec<u32> = cpus.order().into_iter().filter(|cpu| *cpu != walks).collect();
    if wanted > rest.len() {
        let has = rest.len();
        return Err(Unready::NotAvailable(format!(
            "load = {wanted} wants as many CPUs beside the walker's, and {has} may be used; ask \
             for {has} or fewer"
        )));
    }
    rest.truncate(wanted);
    Ok(rest)
}

fn node_of(order: &Order, nodes: &[u32]) -> Result<Option<u32>, Unready> {
    if order.word("node") == "local" {
        return Ok(None);
    }
    let wanted = u32::try_from(order.count("node")).unwrap_or(u32::MAX);
    if nodes.len() < 2 {
        let what = format!("memory of node {wanted}: this machine has one node only");
        return Err(Unready::NotAvailable(what));
    }
    if !nodes.contains(&wanted) {
        let have: Vec<String> = nodes.iter().map(u32::to_string).collect();
        let what = format!("memory of node {wanted}, not of {}", have.join(", "));
        return Err(Unready::NotAvailable(what));
    }
    Ok(Some(wanted))
}

fn layout(order: &Order, bytes: u64) -> Result<Layout, Unready> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "4 to 4096")]
    let stride = order.quantity("stride").unwrap_or(64.0) as usize;
    let visit = match order.word("order") {
        "sequential" => Visit::Sequential,
        "in_page" => Visit::InPage,
        _ => Visit::Random,
    };
    let layout = Layout { size: to_usize(bytes), stride, order: visit, seed: order.seed };
    let members = Visits::check(layout)?;
    if visit == Visit::Random && members > SHUFFLED_MOST {
        return Err(Unready::NotAvailable(format!(
            "{members} members in random order: at most {SHUFFLED_MOST}; take a larger stride"
        )));
    }
    Ok(layout)
}

fn made_with(wanted: &Wanted, place: &Place) -> Settings {
    let word = |text: &str| Value::Word(text.into());
    let bytes = |size: usize| Value::Quantity(Quantity::bytes(size as u64));
    let Layout { size, stride, .. } = wanted.layout;
    let mut made = Settings::from([
        ("kind".to_owned(), word(wanted.kind(place.granted))),
        ("bytes".to_owned(), bytes(size)),
        ("members".to_owned(), Value::Count((size / stride) as u64)),
    ]);
    if let Some(share) = place.granted {
        let share = Value::Quantity(Quantity::new(share, Unit::Share));
        made.insert("huge_pages".to_owned(), share);
    }
    if let Some(hertz) = place.hertz {
        // To 10 MHz: it is measured anew for every trial.
        let hertz = Quantity::new((hertz / 1e7).round() * 1e7, Unit::Hertz);
        made.insert(CORE_CLOCK.to_owned(), Value::Quantity(hertz));
    }
    if let (false, Some(row)) = (wanted.busy.is_empty(), wanted.inject.row()) {
        made.insert("injector_bytes".to_owned(), bytes(wanted.busy_bytes));
        made.insert("injector_loop".to_owned(), word(row.name));
    }
    made
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Work of each thread in a second of a simulated lab.
pub fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    let bytes = match order.word("size") {
        "L1" => 16e3,
        "L2" => 5e5,
        "L3" => 16e6,
        _ => order.quantity("size").unwrap_or(f64::INFINITY),
    };
    let fits = NOMINAL.iter().find(|(most, _)| bytes <= *most);
    let mut rates = vec![fits.map_or(1e7, |(_, rate)| *rate)];
    let busy = usize::try_from(order.count("load")).unwrap_or(0).min(cpus.saturating_sub(1));
    rates.extend(std::iter::repeat_n(NOMINAL_INJECTED, busy));
    rates
}
