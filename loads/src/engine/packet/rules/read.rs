//! Knows the text of rules as ClassBench writes it, one a line:
//! `@src/len dst/len low : high low : high protocol/mask`.
//!
//! Source: D. E. Taylor, J. S. Turner, "ClassBench: A Packet Classification Benchmark", IEEE/ACM
//! ToN 15(3), 2007. Must not know where the text came from.

use super::{Prefix, Rule};
use std::net::Ipv4Addr;
use std::num::ParseIntError;

/// Most rules of a text.
pub const RULES_MAX: usize = 1 << 20;

/// Why a text is no list of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// One line is refused.
    #[error("line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The value and the remedy.
        why: String,
    },
    /// There is no rule in it.
    #[error("no rule in it; write one a line: @10.0.0.0/8 0.0.0.0/0 0 : 65535 80 : 80 0x06/0xff")]
    Empty,
    /// There are too many.
    #[error("more than {RULES_MAX} rules; take a shorter list")]
    TooMany,
}

/// The rules of a text, in its order. Empty lines and those that begin with `#` are left out.
///
/// # Errors
/// When a line is no rule, or there is none, or there are more than [`RULES_MAX`].
pub fn read(text: &str) -> Result<Vec<Rule>, RulesError> {
    let mut rules = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if rules.len() == RULES_MAX {
            return Err(RulesError::TooMany);
        }
        rules.push(rule(line).map_err(|why| RulesError::Line { line: number, why })?);
    }
    if rules.is_empty() { Err(RulesError::Empty) } else { Ok(rules) }
}

const FORM: &str = "@src/len dst/len low : high low : high protocol/mask";

fn rule(line: &str) -> Result<Rule, String> {
    let fields = line
        .strip_prefix('@')
        .ok_or_else(|| format!("'{}' does not begin with @; write {FORM}", shown(line)))?;
    let words: Vec<&str> = fields.split_whitespace().collect();
    let (fields, flags) = match words.as_slice() {
        [fields @ .., flags] if fields.len() == 9 => (fields, Some(*flags)),
        fields => (fields, None),
    };
    let [src, dst, src_low, ":", src_high, dst_low, ":", dst_high, protocol] = fields else {
        let count = words.len();
        return Err(format!("'{}' has {count} words, not 9; write {FORM}", shown(line)));
    };
    // Flags of TCP, which only some lists have.
    if flags.is_some_and(|flags| !flags.ends_with("/0x0000")) {
        let flags = shown(flags.unwrap_or_default());
        return Err(format!("flags '{flags}' are not looked at; write 0x0000/0x0000 or nothing"));
    }
    Ok(Rule {
        src: prefix(src)?,
        dst: prefix(dst)?,
        src_ports: ports(src_low, src_high)?,
        dst_ports: ports(dst_low, dst_high)?,
        protocol: self::protocol(protocol)?,
    })
}

fn prefix(word: &str) -> Result<Prefix, String> {
    let wrong = || format!("'{}' is no prefix; write 10.1.0.0/16", shown(word));
    let (address, len) = word.split_once('/').ok_or_else(wrong)?;
    let address = u32::from(address.parse::<Ipv4Addr>().map_err(|_| wrong())?);
    let len: u8 = len.parse().map_err(|_| wrong())?;
    if len > 32 {
        return Err(format!(
            "'{}' has more than 32 bits; write a length from 0 to 32",
            shown(word)
        ));
    }
    let prefix = Prefix::around(address, len);
    if prefix.address != address {
        return Err(format!("'{}' has bits behind its length; write {prefix}", shown(word)));
    }
    Ok(prefix)
}

fn ports(low: &str, high: &str) -> Result<(u16, u16), String> {
    let port = |word: &str| {
        let wrong = |_| format!("'{}' is no port; write a number from 0 to 65535", shown(word));
        word.parse::<u16>().map_err(wrong)
    };
    let (from, to) = (port(low)?, port(high)?);
    if from > to {
        return Err(format!("ports '{from} : {to}' end before they begin; write {to} : {from}"));
    }
    Ok((from, to))
}

fn protocol(word: &str) -> Result<Option<u8>, String> {
    let wrong = || format!("'{}' is no protocol; write 0x06/0xff, or 0x00/0x00", shown(word));
    let (value, mask) = word.split_once('/').ok_or_else(wrong)?;
    let value = byte(value).map_err(|_| wrong())?;
    match byte(mask).map_err(|_| wrong())? {
        0 => Ok(None),
        0xFF => Ok(Some(value)),
        mask => Err(format!("mask 0x{mask:02x} of a protocol is neither 0x00 nor 0xff; write one")),
    }
}

fn byte(word: &str) -> Result<u8, ParseIntError> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => word.parse(),
    }
}

/// As much of a text as a message has room for.
fn shown(text: &str) -> String {
    const ROOM: usize = 60;
    match text.char_indices().nth(ROOM) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
