//! Knows which files must stand beside one another, and what must be written in them.

use std::path::Path;
use std::{fs, io};

/// Documents at the root, and the most lines that each may have.
const DOCUMENTS: [(&str, usize); 11] = [
    ("README.md", 200),
    ("ARCHITECTURE.md", 250),
    ("GLOSSARY.md", 250),
    ("METHODOLOGY.md", 250),
    ("LIMITS.md", 250),
    ("STYLE.md", 250),
    ("CHANGELOG.md", 2000),
    ("LICENSE-MIT", 100),
    ("LICENSE-APACHE", 300),
    ("deny.toml", 100),
    ("test", 300),
];

const WORKLOADS: &str = "loads/src/workload";

/// Headings of a workload's page, in order.
const HEADINGS: [&str; 5] =
    ["Question", "How", "What it cannot tell", "Reading the curve", "Ancestors"];

/// Names with digits that a message may hold; every other digit comes from an estimate.
const NAMES_WITH_DIGITS: [&str; 2] = ["IPv4", "IPv6"];

/// Everything that is wrong with the folders of the checkout at `root`.
pub fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut faults = documents(root);
    faults.extend(workloads(root)?);
    faults.extend(plans(root)?);
    for path in crate::source::files(root, ".ftl")? {
        faults.extend(messages(&path, &read(&root.join(&path))));
    }
    Ok(faults)
}

/// The text of a file, empty where there is none.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn documents(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, most) in DOCUMENTS {
        match read(&root.join(name)).lines().count() {
            0 => faults.push(format!("{name}: missing at the root; write it")),
            lines if lines > most => {
                faults.push(format!("{name}: {lines} lines; shorten it to at most {most}"));
            }
            _ => {}
        }
    }
    faults
}

/// Names of what stands in a folder, sorted; none where there is no such folder.
fn names(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found.push((entry.file_name().to_string_lossy().into_owned(), entry.path().is_dir()));
    }
    found.sort();
    Ok(found)
}

/// Names of the workloads that have a folder, sorted.
pub fn workload_names(root: &Path) -> io::Result<Vec<String>> {
    let all = names(&root.join(WORKLOADS))?.into_iter();
    Ok(all.filter(|(_, is_folder)| *is_folder).map(|(name, _)| name).collect())
}

fn workloads(root: &Path) -> io::Result<Vec<String>> {
    let list = listed(&read(&root.join(WORKLOADS).join("mod.rs")));
    let mut faults = Vec::new();
    if !list.is_sorted() {
        faults.push(format!("{WORKLOADS}/mod.rs: sort the list of workloads by name"));
    }
    for name in workload_names(root)? {
        if !list.contains(&name) {
            faults.push(format!("{WORKLOADS}/mod.rs: add `{name},` to the list of workloads"));
        }
        faults.extend(workload(root, &format!("{WORKLOADS}/{name}")));
    }
    Ok(faults)
}

/// The names between `workloads! {` and its end, in the order of the text.
fn listed(text: &str) -> Vec<String> {
    let list = text.rsplit_once("workloads! {").and_then(|(_, rest)| rest.split_once('}'));
    let lines = list.map_or("", |(list, _)| list).lines();
    let names = lines.map(|line| line.trim().trim_end_matches(','));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn workload(root: &Path, folder: &str) -> Vec<String> {
    let has = |name: &str| root.join(folder).join(name).exists();
    let mut faults = Vec::new();
    for name in ["mod.rs", "spec.rs", "check.rs", "README.md", "tests.rs"] {
        if !has(name) {
            faults.push(format!("{folder}: {name} is missing; a workload is a complete folder"));
        }
    }
    if !has("run.rs") && !has("run") {
        faults.push(format!("{folder}: run.rs is missing; a workload is a complete folder"));
    }
    let page = read(&root.join(folder).join("README.md"));
    let headings: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .filter(|heading| HEADINGS.contains(heading))
        .collect();
    if headings != HEADINGS {
        let wanted = HEADINGS.join(" / ");
        faults.push(format!("{folder}/README.md: needs the headings {wanted}, in this order"));
    }
    faults
}

fn plans(root: &Path) -> io::Result<Vec<String>> {
    let readme = read(&root.join("README.md"));
    let mut faults = Vec::new();
    for (name, _) in names(&root.join("plans"))? {
        let Some(stem) = name.strip_suffix(".toml") else { continue };
        if !readme.contains(&format!("`{stem}`")) && !readme.contains(&format!("plans/{name}")) {
            faults.push(format!("README.md: say in the list of plans what plans/{name} answers"));
        }
    }
    Ok(faults)
}

/// Digits in what a message says: nobody types a number.
fn messages(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if said(line).contains(|c: char| c.is_ascii_digit()) {
            faults.push(format!(
                "{path}:{}: a message holds a digit; pass the number in as a variable",
                index + 1
            ));
        }
    }
    faults
}

/// What a line of Fluent says, without comments, keys, variables, and names that hold digits.
fn said(line: &str) -> String {
    if line.starts_with('#') {
        return String::new();
    }
    let top = !line.starts_with([' ', '\t', '}']);
    let value = if top { line.split_once('=').map_or("", |(_, v)| v) } else { line };
    let mut value = value.to_string();
    for name in NAMES_WITH_DIGITS {
        value = value.replace(name, "");
    }
    let mut out = String::new();
    let mut in_variable = false;
    for c in value.chars() {
        in_variable = c == '$' || in_variable && (c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !in_variable {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for one test, gone when dropped.
    struct Planted(std::path::PathBuf);

    impl Planted {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tidy-{name}"));
            let _ = fs::remove_dir_all(&root);
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const PAGE: &str = "# tcp_rr\n## Question\n## How\n## What it cannot tell\n## Reading the \
                        curve\n## Ancestors\n";

    fn complete(list: &str) -> Vec<(&str, &str)> {
        let mut files = vec![("loads/src/workload/mod.rs", list)];
        files.push(("loads/src/workload/tcp_rr/README.md", PAGE));
        files.extend(["mod.rs", "spec.rs", "run.rs", "check.rs", "tests.rs"].map(|name| {
            (&*Box::leak(format!("loads/src/workload/tcp_rr/{name}").into_boxed_str()), "//! x")
        }));
        files
    }

    #[test]
    fn a_complete_workload_passes() {
        let list = "//! x\nworkloads! {\n    tcp_rr,\n}\n";
        let planted = Planted::new("complete", &complete(list));
        assert_eq!(workloads(&planted.0).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_workload_that_lacks_something_is_found() {
        let mut files = complete("workloads! {\n    tcp_stream,\n    mem_copy,\n}\n");
        files.retain(|(path, _)| !path.ends_with("run.rs") && !path.ends_with("README.md"));
        let planted = Planted::new("lacking", &files);
        let found = workloads(&planted.0).unwrap().join("\n");
        for part in [
            "sort the list",
            "add `tcp_rr,`",
            "run.rs is missing",
            "README.md is missing",
            "needs the headings Question / How",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn a_plan_that_the_readme_hides_is_found() {
        let files = [("README.md", "`survey`"), ("plans/survey.toml", ""), ("plans/b.toml", "")];
        let planted = Planted::new("plans", &files);
        let found = plans(&planted.0).unwrap();
        assert_eq!(found, ["README.md: say in the list of plans what plans/b.toml answers"]);
    }

    #[test]
    fn missing_and_long_documents_are_found() {
        let planted = Planted::new("documents", &[("README.md", &"a\n".repeat(201))]);
        let found = documents(&planted.0);
        assert!(found[0].contains("README.md: 201 lines; shorten"), "{found:#?}");
        assert!(found[1].contains("ARCHITECTURE.md: missing"), "{found:#?}");
    }

    #[test]
    fn typed_numbers_in_messages_are_found() {
        let good = "# 3 words\np95 = { $p95 } over IPv4\nmany = { $n ->\n    [one] run\n   \
                    *[other] runs\n}\n";
        assert_eq!(messages("en.ftl", good), Vec::<String>::new());
        assert_eq!(messages("en.ftl", "a = at least 3 runs\n").len(), 1);
        assert_eq!(messages("en.ftl", "a =\n    of 95 %\n").len(), 1);
        assert_eq!(messages("en.ftl", "a = { 5 }\n").len(), 1);
    }
}
