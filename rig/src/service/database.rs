//! Knows which database stands beside a web server: a table of the pages' content.
//!
//! Must not know how one is put up.

use super::{Companion, Site, mariadb, postgres, redis};

/// All of them.
pub const ALL: [&Companion; 3] = [&mariadb::COMPANION, &postgres::COMPANION, &redis::COMPANION];

/// The database, where pages ask one.
pub fn database(site: &Site) -> Option<&'static Companion> {
    let named = site.setting("database", mariadb::COMPANION.software.name);
    let asks = site.setting("page", "file") == "php_sql";
    ALL.into_iter().find(|one| asks && one.software.name == named)
}

/// Numbers and files of the rows: each page of the web server is one.
pub fn rows(site: &Site) -> impl Iterator<Item = (u64, String)> {
    let count = site.setting("pages", "1").parse().unwrap_or(1);
    let content = site.path(site.setting("content", "")).display().to_string();
    (0..count).map(move |row| (row, format!("{content}/{row}")))
}

/// Bytes that the database may use for what it holds in memory.
pub fn memory(site: &Site) -> u64 {
    site.setting("database_memory", "").parse().unwrap_or(128 << 20)
}
