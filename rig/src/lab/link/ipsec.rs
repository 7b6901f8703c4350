//! Knows how the kernel is asked, over the netlink of XFRM, to carry all between two addresses in
//! ESP (RFC 4303, transport mode) with AES-GCM (RFC 4106), and what it says of that.
//!
//! Never: which hosts have which addresses. The secret is for one run: nothing of it is to be kept
//! from anybody, and sequence numbers may wrap, so that a long run does not end a connection.

use super::super::namespace;
use super::error::{LinkError, Task};
use super::socket::KernelSocket;
use netlink_packet_core::{DecodeError, Emitable as _, NlasIterator};
use netlink_packet_xfrm::constants::{
    AF_INET, XFRM_MODE_TRANSPORT, XFRM_POLICY_IN, XFRM_POLICY_OUT, XFRM_SA_XFLAG_OSEQ_MAY_WRAP,
    XFRMA_ALG_AEAD,
};
use netlink_packet_xfrm::policy::{DelGetMessage as PolicyName, ModifyMessage as PolicyMessage};
use netlink_packet_xfrm::state::{
    DelGetMessage as StateName, GetDumpMessage, ModifyMessage as StateMessage,
};
use netlink_packet_xfrm::{
    Address, AlgAead, Id, Selector, UserPolicyId, UserPolicyInfo, UserSaId, UserSaInfo,
    UserTemplate, XfrmAttrs, XfrmMessage,
};
use netlink_sys::protocols::NETLINK_XFRM;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};

/// The cipher as the kernel names it, with an integrity check value of so many bits.
const AES_GCM: &[u8] = b"rfc4106(gcm(aes))";
const CHECK_BITS: u32 = 128;
/// The protocol number of ESP.
const ESP: u8 = 50;
/// What the longest key takes of a secret, bytes.
pub const SECRET: usize = 32;

/// Which cipher protects a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cipher {
    /// AES-GCM with a key of 128 bit.
    AesGcm128,
    /// AES-GCM with a key of 256 bit.
    AesGcm256,
}

impl Cipher {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AesGcm128, Self::AesGcm256];

    /// As a plan writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::AesGcm128 => "aes-gcm-128",
            Self::AesGcm256 => "aes-gcm-256",
        }
    }

    /// Length of its key without the salt, bytes.
    const fn key(self) -> usize {
        match self {
            Self::AesGcm128 => 16,
            Self::AesGcm256 => 32,
        }
    }
}

/// What protects all that goes between an address and several others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protection {
    /// Nothing.
    None,
    /// ESP with this cipher, both ways.
    Esp(Cipher),
    /// A part of it, or unlike things.
    Partly,
}

/// A way from one address to another.
type Way = (Ipv4Addr, Ipv4Addr);

/// One `NETLINK_XFRM` socket; every call blocks until the kernel has answered.
///
/// It acts in the network namespace that the calling thread was in when it was opened, and needs
/// `CAP_NET_ADMIN` there.
pub struct Ipsec {
    socket: KernelSocket,
}

impl Ipsec {
    /// Opens the socket.
    ///
    /// # Errors
    /// [`LinkError::Socket`] if the kernel has no XFRM, or no descriptor is left.
    pub fn open() -> Result<Self, LinkError> {
        let task = Task { op: "open", name: "NETLINK_XFRM" };
        let socket = KernelSocket::open(NETLINK_XFRM).map_err(|e| task.socket_failed(&e))?;
        Ok(Self { socket })
    }

    /// Protects all between an address of this namespace and each of `others` so, or no longer.
    ///
    /// # Errors
    /// [`LinkError::NotSupported`] if the kernel has no ESP or no AES-GCM.
    pub fn protect(
        &mut self,
        (own, others): (Ipv4Addr, &[Ipv4Addr]),
        wanted: Option<(Cipher, &[u8; SECRET])>,
    ) -> Result<(), LinkError> {
        for other in others {
            for (way, direction) in both(own, *other) {
                self.forget(way, direction)?;
                if let Some((cipher, secret)) = wanted {
                    let name = format!("{} to {}", way.0, way.1);
                    let task = Task { op: "protect with ESP", name: &name };
                    self.add(task, state(way, cipher, secret))?;
                    self.add(task, policy(way, direction))?;
                }
            }
        }
        Ok(())
    }

    /// What protects all between an address and each of `others`.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if an answer cannot be read.
    pub fn protection(
        &mut self,
        (own, others): (Ipv4Addr, &[Ipv4Addr]),
    ) -> Result<Protection, LinkError> {
        let task = Task { op: "list what protects", name: "all paths" };
        let garbled = |e: DecodeError| task.garbled(&e);
        let states = XfrmMessage::GetDumpSa(GetDumpMessage::default());
        let states = self.socket.dump(task, &states)?;
        let states: Result<Vec<_>, _> = states.iter().map(|body| state_of(body)).collect();
        let states: Vec<_> = states.map_err(garbled)?.into_iter().flatten().collect();
        let policies = XfrmMessage::GetPolicy(PolicyName::default());
        let policies = self.socket.dump(task, &policies)?;
        let policies: Result<Vec<_>, _> = policies.iter().map(|body| policy_of(body)).collect();
        let policies = policies.map_err(garbled)?;
        let of_way = |(way, direction): (Way, u8)| {
            let cipher = states.iter().find(|(of, _)| *of == way).map(|(_, cipher)| *cipher);
            (cipher, policies.contains(&(way, direction)))
        };
        let ways = others.iter().flat_map(|other| both(own, *other));
        Ok(summed(ways.map(of_way)))
    }

    /// Whether any state is of one of these addresses, so that its packets are in ESP.
    ///
    /// # Errors
    /// [`LinkError::Garbled`] if an answer cannot be read.
    pub fn has_any(&mut self, addresses: &[Ipv4Addr]) -> Result<bool, LinkError> {
        let task = Task { op: "list what protects", name: "all paths" };
        let states = XfrmMessage::GetDumpSa(GetDumpMessage::default());
        for body in self.socket.dump(task, &states)? {
            let found = state_of(&body).map_err(|e| task.garbled(&e))?;
            if found
                .is_some_and(|((from, to), _)| addresses.contains(&from) || addresses.contains(&to))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes back what protects a way; none is there at first.
    fn forget(&mut self, way: Way, direction: u8) -> Result<(), LinkError> {
        let name = format!("{} to {}", way.0, way.1);
        let task = Task { op: "take back what protects", name: &name };
        for message in [no_policy(way, direction), no_state(way)] {
            match self.ask(task, message) {
                Err(LinkError::Kernel { errno: libc::ENOENT | libc::ESRCH, .. }) => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Adds a state or a policy. Where the kernel has XFRM but not ESP, not this cipher, or not the
    /// chance that its nonces begin with, it says so in three ways.
    fn add(&mut self, task: Task<'_>, message: XfrmMessage) -> Result<(), LinkError> {
        self.ask(task, message).map_err(|e| match e {
            LinkError::Kernel {
                errno: libc::EPROTONOSUPPORT | libc::ENOSYS | libc::ENOENT,
                op,
                name,
                ..
            } => LinkError::NotSupported { op, name },
            other => other,
        })
    }

    fn ask(&mut self, task: Task<'_>, message: XfrmMessage) -> Result<(), LinkError> {
        self.socket.request(task, message, 0).map(drop)
    }
}

/// Why this kernel cannot protect with a cipher, tried in a network namespace that goes at once;
/// none where it can, or where this user may not try.
#[must_use]
pub fn cannot_protect(cipher: Cipher) -> Option<LinkError> {
    let attempt = move || {
        namespace::own_network().ok()?;
        let ends = [Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)];
        let tried = Ipsec::open().and_then(|mut ipsec| {
            ipsec.protect((ends[0], &ends[1..]), Some((cipher, &[0; SECRET])))
        });
        tried.err()
    };
    std::thread::spawn(attempt).join().ok().flatten()
}

/// Both ways between two addresses, with the direction of each as the first sees it.
const fn both(own: Ipv4Addr, other: Ipv4Addr) -> [(Way, u8); 2] {
    [((own, other), XFRM_POLICY_OUT), ((other, own), XFRM_POLICY_IN)]
}

/// What protects several ways, of each its cipher and whether a policy demands it.
fn summed(ways: impl Iterator<Item = (Option<Option<Cipher>>, bool)>) -> Protection {
    let mut all = None;
    for way in ways {
        let this = match way {
            (None, false) => Protection::None,
            (Some(Some(cipher)), true) => Protection::Esp(cipher),
            _ => return Protection::Partly,
        };
        if *all.get_or_insert(this) != this {
            return Protection::Partly;
        }
    }
    all.unwrap_or(Protection::None)
}

/// The index by which the receiver of a way finds its state: it is another for each way of a lab.
fn index((from, to): Way) -> u32 {
    let ([_, _, _, from], [_, _, net, to]) = (from.octets(), to.octets());
    u32::from_be_bytes([1, net, from, to])
}

fn state(way: Way, cipher: Cipher, secret: &[u8; SECRET]) -> XfrmMessage {
    let spi = index(way);
    let mut alg_name = [0; 64];
    alg_name[..AES_GCM.len()].copy_from_slice(AES_GCM);
    // The salt of a way is another than that of any other, and so is each nonce of the key.
    let mut alg_key = secret[..cipher.key()].to_vec();
    alg_key.extend(spi.to_be_bytes());
    let alg_key_len = bits(&alg_key);
    let cipher = AlgAead { alg_name, alg_key_len, alg_icv_len: CHECK_BITS, alg_key };
    let user_sa_info = UserSaInfo {
        id: Id { daddr: Address::from_ipv4(&way.1), spi, proto: ESP },
        saddr: Address::from_ipv4(&way.0),
        family: AF_INET,
        mode: XFRM_MODE_TRANSPORT,
        ..UserSaInfo::default()
    };
    let nlas = vec![
        XfrmAttrs::EncryptionAlgAead(cipher),
        XfrmAttrs::ExtraFlags(XFRM_SA_XFLAG_OSEQ_MAY_WRAP),
    ];
    XfrmMessage::AddSa(StateMessage { user_sa_info, nlas })
}

fn bits(key: &[u8]) -> u32 {
    u32::try_from(8 * key.len()).unwrap_or(u32::MAX)
}

fn no_state(way: Way) -> XfrmMessage {
    let user_sa_id = UserSaId {
        daddr: Address::from_ipv4(&way.1),
        spi: index(way),
        family: AF_INET,
        proto: ESP,
    };
    let nlas = vec![XfrmAttrs::SrcAddr(Address::from_ipv4(&way.0))];
    XfrmMessage::DeleteSa(StateName { user_sa_id, nlas })
}

fn policy(way: Way, direction: u8) -> XfrmMessage {
    let template = UserTemplate {
        id: Id { daddr: Address::from_ipv4(&way.1), spi: 0, proto: ESP },
        family: AF_INET,
        saddr: Address::from_ipv4(&way.0),
        mode: XFRM_MODE_TRANSPORT,
        ..UserTemplate::default()
    };
    let user_policy_info =
        UserPolicyInfo { selector: selector(way), direction, ..UserPolicyInfo::default() };
    let nlas = vec![XfrmAttrs::Template(vec![template])];
    XfrmMessage::AddPolicy(PolicyMessage { user_policy_info, nlas })
}

fn no_policy(way: Way, direction: u8) -> XfrmMessage {
    let user_policy_id =
        UserPolicyId { selector: selector(way), direction, ..UserPolicyId::default() };
    XfrmMessage::DeletePolicy(PolicyName { user_policy_id, nlas: Vec::new() })
}

fn selector((from, to): Way) -> Selector {
    let mut selector = Selector::default();
    selector.source_prefix(&IpAddr::V4(from), 32);
    selector.destination_prefix(&IpAddr::V4(to), 32);
    selector
}

/// The way of an ESP state in the body of an `XFRM_MSG_NEWSA` message, and its cipher if it is one
/// of ours.
fn state_of(body: &[u8]) -> Result<Option<(Way, Option<Cipher>)>, DecodeError> {
    let info = UserSaInfo::parse(body)?;
    let mut cipher = None;
    for nla in NlasIterator::new(body.get(info.buffer_len()..).unwrap_or_default()) {
        let nla = nla?;
        if nla.kind() == XFRMA_ALG_AEAD {
            let found = AlgAead::parse(nla.value())?;
            let named = found.alg_name.starts_with(AES_GCM);
            // The salt is a part of the key: RFC 4106 section 8.1.
            let has = |one: &Cipher| 8 * (one.key() + 4) == found.alg_key_len as usize;
            cipher = Cipher::ALL.into_iter().find(has).filter(|_| named);
        }
    }
    let esp = info.id.proto == ESP && info.mode == XFRM_MODE_TRANSPORT && info.family == AF_INET;
    let way = (info.saddr.to_ipv4(), info.id.daddr.to_ipv4());
    Ok(esp.then_some((way, cipher)))
}

/// The way and the direction of the policy in the body of an `XFRM_MSG_NEWPOLICY` message.
fn policy_of(body: &[u8]) -> Result<(Way, u8), DecodeError> {
    let info = UserPolicyInfo::parse(body)?;
    let (from, to) = (info.selector.saddr.to_ipv4(), info.selector.daddr.to_ipv4());
    Ok(((from, to), info.direction))
}

#[cfg(test)]
mod tests {
    use super::super::socket::written;
    use super::super::tests::{bytes_of, in_own_namespace};
    use super::*;
    use netlink_packet_core::NLM_F_ACK;

    const WAY: Way = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 10));

    /// Counts up from 0, as the key in the file does.
    fn secret() -> [u8; SECRET] {
        std::array::from_fn(|at| u8::try_from(at).unwrap())
    }

    #[test]
    fn requests_are_those_of_ip_xfrm_byte_for_byte() {
        let ours = [
            (
                state(WAY, Cipher::AesGcm128, &secret()),
                include_str!("golden/ip-xfrm-state-add.hex"),
            ),
            (no_state(WAY), include_str!("golden/ip-xfrm-state-delete.hex")),
            (policy(WAY, XFRM_POLICY_OUT), include_str!("golden/ip-xfrm-policy-add-out.hex")),
            (policy(WAY, XFRM_POLICY_IN), include_str!("golden/ip-xfrm-policy-add-in.hex")),
            (no_policy(WAY, XFRM_POLICY_OUT), include_str!("golden/ip-xfrm-policy-delete.hex")),
        ];
        for (message, theirs) in ours {
            let theirs = bytes_of(theirs);
            let sequence = u32::from_ne_bytes(theirs[8..12].try_into().unwrap());
            assert_eq!(written(message.clone(), (NLM_F_ACK, sequence)), theirs, "{message:?}");
        }
    }

    #[test]
    fn policies_that_the_kernel_lists_are_read() {
        let all = bytes_of(include_str!("golden/kernel-xfrm-policies.hex"));
        let (one, other) = all.split_at(264);
        assert_eq!(policy_of(&one[16..]).unwrap(), (WAY, XFRM_POLICY_IN));
        assert_eq!(policy_of(&other[16..]).unwrap(), (WAY, XFRM_POLICY_OUT));
        for length in 0..160 {
            assert!(policy_of(&one[16..16 + length]).is_err(), "{length}");
            assert!(state_of(&one[16..16 + length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_state_is_read_as_a_kernel_lists_it_and_as_it_was_asked_for() {
        let listed = bytes_of(include_str!("golden/kernel-xfrm-states.hex"));
        assert_eq!(state_of(&listed[16..]).unwrap(), Some((WAY, Some(Cipher::AesGcm128))));
        for cipher in Cipher::ALL {
            let asked = written(state(WAY, cipher, &secret()), (0, 1));
            assert_eq!(state_of(&asked[16..]).unwrap(), Some((WAY, Some(cipher))));
        }
    }

    #[test]
    fn what_protects_only_one_way_or_unlike_ways_is_told_from_what_protects_all() {
        let (aes, other) = (Some(Some(Cipher::AesGcm128)), Some(Some(Cipher::AesGcm256)));
        let of = |ways: &[(Option<Option<Cipher>>, bool)]| summed(ways.iter().copied());
        assert_eq!(of(&[(None, false); 4]), Protection::None);
        assert_eq!(of(&[(aes, true); 4]), Protection::Esp(Cipher::AesGcm128));
        for ways in [
            [(aes, true), (None, false)],
            [(aes, true), (other, true)],
            [(aes, true), (aes, false)],
            [(None, true), (None, true)],
            [(Some(None), true), (Some(None), true)],
        ] {
            assert_eq!(of(&ways), Protection::Partly, "{ways:?}");
        }
    }

    #[test]
    fn no_two_ways_of_a_lab_have_one_index() {
        let hosts = (0..4).flat_map(|net| (1..=73).map(move |at| Ipv4Addr::new(198, 18, net, at)));
        let hosts: Vec<Ipv4Addr> = hosts.collect();
        for to in &hosts {
            let mut found: Vec<u32> = hosts
                .iter()
                .filter(|f| f.octets()[2] == to.octets()[2])
                .map(|f| index((*f, *to)))
                .collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), 73);
        }
    }

    #[test]
    fn a_kernel_takes_it_and_gives_it_back_or_says_what_it_lacks_and_keeps_nothing() {
        in_own_namespace(|_| {
            let mut ipsec = Ipsec::open().unwrap();
            let (own, others) = (WAY.0, [WAY.1, Ipv4Addr::new(198, 18, 0, 11)]);
            let ends = (own, &others[..]);
            assert_eq!(ipsec.protection(ends), Ok(Protection::None));
            for cipher in Cipher::ALL {
                match ipsec.protect(ends, Some((cipher, &secret()))) {
                    Ok(()) => {
                        assert_eq!(ipsec.protection(ends), Ok(Protection::Esp(cipher)));
                    }
                    Err(e) => {
                        assert!(matches!(e, LinkError::NotSupported { .. }), "{e}");
                        assert!(e.to_string().contains("esp4"), "{e}");
                        println!("skipped: {e}");
                    }
                }
            }
            ipsec.protect(ends, None).unwrap();
            assert_eq!(ipsec.protection(ends), Ok(Protection::None));
            // Policies need no ESP; one alone is no protection.
            let task = Task { op: "try", name: "a policy" };
            ipsec.ask(task, policy(WAY, XFRM_POLICY_OUT)).unwrap();
            assert_eq!(ipsec.protection(ends), Ok(Protection::Partly));
            ipsec.protect(ends, None).unwrap();
            assert_eq!(ipsec.protection(ends), Ok(Protection::None));
        });
    }
}
