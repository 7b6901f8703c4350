//! Knows what stands on this machine for a lab: the processes of its hosts, their names and groups.
//!
//! Must not know which links join them, nor what is measured.

use super::adapter::Lent;
use super::cgroup::ControlGroups;
use super::error::LabError;
use super::host::HostProcess;
use super::machine::Raise;
use super::namespace;
use super::ours::Ours;
use super::quota::Quotas;
use super::undo::{Intent, Journal, Kind};
use super::version::VERSION;
use super::wire::Request;
use desk::record::{Fact, LabKind};
use std::path::Path;

/// Index of the system under test among the hosts.
pub const SUT: usize = 0;

/// Hosts of a lab on this machine. When it is dropped they end, and what was made for them goes.
#[derive(Debug, Default)]
pub struct Standing {
    /// Every host, the system under test first.
    pub(super) hosts: Vec<HostProcess>,
    /// How many of them, from the second on, are clients.
    pub(super) clients: usize,
    /// Which of them carries frames between two links.
    pub(super) relay: Option<usize>,
    /// How many, from the first on, have groups: what the switch costs is not its process's.
    grouped: usize,
    /// Whether its namespaces have names, which others can see.
    named: bool,
    /// The host that is the machine itself.
    machine: Option<String>,
    pub(super) groups: ControlGroups,
    pub(super) quotas: Quotas,
    /// Adapters of the machine that hosts have.
    lent: Lent,
    /// Names and groups, as they stand in the journal.
    written: Option<(Journal, Vec<u64>)>,
}

impl Standing {
    /// Starts hosts from `binary` and has each enter its place. What stood before is taken down,
    /// and namespaces that dead conductors left named are removed.
    ///
    /// # Errors
    /// When a host does not start, or this kind of place is refused; then nothing stands.
    pub fn raise(&mut self, raise: &Raise, binary: &Path) -> Result<(), LabError> {
        self.take_down();
        let root = raise.kind == LabKind::RootNamespaces;
        if root && raise.seen {
            namespace::remove_stale();
        }
        self.named = root && raise.seen;
        (self.clients, self.relay, self.grouped) = (raise.clients, raise.relay, raise.grouped);
        self.machine.clone_from(&raise.machine);
        self.groups = if raise.seen { ControlGroups::find() } else { ControlGroups::default() };
        let raised = self.start(raise, binary).and_then(|()| self.lend(raise, binary));
        if raised.is_err() {
            self.take_down();
        }
        raised
    }

    /// The first host enters first, since the others join its user namespace.
    fn start(&mut self, raise: &Raise, binary: &Path) -> Result<(), LabError> {
        for name in &raise.hosts {
            self.hosts.push(HostProcess::start(name, binary)?);
        }
        self.write_down(&raise.hosts, binary)?;
        let mut join = None;
        let (first, others) = self.hosts.split_at_mut(1);
        for hosts in [first, others] {
            for host in hosts.iter_mut() {
                let stays = raise.machine.as_deref() == Some(host.name());
                let kind = if stays { LabKind::Loopback } else { raise.kind };
                let name = if self.named && !stays { host.name().into() } else { String::new() };
                let version = VERSION.to_owned();
                host.ask(&Request::Enter { version, kind, name, join })?;
            }
            for host in hosts.iter_mut() {
                host.done()?;
                join = join.or((raise.kind == LabKind::UserNamespaces).then(|| host.pid()));
            }
        }
        for host in self.hosts.iter().take(self.grouped) {
            self.groups.add(host.name(), host.pid());
        }
        Ok(())
    }

    /// Gives hosts the adapters of the machine that their links are made of. In a lab that nobody
    /// sees it is only asked whether they could be had.
    fn lend(&mut self, raise: &Raise, binary: &Path) -> Result<(), LabError> {
        if raise.loans.is_empty() {
            return Ok(());
        }
        if raise.kind != LabKind::RootNamespaces {
            return Err(LabError::Adapter {
                adapter: raise.loans[0].adapter.clone(),
                what: "only root can move it to the namespace of a host; run as root".into(),
            });
        }
        let hosts = &self.hosts;
        let host = |at: usize| {
            hosts.get(at).map(|host| (host.pid(), host.name().to_owned())).unwrap_or_default()
        };
        self.lent.lend(&raise.loans, binary, &host)?;
        for (loan, name) in raise.loans.iter().zip(self.lent.names()) {
            if loan.name.is_none() {
                let host = self.hosts.get_mut(loan.host).ok_or(LabError::Cancelled)?;
                host.ask(&Request::Take(name.clone()))?;
                host.done()?;
            }
        }
        Ok(())
    }

    /// Names that lent adapters have on their hosts, in the order of the loans.
    #[must_use]
    pub fn adapters(&self) -> Vec<String> {
        self.lent.names().to_vec()
    }

    /// Names of namespaces and groups stand in the journal before they are made. A lab has no names
    /// without it; groups are a second opinion, which it can do without.
    fn write_down(&mut self, hosts: &[String], binary: &Path) -> Result<(), LabError> {
        let intent = |host: &String, kind, path| Intent {
            key: host.clone(),
            kind,
            path,
            new: "present".into(),
        };
        let mut intents = Vec::new();
        let named = self.named;
        let stays = |host: &String| self.machine.as_ref() == Some(host);
        for host in hosts.iter().filter(|host| named && !stays(host)) {
            let path = namespace::path_of(std::process::id(), host);
            intents.push(intent(host, Kind::Namespace, path));
        }
        for host in hosts.iter().take(self.grouped) {
            let path = self.groups.path_of(host);
            intents.extend(path.map(|path| intent(host, Kind::Group, path)));
        }
        if intents.is_empty() {
            return Ok(());
        }
        let written = Journal::of_this_process(binary)
            .and_then(|journal| Ok((journal.intend(intents)?, journal)));
        match written {
            Ok((entries, journal)) => self.written = Some((journal, entries)),
            Err(e) if named => return Err(e.into()),
            Err(e) => self.groups.give_up(e.to_string()),
        }
        Ok(())
    }

    /// The hosts, in the order in which they were named.
    #[must_use]
    pub fn hosts(&self) -> &[HostProcess] {
        &self.hosts
    }

    /// A host by its place among them; none where there are fewer.
    pub fn host(&mut self, at: usize) -> Option<&mut HostProcess> {
        self.hosts.get_mut(at)
    }

    /// Which processes and control groups of the machine are this lab's.
    #[must_use]
    pub fn ours(&self) -> Ours {
        let hosts = self.hosts.iter().map(|host| (host.name().to_owned(), host.pid())).collect();
        let groups = self.groups.readable();
        Ours { hosts, groups, away: self.lent.away().to_vec() }
    }

    /// Says where the hosts' control groups are, or why there are none.
    #[must_use]
    pub fn groups_fact(&self) -> Fact {
        self.groups.fact()
    }

    /// Ends all hosts; their namespaces, links and sockets go with them.
    pub fn take_down(&mut self) {
        // What comes back explicitly comes back at once, and virtual adapters at all.
        self.lent.bring_back();
        if self.named {
            for host in &self.hosts {
                namespace::remove_name(std::process::id(), host.name());
            }
        }
        self.hosts.iter_mut().for_each(HostProcess::end);
        self.hosts.clear();
        self.quotas.release();
        self.groups.remove();
        if let Some((journal, entries)) = self.written.take() {
            // All is gone by now; what is not, the guardian tries again.
            let _ = journal.undo(&entries);
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.take_down();
    }
}
