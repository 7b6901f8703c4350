//! Knows every way in which a plan can be wrong, and the words for it.

use crate::unit::{Quantity, UnitError};
use thiserror::Error;

/// Why a plan is refused; each says the line (from 1), the value and the remedy.
#[derive(Clone, Debug, PartialEq, Error)]
#[expect(missing_docs, reason = "the fields are what the message of their variant shows")]
pub enum PlanError {
    /// The text is not TOML.
    #[error("line {line}: not TOML: {what}")]
    Syntax { line: u32, what: String },
    /// A key or table that nothing reads.
    #[error("line {line}: unknown key '{key}'; {remedy}")]
    UnknownKey { line: u32, key: String, remedy: String },
    /// A name that is in no list of the catalogue or of the plan.
    #[error("line {line}: there is no {what} '{name}'; {remedy}")]
    UnknownName { line: u32, what: &'static str, name: String, remedy: String },
    /// Something that has no default.
    #[error("line {line}: '{what}' is missing; {remedy}")]
    Missing { line: u32, what: &'static str, remedy: &'static str },
    /// A value of the wrong TOML type.
    #[error("line {line}: '{key}' is {found}; write {wanted}")]
    WrongType { line: u32, key: String, found: String, wanted: String },
    /// A quantity or a sweep that cannot be read.
    #[error("line {line}: '{key}': {why}")]
    Unit { line: u32, key: String, why: UnitError },
    /// A value that is not allowed for its key.
    #[error("line {line}: '{key}' cannot be '{value}'; write {allowed}")]
    OutOfBounds { line: u32, key: String, value: String, allowed: String },
    /// A list without values.
    #[error("line {line}: '{key}' has no values; write at least one")]
    NoValues { line: u32, key: String },
    /// A list that holds a value twice.
    #[error("line {line}: '{key}' holds '{value}' twice; every value must differ")]
    EqualValues { line: u32, key: String, value: String },
    /// Several values where one belongs.
    #[error("line {line}: '{key}' is one value here, not '{value}'; {remedy}")]
    Several { line: u32, key: String, value: String, remedy: &'static str },
    /// A factor with one level or none.
    #[error("line {line}: factor '{factor}' has {levels} level(s); a comparison needs two or more")]
    FewLevels { line: u32, factor: String, levels: usize },
    /// Two levels of a factor that set the same.
    #[error("line {line}: levels '{first}' and '{second}' of factor '{factor}' set the same")]
    EqualLevels { line: u32, factor: String, first: String, second: String },
    /// A level of a profile that leaves a key as another level may have left it.
    #[error(
        "line {line}: level '{level}' of factor '{factor}' does not say '{key}', which '{other}' \
         sets; set it in every level"
    )]
    UnequalProfile { line: u32, factor: String, level: String, key: String, other: String },
    /// A level of `path` that is not a link.
    #[error("line {line}: path level '{level}' is not a link of the plan; {remedy}")]
    NotALink { line: u32, level: String, remedy: String },
    /// `path` without a choice.
    #[error(
        "line {line}: a path needs two links to choose from, the plan has one; add a second table \
         [lab.links.NAME]"
    )]
    OneLink { line: u32 },
    /// A factor of the load that one load of the plan has not.
    #[error(
        "line {line}: '{key}' is no parameter of load '{load}' (workload {workload}), so its \
         levels would not differ there; {remedy}"
    )]
    NoParameter { line: u32, key: String, load: String, workload: String, remedy: String },
    /// A factor of the load that two loads read differently.
    #[error(
        "line {line}: '{key}' = '{value}' is another thing in load '{first}' than in load \
         '{second}'; measure them in two plans"
    )]
    UnlikeParameter { line: u32, key: String, value: String, first: String, second: String },
    /// A factor that a person sets, under the name of one that the run can switch.
    #[error(
        "line {line}: '{name}' is what a run switches itself; leave out manual, or give what a \
         person sets another name, as in [factors.bios_{name}]"
    )]
    ManualKnown { line: u32, name: String },
    /// A factor that only the boot line of the kernel decides.
    #[error(
        "line {line}: '{name}' is read only: a parameter of the boot decides it, and no run can \
         switch it; write manual = true in [factors.{name}], boot at each level and tell it with \
         --level {name}=LEVEL"
    )]
    ReadOnly { line: u32, name: String },
    /// CPUs of a treatment that are not there.
    #[error("line {line}: {what} in one treatment: {why}; {remedy}")]
    NoCpus { line: u32, what: String, why: &'static str, remedy: &'static str },
    /// A factor where it cannot act.
    #[error("line {line}: '{key}' cannot be set here; {remedy}")]
    WrongPlace { line: u32, key: String, remedy: String },
    /// Two places that set one thing.
    #[error("line {line}: {first} and {second} both set '{key}'; leave it to one of them")]
    SetTwice { line: u32, key: String, first: String, second: String },
    /// A level by a name that several factors have.
    #[error("line {line}: '{level}' is a level of several factors; write {candidates}")]
    AmbiguousLevel { line: u32, level: String, candidates: String },
    /// Prices that nobody can add or compare.
    #[error(
        "line {line}: price {value} beside the {first} of part '{other}': levels are compared in \
         one currency; convert one of them at the rate of its date"
    )]
    Currencies { line: u32, value: Quantity, other: String, first: Quantity },
    /// `compare` names no factor.
    #[error("line {line}: compare = '{compare}' is not a factor of this plan; {remedy}")]
    NotCompared { line: u32, compare: String, remedy: String },
    /// `curve` names nothing that is swept in numbers.
    #[error("line {line}: curve = '{curve}' is not a swept size, rate or count; {remedy}")]
    NoCurve { line: u32, curve: String, remedy: String },
    /// `primary_comparison` that fits several.
    #[error(
        "line {line}: primary_comparison fits several comparisons: '{key}' is open; write one of \
         {values}"
    )]
    PrimaryOpen { line: u32, key: String, values: String },
    /// Too few blocks for an interval.
    #[error("line {line}: blocks = {blocks}: no interval from fewer than three; write 3 or more")]
    FewBlocks { line: u32, blocks: u64 },
    /// Too few boots to see how much boots differ.
    #[error(
        "line {line}: boots = {boots}: trials of one boot share what the boot brought along, so \
         only boots tell levels apart, three a level at the least; write boots = 3 or more"
    )]
    FewBoots { line: u32, boots: u32 },
    /// Boots, and no factor that needs one.
    #[error(
        "line {line}: '{key}' is set, but no factor needs a reboot; write reboot = true in the \
         table of the factor that does, or leave it out"
    )]
    NothingReboots { line: u32, key: String },
    /// Looks count blocks.
    #[error(
        "line {line}: looks count blocks, and factor '{factor}' needs boots, whose number is \
         fixed; leave out looks and write blocks = N and boots = N"
    )]
    LooksOfBoots { line: u32, factor: String },
    /// Looks that do not rise.
    #[error("line {line}: look {look} comes after {before}; write looks in rising order")]
    LooksOrder { line: u32, before: u32, look: u32 },
    /// One look, which is none, or so many that none of them could decide anything.
    #[error("line {line}: {number} look(s); write 2 to {most}, or blocks = N without looks")]
    LooksNumber { line: u32, number: usize, most: usize },
    /// Two numbers of blocks.
    #[error(
        "line {line}: blocks = {blocks} contradicts looks, whose last is {last}; leave out blocks \
         or make them equal"
    )]
    BlocksAgainstLooks { line: u32, blocks: u32, last: u32 },
    /// A plan beyond all patience.
    #[error(
        "line {line}: {points} points x {treatments} treatments x {visits} visits = {trials} \
         trials; at most 100000, take fewer values or blocks"
    )]
    TooManyTrials { line: u32, points: u64, treatments: u64, visits: u64, trials: u64 },
    /// A search over a parameter that sets no load.
    #[error("line {line}: '{over}' is no {what} of {workload}; {remedy}")]
    NotSought { line: u32, over: String, what: &'static str, workload: String, remedy: String },
    /// An empty range of a search.
    #[error("line {line}: to = {to} is not above from = {from}; raise to")]
    SearchBounds { line: u32, from: String, to: String },
    /// The longest settling time is below the shortest.
    #[error("line {line}: settle_max = {settle_max} is below settle = {settle}; raise settle_max")]
    SettleOrder { line: u32, settle: Quantity, settle_max: Quantity },
    /// Clients or links of a plan that needs none.
    #[error(
        "line {line}: {key} has no use here: every load of the plan runs on the system under test \
         alone; leave it out, or add a load that goes over a link"
    )]
    NoClients {
        /// Where.
        line: u32,
        /// Which key.
        key: String,
    },
    /// A setting of the relay in a lab without one.
    #[error(
        "line {line}: '{key}' is kept by a relay, and the lab has none; write [lab.hosts.relay] \
         with role = \"relay\", and make it a member of two links: one with the clients, one with \
         sut"
    )]
    NoRelay {
        /// Where.
        line: u32,
        /// Which key.
        key: String,
    },
    /// Clients that cannot fill the link.
    #[error(
        "line {line}: {clients} client(s) x {client_rate} = {together}, less than the {rate} of \
         {link}: the clients would be measured, not the link; take {needed} clients or a \
         client_rate of at least {needed_rate}"
    )]
    SlowClients {
        line: u32,
        clients: u32,
        client_rate: Quantity,
        together: Quantity,
        rate: Quantity,
        link: String,
        needed: u32,
        needed_rate: Quantity,
    },
    /// More connections than the lab opens.
    #[error(
        "line {line}: {streams} streams x {clients} clients = {together} connections; at most 1024"
    )]
    TooManyStreams { line: u32, streams: u64, clients: u32, together: u64 },
    /// A load of more clients than there are.
    #[error(
        "line {line}: load '{load}' wants {most} clients, and the lab has {clients}; write clients \
         = {most} in [lab]"
    )]
    TooFewClients { line: u32, load: String, most: u64, clients: u32 },
    /// A load between clients, of which there are too few.
    #[error(
        "line {line}: load '{load}' goes between two clients, and the lab has {clients}; write \
         clients = 2 in [lab], or direction = \"transmit\""
    )]
    NothingBetween { line: u32, load: String, clients: u32 },
    /// Settings that the kernel does not hold together.
    #[error(
        "line {line}: checksum = off drags tso off with it, yet tso = on is asked together with it \
         ({place}); write tso = \"off\" or checksum = \"on\""
    )]
    TsoWithoutChecksum { line: u32, place: String },
    /// A link that does not carry IPv6.
    #[error(
        "line {line}: ip_version = 6 needs an MTU of 1280 B on every link (RFC 8200), and link \
         '{link}' has mtu = {mtu}; raise it, or leave out ip_version = 6"
    )]
    SmallMtu { line: u32, link: String, mtu: Quantity },
    /// A server that somebody else started is named by its IPv4 address.
    #[error(
        "line {line}: ip_version = 6, and {server} is asked over IPv4; name a server that stend \
         starts, or leave out ip_version = 6"
    )]
    ServerOfIpv4 { line: u32, server: String },
    /// A host that does not take frames with the tag of a VLAN.
    #[error(
        "line {line}: {param} = {vlan} gives frames the tag of a VLAN, and {role} '{host}' takes \
         none; write role = \"switch\" for it, or {param} = \"none\""
    )]
    TagNotTaken { line: u32, param: String, vlan: u64, role: &'static str, host: String },
}
