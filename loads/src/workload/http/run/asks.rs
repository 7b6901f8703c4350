//! Knows what a request says beside its path: its method, its fields, what it posts.
//!
//! Must not know which page is asked for.

use super::super::spec::{
    BODY, COOKIE_SIZE, HEADERS, METHOD, REQUEST_SIZE, REQUESTS_PER_CONNECTION,
};
use super::{begin, external};
use crate::engine::exchange::Order;
use crate::engine::net::content::content;
use desk::record::{ParamSpec, Value};
use rig::metal::digest;
use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;

/// Which stream of content is made into what a client posts.
const POSTED: u32 = 2;
/// Most bytes of a file of fields, and of one that is posted.
const FIELDS_MAX: u64 = 16 << 10;
const BODY_MAX: u64 = 1 << 20;
/// Fields that follow from what is asked for otherwise, or that ask for an interim response.
const NOT_FREE: [&str; 5] =
    ["connection", "content-length", "expect", "transfer-encoding", "upgrade"];

/// What all requests of a trial have in common.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    /// All before the number or the path of a page.
    pub begins: Vec<u8>,
    /// Whether pages have numbers.
    pub numbered: bool,
    /// Fields but for `Host`, a line each.
    fields: String,
    /// The host that a field names.
    host: Option<String>,
    /// What each request posts.
    pub posts: Vec<u8>,
}

impl Asks {
    /// Those of a trial, whose pages come from a list or not.
    ///
    /// # Errors
    /// A file that cannot be read, or has no fields, with the remedy.
    pub fn of(order: &Order, is_listed: bool) -> Result<Self, String> {
        let posted = posted(order)?;
        let method = method(order, posted.is_some());
        // A page of a server that stend did not start has a path without a number.
        let theirs = external(order).and_then(Result::ok).map(|page| page.path);
        let numbered = theirs.is_none();
        let theirs = theirs.map(|path| if is_listed { String::new() } else { path });
        let path = theirs.unwrap_or_else(|| begin(order));
        let mut asks =
            Self { begins: format!("{method} {path}").into_bytes(), numbered, ..Self::default() };
        asks.add_fields(order, posted.as_ref().map(Vec::len))?;
        asks.posts = posted.unwrap_or_default();
        Ok(asks)
    }

    /// Writes the fields: those of the file first, which replace ours of the same name.
    fn add_fields(&mut self, order: &Order, posted: Option<usize>) -> Result<(), String> {
        let own = own_fields(order)?;
        self.host = own
            .iter()
            .find(|field| field.0.eq_ignore_ascii_case("host"))
            .map(|field| field.1.clone());
        let cookie = order.params.get(COOKIE_SIZE.name).and_then(Value::quantity);
        let cookie = cookie.map_or(0.0, |size| size.value);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 4096")]
        let cookie = Some("c".repeat(cookie as usize)).filter(|cookie| !cookie.is_empty());
        let stream = posted.map(|_| "application/octet-stream".to_owned());
        let ends = order.params.get(REQUESTS_PER_CONNECTION.name).and_then(Value::count) == Some(1);
        let ours = [
            ("User-Agent", Some("stend".to_owned())),
            ("Cookie", cookie),
            ("Content-Type", stream),
            ("Content-Length", posted.map(|bytes| bytes.to_string())),
            ("Connection", ends.then(|| "close".to_owned())),
        ];
        let is_free = |name: &str| !own.iter().any(|field| field.0.eq_ignore_ascii_case(name));
        let ours = ours.into_iter().filter(|(name, _)| is_free(name));
        let ours = ours.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let all =
            ours.chain(own.iter().filter(|field| !field.0.eq_ignore_ascii_case("host")).cloned());
        self.fields = all.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Ok(())
    }

    /// What stands behind the path of a page, up to what is posted.
    pub fn behind(&self, server: SocketAddr) -> Vec<u8> {
        let host = self.host.clone().unwrap_or_else(|| server.to_string());
        format!(" HTTP/1.1\r\nHost: {host}\r\n{}\r\n", self.fields).into_bytes()
    }

    /// Continues a digest over what a plan says of requests, and over what its files hold.
    pub fn digest(&self, sum: u64) -> u64 {
        let host = self.host.as_deref().unwrap_or_default();
        let parts = [&self.begins, self.fields.as_bytes(), host.as_bytes(), &self.posts];
        parts.into_iter().fold(sum, digest)
    }
}

/// What each request posts; none where it has no body.
pub fn posted(order: &Order) -> Result<Option<Vec<u8>>, String> {
    if let Some(file) = file(order, BODY) {
        return read(file, BODY_MAX).map(Some);
    }
    let size = order.params.get(REQUEST_SIZE.name).and_then(Value::quantity);
    Ok(size.filter(|size| size.value >= 1.0).map(|_| {
        let bytes = order.request;
        content(order.data_seed, POSTED, bytes)[..bytes].to_vec()
    }))
}

/// The method of requests, in capitals.
pub fn method(order: &Order, posts: bool) -> String {
    match order.params.get(METHOD.name).and_then(Value::word) {
        None | Some("auto") => if posts { "POST" } else { "GET" }.to_owned(),
        Some(method) => method.to_uppercase(),
    }
}

/// The file that a parameter names.
fn file(order: &Order, param: ParamSpec) -> Option<&str> {
    order.params.get(param.name).and_then(Value::word).filter(|file| *file != param.default)
}

fn read(file: &str, most: u64) -> Result<Vec<u8>, String> {
    let fail = |e: std::io::Error| format!("{file}: {e}");
    let mut bytes = Vec::new();
    File::open(file).map_err(fail)?.take(most + 1).read_to_end(&mut bytes).map_err(fail)?;
    match bytes.len() as u64 {
        0 => Err(format!("{file} is empty; leave it out, or write something into it")),
        length if length > most => Err(format!("{file} is longer than {most} B; shorten it")),
        _ => Ok(bytes),
    }
}

/// Fields of a file: name and value.
fn own_fields(order: &Order) -> Result<Vec<(String, String)>, String> {
    let Some(file) = file(order, HEADERS) else { return Ok(Vec::new()) };
    let text = read(file, FIELDS_MAX)?;
    let text = String::from_utf8(text).map_err(|e| format!("{file}: {e}"))?;
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| field(line).map_err(|why| format!("{file}: '{line}': {why}"))).collect()
}

/// A field of a line (RFC 9110, 5.1 and 5.5).
fn field(line: &str) -> Result<(String, String), String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_value = |c: char| c == '\t' || (' '..='~').contains(&c);
    let (name, value) = line.split_once(':').unwrap_or_default();
    let value = value.trim();
    if name.is_empty() || !name.chars().all(is_token) || !value.chars().all(is_value) {
        return Err("no field of a request; write one a line, as in Accept: text/html".into());
    }
    match NOT_FREE.iter().find(|fixed| fixed.eq_ignore_ascii_case(name)) {
        None => Ok((name.into(), value.into())),
        Some(fixed) => Err(format!("{fixed} follows from the load; leave it out")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::spec::SERVER;
    use super::super::super::tests::order;
    use super::*;
    use std::fs;
    use std::net::{IpAddr, Ipv4Addr};
    use std::path::PathBuf;

    const AT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

    struct Files(PathBuf);

    impl Files {
        fn new(name: &str) -> Self {
            let place =
                std::env::temp_dir().join(format!("stend-asks-{name}-{}", std::process::id()));
            fs::create_dir_all(&place).unwrap();
            Self(place)
        }

        fn write(&self, name: &str, bytes: &[u8]) -> Value {
            let path = self.0.join(name);
            fs::write(&path, bytes).unwrap();
            Value::Word(path.display().to_string())
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn asks(params: &[(ParamSpec, Value)]) -> Result<String, String> {
        let mut order = order(100);
        order.params.insert(SERVER.name.into(), Value::Word("http://127.0.0.1:8080/x".into()));
        let own = params.iter().map(|(param, value)| (param.name.to_owned(), value.clone()));
        order.params.extend(own);
        let asks = Asks::of(&order, false)?;
        let all = [&asks.begins, &asks.behind(AT)[..], &asks.posts].concat();
        Ok(String::from_utf8_lossy(&all).into_owned())
    }

    #[test]
    fn fields_of_a_file_replace_ours_and_a_file_is_posted() {
        let files = Files::new("whole");
        let plain = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: stend\r\n\r\n";
        assert_eq!(asks(&[]), Ok(plain.into()));
        let own =
            files.write("own", b"host: a.example\nUser-agent:me\n\nContent-Type: text/css\r\n");
        let body = files.write("body", b"posted");
        let method = Value::Word("put".into());
        let says = "PUT /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 6\r\nUser-agent: me\r\n\
                    Content-Type: text/css\r\n\r\nposted";
        assert_eq!(asks(&[(HEADERS, own), (BODY, body), (METHOD, method)]), Ok(says.into()));
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_the_remedy() {
        let files = Files::new("refused");
        let why = |text: &[u8]| asks(&[(HEADERS, files.write("h", text))]).unwrap_err();
        assert!(why(b"").contains("is empty"));
        assert!(why(b"a b: c").contains("'a b: c': no field of a request; write one a line"));
        assert!(why(b"a: \x01").contains("no field"));
        assert!(why(b"alone").contains("no field"));
        assert!(why(b"content-Length: 7").contains("content-length follows from the load"));
        assert!(why(&[b'a'; 20 << 10]).contains("longer than 16384 B"));
        let gone = Value::Word("/nowhere/body".into());
        assert!(asks(&[(BODY, gone)]).unwrap_err().starts_with("/nowhere/body: "));
    }
}
