//! Knows how one Rust file is read: lines, lexemes, functions, and which lines are test code.
//!
//! Never: which rule applies to them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::{fs, io};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A token that is no comment and no blank, with the line it begins on.
pub struct Lexeme {
    /// Its text; a bracket is a lexeme of its own, a literal is one lexeme.
    pub text: String,
    /// Line, from 1.
    pub line: usize,
}

/// One function, method or trait method with a body.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of its `fn`, from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace, both counted.
    pub lines: usize,
    /// Parameters, `self` counted.
    pub parameters: usize,
}

/// One file of the workspace.
pub struct Source {
    /// Path from the root of the checkout, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Tokens in order.
    pub lexemes: Vec<Lexeme>,
    /// Functions in order.
    pub functions: Vec<Function>,
    test_lines: Vec<RangeInclusive<usize>>,
    only_tests: bool,
}

impl Source {
    /// Reads a text as the file at `path`; the error names the file and the place.
    pub fn parse(path: &str, text: &str) -> Result<Self, String> {
        let fault = |e: syn::Error| {
            let at = e.span().start();
            format!("{path}:{}: {e}; tidy can read only files that compile", at.line)
        };
        let stream: TokenStream =
            text.parse().map_err(|e: proc_macro2::LexError| fault(syn::Error::from(e)))?;
        let mut lexemes = Vec::new();
        flatten(stream, &mut lexemes);
        let mut found = Functions(Vec::new());
        found.visit_file(&syn::parse_file(text).map_err(fault)?);
        let test_lines = test_lines(&lexemes);
        let (path, text) = (path.to_string(), text.to_string());
        let only_tests = path.split('/').any(|part| part == "tests" || part == "tests.rs");
        Ok(Self { path, text, lexemes, functions: found.0, test_lines, only_tests })
    }

    /// True for test code: a `tests` folder, a `tests.rs`, what stands under `#[cfg(test)]`.
    pub fn is_test(&self, line: usize) -> bool {
        self.only_tests || self.test_lines.iter().any(|range| range.contains(&line))
    }

    /// Files of the modules that this file declares for tests only.
    fn test_modules(&self) -> Vec<String> {
        let door = ["mod.rs", "lib.rs", "main.rs"].iter().find_map(|n| self.path.strip_suffix(n));
        let folder = match door {
            Some(folder) => folder.to_string(),
            None => self.path.replace(".rs", "/"),
        };
        let declared = self.find(&["mod"]).filter(|at| self.word(at + 2) == ";");
        declared
            .filter(|at| self.is_test(self.lexemes[*at].line))
            .flat_map(|at| [".rs", "/mod.rs"].map(|end| [&folder, self.word(at + 1), end].concat()))
            .collect()
    }

    /// True for a data table, which the limits on length do not bind.
    pub fn is_table(&self) -> bool {
        self.text.lines().take(5).any(|line| line.trim() == "// tidy: table")
    }

    /// Places where these lexemes follow one another, as index of the first.
    pub fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        (0..self.lexemes.len()).filter(move |&at| {
            pattern.iter().enumerate().all(|(offset, word)| self.word(at + offset) == *word)
        })
    }

    /// The text of the lexeme at `index`, empty past the end.
    pub fn word(&self, index: usize) -> &str {
        self.lexemes.get(index).map_or("", |lexeme| lexeme.text.as_str())
    }
}

struct Functions(Vec<Function>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span().start().line;
        self.0.push(Function {
            name: signature.ident.to_string(),
            line,
            lines: block.span().end().line - line + 1,
            parameters: signature.inputs.len(),
        });
    }
}

impl Visit<'_> for Functions {
    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn flatten(stream: TokenStream, into: &mut Vec<Lexeme>) {
    for tree in stream {
        let line = tree.span().start().line;
        let TokenTree::Group(group) = tree else {
            into.push(Lexeme { text: tree.to_string(), line });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        into.push(Lexeme { text: open.into(), line });
        flatten(group.stream(), into);
        into.push(Lexeme { text: close.into(), line: group.span_close().start().line });
    }
}

/// Lines of items under an attribute that only a test build keeps.
fn test_lines(lexemes: &[Lexeme]) -> Vec<RangeInclusive<usize>> {
    let word = |index: usize| lexemes.get(index).map_or("", |lexeme| lexeme.text.as_str());
    let mut ranges = Vec::new();
    for start in 0..lexemes.len() {
        if word(start) != "#" || word(start + 1) != "[" {
            continue;
        }
        let end = closing(lexemes, start + 1);
        let words: Vec<&str> = (start + 2..end).map(word).collect();
        let tests = match words.first() {
            Some(&"test") => words.len() == 1,
            Some(&"cfg") => words.contains(&"test") && !words.contains(&"not"),
            _ => false,
        };
        if tests {
            ranges.push(lexemes[start].line..=item_end(lexemes, end + 1));
        }
    }
    ranges
}

/// Index of the bracket that closes the one at `open`.
fn closing(lexemes: &[Lexeme], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, lexeme) in lexemes.iter().enumerate().skip(open) {
        match lexeme.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    lexemes.len().saturating_sub(1)
}

/// Last line of the item that begins at `index`: its `;`, or the end of its first braces.
fn item_end(lexemes: &[Lexeme], mut index: usize) -> usize {
    while let Some(lexeme) = lexemes.get(index) {
        match lexeme.text.as_str() {
            ";" => return lexeme.line,
            "{" => return lexemes[closing(lexemes, index)].line,
            "(" | "[" => index = closing(lexemes, index) + 1,
            _ => index += 1,
        }
    }
    lexemes.last().map_or(0, |lexeme| lexeme.line)
}

/// The checkout that this test belongs to.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Paths from `root` of all files that end in `suffix`, sorted; build output is left out.
pub fn files(root: &Path, suffix: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = folder.join(&name);
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if name.ends_with(suffix) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Every Rust file of the workspace.
pub fn workspace() -> Result<Vec<Source>, String> {
    let root = root();
    let read = |path: String| {
        let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
        Source::parse(&path, &text)
    };
    let paths = files(&root, ".rs").map_err(|e| e.to_string())?;
    let mut sources = paths.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let tests: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        source.only_tests |= tests.contains(&source.path);
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_strings_and_comments_end_no_function() {
        let text = "//! x\nfn a() {\n    // }\n    let _ = \"}\";\n}\n\nimpl A {\n    fn b(&self, \
                    x: (u8, u8)) {}\n}\ntrait T {\n    fn c(self);\n}\n";
        let source = Source::parse("rig/src/a.rs", text).unwrap();
        let seen: Vec<_> =
            source.functions.iter().map(|f| (f.name.as_str(), f.lines, f.parameters)).collect();
        assert_eq!(seen, [("a", 4, 0), ("b", 1, 2)]);
    }

    #[test]
    fn only_items_under_cfg_test_are_test_code() {
        let text = "//! x\n#[cfg(test)]\nuse a::{b,\n    c};\nfn real() {}\n#[cfg(not(test))]\nfn \
                    also_real() {}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\nfn last() {}\n";
        let source = Source::parse("rig/src/a.rs", text).unwrap();
        let lines: Vec<usize> = (1..=12).filter(|line| source.is_test(*line)).collect();
        assert_eq!(lines, [2, 3, 4, 8, 9, 10, 11]);
        assert!(Source::parse("stend/tests/a.rs", "//! x\n").unwrap().is_test(1));
        assert!(Source::parse("rig/src/lab/tests.rs", "//! x\n").unwrap().is_test(1));
    }

    #[test]
    fn a_module_declared_for_tests_is_a_test_file() {
        let text = "//! x\nmod real;\n#[cfg(test)]\nmod fixture;\n";
        let in_door = Source::parse("desk/src/stats/mod.rs", text).unwrap().test_modules();
        assert_eq!(in_door, ["desk/src/stats/fixture.rs", "desk/src/stats/fixture/mod.rs"]);
        let in_file = Source::parse("desk/src/stats/a.rs", text).unwrap().test_modules();
        assert_eq!(in_file[0], "desk/src/stats/a/fixture.rs");
    }

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let fault = Source::parse("rig/src/a.rs", "fn (").err().unwrap();
        assert!(fault.starts_with("rig/src/a.rs:"), "{fault}");
    }
}
