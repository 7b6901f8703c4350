//! Knows what generated lists of rules are like.
//!
//! Must not know how a list is drawn.

/// Weights of the five classes of port ranges that ClassBench tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// All ports.
    pub any: u32,
    /// 1024 to 65535, which clients use.
    pub high: u32,
    /// 0 to 1023, which servers of the system use.
    pub low: u32,
    /// Another range.
    pub range: u32,
    /// One port.
    pub exact: u32,
}

impl Ports {
    /// All ports, always.
    pub const ANY: Self = Self { any: 1, high: 0, low: 0, range: 0, exact: 0 };
}

/// What a list of rules is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix {
    /// Lengths of the prefixes of source and destination, each pair with its weight.
    pub lengths: &'static [((u8, u8), u32)],
    /// Ports of senders, of rules of TCP and UDP; others have all ports.
    pub src_ports: Ports,
    /// Ports of receivers, of the same rules.
    pub dst_ports: Ports,
    /// Protocols, each with its weight.
    pub protocols: &'static [(Option<u8>, u32)],
    /// Share of prefixes that an earlier rule has too, 0 to 1.
    pub shared: f64,
    /// Share of the others that are part of an earlier rule's prefix, 0 to 1.
    pub nested: f64,
    /// Most prefixes of a field that lie in one another.
    pub depth: u8,
}

impl Mix {
    /// As the list `acl1` of ClassBench is: mostly pairs of hosts and one port of a server.
    ///
    /// Source: marginal shares of its parameter file, per thousand, rounded: D. E. Taylor, J. S.
    /// Turner, "ClassBench: A Packet Classification Benchmark", IEEE/ACM ToN 15(3), 2007. The
    /// shares of prefixes that are shared and nested are ours.
    pub const ACL: Self = Self {
        lengths: &[
            ((32, 32), 752),
            ((31, 32), 27),
            ((32, 31), 11),
            ((30, 32), 5),
            ((32, 30), 7),
            ((32, 24), 34),
            ((23, 32), 47),
            ((32, 22), 49),
            ((31, 22), 7),
            ((30, 22), 13),
            ((23, 31), 4),
            ((23, 24), 4),
            ((23, 28), 3),
            ((23, 16), 16),
            ((23, 4), 12),
            ((0, 13), 1),
            ((0, 8), 1),
            ((8, 0), 1),
            ((0, 0), 1),
        ],
        src_ports: Ports::ANY,
        dst_ports: Ports { any: 213, high: 0, low: 0, range: 131, exact: 656 },
        protocols: &[(Some(6), 873), (None, 85), (Some(1), 31), (Some(17), 11)],
        shared: 0.5,
        nested: 0.3,
        depth: 4,
    };

    /// A firewall with many rules from anywhere or to anywhere, and ranges of ports at both ends.
    ///
    /// Its shares are ours: it is the hard case beside [`Mix::ACL`].
    pub const FIREWALL: Self = Self {
        lengths: &[
            ((0, 32), 300),
            ((32, 0), 60),
            ((0, 24), 100),
            ((24, 0), 40),
            ((24, 24), 100),
            ((16, 32), 100),
            ((8, 24), 50),
            ((24, 32), 100),
            ((32, 32), 145),
            ((0, 0), 5),
        ],
        src_ports: Ports { any: 850, high: 80, low: 0, range: 30, exact: 40 },
        dst_ports: Ports { any: 120, high: 60, low: 20, range: 150, exact: 650 },
        protocols: &[(Some(6), 700), (Some(17), 200), (None, 60), (Some(1), 40)],
        shared: 0.5,
        nested: 0.5,
        depth: 6,
    };
}
