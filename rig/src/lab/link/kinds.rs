//! Knows which kinds of link this kernel can make, without making one.
//!
//! A kernel loads the module of a kind before it looks at the attributes, and refuses an address
//! of zeros before it makes anything (`rtnl_newlink`, `validate` of each kind).

use super::error::{LinkError, Task};
use super::routes::{Routes, link_message};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo as InfoPart};

/// No link can have it.
const NO_ADDRESS: [u8; 6] = [0; 6];

/// Those of `kinds` that the kernel lacks, in their order.
///
/// # Errors
/// [`LinkError::PermissionDenied`] without `CAP_NET_ADMIN`; what else the kernel says.
pub fn lacking<'k>(kinds: &[&'k str]) -> Result<Vec<&'k str>, LinkError> {
    let mut routes = Routes::open()?;
    let mut absent = Vec::new();
    for kind in kinds {
        match routes.refuse(kind) {
            LinkError::NotSupported { .. } => absent.push(*kind),
            LinkError::Kernel { errno: libc::EADDRNOTAVAIL, .. } => {}
            other => return Err(other),
        }
    }
    Ok(absent)
}

impl Routes {
    /// What the kernel says of a link of this kind with an address that none can have.
    fn refuse(&mut self, kind: &str) -> LinkError {
        let task = Task { op: "try the kind of link", name: kind };
        let parts = vec![InfoPart::Kind(InfoKind::Other(kind.to_owned()))];
        let attributes =
            vec![LinkAttribute::Address(NO_ADDRESS.to_vec()), LinkAttribute::LinkInfo(parts)];
        let message = RouteNetlinkMessage::NewLink(link_message(0, attributes));
        match self.socket.request(task, message, NLM_F_CREATE | NLM_F_EXCL) {
            Err(refused) => refused,
            Ok(_) => task.garbled(&"a link with an address of zeros was made".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_no_kernel_has_is_lacking_and_nothing_is_made() {
        let count = || Routes::open().unwrap().links().unwrap().len();
        let before = count();
        match lacking(&["veth", "stend-none", "bridge"]) {
            Ok(absent) => assert_eq!(absent, ["stend-none"]),
            Err(LinkError::PermissionDenied { .. }) => println!("skipped: needs root"),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(count(), before);
    }
}
