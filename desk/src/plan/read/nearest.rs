//! Knows which known name a mistyped one was probably meant to be.

/// The remedy for a name that is not among `known`: the nearest, if it is near, or all of them.
#[must_use]
pub fn remedy(name: &str, known: &[&str]) -> String {
    // A third of the letters wrong is still a slip; beyond that it is another word.
    let slip = (name.chars().count() / 3).max(1);
    // So is a unit behind a name: `settle_ms`.
    let apart = |known: &str| match name.strip_prefix(known) {
        Some(rest) if rest.starts_with('_') => 1,
        _ => distance(name, known),
    };
    let nearest = known.iter().map(|k| (apart(k), k)).min();
    match nearest {
        Some((apart, meant)) if apart <= slip => format!("did you mean '{meant}'?"),
        Some(_) => format!("known here: {}", known.join(", ")),
        None => "none is known here".into(),
    }
}

/// Levenshtein's distance: inserted, left out and changed letters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_letters() {
        for (a, b, apart) in [("", "abc", 3), ("mtu", "mtu", 0), ("requst", "request", 1)] {
            assert_eq!(distance(a, b), apart);
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_far_name_is_answered_with_the_list() {
        assert_eq!(
            remedy("requst_size", &["direction", "request_size"]),
            "did you mean 'request_size'?"
        );
        assert_eq!(remedy("settle_seconds", &["settle", "seed"]), "did you mean 'settle'?");
        assert_eq!(remedy("colour", &["mtu", "tso"]), "known here: mtu, tso");
    }
}
