//! Knows the JSON Schema of a plan, for editors: the same keys, kinds and bounds that the reader
//! knows, from the same catalogue.
//!
//! Draft 7, which editors of TOML read. What hangs on several places of a plan (a level that is no
//! link, a key set twice) only the reader refuses.
//! Never: a list of workloads, factors or metrics of its own.

use super::Catalogue;
use super::read::{
    BLOCKS_BOUNDS, BOOTS_BOUNDS, BOXES_MOST, CABLES_BOUNDS, CLIENTS_BOUNDS, COUNT_BOUNDS,
    MOST_LOOKS, PARTS, PORTS_MOST, SHARES, STEPS_BOUNDS, WHOLE_RUN,
};
use crate::record::{
    FactorSpec, LinkKind, ParamKind, ParamRole, ParamSpec, Range, Role, Scope, SearchKind, Words,
    WorkloadSpec, claim_sources,
};
use crate::unit::Kind;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A number before its unit.
const NUMBER: &str = r"[0-9]*\.?[0-9]+|[0-9]+\.";
/// As the reader has it for names of links and other words.
const WORD: &str = "^[A-Za-z0-9_-]{1,15}$";
/// The address of a page.
const URL: &str = r#"^(http://[!#-\[\]-~]?|https://)[!#-\[\]-~]{1,192}$"#;
/// The path of a file.
const PATH: &str = r#"^/[!#-\[\]-~]{0,199}$"#;
/// A list of CPUs.
const CPUS: &str = "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$";
const CLASSES: [&str; 4] = ["critical", "factor", "identity", "info"];

/// The schema of the plans that this catalogue can read.
#[must_use]
pub fn schema(catalogue: &Catalogue<'_>) -> Value {
    let loads: Vec<Value> = catalogue.workloads.iter().map(|spec| load(spec)).collect();
    let mut factors = Map::new();
    for spec in catalogue.factors {
        factors.insert(spec.name.into(), factor(spec, &["levels"]));
    }
    let params = of_loads(catalogue);
    for name in params.keys() {
        factors.insert((*name).into(), of_load(name, &["levels"]));
    }
    let mut others: Vec<Value> =
        catalogue.factors.iter().map(|spec| factor(spec, &["key", "levels"])).collect();
    others.extend(params.keys().map(|name| of_load(name, &["key", "levels"])));
    others.push(manual());
    others.push(ladder(catalogue));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A plan of stend",
        "type": "object",
        "required": ["title", "load"],
        "additionalProperties": false,
        "properties": {
            "title": text("Title of the report."),
            "question": text("The question in the reader's words."),
            "published": {
                "description": "The published test whose claims stand beside the findings.",
                "type": "string", "enum": claim_sources()
            },
            "lab": lab(catalogue),
            "factors": {
                "description": "What is switched between trials, a table for each.",
                "type": "object", "properties": factors,
                "additionalProperties": { "anyOf": others }
            },
            "load": {
                "description": "Workloads with their parameters, a table for each load.",
                "type": "object", "minProperties": 1,
                "additionalProperties": { "oneOf": loads }
            },
            "method": method(catalogue),
            "environment": {
                "description": "Keys of the environment whose class this plan changes.",
                "type": "object", "additionalProperties": { "$ref": "#/definitions/class" }
            },
            "fact": fact(),
            "part": part()
        },
        "definitions": definitions(catalogue)
    })
}

/// What is said in several places: a class of a key, the value and the levels of every factor.
fn definitions(catalogue: &Catalogue<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    let nested = json!({ "$ref": "#/definitions/class" });
    let class = json!({ "anyOf": [
        { "type": "string", "enum": CLASSES },
        { "type": "object", "additionalProperties": nested }
    ] });
    all.insert("class".into(), class);
    for (name, one) in of_loads(catalogue) {
        all.insert(format!("param-{name}"), json!({ "anyOf": one }));
    }
    for spec in catalogue.factors {
        all.insert(format!("value-{}", spec.name), value(&described(spec), spec.kind));
        all.insert(format!("levels-{}", spec.name), levels(spec, catalogue));
    }
    all
}

/// What a person says of the things under test.
fn fact() -> Value {
    json!({
        "description": "What a person says of the things under test, a table for each.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["what", "value", "source", "date"],
            "additionalProperties": false,
            "properties": {
                "of": text("Level or link that it is of; without it the whole test bed."),
                "what": text("price, power, noise, mass, ambient, or a name of your own."),
                "state": {
                    "description": "Of a power: the state of the load, where it has states.",
                    "enum": ["idle", "0 %", "25 %", "50 %", "75 %", "100 %"]
                },
                "value": text("With its unit: 1200 EUR, 41 dB(A), 2.3 kg, 22 °C."),
                "source": text("Where it is from: a price list, a meter."),
                "date": day()
            }
        }
    })
}

fn day() -> Value {
    json!({
        "description": "The day it was so.",
        "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
    })
}

/// What levels are made of.
fn part() -> Value {
    let levels = "The levels that have it: a name, or factor=level where several factors have it.";
    json!({
        "description": "A part that some levels have and others lack, a table for each.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "levels", "source", "date"],
            "anyOf": [{ "required": ["price"] }, { "required": ["power"] },
                      { "required": ["mass"] }, { "required": ["noise"] }],
            "additionalProperties": false,
            "properties": {
                "name": text("What a shop calls it."),
                "levels": { "description": levels, "type": "array", "minItems": 1,
                            "uniqueItems": true, "items": { "type": "string" } },
                "count": whole("How many of it each of them has.", COUNT_BOUNDS),
                "price": quantity("Of one; one currency in a plan.", Kind::Price),
                "power": quantity("Of one.", Kind::Power),
                "mass": quantity("Of one.", Kind::Mass),
                "noise": quantity("Of one.", Kind::Noise),
                "source": text("Where all that is from: a price list, a meter."),
                "date": day()
            }
        }
    })
}

fn defined(what: &str, spec: &FactorSpec) -> Value {
    json!({ "$ref": format!("#/definitions/{what}-{}", spec.name) })
}

fn text(about: &str) -> Value {
    json!({ "description": about, "type": "string" })
}

fn whole(about: &str, bounds: (u64, u64)) -> Value {
    json!({ "description": about, "anyOf": whole_number(bounds) })
}

/// A whole number, bare or in quotes.
fn whole_number((low, high): (u64, u64)) -> Value {
    json!([
        { "type": "integer", "minimum": low, "maximum": high },
        { "type": "string", "pattern": "^[0-9]+$" }
    ])
}

fn flag(about: &str) -> Value {
    json!({ "description": about, "type": "boolean" })
}

/// Units of a family as a pattern knows them.
fn units(kind: Kind) -> String {
    kind.units().collect::<Vec<_>>().join("|")
}

/// One quantity of a family.
fn pattern(kind: Kind) -> String {
    match kind {
        Kind::Count => r"^\s*[0-9]+\s*$".into(),
        kind => format!(r"^\s*({NUMBER})\s*({})\s*$", units(kind)),
    }
}

/// A sweep of a family, `64..256K *2` or `1500 B..9000 B +2500 B`.
fn sweep(kind: Kind) -> String {
    let one = match kind {
        Kind::Count => format!("({NUMBER})"),
        kind => format!(r"({NUMBER})\s*({})", units(kind)),
    };
    let open = match kind {
        Kind::Count => one.clone(),
        kind => format!(r"({NUMBER})\s*({})?", units(kind)),
    };
    format!(r"^\s*{open}\s*\.\.\s*{one}\s*(\*\s*({NUMBER})|\+\s*{one})\s*$")
}

fn quantity(about: &str, kind: Kind) -> Value {
    json!({ "description": about, "type": "string", "pattern": pattern(kind) })
}

/// What one value may be, each alternative by itself.
fn alternatives(kind: ParamKind) -> Vec<Value> {
    let mut all = Vec::new();
    if let Some(range) = kind.range {
        let Range { family, least, most, .. } = range;
        match family {
            Kind::Count => {
                let [least, most] = [least, most].map(|bound| range.nearest(bound));
                all.push(json!({ "type": "integer", "minimum": least, "maximum": most }));
            }
            Kind::Cpus => all.push(json!({ "type": "number", "minimum": least, "maximum": most })),
            _ => {}
        }
        all.push(json!({ "type": "string", "pattern": pattern(family) }));
    }
    match kind.words {
        Words::Of([]) => {}
        Words::Of(words) => all.push(json!({ "type": "string", "enum": words })),
        Words::UrlOr(words) => {
            all.push(json!({ "type": "string", "enum": words }));
            all.push(json!({ "type": "string", "pattern": URL }));
        }
        Words::PathOr(words) => {
            if !words.is_empty() {
                all.push(json!({ "type": "string", "enum": words }));
            }
            all.push(json!({ "type": "string", "pattern": PATH }));
        }
        Words::Any => all.push(json!({ "type": "string", "pattern": WORD })),
        Words::Cpus => all.push(json!({ "type": "string", "pattern": CPUS })),
        Words::CpusOr(words) => {
            all.push(json!({ "type": "string", "enum": words }));
            all.push(json!({ "type": "string", "pattern": CPUS }));
        }
    }
    all
}

/// One value of a parameter or a level.
fn value(about: &str, kind: ParamKind) -> Value {
    json!({ "description": about, "anyOf": alternatives(kind) })
}

/// Bounds as a person would write them.
fn bounds(kind: ParamKind) -> String {
    kind.range.map(|range| format!(" From {range}.")).unwrap_or_default()
}

fn described(spec: &FactorSpec) -> String {
    format!("{}.{}", spec.about, bounds(spec.kind))
}

/// The factors of these scopes as keys, each with one value.
fn settings(catalogue: &Catalogue<'_>, scopes: &[Scope]) -> Map<String, Value> {
    let fitting = catalogue.factors.iter().filter(|f| scopes.contains(&f.scope));
    fitting.map(|f| (f.name.to_owned(), defined("value", f))).collect()
}

fn lab(catalogue: &Catalogue<'_>) -> Value {
    let mut keys = settings(catalogue, &WHOLE_RUN);
    keys.insert("clients".into(), whole("Client hosts.", CLIENTS_BOUNDS));
    let rate =
        "Most that one client can send or take; clients that cannot fill a link are refused.";
    keys.insert("client_rate".into(), quantity(rate, Kind::Rate));
    let words = |about: &str, words: &[&str]| json!({ "description": about, "enum": words });
    let mut of_link = settings(catalogue, &[Scope::Link]);
    let kinds = LinkKind::ALL.map(LinkKind::word);
    let about = "A bridge of the switch, one cable between two members, or adapters of the \
                 machine. A link under the name of an adapter of the machine must say it.";
    of_link.insert("kind".into(), words(about, &kinds));
    of_link.insert(
        "members".into(),
        json!({
            "description": "Hosts on the link; without it the system under test and all clients.",
            "type": "array", "minItems": 2, "uniqueItems": true, "items": { "type": "string" }
        }),
    );
    of_link.insert(
        "adapters".into(),
        json!({
            "description": "Of a link of adapters: each member's, by name or bus address; clients \
                            for every client. Members that name the same one share it.",
            "type": "object", "additionalProperties": { "type": "string" }
        }),
    );
    let about = "Cables of each member of a bridge; the factor bonding joins two.";
    of_link.insert("cables".into(), whole(about, CABLES_BOUNDS));
    keys.insert(
        "machine".into(),
        json!({
            "description": "The host that is the machine itself, without a namespace.",
            "type": "string", "pattern": WORD
        }),
    );
    let link = json!({
        "type": "object", "additionalProperties": false, "properties": of_link
    });
    let roles = Role::ALL.map(Role::word);
    let about = "A device forwards, a switch bridges, a relay carries frames between two links \
                 as the path_ factors say, a tester does none of it.";
    keys.insert(
        "hosts".into(),
        json!({
            "description": "Hosts beside the system under test and its clients.",
            "type": "object", "maxProperties": 8, "propertyNames": { "pattern": WORD },
            "additionalProperties": {
                "type": "object", "additionalProperties": false,
                "properties": { "role": words(about, &roles) }
            }
        }),
    );
    keys.insert("boxes".into(), boxes());
    keys.insert(
        "links".into(),
        json!({
            "description": "Links; the name is that of the interface.",
            "type": "object", "minProperties": 1, "maxProperties": 8,
            "propertyNames": { "pattern": WORD, "not": { "const": "lo" } },
            "additionalProperties": link
        }),
    );
    let about = "Who takes part, and what is set for the whole run.";
    json!({
        "description": about, "type": "object", "additionalProperties": false, "properties": keys
    })
}

/// The tables of external boxes.
fn boxes() -> Value {
    let word = |about: &str, pattern: &str| -> Value {
        json!({ "description": about, "type": "string", "pattern": pattern })
    };
    let agent = "Address of its SNMP agent, IP or IP:PORT; port 161 by default.";
    json!({
        "description": "External boxes, on cables of links of adapters.",
        "type": "object", "maxProperties": BOXES_MOST, "propertyNames": { "pattern": WORD },
        "additionalProperties": {
            "type": "object", "additionalProperties": false, "required": ["link"],
            "dependencies": { "snmp": ["ports"], "ports": ["snmp"] },
            "properties": {
                "link": word("The link of the system under test on whose cable it stands.", WORD),
                "snmp": word(agent, r"^[0-9a-fA-F.:\[\]]{3,}$"),
                "ports": {
                    "description": "Its ports by which frames pass, by ifName or ifDescr.",
                    "type": "array", "minItems": 1, "maxItems": PORTS_MOST, "uniqueItems": true,
                    "items": { "type": "string", "minLength": 1 }
                }
            }
        }
    })
}

/// The table of a factor; under a name that the person chose it must say its key.
fn factor(spec: &FactorSpec, required: &[&str]) -> Value {
    json!({
        "description": described(spec), "type": "object", "required": required,
        "additionalProperties": false,
        "properties": {
            "key": { "description": "The factor, if the table has another name.",
                     "type": "string", "enum": [spec.name] },
            "levels": defined("levels", spec),
            "reboot": flag("Whether a level takes hold only when the machine starts.")
        }
    })
}

/// Parameters of loads that are no factor of the catalogue, with what a level of each may be in any
/// workload.
fn of_loads(catalogue: &Catalogue<'_>) -> BTreeMap<&'static str, Vec<Value>> {
    let mut all: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for param in catalogue.workloads.iter().flat_map(|spec| spec.params) {
        if catalogue.factors.iter().all(|factor| factor.name != param.name) {
            let known = all.entry(param.name).or_default();
            for one in alternatives(param.kind) {
                if !known.contains(&one) {
                    known.push(one);
                }
            }
        }
    }
    all
}

/// The table of a factor that is a parameter of every load.
fn of_load(name: &str, required: &[&str]) -> Value {
    let one = json!({ "$ref": format!("#/definitions/param-{name}") });
    json!({
        "description": "A parameter that every load of the plan has.",
        "type": "object", "required": required, "additionalProperties": false,
        "properties": {
            "key": { "description": "The parameter, if the table has another name.",
                     "type": "string", "enum": [name] },
            "levels": { "description": "Two levels or more, the baseline first.",
                        "type": "array", "minItems": 2, "items": one },
            "reboot": flag("Whether a level takes hold only when the machine starts.")
        }
    })
}

/// The table of a factor that a person sets.
fn manual() -> Value {
    json!({
        "description": "What a person sets because the machine cannot: a run is made at one level.",
        "type": "object", "required": ["manual", "levels"], "additionalProperties": false,
        "properties": {
            "manual": { "description": "That a person sets it.", "const": true },
            "levels": {
                "description": "Two levels or more, the baseline first.",
                "type": "array", "minItems": 2,
                "items": { "anyOf": [{ "type": "string", "minLength": 1, "maxLength": 40 },
                                     { "type": "number" }] }
            }
        }
    })
}

/// The table of a factor that takes parts of a path out one at a time.
fn ladder(catalogue: &Catalogue<'_>) -> Value {
    let mut keys = settings(catalogue, &[PARTS.as_slice(), &[Scope::Path, Scope::Sut]].concat());
    keys.extend(parts(catalogue));
    json!({
        "description": "Parts of the path, taken out one at a time: each level is compared with \
                        the one before it.",
        "type": "object", "required": ["ladder"], "additionalProperties": false,
        "properties": {
            "ladder": {
                "description": "Two rungs or more. The first says what each part is; another what \
                                it changes of the rung before it.",
                "type": "object", "minProperties": 2,
                "additionalProperties": {
                    "type": "object", "minProperties": 1, "additionalProperties": false,
                    "properties": keys
                }
            }
        }
    })
}

/// What a level of a profile may set.
fn parts(catalogue: &Catalogue<'_>) -> Map<String, Value> {
    let mut keys = settings(catalogue, &PARTS);
    for name in of_loads(catalogue).into_keys() {
        keys.insert(name.into(), json!({ "$ref": format!("#/definitions/param-{name}") }));
    }
    keys
}

fn levels(spec: &FactorSpec, catalogue: &Catalogue<'_>) -> Value {
    if spec.scope != Scope::Profile {
        return json!({
            "description": "Two levels or more, the baseline first.",
            "type": "array", "minItems": 2, "items": { "anyOf": alternatives(spec.kind) }
        });
    }
    json!({
        "description": "Two levels or more, the baseline first; each says all that another says.",
        "type": "object", "minProperties": 2,
        "additionalProperties": {
            "type": "object", "additionalProperties": false,
            "properties": parts(catalogue)
        }
    })
}

fn load(spec: &WorkloadSpec) -> Value {
    let mut keys = Map::new();
    let mut over = Map::new();
    for param in spec.params {
        keys.insert(param.name.into(), value(&help(param), param.kind));
        over.insert(param.name.into(), swept(param));
    }
    keys.insert(
        "workload".into(),
        json!({ "description": spec.question, "type": "string", "enum": [spec.name] }),
    );
    let metrics: Vec<&str> = spec.metrics.iter().map(|metric| metric.name).collect();
    let mut primary = json!({ "description": "Decides here.", "type": "string", "enum": metrics });
    if let Some(search) = search(spec, &metrics) {
        keys.insert("search".into(), search);
        // What a search gives is named after its load.
        let any = [
            json!({ "enum": metrics }),
            json!({ "pattern": "_(largest|peak|peak_load|knee|goal[1-8]|at[0-9]+)$" }),
        ];
        primary = json!({ "description": "Decides here.", "type": "string", "anyOf": any });
    }
    keys.insert("primary".into(), primary);
    let about = "What is swept: a sweep, a list, or one value. Every combination is a load point.";
    keys.insert(
        "over".into(),
        json!({
            "description": about, "type": "object", "additionalProperties": false,
            "properties": over
        }),
    );
    json!({
        "description": spec.question, "type": "object", "required": ["workload"],
        "additionalProperties": false, "properties": keys
    })
}

/// The search of a load of this workload; none where it has no load to seek.
fn search(spec: &WorkloadSpec, metrics: &[&str]) -> Option<Value> {
    let is_load = |param: &&ParamSpec| {
        use ParamRole::{Burst, Concurrency, Offered};
        matches!(param.role, Some(Offered | Concurrency | Burst))
    };
    let params: Vec<&ParamSpec> = spec.params.iter().filter(is_load).collect();
    let over: Vec<&str> = params.iter().map(|param| param.name).collect();
    let kinds = SearchKind::ALL.map(|(word, _)| word);
    let number = |param: &&ParamSpec| alternatives(param.kind);
    let numbers: Vec<Value> = params.iter().flat_map(number).collect();
    let bound = |about: &str| json!({ "description": about, "anyOf": numbers });
    let resolution = "How near to each other the last good load and the first bad one are.";
    (!params.is_empty()).then(|| {
        json!({
            "description": "A load that is sought, not swept: one answer a treatment and block.",
            "type": "object", "required": ["kind"], "additionalProperties": false,
            "anyOf": [{ "properties": { "kind": { "const": "states" } } },
                      { "required": ["over", "from", "to"] }],
            "properties": {
                "kind": { "description": "What is sought.", "type": "string", "enum": kinds },
                "over": { "description": "The load that is tried.", "type": "string",
                          "enum": over },
                "metric": { "description": "What it is sought by.", "type": "string",
                            "enum": metrics },
                "limit": text("The last good figure; of goal and bisect."),
                "from": bound("Least load."),
                "to": bound("Largest load."),
                "resolution": quantity(resolution, Kind::Share),
                "goals": goals(),
                "shares": shares(),
                "steps": whole("Most steps, each a trial; of goal, bisect and mlr.", STEPS_BOUNDS)
            }
        })
    })
}

/// Shares of what a search found.
fn shares() -> Value {
    let about = "Shares of the load that was found, each visited once when the search has ended: \
                 whole per cents that rise. Of states those of the largest load.";
    json!({
        "description": about, "type": "array", "minItems": 1, "maxItems": SHARES,
        "items": quantity("A share.", Kind::Share)
    })
}

/// The goals of a multiple loss ratio search.
fn goals() -> Value {
    json!({
        "description": "Goals of mlr: largest shares that may be lost; each goal gets two bounds.",
        "type": "array", "minItems": 1, "maxItems": 8,
        "items": {
            "type": "object", "additionalProperties": false,
            "properties": {
                "loss": quantity("A trial that loses more is bad. Default: 0 %.", Kind::Share),
                "exceed": quantity("Share of the sum that may be bad at a lower bound. \
                                    Default: 50 %.", Kind::Share),
                "initial": quantity("Shortest window. Default: 1 s.", Kind::Duration),
                "final": quantity("Window of a trial of full length. Default: 1 s.",
                                  Kind::Duration),
                "sum": quantity("Sum of windows that a bound is known by. Default: 21 s.",
                                Kind::Duration),
                "width": quantity("How far apart the bounds may be. Default: 0.5 %.",
                                  Kind::Share),
                "preceding": whole("Windows between the shortest and the full one. Default: 2.",
                                   (0, 8))
            }
        }
    })
}

fn help(param: &ParamSpec) -> String {
    format!("{}. Default: {}.{}", param.about, param.default, bounds(param.kind))
}

fn swept(param: &ParamSpec) -> Value {
    let mut one = alternatives(param.kind);
    if let Some(range) = param.kind.range {
        one.push(json!({ "type": "string", "pattern": sweep(range.family) }));
    }
    let list = json!({ "type": "array", "minItems": 1, "items": { "anyOf": one.clone() } });
    one.push(list);
    json!({ "description": help(param), "anyOf": one })
}

fn primary_comparison() -> Value {
    let about = "The comparison judged by itself, all others together: its level, and what else \
                 the plan compares under (load, levels of other factors, swept parameters).";
    json!({
        "description": about, "type": "object",
        "additionalProperties": { "type": ["string", "number"] }
    })
}

fn method(catalogue: &Catalogue<'_>) -> Value {
    let mut metrics: Vec<&str> =
        catalogue.workloads.iter().flat_map(|w| w.metrics).map(|m| m.name).collect();
    metrics.sort_unstable();
    metrics.dedup();
    let looks = "Numbers of blocks after which the run may end, rising.";
    let seed = "Seed of the order and of everything drawn by chance; drawn anew for each run if \
                left out.";
    json!({
        "description": "How trials are made, ordered and judged.",
        "type": "object", "additionalProperties": false,
        "properties": {
            "blocks": whole("Visits to every treatment of every point.", BLOCKS_BOUNDS),
            "boots": whole("Boots at every level of a factor that needs a reboot.", BOOTS_BOUNDS),
            "boot_time": quantity("What a boot takes, for the cost of the plan.", Kind::Duration),
            "dry": flag("Whether everything is visited once before, uncounted."),
            "settle": quantity("Shortest time from go to the window.", Kind::Duration),
            "settle_max": quantity("Longest time to wait for a steady rate.", Kind::Duration),
            "window": quantity("What is counted of a trial, 50 ms or more.", Kind::Duration),
            "looks": { "description": looks, "type": "array", "minItems": 2, "maxItems": MOST_LOOKS,
                       "items": { "anyOf": whole_number(BLOCKS_BOUNDS) } },
            "seed": whole(seed, (0, u64::MAX)),
            "primary": { "description": "The metric that decides.", "type": "string",
                         "enum": metrics },
            "compare": text("The factor whose levels are compared."),
            "margin": quantity("Differences below are of no practical interest.", Kind::Share),
            "primary_comparison": primary_comparison(),
            "curve": text("The swept parameter along which a curve is drawn."),
            "displaced_work": flag("Whether a soaker says how much work the load displaced."),
            "steady": { "description": "Whether a trial that was not steady counts.",
                        "type": "string", "enum": ["required", "noted"] }
        }
    })
}
