//! Knows the words that `openssl speed` is asked with, and the lines of `-mr` that answer them.
//!
//! Source: `apps/speed.c` of OpenSSL 3. `+H:bytes` and `+F:index:name:bytes/s` for digests and
//! ciphers; `+F2` RSA, `+F4` ECDSA: index, bits, signatures/s, verifications/s; `+F6` EdDSA: so
//! too, with a name before them; `+F5` ECDH: index, bits, agreements/s, seconds. With `-multi` each
//! lines come first behind `Got: `, and the sums stand alone. Must not know how programs are run.

use crate::workload::cipher::task::{Algorithm, Operation, Task};

/// How the task is named on the command line. `-aead` makes whole messages of those with a tag.
#[must_use]
pub fn named(task: Task) -> Vec<&'static str> {
    match task.algorithm {
        Algorithm::Md5 => vec!["-evp", "md5"],
        Algorithm::Sha256 => vec!["-evp", "sha256"],
        Algorithm::Sha512 => vec!["-evp", "sha512"],
        Algorithm::Aes256Cbc => vec!["-evp", "aes-256-cbc"],
        Algorithm::Aes256Gcm => vec!["-aead", "-evp", "aes-256-gcm"],
        Algorithm::ChaCha20Poly1305 => vec!["-aead", "-evp", "chacha20-poly1305"],
        Algorithm::Rsa2048 => vec!["rsa2048"],
        Algorithm::EcdsaP256 => vec!["ecdsap256"],
        Algorithm::Ed25519 => vec!["ed25519"],
        Algorithm::X25519 => vec!["ecdhx25519"],
    }
}

/// Bytes or operations a second of all copies together.
///
/// # Errors
/// No figure of what was asked, or one of another size.
pub fn read(told: &str, task: Task) -> Result<f64, String> {
    let mut figure = None;
    for line in told.lines() {
        let mut fields = line.trim().split(':');
        let kind = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        if kind == "+H" && task.operation.in_bytes() {
            let asked = task.block_bytes.to_string();
            if fields != [asked.as_str()] {
                return Err(format!("openssl speed took {} B, not {asked} B", fields.join(":")));
            }
        } else if kind == format!("+F{}", family(task.algorithm)) {
            figure = place(task, &fields).and_then(|text| text.parse::<f64>().ok());
        }
    }
    let found = figure.filter(|rate| rate.is_finite() && *rate > 0.0);
    found.ok_or_else(|| format!("openssl speed gave no figure of {}", task.algorithm.name()))
}

fn family(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Rsa2048 => "2",
        Algorithm::EcdsaP256 => "4",
        Algorithm::X25519 => "5",
        Algorithm::Ed25519 => "6",
        _ => "",
    }
}

/// The field of a figure. Names may hold no colon, so places are counted from either end; of RSA
/// from the front, for newer releases tell of encryption and decryption behind.
fn place<'a>(task: Task, fields: &[&'a str]) -> Option<&'a str> {
    if task.algorithm == Algorithm::Rsa2048 {
        let at = if task.operation == Operation::Sign { 2 } else { 3 };
        return fields.get(at).copied();
    }
    let from_end = match (task.algorithm, task.operation) {
        (Algorithm::X25519, _) | (_, Operation::Sign) => 1,
        _ => 0,
    };
    fields.iter().rev().nth(from_end).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(algorithm: Algorithm, operation: Operation) -> Task {
        Task { algorithm, operation, block_bytes: 1024 }
    }

    #[test]
    fn figures_are_found_in_any_order_and_by_their_kind() {
        let sha = task(Algorithm::Sha256, Operation::Digest);
        let both = ["+H:1024", "+F:25:sha256:1055045632.00"];
        assert_eq!(read(&both.join("\n"), sha), Ok(1_055_045_632.0));
        assert_eq!(read(&[both[1], both[0]].join("\n"), sha), Ok(1_055_045_632.0));
        let rsa = "+F2:2:2048:2347.000000:44844.000000\n";
        assert_eq!(read(rsa, task(Algorithm::Rsa2048, Operation::Sign)), Ok(2347.0));
        assert_eq!(read(rsa, task(Algorithm::Rsa2048, Operation::Verify)), Ok(44_844.0));
        let longer = "+F2:2:2048:2347.000000:44844.000000:43000.000000:2300.000000\n";
        assert_eq!(read(longer, task(Algorithm::Rsa2048, Operation::Sign)), Ok(2347.0));
        assert_eq!(read(longer, task(Algorithm::Rsa2048, Operation::Verify)), Ok(44_844.0));
        let eddsa = "+F6:0:253:Ed25519:29058.000000:10907.000000\n";
        assert_eq!(read(eddsa, task(Algorithm::Ed25519, Operation::Verify)), Ok(10_907.0));
        let ecdh = "+F5:22:253:33333.000000:0.000030\n";
        assert_eq!(read(ecdh, task(Algorithm::X25519, Operation::Agree)), Ok(33_333.0));
    }

    #[test]
    fn of_several_copies_the_sum_is_taken() {
        let told = "Forked child 0\nGot: +H:1024 from 0\nGot: +F:25:md5:100430144.00 from 0\n\
                    Got: +F:25:md5:95137248.00 from 1\n+F:25:md5:195567392.00\n";
        assert_eq!(read(told, task(Algorithm::Md5, Operation::Digest)), Ok(195_567_392.0));
    }

    #[test]
    fn no_figure_and_another_size_are_refused() {
        let sha = task(Algorithm::Sha256, Operation::Digest);
        assert!(read("+H:16\n+F:25:sha256:1.00\n", sha).unwrap_err().contains("16 B, not 1024"));
        assert!(read("+H:1024\n", sha).unwrap_err().contains("no figure of sha256"));
        assert!(read("+F2:2:2048:1.0:2.0\n", sha).is_err());
        assert!(read("+H:1024\n+F:25:sha256:0.00\n", sha).is_err());
    }
}
