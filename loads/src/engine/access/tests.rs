//! A file of IOmeter becomes specifications, or a refusal with line, value and remedy.

use super::icf::parse;
use super::{Access, Line, PRESETS, read};
use proptest::prelude::*;

/// Parts of a file as IOmeter 1.1.0 writes it.
const FILE: &str = "Version 1.1.0 \r
'TEST SETUP ====================================================================\r
'Test Description\r
\tDisks\r
'END test setup\r
'ACCESS SPECIFICATIONS =========================================================\r
'Access specification name,default assignment\r
\tFile Server, small,NONE\r
'size,% of size,% reads,% random,delay,burst,align,reply\r
\t512,10,80,100,0,1,0,0\r
\t4096,90,80,100,0,1,4096,0\r
\t8192,0,80,100,0,1,0,0\r
'Access specification name,default assignment\r
\tStream,ALL\r
'size,% of size,% reads,% random,delay,burst,align,reply\r
\t65536,100,100,0,2,8,0,64\r
'END access specifications\r
'MANAGER LIST ==================================================================\r
'Manager ID, manager name\r
\t1,HOST\r
'END manager list\r
Version 1.1.0 \r
";

#[test]
fn a_file_of_iometer_has_its_specifications() {
    let all = parse(FILE).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].name, "File Server, small");
    let aligned = Line { align: 4096, ..Line::new(4096, 90, (80, 100)) };
    assert_eq!(all[0].lines, [Line::new(512, 10, (80, 100)), aligned]);
    assert_eq!((all[0].lines[0].aligned(), all[0].lines[1].aligned()), (512, 4096));
    let stream = Line { delay_ms: 2, burst: 8, reply: 64, ..Line::new(65536, 100, (100, 0)) };
    assert_eq!((all[1].name.as_str(), all[1].lines.as_slice()), ("Stream", &[stream][..]));
    let told = "File Server, small: 10 % 512 B, 80 % reads, 100 % random; \
                90 % 4 KiB, 80 % reads, 100 % random, aligned to 4 KiB";
    assert_eq!(all[0].to_string(), told);
}

#[test]
fn presets_are_whole_and_the_file_server_is_intels() {
    for name in PRESETS {
        let access = Access::preset(name).unwrap();
        assert_eq!(access.lines.iter().map(|line| line.share).sum::<u64>(), 100, "{name}");
        assert_eq!(access.name, name);
    }
    assert_eq!(Access::preset("random"), None);
    let server = Access::preset("file_server").unwrap();
    let told = "file_server: 10 % 512 B, 5 % 1 KiB, 5 % 2 KiB, 60 % 4 KiB, 2 % 8 KiB, 4 % 16 KiB, \
                4 % 32 KiB, 10 % 64 KiB, 80 % reads, 100 % random";
    assert_eq!(server.to_string(), told);
    assert!((server.mean_size() - 11345.92).abs() < 0.01, "{}", server.mean_size());
    let web = Access::preset("web_server").unwrap();
    assert_eq!(web.lines.last(), Some(&Line::new(512 << 10, 1, (100, 100))));
}

#[test]
fn what_is_wrong_is_told_with_line_value_and_remedy() {
    let change = |from: &str, to: &str| parse(&FILE.replace(from, to)).unwrap_err();
    let rows = [
        ("512,10,80", "512,10,180", "line 10: % reads = '180': write a whole number from 0 to 100"),
        ("512,10,80", "0,10,80", "line 10: size = '0': write a whole number from 1 to 4294967296"),
        ("512,10,80", "x,10,80", "line 10: size = 'x': write"),
        ("4096,90", "4096,80", "'File Server, small': % of size is 90 over its lines; make it 100"),
        (
            "\t65536,100,100,0,2,8,0,64",
            "\t65536,100",
            "line 16: '65536,100' has 2 fields and not 8",
        ),
        ("\t65536,100,100,0,2,8,0,64\r\n", "", "'Stream': % of size is 0 over its lines"),
        ("'ACCESS", "'SUCCESS", "no 'ACCESS SPECIFICATIONS in it; save"),
        ("\tStream,ALL", "", "line 14: '' is no name of a specification; write NAME,NONE"),
        ("'Access specification name,default assignment\r\n\tF", "F", "line 7: 'File Server"),
    ];
    for (from, to, says) in rows {
        let why = change(from, to);
        assert!(why.contains(says), "{why}");
    }
    let none = parse("'ACCESS SPECIFICATIONS =\n'END access specifications\n").unwrap_err();
    assert!(none.contains("no access specification in it"), "{none}");
    assert!(read("/nowhere/a.icf").unwrap_err().starts_with("/nowhere/a.icf: "));
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn no_text_makes_it_panic_and_what_it_takes_is_whole(
        (from, length) in (0..FILE.len(), 0..40_usize),
        put in "[\\PC'\n\t,0-9]{0,20}",
        any in "\\PC{0,200}",
    ) {
        let mut text = FILE.to_owned();
        text.replace_range(from..(from + length).min(FILE.len()), &put);
        let _ = parse(&any);
        if let Ok(all) = parse(&text) {
            for access in all {
                prop_assert_eq!(access.lines.iter().map(|line| line.share).sum::<u64>(), 100);
                prop_assert!(access.lines.iter().all(|line| line.share > 0 && line.size > 0));
            }
        }
    }

    #[test]
    fn a_written_specification_is_read_again(
        lines in proptest::collection::vec(
            (1..1_u64 << 32, 0..=100_u64, 0..=100_u64, 0..1_u64 << 32),
            1..10,
        ),
    ) {
        let last = lines.len() as u64 - 1;
        let shares = (0..).map(|at| if at == last { 100 - 10 * last } else { 10 });
        let lines: Vec<Line> = lines
            .iter()
            .zip(shares)
            .map(|((size, reads, random, align), share)| {
                Line { align: *align, ..Line::new(*size, share, (*reads, *random)) }
            })
            .collect();
        let head = "'ACCESS SPECIFICATIONS =\n'Access specification name,\n\tx,NONE\n";
        let mut text = head.to_owned();
        for Line { size, share, reads, random, align, .. } in &lines {
            text += &format!("\t{size},{share},{reads},{random},0,1,{align},0\n");
        }
        prop_assert_eq!(parse(&text), Ok(vec![Access { name: "x".into(), lines }]));
    }
}
