//! Knows where results are written, whole or not at all; `owned.rs` knows where they may be.

use super::error::CliError;
pub use super::owned::Directory;
use super::owned::Target;
use super::{outputs, terminal};
use press::report::{self, Document};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What stands for standard output where a file is named.
const STDOUT: &str = "-";
/// Where results go if nobody says: a directory a run below it.
const PARENT: &str = "stend-out";
/// Files by which a directory is known to be one of results.
const OURS: [&str; 2] = ["records.json", "comparison.json"];

static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Sets below which directory this process writes the results of every run, once.
pub fn set_parent(path: PathBuf) {
    // The first word holds.
    let _ = CHOSEN.set(path);
}

/// The directory of a run's results, made if it is not there: as named, or one of its own.
///
/// # Errors
/// When it cannot be made or written to, or is not this user's alone.
pub fn directory(wanted: Option<&Path>, run: &str) -> Result<Directory, CliError> {
    let parent = CHOSEN.get().map_or(Path::new(PARENT), PathBuf::as_path);
    let path = wanted.map_or_else(|| parent.join(run), Path::to_path_buf);
    let tried = Directory::own(&path, &OURS).and_then(|own| own.try_out().map(|()| own));
    tried.map_err(|source| CliError::Write { path, source })
}

/// The file that a person named; none where nothing was named, or standard output was.
pub fn named(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new(STDOUT))
}

/// Writes a result to the file that a person named, else to standard output.
///
/// # Errors
/// When it cannot be written.
pub fn deliver(output: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
    match named(output) {
        None => terminal::out().write_all(bytes)?,
        Some(path) => {
            replace(path, bytes).map_err(|source| CliError::Export { path: path.into(), source })?
        }
    }
    Ok(())
}

/// Writes a file whole or not at all: a kill or a full disk leaves the old one. A device or a pipe
/// stays what it is and is written into; a link is followed where nobody else can have put it.
///
/// # Errors
/// When it cannot be written, or another user could choose what is written to.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Target::find(path, false)?.write(bytes)
}

/// Whether a file can be written, tried before anything is measured: makes its directory and
/// leaves nothing else.
///
/// # Errors
/// As [`replace`].
pub fn try_file(path: &Path) -> io::Result<()> {
    Target::find(path, true)?.try_out()
}

/// Writes a file of a report whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(directory: &Directory, name: &str, text: &str) -> Result<PathBuf, CliError> {
    let path = directory.join(name);
    directory
        .write(name.as_ref(), text.as_bytes())
        .map_err(|source| CliError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// Writes an article for programs and for GitHub, beside the report that a person reads.
///
/// # Errors
/// When a file cannot be written.
pub fn write_beside(directory: &Directory, document: &Document) -> Result<(), CliError> {
    write(directory, "report.md", &report::markdown(document))?;
    let article = outputs::Report::of(document);
    write(directory, "report.json", &serde_json::to_string_pretty(&article)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("stend-f-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().flatten();
            let mut names: Vec<String> =
                entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_no_regular_file_stays_what_it_is() {
        let place = Place::new("special");
        let (target, link) = (place.0.join("target"), place.0.join("link"));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let (null, dangling) = (place.0.join("null"), place.0.join("dangling"));
        symlink("/dev/null", &null).unwrap();
        replace(&null, b"gone").unwrap();
        symlink(place.0.join("made"), &dangling).unwrap();
        replace(&dangling, b"x").unwrap();
        assert_eq!(place.names(), ["dangling", "link", "made", "null", "target"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind_and_other_files_alone() {
        let place = Place::new("litter");
        fs::create_dir(place.0.join("folder")).unwrap();
        fs::write(place.0.join("a.svg.part"), "mine").unwrap();
        replace(&place.0.join("a.svg"), b"first").unwrap();
        replace(&place.0.join("a.svg"), b"second").unwrap();
        assert!(replace(&place.0.join("folder"), b"x").is_err());
        assert!(replace(&place.0.join("none/"), b"x").is_err(), "a file is no directory");
        assert_eq!(fs::read(place.0.join("a.svg")).unwrap(), b"second");
        assert_eq!(fs::read(place.0.join("a.svg.part")).unwrap(), b"mine");
        assert_eq!(place.names(), ["a.svg", "a.svg.part", "folder"]);
        assert!(fs::read_dir(place.0.join("folder")).unwrap().next().is_none());
    }
}
