//! Knows both ends of `http`: what is asked for, and what answers.
//!
//! Must not know when an operation begins, nor what the figures mean.

mod asks;
pub(super) mod client;
mod learned;
mod page;
#[cfg(feature = "tls")]
mod secure;
#[cfg(not(feature = "tls"))]
#[path = "insecure.rs"]
mod secure;
mod server;

use super::catalogue::Catalogue;
use super::spec::{
    ACCESS_LOG, BODY, BUILTIN, CHECK, DATABASE, DATABASE_CONNECTIONS, DATABASE_MEMORY, HEADERS,
    METHOD, OPCACHE, PAGE, PAGES, PHP_FUNCTIONS, PHP_SQL, POPULARITY, REQUEST_SIZE,
    REQUESTS_PER_CONNECTION, SERVER, SIZES, TCP_NODELAY, TCP_NOPUSH, TLS, URLS, WITH_PHP, WORKERS,
};
use crate::dataset::{self, Recipe, SQL_SMALL, STREAM, WEB};
use crate::engine::exchange::{Exchange, LIFETIME, Order, PIPELINED, Program, Slot};
use crate::engine::net::content::content;
use crate::engine::pace::OFFERED;
use asks::Asks;
use bytes::Bytes;
use desk::record::{ParamSpec, Value};
use page::{is_php, page_of};
use rig::lab::agent;
use rig::metal::{DIGEST, digest};
use rig::service::External;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

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

    fn data_set(order: &Order) -> Option<String> {
        external(order).is_none().then(|| data_set(order).key())
    }

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
            .or_else(|| Catalogue::of(order).err())
            .or_else(|| dataset::room(&data_set(order)).err())
            .or_else(|| refuses_changing(order))
            .or_else(|| refuses_pipelined(order))
    }

    fn external(order: &Order) -> Option<SocketAddr> {
        Some(external(order)?.ok()?.address.into())
    }

    fn service(order: &Order) -> Option<String> {
        let named = order.params.get(SERVER.name).and_then(Value::word)?;
        let ours = named == BUILTIN || External::of(named).is_some();
        (!ours).then(|| named.to_owned())
    }

    fn program(order: &Order) -> Program {
        let word = |name: &str| order.params.get(name).map(ToString::to_string);
        let own =
            [ACCESS_LOG, DATABASE, OPCACHE, PAGE, PAGES, TCP_NODELAY, TCP_NOPUSH, TLS, WORKERS];
        let own = own.map(|param| param.name);
        let settings = own.iter().filter_map(|name| Some(((*name).to_owned(), word(name)?)));
        let memory = order.params.get(DATABASE_MEMORY.name).and_then(Value::quantity);
        let memory =
            memory.map(|memory| (DATABASE_MEMORY.name.to_owned(), memory.value.to_string()));
        let directory = format!("www{}", directory(order));
        let content = [("content", directory.clone()), ("asked", format!("{}0", begin(order)))];
        let content = content.map(|(key, value)| (key.to_owned(), value));
        let settings = settings.chain(memory).chain(content);
        let numbered = bodies(order).into_iter().enumerate();
        let numbered = numbered.map(|(number, body)| (number.to_string(), body));
        let made = page::files(order).into_iter().map(|(name, bytes)| (name, bytes.into()));
        let files = numbered.chain(made);
        let below = |(name, bytes)| (format!("{directory}/{name}"), bytes);
        let mut files: Vec<_> = files.map(below).collect();
        // What cannot be made is refused before.
        let keys = secure::files(order).unwrap_or_default();
        files.extend(keys.into_iter().map(|(name, bytes)| (name, bytes.into())));
        Program { settings: settings.collect(), files }
    }

    fn client(order: &Order, slots: Vec<Slot>) -> (client::Client, u64) {
        let client = client::Client::of(order, slots);
        let sum = client.pages().digest(client.asks().digest(DIGEST));
        let sum = digest(sum, &order.seed.to_le_bytes());
        (client, digest(sum, &content(order.data_seed, STREAM, 0)))
    }

    fn server(order: &Order, _: Vec<Slot>, listener: &Arc<TcpListener>) -> server::Server {
        server::Server::of(order, listener)
    }
}

/// What is served, changed where a test asks for wrong data.
fn spoilt(body: Bytes) -> Bytes {
    if !agent::plants_wrong_data() {
        return body;
    }
    let mut body = body.to_vec();
    body[0] ^= 1;
    body.into()
}

/// The page of a server that stend did not start; none where the server is another.
fn external(order: &Order) -> Option<Result<External, String>> {
    External::of(order.params.get(SERVER.name)?.word()?)
}

/// Bytes of a page of a server that stend did not start, by one request.
///
/// # Errors
/// As [`External::length`]; when it is encrypted, and this program has no TLS.
pub fn length_of_page(page: &External) -> Result<u64, String> {
    match page.is_encrypted {
        true => page.length(secure::session),
        false => page.length(Ok),
    }
}

/// What is served, and where.
fn data_set(order: &Order) -> Recipe {
    let word = |param: ParamSpec| order.params.get(param.name).map(ToString::to_string);
    let rows = page_of(order) == Some(PHP_SQL);
    let place = if rows { [SERVER, DATABASE].map(word) } else { [word(SERVER), None] };
    let place: Vec<String> = place.into_iter().flatten().collect();
    let pieces = pages(order).pages().iter().map(|page| (page.from, page.length)).collect();
    let generator = if rows { SQL_SMALL } else { WEB };
    Recipe { generator, seed: order.data_seed, pieces, place: place.join(" ") }
}

/// The directory of a data set, from its `/` on: who asks for another one is no client of it.
fn directory(order: &Order) -> String {
    format!("/{}", data_set(order).key())
}

/// How the path of each page begins, before its number.
pub(super) fn begin(order: &Order) -> String {
    let page = if is_php(order) { page::ASKED } else { "" };
    format!("{}/{page}", directory(order))
}

/// The body of each page.
fn bodies(order: &Order) -> Vec<Bytes> {
    let set = dataset::of(&data_set(order), order.seed);
    set.pieces().iter().cloned().map(spoilt).collect()
}

/// The pages of a trial; what cannot be is refused before.
fn pages(order: &Order) -> Catalogue {
    Catalogue::of(order).unwrap_or_default()
}

/// What each request posts to a server that stend starts; none where it is a GET.
fn posted(order: &Order) -> Option<Vec<u8>> {
    asks::posted(order).ok().flatten()
}

/// Whether a parameter is not what it is by default.
fn is_changed(order: &Order, param: &ParamSpec) -> bool {
    order.params.get(param.name).is_some_and(|asked| asked.to_string() != param.default)
}

/// Why a page of a server that stend did not start cannot be asked for, or of one that it starts
/// what only others have.
fn refuses_external(order: &Order) -> Option<String> {
    let changed = |all: &[ParamSpec]| {
        let param = all.iter().find(|param| is_changed(order, param))?;
        Some(format!("{} = {}", param.name, order.params.get(param.name)?))
    };
    match external(order) {
        None => changed(&OF_OTHERS).map(|asked| {
            format!("{asked} needs a server of your own, by its address; leave it out")
        }),
        Some(Err(why)) => Some(why),
        Some(Ok(page)) => {
            let plain = (!page.is_encrypted).then(|| changed(&[TLS])).flatten();
            let plain = plain.map(|asked| format!("{asked} needs an address with https://"));
            let of_ours = changed(&OF_SERVERS);
            let of_ours = of_ours
                .map(|asked| format!("{asked} needs a server that stend starts; leave it out"));
            plain.or(of_ours)
        }
    }
}

/// Settings of servers that it did not start.
const OF_OTHERS: [ParamSpec; 5] = [BODY, CHECK, HEADERS, METHOD, URLS];

/// Settings of servers that stend starts.
const OF_SERVERS: [ParamSpec; 14] = [
    ACCESS_LOG,
    DATABASE,
    DATABASE_CONNECTIONS,
    DATABASE_MEMORY,
    LIFETIME,
    OPCACHE,
    PAGE,
    PAGES,
    PHP_FUNCTIONS,
    POPULARITY,
    SIZES,
    TCP_NODELAY,
    TCP_NOPUSH,
    WORKERS,
];

/// Why requests cannot be sent that may have an effect.
fn refuses_changing(order: &Order) -> Option<String> {
    let posts = match Asks::of(order, pages(order).is_listed()) {
        Ok(asks) => !asks.posts.is_empty(),
        Err(why) => return Some(why),
    };
    let changed = |param: &ParamSpec| is_changed(order, param);
    let (method, all) = (asks::method(order, posts), [BODY, REQUEST_SIZE, METHOD]);
    let name = all.iter().find(|param| changed(param)).map_or(METHOD.name, |param| param.name);
    if changed(&BODY) && changed(&REQUEST_SIZE) {
        return Some(format!(
            "{} and {name} both say what is posted; leave one out",
            REQUEST_SIZE.name
        ));
    }
    if ["GET", "OPTIONS"].contains(&method.as_str()) {
        // A content of a GET has no defined meaning (RFC 9110, 9.3.1).
        let (key, method) = (METHOD.name, method.to_lowercase());
        return posts.then(|| {
            format!("{name} is posted, and not with {key} = {method}; write {key} = post")
        });
    }
    if Http::service(order).is_some() && !is_php(order) {
        let page = PAGE.name;
        return Some(format!("{name} needs a page that takes it: {page} = \"php\" or \"php_sql\""));
    }
    if pages(order).is_listed() {
        return Some(format!("{name} cannot be with {}, which has GETs; leave one out", URLS.name));
    }
    // A request that may have had an effect is not sent again (RFC 9112, 9.3.2).
    let each = order.each;
    let key = PIPELINED.name;
    (each > 1).then(|| format!("{name} cannot be with {key} = {each}; write {key} = 1"))
}

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
