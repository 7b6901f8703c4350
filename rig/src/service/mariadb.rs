//! Knows MariaDB, which stands beside a web server: one table with one row, its content.
//!
//! A server without grant tables and without a network serves whoever sees its socket, and only
//! processes of the instance do. Must not know who asks.

use super::{Companion, Site, Software, Why};
use std::os::unix::fs::chown;

/// The row.
pub const COMPANION: Companion = Companion {
    software: Software {
        name: "mariadb",
        program: "mariadbd",
        package: "mariadb-server-core php-mysql",
        files: &[],
        versions: &[("mariadbd", &["--version"])],
    },
    socket: "sql/socket",
    prepare,
    start,
};

/// The row, where pages ask a database.
pub fn database(site: &Site) -> Option<&'static Companion> {
    (site.setting("page", "file") == "php_sql").then_some(&COMPANION)
}

/// User and group `nobody` of the machine.
const NOBODY: u32 = 65_534;

fn prepare(site: &Site) -> Result<(), Why> {
    let content = site.path(site.setting("content", "")).display().to_string();
    site.write("sql/init", statements(&content).as_bytes())?;
    let fail = |e: std::io::Error| format!("{}: {e}", site.path("sql").display());
    std::fs::create_dir_all(site.path("sql/data")).map_err(fail)?;
    let mut owned = ["sql", "sql/data"].iter();
    match site.is_root {
        true => {
            owned.try_for_each(|at| chown(site.path(at), Some(NOBODY), Some(NOBODY))).map_err(fail)
        }
        false => Ok(()),
    }
}

/// A line each, as an init file has them.
fn statements(content: &str) -> String {
    format!(
        "CREATE DATABASE stend;\n\
         CREATE TABLE stend.page (id INT PRIMARY KEY, body LONGBLOB) ENGINE=InnoDB;\n\
         INSERT INTO stend.page VALUES (1, LOAD_FILE('{content}'));\n"
    )
}

/// A redo log of 96 MiB would fill memory; a packet is as long as the longest content.
fn start(site: &Site) -> Vec<String> {
    let path = |name: &str| site.path(name).display().to_string();
    let user = if site.is_root { "nobody" } else { "root" };
    let mut options = vec!["--no-defaults".to_owned()];
    options.extend([
        format!("--user={user}"),
        format!("--datadir={}", path("sql/data")),
        format!("--tmpdir={}", path("sql")),
        format!("--socket={}", path("sql/socket")),
        format!("--pid-file={}", path("sql/pid")),
        format!("--init-file={}", path("sql/init")),
    ]);
    let fixed = [
        "--skip-grant-tables",
        "--skip-networking",
        "--max-connections=1100",
        "--back-log=1000",
        "--innodb-log-file-size=32M",
        "--innodb-buffer-pool-size=128M",
        "--max-allowed-packet=128M",
    ];
    options.extend(fixed.map(str::to_owned));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_serves_only_those_who_see_its_socket() {
        let site =
            |is_root| Site { directory: "/tmp/x".into(), is_root, ..Site::told(BTreeMap::new()) };
        for (is_root, user) in [(true, "--user=nobody"), (false, "--user=root")] {
            let options = start(&site(is_root));
            for option in [user, "--skip-networking", "--socket=/tmp/x/sql/socket"] {
                assert!(options.iter().any(|one| one == option), "{option}: {options:?}");
            }
            assert_eq!(options[0], "--no-defaults", "the files of the machine's own server");
        }
        assert!(statements("/tmp/x/www/1").ends_with("LOAD_FILE('/tmp/x/www/1'));\n"));
    }
}
