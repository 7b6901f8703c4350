//! Knows nginx: its configuration, its count of requests (`ngx_http_stub_status_module`), and how
//! many of them wait for PHP beside it.
//!
//! Must not know what is asked of it.

use super::database::database;
use super::root::Root;
use super::{Service, Site, Software, Waiting, Why, fpm};
use rustix::process::Signal;

/// Files, and nothing beside it.
pub const SERVICE: Service = Service {
    software: Software {
        name: "nginx",
        program: "nginx",
        package: "nginx-light",
        files: &[],
        versions: &[("nginx", &["-v"])],
    },
    prepare: |site| site.write("nginx.conf", configuration(site, false).as_bytes()),
    start: |site| {
        let path = |name: &str| site.path(name).display().to_string();
        vec!["-p".into(), path(""), "-c".into(), path("nginx.conf"), "-e".into(), path("log")]
    },
    requests: |site| number(&site.get(STATUS)?),
    waiting: None,
    stop: Signal::TERM,
    companions: |_| Vec::new(),
    root: Root::Serves,
};

/// The same, with PHP in processes beside it.
pub const WITH_FPM: Service = Service {
    software: Software { name: "nginx_fpm", package: "nginx-light php-fpm", ..SERVICE.software },
    prepare: |site| site.write("nginx.conf", configuration(site, true).as_bytes()),
    waiting: Some(Waiting { ask: waiting, requests: 2 }),
    companions: |site| database(site).into_iter().chain([&fpm::COMPANION]).collect(),
    ..SERVICE
};

/// Where it tells its counts.
const STATUS: &str = "/stend-status";

/// What is left out of the defaults would be another experiment: a limit on the requests of a
/// connection, descriptors for fewer connections than clients make.
fn configuration(site: &Site, has_php: bool) -> String {
    let directory = site.directory.display();
    let (listens, log) = (listens(site), site.path("log").display().to_string());
    // Who is not root of the machine has no other user to become.
    let user = if site.is_root { "nobody nogroup" } else { "root" };
    // Where PHP stands beside it, the workers that are asked for are those of PHP.
    let workers = match site.setting("workers", "cpus") {
        number if number != "cpus" && !has_php => number.to_owned(),
        _ => site.cpus.to_string(),
    };
    let pages = if has_php { pages(site) } else { String::new() };
    let (cork, nodelay) = (site.setting("tcp_nopush", "off"), site.setting("tcp_nodelay", "on"));
    let access = match site.setting("access_log", "off") {
        "off" => "off".to_owned(),
        _ => site.path("access").display().to_string(),
    };
    let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {directory}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nuser {user};\nworker_processes {workers};\nworker_rlimit_nofile 16384;\n\
         pid {directory}/pid;\nerror_log {log} notice;\n\
         events {{ worker_connections 8192; }}\n\
         http {{\n{places}access_log {access};\nsendfile on;\ntcp_nopush {cork};\n\
         tcp_nodelay {nodelay};\n\
         keepalive_requests 1000000000;\ndefault_type application/octet-stream;\n\
         client_max_body_size 128m;\n\
         open_file_cache max=5000;\n\
         server {{ {listens} root {directory}/www;\n\
         location = {STATUS} {{ stub_status; access_log off; }}{pages} }}\n}}\n"
    )
}

/// Where it listens; its keeper asks without encryption.
fn listens(site: &Site) -> String {
    let Site { address, plain, .. } = site;
    if !site.is_encrypted() {
        return format!("listen {address} backlog=4096;");
    }
    let directory = site.directory.display();
    format!(
        "listen {plain}; listen {address} ssl backlog=4096; ssl_protocols TLSv1.3;\n\
         ssl_certificate {directory}/tls/certificate; ssl_certificate_key {directory}/tls/key;\n"
    )
}

/// Hands pages to PHP; a long one is passed on as it comes, and not kept in a file.
fn pages(site: &Site) -> String {
    let (directory, socket) = (site.directory.display(), fpm::SOCKET);
    let (status, told) = (fpm::STATUS, fpm::STATUS_SOCKET);
    let param = |(name, value): &(&str, &str)| format!(" fastcgi_param {name} {value};");
    let params: String = PARAMS.iter().map(param).collect();
    format!(
        "\nlocation ~ \\.php$ {{ fastcgi_pass unix:{directory}/{socket};\n\
         fastcgi_max_temp_file_size 0;{params} }}\n\
         location = {status} {{ fastcgi_pass unix:{directory}/{told}; access_log off;{params} }}"
    )
}

/// CGI meta-variables of a request (RFC 3875, 4.1).
const PARAMS: [(&str, &str); 8] = [
    ("SCRIPT_FILENAME", "$document_root$fastcgi_script_name"),
    ("SCRIPT_NAME", "$fastcgi_script_name"),
    ("QUERY_STRING", "$query_string"),
    ("REQUEST_METHOD", "$request_method"),
    ("CONTENT_TYPE", "$content_type"),
    ("CONTENT_LENGTH", "$content_length"),
    ("REQUEST_URI", "$request_uri"),
    ("SERVER_PROTOCOL", "$server_protocol"),
];

/// Requests that it has handed over or will, and that no process of PHP has.
fn waiting(site: &Site) -> Result<u64, Why> {
    let working = field(&site.get(fpm::STATUS)?, "active processes:")?;
    // Of those that it answers, the question is one.
    let answered = field(&site.get(STATUS)?, "Writing:")?;
    Ok(answered.saturating_sub(working + 1))
}

/// The number behind a name.
fn field(status: &str, name: &str) -> Result<u64, Why> {
    let behind = status.split_once(name).map(|(_, behind)| behind);
    let word = behind.and_then(|behind| behind.split_ascii_whitespace().next());
    word.and_then(|word| word.parse().ok()).ok_or_else(|| format!("no '{name}' in '{status}'"))
}

/// Of "server accepts handled requests" and three numbers below it, the last.
fn number(status: &str) -> Result<u64, Why> {
    let line = status.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1);
    let last = line.and_then(|line| line.split_ascii_whitespace().nth(2));
    last.and_then(|word| word.parse().ok()).ok_or_else(|| format!("no count in '{status}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::net::{Ipv4Addr, SocketAddr};

    #[test]
    fn its_count_is_read() {
        let status = "Active connections: 2 \nserver accepts handled requests\n 7 7 123 \n\
                      Reading: 0 Writing: 1 Waiting: 1 \n";
        assert_eq!(number(status), Ok(123));
        assert!(number("").is_err());
    }

    #[test]
    fn settings_are_in_the_configuration() {
        let set = |settings: &[(&str, &str)], has_php| {
            let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            let site = Site {
                directory: "/tmp/x".into(),
                address: SocketAddr::from((Ipv4Addr::new(198, 18, 0, 1), 8080)),
                plain: SocketAddr::from((Ipv4Addr::new(198, 18, 0, 1), 8081)),
                settings: BTreeMap::from_iter(settings),
                cpus: 3,
                is_root: true,
            };
            configuration(&site, has_php)
        };
        let usual = set(&[], false);
        for line in [
            "worker_processes 3;",
            "tcp_nopush off;",
            "tcp_nodelay on;",
            "access_log off;",
            "user nobody",
        ] {
            assert!(usual.contains(line), "{line}: {usual}");
        }
        assert!(!usual.contains("fastcgi_pass") && usual.contains("listen 198.18.0.1:8080 b"));
        let tls = set(&[("tls", "full")], false);
        for line in ["listen 198.18.0.1:8081;", "listen 198.18.0.1:8080 ssl", "/tmp/x/tls/key;"] {
            assert!(tls.contains(line), "{line}: {tls}");
        }
        let pages = set(&[("workers", "1")], true);
        for line in ["worker_processes 3;", "fastcgi_pass unix:/tmp/x/fpm/socket;"] {
            assert!(pages.contains(line), "{line}: {pages}");
        }
        let other = set(&[("workers", "1"), ("tcp_nopush", "on"), ("access_log", "on")], false);
        for line in ["worker_processes 1;", "tcp_nopush on;", "access_log /tmp/x/access;"] {
            assert!(other.contains(line), "{line}: {other}");
        }
    }
}
