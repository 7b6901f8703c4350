//! Knows the first run: what is measured in a minute, and what is worth trying next.

use super::enough::LEAST;
use super::error::CliError;
use super::extent::{Extent, draw};
use super::files::Directory;
use super::plans::{self, survey as texts};
use super::progress::{self, Meter};
use super::run::{refuse_empty, valid_of};
use super::session::Session;
use super::terminal::{self, COLUMNS, columns};
use super::tune;
use super::{
    GIVEN_UP, INCOMPLETE, INTERRUPTED, OK, Options, Place, files, invoked, machine, outputs, page,
    place, quoted,
};
use desk::plan::{BASELINE_S, budget, fit_blocks, lasting, looked_at, seed_of_part, set_blocks};
use desk::record::{Completeness, Counted, Environment, Fact, LabKind, Plan, Run};
use desk::unit::Quantity;
use desk::verdict::{Analysis, Verdict, analyse_part, judged_together, largest_gain};
use press::report::{self, Bundle, CardInput, Part, Role};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// A first run that takes longer is not waited for, unless another time or number of blocks is
/// asked for; parts that would not fit are left out.
const LONGEST: Duration = Duration::from_secs(75);
/// The same where settings are tried, too.
const LONGEST_TUNE: Duration = Duration::from_secs(240);
/// What the parts are laid out for; the rest is for attempts at trials that a fault hit.
#[cfg(test)]
const LAID_OUT_S: f64 = 60.0;
/// Time to build the lab and to map and write the machine's memory, besides the plans, seconds.
const BESIDES_S: f64 = 5.5;

/// One part of the first run.
struct Chapter {
    plan: Plan,
    text: String,
    facts: Vec<Fact>,
}

/// A part that was measured.
pub struct Measured {
    /// What it is for.
    pub role: Role,
    /// Its run.
    pub run: Run,
    /// What was concluded from it.
    pub analysis: Analysis,
}

/// What a survey does besides describing the machine.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Tune {
    /// Also try settings that differ from the usual ones, and say what the machine could gain
    #[arg(long)]
    tune: bool,
    /// Switch these settings without asking
    #[arg(long, requires = "tune")]
    yes: bool,
}

impl Tune {
    const fn words(self) -> &'static str {
        if self.tune { "survey --tune --yes " } else { "" }
    }
}

/// Measures this machine for about a minute, or as long as is asked for; prints the card and writes
/// the report.
///
/// # Errors
/// When no lab can be built, the time holds too few blocks, nothing could be measured, a setting is
/// not to be switched, or a file cannot be written.
pub fn survey(extent: Extent, tune: Tune, options: &Options) -> Result<u8, CliError> {
    machine::refuse_several(options)?;
    let first = plans::parse("noise", texts::NOISE)?;
    if tune.tune {
        agree(&first, tune, options)?;
    }
    // The lab is built and looked at while it is idle: that is part of the time.
    let begun = Instant::now();
    let seed = extent.seed.unwrap_or_else(draw);
    let again = Extent { seed: Some(seed), ..extent }.words();
    let words = format!("{} {}{again}{}", invoked(), tune.words(), options.place_words());
    let mut session = Session::begin(&first, options, words.trim().to_owned())?;
    let tried = tune.tune.then_some(&session.environment);
    let directory = files::directory(options.out.as_deref(), &session.id)?;
    let allowed = if tune.tune { LONGEST_TUNE } else { LONGEST };
    let (chapters, longest) = stretched(chapters(tried, seed)?, (extent, allowed))?;
    let expected: f64 = chapters.iter().map(|c| budget(&c.plan).longest.value).sum();
    let mut meter = Meter::new(Duration::from_secs_f64(expected), false);
    meter.say(&format!("{} parts, {expected:.0} s at most", chapters.len()));
    meter.say(&format!("the seed of the orders is {seed}; --seed {seed} repeats them"));
    let (mut measured, mut whole): (Vec<Measured>, bool) = (Vec::new(), true);
    let mut left_out = Vec::new();
    let (planned, together) = (chapters.len(), judged_together(chapters.iter().map(|c| &c.plan)));
    for chapter in chapters {
        if session.stopped() {
            break;
        }
        let needed = Duration::from_secs_f64(budget(&chapter.plan).longest.value);
        if longest.is_some_and(|longest| begun.elapsed() + needed > longest) {
            let title = &chapter.plan.title;
            meter.say(&format!("{title}: left out, the time is nearly over"));
            left_out.push(title.clone());
            whole = false;
            continue;
        }
        session.tell(chapter.facts);
        let run = match session.run(&chapter.plan, &chapter.text, &mut meter) {
            Ok(run) => run,
            Err(e) if measured.is_empty() => return Err(e),
            Err(e) => {
                // What was measured until here is worth more than the part that cannot be.
                meter.warn(&format!("{}: {e}", chapter.plan.title));
                whole = false;
                break;
            }
        };
        whole &= run.completeness == Completeness::Complete;
        let analysis = analyse_part(&run, together);
        meter.say(&line(&run, &analysis, meter.elapsed()));
        measured.push(Measured { role: Role::of(&run), run, analysis });
    }
    refuse_nothing(&measured, session.stopped())?;
    if measured.len() < planned {
        let parts = judged_together(measured.iter().map(|m| &m.run.plan));
        measured.iter_mut().for_each(|part| part.analysis = analyse_part(&part.run, parts));
    }
    publish((&measured, &left_out), &directory, options.json)?;
    let counted = measured.iter().map(|m| (&m.run.plan.title, Counted::of(&m.run.records)));
    let incomplete: Vec<_> = counted.filter(|(_, counted)| !counted.is_enough()).collect();
    for (title, counted) in &incomplete {
        meter.warn(&format!("{title} is incomplete: {}", valid_of(*counted)));
    }
    Ok(match whole {
        _ if session.stopped() => INTERRUPTED,
        false => GIVEN_UP,
        true if !incomplete.is_empty() => INCOMPLETE,
        true => OK,
    })
}

/// Asks whether the settings that are worth a try may be switched.
fn agree(first: &Plan, tune: Tune, options: &Options) -> Result<(), CliError> {
    // What a dead conductor left switched is not how the machine is set.
    if options.lab != Place::Sim {
        place::settle_dead();
    }
    let machine = place::machine(first, options.lab, options.physics.as_deref())?;
    let told = |plan: &Plan| {
        let tell = |why: &String| progress::say(&format!("{}: not tried: {why}", plan.title));
        refuses(plan).inspect(tell)
    };
    tune::agree(&tune::look(&machine, &told), &machine, tune.yes)
}

/// Why this machine does not let a plan switch what it names.
fn refuses(plan: &Plan) -> Option<String> {
    place::refuse(plan).err().map(|e| e.to_string())
}

/// Refuses a first run of which nothing was measured.
fn refuse_nothing(measured: &[Measured], stopped: bool) -> Result<(), CliError> {
    match measured.last() {
        Some(last) if measured.iter().all(|m| refuse_empty(&m.run).is_err()) => {
            refuse_empty(&last.run).map_err(|e| if stopped { CliError::Stopped } else { e })
        }
        Some(_) => Ok(()),
        None if stopped => Err(CliError::Stopped),
        None => {
            let first = "the lab took the time; `stend run aa` has no such limit".into();
            Err(CliError::NothingMeasured { first })
        }
    }
}

/// Name and plan of every part.
pub(super) const PARTS: [(&str, &str); 5] = [
    ("noise", texts::NOISE),
    ("machine", texts::MACHINE),
    ("network", texts::NETWORK),
    ("datagrams", texts::DATAGRAMS),
    // Last: how long its files take to fill, no plan tells.
    ("disk", texts::DISK),
];

/// What describes the machine, then what tries the settings of `tried`, as far as this user may.
fn chapters(tried: Option<&Environment>, seed: u64) -> Result<Vec<Chapter>, CliError> {
    let mut chapters = Vec::new();
    let look = tried.map(|machine| tune::look(machine, &refuses));
    for (at, (_, text)) in PARTS.iter().enumerate() {
        // With one seed for all, simulated parts would have the same noise.
        let plan = plans::parse_seeded("survey", text, seed_of_part(seed, at))?;
        let facts = look.as_ref().map(|look| look.facts(None)).unwrap_or_default();
        chapters.push(Chapter { plan, text: (*text).to_owned(), facts });
    }
    let Some(look) = look else { return Ok(chapters) };
    for proposal in &look.proposals {
        let plan = tune::plan(proposal, seed_of_part(seed, chapters.len()))?;
        let facts = look.facts(Some(proposal));
        chapters.push(Chapter { plan, text: proposal.text.clone(), facts });
    }
    Ok(chapters)
}

/// The parts with the blocks that are asked for, or as many as fit the time, and the time after
/// which no further part is begun.
fn stretched(
    mut chapters: Vec<Chapter>,
    (extent, allowed): (Extent, Duration),
) -> Result<(Vec<Chapter>, Option<Duration>), CliError> {
    if let Some(blocks) = extent.blocks {
        chapters.iter_mut().try_for_each(|c| set_blocks(&mut c.plan, blocks))?;
        return Ok((chapters, None));
    }
    let Some(time) = extent.time else { return Ok((chapters, Some(allowed))) };
    let mut plans: Vec<Plan> = chapters.iter().map(|c| c.plan.clone()).collect();
    let left = Quantity::seconds((time.as_secs_f64() - BASELINE_S - BESIDES_S).max(0.0));
    let blocks = fit_blocks(&mut plans, left, LEAST)?;
    let fitted = chapters.into_iter().zip(plans).map(|(c, plan)| Chapter { plan, ..c });
    progress::say(&format!(
        "{blocks} blocks of each part fit in {}",
        humantime::format_duration(time)
    ));
    Ok((fitted.collect(), Some(time)))
}

/// A part's result on one line of progress.
fn line(run: &Run, analysis: &Analysis, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let Some(comparison) = analysis.comparisons.first() else {
        return format!("{seconds:4.0} s  {}: nothing to compare", run.plan.title);
    };
    let at = comparison.points.last().map(|p| p.other.centre.to_string()).unwrap_or_default();
    let ratio = &comparison.overall;
    format!(
        "{seconds:4.0} s  {}: {at}, {}/{} {} ({})",
        run.plan.title,
        comparison.other,
        comparison.base,
        ratio.centre,
        desk::unit::show_range(ratio.low, ratio.high)
    )
}

/// Writes the report of the parts of a survey, and prints the card, which names what there was no
/// time for.
///
/// # Errors
/// When a file cannot be written.
pub fn publish(
    (measured, left_out): (&[Measured], &[String]),
    to: &Directory,
    json: bool,
) -> Result<(), CliError> {
    let parts: Vec<Part> = measured
        .iter()
        .map(|m| Part { role: m.role, run: &m.run, analysis: &m.analysis })
        .collect();
    let rows = || measured.iter().map(|m| outputs::Part { run: &m.run, analysis: &m.analysis });
    let records = serde_json::to_string_pretty(&rows().collect::<Vec<_>>())?;
    files::write(to, "records.json", &records)?;
    let document = report::compose_survey(&parts)?;
    let path = page::write(to, &document, &Bundle::of_survey(&parts))?;
    files::write_beside(to, &document)?;
    files::write(to, "report.txt", &report::text(&document, COLUMNS, true))?;
    let input = CardInput {
        parts: &parts,
        report_path: &path.display().to_string(),
        next_command: &next_command(measured),
        left_out,
    };
    let card = report::card(&input, COLUMNS, true)?;
    files::write(to, "card.txt", &card)?;
    let card = report::card(&input, columns(), terminal::unicode())?;
    let mut out = terminal::out();
    if json {
        let whole =
            outputs::Survey { parts: rows().collect(), article: report::article(&document) };
        serde_json::to_writer_pretty(&mut out, &whole)?;
    } else {
        out.write_all(card.as_bytes())?;
    }
    out.write_all(b"\n")?;
    Ok(())
}

/// The one command that this machine's findings ask for most.
fn next_command(measured: &[Measured]) -> String {
    let machine = measured.first().map(|m| m.run.environment());
    let lab = machine.and_then(|machine| machine.lab.as_ref());
    let decided = |verdicts: &[Verdict]| {
        let rows = measured.iter().filter(|m| m.role == Role::NoiseFloor);
        rows.flat_map(|m| &m.analysis.comparisons).any(|c| verdicts.contains(&c.verdict))
    };
    let refused = |(kind, why): &(LabKind, String)| *kind == LabKind::Loopback && !why.is_empty();
    let program = invoked();
    let tuned = machine.is_some_and(|machine| looked_at(machine).is_some());
    if lab.is_some_and(refused) {
        return format!("sudo {program}{}", if tuned { " survey --tune" } else { "" });
    }
    let parts = || measured.iter().map(|m| (&m.run, &m.analysis));
    let noisy = decided(&[Verdict::Better, Verdict::Worse]);
    if !noisy
        && let Some((run, _)) = largest_gain(parts())
        && let Some(made) = lasting(run.environment())
    {
        return format!("sudo {}", of_a_shell(&made.command));
    }
    let words = match noisy {
        true => "run aa",
        false if tuned => "run --quick nic-duel",
        false => "survey --tune",
    };
    format!("{program} {words}")
}

/// A command as one that sudo takes: of a pipe it would only have the first half.
fn of_a_shell(command: &str) -> String {
    if command.contains(['|', '&']) { format!("sh -c {}", quoted(command)) } else { command.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_compares_has_five_blocks() {
        for (name, text) in PARTS {
            let plan = plans::parse("survey", text).unwrap();
            assert!(plan.method.blocks >= LEAST, "{name}: {}", plan.method.blocks);
        }
    }

    #[test]
    fn parts_share_no_seed_and_no_built_in_plan_pins_one() {
        for (name, text) in PARTS {
            let seed = |of| plans::parse_seeded("survey", text, of).unwrap().method.seed;
            assert_eq!((seed(3), seed(4)), (3, 4), "{name}");
        }
        for name in plans::NAMES.split(", ") {
            let text = plans::built_in(name).unwrap();
            assert_eq!(plans::parse_seeded(name, text, 9).unwrap().method.seed, 9, "{name}");
        }
    }

    #[test]
    fn every_figure_of_another_machine_stands_beside_one_of_a_survey() {
        let plans = PARTS.map(|(_, text)| plans::parse("survey", text).unwrap());
        let loads =
            || plans.iter().flat_map(|plan| plan.loads.iter().map(move |load| (plan, load)));
        for record in desk::record::reference_records() {
            let swept = |load: &desk::record::LoadPlan| match load.over.as_slice() {
                [] => record.param.is_empty(),
                over => over.iter().any(|(param, values)| {
                    let met = values.iter().any(|value| value.to_string() == record.level);
                    *param == record.param && met
                }),
            };
            let meets = |(plan, load): (&Plan, &desk::record::LoadPlan)| {
                let metric = plan.primary(&load.name) == record.metric;
                load.workload == record.workload && metric && swept(load)
            };
            assert!(loads().any(meets), "{record:?}");
        }
    }

    #[test]
    fn a_pipe_is_one_word_of_sudo() {
        assert_eq!(of_a_shell("a -b"), "a -b");
        assert_eq!(of_a_shell("a | b"), "sh -c 'a | b'");
    }

    #[test]
    fn a_time_is_shared_by_all_parts_and_a_short_one_refused() {
        let chapters = || -> Vec<Chapter> {
            let of = |(_, text): &(&str, &str)| Chapter {
                plan: plans::parse("survey", text).unwrap(),
                text: String::new(),
                facts: Vec::new(),
            };
            PARTS.iter().map(of).collect()
        };
        let of = |seconds| Extent { time: Some(Duration::from_secs(seconds)), ..Extent::default() };
        let (longer, limit) = stretched(chapters(), (of(180), LONGEST)).unwrap();
        let blocks: Vec<u32> = longer.iter().map(|c| c.plan.method.blocks).collect();
        assert!(blocks[0] > 10 && blocks.iter().all(|n| *n == blocks[0]), "{blocks:?}");
        let takes: f64 = longer.iter().map(|c| budget(&c.plan).longest.value).sum();
        assert!(takes <= 180.0 && limit == Some(Duration::from_secs(180)), "{takes}");
        assert!(stretched(chapters(), (of(20), LONGEST)).is_err());
        let asked = Extent { blocks: Some(9), ..Extent::default() };
        let (nine, limit) = stretched(chapters(), (asked, LONGEST)).unwrap();
        assert!(nine.iter().all(|c| c.plan.method.blocks == 9) && limit.is_none());
    }

    #[test]
    fn all_parts_fit_the_minute_even_if_every_rate_is_slow_to_settle() {
        // What no budget has: 15 files of 64 MiB that a disk fills at 200 MB/s.
        const FILLS_S: f64 = 15.0 * 67.1 / 200.0;
        let parts = PARTS.iter().map(|(_, text)| *text);
        let longest = |text| budget(&plans::parse("survey", text).unwrap()).longest.value;
        let expected: f64 = parts.map(longest).sum();
        assert!(expected + FILLS_S + BASELINE_S + BESIDES_S <= LAID_OUT_S, "{expected} s");
        let disk = plans::parse("survey", texts::DISK).unwrap();
        let counted = budget(&disk);
        assert_eq!(counted.trials, 15);
        assert!(counted.longest.value + FILLS_S <= 10.0, "{:?}", counted.longest);
    }
}
