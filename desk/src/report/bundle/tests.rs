//! A bundle on its way into a page and back, and what strangers may put in its place.

use super::columns::{Reader, pack};
use super::file::FILE_MAX;
use super::*;
use crate::report::{ReportError, fixture, html};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    let asked = Asked { metric: Some("throughput".into()), force: true };
    for bundle in [Bundle::of_run(&run), Bundle::of_comparison(&a, &b, asked)] {
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
        let columns = vec![one.clone(), two, one];
        let text = serde_json::to_string(&pack(&columns)).unwrap();
        let mut reader = Reader::new(serde_json::from_str(&text).unwrap()).unwrap();
        for at in 0..length {
            for (column, values) in columns.iter().enumerate() {
                let back = reader.take(column).unwrap();
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
        said.contains("format 7, this stend knows up to 1") && said.contains("newer"),
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
        ("{\"records\":3}".into(), "cannot be"),
        ("<html></html>".into(), "holds no records"),
        (page_with("%%%"), "damaged"),
        (page_with(half), "damaged"),
        (page_with(&whole).replace("</script>", ""), "damaged"),
        (page_with(&whole).repeat(2), "holds 2 bundles"),
        (page_with(&gzipped(b"{\"format\":1,\"parts\":[]}")), "holds no records"),
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
    for _ in 0..40 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..chance.random_range(1..4) {
            let at = chance.random_range(0..bytes.len());
            bytes[at] = b"0123456789[]{}\",:-eE"[chance.random_range(0..20)];
        }
        let _ = Bundle::read(&bytes);
    }
}

#[test]
fn a_bundle_without_runs_makes_no_article() {
    let none = Bundle { format: FORMAT, parts: Vec::new(), compare: None };
    assert_eq!(none.document().unwrap_err(), ReportError::NoRun);
}
