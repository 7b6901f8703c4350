//! Knows what a line of the table of mounts says (`/proc/PID/mountinfo`, man 5 proc).
//!
//! Must not know why it is asked.

/// A mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount<'t> {
    /// `major:minor` of its file system; of one of several devices the number of none of them.
    pub number: &'t str,
    /// Where it is.
    pub place: &'t str,
    /// Its options.
    pub options: &'t str,
    /// The device, or another word.
    pub source: &'t str,
    /// Options of the file system.
    pub of_system: &'t str,
}

impl<'t> Mount<'t> {
    /// Of a line; none where it is too short.
    pub fn read(line: &'t str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let number = mount.next()?;
        let (place, options) = (mount.nth(1)?, mount.next()?);
        let mut system = system.split(' ').skip(1);
        Some(Self { number, place, options, source: system.next()?, of_system: system.next()? })
    }
}
