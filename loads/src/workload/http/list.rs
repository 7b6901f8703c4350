//! Knows lists of paths to ask for: a path a line, or the log of a server, of which it takes GETs
//! that were answered.
//!
//! Must not know who asks for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

/// Largest file, bytes, and most paths that differ.
const FILE_MAX: u64 = 32 << 20;
const PATHS_MAX: usize = 100_000;
/// Longest path, as servers take them.
const PATH_MAX: usize = 4000;

/// Paths, and the order in which they are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Each path once.
    pub paths: Vec<String>,
    /// Places of `paths`, a request each.
    pub order: Vec<u32>,
}

impl List {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or has no path, with the remedy.
    pub fn read(file: &str) -> Result<Self, String> {
        let fail = |e: std::io::Error| format!("{file}: {e}");
        let mut bytes = Vec::new();
        File::open(file).map_err(fail)?.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 > FILE_MAX {
            let most = FILE_MAX >> 20;
            return Err(format!("{file} is longer than {most} MiB; take a part of it"));
        }
        Self::of(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("{file}: {why}"))
    }

    /// Takes a text apart.
    fn of(text: &str) -> Result<Self, String> {
        let (mut list, mut known) = (Self::default(), BTreeMap::new());
        for path in text.lines().filter_map(path) {
            let place = *known.entry(path).or_insert_with(|| {
                list.paths.push(path.to_owned());
                u32::try_from(list.paths.len() - 1).unwrap_or(u32::MAX)
            });
            list.order.push(place);
        }
        match list.paths.len() {
            0 => {
                Err("no path in it; write one a line, from its / on, or give the log of a server \
                      in the common log format"
                    .into())
            }
            n if n > PATHS_MAX => {
                Err(format!("{n} different paths; take a part of at most {PATHS_MAX}"))
            }
            _ => Ok(list),
        }
    }
}

/// The path of a line: one that begins with it, or one of a log, as
/// `192.0.2.7 - - [26/Nov/2026:10:00:00 +0000] "GET /page HTTP/1.1" 200 1234`. None where it is of
/// another method, or was answered otherwise than with 2xx.
fn path(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let path = match line.split_once("\"GET ") {
        _ if line.starts_with('/') => line.split_ascii_whitespace().next()?,
        Some((_, asked)) => {
            let (request, told) = asked.split_once('"')?;
            let is_answered = told.split_ascii_whitespace().next()?.starts_with('2');
            request.split_ascii_whitespace().next().filter(|_| is_answered)?
        }
        None => return None,
    };
    let fits = path.starts_with('/') && path.len() <= PATH_MAX;
    (fits && path.chars().all(|c| c.is_ascii_graphic())).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order_and_has_each_path_once() {
        let list = List::of("# front page first\n/\n/a?b=c rest\n\n/\n  /d\nno path\n").unwrap();
        assert_eq!(list.paths, ["/", "/a?b=c", "/d"]);
        assert_eq!(list.order, [0, 1, 0, 2]);
    }

    #[test]
    fn of_a_log_gets_that_were_answered_are_taken() {
        let line = |request: &str, status: u16| {
            format!(
                "192.0.2.7 - u [26/Nov/2026:10:00:00 +0000] \"{request}\" {status} 12 \"-\" \"x\"\n"
            )
        };
        let log = [
            line("GET /a HTTP/1.1", 200),
            line("POST /b HTTP/1.1", 200),
            line("GET /c HTTP/1.1", 404),
            line("GET /d\u{e4} HTTP/1.1", 200),
            line("GET http://x/ HTTP/1.1", 200),
            line("GET /e HTTP/2.0", 206),
            "\"GET /f".to_owned(),
        ];
        let list = List::of(&log.concat()).unwrap();
        assert_eq!(list.paths, ["/a", "/e"]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_remedy() {
        assert!(List::of("hello\n").unwrap_err().contains("common log format"));
        assert!(List::read("/nowhere/list").unwrap_err().starts_with("/nowhere/list: "));
        let many: String = (0..=PATHS_MAX).map(|n| format!("/{n}\n")).collect();
        assert!(List::of(&many).unwrap_err().contains("100001 different paths"));
    }
}
