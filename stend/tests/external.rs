//! Knows that a server which stend did not start is measured from outside: by the address of a
//! page, only where it is somebody's own, and without a figure of its machine.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{Run, is_client};
use desk::verdict::{Caveat, analyse};
use kill::Place;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Options of a run that takes seconds.
const SHORT: [&str; 7] = ["--quick", "--blocks", "3", "--only", "concurrency=1", "--out", "out"];
const MINE: [&str; 2] = ["--i-own", "127.0.0.1"];
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Starts a server of kept connections, which sends this for the path and the number of a request;
/// gives its port. It ends with the test.
fn served(page: fn(&str, u64) -> String) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || serve(socket, page));
        }
    });
    port
}

fn serve(mut socket: TcpStream, page: fn(&str, u64) -> String) {
    let mut buffer = [0; 4096];
    while let Ok(n) = socket.read(&mut buffer) {
        let closes = buffer[..n].windows(8).any(|bytes| bytes == b"HTTP/1.0");
        let asked = String::from_utf8_lossy(&buffer[..n]).into_owned();
        let path = asked.split(' ').nth(1).unwrap_or_default();
        let body = page(path, ASKED.fetch_add(1, Relaxed));
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        if n == 0 || socket.write_all(format!("{head}{body}").as_bytes()).is_err() || closes {
            return;
        }
    }
}

fn run_of(place: &Place, output: &Output) -> Run {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let records = fs::read_to_string(place.path.join("out/records.json"));
    serde_json::from_str(&records.expect(&said)).expect("a run")
}

#[test]
fn a_page_is_measured_by_its_address_and_nothing_is_told_of_its_machine() {
    let place = Place::new("external");
    let url = format!("http://127.0.0.1:{}/page", served(|_, _| "seven B".into()));
    let words: Vec<&str> = ["run", &url].into_iter().chain(MINE).chain(SHORT).collect();
    let run = run_of(&place, &moment::taken(|| place.stend(&words)));
    let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
    for record in &run.records {
        let foreign = record.readings.iter().find(|reading| {
            let ours = ["throttle", "order"].contains(&reading.probe.as_str());
            !is_client(reading.host.name()) && !ours && reading.key != "steal"
        });
        assert_eq!(foreign, None);
        if record.outcome.fault.is_none() {
            assert!(record.outcome.samples[0].quantity.value > 100.0);
            let mut cpus = record.readings.iter().filter(|reading| reading.probe == "process");
            assert!(cpus.any(|reading| reading.host.name() == "c01" && reading.key == "cpu"));
            assert_eq!(record.trial.point.params["response_size"].to_string(), "7 B");
        }
    }
    let found = analyse(&run);
    let outside =
        |caveat: &Caveat| matches!(caveat, Caveat::FromOutside { servers } if *servers == url);
    assert!(found.caveats.iter().any(outside), "{:?}", found.caveats);
    assert!(found.caveats.iter().any(shares_the_machine), "it listens at 127.0.0.1");
}

const fn shares_the_machine(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::OneMachine | Caveat::Loopback { .. })
}

/// nginx with a key on RSA and one page; none where a program is missing.
struct Encrypted {
    program: std::process::Child,
    url: String,
}

impl Encrypted {
    fn new(place: &Place, protocol: &str) -> Option<Self> {
        let at = place.path.display();
        let mut made = Command::new("openssl");
        made.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a.example"]);
        made.args(["-keyout", &format!("{at}/key"), "-out", &format!("{at}/certificate")]);
        let made = made.stderr(Stdio::null()).status().is_ok_and(|made| made.success());
        if !made || !Path::new("/usr/sbin/nginx").exists() {
            return None;
        }
        let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr();
        let port = free().expect("a port").port();
        fs::write(place.path.join("page"), "seven B").expect("a page");
        let settings = format!(
            "daemon off; user root; pid {at}/pid; error_log {at}/log; events {{}}\n\
             http {{ access_log off; server {{ listen 127.0.0.1:{port} ssl; root {at};\n\
             ssl_protocols {protocol};\n\
             ssl_certificate {at}/certificate; ssl_certificate_key {at}/key;\n\
             location = /told {{ if ($request_method != PUT) {{ return 405; }}\n\
             if ($http_x_own != yes) {{ return 403; }}\n\
             return 200 \"$host $content_length\"; }} }} }}\n"
        );
        fs::write(place.path.join("nginx.conf"), settings).expect("settings");
        let mut program = Command::new("/usr/sbin/nginx");
        program.args(["-c", &format!("{at}/nginx.conf")]).stderr(Stdio::null());
        let program = program.spawn().expect("nginx");
        let answers = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        kill::until(Duration::from_secs(10), answers).expect("nginx serves");
        Some(Self { program, url: format!("https://127.0.0.1:{port}") })
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.program);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.program.wait();
    }
}

#[test]
fn an_encrypted_page_is_measured_and_requests_are_what_a_person_says() {
    let place = Place::new("external-tls");
    let Some(server) = Encrypted::new(&place, "TLSv1.3") else {
        println!("skipped: needs openssl and nginx, of the package nginx-light");
        return;
    };
    let good = |words: &[&str]| {
        let run = run_of(&place, &moment::taken(|| place.stend(words)));
        let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
        assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
        let good = run.records.into_iter().find(|record| record.outcome.fault.is_none());
        let good = good.expect("a record");
        assert!(good.outcome.work.errors.is_empty(), "{:?}", good.outcome.work.errors);
        good
    };
    let url = format!("{}/page", server.url);
    let words: Vec<&str> = ["run", &url].into_iter().chain(MINE).chain(SHORT).collect();
    assert_eq!(good(&words).trial.point.params["response_size"].to_string(), "7 B");
    let file = |name: &str, text: &str| {
        let path = place.path.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let own = |headers: &str| {
        let headers = file("headers", headers);
        let body = file("body", "posted");
        let plan = format!(
            "title = \"t\"\nlab.clients = 1\nload.page = {{ workload = \"http\", \
             placement = \"none\", concurrency = 1, server = \"{}/told\", \
             tls = \"resumed\", method = \"put\", \
             headers = \"{headers}\", body = \"{body}\", response_size = \"11 B\" }}\n\
             method.blocks = 3\nmethod.dry = false\nmethod.steady = \"noted\"\n\
             method.settle = \"100 ms\"\nmethod.settle_max = \"100 ms\"\n\
             method.window = \"200 ms\"\n",
            server.url
        );
        file("plan.toml", &plan);
    };
    // "a.example 6" has as many bytes.
    own("Host: a.example\nX-Own: yes\n");
    good(&["run", "plan.toml", MINE[0], MINE[1], "--out", "out"]);
    own("Expect: 100-continue\n");
    let refused = |words: &[&str], why: &str| {
        let said = place.stend(words);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.is_empty() && said.contains(why), "{said}");
    };
    refused(&["run", "plan.toml", MINE[0], MINE[1]], "expect follows from the load");
    drop(server);
    let Some(old) = Encrypted::new(&place, "TLSv1.2") else { return };
    refused(&["run", &format!("{}/page", old.url), MINE[0], MINE[1]], "it lacks TLS 1.3; allow it");
}

#[test]
fn a_page_that_changes_is_no_answer() {
    let place = Place::new("external-changes");
    let url = format!("http://127.0.0.1:{}/", served(|_, n| format!("{:04}", n % 10_000)));
    let words: Vec<&str> = ["run", &url].into_iter().chain(MINE).chain(SHORT).collect();
    let run = moment::again(|| place.stend(&words));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success(), "{said}");
    assert!(said.contains("not that of the page before"), "{said}");
}

/// A plan that asks a server for the paths of a file.
fn of_list(port: u16, file: &Path, own: &str) -> String {
    format!(
        "title = \"t\"\nlab.clients = 1\nload.page = {{ workload = \"http\", placement = \"none\", \
         concurrency = 1, server = \"http://127.0.0.1:{port}/\", urls = \"{}\"{own} }}\nmethod.blocks = 3\n\
         method.dry = false\nmethod.steady = \"noted\"\nmethod.settle = \"100 ms\"\n\
         method.settle_max = \"100 ms\"\nmethod.window = \"200 ms\"\n",
        file.display()
    )
}

#[test]
fn an_access_log_is_sent_again_and_each_path_keeps_its_content() {
    let place = Place::new("external-log");
    let log = place.path.join("access.log");
    let line = |path: &str| format!("192.0.2.1 - - [t] \"GET {path} HTTP/1.1\" 200 1\n");
    fs::write(&log, ["/a", "/longer", "/a", "/b?c=d"].map(line).concat()).expect("a log");
    let words = ["run", "plan.toml", MINE[0], MINE[1], "--out", "out"];
    // The body of each path is the path.
    let port = served(|path, _| path.to_owned());
    fs::write(place.path.join("plan.toml"), of_list(port, &log, "")).expect("a plan");
    let run = run_of(&place, &moment::taken(|| place.stend(&words)));
    let good = run.records.iter().find(|record| record.outcome.fault.is_none()).expect("a record");
    assert!(good.outcome.work.errors.is_empty(), "{:?}", good.outcome.work.errors);
    let of = |metric: &str| {
        let mut samples = good.outcome.samples.iter();
        samples.find(|sample| sample.metric == metric).expect(metric).quantity.value
    };
    let mean = of("throughput") / of("requests") / 8.0;
    // By hand: 2, 7, 2 and 6 bytes in turn.
    assert!((mean - 17.0 / 4.0).abs() < 0.1, "{mean}");
    // What changes is refused, unless nobody asks for its content.
    let port = served(|_, n| "x".repeat(1 + usize::try_from(n % 50).unwrap_or(0)));
    for (own, said) in [("", "whose length is not that"), (", check = \"length\"", "whose length")]
    {
        fs::write(place.path.join("plan.toml"), of_list(port, &log, own)).expect("a plan");
        let run = moment::again(|| place.stend(&words));
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!run.status.success() && text.contains(said), "{own}: {text}");
    }
    fs::write(place.path.join("plan.toml"), of_list(port, &log, ", check = \"status\""))
        .expect("a plan");
    moment::taken(|| place.stend(&words));
    fs::write(&log, "nothing\n").expect("a log");
    let run = place.stend(&words);
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && text.contains("common log format"), "{text}");
}

#[test]
fn what_cannot_be_had_from_outside_is_refused_before_anything_is_sent() {
    let place = Place::new("external-refused");
    let (listener, url) = silent();
    let plan = |lines: &str| {
        let text =
            format!("title = \"t\"\n[lab]\nclients = 1\n[load.page]\nworkload = \"http\"\n{lines}");
        fs::write(place.path.join("plan.toml"), text).expect("a plan");
    };
    let refused = |words: &[&str], remedy: &str| {
        let run = place.stend(words);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!run.status.success() && said.contains(remedy), "{words:?}: {said}");
    };
    for verb in ["run", "plan", "aa", "gate", "elasticity"] {
        refused(&[verb, &url], "add --i-own 127.0.0.1");
        refused(&[verb, &url, "--i-own", "127.0.0.2"], "add --i-own 127.0.0.1");
    }
    plan(&format!("server = \"{url}\"\n"));
    refused(&["run", "plan.toml"], "add --i-own 127.0.0.1");
    refused(&["run", "plan.toml", "--lab", "root", MINE[0], MINE[1]], "leave it out");
    refused(&["elasticity", "plan.toml", MINE[0], MINE[1]], "that stend starts");
    plan(&format!("server = \"{url}\"\n[factors.thp]\nlevels = [\"always\", \"never\"]\n"));
    refused(&["run", "plan.toml", MINE[0], MINE[1]], "'thp' would be set on this machine");
    listener.set_nonblocking(true).expect("a listener");
    assert!(listener.accept().is_err(), "somebody has connected");
}

/// A listener that nobody should connect to, and the address of a page there.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    (listener, url)
}

#[test]
fn two_servers_from_outside_are_levels_of_a_factor_and_settings_are_not_theirs() {
    let place = Place::new("external-two");
    let servers = [(); 2].map(|()| format!("http://127.0.0.1:{}/", served(|_, _| "1".into())));
    let text = |own: &str| {
        format!(
            "title = \"t\"\nlab.clients = 1\nfactors.server.levels = {servers:?}\n\
             load.page = {{ workload = \"http\", concurrency = 2{own} }}\nmethod.blocks = 3\n\
             method.dry = false\nmethod.steady = \"noted\"\nmethod.settle = \"100 ms\"\n\
             method.settle_max = \"100 ms\"\nmethod.window = \"200 ms\"\n"
        )
    };
    let words = ["run", "plan.toml", MINE[0], MINE[1], "--out", "out"];
    fs::write(place.path.join("plan.toml"), text("")).expect("a plan");
    let run = run_of(&place, &moment::taken(|| place.stend(&words)));
    for server in &servers {
        let mut good = run.records.iter().filter(|record| record.outcome.fault.is_none());
        assert!(good.any(|record| record.trial.settings["server"].word() == Some(server)));
    }
    for (own, says) in [
        (", tcp_nopush = \"on\"", "that stend starts"),
        (", response_size = \"2 B\"", "response_size = \"1 B\""),
    ] {
        fs::write(place.path.join("plan.toml"), text(own)).expect("a plan");
        let said = moment::again(|| place.stend(&words));
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.contains("no trial gave a figure") && said.contains(says), "{said}");
    }
}

#[test]
fn a_server_of_ones_own_is_loaded_at_its_address() {
    let place = Place::new("external-own");
    let has_nginx = Path::new("/usr/sbin/nginx").exists();
    if !rustix::process::geteuid().is_root() || !has_nginx {
        println!("skipped: needs root, for a network of its own, and nginx");
        return;
    }
    let at = place.path.display();
    let settings = format!(
        "daemon off; user root; pid {at}/pid; error_log {at}/log; events {{}}\n\
         http {{ access_log off; server {{ listen 192.0.2.7:8080; root {at}; }} }}\n"
    );
    fs::write(place.path.join("nginx.conf"), settings).expect("settings");
    fs::write(place.path.join("page"), "fine").expect("a page");
    // The address is one of this network namespace, which ends with the shell.
    let stend = kill::STEND;
    let short = SHORT.join(" ");
    let script = format!(
        "ip link set lo up && ip addr add 192.0.2.7/32 dev lo || exit 9\n\
         /usr/sbin/nginx -c {at}/nginx.conf 2>/dev/null & trap 'kill $!' EXIT\n\
         for i in $(seq 50); do [ -n \"$(ss -Hltn sport = 8080)\" ] && break; sleep 0.1; done\n\
         {stend} run http://192.0.2.7:8080/page --i-own 192.0.2.7 {short}"
    );
    let run = moment::taken(|| place.run(&["unshare", "-n", "sh", "-c", &script]));
    let run = run_of(&place, &run);
    let good = run.records.iter().filter(|record| record.outcome.fault.is_none());
    assert!(good.count() >= 2, "{:?}", run.records[0].outcome.fault);
    assert!(!analyse(&run).caveats.iter().any(shares_the_machine));
}
