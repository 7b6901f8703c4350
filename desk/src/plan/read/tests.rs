//! Every refusal with its exact words, the defaults, and the plans that come with stend.

use super::read;
use crate::plan::example::catalogue;
use crate::plan::{budget, order, quicken};
use crate::record::{Plan, Settings, SteadyRule, Value};
use crate::unit::Quantity;

const DUEL: &str = include_str!("../../../../plans/nic-duel.toml");
const OFFLOADS: &str = include_str!("../../../../plans/offloads.toml");
const AA: &str = include_str!("../../../../plans/aa.toml");

/// A small plan of 14 lines in which each test spoils one thing.
const SMALL: &str = r#"title = "t"
[lab]
clients = 4
[lab.links.one]
mtu = "1500 B"
[lab.links.two]
mtu = "9000 B"
[factors.path]
levels = ["one", "two"]
[load.stream]
workload = "tcp_stream"
over = { request_size = "64..256 B *2" }
[method]
blocks = 5
"#;

fn plan(text: &str) -> Plan {
    read(text, &catalogue()).unwrap()
}

/// The words with which the small plan is refused once `from` is replaced by `to`.
fn refusal(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    read(&SMALL.replace(from, to), &catalogue()).unwrap_err().to_string()
}

fn check(cases: &[(&str, &str, &str)]) {
    for (from, to, words) in cases {
        assert_eq!(&refusal(from, to), words);
    }
}

#[test]
fn defaults_are_written_out() {
    let plan = plan("title = \"t\"\n[load.a]\nworkload = \"tcp_stream\"\n");
    assert_eq!(plan.question, "How much does a TCP stream carry?");
    assert_eq!((plan.lab.clients, plan.lab.links[0].name.as_str()), (4, "lan"));
    assert_eq!(plan.loads[0].fixed["request_size"], Value::Quantity(Quantity::bytes(65_536)));
    assert_eq!(plan.loads[0].fixed["streams"], Value::Count(1));
    let method = plan.method;
    assert_eq!((method.blocks, method.dry, method.primary.as_str()), (5, true, "throughput"));
    let times = [method.settle, method.settle_max, method.window].map(|time| time.value);
    assert_eq!(times, [1.0, 5.0, 2.0]);
    assert_eq!((method.curve, method.compare.as_str()), (None, ""));
}

#[test]
fn looks_that_contradict_or_do_not_rise_are_refused() {
    check(&[
        (
            "blocks = 5",
            "blocks = 5\nlooks = [5, 10, 20]",
            "line 14: blocks = 5 contradicts looks, whose last is 20; leave out blocks or make \
             them equal",
        ),
        (
            "blocks = 5",
            "looks = [5, 20, 10]",
            "line 14: look 10 comes after 20; write looks in rising order",
        ),
        (
            "blocks = 5",
            "looks = [5, 5]",
            "line 14: look 5 comes after 5; write looks in rising order",
        ),
        (
            "blocks = 5",
            "looks = [2, 10]",
            "line 14: 'looks' cannot be '2'; write a whole number from 3 to 1000",
        ),
        (
            "blocks = 5",
            "looks = 10",
            "line 14: 'looks' is the number 10; write a list such as [5, 10, 20, 40]",
        ),
        (
            "blocks = 5",
            "looks = [10]",
            "line 14: 1 look(s); write 2 to 6, or blocks = N without looks",
        ),
        (
            "blocks = 5",
            "looks = [3, 4, 5, 6, 7, 8, 9]",
            "line 14: 7 look(s); write 2 to 6, or blocks = N without looks",
        ),
        (
            "blocks",
            "steady = \"maybe\"\nblocks",
            "line 14: 'steady' cannot be 'maybe'; write \"required\" or \"noted\"",
        ),
    ]);
}

#[test]
fn boots_are_refused_where_they_are_too_few_or_for_nothing() {
    let booted = |method: &str| {
        format!("blocks = 5\n{method}\n[factors.tso]\nreboot = true\nlevels = [\"on\", \"off\"]")
    };
    let said = |method: &str| refusal("blocks = 5", &booted(method));
    assert_eq!(
        said("boots = 2"),
        "line 15: boots = 2: trials of one boot share what the boot brought along, so only boots \
         tell levels apart, three a level at the least; write boots = 3 or more"
    );
    assert_eq!(
        said("looks = [5, 10]"),
        "line 15: looks count blocks, and factor 'tso' needs boots, whose number is fixed; leave \
         out looks and write blocks = N and boots = N"
    );
    assert_eq!(
        said("boots = 1001"),
        "line 15: 'boots' cannot be '1001'; write a whole number from 3 to 1000"
    );
    assert_eq!(
        said("boot_time = \"1 ms\""),
        "line 15: 'boot_time' cannot be '1 ms'; write 50 ms or more"
    );
    for key in ["boots = 3", "boot_time = \"1 min\""] {
        let words = refusal("blocks = 5", &format!("blocks = 5\n{key}"));
        let name = key.split(' ').next().unwrap();
        assert_eq!(
            words,
            format!(
                "line 15: '{name}' is set, but no factor needs a reboot; write reboot = true in \
                 the table of the factor that does, or leave it out"
            )
        );
    }
    let many = SMALL.replace("blocks = 5", &booted("boots = 1000").replace("= 5", "= 1000"));
    let words = read(&many, &catalogue()).unwrap_err().to_string();
    assert!(words.contains("x 1001000 visits"), "{words}");
    let plain = booted("").replace("true", "\"yes\"");
    assert!(refusal("blocks = 5", &plain).contains("write true or false"));
}

#[test]
fn a_factor_that_needs_a_reboot_has_boots_and_a_time_for_each() {
    let with = |method: &str| {
        let text = format!("{method}\n[factors.tso]\nreboot = true\nlevels = [\"on\", \"off\"]");
        plan(&SMALL.replace("blocks = 5", &text)).method
    };
    let usual = with("");
    assert_eq!(
        (usual.boots, usual.blocks, usual.boot_time),
        (3, 5, Some(Quantity::seconds(120.0)))
    );
    let own = with("boots = 8\nboot_time = \"4 min\"");
    assert_eq!((own.boots, own.boot_time), (8, Some(Quantity::seconds(240.0))));
    let none = plan(SMALL);
    assert_eq!((none.method.boots, none.method.boot_time, none.boots()), (0, None, 0));
}

#[test]
fn looks_give_the_blocks_and_steady_is_read() {
    let looked = plan(&SMALL.replace("blocks = 5", "looks = [5, 10, 20, 40]"));
    assert_eq!((looked.method.looks, looked.method.blocks), (vec![5, 10, 20, 40], 40));
    let both = plan(&SMALL.replace("blocks = 5", "blocks = 20\nlooks = [5, 20]"));
    assert_eq!((both.method.looks, both.method.blocks), (vec![5, 20], 20));
    assert_eq!(plan(SMALL).method.steady, SteadyRule::Required);
    let noted = plan(&SMALL.replace("blocks = 5", "steady = \"noted\""));
    assert_eq!((noted.method.steady, noted.method.looks.len()), (SteadyRule::Noted, 0));
}

#[test]
fn the_plans_that_come_with_stend_are_read() {
    let duel = plan(DUEL);
    assert_eq!(order(&duel).len(), 2 * 2 * (3 * 7 + 2) * 6);
    assert_eq!(duel.published.as_deref(), Some("000"));
    assert_eq!(duel.method.curve.as_deref(), Some("request_size"));
    let offloads = plan(OFFLOADS);
    assert_eq!(order(&offloads).len(), 4 * 10 * 6);
    let levels: Vec<_> = offloads.factors[0].levels.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(levels, ["off", "on"]);
    let aa = plan(AA);
    assert_eq!(aa.lab.links[0].settings, aa.lab.links[1].settings);
    assert_eq!(budget(&aa).family, 1);
}

#[test]
fn the_quick_duel_takes_at_most_ten_minutes() {
    let mut duel = plan(DUEL);
    quicken(&mut duel);
    let budget = budget(&duel);
    assert_eq!((budget.trials, budget.dry_trials), (460, 92));
    assert!(budget.longest.value <= 600.0, "{}", budget.longest);
}

#[test]
fn levels_and_sweeps_keep_the_order_of_the_text() {
    let bundle = "[factors.p]\nkey = \"profile\"\nlevels = { z = { gro = \"off\" }, a = { gro = \
                  \"on\" } }\n[factors.b]\nkey=\"tso\"\nlevels=[\"on\",\"off\"]\n";
    let text = SMALL.replace("[load.stream]", &format!("{bundle}[load.stream]"));
    let plan = plan(&text.replace("{ request", "{ streams = [4, \"1..2 *2\"], request"));
    let names: Vec<_> = plan.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["path", "p", "b"]);
    assert_eq!(plan.factors[1].levels[0].name, "z");
    let (name, streams) = &plan.loads[0].over[0];
    assert_eq!(name, "streams");
    assert_eq!(streams, &[4, 1, 2].map(Value::Count));
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    check(&[
        (
            "over = { request_size",
            "over = { requst_size",
            "line 12: unknown key 'requst_size'; did you mean 'request_size'?",
        ),
        (
            "clients",
            "colour",
            "line 3: unknown key 'colour'; known here: boxes, clients, client_rate, hosts, \
             links, machine, ip_version, path_delay, receive_buffer, thp",
        ),
        ("[method]", "[methods]", "line 13: unknown key 'methods'; did you mean 'method'?"),
        (
            "\"tcp_stream\"",
            "\"tcp_steam\"",
            "line 11: there is no workload 'tcp_steam'; did you mean 'tcp_stream'?",
        ),
        (
            "levels",
            "key = \"paths\"\nlevels",
            "line 9: there is no factor 'paths'; did you mean 'path'?",
        ),
        (
            "blocks",
            "primary = \"latency\"\nblocks",
            "line 14: there is no metric 'latency'; known here: throughput, operations, packets, \
             mean_segment, delay",
        ),
        (
            "mtu = \"1500 B\"",
            "mut = 1",
            "line 5: unknown key 'mut'; known here: mtu, tso, gso, gro, \
          checksum, rate",
        ),
    ]);
}

#[test]
fn a_quantity_needs_its_unit() {
    check(&[
        (
            "\"1500 B\"",
            "1500",
            "line 5: 'mtu': '1500' has no unit; write for instance 64 B or 256 KiB",
        ),
        (
            "\"1500 B\"",
            "\"1500 ms\"",
            "line 5: 'mtu': 'ms' in '1500 ms' is not a unit of size; write one of B, KiB, MiB, \
             GiB, K, M, G",
        ),
        (
            "blocks",
            "window = 0.8\nblocks",
            "line 14: 'window': '0.8' has no unit; write for instance 300 ms or 2 s",
        ),
        (
            "64..256 B *2",
            "256..64 B *2",
            "line 12: 'request_size': the sweep '256..64 B *2' is empty: its lower bound is above \
             its upper bound",
        ),
        ("\"64..256 B *2\"", "[]", "line 12: 'request_size' has no values; write at least one"),
        (
            "\"64..256 B *2\"",
            "[\"64 B\", \"64..128 B *2\"]",
            "line 12: 'request_size' holds '64 B' twice; every value must differ",
        ),
        (
            "over =",
            "streams = \"1..4 *2\"\nover =",
            "line 12: 'streams' is one value here, not '1..4 *2'; sweeps and lists of a load stand \
             in over = { ... }",
        ),
    ]);
}

#[test]
fn a_value_of_the_wrong_type_or_size_is_refused() {
    check(&[
        ("= 4", "= 65", "line 3: 'clients' cannot be '65'; write a whole number from 1 to 64"),
        ("= 4", "= [4]", "line 3: 'clients' is a list; write a whole number"),
        (
            "1500 B",
            "100 B",
            "line 5: 'mtu' cannot be '100 B'; write a whole number from 576 B to 64.0 KiB",
        ),
        (
            "mtu = \"1500 B\"",
            "tso = false",
            "line 5: 'tso' is the truth value false; write one of on, off in quotes",
        ),
        (
            "over =",
            "direction = \"transmitt\"\nover =",
            "line 12: 'direction' cannot be 'transmitt'; write one of transmit, receive, duplex, \
             between; \
             did you mean 'transmit'?",
        ),
        (
            "over =",
            "congestion = \"b b r\"\nover =",
            "line 12: 'congestion' cannot be 'b b r'; write 1 to 15 letters, digits, '-' or '_'",
        ),
        (
            "blocks = 5",
            "blocks = 2",
            "line 14: blocks = 2: no interval from fewer than three; write 3 or more",
        ),
        (
            "blocks = 5",
            "blocks = 1001",
            "line 14: 'blocks' cannot be '1001'; write a whole number from 3 to 1000",
        ),
        (
            "blocks",
            "window = \"49 ms\"\nblocks",
            "line 14: 'window' cannot be '49 ms'; write 50 ms or more",
        ),
        (
            "blocks",
            "settle = \"2 s\"\nsettle_max = \"1 s\"\nblocks",
            "line 15: settle_max = 1 s is below settle = 2 s; raise settle_max",
        ),
        ("title = \"t\"", "", "line 1: 'title' is missing; begin the plan with title = \"...\""),
    ]);
    let words = refusal("clients = 4", "clients = ");
    assert!(words.starts_with("line 3: not TOML: "), "{words}");
}

#[test]
fn a_factor_that_cannot_be_is_refused() {
    let one_link = SMALL.replace("[lab.links.two]\nmtu = \"9000 B\"\n", "");
    assert_eq!(
        read(&one_link, &catalogue()).unwrap_err().to_string(),
        "line 7: a path needs two links to choose from, the plan has one; add a second table \
         [lab.links.NAME]"
    );
    let bundle = |levels: &str| format!("[factors.p]\nkey = \"profile\"\nlevels = {levels}\n[load");
    check(&[
        (
            "\"two\"]",
            "\"tow\"]",
            "line 9: path level 'tow' is not a link of the plan; known here: one, two",
        ),
        (", \"two\"", "", "line 9: factor 'path' has 1 level(s); a comparison needs two or more"),
        ("\"two\"]", "\"one\"]", "line 9: levels 'one' and 'one' of factor 'path' set the same"),
        (
            "[load",
            "[factors.f]\nkey = \"rate\"\nlevels = [\"1 Gbit/s\", \"1000 Mbit/s\"]\n[load",
            "line 12: levels '1 Gbit/s' and '1000 Mbit/s' of factor 'f' set the same",
        ),
        (
            "mtu = \"1500 B\"",
            "congestion = \"cubic\"",
            "line 5: 'congestion' cannot be set here; what can be set here is mtu, tso, gso, gro, \
             checksum, rate",
        ),
        (
            "[load",
            &bundle("{ x = { path = \"one\" }, y = { path = \"two\" } }"),
            "line 12: 'path' cannot be set here; what can be set here is mtu, tso, gso, gro, \
             checksum, rate, ip_version, path_delay, receive_buffer, congestion, thp",
        ),
        (
            "[load",
            &bundle("{ x = { gro = \"on\" }, y = {} }"),
            "line 12: level 'y' of factor 'p' does not say 'gro', which 'x' sets; set it in every \
             level",
        ),
        (
            "[load",
            "[factors.mtu]\nlevels = [\"1500 B\", \"9000 B\"]\n[load",
            "line 11: link 'two' and factor 'mtu' both set 'mtu'; leave it to one of them",
        ),
    ]);
}

#[test]
fn one_thing_is_set_in_one_place() {
    let tso = "[factors.tso]\nlevels = [\"on\", \"off\"]\n[factors.p]\nkey = \"profile\"\nlevels = \
               { x = { tso = \"on\" }, y = { tso = \"off\" } }\n[load";
    let congestion = "[factors.congestion]\nlevels = [\"cubic\", \"bbr\"]\n[load.stream]\n\
                      congestion = \"cubic\"";
    check(&[
        (
            "[load",
            tso,
            "line 14: factor 'tso' and factor 'p' both set 'tso'; leave it to one of them",
        ),
        (
            "[load.stream]",
            congestion,
            "line 13: load 'stream' and factor 'congestion' both set 'congestion'; leave it to one \
             of them",
        ),
        (
            "over =",
            "request_size = \"1 KiB\"\nover =",
            "line 13: the load and its over both set 'request_size'; leave it to one of them",
        ),
    ]);
}

#[test]
fn a_factor_may_start_from_a_links_setting_where_no_path_is_chosen() {
    let factor = "[factors.mtu]\nlevels = [\"1500 B\", \"9000 B\"]";
    let text = SMALL.replace("[factors.path]\nlevels = [\"one\", \"two\"]", factor);
    assert_eq!(plan(&text).method.compare, "mtu");
}

#[test]
fn a_setting_of_the_machine_is_a_factor_a_part_of_a_bundle_or_stands_for_the_whole_run() {
    let thp = |level: &str| Settings::from([("thp".into(), Value::Word(level.into()))]);
    let whole = plan(&SMALL.replace("clients = 4", "clients = 4\nthp = \"never\""));
    assert_eq!(whole.lab.settings, thp("never"));
    let factor = "[factors.thp]\nlevels = [\"madvise\", \"never\"]\n[load";
    let switched = plan(&SMALL.replace("[load", factor));
    assert_eq!(switched.factors[1].levels[1].settings, thp("never"));
    let bundle = "[factors.p]\nkey = \"profile\"\nlevels = { x = { thp = \"always\" }, y = { thp = \
                  \"never\" } }\n[load";
    let bundled = plan(&SMALL.replace("[load", bundle));
    assert_eq!(bundled.factors[1].levels[0].settings, thp("always"));
    check(&[
        (
            "mtu = \"1500 B\"",
            "thp = \"never\"",
            "line 5: 'thp' cannot be set here; what can be set here is mtu, tso, gso, gro, \
             checksum, rate",
        ),
        (
            "clients = 4",
            "thp = \"sometimes\"",
            "line 3: 'thp' cannot be 'sometimes'; write one of always, madvise, never",
        ),
    ]);
}

#[test]
fn a_comparison_or_curve_of_nothing_is_refused() {
    check(&[
        (
            "blocks",
            "compare = \"pathh\"\nblocks",
            "line 14: compare = 'pathh' is not a factor of this plan; did you mean 'path'?",
        ),
        (
            "blocks",
            "curve = \"streams\"\nblocks",
            "line 14: curve = 'streams' is not a swept size, rate or count; known here: \
             request_size",
        ),
    ]);
}

#[test]
fn arithmetic_of_the_plan_is_shown() {
    let text = SMALL.replace("mtu = \"9000 B\"", "rate = \"10 Gbit/s\"");
    let text = text.replace("clients = 4", "clients = 4\nclient_rate = \"1 Gbit/s\"");
    assert_eq!(
        read(&text, &catalogue()).unwrap_err().to_string(),
        "line 4: 4 client(s) x 1 Gbit/s = 4 Gbit/s, less than the 10 Gbit/s of link 'two': the \
         clients would be measured, not the link; take 10 clients or a client_rate of at least \
         2.50 Gbit/s"
    );
    assert!(read(&text.replace("clients = 4", "clients = 10"), &catalogue()).is_ok());
    let level = "clients = 1\nclient_rate = \"1 Mbit/s\"";
    let factor = "[factors.rate]\nlevels = [\"1 Mbit/s\", \"2 Mbit/s\"]\n[load";
    let words = read(&SMALL.replace("clients = 4", level).replace("[load", factor), &catalogue());
    let words = words.unwrap_err().to_string();
    assert!(
        words.contains("less than the 2 Mbit/s of level '2 Mbit/s' of factor 'rate'"),
        "{words}"
    );
    let crowd =
        SMALL.replace("clients = 4", "clients = 64").replace("over =", "streams = 17\nover =");
    assert_eq!(
        read(&crowd, &catalogue()).unwrap_err().to_string(),
        "line 12: 17 streams x 64 clients = 1088 connections; at most 1024"
    );
    let part = |words: &str| SMALL.replace("over = {", &format!("over = {{ {words},"));
    assert_eq!(
        read(&part("clients = \"1..5 +2\""), &catalogue()).unwrap_err().to_string(),
        "line 12: load 'stream' wants 5 clients, and the lab has 4; write clients = 5 in [lab]"
    );
    assert!(read(&part("clients = \"1..4 +1\""), &catalogue()).is_ok());
    assert!(read(&part("clients = [1, \"all\"]"), &catalogue()).is_ok());
    let between = SMALL.replace("clients = 4", "clients = 1");
    let between = between.replace("over =", "direction = \"between\"\nover =");
    assert_eq!(
        read(&between, &catalogue()).unwrap_err().to_string(),
        "line 12: load 'stream' goes between two clients, and the lab has 1; write clients = 2 in \
         [lab], or direction = \"transmit\""
    );
    assert!(read(&between.replace("clients = 1", "clients = 2"), &catalogue()).is_ok());
    let long = SMALL.replace("64..256 B *2", "1..60 B +1 B").replace("blocks = 5", "blocks = 1000");
    assert_eq!(
        read(&long, &catalogue()).unwrap_err().to_string(),
        "line 14: 60 points x 2 treatments x 1001 visits = 120120 trials; at most 100000, take \
         fewer values or blocks"
    );
}

#[test]
fn tso_without_checksums_is_refused_wherever_the_two_meet() {
    let words = |place: &str, line: u32| {
        format!(
            "line {line}: checksum = off drags tso off with it, yet tso = on is asked together \
             with it ({place}); write tso = \"off\" or checksum = \"on\""
        )
    };
    let link = refusal("mtu = \"1500 B\"", "tso = \"on\"\nchecksum = \"off\"");
    assert_eq!(link, words("link one, path one", 6));
    let factor = "[factors.checksum]\nlevels = [\"on\", \"off\"]\n[load";
    let text = SMALL.replace("mtu = \"9000 B\"", "tso = \"on\"").replace("[load", factor);
    let met = read(&text, &catalogue()).unwrap_err().to_string();
    assert_eq!(met, words("link two, checksum off, path two", 11));
    let bundle = "[factors.p]\nkey = \"profile\"\nlevels.x = { tso = \"on\", checksum = \"on\" }\n\
                  levels.y = { tso = \"on\", checksum = \"off\" }\n[load";
    assert_eq!(refusal("[load", bundle), words("link one, p y, path one", 12));
}

#[test]
fn a_published_test_is_known_or_refused() {
    let named = SMALL.replace("[lab]", "published = \"000\"\n[lab]");
    assert_eq!(plan(&named).published.as_deref(), Some("000"));
    assert_eq!(plan(SMALL).published, None);
    check(&[
        (
            "[lab]",
            "published = \"007\"\n[lab]",
            "line 2: there is no published test '007'; did you mean '000'?",
        ),
        (
            "[lab]",
            "published = \"NetBench\"\n[lab]",
            "line 2: there is no published test 'NetBench'; known here: 000, 001, 002, 003, 004",
        ),
    ]);
}

#[test]
fn a_plan_may_class_keys_of_the_environment_anew() {
    use crate::record::KeyClass;
    let with = |lines: &str| read(&format!("{SMALL}[environment]\n{lines}\n"), &catalogue());
    let quoted = with("\"kernel.release\" = \"info\"\nos = \"factor\"").unwrap();
    let open = with("kernel.release = \"info\"\nos = \"factor\"").unwrap();
    assert_eq!(quoted.reclass, open.reclass);
    let classes = [("kernel.release", KeyClass::Info), ("os", KeyClass::Factor)];
    assert_eq!(quoted.reclass, classes.map(|(k, c)| (k.to_owned(), c)).into());
    assert!(with("moon.phase = \"critical\"").is_ok(), "an unknown key is taken");
    for (line, words) in [
        ("os = \"infos\"", "line 16: there is no class of a key 'infos'; did you mean 'info'?"),
        (
            "os = \"warm\"",
            "line 16: there is no class of a key 'warm'; known here: critical, factor, identity, \
             info",
        ),
        (
            "os = 3",
            "line 16: 'os' is the number 3; write one of critical, factor, identity, info in \
             quotes",
        ),
        (
            "\"stend.version\" = \"info\"",
            "line 16: 'stend.version' cannot be set here; it says what is measured and must match \
             in every comparison; leave it out",
        ),
    ] {
        assert_eq!(with(line).unwrap_err().to_string(), words);
    }
}

const FACT: &str = "[[fact]]\nof = \"one\"\nwhat = \"mass\"\nvalue = \"1.2 kg\"\n\
                    source = \"price list\"\ndate = \"2026-11-21\"\n";

#[test]
fn a_person_enters_facts_of_a_level_and_of_the_test_bed() {
    let bed = FACT.replace("of = \"one\"\n", "").replace("mass\"\n", "ambient\"\n");
    let words = FACT.replace("\"mass\"", "\"warranty\"").replace("1.2 kg", "3 years");
    let bed = bed.replace("1.2 kg", "22 °C");
    let facts = plan(&format!("{SMALL}{FACT}{bed}{words}")).facts;
    assert_eq!((facts[0].of.as_deref(), facts[1].of.as_deref()), (Some("one"), None));
    let shown: Vec<String> = facts.iter().map(|f| f.value.to_string()).collect();
    assert_eq!(shown, ["1.20 kg", "22 °C", "3 years"]);
    assert_eq!(facts[0].factor.as_deref(), Some("path"), "of a level");
    let text = serde_json::to_string(&plan(SMALL)).unwrap();
    assert!(!text.contains("facts"), "a plan without facts is stored as before");
}

#[test]
fn a_fact_is_refused_with_line_value_and_remedy() {
    for (from, to, words) in [
        ("\"one\"", "\"won\"", "line 16: there is no level or link 'won'; known here: one, two"),
        ("1.2 kg", "1.2", "line 18: 'value': '1.2' has no unit; write for instance "),
        ("1.2 kg", "0 kg", "line 18: 'value' cannot be '0 kg'; write a value above 0"),
        ("2026-11-21", "21.11.", "line 20: 'date' cannot be '21.11.'; write a day, as in"),
        ("source = ", "from = ", "line 19: unknown key 'from'; "),
        ("date = \"2026-11-21\"\n", "", "line 15: 'date' is missing; say when it was so"),
        ("[[fact]]", "[fact]", "line 15: 'fact' is a table; write tables [[fact]]"),
    ] {
        assert!(FACT.contains(from), "{from}");
        let text = format!("{SMALL}{}", FACT.replace(from, to));
        let said = read(&text, &catalogue()).unwrap_err().to_string();
        assert!(said.starts_with(words), "{said}");
    }
}

const ASKED: &str = r#"title = "t"
[factors.tso]
levels = ["on", "off"]
[factors.mtu]
levels = ["1500 B", "9000 B"]
[load.stream]
workload = "tcp_stream"
over = { direction = ["transmit", "receive"], request_size = "64..256 B *2" }
[method]
primary_comparison = { direction = "receive", mtu = "9000 B" }
"#;

#[test]
fn the_primary_comparison_is_written_out_with_what_leaves_no_choice() {
    let named = plan(ASKED).method.primary_comparison.unwrap();
    assert_eq!((named.level.as_str(), named.load.as_str()), ("off", "stream"));
    assert_eq!(named.stratum, [("mtu".to_owned(), "9000 B".to_owned())].into());
    let receive = ("direction".to_owned(), Value::Word("receive".into()));
    assert_eq!(named.fixed, Settings::from([receive]));
    assert_eq!(plan(SMALL).method.primary_comparison, None);
    let text = serde_json::to_string(&plan(SMALL)).unwrap();
    assert!(!text.contains("primary_comparison"), "a plan without one is stored as before");
}

#[test]
fn a_primary_comparison_that_is_none_or_several_is_refused() {
    for (from, to, words) in [
        (
            "direction = \"receive\", ",
            "",
            "line 10: primary_comparison fits several comparisons: 'direction' is open; write one \
             of \"transmit\", \"receive\"",
        ),
        (
            "\"receive\", mtu",
            "\"back\", mtu",
            "line 10: 'direction' cannot be 'back'; write one of transmit, receive, duplex, \
             between",
        ),
        (
            "direction = \"receive\", mtu = \"9000 B\" }",
            "level = \"on\", direction = \"receive\", mtu = \"9000 B\" }",
            "line 10: there is no level besides the baseline 'on'; known here: off",
        ),
        (
            "mtu = \"9000 B\" }",
            "mtu = \"9000 B\", request_size = \"64 B\" }",
            "line 10: unknown key 'request_size'; known here: level, load, mtu, direction",
        ),
    ] {
        assert!(ASKED.contains(from), "{from}");
        assert_eq!(read(&ASKED.replace(from, to), &catalogue()).unwrap_err().to_string(), words);
    }
}
