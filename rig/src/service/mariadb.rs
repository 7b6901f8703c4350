//! Knows MariaDB, which stands beside a web server: one table, a row a page.
//!
//! A server without grant tables and without a network serves whoever sees its socket, and only
//! processes of the instance do. Must not know who asks.

use super::database::{memory, rows};
use super::root::{Root, directory};
use super::{Companion, Site, Software, Why};

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
    fill: |_| Ok(()),
    root: Root::Serves,
};

fn prepare(site: &Site) -> Result<(), Why> {
    let fail = |e: std::io::Error| format!("{}: {e}", site.path("sql").display());
    ["sql", "sql/data"].iter().try_for_each(|name| directory(site, name)).map_err(fail)?;
    site.write("sql/init", statements(rows(site)).as_bytes())
}

/// A line each, as an init file has them.
fn statements(rows: impl Iterator<Item = (u64, String)>) -> String {
    let row = |(n, file)| format!("INSERT INTO stend.page VALUES ({n}, LOAD_FILE('{file}'));\n");
    format!(
        "CREATE DATABASE stend;\n\
         CREATE TABLE stend.page (id INT PRIMARY KEY, body LONGBLOB) ENGINE=InnoDB;\n{}",
        rows.map(row).collect::<String>()
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
        format!("--innodb-buffer-pool-size={}", memory(site)),
    ]);
    let fixed = [
        "--skip-grant-tables",
        "--skip-networking",
        "--max-connections=1100",
        "--back-log=1000",
        "--innodb-log-file-size=32M",
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
        let rows = [(0, "/tmp/x/www/0".to_owned()), (1, "/tmp/x/www/1".to_owned())];
        let said = statements(rows.into_iter());
        assert!(said.contains("VALUES (0, LOAD_FILE('/tmp/x/www/0'));\n"), "{said}");
        assert!(said.ends_with("VALUES (1, LOAD_FILE('/tmp/x/www/1'));\n"), "{said}");
    }
}
