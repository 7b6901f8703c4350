//! What parts a plan may have, what is refused of them, and of states of a load.

use super::read;
use crate::plan::example::catalogue;
use crate::record::{Plan, SearchKind, Value};
use crate::unit::{Quantity, Unit};

const HEAD: &str = "title = \"t\"\nlab.links = { one = {}, two = {} }\n\
    [factors.path]\nlevels = [\"one\", \"two\"]\n\
    [factors.tso]\nlevels = [\"on\", \"off\"]\n[factors.gso]\nlevels = [\"on\", \"off\"]\n\
    [load.stream]\nworkload = \"tcp_stream\"\n";

/// It begins in line 11.
const PART: &str = "[[part]]\nname = \"card\"\nlevels = [\"path=two\", \"gso=on\"]\n\
    price = \"185 EUR\"\nmass = \"93 g\"\nsource = \"list\"\ndate = \"2026-11-21\"\n";

const OTHER: &str = "[[part]]\nname = \"cable\"\nlevels = [\"two\"]\ncount = 2\n\
    price = \"5 EUR\"\nnoise = \"31 dB(A)\"\nsource = \"list\"\ndate = \"2026-11-21\"\n";

fn plan(rest: &str) -> Result<Plan, String> {
    read(&format!("{HEAD}{rest}"), &catalogue()).map_err(|e| e.to_string())
}

#[test]
fn a_level_takes_the_sum_of_its_parts_and_one_without_takes_nothing() {
    let plan = plan(&format!("{PART}{OTHER}")).unwrap();
    let taken = |level: &str, what: &str| plan.taken("path", level, what);
    assert_eq!(taken("two", "price"), Some(Quantity::new(195.0, Unit::Euro)));
    assert_eq!(taken("one", "price"), Some(Quantity::new(0.0, Unit::Euro)));
    assert_eq!(plan.taken("gso", "on", "price"), Some(Quantity::new(185.0, Unit::Euro)));
    assert_eq!(plan.taken("tso", "on", "price"), None, "nobody told");
    assert_eq!(taken("two", "mass"), None, "the cable does not say its own");
    assert_eq!(taken("one", "noise"), None, "silence is no 0 dB(A)");
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    let without = serde_json::to_string(&super::read(HEAD, &catalogue()).unwrap()).unwrap();
    assert!(!without.contains("parts"), "a plan without parts is stored as before");
}

// By hand: 31 dB(A) twice is 31 + 10 lg 2 = 34.01 dB(A); with one of 40 dB(A) beside it
// 10 lg (10^3.401 + 10^4) = 40.97 dB(A).
#[test]
fn noises_add_by_their_powers() {
    let fan = OTHER.replace("cable", "fan").replace("count = 2\n", "").replace("31 dB", "40 dB");
    let alone = plan(OTHER).unwrap().taken("path", "two", "noise").unwrap().value;
    assert!((alone - 34.0103).abs() < 1e-4, "{alone}");
    let both = plan(&format!("{OTHER}{fan}")).unwrap().taken("path", "two", "noise").unwrap();
    assert!((both.value - 40.9747).abs() < 1e-3 && both.unit == Unit::DecibelA, "{both:?}");
}

#[test]
fn a_part_is_refused_with_line_value_and_remedy() {
    for (from, to, words) in [
        (
            "path=two",
            "on",
            "line 13: 'on' is a level of several factors; write \"tso=on\" or \
                            \"gso=on\"",
        ),
        ("path=two", "path=tow", "line 13: there is no level 'path=tow'; "),
        ("path=two", "tow", "line 13: there is no level 'tow'; known here: off, on, one, two"),
        ("gso=on", "two", "line 13: 'levels' holds 'two' twice; every value must differ"),
        ("[\"path=two\", \"gso=on\"]", "[]", "line 13: 'levels' has no values; "),
        (
            "[\"path=two\", \"gso=on\"]",
            "\"two\"",
            "line 13: 'levels' is the text \"two\"; write a list",
        ),
        ("185 EUR", "185", "line 14: 'price': '185' has no unit; write for instance 1200 EUR"),
        ("185 EUR", "0 EUR", "line 14: 'price' cannot be '0 EUR'; write a value above 0"),
        (
            "price = \"185 EUR\"\nmass = \"93 g\"\n",
            "",
            "line 11: 'price' is missing; write price = ",
        ),
        ("price", "prize", "line 14: unknown key 'prize'; did you mean 'price'?"),
        ("name = \"card\"\n", "", "line 11: 'name' is missing; "),
        ("source = \"list\"\n", "", "line 11: 'source' is missing; say where it is from"),
        ("2026-11-21", "yesterday", "line 17: 'date' cannot be 'yesterday'; write a day"),
        ("mass = ", "count = 0\nmass = ", "line 15: 'count' cannot be '0'; write a whole number"),
        ("[[part]]", "[part]", "line 11: 'part' is a table; write tables [[part]]"),
    ] {
        assert!(PART.contains(from), "{from}");
        let said = plan(&PART.replacen(from, to, 1)).unwrap_err();
        assert!(said.starts_with(words), "{said}\n{words}");
    }
}

#[test]
fn two_currencies_two_parts_of_a_name_and_a_figure_of_part_and_level_are_refused() {
    let pounds = OTHER.replace("5 EUR", "5 GBP");
    let said = plan(&format!("{PART}{pounds}")).unwrap_err();
    let words = "line 22: price 5 GBP beside the 185 EUR of part 'card': levels are compared in \
                 one currency; convert one of them at the rate of its date";
    assert_eq!(said, words);
    let said = plan(&format!("{PART}{}", OTHER.replace("cable", "card"))).unwrap_err();
    assert!(said.starts_with("line 19: 'name' holds 'card' twice"), "{said}");
    let fact = "[[fact]]\nof = \"two\"\nwhat = \"mass\"\nvalue = \"2 kg\"\nsource = \"scales\"\n\
                date = \"2026-11-21\"\n";
    let said = plan(&format!("{fact}{PART}")).unwrap_err();
    assert_eq!(
        said,
        "line 21: a [[fact]] of 'two' and part 'card' both set 'mass'; leave it to one of them"
    );
    let said = plan(&format!("{}{PART}", fact.replace("two", "one"))).unwrap_err();
    assert!(said.contains("a [[fact]] of 'one' and part 'card' both set 'mass'"), "{said}");
    assert!(plan(&format!("{}{PART}", fact.replace("two", "tso=on"))).is_ok());
}

#[test]
fn the_price_of_a_level_is_that_of_its_parts_alone() {
    let fact = "[[fact]]\nof = \"two\"\nwhat = \"price\"\nvalue = \"9 EUR\"\nsource = \"list\"\n\
                date = \"2026-11-21\"\n";
    assert_eq!(
        plan(fact).unwrap_err(),
        "line 11: 'price' cannot be set here; the price of a level is that of its parts; write \
         [[part]] with name, price and levels = [\"path=two\"]"
    );
    let bed = plan(&fact.replace("of = \"two\"\n", "")).unwrap();
    assert_eq!((bed.facts.len(), bed.taken("path", "two", "price")), (1, None));
}

#[test]
fn a_fact_of_a_level_that_two_factors_have_names_the_factor() {
    let fact = "[[fact]]\nof = \"on\"\nwhat = \"power\"\nvalue = \"9 W\"\nsource = \"meter\"\n\
                date = \"2026-11-21\"\n";
    let said = plan(fact).unwrap_err();
    assert!(said.starts_with("line 12: 'on' is a level of several factors; "), "{said}");
    let named = plan(&fact.replace("\"on\"", "\"gso=on\"")).unwrap();
    assert_eq!(named.taken("gso", "on", "power"), Some(Quantity::new(9.0, Unit::Watt)));
    assert_eq!(named.taken("tso", "on", "power"), None);
}

const STATES: &str = "search = { kind = \"states\" }\n";

#[test]
fn states_of_a_load_are_written_out() {
    let plan = plan(STATES).unwrap();
    let search = plan.loads[0].search.clone().unwrap();
    assert_eq!(search.kind, SearchKind::States);
    assert_eq!((search.over.as_str(), search.metric.as_str()), ("offered_load", "throughput"));
    assert_eq!(search.from, Value::Quantity(Quantity::new(0.0, Unit::BitPerSecond)));
    assert_eq!((search.to.clone(), search.steps), (Value::Word("full".into()), 5));
    assert_eq!(search.load(f64::INFINITY), Value::Word("full".into()));
    assert!(crate::plan::recheck(&plan, &catalogue()).is_ok());
}

#[test]
fn states_are_refused_where_a_load_has_no_pace_or_one_already() {
    for (rest, words) in [
        (
            "search = { kind = \"states\", from = \"1 Gbit/s\" }\n",
            "line 11: unknown key 'from'; known here: kind, metric",
        ),
        (
            "search = { kind = \"states\", metric = \"operations\" }\n",
            "line 11: there is no rate in the unit of the offered load 'operations'; ",
        ),
        (
            "offered_load = \"1 Gbit/s\"\nsearch = { kind = \"states\" }\n",
            "line 12: the load and its search both set 'offered_load'; ",
        ),
        (
            "[load.mem]\nworkload = \"mem_latency\"\nsearch = { kind = \"states\" }\n",
            "line 13: 'states' is no search of mem_latency; its load cannot be paced; ",
        ),
    ] {
        let said = plan(rest).unwrap_err();
        assert!(said.starts_with(words), "{said}\n{words}");
    }
}

#[test]
fn watts_of_a_state_belong_to_a_load_with_states() {
    let fact = "[[fact]]\nof = \"two\"\nwhat = \"power\"\nstate = \"50 %\"\nvalue = \"9 W\"\n\
                source = \"meter\"\ndate = \"2026-11-21\"\n";
    let read = plan(&format!("{STATES}{fact}")).unwrap();
    assert_eq!(read.facts[0].state, Some(Quantity::new(0.5, Unit::Share)));
    assert_eq!(read.taken("path", "two", "power"), None, "watts of a state are not those of all");
    let idle = plan(&format!("{STATES}{}", fact.replace("50 %", "idle"))).unwrap();
    assert_eq!(idle.facts[0].state, Some(Quantity::new(0.0, Unit::Share)));
    let mass = fact.replace("power", "mass").replace("9 W", "9 g");
    for (text, words) in [
        (fact.to_owned(), "line 14: 'state' cannot be set here; no load has search"),
        (format!("{STATES}{mass}"), "line 15: 'state' cannot be set here; only what = \"power\""),
        (
            format!("{STATES}{}", fact.replace("50 %", "60 %")),
            "line 15: 'state' cannot be '60 %'; write idle, 25 %, 50 %, 75 % or 100 %",
        ),
    ] {
        let said = plan(&text).unwrap_err();
        assert!(said.starts_with(words), "{said}\n{words}");
    }
}
