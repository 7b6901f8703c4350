//! Knows nginx: its configuration, and its count of requests (`ngx_http_stub_status_module`).
//!
//! Must not know what is asked of it.

use super::{Service, Site, Software, Why};
use rustix::process::Signal;

/// The row.
pub const SERVICE: Service = Service {
    software: Software {
        name: "nginx",
        program: "nginx",
        package: "nginx-light",
        files: &[],
        versions: &[("nginx", &["-v"])],
    },
    prepare: |site| site.write("nginx.conf", configuration(site).as_bytes()),
    start: |site| {
        let path = |name: &str| site.path(name).display().to_string();
        vec!["-p".into(), path(""), "-c".into(), path("nginx.conf"), "-e".into(), path("log")]
    },
    requests: |site| number(&site.get(STATUS)?),
    stop: Signal::TERM,
    companion: |_| None,
    refuses_root: false,
};

/// Where it tells its counts.
const STATUS: &str = "/stend-status";

/// What is left out of the defaults would be another experiment: a limit on the requests of a
/// connection, descriptors for fewer connections than clients make.
fn configuration(site: &Site) -> String {
    let directory = site.directory.display();
    let (address, log) = (site.address, site.path("log").display().to_string());
    // Who is not root of the machine has no other user to become.
    let user = if site.is_root { "nobody nogroup" } else { "root" };
    let workers = match site.setting("workers", "cpus") {
        "cpus" => site.cpus.to_string(),
        number => number.to_owned(),
    };
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
         open_file_cache max=1000;\n\
         server {{ listen {address} backlog=4096; root {directory}/www;\n\
         location = {STATUS} {{ stub_status; access_log off; }} }}\n}}\n"
    )
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
    use std::net::{Ipv4Addr, SocketAddrV4};

    #[test]
    fn its_count_is_read() {
        let status = "Active connections: 2 \nserver accepts handled requests\n 7 7 123 \n\
                      Reading: 0 Writing: 1 Waiting: 1 \n";
        assert_eq!(number(status), Ok(123));
        assert!(number("").is_err());
    }

    #[test]
    fn settings_are_in_the_configuration() {
        let set = |settings: &[(&str, &str)]| {
            let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            configuration(&Site {
                directory: "/tmp/x".into(),
                address: SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 1), 8080),
                settings: BTreeMap::from_iter(settings),
                cpus: 3,
                is_root: true,
            })
        };
        let usual = set(&[]);
        for line in [
            "worker_processes 3;",
            "tcp_nopush off;",
            "tcp_nodelay on;",
            "access_log off;",
            "user nobody",
        ] {
            assert!(usual.contains(line), "{line}: {usual}");
        }
        let other = set(&[("workers", "1"), ("tcp_nopush", "on"), ("access_log", "on")]);
        for line in ["worker_processes 1;", "tcp_nopush on;", "access_log /tmp/x/access;"] {
            assert!(other.contains(line), "{line}: {other}");
        }
    }
}
