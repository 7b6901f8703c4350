//! Knows which words may not stand in which code.

use crate::source::Source;

/// Methods that end the program; outside tests an error is returned instead.
const ENDING_METHODS: [&str; 4] = ["unwrap", "expect", "unwrap_err", "expect_err"];

/// Macros that end the program.
const ENDING_MACROS: [&str; 4] = ["panic", "todo", "unimplemented", "unreachable"];

/// Macros that print past the writer which the door passes in.
const PRINTING_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The only file that may end the program and print.
const DOOR: &str = "stend/src/main.rs";

/// The mains of benches and examples, whose rows on standard output are what they are for, and
/// build scripts, which speak to cargo there.
fn prints(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_, "benches", _, "main.rs"] | [_, "examples", _] | [_, "build.rs"] => true,
        _ => path == DOOR,
    }
}

/// Files that may hold `unsafe`, each with its reason. A new row is a reviewed decision.
const UNSAFE: &[(&str, &str)] = &[
    ("rig/src/lab/capability/calls.rs", "bpf, perf_event_open, io_uring_setup: no safe wrapper"),
    ("rig/src/lab/clock.rs", "clock_gettime: rustix names no clock of another process or thread"),
    ("rig/src/lab/environment/library.rs", "gnu_get_libc_version: no safe wrapper has it"),
    ("rig/src/lab/ethtool/driver.rs", "ioctl SIOCETHTOOL: netlink does not tell driver versions"),
    ("rig/src/lab/ethtool/tests.rs", "unshare: the test needs a network namespace of its own"),
    ("rig/src/lab/link/tests.rs", "unshare: the test needs a network namespace of its own"),
    ("rig/src/lab/messages.rs", "recvmmsg, SO_TIMESTAMPNS: rustix lacks them"),
    ("rig/src/lab/relay/port.rs", "sendmmsg, packet sockets: no safe wrapper has them"),
    ("rig/src/lab/undo/guardian.rs", "close_range: nothing safe closes what nobody owns"),
    ("rig/src/lab/namespace.rs", "unshare: no safe wrapper for the whole process"),
    ("rig/src/lab/urgent.rs", "sched_setscheduler: rustix has none, and that of musl is a stub"),
    ("rig/src/metal/chase/inject.rs", "a slice over mapped memory, which is the injector's alone"),
    ("rig/src/metal/chase/node.rs", "set_mempolicy, get_mempolicy: no safe wrapper has them"),
    ("rig/src/metal/chase/walk.rs", "asm: dependent loads, and the links in mapped memory"),
    ("rig/src/metal/core_clock.rs", "asm: additions of one clock each"),
    ("rig/src/metal/kernel/arrays.rs", "slices of mapped memory, one an array, apart from another"),
    ("rig/src/metal/kernel/code.rs", "asm: what is measured is these instructions and no others"),
    ("rig/src/metal/kernel/door.rs", "calls of asm loops, behind checks of all they are given"),
    ("rig/src/metal/kernel/plain.rs", "memcpy of the libc, and its like, called as asm loops are"),
    ("rig/src/metal/pages.rs", "mmap, madvise, munmap: memory of a page size that is asked for"),
    ("rig/src/metal/pair/handover.rs", "blocks that two threads pass on by a word"),
    ("rig/src/metal/pair/shared.rs", "mmap: pages that nobody has touched, words in them"),
    ("loads/src/workload/cipher/engine/aws_lc.rs", "AWS-LC is C; its safe crate lacks MD5 and CBC"),
    ("loads/src/workload/cipher/engine/child.rs", "pre_exec: a child that dies with its thread"),
    ("loads/src/workload/disk/run/ring.rs", "io_uring: the kernel works on buffers of ours"),
    ("loads/src/workload/tcp_stream/run/low_water.rs", "setsockopt SO_RCVLOWAT: rustix lacks it"),
    ("loads/src/workload/udp_stream/run/mail.rs", "UDP_SEGMENT, SO_MEMINFO: rustix lacks them"),
    ("rig/src/probe/ipmi/device.rs", "ioctl of the IPMI driver: no safe wrapper has it"),
    ("rig/src/probe/soaker.rs", "sched_setscheduler: rustix has none, and that of musl is a stub"),
    ("loads/src/engine/net/arrival.rs", "SO_TIMESTAMPNS, recvmsg: rustix lacks that message"),
    ("loads/src/engine/net/lent.rs", "mmap, munmap: memory that the kernel reads after us"),
    ("loads/src/engine/net/uring.rs", "io_uring: the kernel works on buffers of ours"),
    ("loads/src/engine/net/zero_copy.rs", "SO_ZEROCOPY and its completions: rustix lacks them"),
    ("loads/src/engine/packet/live/plain.rs", "sendmmsg, packet sockets: no safe wrapper"),
    ("loads/src/engine/packet/live/rings.rs", "rings and frames of AF_XDP, shared with the kernel"),
    ("loads/src/engine/packet/bpf/call.rs", "bpf, sigaction, tgkill: no safe wrapper has them"),
    ("loads/src/engine/packet/acl/form.rs", "calls of code for vectors that this CPU has"),
    ("loads/src/engine/packet/acl/half.rs", "loads of AVX2: safe ones take no memory"),
    ("loads/src/engine/packet/acl/wide.rs", "loads and gathers of AVX-512: safe ones do not exist"),
    ("loads/src/engine/packet/memory.rs", "madvise: huge pages for memory of a vector"),
    ("loads/src/engine/pipe.rs", "vmsplice: rustix has it unsafe, for the other end of a pipe"),
    ("loads/src/engine/net/tcp_info.rs", "getsockopt TCP_INFO: no crate has its fields"),
];

/// Everything that is wrong with the words of one file.
pub fn check(source: &Source) -> Vec<String> {
    let mut faults = ending(source);
    faults.extend(unsafe_code(source));
    faults.extend(hash_order(source));
    faults.extend(unfinished(source));
    faults
}

fn ending(source: &Source) -> Vec<String> {
    if source.path == DOOR {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (index, lexeme) in source.lexemes.iter().enumerate() {
        let (word, line) = (lexeme.text.as_str(), lexeme.line);
        if source.is_test(line) {
            continue;
        }
        let before = index.checked_sub(1).map_or("", |i| source.word(i));
        let method = matches!(before, "." | ":") && ENDING_METHODS.contains(&word);
        // `todo != x` is a comparison: a macro has a bracket after its `!`.
        let macro_call =
            source.word(index + 1) == "!" && matches!(source.word(index + 2), "(" | "[" | "{");
        let advice = if method || macro_call && ENDING_MACROS.contains(&word) {
            "return an error with the value and the remedy"
        } else if macro_call && PRINTING_MACROS.contains(&word) && !prints(&source.path) {
            "write to the writer that the door passes in"
        } else {
            continue;
        };
        faults.push(format!("{}:{line}: `{word}` outside tests; {advice}", source.path));
    }
    faults
}

fn unsafe_code(source: &Source) -> Vec<String> {
    let listed = UNSAFE.iter().any(|(path, _)| *path == source.path);
    let mut faults = Vec::new();
    for index in source.find(&["unsafe"]) {
        let (path, line) = (&source.path, source.lexemes[index].line);
        if !listed {
            faults.push(format!(
                "{path}:{line}: `unsafe` in a file that is not in the table UNSAFE of \
                 stend/tests/tidy/words.rs; do without it, or add the row with its reason"
            ));
        }
        let needs_reason = matches!(source.word(index + 1), "{" | "impl");
        if needs_reason && !has_safety_comment(&source.text, line) {
            faults.push(format!(
                "{path}:{line}: say above it, in a comment that begins with `// SAFETY:`, why \
                 this is sound"
            ));
        }
    }
    faults
}

/// Looks at the line, then upwards through the statement and the comment that belong to it.
fn has_safety_comment(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if lines[line - 1].contains("// SAFETY:") {
        return true;
    }
    for above in lines[..line - 1].iter().rev() {
        if above.starts_with("// SAFETY:") {
            return true;
        }
        let comment = above.starts_with("//");
        if !comment && (above.is_empty() || above.ends_with([';', '{', '}'])) {
            return false;
        }
    }
    false
}

fn hash_order(source: &Source) -> Vec<String> {
    if !["desk/", "press/"].iter().any(|pure| source.path.starts_with(pure)) {
        return Vec::new();
    }
    let hashed = |word: &str| matches!(word, "HashMap" | "HashSet");
    let found = source.lexemes.iter().filter(|lexeme| hashed(&lexeme.text));
    let say = |lexeme: &crate::source::Lexeme| {
        let (path, line, word) = (&source.path, lexeme.line, &lexeme.text);
        let tree = word.replace("Hash", "BTree");
        format!("{path}:{line}: the order of a {word} is random; use {tree}")
    };
    found.map(say).collect()
}

fn unfinished(source: &Source) -> Vec<String> {
    // Written in halves, so that this file does not find itself.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let mut faults = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words.filter(|word| marks.iter().any(|mark| mark == word)) {
            let place = format!("{}:{}", source.path, index + 1);
            faults.push(format!("{place}: `{word}`: finish it, or write it into LIMITS.md"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        check(&Source::parse(path, text).unwrap())
    }

    #[test]
    fn what_ends_the_program_is_found_outside_tests() {
        let text = "//! x\nfn f() {\n    a.unwrap();\n    format!(\"{}\", b.expect(\"\"));\n    \
                    panic!(\"\");\n    unreachable!();\n    println!();\n    dbg!(1);\n    \
                    x.map(Option::unwrap);\n}\n";
        let found = faults("rig/src/a.rs", text);
        assert_eq!(found.len(), 7, "{found:#?}");
        assert!(found[1].starts_with("rig/src/a.rs:4: `expect` outside tests"), "{found:#?}");
        assert_eq!(faults("stend/src/main.rs", text).len(), 0);
        assert_eq!(faults("stend/tests/a.rs", text).len(), 0);
        assert_eq!(faults("stend/benches/a/main.rs", text).len(), 5);
        assert_eq!(faults("rig/examples/a.rs", text).len(), 5);
        assert_eq!(faults("stend/benches/a/b.rs", text).len(), 7);
    }

    #[test]
    fn words_alike_are_not_found() {
        let text = "//! x\n#[expect(dead_code)]\nfn f(todo: u8) -> bool {\n    \
                    a.unwrap_or(1);\n    // a.unwrap()\n    let _ = \"panic!()\";\n    \
                    std::panic::catch_unwind(g);\n    todo != 1\n}\n#[cfg(test)]\nmod tests {\n    \
                    fn t() { a.unwrap(); }\n}\n";
        assert_eq!(faults("rig/src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn unsafe_needs_a_row_and_a_reason() {
        let found = faults("rig/src/a.rs", "//! x\nfn f() {\n    unsafe { g() }\n}\n");
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].contains("add the row"), "{found:#?}");
        assert!(found[1].contains("// SAFETY:"), "{found:#?}");
    }

    #[test]
    fn a_reason_counts_only_for_its_own_statement() {
        assert!(has_safety_comment("// SAFETY: sound\n// so\nlet a =\n    unsafe { g() };", 4));
        assert!(!has_safety_comment("// SAFETY: sound\nlet a = 1;\nunsafe { g() };", 3));
    }

    #[test]
    fn hash_order_is_found_in_the_desk_only() {
        let text = "//! x\nuse std::collections::HashMap;\n";
        assert!(faults("desk/src/a.rs", text)[0].contains("use BTreeMap"));
        assert_eq!(faults("rig/src/a.rs", text).len(), 0);
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = format!("//! x\n// {}: later\n", ["TO", "DO"].concat());
        assert!(faults("rig/src/a.rs", &text)[0].starts_with("rig/src/a.rs:2: `"));
        let template = format!("//! x\nconst A: &str = \"stend.{}\";\n", "X".repeat(6));
        assert_eq!(faults("rig/src/a.rs", &template).len(), 0);
    }
}
