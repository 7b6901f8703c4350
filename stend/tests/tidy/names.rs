//! Knows that only `loads/` names workloads, their parameters and their metrics: desk, press and
//! rig take roles and what a spec asks for from the record.

use crate::source::Source;
use std::collections::BTreeSet;

/// Where the names may not stand.
const NAMELESS: [&str; 3] = ["desk/src/", "press/src/", "rig/src/"];

/// A folder of records for tests.
const FIXTURE: &str = "/fixture/";

/// Files of `loads/` that make the names.
const SPECS: [&str; 2] = ["/spec.rs", "/params.rs"];

/// Calls of press whose first argument is the name of a variable in a message.
const ARGUMENTS: [&str; 9] =
    ["changed", "count", "ends", "estimate", "name", "number", "prose", "quantity", "range"];

/// Names that mean something else too: the word, where it does, and what it means there.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("access_log", "rig/src/service/", "a setting of nginx"),
    ("block", "press/src/report/", "what n of a verdict counts"),
    ("congestion", "press/src/report/compose/testbed.rs", "a factor, read back from sockets"),
    ("congestion", "rig/src/factor/", "a factor"),
    ("cpu", "desk/src/", "a probe, its readings, and the CPU of a cost"),
    ("cpu", "press/src/report/compose/effect.rs", "the CPU of a cost"),
    ("cpu", "rig/src/", "a probe, its readings, and files of the kernel"),
    ("disk", "desk/src/verdict/ceiling.rs", "the ceiling of disks, by its resource"),
    ("disk", "rig/src/lab/sim/", "a resource of simulated machines"),
    ("disk", "rig/src/probe/", "a probe"),
    ("disk", "rig/src/run/simulated.rs", "a probe"),
    ("forward", "rig/src/lab/filter.rs", "a hook of nf_tables"),
    ("isa", "rig/src/metal/", "what a loop says of itself"),
    ("load", "desk/src/plan/", "a table of a plan"),
    ("mem_copy", "desk/src/verdict/ceiling.rs", "the ceiling of memory, by its resource"),
    ("mem_copy", "rig/src/lab/sim/", "the ceiling of memory, by its resource"),
    ("mem_copy", "rig/src/keeper/watch/", "the ceiling of memory, by its resource"),
    ("method", "desk/src/plan/", "a table of a plan"),
    ("method", "press/src/report/compose/", "a chapter"),
    ("node", "press/src/report/json.rs", "a node of an article"),
    ("node", "rig/src/", "NUMA nodes in files of the kernel"),
    ("operations", "desk/src/record/flow.rs", "a column of flows"),
    ("order", "rig/src/run/conduct.rs", "a probe"),
    ("packets", "rig/src/probe/", "a reading of a queue"),
    ("pair", "press/src/report/html/", "a class of tables"),
    ("pattern", "desk/src/plan/schema.rs", "a keyword of JSON Schema"),
    ("rate", "desk/src/", "a factor of a link, and the reading of it"),
    ("rate", "rig/src/", "a factor of a link, and the reading of it"),
    ("size", "desk/src/unit/", "a kind of value"),
    ("size", "rig/src/block/device.rs", "a file of sysfs"),
    ("database", "rig/src/service/", "what stands beside a web server"),
    ("database_memory", "rig/src/service/", "a setting of a database"),
    ("opcache", "rig/src/service/", "a setting of PHP"),
    ("page", "rig/src/service/", "what a server is to send: a file, or what a program makes"),
    ("pages", "rig/src/service/", "how many files and rows there are"),
    ("size", "rig/src/lab/sim/", "a key of simulated physics"),
    ("size", "rig/src/metal/cpus.rs", "a file of the kernel"),
    ("source", "desk/src/plan/", "where a fact or a price was found"),
    ("tcp_nodelay", "rig/src/service/", "a setting of nginx"),
    ("tcp_nopush", "rig/src/service/", "a setting of nginx"),
    ("threads", "desk/src/verdict/parts.rs", "a reading of the kernel's threads"),
    ("threads", "rig/src/", "threads of the kernel, and of a gang"),
    ("tls", "rig/src/service/", "whether clients of a service encrypt"),
    ("workers", "rig/src/service/", "a setting of nginx"),
];

/// Every name of a workload, of a parameter or of a metric.
pub fn names(sources: &[Source], workloads: &[String]) -> BTreeSet<String> {
    let is_spec = |source: &&Source| {
        source.path.starts_with("loads/src/") && SPECS.iter().any(|s| source.path.ends_with(s))
    };
    let its = |source: &'_ Source| -> Vec<String> {
        let named = source.find(&["name", ":"]).filter_map(|at| literal(source, at + 2));
        named.map(str::to_owned).collect()
    };
    sources.iter().filter(is_spec).flat_map(its).chain(workloads.iter().cloned()).collect()
}

/// Names of two words and more in the messages of press, given as path and text.
pub fn in_messages(files: &[(String, String)], names: &BTreeSet<String>) -> Vec<String> {
    let told = |text: &str| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.find(|word| word.contains('_') && names.contains(*word)).map(str::to_owned)
    };
    let of = |(path, text): &(String, String)| {
        let lines = text.lines().enumerate();
        let found = lines.filter_map(|(at, line)| {
            let name = told(line)?;
            Some(format!("{path}:{}: `{name}`: take it from the record as an argument", at + 1))
        });
        found.collect::<Vec<_>>()
    };
    files.iter().flat_map(of).collect()
}

/// The text of a string.
fn literal(source: &Source, at: usize) -> Option<&str> {
    source.word(at).strip_prefix('"')?.strip_suffix('"')
}

/// Each string outside tests that is one of the names, or in which one of two words and more
/// stands; with it the row of the table that allows it.
fn found<'s>(
    source: &'s Source,
    names: &'s BTreeSet<String>,
) -> impl Iterator<Item = (usize, &'s str, Option<usize>)> {
    let is_nameless = NAMELESS.iter().any(|folder| source.path.starts_with(folder))
        && !source.path.contains(FIXTURE);
    let places = (0..source.lexemes.len()).filter(move |_| is_nameless);
    places.filter_map(move |at| {
        let line = source.lexemes[at].line;
        let text = literal(source, at).filter(|_| !source.is_test(line))?;
        let before = |back: usize| at.checked_sub(back).map_or("", |at| source.word(at));
        let is_doc = before(1) == "=" && before(2) == "doc";
        let is_argument = source.path.starts_with("press/")
            && [before(1), before(3)] == ["(", "."]
            && ARGUMENTS.contains(&before(2));
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let told = words.find(|word| word.contains('_') && names.contains(*word));
        let name =
            names.get(text).map(String::as_str).or(told).filter(|_| !is_doc && !is_argument)?;
        let mut rows = ALLOWED.iter();
        Some((line, name, rows.position(|(w, p, _)| *w == name && source.path.starts_with(p))))
    })
}

/// Everything that is wrong with the names in all files.
pub fn check(sources: &[Source], names: &BTreeSet<String>) -> Vec<String> {
    let (mut faults, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources {
        for (line, name, row) in found(source, names) {
            used.extend(row);
            if row.is_none() {
                faults.push(format!(
                    "{}:{line}: `{name}` is the name of a workload, of its parameter or metric; \
                     take the role, or what its spec asks for, from the record",
                    source.path
                ));
            }
        }
    }
    let unused = ALLOWED.iter().enumerate().filter(|(row, _)| !used.contains(row));
    faults.extend(unused.map(|(_, (word, path, _))| {
        format!(
            "stend/tests/tidy/names.rs: no `{word}` stands in {path} any more; take out the row"
        )
    }));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let spec =
            "//! x\nconst A: A = A { name: \"bandwidth\", of: B { name: \"block_size\" } };\n";
        let spec = Source::parse("loads/src/workload/cipher/spec.rs", spec).unwrap();
        let names = names(&[spec], &["cipher".into(), "mem_copy".into()]);
        assert_eq!(names.len(), 4, "{names:?}");
        let source = Source::parse(path, text).unwrap();
        let all = check(&[source], &names);
        all.into_iter().filter(|fault| !fault.starts_with("stend/")).collect()
    }

    #[test]
    fn a_name_is_found_where_none_may_stand() {
        let text = "//! Of \"cipher\".\n/// block_size\nfn f() {\n    g(\"cipher\");\n    \
                    h(\"bandwidth\");\n    i(\"ciphers\");\n    j(\"set block_size = 1\");\n    \
                    k.name(\"bandwidth\", 1);\n}\n#[cfg(test)]\nmod tests {\n    fn t() { \
                    g(\"cipher\"); }\n}\n";
        let lines = |path| {
            let all = faults(path, text);
            all.iter().map(|fault| fault.split(':').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lines("desk/src/a.rs"), ["4", "5", "7", "8"]);
        assert_eq!(lines("press/src/a.rs"), ["4", "5", "7"], "the name of a variable is none");
        assert!(lines("loads/src/a.rs").is_empty() && lines("stend/src/a.rs").is_empty());
    }

    #[test]
    fn a_name_in_a_message_is_found() {
        let names = BTreeSet::from(["block_size".to_owned(), "size".to_owned()]);
        let file = |text: &str| [("press/src/a.ftl".to_owned(), text.to_owned())];
        assert_eq!(in_messages(&file("a = b\nsize = (block_size in the plan)\n"), &names).len(), 1);
        assert!(in_messages(&file("a = block sizes\n"), &names).is_empty());
    }

    #[test]
    fn a_row_allows_a_word_where_it_means_something_else() {
        let text = "//! x\nfn f() {\n    g(\"mem_copy\");\n}\n";
        assert_eq!(faults("desk/src/verdict/ceiling.rs", text), Vec::<String>::new());
        assert_eq!(faults("desk/src/verdict/claims.rs", text).len(), 1);
    }
}
