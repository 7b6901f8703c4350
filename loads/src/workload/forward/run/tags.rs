//! Knows how the kernel is kept from taking the tag of a VLAN out of the bytes of a frame.
//!
//! A bridge of the kernel carries the tag beside the frame, and a virtual adapter that may insert
//! it hands both on so: a program of XDP at the other end then sees a frame without a tag. Must not
//! know what is sent.

use rig::lab::ethtool::{Ethtool, EthtoolError};
use rig::lab::link::LinkInfo;

/// The kernel's name of what adapters do: they insert the tag that comes beside a frame.
const INSERTS: &str = "tx-vlan-hw-insert";

/// Adapters that get tags within frames until this is dropped or their host ends.
#[derive(Debug, Default)]
pub struct Inside(Vec<String>);

impl Inside {
    /// Has the kernel write the tags into the frames that these adapters send.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn keep<'l>(links: impl Iterator<Item = &'l LinkInfo>) -> Result<Self, EthtoolError> {
        let (mut ethtool, mut inside) = (Ethtool::open()?, Self::default());
        for link in links {
            let features = ethtool.features(&link.name)?;
            let inserts = |feature: &&rig::lab::ethtool::Feature| feature.name == INSERTS;
            if features.iter().find(inserts).is_some_and(|f| f.active && f.changeable) {
                inside.0.push(link.name.clone());
                ethtool.set_features(&link.name, &[(INSERTS.into(), false)])?;
            }
        }
        Ok(inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let Ok(mut ethtool) = Ethtool::open() else { return };
        for name in &self.0 {
            let _ = ethtool.set_features(name, &[(INSERTS.into(), true)]);
        }
    }
}
