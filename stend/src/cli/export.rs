//! Knows `stend export`: a kept run as a table or as JSON, for other programs.
//!
//! The table is tidy: a row a visit, dry and invalid ones too, a column a thing, values in base
//! units, which stand in the heading. With `--tracks` it is of what was sampled within the windows:
//! a row a step.

use super::error::CliError;
use super::{OK, files, store};
use clap::ValueEnum;
use desk::record::{Run, Track, TrialKind, TrialRecord, Value};
use desk::unit::{Quantity, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// Id of the run, a beginning of it that is unique, or last
    #[arg(default_value = "last")]
    run: String,
    /// What was sampled within the windows, a row a step, instead of a row an attempt
    #[arg(long)]
    tracks: bool,
    /// Form of the export
    #[arg(long, value_enum, default_value_t = Form::Csv)]
    format: Form,
    /// File to write; - is standard output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Forms that a run can be given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A row an attempt
    Csv,
    /// The run with all its records
    Json,
    /// A job file that makes fio do the loads of disks
    Fio,
    /// The table of csv, typed and packed
    Parquet,
}

/// Writes a run in another form.
///
/// # Errors
/// When there is no such run, this stend cannot write the form, or the file cannot be written.
pub fn export(wanted: &Wanted) -> Result<u8, CliError> {
    let run = store::read(wanted.store.as_deref())?.load(&wanted.run)?;
    let table = if wanted.tracks { tracks } else { table };
    let bytes = match wanted.format {
        // The records have their tracks.
        Form::Json => serde_json::to_vec_pretty(&run)?,
        Form::Csv => csv(&table(&run))?,
        Form::Fio => loads::fio_of_run(&run)
            .map_err(|what| CliError::Job { name: wanted.run.clone(), what })?
            .into_bytes(),
        Form::Parquet => super::parquet::bytes(&table(&run))?,
    };
    files::deliver(wanted.output.as_deref(), &bytes)?;
    Ok(OK)
}

/// What stands in a place of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A figure, in the unit of its heading.
    Number(f64),
    /// A word.
    Text(String),
}

/// A run as rows and columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Headings in order.
    pub columns: Vec<String>,
    /// A row an attempt, by heading; what is not there is empty.
    pub rows: Vec<BTreeMap<String, Cell>>,
}

/// Headings that every row has, in their order.
const FIRST: [&str; 10] = [
    "run",
    "trial",
    "block",
    "kind",
    "attempt",
    "valid",
    "fault",
    "started [s]",
    "load",
    "workload",
];

fn table(run: &Run) -> Table {
    let rows: Vec<_> = run.records.iter().map(|record| row(run, record)).collect();
    let all: BTreeSet<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
    let mut columns: Vec<String> = FIRST.map(str::to_owned).to_vec();
    columns.extend(all.into_iter().filter(|name| !FIRST.contains(&name.as_str())).cloned());
    Table { columns, rows }
}

fn row(run: &Run, record: &TrialRecord) -> BTreeMap<String, Cell> {
    let trial = &record.trial;
    let text = |word: &str| Cell::Text(word.into());
    let fault = record.outcome.fault.as_ref().map(ToString::to_string);
    let dry = trial.kind == TrialKind::Dry;
    let mut row: BTreeMap<String, Cell> = [
        ("run", text(&run.id)),
        ("trial", Cell::Number(trial.id.into())),
        ("block", Cell::Number(trial.block.into())),
        ("kind", text(if dry { "dry" } else { "counted" })),
        ("attempt", Cell::Number(record.attempt.into())),
        ("valid", text(if fault.is_none() { "true" } else { "false" })),
        ("fault", Cell::Text(fault.unwrap_or_default())),
        ("started [s]", Cell::Number(record.started_s)),
        ("load", text(&trial.point.load)),
        ("workload", text(&trial.point.workload)),
    ]
    .map(|(name, cell)| (name.to_owned(), cell))
    .into();
    if trial.boot > 0 {
        row.insert("boot".into(), Cell::Number(trial.boot.into()));
        row.insert("round".into(), Cell::Number(trial.round.into()));
    }
    if let Some(search) = trial.search {
        row.insert("search".into(), Cell::Number(search.id.into()));
        row.insert("step".into(), Cell::Number(search.step.into()));
    }
    row.extend(trial.treatment.levels.iter().map(|(f, l)| (format!("factor.{f}"), text(l))));
    row.extend(trial.point.params.iter().map(|(name, v)| setting("param", name, v)));
    row.extend(record.observed.iter().map(|(name, v)| setting("observed", name, v)));
    let figures =
        record.outcome.samples.iter().map(|s| (format!("metric.{}", s.metric), s.quantity));
    let quantiles = run.metrics_of(&trial.point.load).filter(|metric| metric.quantile.is_some());
    let quantiles = quantiles.filter_map(|metric| {
        Some((format!("metric.{}", metric.name), record.outcome.figure(metric)?))
    });
    let read = record.readings.iter();
    let read = read.map(|r| (format!("reading.{}.{}.{}", r.probe, r.host, r.key), r.quantity));
    row.extend(
        figures.chain(quantiles).chain(read).map(|(name, quantity)| measured(&name, quantity)),
    );
    row
}

/// Headings of the table of tracks, in their order.
const OF_TRACKS: [&str; 10] =
    ["run", "trial", "attempt", "probe", "host", "key", "unit", "step", "from [s]", "value"];

/// A row for each step of each track; `from` counts from the opening of the window.
fn tracks(run: &Run) -> Table {
    let text = |word: &str| Cell::Text(word.into());
    #[expect(clippy::cast_precision_loss, reason = "steps of a window are few")]
    let of_track = |(record, track): (&TrialRecord, &Track)| {
        let step = |(at, value): (usize, &f64)| {
            let cells = [
                text(&run.id),
                Cell::Number(record.trial.id.into()),
                Cell::Number(record.attempt.into()),
                text(&track.probe),
                Cell::Text(track.host.to_string()),
                text(&track.key),
                Cell::Text(symbol(track.unit)),
                Cell::Number(at as f64),
                Cell::Number(at as f64 * track.step.value),
                Cell::Number(*value),
            ];
            OF_TRACKS.iter().map(|name| (*name).to_owned()).zip(cells).collect()
        };
        track.values.iter().enumerate().map(step).collect::<Vec<_>>()
    };
    let all = run.records.iter().flat_map(|r| r.tracks.iter().map(move |track| (r, track)));
    let columns = OF_TRACKS.map(str::to_owned).to_vec();
    Table { columns, rows: all.flat_map(of_track).collect() }
}

fn setting(kind: &str, name: &str, value: &Value) -> (String, Cell) {
    let name = format!("{kind}.{name}");
    match value {
        Value::Quantity(quantity) => measured(&name, *quantity),
        #[expect(clippy::cast_precision_loss, reason = "counts of a plan are below 2^53")]
        Value::Count(count) => (name, Cell::Number(*count as f64)),
        Value::Word(word) => (name, Cell::Text(word.clone())),
    }
}

/// A figure under a heading with its unit, as a record names it: `metric.throughput [bit/s]`.
fn measured(name: &str, quantity: Quantity) -> (String, Cell) {
    let heading = match quantity.unit {
        Unit::Count | Unit::Share | Unit::Ratio => name.to_owned(),
        unit => format!("{name} [{}]", symbol(unit)),
    };
    (heading, Cell::Number(quantity.value))
}

fn symbol(unit: Unit) -> String {
    let word = serde_json::to_value(unit).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

fn csv(table: &Table) -> Result<Vec<u8>, CliError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&table.columns)?;
    for row in &table.rows {
        writer.write_record(table.columns.iter().map(|name| match row.get(name) {
            None => String::new(),
            Some(Cell::Number(number)) => number.to_string(),
            Some(Cell::Text(text)) => text.clone(),
        }))?;
    }
    writer.into_inner().map_err(|e| CliError::Io(e.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = include_str!("../../../rig/src/store/golden/run-3.json");

    #[test]
    fn a_row_a_visit_and_every_heading_once() {
        let run: Run = serde_json::from_str(RUN).unwrap();
        let table = table(&run);
        assert_eq!(table.rows.len(), run.records.len());
        assert_eq!(table.columns.iter().collect::<BTreeSet<_>>().len(), table.columns.len());
        let bytes = csv(&table).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let at = |name: &str| table.columns.iter().position(|c| c == name).unwrap();
        let throughput = at("metric.throughput [bit/s]");
        for (row, record) in reader.records().zip(&run.records) {
            let row = row.unwrap();
            let ours = record.outcome.metric("throughput").map(|q| q.value);
            assert_eq!(row[throughput].parse().ok(), ours, "to the last bit");
            assert_eq!(
                &row[at("valid")],
                if record.outcome.fault.is_none() { "true" } else { "false" }
            );
        }
    }

    #[test]
    fn a_track_is_a_row_a_step() {
        let mut run: Run = serde_json::from_str(RUN).unwrap();
        assert!(tracks(&run).rows.is_empty(), "a record from before there were any");
        let (probe, key) = ("cpu".into(), "busy".into());
        let (unit, step, values) = (Unit::Share, Quantity::seconds(0.1), vec![0.5, 0.75]);
        run.records[1].tracks =
            vec![Track { probe, host: "machine".into(), key, unit, step, values }];
        let again: Run = serde_json::from_slice(&serde_json::to_vec(&run).unwrap()).unwrap();
        assert_eq!(again, run);
        let said = String::from_utf8(csv(&tracks(&run)).unwrap()).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "run,trial,attempt,probe,host,key,unit,step,from [s],value");
        assert!(lines[2].ends_with(",cpu,machine,busy,share,1,0.1,0.75"), "{said}");
        assert_eq!(lines.len(), 3);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_reads_back_as_the_same_table() {
        use parquet::file::reader::{FileReader as _, SerializedFileReader};
        use parquet::record::Field;
        let run: Run = serde_json::from_str(RUN).unwrap();
        let table = table(&run);
        let bytes = crate::cli::parquet::bytes(&table).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), table.rows.len());
        for (theirs, ours) in rows.iter().zip(&table.rows) {
            for (name, field) in theirs.get_column_iter() {
                match (ours.get(name), field) {
                    (None, Field::Null) => {}
                    (Some(Cell::Number(a)), Field::Double(b)) => assert_eq!(a, b, "{name}"),
                    (Some(Cell::Text(a)), Field::Str(b)) => assert_eq!(a, b, "{name}"),
                    other => panic!("{name}: {other:?}"),
                }
            }
        }
    }
}
