//! Knows what the agent of a machine may be asked, and what it answers. There is no shell, no path
//! and no program in it.
//!
//! Must not know how an order is carried out.

use super::examined::Examined;
use crate::lab::adapter::Loan;
use crate::lab::quota::Side;
use desk::record::{Environment, Fact, LabKind, Plan, Reading, Track, Value};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

/// Host processes to start, each with the channel of its place in the list, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raise {
    /// Kind of place.
    pub kind: LabKind,
    /// Their names, the system under test first.
    pub hosts: Vec<String>,
    /// How many of them, from the second on, are clients.
    pub clients: usize,
    /// Which of them, by its place, carries frames between two links.
    pub relay: Option<usize>,
    /// How many, from the first on, have a control group where one can be made.
    pub grouped: usize,
    /// Whether others can see it: namespaces have names, groups are made.
    pub seen: bool,
    /// The host that is the machine itself, by name.
    pub machine: Option<String>,
    /// Adapters of the machine that hosts get.
    pub loans: Vec<Loan>,
}

/// An order with its number, by which its answer is known.
pub type Numbered = (u64, Order);

/// What the agent of a machine may be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// First of all: both ends are of this version.
    Hello(String),
    /// Tell the monotonic clock.
    Clock,
    /// Tell what can be done here, what these adapters are, over which the conductor speaks from
    /// these addresses besides that of the connection, and what killed runs left. Nothing changes.
    Examine(Vec<String>, Vec<IpAddr>),
    /// Tell what the machine is; what dead conductors left is brought back before.
    Environment,
    /// Tell why adapters, settings of the machine, its CPUs or quotas of this plan cannot be had on
    /// the machine that has this place in it.
    Refuse(Box<Plan>, usize),
    /// Tell what the settings are that this plan changes.
    Facts(Box<Plan>),
    /// Start hosts.
    Raise(Raise),
    /// End all hosts and remove what was made for them.
    TakeDown,
    /// Tell where the control groups of the hosts are.
    Groups,
    /// Give the hosts of these sides groups that can be held to a quota.
    Hold(Vec<Side>),
    /// Move the hosts out of them.
    Release,
    /// Hold a side to so many CPUs together, or to none.
    SetQuota(Side, Option<f64>),
    /// Tell what a side is held to.
    Quota(Side),
    /// Tell the CPUs that hosts may use, one thread of each core first.
    AllCpus,
    /// Hold the system under test to these CPUs.
    SetCpus(Vec<u32>),
    /// Tell the CPUs that the system under test may use.
    Cpus,
    /// Set a factor of the machine, by way of the journal.
    Set(String, Value),
    /// Tell the level of a factor of the machine.
    Level(String),
    /// Close the file that holds a factor of the machine.
    LetGo(String),
    /// Undo entries of the journal.
    Undo(Vec<u64>),
    /// All is undone: close the journal.
    Close,
    /// Measure what the idle lab leaves unattributed, and how fast memory is copied.
    Baseline,
    /// Start the soaker, or end it.
    Soak(bool),
    /// The load goes soon: note which processes are the lab's and what adapters have counted, and
    /// calibrate the soaker.
    Prepare,
    /// Read all probes when the window opens, at this moment of the machine's clock, nanoseconds.
    Opens(u64),
    /// The same when it closes.
    Closes(u64),
    /// The load is over: tell what was sampled in the window, and what adapters counted since
    /// [`Order::Prepare`].
    Rest,
    /// Tell the share of the CPUs' time that is stolen from a short load.
    Stolen,
}

/// What the agent of a machine answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Nothing but success.
    Done,
    /// The monotonic clock, nanoseconds.
    Clock(u64),
    /// What the machine is.
    Environment(Box<Environment>),
    /// What was found.
    Examined(Box<Examined>),
    /// Some facts.
    Facts(Vec<Fact>),
    /// Process numbers of the hosts, on that machine; names of lent adapters on their hosts.
    Raised(Vec<u32>, Vec<String>),
    /// CPUs together, or no limit.
    Quota(Option<f64>),
    /// CPUs by number.
    Cpus(Vec<u32>),
    /// Entries of the journal that undo what was set.
    Set(Vec<u64>),
    /// The level in force.
    Level(Value),
    /// What could not be brought back, in words for the person.
    Undone(Vec<String>),
    /// What was read.
    Readings(Vec<Reading>),
    /// What was read besides, and what was sampled.
    Rested(Vec<Reading>, Vec<Track>),
    /// A share, 0-1; none where nobody counts it.
    Stolen(Option<f64>),
    /// It did not work.
    Refused(Refusal),
}

/// Why an order was not carried out, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// A factor could not be set.
    Factor(String),
    /// No side can be held to a quota.
    Quota(String),
    /// A host is gone, and it was this one.
    Gone(String),
    /// The probes were read this long after the edge of the window, or took this long.
    Late(Duration),
    /// Anything else.
    Lab(String),
}

/// What comes on the machine's own channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// The answer to the order of this number.
    Reply(u64, Reply),
    /// The process of the host on this channel has ended.
    Gone(u16),
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::unit::Quantity;
    use proptest::prelude::*;

    fn orders() -> Vec<Numbered> {
        let raise = Raise {
            kind: LabKind::RootNamespaces,
            hosts: vec!["sut".into(), "c01".into()],
            clients: 1,
            relay: None,
            grouped: 2,
            seen: true,
            machine: None,
            loans: Vec::new(),
        };
        let set = Order::Set("thp".into(), Value::Word("never".into()));
        let paced = Order::Set("x".into(), Value::Quantity(Quantity::bytes(1500)));
        let look = Order::Examine(vec!["eth1".into()], vec![[192, 0, 2, 1].into()]);
        let hello = Order::Hello("0.2.0".into());
        let all = [hello, Order::Clock, Order::Raise(raise), set, paced, look];
        (1..).zip(all).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(512)
        })]

        #[test]
        fn an_order_with_a_changed_byte_is_refused_or_is_an_order(
            which in 0..6_usize, at in any::<proptest::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut body = serde_json::to_vec(&orders()[which]).unwrap();
            let at = at.index(body.len());
            body[at] = byte;
            if let Ok(read) = serde_json::from_slice::<Numbered>(&body) {
                let written = serde_json::to_vec(&read).unwrap();
                prop_assert_eq!(serde_json::from_slice::<Numbered>(&written).unwrap(), read);
            }
        }

        #[test]
        fn other_bytes_are_no_order(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = serde_json::from_slice::<Said>(&body);
            prop_assert!(serde_json::from_slice::<Numbered>(&body).is_err());
        }
    }

    #[test]
    fn what_is_no_order_of_the_list_is_refused() {
        for body in [
            r#"[1,{"Run":"/bin/sh"}]"#,
            r#"[1,{"Raise":{"kind":"root"}}]"#,
            r#"[-1,"Clock"]"#,
            r#"[1,"Clock",2]"#,
            r#""Clock""#,
        ] {
            assert!(serde_json::from_str::<Numbered>(body).is_err(), "{body}");
        }
    }
}
