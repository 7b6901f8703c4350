//! Knows the conductor's side of `forward`: which hosts send, count and stand between, and when the
//! counters are read.
//!
//! Must not know factors or probes, nor the course of a trial.

use super::counts::Counts;
use super::external::External;
use super::fast::{fast_path, joining};
use super::guard::undisturbed;
use super::message::{Aim, Alone, FromPart, Joining, Taking, ToPart, Traffic};
use super::part::Ends;
use crate::engine::net::{Course, Cpus, Secret, cpus, seconds};
use crate::engine::packet::capture;
use crate::engine::packet::frame::IFG;
use crate::engine::packet::live::sockets::Kind;
use crate::engine::packet::live::{
    LEAST, Layout, MOST, Pattern, SOURCES_MOST, STREAMS, Sizes, Varied,
};
use crate::workload::forward::check;
use crate::workload::forward::evidence::{Evidence, Leg};
use crate::workload::forward::late;
use crate::workload::forward::spec::{
    BURST, CLASSES, DIRECTION, ENGINE, FRAME_SIZE, IMIX, SOURCE_ADDRESSES, SPEC, TARGET_ADDRESSES,
    VLAN_TAG,
};
use desk::record::{Fault, LabKind, ParamSpec, Settings, TrialKind, Value};
use rig::lab::relay::RelayRequest;
use rig::lab::{Lab, LabError, LinkEnd, SUT, clock};
use rig::metal::Span;
use rig::workload::{Checked, Edges, Job, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Longest that a host may take to find its way and load a program.
const STAGED: Duration = Duration::from_secs(5);
/// Between two looks whether frames still come.
const LOOK_NS: u64 = 20_000_000;
/// Looks without a frame after which no more comes: longer than the longest path.
const QUIET: u32 = 12;
/// Looks at the most.
const LOOKS: u32 = 100;

/// The conductor's side.
#[derive(Debug, Default)]
pub struct Frames {
    evidence: Evidence,
    course: Course,
    /// Every host of the lab.
    hosts: Vec<usize>,
    /// What switches forward by, where it is not the kernel.
    joining: Option<Joining>,
    /// The external box between the ends.
    external: Option<External>,
}

impl Workload for Frames {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        if lab.kind != LabKind::RootNamespaces {
            let what = "frames need namespaces of root; run stend as root".into();
            return Err(Fault::NotAvailable { what });
        }
        self.course = Course::new(SPEC.name, lab, job);
        self.hosts = (0..).take_while(|at| !lab.name(*at).is_empty()).collect();
        let vlan = vlan_of(&job.trial.point.params);
        let layout = Layout::between([lab.address_of(SUT, job.link); 2], vlan);
        let [server, all] = cpus::of(lab).map_err(LabError::into_fault)?;
        let legs =
            legs(&job.trial.point.params, lab.clients(), Cpus { server: &server, all: &all });
        let traffic = traffic(job, layout, (lab.clients(), legs.len()))?;
        if traffic.burst.is_some() {
            self.course.begin_with_window();
        }
        let (here, hosts) = (lab.machine_of(SUT), &self.course.hosts);
        let between: Vec<usize> =
            self.hosts.iter().filter(|at| !hosts.contains(at)).copied().collect();
        self.evidence = Evidence {
            between: between.iter().map(|at| lab.name(*at).to_owned()).collect(),
            host_names: hosts.iter().map(|at| lab.name(*at).to_owned()).collect(),
            one_clock: hosts.iter().map(|at| lab.machine_of(*at) == here).collect(),
            asked: job.trial.point.params.clone(),
            sizes: traffic.sizes.clone(),
            interval_ns: traffic.interval_ns,
            burst: traffic.burst,
            legs,
            ..Evidence::default()
        };
        refuse_second_cables(lab, job.link)?;
        self.refuse_late(lab, job, &traffic)?;
        if traffic.varied.has_addresses() && !lab.has_way_behind(job.link) {
            let what = "target_addresses and source_addresses need one link and one system under \
                        test behind hosts that route; take 1 of each, or a switch";
            return Err(Fault::NotAvailable { what: what.into() });
        }
        self.joining = joining(lab, job, &traffic)?;
        let rules = self.joining.as_ref().map(|how| how.near.spread(&how.near.list()));
        self.evidence.list = rules;
        self.prepare(lab, (job.link, &between), &traffic)?;
        if traffic.burst.is_none() && !self.is_bare(lab, job.link) {
            self.evidence.alone = Some(self.alone(lab)?);
        }
        self.external = External::find(lab, job.link, job.trial.kind == TrialKind::Dry)?;
        // Their counters are read at both edges, too.
        self.course.hosts.extend(between);
        self.evidence.before = self.count(lab, false)?;
        let mut counted = self.evidence.before.iter();
        if self.joining.is_some() && counted.all(|(_, counts)| counts.ports.is_empty()) {
            let what = "a fast path joins the ports of a switch, and none stands between the \
                        ends; take a host of role = \"switch\", or fast_path = \"off\"";
            return Err(Fault::NotAvailable { what: what.into() });
        }
        Ok(())
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        let driven = self.run(lab, edges);
        if let (Err(_), Some(external)) = (&driven, &self.external) {
            external.outlast(lab);
        }
        driven
    }

    fn check(&self) -> Result<Checked, Fault> {
        check::check(&self.evidence)
    }
}

/// Frames are sent and received on one adapter of a host, which a bond takes the addresses from.
fn refuse_second_cables(lab: &Lab, link: &str) -> Result<(), Fault> {
    for at in lab.client_indexes().chain([SUT]) {
        let name = lab.interface(at, link);
        if !lab.second_ends(&name).is_empty() {
            let what = format!("forward sends on one cable; take cables = 1 on link {name}");
            return Err(Fault::NotAvailable { what });
        }
    }
    Ok(())
}

impl Frames {
    /// The frames of a trial, and all counters after them.
    fn run(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        let life = self.course.run::<Ends>(lab, edges).map_err(LabError::into_fault)?;
        let (opens_ns, closes_ns) = life.window_ns;
        let is_timed = self.evidence.interval_ns.is_some() || self.evidence.burst.is_some();
        self.evidence.due_in = is_timed.then(|| undisturbed(Span { opens_ns, closes_ns }));
        self.evidence.life = Some(life);
        self.wait_for_rest(lab)?;
        self.evidence.after = self.count(lab, true)?;
        let leave = self.hosts.iter().map(|at| (*at, ToPart::Leave)).collect();
        self.ask(lab, leave)?;
        if let Some(external) = &self.external {
            let (sent, came) = self.evidence.sums()?;
            let both = (sent.sent.iter().sum(), came.iter().sum());
            self.evidence.external = Some(external.gained(lab, both)?);
        }
        Ok(())
    }

    /// Hosts between the ends first, then the sink, then who sends: each finds the next ready.
    fn prepare(
        &self,
        lab: &mut Lab,
        (link, between): (&str, &[usize]),
        traffic: &Traffic,
    ) -> Result<(), Fault> {
        let word = match &self.joining {
            Some(how) => ToPart::Join(how.clone()),
            // What sockets send a virtual adapter takes as it stands.
            None => ToPart::Take(Taking {
                live: traffic.socket.is_none(),
                tagged: traffic.layout.vlan.is_some(),
            }),
        };
        // What a trial that failed has left.
        self.ask(lab, self.hosts.iter().map(|at| (*at, ToPart::Leave)).collect())?;
        self.ask(lab, between.iter().map(|at| (*at, word.clone())).collect())?;
        let sink = |at| (at, ToPart::Sink(lab.interface(at, link), traffic.clone()));
        let sinks = self.sinks().into_iter().map(sink).collect();
        self.ask(lab, sinks)?;
        let mut aims: BTreeMap<usize, Vec<Aim>> = BTreeMap::new();
        for (stream, leg) in self.evidence.legs.iter().enumerate() {
            let [from, to] = [leg.sender, leg.receiver].map(|place| self.course.hosts[place]);
            let turns = lab.clients() as usize;
            #[expect(clippy::cast_precision_loss, reason = "at most 64 clients")]
            let turn = (stream % turns) as f64 / turns as f64;
            aims.entry(from).or_default().push(Aim {
                adapter: lab.interface(from, link),
                target: lab.address_of(to, &lab.interface(to, link)),
                stream: u8::try_from(stream).unwrap_or(u8::MAX),
                turn,
                cpu: leg.cpu,
            });
        }
        let aim = |(at, aims)| (at, ToPart::Aim(aims, traffic.clone()));
        self.ask(lab, aims.into_iter().map(aim).collect()).map(drop)
    }

    /// Refuses to count late frames as lost where the device takes no time from the tester.
    fn refuse_late(&self, lab: &Lab, job: &Job, traffic: &Traffic) -> Result<(), Fault> {
        let here = lab.machine_of(SUT);
        let is_shared = self.hosts.iter().all(|at| lab.machine_of(*at) == here)
            && !self.is_bare(lab, job.link)
            && lab.external_box(job.link).is_none();
        let is_paced = traffic.interval_ns.is_some() && traffic.burst.is_none();
        match late::refusal(&job.trial.point.params, is_paced, is_shared) {
            Some(what) => Err(Fault::NotAvailable { what: what.into() }),
            None => Ok(()),
        }
    }

    /// Whether one virtual cable joins the clients and the system under test.
    fn is_bare(&self, lab: &Lab, link: &str) -> bool {
        let is_end = |end: &LinkEnd| self.course.hosts.contains(&end.host);
        lab.is_cable(link) && lab.ends(link).iter().all(is_end)
    }

    /// The tester with nothing between: a host of each machine tells it, one after the other. Rates
    /// add up over all CPUs that send; the latency is the largest.
    fn alone(&self, lab: &mut Lab) -> Result<Alone, Fault> {
        let mut machines: BTreeMap<usize, (usize, BTreeSet<u32>)> = BTreeMap::new();
        for leg in &self.evidence.legs {
            let at = self.course.hosts[leg.sender];
            let (_, cpus) = machines.entry(lab.machine_of(at)).or_insert((at, BTreeSet::new()));
            cpus.insert(leg.cpu);
        }
        let mut all = Alone::default();
        for (at, cpus) in machines.into_values() {
            for told in self.ask(lab, vec![(at, ToPart::Alone)])? {
                let FromPart::Alone(Alone { rate, latency }) = told else { continue };
                #[expect(clippy::cast_precision_loss, reason = "CPUs are few")]
                let rate = rate * cpus.len() as f64;
                let latency = all.latency.into_iter().chain(latency).reduce(f64::max);
                all = Alone { rate: all.rate + rate, latency };
            }
        }
        Ok(all)
    }

    /// Hosts at which frames arrive.
    fn sinks(&self) -> Vec<usize> {
        let places: BTreeSet<usize> = self.evidence.legs.iter().map(|leg| leg.receiver).collect();
        places.into_iter().map(|place| self.course.hosts[place]).collect()
    }

    fn ask(&self, lab: &mut Lab, orders: Vec<(usize, ToPart)>) -> Result<Vec<FromPart>, Fault> {
        let asked: Vec<usize> = orders.iter().map(|(at, _)| *at).collect();
        let told = self.course.stage::<Ends>(lab, orders, STAGED).map_err(LabError::into_fault)?;
        let lacks = asked.iter().zip(&told).find_map(|(at, told)| match told {
            FromPart::Lacks(what) => Some(format!("{}: {what}", lab.name(*at))),
            _ => None,
        });
        lacks.map_or(Ok(told), |what| Err(Fault::NotAvailable { what }))
    }

    /// The counters of every host, and what a relay of the lab lost.
    fn count(&self, lab: &mut Lab, times: bool) -> Result<Vec<(String, Counts)>, Fault> {
        let orders = self.hosts.iter().map(|at| (*at, ToPart::Count(times))).collect();
        let mut all = Vec::new();
        for (at, told) in self.hosts.iter().zip(self.ask(lab, orders)?) {
            let FromPart::Counted(counts) = told else { continue };
            all.push((lab.name(*at).to_owned(), *counts));
        }
        let Some(relay) = lab.relay_name().map(str::to_owned) else { return Ok(all) };
        let told = lab.ask_relay(RelayRequest::Tell).map_err(LabError::into_fault)?;
        if let Some((_, counts)) = all.iter_mut().find(|(name, _)| *name == relay) {
            for (by, way) in &told.ways {
                let gone = way.lost + way.full + way.crowded + way.missed + way.refused + way.long;
                counts.drops.push((format!("{by} relay"), gone));
            }
        }
        Ok(all)
    }

    /// Waits until all that was sent has come, or no more comes.
    fn wait_for_rest(&self, lab: &mut Lab) -> Result<(), Fault> {
        let ended = self.evidence.life()?.ended.iter().flatten();
        let sent: u64 = ended.map(|end| end.sent.sent.iter().sum::<u64>()).sum();
        let (mut before, mut quiet) = (u64::MAX, 0);
        for _ in 0..LOOKS {
            let orders = self.sinks().into_iter().map(|at| (at, ToPart::Count(false))).collect();
            let told = self.ask(lab, orders)?;
            let came = told.iter().map(|told| match told {
                FromPart::Counted(counts) => counts.sink.as_ref().map_or(0, all_of),
                _ => 0,
            });
            let came = came.sum();
            quiet = if came == before { quiet + 1 } else { 0 };
            if came >= sent || quiet >= QUIET {
                return Ok(());
            }
            before = came;
            clock::sleep_until(clock::now_ns() + LOOK_NS);
        }
        Ok(())
    }
}

fn all_of(totals: &crate::engine::packet::live::Totals) -> u64 {
    totals.streams.iter().map(|stream| stream.came.iter().sum::<u64>()).sum()
}

/// The streams of a trial: one a client and direction, each sent by a CPU of its own as far as
/// there are.
fn legs(params: &Settings, clients: u32, cpus: Cpus<'_>) -> Vec<Leg> {
    let clients = clients as usize;
    let word = params.get(DIRECTION.name).and_then(Value::word);
    let towards = (0..clients).filter(|_| word != Some("transmit")).map(|at| (at + 1, 0));
    let away = (0..clients).filter(|_| matches!(word, Some("transmit" | "duplex")));
    let ends = towards.chain(away.map(|at| (0, at + 1))).enumerate();
    ends.map(|(at, (sender, receiver))| Leg { sender, receiver, cpu: cpus.server(at) }).collect()
}

/// What the streams of a trial have in common.
///
/// # Errors
/// A client that would not send once in the window; a kernel that gives no chance.
fn traffic(job: &Job, layout: Layout, (clients, streams): (u32, usize)) -> Result<Traffic, Fault> {
    let params = &job.trial.point.params;
    let sizes = frame_sizes(params, layout)?;
    fits(&sizes, layout)?;
    let streams = u32::try_from(streams).unwrap_or(u32::MAX);
    if streams > STREAMS {
        let what = format!(
            "{streams} streams of frames, and a sink tells {STREAMS} apart; take fewer clients, or \
             one direction"
        );
        return Err(Fault::NotAvailable { what });
    }
    let (flows, pattern) = flows(params, &sizes);
    let secret = Secret::fresh()?;
    let key = u64::from_le_bytes(std::array::from_fn(|byte| secret.key[byte]));
    let run = job.settle_max + job.window + Duration::from_secs(10);
    let socket = match params.get(ENGINE.name).and_then(Value::word) {
        Some("packet") => Some(Kind::Packet),
        Some("af_xdp") => Some(Kind::Xdp),
        _ => None,
    };
    refuse_jumbo(params, (&sizes, layout), socket)?;
    let interval_ns = interval(params, (&sizes, clients)).map_or(Ok(None), |ns| due(job, ns))?;
    Ok(Traffic {
        key,
        socket,
        seed: job.trial.seed,
        sizes,
        layout,
        varied: varied(params, (flows, streams), layout)?,
        flows,
        pattern,
        interval_ns,
        burst: burst_of(job, (streams, interval_ns), socket)?,
        streams,
        run_ms_max: u64::try_from(run.as_millis()).unwrap_or(u64::MAX),
    })
}

/// How many addresses and classes the frames of so many flows of so many streams have.
fn varied(
    params: &Settings,
    (flows, streams): (u32, u32),
    layout: Layout,
) -> Result<Varied, Fault> {
    let count = |spec: &ParamSpec| {
        let count = params.get(spec.name).and_then(Value::count).unwrap_or(1);
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let varied = Varied {
        targets: count(&TARGET_ADDRESSES),
        sources: count(&SOURCE_ADDRESSES),
        classes: count(&CLASSES),
    };
    let most = varied.targets.max(varied.sources).max(varied.classes);
    let what = if varied.any() && layout.six {
        "target_addresses, source_addresses and dscp_classes need IPv4; take ip_version = 4, or 1 \
         of each"
            .to_owned()
    } else if varied.has_addresses() && !is_received(params) {
        "target_addresses and source_addresses need direction = \"receive\"; take it, or 1 of each"
            .to_owned()
    } else if flows < most {
        format!(
            "{flows} flows are fewer than the {most} addresses or classes asked for; raise flows"
        )
    } else if varied.sources.saturating_mul(streams) > SOURCES_MOST {
        format!(
            "{} source_addresses of each of {streams} streams are more than the {SOURCES_MOST} of \
             198.19.128.0/18; lower them",
            varied.sources
        )
    } else {
        return Ok(varied);
    };
    Err(Fault::NotAvailable { what })
}

/// How many flows a client has, and in which order.
fn flows(params: &Settings, sizes: &Sizes) -> (u32, Pattern) {
    if capture_of(params).is_some() {
        let flows = sizes.list().into_iter().flatten().map(|frame| frame.flow + 1);
        return (flows.max().unwrap_or(1), Pattern::Listed);
    }
    let flows = params.get("flows").and_then(Value::count).unwrap_or(1);
    let pattern = match params.get("pattern").and_then(Value::word) {
        Some("counter") => Pattern::Counter,
        _ => Pattern::Random,
    };
    (u32::try_from(flows).unwrap_or(u32::MAX), pattern)
}

/// Frames of IPv6 have more headers.
pub fn fits(sizes: &Sizes, layout: Layout) -> Result<(), Fault> {
    // The tag of a VLAN is beside what a plan asks for.
    let [least, bytes] = [layout.least(), sizes.least()].map(|all| all - layout.tag_bytes());
    if bytes >= least {
        return Ok(());
    }
    let (what, remedy) = match sizes {
        Sizes::Alike(_) => (format!("{bytes} B are asked for"), String::new()),
        Sizes::List(_) => {
            (format!("imix has frames of {bytes} B"), "ip_version = 4, or ".to_owned())
        }
    };
    let what = format!(
        "frame_size: headers and marks of such a frame take {least} B, and {what}; take \
         {remedy}frame_size = \"{least} B\" or more"
    );
    Err(Fault::Failed { host: "conductor".into(), what })
}

/// Jumbo frames lie in several pages, which neither live frames nor sockets of AF_XDP have, nor a
/// fast path.
fn refuse_jumbo(
    params: &Settings,
    (sizes, layout): (&Sizes, Layout),
    socket: Option<Kind>,
) -> Result<(), Fault> {
    let bytes = sizes.most() - layout.tag_bytes();
    let by_kernel = fast_path(params).is_none();
    if bytes <= MOST || (socket == Some(Kind::Packet) && by_kernel) {
        return Ok(());
    }
    let places = sizes.list().into_iter().flatten();
    let jumbo = places.map(|frame| usize::from(frame.bytes) - layout.tag_bytes());
    let first = jumbo.enumerate().find(|(_, bytes)| *bytes > MOST);
    let (which, bytes) = match first {
        Some((at, bytes)) => (format!("frame {} of the capture has", at + 1), bytes),
        None => ("frames have".to_owned(), bytes),
    };
    let merged = if first.is_some() { "; GRO, GSO and TSO merge packets into such" } else { "" };
    let what = format!(
        "frame_size: {which} {bytes} B; take engine = \"packet\" and fast_path = \"off\", or \
         frames of at most {MOST} B{merged}"
    );
    Err(Fault::NotAvailable { what })
}

/// Whether all frames go to the system under test.
#[must_use]
pub fn is_received(params: &Settings) -> bool {
    params.get(DIRECTION.name).and_then(Value::word).is_none_or(|word| word == "receive")
}

/// How long frames are, with their check sequences and tags. Those of a capture that have no room
/// for headers and marks are lengthened.
///
/// # Errors
/// A capture that cannot be read.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 9022 B")]
pub fn frame_sizes(params: &Settings, layout: Layout) -> Result<Sizes, Fault> {
    let asked = params.get(FRAME_SIZE.name);
    let sizes = match (asked.and_then(Value::word), capture_of(params)) {
        (_, Some(file)) => {
            let mut list = capture::read(file).map_err(|what| Fault::NotAvailable { what })?;
            let least = u16::try_from(layout.least() - layout.tag_bytes()).unwrap_or(u16::MAX);
            list.iter_mut().for_each(|frame| frame.bytes = frame.bytes.max(least));
            Sizes::List(list)
        }
        (Some(_), None) => Sizes::imix(),
        (None, None) => {
            Sizes::Alike(asked.and_then(Value::quantity).map_or(LEAST, |size| size.value as usize))
        }
    };
    Ok(sizes.longer(layout.tag_bytes()))
}

/// The file of the capture whose frames are asked for.
#[must_use]
pub fn capture_of(params: &Settings) -> Option<&str> {
    params.get(FRAME_SIZE.name).and_then(Value::word).filter(|word| *word != IMIX)
}

/// The VLAN whose tag frames have.
#[must_use]
pub fn vlan_of(params: &Settings) -> Option<u16> {
    let vlan = params.get(VLAN_TAG.name).and_then(Value::count)?;
    u16::try_from(vlan).ok()
}

/// Frames that are sent back to back, and no more; none where there is no bound.
#[must_use]
pub fn burst(params: &Settings) -> Option<u32> {
    let frames = params.get(BURST.name).and_then(Value::count)?;
    Some(u32::try_from(frames).unwrap_or(u32::MAX))
}

/// Time between two frames of one of so many streams at the offered load of a line, on which a
/// frame has a preamble and a gap (IEEE 802.3), nanoseconds; none where none is offered. Mixed
/// frames have the same between them, so that the load is right over each round of their order.
#[must_use]
pub fn interval(params: &Settings, (sizes, streams): (&Sizes, u32)) -> Option<f64> {
    let load = params.get("offered_load").and_then(Value::quantity)?;
    Some(line_bits(sizes) * f64::from(streams) / load.value * 1e9)
}

/// Bits that a frame takes on a line in the mean.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "20 B")]
pub fn line_bits(sizes: &Sizes) -> f64 {
    (sizes.mean() + IFG as f64) * 8.0
}

/// A window in which a client has nothing to send measures nothing.
fn due(job: &Job, interval_ns: f64) -> Result<Option<f64>, Fault> {
    let (every, counted) = (interval_ns / 1e9, counted(job));
    if every <= counted || job.trial.kind == TrialKind::Dry {
        return Ok(Some(interval_ns));
    }
    Err(failed(format!(
        "at this offered_load each client sends only every {every:.3} s, and {counted:.3} s of the \
         window count; raise offered_load or the window"
    )))
}

/// How long frames on a schedule count in a window, seconds.
fn counted(job: &Job) -> f64 {
    let closes_ns = u64::try_from(job.window.as_nanos()).unwrap_or(u64::MAX);
    let Span { opens_ns, closes_ns } = undisturbed(Span { opens_ns: 0, closes_ns });
    seconds(closes_ns - opens_ns)
}

/// Frames of a burst, which the window has to hold; in a dry visit, whose window is short, frames
/// are endless instead.
fn burst_of(
    job: &Job,
    (streams, interval_ns): (u32, Option<f64>),
    socket: Option<Kind>,
) -> Result<Option<u32>, Fault> {
    let Some(frames) = burst(&job.trial.point.params) else { return Ok(None) };
    if socket.is_some() {
        let what = "a burst is sent by engine = \"live\"; take it, or burst = \"endless\"".into();
        return Err(Fault::NotAvailable { what });
    }
    if frames < streams {
        return Err(failed(format!(
            "a burst of {frames} frames leaves some of {streams} streams without one; raise burst"
        )));
    }
    let each = interval_ns.map_or(0.0, |ns| ns / 1e9 / f64::from(streams.max(1)));
    match holds((frames, each), counted(job)) {
        Ok(()) => Ok(Some(frames)),
        Err(_) if job.trial.kind == TrialKind::Dry => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Refuses a burst that lasts longer than frames of its window count; times in seconds.
///
/// # Errors
/// A burst that is too long.
pub fn holds((frames, each): (u32, f64), counted: f64) -> Result<(), Fault> {
    let takes = f64::from(frames) * each;
    if takes <= counted {
        return Ok(());
    }
    Err(failed(format!(
        "a burst of {frames} frames takes {takes:.3} s, and {counted:.3} s of the window count; \
         take a longer window or a smaller burst"
    )))
}

fn failed(what: String) -> Fault {
    Fault::Failed { host: "conductor".into(), what }
}
