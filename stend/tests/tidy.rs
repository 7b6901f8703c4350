//! The rules of the house as tests: each failure is a sentence that says what to do.
//!
//! Start reading at `tidy/edges.rs`: the order of the rooms.

#[path = "tidy/edges.rs"]
mod edges;
#[path = "tidy/folders.rs"]
mod folders;
#[path = "tidy/shape.rs"]
mod shape;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use source::Source;

/// Runs a check over every Rust file of the workspace.
fn over_all(check: fn(&Source) -> Vec<String>) {
    let sources = source::workspace().unwrap_or_else(|fault| panic!("{fault}"));
    assert!(sources.iter().any(|s| s.path == "desk/src/lib.rs"), "no sources were found");
    let faults: Vec<String> = sources.iter().flat_map(check).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn files_have_the_shape_of_the_house() {
    over_all(shape::check);
}

#[test]
fn no_word_stands_where_it_must_not() {
    over_all(words::check);
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    over_all(edges::check);
}

#[test]
fn folders_and_documents_are_complete() {
    let faults = folders::check(&source::root()).unwrap();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
