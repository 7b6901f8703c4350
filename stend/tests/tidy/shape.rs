//! Knows the limits on size and the heads that files must have.

use crate::source::Source;

const WIDTH: usize = 100;
const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 800;
const PARAMETERS: usize = 5;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 9] =
    ["util", "utils", "others", "common", "misc", "manager", "imp", "types", "helpers"];

/// Files whose lines may be wider, each with its reason. A line that holds a URL may be wider too.
const WIDE: [(&str, &str); 0] = [];

/// Functions that have their parameters from a trait of a library: file, name, trait.
const FOREIGN: [(&str, &str, &str); 2] = [
    ("loads/src/workload/http/run/secure.rs", "verify_server_cert", "rustls: ServerCertVerifier"),
    ("rig/src/lab/trust/settings.rs", "verify_server_cert", "rustls: ServerCertVerifier"),
];

/// Everything that is wrong with the shape of one file.
pub fn check(source: &Source) -> Vec<String> {
    let mut faults = width(source);
    faults.extend(length(source));
    faults.extend(parameters(source));
    faults.extend(head(source));
    faults.extend(name(source));
    faults
}

fn width(source: &Source) -> Vec<String> {
    if source.is_table() || WIDE.iter().any(|(path, _)| *path == source.path) {
        return Vec::new();
    }
    let wide = |(_, line): &(usize, &str)| line.chars().count() > WIDTH && !line.contains("://");
    let say = |(index, line): (usize, &str)| {
        let (path, n) = (&source.path, line.chars().count());
        format!("{path}:{}: {n} characters wide; break the line at {WIDTH}", index + 1)
    };
    source.text.lines().enumerate().filter(wide).map(say).collect()
}

fn length(source: &Source) -> Vec<String> {
    if source.is_table() {
        return Vec::new();
    }
    let path = &source.path;
    let mut faults = Vec::new();
    let lines = source.text.lines().count();
    if lines > FILE_LINES {
        faults.push(format!(
            "{path}: {lines} lines; split it into files of at most {FILE_LINES} by what they know"
        ));
    }
    for f in source.functions.iter().filter(|f| f.lines > FUNCTION_LINES) {
        faults.push(format!(
            "{path}:{}: fn {} has {} lines; move a part that has a name of its own into a \
             function, so that at most {FUNCTION_LINES} stay",
            f.line, f.name, f.lines
        ));
    }
    faults
}

fn parameters(source: &Source) -> Vec<String> {
    let foreign = |name: &str| FOREIGN.iter().any(|row| row.0 == source.path && row.1 == name);
    let many = source.functions.iter().filter(|f| f.parameters > PARAMETERS && !foreign(&f.name));
    let say = |f: &crate::source::Function| {
        format!(
            "{}:{}: fn {} takes {} parameters; pass a struct, at most {PARAMETERS} are allowed",
            source.path, f.line, f.name, f.parameters
        )
    };
    many.map(say).collect()
}

/// A file opens with `//!`; the `mod.rs` of a room also says what it gives and where to begin.
fn head(source: &Source) -> Vec<String> {
    let path = &source.path;
    let lines = source.text.lines().filter(|line| *line != "// tidy: table");
    let head: Vec<&str> = lines.take_while(|line| line.starts_with("//!")).collect();
    if head.is_empty() {
        return vec![format!("{path}:1: open the file with a `//!` line: what it knows, never")];
    }
    if !is_room_door(path) {
        return Vec::new();
    }
    let head = head.join("\n");
    let lacks = |words: &&[&str]| !words.iter().any(|word| head.contains(word));
    let wanted: [&[&str]; 3] = [&["Knows"], &["Gives", "Never"], &["Start reading at"]];
    let say =
        |words: &[&str]| format!("{path}:1: the head of a room needs `{}`", words.join("` or `"));
    wanted.into_iter().filter(lacks).map(say).collect()
}

/// True for `<crate>/src/<room>/mod.rs`.
fn is_room_door(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts[..], [_, "src", _, "mod.rs"])
}

fn name(source: &Source) -> Vec<String> {
    let stems = source.path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    let say =
        |stem| format!("{}: `{stem}` says nothing; name it after what is inside", source.path);
    stems.filter(|stem| EMPTY_NAMES.contains(stem)).map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> String {
        check(&Source::parse(path, text).unwrap()).join("\n")
    }

    #[test]
    fn a_good_file_passes() {
        let text = "//! Knows a.\n//!\n//! Never: b.\n//! Start reading at `c.rs`.\nfn f() {}\n";
        assert_eq!(faults("desk/src/unit/mod.rs", text), "");
    }

    #[test]
    fn a_wide_line_is_found_and_a_url_is_not() {
        let pad = "x".repeat(90);
        let wide = format!("//! x\n// {pad}{pad}\n// https://example.org/{pad}\n");
        let found = faults("rig/src/a.rs", &wide);
        assert!(found.starts_with("rig/src/a.rs:2: 183 characters wide"), "{found}");
        assert_eq!(found.lines().count(), 1);
        assert_eq!(faults("rig/src/a.rs", &format!("// tidy: table\n{wide}")), "");
    }

    #[test]
    fn a_long_function_and_a_long_file_are_found() {
        let body = "    g();\n".repeat(69);
        let long = format!("//! x\nfn f() {{\n{body}}}\n");
        let found = faults("rig/src/a.rs", &long);
        assert!(found.contains("rig/src/a.rs:2: fn f has 71 lines"), "{found}");
        let file = format!("//! x\n{}", "const A: u8 = 1;\n".repeat(800));
        assert!(faults("rig/src/a.rs", &file).contains("801 lines; split"));
        assert_eq!(faults("rig/src/a.rs", &format!("// tidy: table\n{file}")), "");
    }

    #[test]
    fn six_parameters_are_too_many() {
        let text = "//! x\nfn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8) {}\n";
        assert!(faults("rig/src/a.rs", text).contains("fn f takes 6 parameters"));
        let five = "//! x\nfn f(a: M<u8, u8>, b: u8, c: u8, d: u8, e: u8) {}\n";
        assert_eq!(faults("rig/src/a.rs", five), "");
    }

    #[test]
    fn a_missing_head_is_found() {
        assert!(faults("rig/src/a.rs", "use a;\n").contains("open the file with a `//!` line"));
        let found = faults("rig/src/lab/mod.rs", "//! Knows a lab.\n");
        assert!(found.contains("needs `Gives` or `Never`"), "{found}");
        assert!(found.contains("needs `Start reading at`"), "{found}");
    }

    #[test]
    fn an_empty_name_is_found_in_files_and_folders() {
        assert!(faults("rig/src/lab/utils.rs", "//! x\n").contains("`utils` says nothing"));
        assert!(faults("rig/src/common/a.rs", "//! x\n").contains("`common` says nothing"));
    }
}
