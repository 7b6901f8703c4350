//! Knows the table by which an adapter spreads what it receives over its queues (RSS).
//!
//! Must not know over how many queues it should.

use super::attribute::{find, put};
use super::number::Asks;
use super::{Ethtool, EthtoolError, header, optional, plausible};
use std::collections::BTreeMap;

/// `ETHTOOL_MSG_RSS_*` and `ETHTOOL_A_RSS_INDIR`; the kernel sets the table since Linux 6.17.
const RSS_GET: u8 = 38;
const RSS_SET: u8 = 48;
const INDIR: u16 = 4;

impl Ethtool {
    /// The queue of every entry of the table; `None` where the driver has none.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn rss_table(&mut self, name: &str) -> Result<Option<Vec<u32>>, EthtoolError> {
        read(&mut self.connection, name)
    }

    /// Sets the queue of every entry.
    ///
    /// # Errors
    /// What the driver refuses, in its words; a kernel before 6.17; an unknown link.
    pub fn set_rss_table(&mut self, name: &str, table: &[u32]) -> Result<(), EthtoolError> {
        write(&mut self.connection, name, table)
    }
}

/// A table of so many entries that spreads evenly over the first so many queues.
#[must_use]
pub fn spread(entries: usize, queues: u32) -> Vec<u32> {
    (0..queues).cycle().take(entries).collect()
}

/// Over how many queues, from the first on, a table spreads evenly; none where it does not.
#[must_use]
pub fn spread_over(table: &[u32]) -> Option<u32> {
    let mut times: BTreeMap<u32, usize> = BTreeMap::new();
    table.iter().for_each(|queue| *times.entry(*queue).or_default() += 1);
    let (least, most) = (times.values().min()?, times.values().max()?);
    let last = *times.keys().last()?;
    (times.len() == last as usize + 1 && most - least <= 1).then_some(last + 1)
}

fn read(from: &mut impl Asks, name: &str) -> Result<Option<Vec<u32>>, EthtoolError> {
    plausible(name)?;
    let reply = from.request(RSS_GET, &header(name));
    let reply = reply.map_err(|r| EthtoolError::of(r, "read the RSS table", name));
    let Some(reply) = optional(reply)? else { return Ok(None) };
    let entries = find(&reply, INDIR).unwrap_or_default().chunks_exact(4);
    let numbers = entries.filter_map(|four| Some(u32::from_ne_bytes(four.try_into().ok()?)));
    Ok(Some(numbers.collect()).filter(|table: &Vec<u32>| !table.is_empty()))
}

fn write(to: &mut impl Asks, name: &str, table: &[u32]) -> Result<(), EthtoolError> {
    plausible(name)?;
    let mut body = header(name);
    let bytes: Vec<u8> = table.iter().flat_map(|queue| queue.to_ne_bytes()).collect();
    put(&mut body, INDIR, &bytes);
    let op = "set the RSS table by netlink, which needs Linux 6.17 and a driver that takes one";
    to.request(RSS_SET, &body).map(|_| ()).map_err(|r| EthtoolError::of(r, op, name))
}

#[cfg(test)]
mod tests {
    use super::super::attribute::put_nested;
    use super::super::netlink::Refusal;
    use super::*;

    /// An adapter of four receive queues; before Linux 6.17 its table is only read.
    struct Simulated {
        table: Option<Vec<u32>>,
        sets: bool,
    }

    impl Asks for Simulated {
        fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
            let kernel = |errno, words: &str| Refusal::Kernel { errno, words: words.into() };
            match (command, &mut self.table) {
                (38, Some(table)) => {
                    let mut reply = Vec::new();
                    put_nested(&mut reply, 1, &[]);
                    let bytes: Vec<u8> = table.iter().flat_map(|q| q.to_ne_bytes()).collect();
                    put(&mut reply, 4, &bytes);
                    Ok(reply)
                }
                (48, Some(table)) if self.sets => {
                    let bytes = find(body, 4).unwrap();
                    let four = bytes.chunks_exact(4).map(|b| b.try_into().unwrap());
                    let new: Vec<u32> = four.map(u32::from_ne_bytes).collect();
                    assert_eq!(new.len(), table.len(), "as many entries as the adapter has");
                    if new.iter().any(|queue| *queue > 3) {
                        return Err(kernel(libc::EINVAL, "invalid queue in the table"));
                    }
                    *table = new;
                    Ok(Vec::new())
                }
                _ => Err(kernel(libc::EOPNOTSUPP, "")),
            }
        }
    }

    #[test]
    fn a_table_is_read_spread_anew_and_put_back_entry_by_entry() {
        let own = vec![0, 0, 0, 1, 2, 3, 3, 3];
        let mut adapter = Simulated { table: Some(own.clone()), sets: true };
        let before = read(&mut adapter, "eth7").unwrap().unwrap();
        assert_eq!((before.clone(), spread_over(&before)), (own, None), "uneven");
        write(&mut adapter, "eth7", &spread(before.len(), 3)).unwrap();
        let now = read(&mut adapter, "eth7").unwrap().unwrap();
        assert_eq!((now.as_slice(), spread_over(&now)), (&[0, 1, 2, 0, 1, 2, 0, 1][..], Some(3)));
        write(&mut adapter, "eth7", &before).unwrap();
        assert_eq!(read(&mut adapter, "eth7").unwrap(), Some(before));
    }

    #[test]
    fn what_is_refused_is_in_the_words_of_driver_or_kernel() {
        let mut adapter = Simulated { table: Some(spread(8, 4)), sets: true };
        let words = write(&mut adapter, "eth7", &spread(8, 5)).unwrap_err().to_string();
        assert!(words.contains("invalid queue in the table"), "{words}");
        adapter.sets = false;
        let words = write(&mut adapter, "eth7", &spread(8, 2)).unwrap_err().to_string();
        assert!(words.contains("eth7 does not support this"), "{words}");
        assert!(words.contains("needs Linux 6.17"), "{words}");
        assert_eq!(read(&mut adapter, "eth7").unwrap(), Some(spread(8, 4)));
        assert_eq!(read(&mut Simulated { table: None, sets: true }, "eth7").unwrap(), None);
    }

    #[test]
    fn only_a_table_that_uses_the_first_queues_alike_is_even() {
        assert_eq!(spread_over(&[0, 0, 0, 0]), Some(1));
        assert_eq!(spread_over(&[1, 0, 0, 1, 0]), Some(2), "in any order");
        for uneven in [&[0, 0, 0, 1][..], &[1, 1], &[0, 2], &[]] {
            assert_eq!(spread_over(uneven), None, "{uneven:?}");
        }
    }
}
