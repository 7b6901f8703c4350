//! Knows the six words by which a person sees that two machines speak of one key.
//!
//! 48 bits: whoever has the code cannot search for a key with the same words, since the key of the
//! machine that is invited is hidden from him by TLS. Must not know who shows them.

use super::digest;

/// 256 short words, one a line, sorted.
const LIST: &str = include_str!("words.txt");
const WORDS: usize = 6;

/// The words for the authority of a lab, the key of an agent and the secret of its invitation.
pub(super) fn words(root: &[u8], key: &[u8], secret: &[u8]) -> String {
    let hash = digest(&[b"stend join 1", root, key, secret]);
    let word = |byte: &u8| LIST.lines().nth(usize::from(*byte)).unwrap_or_default();
    hash.iter().take(WORDS).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_256_words_that_cannot_be_taken_for_one_another() {
        let all: Vec<&str> = LIST.lines().collect();
        assert_eq!(all.len(), 256);
        assert!(all.is_sorted_by(|a, b| a < b), "sorted, each once");
        let short = |word: &&&str| {
            (3..=6).contains(&word.len()) && word.chars().all(|c| c.is_ascii_lowercase())
        };
        assert_eq!(all.iter().filter(short).count(), 256);
    }

    #[test]
    fn six_words_follow_from_each_part() {
        let all = [
            words(b"root", b"key", b"secret"),
            words(b"rootk", b"ey", b"secret"),
            words(b"root", b"key", b"other"),
        ];
        assert!(all.iter().all(|words| words.split(' ').count() == WORDS), "{all:?}");
        assert!(all[0] != all[1] && all[0] != all[2], "{all:?}");
    }
}
