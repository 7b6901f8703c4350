//! Knows PostgreSQL, which stands beside a web server: one table, a row a page.
//!
//! It listens on no network and trusts whoever sees its socket; only processes of the instance
//! do. Must not know who asks.

use super::database::{memory, rows};
use super::root::{Root, directory};
use super::{Companion, Site, Software, Why};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The row.
pub const COMPANION: Companion = Companion {
    software: Software {
        name: "postgres",
        program: "postgres",
        package: "postgresql php-pgsql",
        files: &[],
        versions: &[("postgres", &["--version"])],
    },
    socket: "sql/.s.PGSQL.5432",
    prepare,
    start,
    fill: |_| Ok(()),
    root: Root::Refuses,
};

/// Where Debian has the programs of each version, the highest first.
pub(super) fn places() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    all.sort_by_key(|path| std::cmp::Reverse(version(path)));
    all.into_iter().map(|path| path.join("bin"))
}

/// Its files, below the run directory.
const DATA: &str = "sql/data";

/// Makes a cluster, and fills it in the single-user mode, in which each line is a command.
fn prepare(site: &Site) -> Result<(), Why> {
    directory(site, "sql").map_err(|e| format!("{}: {e}", site.path("sql").display()))?;
    let server = COMPANION.software.path()?;
    let real = std::fs::canonicalize(&server).map_err(|e| format!("{}: {e}", server.display()))?;
    let data = site.path(DATA).display().to_string();
    let options = ["-D", &data, "-U", "stend", "-A", "trust", "-E", "SQL_ASCII", "--locale=C"];
    run(site, (&real.with_file_name("initdb"), &[&options[..], &["--no-sync"]].concat()), "")?;
    let options = ["--single", "-D", &data, "-F", "-c", "exit_on_error=true", "postgres"];
    run(site, (&real, &options), &statements(rows(site)))
}

fn statements(rows: impl Iterator<Item = (u64, String)>) -> String {
    let row = |(n, file)| format!("INSERT INTO page VALUES ({n}, pg_read_binary_file('{file}'))\n");
    format!(
        "CREATE TABLE page (id int PRIMARY KEY, body bytea)\n{}VACUUM ANALYZE page\n",
        rows.map(row).collect::<String>()
    )
}

/// Runs a program to its end, with this as its input.
fn run(site: &Site, (path, options): (&PathBuf, &[&str]), input: &str) -> Result<(), Why> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let fail = |e: std::io::Error| format!("{name}: {e}");
    let mut command = COMPANION.root.command(Path::new(path), site);
    command.args(options).current_dir(&site.directory);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = command.spawn().map_err(fail)?;
    if let Some(mut stdin) = program.stdin.take() {
        // One that has failed says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = program.wait_with_output().map_err(fail)?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    match ended.status.success() && !said.contains("ERROR:") {
        true => Ok(()),
        false => {
            let last = said.lines().rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
            Err(format!("{name} has ended ({}): {last}", ended.status))
        }
    }
}

fn start(site: &Site) -> Vec<String> {
    let path = |name: &str| site.path(name).display().to_string();
    let mut options = vec!["-D".into(), path(DATA), "-k".into(), path("sql")];
    let settings = [
        "listen_addresses=".to_owned(),
        "unix_socket_permissions=0777".to_owned(),
        "max_connections=1100".to_owned(),
        // A container may have a small /dev/shm.
        "dynamic_shared_memory_type=mmap".to_owned(),
        format!("shared_buffers={}kB", memory(site) >> 10),
    ];
    options.extend(settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_serves_only_those_who_see_its_socket() {
        let settings = BTreeMap::from([("database_memory".to_owned(), "67108864".to_owned())]);
        let options = start(&Site { directory: "/tmp/x".into(), ..Site::told(settings) });
        for option in ["/tmp/x/sql", "listen_addresses=", "shared_buffers=65536kB"] {
            assert!(options.iter().any(|one| one == option), "{option}: {options:?}");
        }
    }

    #[test]
    fn a_row_is_a_line() {
        let said = statements([(3, "/tmp/x/www/3".to_owned())].into_iter());
        assert_eq!(said.lines().count(), 3);
        assert!(
            said.contains("\nINSERT INTO page VALUES (3, pg_read_binary_file('/tmp/x/www/3'))")
        );
    }
}
