//! Knows how a host does what it is asked: enter its place, read, write, change links, work.
//!
//! Must not know any workload by name; their parts are handed in as a table.

use super::adapter::is_benchmark;
use super::adapter_file::AdapterFiles;
use super::error::LabError;
use super::ethtool::Ethtool;
use super::link::{Ipsec, Routes};
use super::logs;
use super::namespace;
use super::packets;
use super::relay::{Relay, RelayRequest};
use super::version;
use super::wire::{self, Answer, LinkAnswer, LinkRequest, Request};
use desk::record::LabKind;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;

/// A workload's part on a host: message in, answer out. The text of an error is for the person.
pub type Part = Box<dyn FnMut(serde_json::Value) -> Result<serde_json::Value, String>>;
static STARTED_NICE: OnceLock<i32> = OnceLock::new();
/// Nice value of the threads of a host.
const OWN_NICE: i32 = -20;

/// Makes the part of a workload.
pub type MakePart = fn() -> Part;

/// Serves the conductor over standard input until it goes away.
///
/// # Errors
/// When the control socket is none, or breaks in the middle of a message.
pub fn serve(workloads: &[(&'static str, MakePart)]) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    allow_many_files();
    // Orders must be heard while generators keep every CPU busy; where this is refused, a host that
    // hears late is found out by the time it answers with.
    let _ = STARTED_NICE.set(rustix::process::getpriority_process(None).unwrap_or(0));
    let _ = rustix::process::setpriority_process(None, OWN_NICE);
    let conductor = rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get());
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut agent = Agent {
        conductor: u32::try_from(conductor).unwrap_or(0),
        workloads,
        parts: BTreeMap::new(),
        place: None,
        taken: BTreeSet::new(),
        relay: None,
    };
    loop {
        let request = match wire::receive(&mut control) {
            Ok(request) => request,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        };
        let answer = agent.answer(request).unwrap_or_else(Answer::Refused);
        wire::send(&mut control, &answer)?;
    }
}

/// Gives the thread that calls, which is a load's, the nice value with which this host was started;
/// what is no host stays as it is.
///
/// # Errors
/// When the kernel refuses.
pub fn take_started_nice() -> io::Result<()> {
    match STARTED_NICE.get() {
        Some(nice) => Ok(rustix::process::setpriority_process(None, *nice)?),
        None => Ok(()),
    }
}

/// Gives the thread that calls the nice value of this host's own threads, which one that an urgent
/// thread began does not have; what is no host stays as it is. Where the kernel refuses, it stays
/// too.
pub fn take_own_nice() {
    if STARTED_NICE.get().is_some() {
        let _ = rustix::process::setpriority_process(None, OWN_NICE);
    }
}

/// Gives the calling thread a copy of the table of descriptors. Where threads share a table, each
/// system call on a descriptor counts a reference (`fdget` of the kernel). What is closed later in
/// one table stays open in the other.
///
/// # Errors
/// When the kernel has no memory for it.
pub fn own_descriptors() -> io::Result<()> {
    namespace::own_descriptors().map_err(io::Error::other)
}

/// Gives the calling thread a network namespace without links, which goes with it.
///
/// # Errors
/// When the kernel refuses.
pub fn own_network() -> io::Result<()> {
    namespace::own_network().map_err(io::Error::other)
}

/// Whether a test of a debug build asks for wrong data, which every load must refuse; a release
/// build never does.
pub fn plants_wrong_data() -> bool {
    cfg!(debug_assertions) && std::env::var_os("STEND_TEST_WRONG_DATA").is_some()
}

/// A server of many clients needs more descriptors than the usual soft limit.
fn allow_many_files() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    // Where even this is refused, the plan's own limit on streams still fits.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}

/// The file of a kernel setting; nothing outside `/proc/sys/net` can be named.
fn net_setting(path: &str) -> Result<String, LabError> {
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        let source = io::Error::other("not a setting below /proc/sys/net");
        return Err(LabError::File { path: path.into(), source });
    }
    Ok(format!("/proc/sys/net/{path}"))
}

fn read_setting(path: &str) -> Result<String, LabError> {
    let path = net_setting(path)?;
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().into()),
        Err(source) => Err(LabError::File { path, source }),
    }
}

fn write_setting(path: &str, value: &str) -> Result<(), LabError> {
    let file = net_setting(path)?;
    std::fs::write(&file, value).map_err(|source| {
        let source = if path == CONGESTION { not_congestion(value, source) } else { source };
        LabError::File { path: file, source }
    })
}

/// The setting that only some values of a list may be written to.
const CONGESTION: &str = "ipv4/tcp_congestion_control";

/// What the kernel means where it refuses a congestion control for a namespace.
fn not_congestion(value: &str, source: io::Error) -> io::Error {
    let means = match source.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "net.ipv4.tcp_allowed_congestion_control of the machine does not list {value}; as root \
             add it there with sysctl -w"
        ),
        io::ErrorKind::NotFound => format!(
            "net.ipv4.tcp_available_congestion_control does not list {value}; as root load its \
             module with modprobe tcp_{value}"
        ),
        _ => return source,
    };
    io::Error::other(format!("{source}; {means}"))
}

struct Agent<'a> {
    conductor: u32,
    workloads: &'a [(&'static str, MakePart)],
    parts: BTreeMap<String, Part>,
    /// Where this host lives, once it has entered.
    place: Option<LabKind>,
    /// Adapters of the lab, where this host is the machine itself.
    taken: BTreeSet<String>,
    /// The relay that this host is.
    relay: Option<Relay>,
}

impl Agent<'_> {
    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::Enter { version, kind, name, join } => {
                version::same_version(&version)?;
                self.enter(kind, &name, join)
            }
            Request::Links(list) => {
                self.refuse(&list)?;
                let mut hands = LinkHands::open().map_err(|e| e.to_string())?;
                let done: Result<Vec<_>, _> =
                    list.into_iter().map(|r| hands.carry_out(r)).collect();
                done.map(Answer::Links).map_err(|e| e.to_string())
            }
            Request::Take(adapter) if self.place == Some(LabKind::Loopback) => {
                self.taken.insert(adapter);
                Ok(Answer::Done)
            }
            Request::Take(_) => Err("this host has a namespace of its own".into()),
            Request::Relay(asked) => self.relay(asked),
            Request::Logs => Ok(Answer::Logs(logs::take())),
            Request::Work { workload, body } => self.work(&workload, body),
        }
    }

    /// Outside a namespace of our own the links are the machine's, not ours to change, but for the
    /// adapters that the lab has.
    fn refuse(&self, list: &[LinkRequest]) -> Result<(), String> {
        list.iter().try_for_each(refuse_address)?;
        if matches!(self.place, Some(LabKind::RootNamespaces | LabKind::UserNamespaces)) {
            return Ok(());
        }
        // These change nothing.
        let asks = |request: &LinkRequest| {
            matches!(request, LinkRequest::Received | LinkRequest::HasSixth(_))
        };
        if list.iter().all(asks) {
            return Ok(());
        }
        if self.taken.is_empty() {
            return Err("this host has no links of its own".into());
        }
        let may = |request: &&LinkRequest| {
            request.of().is_some_and(|name| self.taken.contains(name))
                || matches!(request, LinkRequest::Protection(..))
        };
        match list.iter().find(|request| !may(request)) {
            None => Ok(()),
            Some(LinkRequest::Setting(path) | LinkRequest::SetSetting(path, _)) => Err(format!(
                "this host is the machine itself, and net/{path} is the machine's; set it by a \
                 factor of the machine"
            )),
            Some(
                LinkRequest::SetVlan(..) | LinkRequest::SetBonding(..) | LinkRequest::Protect(..),
            ) => Err("this host is the machine itself, where a VLAN link, a bond or IPsec would \
                 outlive the run; leave `machine` out of [lab], so that the adapter moves to a \
                 namespace"
                .into()),
            Some(other) => Err(format!("{other:?} is not of an adapter that the lab has")),
        }
    }

    fn enter(&mut self, kind: LabKind, name: &str, join: Option<u32>) -> Result<Answer, String> {
        if self.place.is_some() {
            return Err("this host has entered its place already".into());
        }
        namespace::enter(kind, join).map_err(|e| e.to_string())?;
        self.place = Some(kind);
        if kind == LabKind::RootNamespaces && !name.is_empty() {
            // A name is a convenience for the person; a lab without names measures the same.
            let _ = namespace::name_it(self.conductor, name);
        }
        Ok(Answer::Done)
    }

    /// Begins to carry, in a namespace of our own alone, or answers as what carries.
    fn relay(&mut self, asked: RelayRequest) -> Result<Answer, String> {
        if let RelayRequest::Begin(between) = &asked {
            if !matches!(self.place, Some(LabKind::RootNamespaces | LabKind::UserNamespaces)) {
                return Err("this host has no links of its own".into());
            }
            self.relay = Some(Relay::begin(between.clone()).map_err(|e| e.to_string())?);
        }
        let relay = self.relay.as_ref().ok_or("this host is no relay")?;
        Ok(Answer::Relay(Box::new(relay.answer(&asked))))
    }

    fn work(&mut self, workload: &str, body: serde_json::Value) -> Result<Answer, String> {
        if !self.parts.contains_key(workload) {
            let found = self.workloads.iter().find(|(name, _)| *name == workload);
            let (_, make) =
                found.ok_or_else(|| format!("this host has no workload '{workload}'"))?;
            self.parts.insert(workload.into(), make());
        }
        let part = self.parts.get_mut(workload).ok_or("the workload's part is gone")?;
        part(body).map(Answer::Work)
    }
}

/// Refuses addresses and routes outside the range for benchmarks, in every kind of place.
fn refuse_address(request: &LinkRequest) -> Result<(), String> {
    let all = match request {
        LinkRequest::Address(_, address, _) | LinkRequest::Route(address, _, _) => vec![*address],
        LinkRequest::Protect(own, others, _) => {
            [&[*own], &others[..]].concat().into_iter().map(IpAddr::from).collect()
        }
        _ => return Ok(()),
    };
    match all.into_iter().find(|address| !is_benchmark(*address)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "{other} is no address of a lab: these are in 198.18.0.0/15 and 2001:2::/48"
        )),
    }
}

/// The two sockets with which links are changed.
struct LinkHands {
    routes: Routes,
    ethtool: Option<Ethtool>,
}

impl LinkHands {
    fn open() -> Result<Self, LabError> {
        Ok(Self { routes: Routes::open()?, ethtool: None })
    }

    fn ethtool(&mut self) -> Result<&mut Ethtool, LabError> {
        if self.ethtool.is_none() {
            self.ethtool = Some(Ethtool::open()?);
        }
        self.ethtool.as_mut().ok_or(LabError::Cancelled)
    }

    fn carry_out(&mut self, request: LinkRequest) -> Result<LinkAnswer, LabError> {
        let routes = &mut self.routes;
        match request {
            LinkRequest::AddBridge(name) => routes.add_bridge(&name)?,
            LinkRequest::AddVeth(name, peer, pid) => routes.add_veth(&name, &peer, pid)?,
            LinkRequest::AddMacvlan(parent, name, pid) => {
                routes.add_macvlan(&parent, &name, pid)?
            }
            LinkRequest::Up(name) => routes.set_up(&name, true)?,
            LinkRequest::Master(name, bridge) => routes.set_master(&name, &bridge)?,
            LinkRequest::Address(name, address, prefix) => {
                routes.add_address(&name, address, prefix)?;
            }
            LinkRequest::Route(network, prefix, via) => routes.add_route(network, prefix, via)?,
            LinkRequest::SetMtu(name, mtu) => routes.set_mtu(&name, mtu)?,
            LinkRequest::SetTbf(name, tbf) => routes.set_tbf(&name, tbf)?,
            LinkRequest::ClearQdisc(name) => routes.clear_qdisc(&name)?,
            LinkRequest::Vlan(_)
            | LinkRequest::SetVlan(..)
            | LinkRequest::Bonded(..)
            | LinkRequest::SetBonding(..)
            | LinkRequest::Protection(..)
            | LinkRequest::Protect(..) => return of_addresses(routes, request),
            LinkRequest::Filter(filter) => return Ok(LinkAnswer::Filter(filter.rules()?)),
            LinkRequest::SetFilter(filter, rules) => filter.set(rules)?,
            LinkRequest::SetSetting(path, value) => write_setting(&path, &value)?,
            LinkRequest::SetSettingIfThere(path, value) => {
                if std::fs::exists(net_setting(&path)?).unwrap_or(true) {
                    write_setting(&path, &value)?;
                }
            }
            LinkRequest::Setting(path) => return Ok(LinkAnswer::Setting(read_setting(&path)?)),
            LinkRequest::Received => return Ok(LinkAnswer::Received(packets::received())),
            LinkRequest::HasSixth(name) => {
                return Ok(LinkAnswer::HasSixth(packets::has_sixth(&name)));
            }
            LinkRequest::Info(name) => return Ok(LinkAnswer::Info(Box::new(routes.link(&name)?))),
            LinkRequest::Tbf(name) => return Ok(LinkAnswer::Tbf(routes.tbf(&name)?)),
            LinkRequest::Shaper(name) => return Ok(LinkAnswer::Shaper(routes.shaper(&name)?)),
            LinkRequest::Number(name, number) => {
                return Ok(LinkAnswer::Number(self.ethtool()?.number(&name, number)?));
            }
            LinkRequest::SetNumber(name, number, value) => {
                self.ethtool()?.set_number(&name, number, value)?;
            }
            LinkRequest::Line(name) => return Ok(LinkAnswer::Line(self.ethtool()?.line(&name)?)),
            LinkRequest::SetLine(name, line) => self.ethtool()?.set_line(&name, &line)?,
            LinkRequest::RssTable(name) => {
                return Ok(LinkAnswer::RssTable(self.ethtool()?.rss_table(&name)?));
            }
            LinkRequest::SetRssTable(name, table) => {
                self.ethtool()?.set_rss_table(&name, &table)?;
            }
            LinkRequest::Files(name, file) => {
                return Ok(LinkAnswer::Files(AdapterFiles::open()?.read(&name, file)?));
            }
            LinkRequest::SetFiles(name, file, texts) => {
                AdapterFiles::open()?.write(&name, file, &texts)?;
            }
            LinkRequest::Features(name) => {
                return Ok(LinkAnswer::Features(self.ethtool()?.features(&name)?));
            }
            LinkRequest::SetFeatures(name, set) => {
                return Ok(LinkAnswer::Features(self.ethtool()?.set_features(&name, &set)?));
            }
        }
        Ok(LinkAnswer::Done)
    }
}

/// What moves the addresses of a link, or protects what goes between them.
fn of_addresses(routes: &mut Routes, request: LinkRequest) -> Result<LinkAnswer, LabError> {
    match request {
        LinkRequest::Vlan(name) => return Ok(LinkAnswer::Vlan(routes.vlan(&name)?)),
        LinkRequest::SetVlan(name, vlan) => routes.set_vlan(&name, vlan)?,
        LinkRequest::Bonded(first, second) => {
            return Ok(LinkAnswer::Bonded(routes.bonded((&first, &second))?));
        }
        LinkRequest::SetBonding(first, second, wanted) => {
            routes.set_bonding((&first, &second), wanted)?;
        }
        LinkRequest::Protection(own, others) => {
            let found = Ipsec::open()?.protection((own, &others))?;
            return Ok(LinkAnswer::Protection(own, others, found));
        }
        LinkRequest::Protect(own, others, wanted) => {
            let wanted = wanted.as_ref().map(|(cipher, secret)| (*cipher, secret));
            Ipsec::open()?.protect((own, &others), wanted)?;
        }
        _ => {}
    }
    Ok(LinkAnswer::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use std::net::Ipv4Addr;

    /// An agent that lives in a place of this kind.
    fn living(kind: LabKind) -> Agent<'static> {
        let (parts, taken) = (BTreeMap::new(), BTreeSet::new());
        Agent { conductor: 0, workloads: &[], parts, place: Some(kind), taken, relay: None }
    }

    #[test]
    fn an_address_outside_the_range_and_a_path_outside_the_list_are_refused() {
        let near: IpAddr = Ipv4Addr::new(198, 18, 0, 1).into();
        let strangers: [IpAddr; 2] =
            [Ipv4Addr::new(192, 0, 2, 1).into(), "2001:2:1::1".parse().unwrap()];
        for kind in [LabKind::RootNamespaces, LabKind::UserNamespaces, LabKind::Loopback] {
            let agent = living(kind);
            for stranger in strangers {
                for request in [
                    LinkRequest::Address("eth1".into(), stranger, 24),
                    LinkRequest::Route(stranger, 24, near),
                ] {
                    let said = agent.refuse(&[request]).unwrap_err();
                    let ranges = said.contains("198.18.0.0/15 and 2001:2::/48");
                    assert!(ranges && said.contains(&stranger.to_string()), "{said}");
                }
            }
        }
        let (near, stranger) = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(192, 0, 2, 1));
        let protect = LinkRequest::Protect(near, vec![stranger], None);
        let said = living(LabKind::RootNamespaces).refuse(&[protect]).unwrap_err();
        assert!(said.contains("192.0.2.1"), "{said}");
        for ours in ["198.19.0.1", "2001:2:0:1::1"] {
            let ours = LinkRequest::Address("eth1".into(), ours.parse().unwrap(), 24);
            assert_eq!(living(LabKind::RootNamespaces).refuse(&[ours]), Ok(()));
        }
        for path in ["../kernel/hostname", "ipv4/../../vm/swappiness", "/etc/passwd", ""] {
            assert!(write_setting(path, "x").is_err() && read_setting(path).is_err(), "{path}");
        }
        let said = living(LabKind::RootNamespaces).work("shell", serde_json::Value::Null);
        assert_eq!(said.unwrap_err(), "this host has no workload 'shell'");
    }

    #[test]
    fn a_refused_congestion_control_is_said_with_the_setting_and_what_helps() {
        let said = |errno: Errno| not_congestion("dctcp", errno.into()).to_string();
        let words = said(Errno::PERM);
        assert!(words.starts_with("Operation not permitted"), "{words}");
        assert!(
            words.contains("net.ipv4.tcp_allowed_congestion_control of the machine"),
            "{words}"
        );
        assert!(said(Errno::NOENT).contains("modprobe tcp_dctcp"), "{}", said(Errno::NOENT));
        assert_eq!(said(Errno::IO), io::Error::from(Errno::IO).to_string());
    }
}
