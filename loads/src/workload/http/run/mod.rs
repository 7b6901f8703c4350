//! Knows both ends of `http`: what is asked for, and what answers.
//!
//! Must not know when an operation begins, nor what the figures mean.

pub(super) mod client;
#[cfg(feature = "tls")]
mod secure;
#[cfg(not(feature = "tls"))]
#[path = "insecure.rs"]
mod secure;
mod server;

use super::spec::{
    ACCESS_LOG, BUILTIN, OPCACHE, PAGE, PHP, PHP_FUNCTIONS, PHP_SQL, REQUESTS_PER_CONNECTION,
    SERVER, TCP_NODELAY, TCP_NOPUSH, TLS, WITH_PHP, WORKERS,
};
use crate::engine::exchange::{Exchange, OFFERED, Order, PIPELINED, Program, Slot};
use crate::engine::net::content::content;
use desk::record::{ParamSpec, Value};
use rig::lab::agent;
use rig::metal::{DIGEST, digest};
use rig::service::External;
use std::net::{SocketAddrV4, TcpListener};
use std::sync::Arc;

/// Which stream of the trial's content a response is made of.
pub(super) const RESPONSE: u32 = 1;

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// Nothing has come.
    Nothing,
    /// The other end has ended the connection.
    Ended,
    /// So many bytes, and whether more may be there now. No bytes are no end: a handshake went on.
    Bytes(usize, bool),
}

/// HTTP/1.1.
pub struct Http;

impl Exchange for Http {
    type Client = client::Client;
    type Server = server::Server;
    const KEPT: bool = false;
    const ANEW: bool = false;

    fn refuses(order: &Order) -> Option<String> {
        let has_php = Self::service(order).is_some_and(|of| WITH_PHP.contains(&of.as_str()));
        if is_php(order) && !has_php {
            let (server, page) = (SERVER.name, PAGE.name);
            let asked = page_of(order).unwrap_or_default();
            return Some(format!(
                "{page} = {asked} needs a server with PHP: {server} = \"{}\"",
                WITH_PHP.join("\" or \"")
            ));
        }
        refuses_external(order)
            .or_else(|| secure::files(order).err())
            .or_else(|| refuses_pipelined(order))
    }

    fn external(order: &Order) -> Option<SocketAddrV4> {
        Some(external(order)?.ok()?.address)
    }

    fn service(order: &Order) -> Option<String> {
        let named = order.params.get(SERVER.name).and_then(Value::word)?;
        let ours = named == BUILTIN || External::of(named).is_some();
        (!ours).then(|| named.to_owned())
    }

    fn program(order: &Order) -> Program {
        let word = |name: &str| order.params.get(name).map(ToString::to_string);
        let own = [ACCESS_LOG, OPCACHE, PAGE, TCP_NODELAY, TCP_NOPUSH, TLS, WORKERS];
        let own = own.map(|param| param.name);
        let settings = own.iter().filter_map(|name| Some(((*name).to_owned(), word(name)?)));
        let served = ("content".to_owned(), format!("www{}", file(order)));
        let settings = settings.chain([served, ("asked".to_owned(), path(order))]);
        let body = content(order.seed, RESPONSE, order.response)[..order.response].to_vec();
        let mut files = vec![(format!("www{}", file(order)), spoilt(body))];
        if is_php(order) {
            files.push((format!("www{}", path(order)), page(order).into_bytes()));
            files.push((format!("www{}.{LIBRARY}", file(order)), library(order).into_bytes()));
        }
        // What cannot be made is refused before.
        files.extend(secure::files(order).unwrap_or_default());
        Program { settings: settings.collect(), files }
    }

    fn client(order: &Order, slots: Vec<Slot>) -> (client::Client, u64) {
        let client = client::Client::of(order, slots);
        let sum = digest(DIGEST, path(order).as_bytes());
        (client, digest(sum, &content(order.seed, RESPONSE, 0)))
    }

    fn server(order: &Order, _: Vec<Slot>, listener: &Arc<TcpListener>) -> server::Server {
        server::Server::of(order, listener)
    }
}

/// What is served, changed where a test asks for wrong data.
fn spoilt(mut body: Vec<u8>) -> Vec<u8> {
    if agent::plants_wrong_data() {
        body[0] ^= 1;
    }
    body
}

/// The page of a server that stend did not start; none where the server is another.
fn external(order: &Order) -> Option<Result<External, String>> {
    External::of(order.params.get(SERVER.name)?.word()?)
}

/// The path of what is asked for: who asks for another one is no client of the trial.
pub(super) fn path(order: &Order) -> String {
    if let Some(Ok(External { path, .. })) = external(order) {
        return path;
    }
    format!("{}{}", file(order), if is_php(order) { ".php" } else { "" })
}

/// The path of a trial's content.
fn file(order: &Order) -> String {
    format!("/{:016x}/{}", order.seed, order.response)
}

/// Why a page of a server that stend did not start cannot be asked for.
fn refuses_external(order: &Order) -> Option<String> {
    if let Err(why) = external(order)? {
        return Some(why);
    }
    let changed = OF_SERVERS.into_iter().find_map(|param| {
        let asked = order.params.get(param.name)?.to_string();
        (asked != param.default).then_some((param.name, asked))
    });
    changed.map(|(name, asked)| {
        format!("{name} = {asked} needs a server that stend starts; leave it out")
    })
}

/// Settings of servers that stend starts.
const OF_SERVERS: [ParamSpec; 8] =
    [ACCESS_LOG, OPCACHE, PAGE, PHP_FUNCTIONS, TCP_NODELAY, TCP_NOPUSH, TLS, WORKERS];

/// Why requests cannot be sent several at once.
fn refuses_pipelined(order: &Order) -> Option<String> {
    let each = order.each;
    let (key, param) = (PIPELINED.name, |name: &str| order.params.get(name));
    let requests = param(REQUESTS_PER_CONNECTION.name).and_then(Value::count);
    if let Some(requests) = requests.filter(|requests| !requests.is_multiple_of(each)) {
        let name = REQUESTS_PER_CONNECTION.name;
        return Some(format!(
            "{name} = {requests} is no multiple of {key} = {each}; write one, or all"
        ));
    }
    let offered = param(OFFERED.name).filter(|load| load.quantity().is_some() && each > 1)?;
    Some(format!("{key} = {each} needs {} = full, and it is {offered}", OFFERED.name))
}

fn page_of(order: &Order) -> Option<&str> {
    order.params.get(PAGE.name).and_then(Value::word)
}

fn is_php(order: &Order) -> bool {
    matches!(page_of(order), Some(PHP | PHP_SQL))
}

/// What the library of a page is called behind the name of the content.
const LIBRARY: &str = "library.php";

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

/// A page that sends the content.
fn page(order: &Order) -> String {
    let bytes = order.response;
    let sends = match page_of(order) {
        Some(PHP_SQL) => {
            "$db = new mysqli(null, 'root', '', 'stend', 0, __DIR__ . '/../../sql/socket');\n\
             $rows = $db->query('SELECT body FROM page WHERE id = 1');\n\
             $body = $rows->fetch_row()[0];\n"
                .to_owned()
        }
        _ => format!("$body = file_get_contents(__DIR__ . '/{bytes}');\n"),
    };
    format!(
        "<?php\nrequire __DIR__ . '/{bytes}.{LIBRARY}';\n{sends}\
         header('Content-Type: application/octet-stream');\n\
         header('Content-Length: {bytes}');\necho $body;\n"
    )
}
