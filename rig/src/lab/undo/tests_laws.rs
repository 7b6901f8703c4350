//! What holds of every journal: cut at any byte its whole lines are read, and no byte is a panic.

use super::owner::Owner;
use super::story::{Entry, Kind, Line, Story};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::PathBuf;

/// A file with the name of a journal, removed in the end.
struct Paper(PathBuf);

impl Paper {
    fn new(test: &str, bytes: &[u8]) -> Self {
        let owner = Owner { pid: 7, start_ticks: 70, boot: "1-2".into() };
        let folder = std::env::temp_dir().join(format!("stend-law-{}-{test}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(owner.file_name());
        fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Paper {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn line() -> impl Strategy<Value = Line> {
    let change = (1..9_u64, any::<String>(), "[a-z_]{1,12}").prop_map(|(seq, old, key)| {
        Line::Change(Entry {
            seq,
            host: "machine".into(),
            kind: Kind::File,
            path: PathBuf::from(format!("/proc/sys/{key}")),
            new: format!("not {old}"),
            boot: "1-2".into(),
            time_s: 5,
            key,
            old,
        })
    });
    prop_oneof![
        change,
        (1..9_u64, any::<String>()).prop_map(|(seq, value)| Line::Took { seq, value }),
        (1..9_u64).prop_map(|seq| Line::Restored { seq }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    #[test]
    fn a_journal_cut_at_any_byte_tells_its_whole_lines(
        lines in proptest::collection::vec(line(), 0..8),
        cut in any::<Index>(),
    ) {
        let texts: Vec<String> =
            lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        let all = texts.concat();
        let cut = cut.index(all.len() + 1);
        let paper = Paper::new("cut", &all.as_bytes()[..cut]);
        let story = Story::read(&paper.0).unwrap();
        let mut end = 0;
        let whole = texts.iter().take_while(|text| {
            end += text.len();
            end <= cut
        });
        let whole = whole.count();
        let bytes: usize = texts[..whole].iter().map(String::len).sum();
        prop_assert_eq!(story.whole_bytes, bytes as u64);
        // By the plain rule: what was changed and not restored, last first.
        let restored = |seq: u64| {
            lines[..whole].iter().any(|l| matches!(l, Line::Restored { seq: r } if *r == seq))
        };
        let open = lines[..whole].iter().rev().filter_map(|line| match line {
            Line::Change(entry) if !restored(entry.seq) => Some(entry.clone()),
            _ => None,
        });
        let found: Vec<Entry> = story.open().into_iter().map(|(entry, _)| entry.clone()).collect();
        prop_assert_eq!(found, open.collect::<Vec<_>>());
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let paper = Paper::new("bytes", &bytes);
        match Story::read(&paper.0) {
            Ok(story) => prop_assert!(story.whole_bytes <= bytes.len() as u64),
            Err(why) => prop_assert!(why.to_string().contains("line"), "{why}"),
        }
    }
}
