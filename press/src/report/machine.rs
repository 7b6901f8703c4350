//! Checks the article on loads of one machine alone: what it tells, and what it must not.

use super::tests::prose;
use super::trace::figures;
use super::*;
use crate::figure::FigureKind;
use desk::record::{Run, Value};
use desk::unit::Unit;
use desk::verdict::{Analysis, DerivedFact, DerivedKind, Verdict};

fn said((run, analysis): &(Run, Analysis)) -> String {
    text(&compose(run, analysis).unwrap(), 20_000, true).replace('\u{a0}', " ")
}

fn of(analysis: &Analysis, kind: DerivedKind) -> Vec<&DerivedFact> {
    analysis.derived.iter().filter(|fact| fact.kind == kind).collect()
}

#[test]
fn no_word_of_clients_links_or_costs_is_in_it() {
    for mut made in [fixture::machine(), fixture::huge_pages()] {
        // What others claimed of their clients stands there in their own words.
        made.1.claims.clear();
        let document = compose(&made.0, &made.1).unwrap();
        let mut all: Vec<String> = prose(&document).iter().map(|p| p.text().to_owned()).collect();
        let drawn = figures(&document.body);
        all.extend(
            drawn.iter().flat_map(|f| [f.title.clone(), f.subtitle.clone(), f.footnote.clone()]),
        );
        let input = CardInput {
            parts: &[Part { role: Role::Duel, run: &made.0, analysis: &made.1 }],
            report_path: "report.html",
            next_command: "stend list",
            left_out: &[],
        };
        let card = card(&input, 80, true);
        all.push(card.unwrap());
        for text in all {
            let small = text.to_lowercase();
            for word in
                ["client", " link", "line rate", "p/e", "network", "adapter", "generator", "steady"]
            {
                assert!(!small.contains(word), "{word} is in: {text}");
            }
        }
        let ids: Vec<&str> = document
            .body
            .iter()
            .filter_map(|node| match node {
                Node::Section { id, .. } => Some(id.as_str()),
                _ => None,
            })
            .collect();
        assert!(!ids.contains(&"cost") && ids.contains(&"results"), "{ids:?}");
    }
}

#[test]
fn a_machine_that_compares_nothing_has_its_figures_and_tables_all_the_same() {
    let made = fixture::machine();
    let all = said(&made);
    assert!(all.contains("8 loads measured, no levels compared."), "{all}");
    let document = compose(&made.0, &made.1).unwrap();
    let drawn = figures(&document.body);
    let kinds: Vec<FigureKind> = drawn.iter().map(|figure| figure.kind).collect();
    for kind in [FigureKind::Sweep, FigureKind::Dots, FigureKind::Heatmap, FigureKind::Roofline] {
        assert!(kinds.contains(&kind), "{kind:?} is not in {kinds:?}");
    }
    let ladder = drawn.iter().find(|f| f.title.contains("load “width”")).unwrap();
    let names: Vec<&str> = ladder.series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["sse", "avx2"], "a line an instruction set, by bytes");
    assert_eq!((ladder.series[0].marks.len(), ladder.x.unit), (4, Unit::Byte));
    let stride = drawn.iter().find(|f| f.title.contains("load “stride”")).unwrap();
    assert!(stride.x.scale == crate::figure::Scale::Log2 && stride.y.unit == Unit::Second);
    let copies = drawn.iter().find(|f| f.kind == FigureKind::Dots).unwrap();
    assert_eq!(copies.series[0].name, "libc", "the quickest in the first cache");
    assert_eq!(copies.series.last().unwrap().name, "avx2_nt");
    let matrix = drawn.iter().find(|f| f.kind == FigureKind::Heatmap).unwrap();
    assert_eq!((matrix.series.len(), matrix.x.names.len()), (3, 3));
    let roof = drawn.iter().find(|f| f.kind == FigureKind::Roofline).unwrap();
    assert!(
        roof.roofs.iter().any(|r| r.ceiling.is_some())
            && roof.roofs.iter().any(|r| r.slope.is_some())
    );
}

#[test]
fn what_is_derived_is_what_was_planted() {
    let (_, analysis) = fixture::machine();
    let size = |value: &Option<Value>| value.as_ref().and_then(Value::quantity).unwrap().value;
    let caches = of(&analysis, DerivedKind::CacheSize);
    let told: Vec<(Option<u32>, f64, f64, Option<bool>)> =
        caches.iter().map(|f| (f.cache, size(&f.at), size(&f.until), f.agrees)).collect();
    let (kib, mib) = (1024.0, 1_048_576.0);
    assert_eq!(
        told,
        [
            (Some(1), 32.0 * kib, 64.0 * kib, Some(true)),
            (Some(2), 2.0 * mib, 4.0 * mib, Some(true)),
            (Some(3), 32.0 * mib, 64.0 * mib, Some(false)),
        ],
        "the kernel tells of 260 MiB"
    );
    let [prefetch] = of(&analysis, DerivedKind::PrefetchEnds)[..] else { panic!() };
    assert_eq!(size(&prefetch.at), 256.0, "half of what random loads take");
    let [cores] = of(&analysis, DerivedKind::Saturation)[..] else { panic!() };
    assert_eq!(cores.at, Some(Value::Count(3)));
    let scaling = of(&analysis, DerivedKind::Scaling);
    let cipher = scaling.iter().find(|f| f.load == "all_cores").unwrap();
    assert!((cipher.figure.as_ref().unwrap().centre.value / 3.4 - 1.0).abs() < 0.02);
    let kept = of(&analysis, DerivedKind::PerCopy);
    let kept = kept.iter().find(|f| f.load == "all_cores").unwrap().figure.as_ref().unwrap();
    assert!((kept.centre.value / 0.85 - 1.0).abs() < 0.02 && kept.centre.unit == Unit::Share);
    let balance = of(&analysis, DerivedKind::BytesPerCipherByte);
    let balance = balance.iter().find(|f| f.load == "one_core").unwrap();
    let by_hand = 16.0 / (1.0 / (40.0 / 16384.0 + 1.0 / 6.0));
    assert!((balance.figure.as_ref().unwrap().centre.value / by_hand - 1.0).abs() < 0.03);
    let clocks = of(&analysis, DerivedKind::Clocks);
    assert!((clocks[0].figure.as_ref().unwrap().centre.value / 4.35 - 1.0).abs() < 0.02);
}

#[test]
fn what_is_not_available_has_a_row_and_a_line_and_no_doubt() {
    for (made, of) in [(fixture::machine(), 12), (fixture::huge_pages(), 8)] {
        let (_, analysis) = &made;
        assert!(analysis.comparisons.iter().all(|c| c.left_out == 0));
        let doubts = format!("{:?}", analysis.caveats);
        assert!(!doubts.contains("Faults"), "{doubts}");
        let all = said(&made);
        assert!(all.contains("not available here: this CPU has no AVX-512"), "{all}");
        assert!(all.contains(&format!("4 of {of} points are not available here.")), "{all}");
        assert!(!all.contains("were left out"), "no visit was lost");
    }
}

#[test]
fn a_time_that_falls_is_better_and_words_say_so() {
    let (run, analysis) = fixture::huge_pages();
    let of = |load: &str| analysis.comparisons.iter().find(|c| c.load == load).unwrap();
    assert_eq!((of("ladder").verdict, of("copy").verdict), (Verdict::Better, Verdict::Better));
    assert!(of("ladder").overall.centre.value < 1.0 && of("copy").overall.centre.value > 1.0);
    assert!(analysis.costs.is_empty() && analysis.limits.is_empty() && analysis.advice.is_empty());
    assert!(analysis.indexes.iter().all(|index| index.over.iter().all(|id| {
        let c = analysis.comparisons.iter().find(|c| c.id == *id).unwrap();
        c.metric == index.metric
    })));
    let all = said(&(run, analysis));
    assert!(all.contains("one-way latency") && all.contains("copy bandwidth"), "{all}");
}

#[test]
fn every_medium_of_such_an_article_is_made() {
    for (made, main) in
        [(fixture::machine(), "Derived facts"), (fixture::huge_pages(), "bandwidth")]
    {
        let document = compose(&made.0, &made.1).unwrap();
        let sheet = markdown(&document);
        assert!(sheet.contains(main), "{sheet}");
        let page = tests::html(&document);
        for words in ["The machine", "not available here: this CPU"] {
            assert!(page.contains(words) && said(&made).contains(words), "{words}");
        }
    }
    assert!(said(&fixture::machine()).contains("disagrees"));
}
