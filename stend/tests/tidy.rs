//! The rules of the house as tests: each failure is a sentence that says what to do.
//!
//! Start reading at `tidy/edges.rs`: the order of the rooms.

#[path = "tidy/edges.rs"]
mod edges;
#[path = "tidy/folders.rs"]
mod folders;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/shape.rs"]
mod shape;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use source::Source;

/// What a check finds in every Rust file of the workspace.
fn over_all(check: impl Fn(&Source) -> Vec<String>) -> Result<(), String> {
    let sources = source::workspace()?;
    if !sources.iter().any(|source| source.path == "desk/src/lib.rs") {
        return Err("no sources were found".into());
    }
    verdict(&sources.iter().flat_map(check).collect::<Vec<_>>())
}

fn verdict(faults: &[String]) -> Result<(), String> {
    if faults.is_empty() { Ok(()) } else { Err(format!("\n{}\n", faults.join("\n"))) }
}

#[test]
fn files_have_the_shape_of_the_house() {
    over_all(shape::check).unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn no_word_stands_where_it_must_not() {
    over_all(words::check).unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    let workloads = folders::workload_names(&source::root()).unwrap();
    over_all(|source| edges::check(source, &workloads)).unwrap_or_else(|faults| panic!("{faults}"));
    let idle = edges::unused(&source::workspace().unwrap());
    verdict(&idle).unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn only_loads_name_workloads_parameters_and_metrics() {
    let workloads = folders::workload_names(&source::root()).unwrap();
    let sources = source::workspace().unwrap();
    let names = names::names(&sources, &workloads);
    assert!(names.contains("tcp_stream") && names.contains("mean_segment"), "{names:?}");
    let read = |path: String| {
        let text = std::fs::read_to_string(source::root().join(&path)).unwrap();
        (path, text)
    };
    let words = source::files(&source::root().join("press"), ".ftl").unwrap();
    let words: Vec<_> = words.into_iter().map(|path| read(format!("press/{path}"))).collect();
    assert!(!words.is_empty());
    let mut faults = names::check(&sources, &names);
    faults.extend(names::in_messages(&words, &names));
    verdict(&faults).unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn folders_and_documents_are_complete() {
    let faults = folders::check(&source::root()).unwrap();
    verdict(&faults).unwrap_or_else(|faults| panic!("{faults}"));
}
