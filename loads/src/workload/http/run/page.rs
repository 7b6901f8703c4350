//! Knows pages of PHP: what they read a body from, what they include, what they take.
//!
//! Must not know which server runs them.

use super::super::spec::{
    DATABASE, DATABASE_CONNECTIONS, PAGE, PERSISTENT, PHP, PHP_FUNCTIONS, PHP_SQL, POSTGRES, REDIS,
};
use super::posted;
use crate::engine::exchange::Order;
use desk::record::Value;

/// The page, before the number that it is asked for.
pub const ASKED: &str = "page.php?n=";
/// Names of its files.
const PAGE_FILE: &str = "page.php";
const LIBRARY: &str = "library.php";
const POSTED: &str = "posted";

fn word<'o>(order: &'o Order, name: &str) -> Option<&'o str> {
    order.params.get(name).and_then(Value::word)
}

/// What makes the body.
pub fn page_of(order: &Order) -> Option<&str> {
    word(order, PAGE.name)
}

/// Whether a page of PHP does.
pub fn is_php(order: &Order) -> bool {
    matches!(page_of(order), Some(PHP | PHP_SQL))
}

/// Files of a page, beside the bodies; none where files are sent as they are.
pub fn files(order: &Order) -> Vec<(String, Vec<u8>)> {
    if !is_php(order) {
        return Vec::new();
    }
    let posted = posted(order);
    let texts = [(PAGE_FILE, page(order, posted.is_some())), (LIBRARY, library(order))];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    texts.into_iter().chain(posted.map(|bytes| (POSTED.to_owned(), bytes))).collect()
}

/// Code that a page includes and does not call, as most of an application's.
fn library(order: &Order) -> String {
    let wanted = order.params.get(PHP_FUNCTIONS.name).and_then(Value::count).unwrap_or(0);
    let one = |n: u64| {
        format!(
            "function stend_{n}($rows) {{ $sum = 0; foreach ($rows as $key => $row) {{\n\
             if ($row > {n}) {{ $sum += $row * {n}; }} else {{ $sum -= strlen($key); }}\n\
             }} return ['sum' => $sum, 'n' => {n}]; }}\n"
        )
    };
    format!("<?php\n{}", (0..wanted).map(one).collect::<String>())
}

/// A page that sends the body of a number, and refuses what is not what a client posts.
fn page(order: &Order, posts: bool) -> String {
    let takes = match posts {
        true => format!(
            "if ($_SERVER['REQUEST_METHOD'] === 'POST'\n\
             && file_get_contents('php://input') !== file_get_contents(__DIR__ . '/{POSTED}')) {{\n\
             http_response_code(400); exit;\n}}\n"
        ),
        false => String::new(),
    };
    let reads = match page_of(order) {
        Some(PHP_SQL) => asks(order),
        _ => "$body = file_get_contents(__DIR__ . '/' . $n);\n".to_owned(),
    };
    format!(
        "<?php\nrequire __DIR__ . '/{LIBRARY}';\n$n = (int) $_GET['n'];\n{takes}{reads}\
         header('Content-Type: application/octet-stream');\n\
         header('Content-Length: ' . strlen($body));\necho $body;\n"
    )
}

/// Code that reads the body from a database, whose sockets are in a directory beside that of
/// the server's files.
fn asks(order: &Order) -> String {
    let kept = word(order, DATABASE_CONNECTIONS.name) == Some(PERSISTENT);
    let (sql, query) = ("__DIR__ . '/../../sql'", "SELECT body FROM page WHERE id = ");
    match word(order, DATABASE.name) {
        Some(POSTGRES) => {
            let connect = if kept { "pg_pconnect" } else { "pg_connect" };
            format!(
                "$db = {connect}('user=stend dbname=postgres host=' . {sql});\n\
                 $rows = pg_query($db, '{query}' . $n);\n\
                 $body = pg_unescape_bytea(pg_fetch_result($rows, 0, 0));\n"
            )
        }
        Some(REDIS) => {
            let connect = if kept { "pconnect" } else { "connect" };
            format!(
                "$db = new Redis();\n$db->{connect}({sql} . '/socket');\n\
                 $body = $db->get('page:' . $n);\n"
            )
        }
        _ => {
            let host = if kept { "'p:localhost'" } else { "null" };
            format!(
                "$db = new mysqli({host}, 'root', '', 'stend', 0, {sql} . '/socket');\n\
                 $rows = $db->query('{query}' . $n);\n$body = $rows->fetch_row()[0];\n"
            )
        }
    }
}
