//! Knows `stend figure`: one figure of a run's article as a file, or which there are.

#[cfg(feature = "png")]
mod png;

use super::error::CliError;
use super::report::parts_of;
use super::run::refuse_empty;
use super::sides::{self, take};
use super::{OK, files, store, terminal};
use clap::ValueEnum;
use desk::verdict::{Wanted as Comparing, compare_sessions};
use press::figure::{Figure, Theme, braille, csv, standalone};
use press::report::{self, Bundle, Document, Node};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Lines of the drawing in text.
const ROWS: u16 = 16;
/// A lone word of so many digits is the number of a figure; a shorter beginning of an id is none.
const DIGITS: usize = 3;

/// In what form a figure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Vector drawing, light and dark
    Svg,
    /// Picture
    Png,
    /// The numbers
    Csv,
    /// Drawing of characters
    Txt,
}

impl Format {
    /// By the end of a file's name.
    fn of(path: &Path) -> Option<Self> {
        path.extension().and_then(|end| Self::from_str(end.to_str()?, true).ok())
    }
}

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// Id of the run, a beginning of it that is unique, the name of a survey, or last; may be left
    /// out
    #[arg(default_value = "last")]
    run: String,
    /// Number of the figure in the article; without it the figures are listed
    #[arg(value_name = "N")]
    number: Option<u32>,
    /// File, its end says the form: .svg, .png, .csv, .txt; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Form, where the name of the file does not say it [default: txt]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Width of svg and png in px, of txt in columns [default: 760; the terminal]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(24..=8000))]
    width: Option<u32>,
    /// Of png: pixels for each px of its width
    #[arg(long, value_name = "K", default_value_t = 2.0, value_parser = scale)]
    scale: f32,
    /// Of svg and png: in dark colours only
    #[arg(long)]
    dark: bool,
    /// Of txt: ASCII instead of braille
    #[arg(long)]
    plain: bool,
    /// Another run: the figures are those of RUN against it, as `compare` has them
    #[arg(long, value_name = "RUN")]
    against: Option<String>,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

fn scale(word: &str) -> Result<f32, String> {
    let value: f32 = word.parse().map_err(|_| format!("'{word}' is no number; 2 is usual"))?;
    if (0.25..=8.0).contains(&value) { Ok(value) } else { Err("choose 0.25 to 8".into()) }
}

impl Wanted {
    /// Which run, and which figure of it: `stend figure 3` is one of the last run.
    fn which(&self) -> (&str, Option<u32>) {
        let short = self.run.len() <= DIGITS && self.number.is_none();
        match self.run.parse() {
            Ok(number) if short => ("last", Some(number)),
            _ => (&self.run, self.number),
        }
    }

    /// Whether it says how a figure is to be drawn.
    const fn says_how(&self) -> bool {
        let form = self.output.is_some() || self.format.is_some() || self.width.is_some();
        form || self.dark || self.plain
    }
}

/// Writes a figure, or lists them.
///
/// # Errors
/// No such run or figure, a form that nobody named, a file that cannot be written.
pub fn figure(wanted: &Wanted) -> Result<u8, CliError> {
    let (run, number) = wanted.which();
    if number.is_none() && wanted.says_how() {
        return Err(CliError::NoNumber { run: run.into() });
    }
    let document = document(wanted, run)?;
    let mut figures = Vec::new();
    collect(&document.body, &mut figures);
    let Some(number) = number else {
        terminal::out().write_all(list(&figures).as_bytes())?;
        return Ok(OK);
    };
    let figure = figures.iter().find(|f| f.number == number).ok_or_else(|| CliError::NoFigure {
        run: run.into(),
        number,
        list: list(&figures),
    })?;
    let named = files::named(wanted.output.as_deref());
    let format = wanted.format.or_else(|| named.and_then(Format::of));
    let format = match (format, &wanted.output) {
        (Some(format), _) => format,
        (None, None) => Format::Txt,
        (None, Some(path)) => return Err(CliError::NoForm { path: path.clone() }),
    };
    let bytes = rendered(figure, format, wanted)?;
    files::deliver(wanted.output.as_deref(), &bytes)?;
    Ok(OK)
}

/// The article whose figures are meant: on a run, on the parts of a survey by the name that they
/// share, or on a run against another.
fn document(wanted: &Wanted, run: &str) -> Result<Document, CliError> {
    let store = wanted.store.as_deref();
    if let Some(other) = &wanted.against {
        let names = [run, other.as_str()];
        let taken = take(&sides::Asked { names, spread: None, alone: false, store })?;
        let [a, b] = taken.firsts()?;
        let found = compare_sessions(taken.groups().sides(), Comparing::default())?;
        return Ok(report::compose_comparison(a, b, &found)?);
    }
    let store = store::read(store)?;
    let names = parts_of(&store, run)?.unwrap_or_else(|| vec![run.into()]);
    let runs = names.iter().map(|name| store.load(name)).collect::<Result<Vec<_>, _>>()?;
    if let [only] = runs.as_slice() {
        refuse_empty(only)?;
    }
    Ok(Bundle::of_runs(&runs).document()?)
}

/// Every figure below these nodes, in the order of the article.
fn collect<'d>(nodes: &'d [Node], found: &mut Vec<&'d Figure>) {
    for node in nodes {
        match node {
            Node::Figure(figure) => found.push(figure),
            Node::Section { body, .. } => collect(body, found),
            _ => {}
        }
    }
}

fn list(figures: &[&Figure]) -> String {
    figures.iter().map(|f| format!("{:>3}  {}\n", f.number, f.title)).collect()
}

fn rendered(figure: &Figure, format: Format, wanted: &Wanted) -> Result<Vec<u8>, CliError> {
    /// Width of a figure in the article.
    const WIDTH: u32 = 760;
    let px = wanted.width.unwrap_or(WIDTH).max(312);
    let theme = if wanted.dark { Theme::Dark } else { Theme::Both };
    Ok(match format {
        Format::Svg => standalone(figure, px, theme).into_bytes(),
        Format::Csv => csv(figure).into_bytes(),
        Format::Txt => {
            let named = wanted.width.map(|width| u16::try_from(width).unwrap_or(u16::MAX));
            let columns = named.unwrap_or_else(terminal::columns);
            text(figure, columns, !wanted.plain && terminal::unicode()).into_bytes()
        }
        #[cfg(feature = "png")]
        Format::Png => {
            let theme = if wanted.dark { Theme::Dark } else { Theme::Light };
            png::png(&standalone(figure, px, theme), wanted.scale)?
        }
        #[cfg(not(feature = "png"))]
        Format::Png => {
            let scale = wanted.scale;
            let why = format!(
                "scale {scale} asked of a stend without the feature png; build it with \
                 `--features png`, or write .svg"
            );
            return Err(CliError::Png(why));
        }
    })
}

fn text(figure: &Figure, columns: u16, unicode: bool) -> String {
    let drawn = braille(figure, columns, ROWS, unicode);
    let lines = [&figure.title, &figure.subtitle, &drawn, &figure.footnote];
    let lines = lines.iter().filter(|l| !l.is_empty());
    let text: String = lines.map(|l| format!("{}\n", l.trim_end())).collect();
    if unicode { text } else { report::ascii(&text) }
}
