//! A bundle on its way into a page and back, and what strangers may put in its place.

use super::columns::{Gathered, Reader, pack};
use super::file::FILE_MAX;
use super::*;
use crate::report::{ReportError, fixture, html};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use desk::record::Run;
use desk::verdict::Sides;
use flate2::write::GzEncoder;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Number, Value, json};
use std::io::Write as _;

fn gzipped(text: &[u8]) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    STANDARD.encode(gzip.finish().unwrap())
}

fn page_with(packed: &str) -> String {
    format!("<!DOCTYPE html><html>{ELEMENT}{packed}</script></html>")
}

/// The canonical text of the duel, to be spoilt.
fn canonical() -> Value {
    let (run, _) = fixture::duel();
    serde_json::from_str(&Bundle::of_run(&run).to_json().unwrap()).unwrap()
}

fn refused(value: &Value) -> String {
    let page = page_with(&gzipped(value.to_string().as_bytes()));
    Bundle::read(page.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_page_gives_back_the_bundle_that_it_carries() {
    let (run, _) = fixture::duel();
    let (a, b, _) = fixture::two_sessions(true);
    let asked = || Asked { metric: Some("throughput".into()), force: true, sessions: None };
    let named = |id: &str, of: &Run| Run { id: id.into(), ..of.clone() };
    let more = [named("a2", &a), named("b2", &b), named("a3", &a)];
    let single = Sides { a: &[&a], b: &[&b], others: &[] };
    let several = Sides { a: &[&a, &more[0]], b: &[&b, &more[1]], others: &[&more[2]] };
    let compared = [single, several].map(|sides| Bundle::of_comparison(sides, asked()));
    let ids = |runs: &[&Run]| runs.iter().map(|r| r.id.clone()).collect::<Vec<_>>().join(",");
    for (bundle, sides, rest) in
        [(&compared[0], single, "--alone"), (&compared[1], several, "--spread a3")]
    {
        let (a, b) = (ids(sides.a), ids(sides.b));
        let command = format!("compare {a} {b} --metric throughput --force {rest}");
        assert_eq!(bundle.command(), command);
    }
    for bundle in [Bundle::of_run(&run)].into_iter().chain(compared) {
        let document = bundle.document().unwrap();
        let page = html(&document, &bundle).unwrap();
        let back = Bundle::read(page.as_bytes()).unwrap();
        assert_eq!(back, bundle);
        assert_eq!(back.packed().unwrap(), bundle.packed().unwrap());
        assert_eq!(html(&back.document().unwrap(), &back).unwrap(), page);
        assert_eq!(Bundle::read(bundle.to_json().unwrap().as_bytes()).unwrap(), bundle);
    }
}

#[test]
fn records_are_read_as_the_run_that_they_are() {
    let (run, _) = fixture::duel();
    let bundle = Bundle::of_run(&run);
    let plain = serde_json::to_string_pretty(&run).unwrap();
    assert_eq!(Bundle::read(plain.as_bytes()).unwrap(), bundle);
    let printed = json!({ "run": run, "analysis": {} }).to_string();
    assert_eq!(Bundle::read(printed.as_bytes()).unwrap(), bundle);
    let (curve, _) = fixture::curve();
    let survey = json!([{ "run": run }, { "run": curve }]).to_string();
    let survey = Bundle::read(survey.as_bytes()).unwrap();
    assert_eq!(survey.parts.len(), 2);
    assert_eq!(survey.parts[1].role, Some(Role::Curve));
}

/// Numbers of every kind that a record may hold, and some that none ever held.
fn number(chance: &mut ChaCha8Rng, kind: u32) -> Number {
    let float = |value: f64| Number::from_f64(value).unwrap();
    match kind {
        0 => Number::from(chance.random_range(0..3_u64)),
        1 => Number::from(chance.next_u64()),
        2 => Number::from(-chance.random_range(0..i64::MAX)),
        3 => float(chance.random::<f64>()),
        4 => float((chance.random::<f64>() * 1e12).round() / 1e9),
        5 => float([0.0, -0.0, 1e300, 5e-324, 0.1 + 0.2][chance.random_range(0..5)]),
        6 => float(7.5),
        _ => float(1e15 + f64::from(chance.random_range(0..9_u32))),
    }
}

#[test]
fn columns_come_back_to_the_last_bit() {
    let mut chance = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..300 {
        let (kind, length) = (chance.random_range(0..8), chance.random_range(1..20));
        let one: Vec<Number> = (0..length).map(|_| number(&mut chance, kind)).collect();
        let two: Vec<Number> = (0..length).map(|_| number(&mut chance, (kind + 1) % 8)).collect();
        let groups: Vec<usize> = (0..length).map(|_| chance.random_range(0..3)).collect();
        let columns = [one.clone(), two, one];
        let gathered = |values: &Vec<Number>| {
            let (values, groups) = (values.clone(), groups.clone());
            Gathered { values, groups }
        };
        let gathered: Vec<Gathered> = columns.iter().map(gathered).collect();
        let text = serde_json::to_string(&pack(&gathered)).unwrap();
        let mut reader = Reader::new(serde_json::from_str(&text).unwrap()).unwrap();
        for at in 0..length {
            for (column, values) in columns.iter().enumerate() {
                let back = reader.take(column, groups[at]).unwrap();
                assert_eq!(back.to_string(), values[at].to_string(), "{text}");
                assert_eq!(back.is_f64(), values[at].is_f64(), "{text}");
            }
        }
        assert!(reader.is_at_its_end());
    }
}

#[test]
fn what_unfolds_without_end_is_not_unfolded() {
    let bomb = vec![b' '; usize::try_from(super::file::UNPACKED_MAX).unwrap() * (1 << 20) + 2];
    let page = page_with(&gzipped(&bomb));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let said = Bundle::read(page.as_bytes()).unwrap_err().to_string();
    assert!(said.contains("larger than 128 MiB"), "{said}");
    let mut many = canonical();
    many["parts"][0]["records"]["count"] = json!(u64::from(u32::MAX));
    assert!(refused(&many).contains("a run of 4294967295 records"));
    assert_eq!(FILE_MAX >> 20, 1024);
}

#[test]
fn the_future_is_named_and_not_guessed_at() {
    let mut later = canonical();
    later["format"] = json!(7);
    later["parts"] = json!("of another kind");
    let said = refused(&later);
    assert!(
        said.contains("format 7, this stend knows up to 3") && said.contains("newer"),
        "{said}"
    );
    let mut later = canonical();
    later["parts"][0]["run"]["schema"] = json!(99);
    later["parts"][0]["run"]["version"] = json!("9.9\u{1b}[2J");
    let said = refused(&later);
    assert!(said.contains("schema 99 and was written by stend 9.9[2J,"), "{said}");
    assert!(!said.contains('\u{1b}'));
}

#[test]
fn no_name_leads_out_of_the_directory_and_no_word_commands_a_terminal() {
    for id in ["../../etc/cron.d/x", "/etc/passwd", ".hidden", "", "-rf", "a b", &"x".repeat(99)] {
        let mut evil = canonical();
        evil["parts"][0]["run"]["id"] = json!(id);
        assert!(refused(&evil).contains("the name of a run"), "{id}");
    }
    let mut evil = canonical();
    evil["parts"][0]["run"]["plan"]["title"] = json!("\u{1b}]0;owned\u{7}");
    assert!(refused(&evil).contains("control characters"));
    let mut evil = canonical();
    evil["parts"][0]["run"]["plan"]["method"]["blocks"] = json!(4_000_000_000_u32);
    assert!(refused(&evil).contains("a plan of "));
    let mut evil = canonical();
    evil["compare"] = json!({ "metric": null, "force": false });
    assert!(refused(&evil).contains("a comparison of 1 runs"));
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_remedy() {
    let mut short = canonical();
    short["parts"][0]["records"]["columns"].as_array_mut().unwrap().pop();
    assert!(refused(&short).contains("ends too early"));
    let mut long = canonical();
    long["parts"][0]["records"]["count"] = json!(1);
    assert!(refused(&long).contains("left over"));
    let mut loose = canonical();
    loose["parts"][0]["records"]["columns"][0] = json!({ "same": 0 });
    assert!(refused(&loose).contains("column 0 is as column 0"));
    let whole = Bundle::of_run(&fixture::duel().0).packed().unwrap();
    let half = &whole[..whole.len() / 2 / 4 * 4];
    let files = [
        (String::new(), "holds no records"),
        ("{}".into(), "holds no records"),
        ("[]".into(), "holds no records"),
        ("{\"records\":3}".into(), "holds no records"),
        ("<html></html>".into(), "holds no records"),
        (page_with("%%%"), "damaged"),
        (page_with(half), "damaged"),
        (page_with(&whole).replace("</script>", ""), "damaged"),
        (page_with(&whole).repeat(2), "holds 2 bundles"),
        (page_with(&gzipped(b"{\"format\":3,\"parts\":[]}")), "holds no records"),
    ];
    for (file, words) in files {
        let said = Bundle::read(file.as_bytes()).unwrap_err().to_string();
        assert!(said.contains(words) && said.contains(';'), "{words}: {said}");
    }
    assert!(Bundle::read(&[0xff, 0xfe]).is_err());
}

#[test]
fn chance_bytes_are_refused_and_never_a_panic() {
    let mut chance = ChaCha8Rng::seed_from_u64(7);
    let good = canonical().to_string();
    let mut read = 0;
    for _ in 0..40 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..chance.random_range(1..4) {
            let at = chance.random_range(0..bytes.len());
            bytes[at] = b"0123456789[]{}\",:-eE"[chance.random_range(0..20)];
        }
        match Bundle::read(&bytes) {
            Ok(bundle) => {
                read += 1;
                assert!(bundle.document().is_ok(), "what is taken makes an article");
            }
            Err(why) => {
                let said = why.to_string();
                assert!(said.contains(';') && !said.contains(char::is_control), "{said}");
            }
        }
    }
    assert!(read > 0, "no spoilt bundle was taken, so none was composed");
}

/// What is accepted is also computed: each of these is taken and makes an article, or is refused.
#[test]
fn a_plan_that_was_taken_is_never_too_much_to_compute() {
    let over = |many: usize| json!([["a", vec![json!("on"); many]]]);
    let factor = |name: usize, levels: usize| {
        let levels: Vec<Value> =
            (0..levels).map(|n| json!({ "name": n.to_string(), "settings": {} })).collect();
        json!({ "name": name.to_string(), "levels": levels })
    };
    let many = |count: usize, levels: usize| -> Value {
        (0..count).map(|name| factor(name, levels)).collect::<Vec<_>>().into()
    };
    for (place, value, words) in [
        ("/method/blocks", json!(0), "a plan of 0 blocks"),
        ("/method/blocks", json!(2), "a plan of 2 blocks"),
        ("/method/blocks", json!(1001), "a plan of 1001 blocks"),
        ("/method/blocks", json!(4), "block 5 of 4"),
        ("/factors", many(20, 10), "a plan of 18446744073709551615 trials"),
        ("/factors", many(33, 1), "varies more than 32 things"),
        ("/factors/0/levels", json!([]), "over nothing"),
        ("/loads", json!([]), "over nothing"),
        ("/loads/0/over", over(0), "over nothing"),
        ("/loads/0/over", over(100_000), " trials"),
    ] {
        let mut evil = canonical();
        *evil["parts"][0]["run"]["plan"].pointer_mut(place).unwrap() = value;
        let said = refused(&evil);
        assert!(said.contains(words), "{place}: {said}");
    }
    for (place, value) in [
        ("/factors", many(32, 1)),
        ("/factors", json!([])),
        ("/method/blocks", json!(300)),
        ("/method/compare", json!("nothing")),
        ("/method/primary", json!("nothing")),
        ("/method/curve", json!("nothing")),
        ("/method/looks", json!([0, 0, 4_000_000_000_u32])),
        ("/method/margin/value", json!(-1.0)),
        ("/lab/clients", json!(u32::MAX)),
        ("/lab/links", json!([])),
    ] {
        let mut odd = canonical();
        *odd["parts"][0]["run"]["plan"].pointer_mut(place).unwrap() = value;
        let bundle = Bundle::read(odd.to_string().as_bytes()).unwrap();
        let _article_or_error = bundle.document().map(|article| html(&article, &bundle).unwrap());
    }
}

/// One record with a long word, of which the file says there are many.
fn echoing(word: &str, count: u32) -> Value {
    let mut value = canonical();
    let packed = &mut value["parts"][0]["records"];
    let mut shape = packed["shapes"][0].clone();
    fn still(value: &mut Value) {
        match value {
            Value::Number(number) => *number = 0.into(),
            Value::Array(items) => items.iter_mut().for_each(still),
            Value::Object(items) => items.values_mut().for_each(still),
            _ => {}
        }
    }
    still(&mut shape);
    shape["trial"]["point"]["name"] = json!(word);
    *packed = json!({ "count": count, "shapes": [shape], "shape_of": { "constant": 0 },
        "group_of": { "constant": 0 },
        "columns": [{ "constant": 1 }] });
    value
}

#[test]
fn a_small_file_cannot_fill_the_memory() {
    let long = "x".repeat(100_000);
    let said = refused(&echoing(&long, 400_000));
    assert!(said.contains("what the records unfold to is larger than 1024 MiB"), "{said}");
    // What no record has costs as much to copy.
    let mut evil = echoing("x", 400_000);
    evil["parts"][0]["records"]["shapes"][0]["unknown"] = json!({ &*long: [] });
    assert!(refused(&evil).contains("larger than 1024 MiB"));
    // One budget for all runs of a bundle, and not too many of them.
    let mut evil = echoing("x", 1);
    let part = evil["parts"][0].clone();
    evil["parts"] = json!([part, echoing("x", 400_000)["parts"][0]]);
    let said = refused(&evil);
    assert!(said.contains("a run of 400000 records") || said.contains("record 0"), "{said}");
    evil["parts"] = json!(vec![part; 257]);
    assert!(refused(&evil).contains("an article on 257 runs"));
    let zeros = format!("{{\"format\":3,\"parts\":[{}0]}}", "0,".repeat(16_000_001));
    let said = Bundle::read(page_with(&gzipped(zeros.as_bytes())).as_bytes()).unwrap_err();
    assert!(said.to_string().contains("more than 16000000 values"), "{said}");
}

#[test]
fn what_an_error_repeats_is_short_and_commands_nothing() {
    let mut evil = canonical();
    let word = format!("\u{1b}[2J\u{202e}{}", "x".repeat(500));
    evil["parts"][0]["run"]["plan"]["method"]["steady"] = json!(word);
    let run = refused(&evil);
    let record = {
        let mut evil = canonical();
        evil["parts"][0]["records"]["shapes"][0]["trial"]["kind"] = json!(word);
        refused(&evil)
    };
    for said in [run, record] {
        let bad = said.contains(['\u{1b}', '\u{202e}']);
        assert!(!bad && said.contains("[2Jxxx") && said.len() < 250, "{said}");
    }
    for (place, word) in [("title", "two\nlines"), ("question", "a\rb"), ("title", "\u{2066}x")] {
        let mut evil = canonical();
        evil["parts"][0]["run"]["plan"][place] = json!(word);
        assert!(refused(&evil).contains("control characters"), "{place}");
    }
    let mut lines = canonical();
    lines["parts"][0]["run"]["plan_text"] = json!("a = 1\n\tb = 2\n");
    assert!(Bundle::read(lines.to_string().as_bytes()).is_ok());
}

#[test]
fn what_the_first_stend_of_this_format_wrote_is_read() {
    let bundle = Bundle::read(include_bytes!("golden/format-3.html")).unwrap();
    let run = &bundle.parts[0].run;
    assert_eq!((bundle.format, run.schema, run.records.len()), (3, 3, 7));
    assert!(bundle.document().is_ok());
}

#[test]
fn what_an_older_stend_wrote_is_refused_with_the_version_that_reads_it() {
    let page = Bundle::read(include_bytes!("golden/format-1.html")).unwrap_err();
    assert!(matches!(page, BundleError::Older), "{page}");
    let older = |place: &str| {
        let mut text = canonical();
        text["parts"][0]["run"]["schema"] = json!(2);
        let run = text["parts"][0]["run"].clone();
        match place {
            "bundle" => text,
            "run" => run,
            "printed" => json!({ "run": run }),
            _ => json!([{ "run": run }]),
        }
    };
    for place in ["bundle", "run", "printed", "survey"] {
        assert!(refused(&older(place)).contains("stend 0.1"), "{place}");
    }
}

#[test]
fn a_bundle_without_runs_makes_no_article() {
    let none = Bundle { format: FORMAT, parts: Vec::new(), compare: None, gate: None };
    assert_eq!(none.document().unwrap_err(), ReportError::NoRun);
}
