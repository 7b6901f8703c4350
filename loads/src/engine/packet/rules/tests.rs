//! The text of rules comes back, what is no rule is refused with line, value and remedy, and
//! packets at the edges of rules find what differs between two lists.

use super::*;
use crate::engine::packet::chance::Chance;
use proptest::prelude::*;

#[test]
fn a_list_of_classbench_is_read() {
    let text = "# acl\n\n@10.1.0.0/16\t0.0.0.0/0\t0 : 65535\t80 : 443\t0x06/0xFF\n\
                @1.2.3.4/32 5.6.7.0/24 1 : 1 0 : 65535 0x00/0x00 0x1000/0x0000\n";
    let rules = read(text).unwrap();
    let first = Rule {
        src: Prefix { address: 0x0A01_0000, len: 16 },
        dst_ports: (80, 443),
        protocol: Some(6),
        ..Rule::ANY
    };
    assert_eq!(rules[0], first);
    assert_eq!(rules[1].to_string(), "@1.2.3.4/32 5.6.7.0/24 1 : 1 0 : 65535 0x00/0x00");
}

#[test]
fn what_is_no_rule_is_refused_with_line_value_and_remedy() {
    let ends = "0 : 65535 80 : 80 0x06/0xff";
    for (line, said) in [
        ("10.0.0.0/8 0.0.0.0/0 0 : 1 0 : 1 0x06/0xff", "does not begin with @; write @src/len"),
        ("@10.0.0.0/8 0.0.0.0/0 0 : 1", "has 5 words, not 9"),
        (&format!("@10.0.0.0 0.0.0.0/0 {ends}"), "'10.0.0.0' is no prefix; write 10.1.0.0/16"),
        (&format!("@10.0.0.0/33 0.0.0.0/0 {ends}"), "more than 32 bits; write a length from 0"),
        (&format!("@10.0.0.1/8 0.0.0.0/0 {ends}"), "bits behind its length; write 10.0.0.0/8"),
        ("@0.0.0.0/0 0.0.0.0/0 0 : 65536 0 : 1 0x06/0xff", "'65536' is no port; write a number"),
        ("@0.0.0.0/0 0.0.0.0/0 9 : 8 0 : 1 0x06/0xff", "end before they begin; write 8 : 9"),
        ("@0.0.0.0/0 0.0.0.0/0 0 : 8 0 : 1 tcp", "'tcp' is no protocol; write 0x06/0xff"),
        ("@0.0.0.0/0 0.0.0.0/0 0 : 8 0 : 1 0x06/0xf0", "mask 0xf0 of a protocol is neither"),
        (&format!("@0.0.0.0/0 0.0.0.0/0 {ends} 0x1000/0x1000"), "flags '0x1000/0x1000' are not"),
    ] {
        let refused = read(&format!("\n{line}\n")).unwrap_err().to_string();
        assert!(refused.starts_with("line 2: ") && refused.contains(said), "{refused}");
    }
    assert!(read("# nothing\n").unwrap_err().to_string().contains("write one a line: @10"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_in_a_line(text in "\\PC{0,200}") {
        if let Err(refused) = read(&text) {
            let told = refused.to_string();
            prop_assert!(told.lines().count() == 1 && told.len() < 300, "{told}");
        }
    }

    #[test]
    fn lines_with_a_fault_are_read_or_refused(
        at in 0_usize..60, put in "[ -~]{0,4}", seed in any::<u64>(),
    ) {
        let mut line = generate(1, &Mix::FIREWALL, seed)[0].to_string();
        let at = at.min(line.len());
        line.replace_range(at..(at + 1).min(line.len()), &put);
        match read(&line) {
            // What is read means what its own text says.
            Ok(rules) => prop_assert_eq!(read(&rules[0].to_string()).unwrap(), rules),
            Err(RulesError::Line { line, why }) => {
                prop_assert!(line == 1 && why.contains("write"), "{why}");
            }
            Err(RulesError::Empty) => prop_assert!(line.trim().is_empty() || line.starts_with('#')),
            Err(RulesError::TooMany) => prop_assert!(false),
        }
    }

    #[test]
    fn generated_lists_are_read_as_they_were_written(seed in any::<u64>()) {
        for mix in [Mix::ACL, Mix::FIREWALL] {
            let rules = generate(50, &mix, seed);
            let text: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
            prop_assert_eq!(read(&text).unwrap(), rules);
        }
    }
}

#[test]
fn a_list_is_as_its_mix_says_and_the_same_for_a_seed() {
    let rules = generate(5000, &Mix::ACL, 1);
    assert_eq!(rules, generate(5000, &Mix::ACL, 1));
    assert_ne!(rules, generate(5000, &Mix::ACL, 2));
    let share = |is: &dyn Fn(&Rule) -> bool| {
        f64::from(u32::try_from(rules.iter().filter(|rule| is(rule)).count()).unwrap()) / 5000.0
    };
    let near = |what: &str, share: f64, wanted: f64| {
        assert!((share - wanted).abs() < 0.04, "{what}: {share}, not {wanted}");
    };
    near("pairs of hosts", share(&|rule| rule.src.len == 32 && rule.dst.len == 32), 0.752);
    near("TCP", share(&|rule| rule.protocol == Some(6)), 0.873);
    near("one port", share(&|rule| rule.dst_ports.0 == rule.dst_ports.1), 0.884 * 0.656);
    assert!((share(&|rule| rule.src_ports == ANY_PORT) - 1.0).abs() < 1e-9);
    let distinct: std::collections::BTreeSet<&Rule> = rules.iter().collect();
    assert_eq!(distinct.len(), 5000);
}

#[test]
fn corners_are_inside_and_beyond_one_side() {
    for rule in generate(300, &Mix::FIREWALL, 5) {
        let mut inside = 0;
        for (tuple, side) in sides(&rule) {
            let fields = rule.fields(&tuple);
            match side {
                Side::Inside => inside += usize::from(rule.matches(&tuple)),
                Side::Beyond(field) => {
                    let wrong: Vec<usize> = (0..5).filter(|at| !fields[*at]).collect();
                    assert_eq!(wrong, [field], "{rule}: {tuple:?}");
                }
            }
        }
        assert!(inside.is_power_of_two(), "{inside} corners of {rule}");
    }
    assert_eq!(corners(&Rule::ANY).count(), 32);
}

/// A rule that differs from another in one bound of one field.
fn mutant(rule: &Rule, chance: &mut Chance) -> Rule {
    let mut mutant = *rule;
    let prefix = |prefix: Prefix, chance: &mut Chance| {
        let longer = chance.happens(0.3) && prefix.len < 32 || prefix.len == 0;
        let flips = !longer && chance.happens(0.5);
        match (longer, flips) {
            (true, _) => Prefix { len: prefix.len + 1, ..prefix },
            (_, true) => Prefix { address: prefix.address ^ 1 << (32 - prefix.len), ..prefix },
            _ => Prefix::around(prefix.address, prefix.len - 1),
        }
    };
    let ports = |(low, high): (u16, u16), chance: &mut Chance| match chance.below(4) {
        0 if low > 0 => (low - 1, high),
        1 if low < high => (low + 1, high),
        2 if high < u16::MAX => (low, high + 1),
        _ if low < high => (low, high - 1),
        _ => (low.saturating_sub(1), high.saturating_sub(1)),
    };
    match chance.below(5) {
        0 => mutant.src = prefix(rule.src, chance),
        1 => mutant.dst = prefix(rule.dst, chance),
        2 => mutant.src_ports = ports(rule.src_ports, chance),
        3 => mutant.dst_ports = ports(rule.dst_ports, chance),
        _ => mutant.protocol = rule.protocol.map_or(Some(6), |one| Some(one ^ 1)),
    }
    mutant
}

/// Whether a list in which one rule is another answers a packet of these otherwise.
///
/// Only packets that one of the two matches, and no rule before them, can tell.
fn is_found(rules: &[Rule], (at, mutant): (usize, &Rule), packets: &[Tuple]) -> bool {
    packets.iter().any(|packet| {
        rules[at].matches(packet) != mutant.matches(packet)
            && first_match(&rules[..at], packet).is_none()
    })
}

#[test]
fn corners_of_ten_thousand_rules_find_each_of_a_thousand_mutations() {
    let rules = generate(10_000, &Mix::ACL, 11);
    let mut chance = Chance::of(12);
    let (mut found, mut hidden) = (0, 0);
    while found < 1000 {
        let at = chance.index(rules.len());
        let mutant = mutant(&rules[at], &mut chance);
        assert_ne!(mutant, rules[at]);
        let own: Vec<Tuple> = corners(&rules[at]).collect();
        if is_found(&rules, (at, &mutant), &own) {
            found += 1;
            continue;
        }
        // Not by its own corners: by those of any rule, or what differs is hidden by rules before.
        let all: Vec<Tuple> = rules[..at].iter().flat_map(corners).collect();
        if is_found(&rules, (at, &mutant), &all) {
            found += 1;
        } else {
            let why = || format!("{} became {mutant}, and no corner tells", rules[at]);
            assert!(is_hidden(&rules[..at], (&rules[at], &mutant)), "{}", why());
            hidden += 1;
        }
    }
    assert!(hidden < 50, "{hidden} of {} mutations change no answer", hidden + found);
}

/// Whether rules match every packet that exactly one of two other rules matches, found by cutting
/// those packets into boxes.
fn is_hidden(before: &[Rule], (one, other): (&Rule, &Rule)) -> bool {
    let (one, other) = (bounds(one), bounds(other));
    let differ = [less(&one, &other), less(&other, &one)].concat();
    differ.into_iter().all(|rest| {
        before
            .iter()
            .fold(vec![rest], |rest, rule| {
                let rule = bounds(rule);
                rest.iter().flat_map(|one| less(one, &rule)).collect()
            })
            .is_empty()
    })
}

/// A box without another, as boxes.
fn less(one: &[(u32, u32); 5], other: &[(u32, u32); 5]) -> Vec<[(u32, u32); 5]> {
    let apart = (0..5).any(|at| one[at].1 < other[at].0 || other[at].1 < one[at].0);
    if apart {
        return vec![*one];
    }
    let (mut rest, mut left) = (Vec::new(), *one);
    for at in 0..5 {
        let ((low, high), (from, to)) = (left[at], other[at]);
        if low < from {
            let mut part = left;
            part[at] = (low, from - 1);
            rest.push(part);
        }
        if to < high {
            let mut part = left;
            part[at] = (to + 1, high);
            rest.push(part);
        }
        left[at] = (low.max(from), high.min(to));
    }
    rest
}

fn bounds(rule: &Rule) -> [(u32, u32); 5] {
    let ports = |(low, high): (u16, u16)| (u32::from(low), u32::from(high));
    let protocol = rule.protocol.map_or((0, 255), |one| (one.into(), one.into()));
    [rule.src.range(), rule.dst.range(), ports(rule.src_ports), ports(rule.dst_ports), protocol]
}
