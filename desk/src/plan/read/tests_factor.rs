//! Factors that are parameters of the loads, that a person sets, and that name CPUs.

use super::read;
use crate::plan::example::catalogue;
use crate::plan::{Catalogue, order};
use crate::record::{
    Better, FactorSpec, MetricRole, MetricSpec, ParamKind, ParamSpec, Place, Plan, Scope, Value,
    WorkloadSpec,
};
use crate::unit::{Kind, Quantity, Unit};

const fn param(name: &'static str, kind: ParamKind, default: &'static str) -> ParamSpec {
    ParamSpec { name, about: "", role: None, kind, default }
}

const RATE: &[MetricSpec] = &[MetricSpec {
    name: "rate",
    title: "rate",
    role: MetricRole::Rate,
    unit: Unit::BytePerSecond,
    better: Better::Higher,
    limit: "",
}];

static COPY: WorkloadSpec = WorkloadSpec {
    name: "copy",
    question: "How fast?",
    revision: 1,
    place: Place::Machine,
    params: &[
        param("pages", ParamKind::choice(&["base", "huge"]), "huge"),
        param("threads", ParamKind::count(1, 64), "1"),
    ],
    metrics: RATE,
    quantiles: &[],
    derives: &[],
};
static SIGN: WorkloadSpec = WorkloadSpec {
    name: "sign",
    question: "How many?",
    revision: 1,
    place: Place::Machine,
    params: &[param("threads", ParamKind::choice(&["1", "all"]), "1")],
    metrics: RATE,
    quantiles: &[],
    derives: &[],
};
const POLL: ParamKind = ParamKind::within(Kind::Duration, 0.0, 10e-3).by(1e-6);
const COUNT: ParamKind = ParamKind::count(1, 1024);
const CLOCK: ParamKind = ParamKind::within(Kind::Frequency, 1e3, 1e11).by(1e3);
static FACTORS: [FactorSpec; 8] = [
    FactorSpec { name: "clock", about: "", scope: Scope::Machine, kind: CLOCK },
    FactorSpec { name: "poll", about: "", scope: Scope::Machine, kind: POLL },
    FactorSpec { name: "congestion", about: "", scope: Scope::Socket, kind: ParamKind::WORD },
    FactorSpec { name: "cpus", about: "", scope: Scope::Side, kind: ParamKind::CPUS },
    FactorSpec { name: "online_cpus", about: "", scope: Scope::Machine, kind: COUNT },
    FactorSpec { name: "smt", about: "", scope: Scope::Machine, kind: ParamKind::WORD },
    FactorSpec { name: "net.core.budget", about: "", scope: Scope::Machine, kind: COUNT },
    FactorSpec { name: "profile", about: "", scope: Scope::Profile, kind: ParamKind::WORD },
];

fn of(loads: &[&str], factors: &str) -> Result<Plan, String> {
    let loads: Vec<String> =
        loads.iter().map(|name| format!("[load.{name}]\nworkload = \"{name}\"\n")).collect();
    let text = format!("title = \"t\"\n{factors}\n{}", loads.concat());
    let catalogue = Catalogue { workloads: &[&COPY, &SIGN], factors: &FACTORS };
    read(&text, &catalogue).map_err(|e| e.to_string())
}

#[test]
fn any_parameter_of_the_loads_is_a_factor_and_is_set_by_its_levels() {
    let plan = of(&["copy"], "[factors.pages]\nlevels = [\"huge\", \"base\"]").unwrap();
    assert_eq!(plan.method.compare, "pages");
    let mut words: Vec<String> =
        order(&plan).iter().map(|t| t.settings["pages"].to_string()).collect();
    words.sort();
    words.dedup();
    assert_eq!(words, ["base", "huge"]);
    let named = "[factors.crowd]\nkey = \"threads\"\nlevels = [1, 4]";
    let plan = of(&["copy"], named).unwrap();
    assert_eq!(plan.factors[0].levels[1].settings["threads"], Value::Count(4));
    let both = "[factors.profile]\nlevels.plain = { pages = \"base\", cpus = 1 }\n\
                levels.rich = { pages = \"huge\", cpus = \"0-1\" }";
    let plan = of(&["copy"], both).unwrap();
    assert_eq!(plan.factors[0].levels[0].settings["cpus"], Value::Count(1));
    assert_eq!(plan.factors[0].levels[1].settings["cpus"], Value::Word("0-1".into()));
}

#[test]
fn a_parameter_that_not_every_load_has_or_reads_alike_is_refused() {
    let cases = [
        (
            "[factors.pages]\nlevels = [\"huge\", \"base\"]",
            "line 3: 'pages' is no parameter of load 'sign' (workload sign), so its levels would \
             not differ there; in all loads are threads; else measure them in two plans",
        ),
        (
            "[factors.threads]\nlevels = [1, 2]",
            "line 3: 'levels' is the number 1; write one of 1, all in quotes",
        ),
        (
            "[factors.threads]\nlevels = [\"1\", \"all\"]",
            "line 3: 'threads' = '1' is another thing in load 'copy' than in load 'sign'; measure \
             them in two plans",
        ),
        (
            "[factors.congestion]\nlevels = [\"kernel\", \"cubic\"]",
            "line 3: 'congestion' is no parameter of load 'copy' (workload copy), so its levels \
             would not differ there; in all loads are threads; else measure them in two plans",
        ),
        (
            "[factors.thread]\nlevels = [\"1\", \"2\"]",
            "line 2: there is no factor 'thread'; did you mean 'threads'?",
        ),
    ];
    for (factors, words) in cases {
        assert_eq!(of(&["copy", "sign"], factors).unwrap_err(), words);
    }
    let twice = "[load.copy]\nworkload = \"copy\"\npages = \"base\"\n\
                 [factors.pages]\nlevels = [\"huge\", \"base\"]";
    let words = of(&[], twice).unwrap_err();
    assert!(words.contains("load 'copy' and factor 'pages' both set 'pages'"), "{words}");
}

#[test]
fn cpus_are_a_number_or_a_list_and_nothing_else() {
    let levels = |two: &str| of(&["copy"], &format!("[factors.cpus]\nlevels = [1, {two}]"));
    let second = |two| levels(two).unwrap().factors[0].levels[1].settings["cpus"].clone();
    assert_eq!(second("2"), Value::Count(2));
    assert_eq!(second("\"2\""), Value::Count(2));
    assert_eq!(second("\"0-1,4\""), Value::Word("0-1,4".into()));
    for wrong in
        ["0", "1025", "\"3-1\"", "\"1-\"", "\"a\"", "\"0,,1\"", "\"+1-2\"", "\"5000-5001\""]
    {
        let words = levels(wrong).unwrap_err();
        assert!(words.contains("write a number of CPUs from 1 to 1024, or a list"), "{words}");
    }
}

#[test]
fn two_settings_that_disagree_on_which_cpus_there_are_are_refused() {
    let tried = |lab: &str, levels: &str| {
        let text = format!("[factors.online_cpus]\nlevels = {levels}\n[lab]\n{lab}");
        of(&["copy"], &text).map(|_| ()).unwrap_err()
    };
    let of_lab = |lab: &str| of(&["copy"], &format!("[lab]\nonline_cpus = 2\n{lab}"));
    for fits in ["cpus = 2", "cpus = \"0-1\"", ""] {
        assert!(of_lab(fits).is_ok(), "{fits}");
    }
    let words = tried("cpus = 2", "[4, 1]");
    assert_eq!(
        words,
        "line 3: online_cpus = 1 and cpus = 2 in one treatment: the system under test would be \
         held to CPUs that are offline; raise online_cpus, or name CPUs below it"
    );
    assert!(of_lab("cpus = \"1-2\"").unwrap_err().contains("online_cpus = 2 and cpus = 1-2"));
    let words = tried("smt = \"off\"", "[4, 2]");
    assert!(words.contains("online_cpus = 4 and smt = off in one treatment: both take"), "{words}");
}

#[test]
fn a_parameter_of_the_boot_is_read_only_unless_a_person_sets_it() {
    let read = "is read only: a parameter of the boot decides it, and no run can switch it";
    let levels = "levels = [\"auto\", \"off\"]";
    let words = of(&["copy"], &format!("[factors.mitigations]\n{levels}")).unwrap_err();
    assert!(words.contains(read) && words.contains("--level mitigations=LEVEL"), "{words}");
    let part = "[factors.profile]\nlevels.a = { mitigations = \"off\" }\n\
                levels.b = { mitigations = \"auto\" }";
    assert!(of(&["copy"], part).unwrap_err().contains(read));
    let told = format!("[factors.mitigations]\nmanual = true\n{levels}");
    assert!(of(&["copy"], &told).unwrap().factors[0].manual);
}

#[test]
fn the_dotted_name_of_a_setting_of_the_kernel_is_a_key_in_quotes() {
    let plan = of(&["copy"], "[factors.\"net.core.budget\"]\nlevels = [64, 128]").unwrap();
    assert_eq!(plan.factors[0].levels[1].settings["net.core.budget"], Value::Count(128));
    let plan = of(&["copy"], "[lab]\n\"net.core.budget\" = 64").unwrap();
    assert_eq!(plan.lab.settings["net.core.budget"], Value::Count(64));
    let words = of(&["copy"], "[factors]\nnet.core.budget.levels = [64, 128]").unwrap_err();
    assert!(words.contains("unknown key 'core'"), "{words}");
}

#[test]
fn times_and_frequencies_have_their_unit_and_their_steps() {
    let set = |what: &str| of(&["copy"], &format!("[lab]\n{what}")).map(|plan| plan.lab.settings);
    let quantity = |value, unit| Value::Quantity(Quantity::new(value, unit));
    let read = set("poll = \"0.05 ms\"\nclock = \"2.4 GHz\"").unwrap();
    assert_eq!(read["poll"], quantity(50e-6, Unit::Second));
    assert_eq!(read["clock"], quantity(2.4e9, Unit::Hertz));
    let cases = [
        ("poll = 50", "'poll': '50' has no unit; write for instance 300 ms or 2 s"),
        (
            "poll = \"20 ms\"",
            "'poll' cannot be '20 ms'; write a value from 0 s to 10 ms in steps of 1 µs",
        ),
        (
            "poll = \"1500 ns\"",
            "'poll' cannot be '1.50 µs'; write a value from 0 s to 10 ms in steps of 1 µs",
        ),
        (
            "clock = \"1 Hz\"",
            "'clock' cannot be '1 Hz'; write a value from 1 kHz to 100 GHz in steps of 1 kHz",
        ),
        (
            "clock = \"2.4 s\"",
            "'clock': 's' in '2.4 s' is not a unit of frequency; write one of Hz, kHz, MHz, GHz",
        ),
        ("poll_us = 50", "unknown key 'poll_us'; did you mean 'poll'?"),
    ];
    for (what, words) in cases {
        assert_eq!(set(what).unwrap_err(), format!("line 3: {words}"));
    }
}

#[test]
fn what_a_person_sets_has_a_name_and_levels_of_its_own() {
    let plan = of(
        &["copy"],
        "[factors.snoop_filter]\nmanual = true\nlevels = [\"on\", \"off\", \"home snoop\", 2]",
    );
    let factor = plan.unwrap().factors[0].clone();
    assert!(factor.manual && !factor.reboot);
    assert_eq!(factor.levels[2].settings["snoop_filter"], Value::Word("home snoop".into()));
    assert_eq!(factor.levels[3].name, "2");
    let cases = [
        (
            "[factors.cpus]\nmanual = true\nlevels = [\"1\", \"2\"]",
            "line 2: 'cpus' is what a run switches itself; leave out manual, or give what a person \
             sets another name, as in [factors.bios_cpus]",
        ),
        (
            "[factors.snoop]\nmanual = true\nreboot = true\nlevels = [\"on\", \"off\"]",
            "line 4: 'reboot' cannot be set here; a factor with manual = true has one level for a \
             whole run, and its own name",
        ),
        (
            "[factors.snoop]\nmanual = true\nlevels = [\"on\", \" off\"]",
            "line 4: 'levels' cannot be ' off'; write 1 to 40 characters without blanks around \
             them",
        ),
        (
            "[factors.snoop]\nmanual = true\nlevels = [\"on\", \"on\"]",
            "line 4: levels 'on' and 'on' of factor 'snoop' set the same",
        ),
        (
            "[factors.snoop]\nmanual = true\nlevels = [\"on\"]",
            "line 4: factor 'snoop' has 1 level(s); a comparison needs two or more",
        ),
    ];
    for (factors, words) in cases {
        assert_eq!(of(&["copy"], factors).unwrap_err(), words);
    }
    // Where nobody says that it is manual, it is a factor that does not exist.
    let plain = of(&["copy"], "[factors.snoop]\nlevels = [\"on\", \"off\"]").unwrap_err();
    assert!(plain.contains("there is no factor 'snoop'"), "{plain}");
    assert!(read("title = \"t\"\n[load.a]\nworkload = \"tcp_stream\"", &catalogue()).is_ok());
}
