//! Draws screens of simulated runs on a terminal in memory.

use super::super::plans;
use super::live::{Wish, of_key};
use super::sheet::{Sheet, View};
use desk::plan::order;
use desk::record::{Completeness, Fault, RUN_SCHEMA, Run};
use desk::unit::{Quantity, Unit};
use desk::verdict::analyse;
use press::report::watch::{Course, Screen, Shown, Stage, State, empty, screen};
use press::report::{Part, Role};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use rig::lab::sim::{self, Physics};
use rig::run::{Orders, Simulated, conduct};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

const PLAN: &str = "title = \"Segmentation offload\"\nquestion = \"Does it help?\"\n[lab]\n\
    clients = 2\n[factors.tso]\nlevels = [\"off\", \"on\"]\n[factors.mtu]\n\
    levels = [\"1500 B\", \"9000 B\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
    request_size = \"16 KiB\"\n[method]\nblocks = 10\ndry = false\ncompare = \"tso\"\n";

/// The run of a plan in the simulated lab, as far as this block.
fn run_to(block: u32) -> Run {
    let plan = plans::parse_seeded("test", PLAN, 7).unwrap();
    let physics = Physics::read("seed = 7\n").unwrap();
    let orders = Orders {
        plan: &plan,
        trials: order(&plan).into_iter().map(|trial| (trial, 1)).collect(),
        kept: &[],
        before_s: 0.0,
        keep: &mut |_| Ok(()),
        enough: &mut |_| false,
        tell: &mut |_| (),
    };
    let mut stand = Simulated::new(physics.clone(), loads::ALL, &NEVER);
    let mut records = conduct(&mut stand, orders).unwrap().records;
    records.retain(|record| record.trial.block <= block);
    Run {
        schema: RUN_SCHEMA,
        id: "20261124-101500-abc-1".into(),
        started: "2026-11-24T10:15:00Z".into(),
        version: "0".into(),
        command: String::new(),
        workloads: BTreeMap::new(),
        metrics: super::super::session::metrics(&plan),
        plan_text: String::new(),
        environments: Run::of_local(sim::environment(&physics, "test.toml", &["lan".into()])),
        plan,
        records,
        completeness: Completeness::Complete,
        sittings: Vec::new(),
        digits: None,
    }
}

fn said(run: &Run, state: State, unicode: bool) -> Screen {
    let analysis = analyse(run);
    let part = Part { role: Role::of(run), run, analysis: &analysis };
    let course = Course {
        block: run.last_block().unwrap_or(0),
        blocks: 10,
        done: u32::try_from(run.records.len()).unwrap(),
        planned: 40,
        left: Some("1:23".into()),
    };
    let stages = [Stage { part, state, course }];
    screen(&Shown { stages: &stages, at: 0, named: false, columns: 80, unicode }).unwrap()
}

fn drawn(screen: &Screen, (columns, rows): (u16, u16), scroll: usize) -> TestBackend {
    let view = View { scroll, help: false, unicode: true };
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let sheet = Sheet::of(screen, view, (columns, Some(rows)));
    terminal.draw(|frame| sheet.draw(true, frame.area(), frame.buffer_mut())).unwrap();
    terminal.backend().clone()
}

fn faulty() -> Run {
    let mut run = run_to(6);
    let share = Quantity::new(0.12, Unit::Share);
    run.records[5].outcome.fault = Some(Fault::Steal { share });
    let what = "a program took 0.7 CPUs".into();
    run.records[14].outcome.fault = Some(Fault::Disturbed { host: "sut".into(), what });
    run
}

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[test]
fn a_run_that_goes_on_has_its_ratios_so_far_and_no_verdict() {
    let screen = said(&run_to(3), State::Running, true);
    for size in SIZES {
        insta::assert_snapshot!(format!("running_{}", size.0), drawn(&screen, size, 0));
    }
}

#[test]
fn a_run_that_has_ended_has_its_verdicts() {
    let screen = said(&run_to(10), State::Complete, true);
    for size in SIZES {
        insta::assert_snapshot!(format!("ended_{}", size.0), drawn(&screen, size, 0));
    }
}

#[test]
fn invalid_attempts_are_counted_and_the_last_are_told() {
    let screen = said(&faulty(), State::Running, true);
    for size in SIZES {
        insta::assert_snapshot!(format!("invalid_{}", size.0), drawn(&screen, size, 0));
    }
}

#[test]
fn a_store_without_runs_says_so() {
    let screen = empty("/var/lib/lab.stend", true).unwrap();
    for size in SIZES {
        insta::assert_snapshot!(format!("empty_{}", size.0), drawn(&screen, size, 0));
    }
}

#[test]
fn a_low_terminal_keeps_the_comparisons_and_scrolls_them() {
    let screen = said(&faulty(), State::Running, true);
    let sheet =
        |rows| Sheet::of(&screen, View { unicode: true, ..View::default() }, (60, Some(rows)));
    assert!(sheet(12).most > 0, "{}", sheet(12).text(false));
    assert_eq!(sheet(60).most, 0);
    let first = drawn(&screen, (60, 12), 0).to_string();
    let last = drawn(&screen, (60, 12), usize::MAX).to_string();
    assert!(first.contains("1500 B") && first != last, "{first}{last}");
    assert!(last.contains("9000 B") && last.contains("q quit"), "{last}");
}

#[test]
fn no_row_is_wider_than_the_terminal_and_ascii_is_ascii() {
    let run = faulty();
    for columns in [24, 40, 60, 80, 200] {
        for unicode in [true, false] {
            let screen = said(&run, State::Running, unicode);
            let view = View { unicode, ..View::default() };
            let text = Sheet::of(&screen, view, (columns, None)).text(false);
            let blocks = |line: &&str| !line.contains('×') && !line.contains("00x");
            let wide = text.lines().filter(blocks).map(|line| line.chars().count()).max();
            assert!(wide <= Some(columns.into()), "{columns}: {text}");
            assert!(unicode || text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn a_level_has_one_colour_in_every_part_of_the_screen() {
    let screen = said(&faulty(), State::Running, true);
    let shown = drawn(&screen, (120, 40), 0);
    let buffer = shown.buffer();
    let mut colours: BTreeMap<String, Vec<Color>> = BTreeMap::new();
    for y in 0..40 {
        let mut word = String::new();
        for x in 0..120 {
            let cell = &buffer[(x, y)];
            let coloured = matches!(cell.fg, Color::Indexed(_));
            if coloured && cell.symbol() != " " {
                word.push_str(cell.symbol());
            } else if !word.is_empty() {
                let seen = colours.entry(std::mem::take(&mut word)).or_default();
                seen.push(buffer[(x - 1, y)].fg);
            }
        }
    }
    for (level, colour) in [("off", 68), ("on", 166)] {
        let seen = &colours[level];
        assert!(seen.len() > 2 && seen.iter().all(|c| *c == Color::Indexed(colour)), "{colours:?}");
    }
}

#[test]
fn without_colours_a_text_has_no_escape_and_with_them_the_same_words() {
    let screen = said(&run_to(6), State::Complete, true);
    let sheet = Sheet::of(&screen, View { unicode: true, ..View::default() }, (80, None));
    let (plain, coloured) = (sheet.text(false), sheet.text(true));
    assert!(!plain.contains('\x1b') && coloured.contains("\x1b[38;5;68m"));
    let bare: String = coloured
        .split('\x1b')
        .map(|part| part.strip_prefix('[').and_then(|p| p.split_once('m')).map_or(part, |p| p.1))
        .collect();
    let trimmed = |text: &str| text.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&bare), trimmed(&plain));
}

#[test]
fn keys_do_what_the_last_line_says() {
    let key = |code| of_key(KeyEvent::new(code, KeyModifiers::NONE));
    assert_eq!(key(KeyCode::Char('q')), Some(Wish::Quit));
    assert_eq!(key(KeyCode::Esc), Some(Wish::Quit));
    assert_eq!(key(KeyCode::Char('c')), None);
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(of_key(control), Some(Wish::Quit));
    assert_eq!(key(KeyCode::Down), Some(Wish::Scroll(1)));
    assert_eq!(key(KeyCode::Char('k')), Some(Wish::Scroll(-1)));
    assert_eq!(key(KeyCode::Tab), Some(Wish::Part(1)));
    assert_eq!(key(KeyCode::Char('?')), Some(Wish::Help));
}
