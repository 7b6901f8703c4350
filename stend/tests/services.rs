//! Knows that a program under test serves a run, counts what it has served, and is gone after the
//! run and after any kill. What needs root or nginx is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::Run;
use desk::verdict::{LimitKind, Verdict, analyse};
use kill::{Place, kills, until};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

const PLAN: &str = r#"title = "Web"
lab.clients = 1
factors.server.levels = ["builtin", "nginx"]
load.web = { workload = "http", concurrency = 4, over = { response_size = ["1 B", "256 KiB"] } }
method.blocks = 3
method.dry = false
method.steady = "noted"
method.settle = "100 ms"
method.settle_max = "100 ms"
method.window = "200 ms"
"#;

/// Whether nginx is here, and root to look for what it leaves.
fn has_nginx() -> bool {
    let there = ["/usr/sbin/nginx", "/usr/bin/nginx"].iter().any(|path| Path::new(path).exists());
    let root = rustix::process::geteuid().is_root();
    if !there || !root {
        println!("skipped: needs root and nginx, of the package nginx-light");
    }
    there && root
}

/// Processes of services, and of their keepers.
fn left() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.starts_with("stend-service") || line.contains("/tmp/stend/")).then_some(line)
    });
    lines.collect()
}

/// Whether Apache, PHP and MariaDB are here.
fn has_php() -> bool {
    let modules = fs::read_dir("/usr/lib/apache2/modules").into_iter().flatten().flatten();
    let mut names = modules.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let programs = fs::read_dir("/usr/sbin").into_iter().flatten().flatten();
    let mut programs = programs.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let there = Path::new("/usr/sbin/mariadbd").exists()
        && names.any(|n| n.starts_with("libphp"))
        && programs.any(|n| n.starts_with("php-fpm"));
    if !there {
        println!("skipped: needs libapache2-mod-php, php-fpm, php-mysql, mariadb-server-core");
    }
    there
}

/// A file as it is.
const FILE: &str = "page = \"file\"";
/// A page that reads one of a hundred rows of a table.
const MARIADB: &str = "page = \"php_sql\", pages = 100";
const POSTGRES: &str = "page = \"php_sql\", pages = 100, database = \"postgres\"";
const REDIS: &str =
    "page = \"php_sql\", pages = 100, database = \"redis\", database_connections = \"persistent\"";

/// Whether PostgreSQL and Redis are here, and what PHP asks them with.
fn has_databases() -> bool {
    let versions = fs::read_dir("/usr/lib/php").into_iter().flatten().flatten();
    let has = |name: &str, path: &Path| path.join(name).exists();
    let asks = |path: &Path| has("pgsql.so", path) && has("redis.so", path);
    let there = versions.map(|entry| entry.path()).any(|path| asks(&path))
        && Path::new("/usr/lib/postgresql").exists()
        && Path::new("/usr/bin/redis-server").exists();
    if !there {
        println!("skipped: needs postgresql, php-pgsql, redis-server, php-redis");
    }
    there
}

/// A plan whose load asks this server for a page.
fn asking(server: &str, page: &str) -> String {
    let asks = format!("concurrency = 4, server = \"{server}\", {page}");
    let plan = PLAN.replace("factors.server.levels = [\"builtin\", \"nginx\"]\n", "");
    plan.replace("concurrency = 4", &asks).replace(", \"256 KiB\"", "")
}

#[test]
fn a_service_serves_a_run_and_is_gone_after_it() {
    let place = Place::new("services");
    if !has_nginx() {
        return;
    }
    fs::write(place.path.join("plan.toml"), PLAN).expect("a plan");
    let run = place.stend(&["run", "plan.toml", "--out", "out"]);
    let records = fs::read_to_string(place.path.join("out/records.json"));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
    let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
    let of = |server: &str| {
        let is_it =
            |value: Option<&desk::record::Value>| value.and_then(|v| v.word()) == Some(server);
        let good = run.records.iter().filter(|record| record.outcome.fault.is_none());
        good.filter(|r| is_it(r.trial.settings.get("server"))).collect::<Vec<_>>()
    };
    let (builtin, nginx) = (of("builtin"), of("nginx"));
    assert!(!builtin.is_empty() && !nginx.is_empty(), "{said}");
    for record in nginx {
        let version = record.outcome.made_with["version"].to_string();
        assert!(version.contains("nginx/"), "{version}");
        let cpu = |host: &str| {
            let mut all = record.readings.iter();
            let found = all.find(|r| r.host == host && r.probe == "process" && r.key == "cpu");
            found.map_or(0.0, |reading| reading.quantity.value)
        };
        assert!(cpu("sut") > 0.05, "the CPU of its processes is the server's: {}", cpu("sut"));
    }
    assert_eq!(left(), Vec::<String>::new());
}

/// Trials of a plan with these settings of its load and this factor, and how many services of it
/// were seen.
fn lived(place: &Place, load: &str, factor: &str) -> (usize, usize) {
    let plan = asking("nginx", FILE).replace("concurrency = 4", load);
    let plan = plan.replace("lab.clients = 1\n", &format!("lab.clients = 1\nfactors.{factor}\n"));
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    let out = format!("{:x}", load.len() * 1000 + factor.len());
    let mut running = place.start(&["run", "plan.toml", "--out", &out]);
    let mut seen = BTreeSet::new();
    while !running.has_ended() {
        seen.extend(keepers());
        std::thread::sleep(Duration::from_millis(2));
    }
    let said = fs::read_to_string(place.path.join("log")).expect("a log");
    let records = fs::read_to_string(place.path.join(out).join("records.json")).expect(&said);
    let run: Run = serde_json::from_str(&records).expect("a run");
    let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
    let made =
        |record: &desk::record::TrialRecord| record.outcome.made_with["data_set"].to_string();
    let good = run.records.iter().filter(|record| record.outcome.fault.is_none());
    let sets: BTreeSet<String> = good.map(made).collect();
    assert_eq!(sets.len(), 1, "one data set serves the run: {sets:?}");
    assert_eq!(left(), Vec::<String>::new());
    (run.records.len(), seen.len())
}

/// Processes that keep a service. What a keeper has just forked has its command line until it
/// begins its program, and is none.
fn keepers() -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let keeps = |line: Vec<u8>| line.starts_with(b"stend-service nginx");
    let is_keeper = |path: &Path| fs::read(path.join("cmdline")).is_ok_and(keeps);
    let parent = |path: &Path| {
        let status = fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        Some(Path::new("/proc").join(line.trim()))
    };
    let is_forked = |path: &Path| parent(path).is_none_or(|parent| is_keeper(&parent));
    let found = entries.map(|entry| entry.path()).filter(|path| is_keeper(path));
    let found = found.filter(|path| !is_forked(path));
    found.map(|path| path.display().to_string()).collect()
}

#[test]
fn a_service_lives_as_long_as_the_plan_says_and_a_setting_restarts_it() {
    let place = Place::new("services-lifetime");
    if !has_nginx() {
        return;
    }
    let of_link = "tso.levels = [\"on\", \"off\"]";
    let (trials, seen) = lived(&place, "lifetime = \"trial\"", of_link);
    assert_eq!(seen, trials, "one for each trial");
    let (_, seen) = lived(&place, "lifetime = \"run\"", of_link);
    assert_eq!(seen, 1, "a link is no matter to it");
    let (_, seen) = lived(&place, "lifetime = \"treatment\"", of_link);
    assert!(seen > 1, "a treatment ends with the next one: {seen}");
    for changed in ["workers.levels = [1, 2]", "tcp_sack.levels = [\"on\", \"off\"]"] {
        let (_, seen) = lived(&place, "lifetime = \"run\"", changed);
        assert!(seen > 1, "{changed}: {seen}");
    }
}

#[test]
fn a_killed_run_leaves_no_service() {
    let place = Place::new("services-killed");
    if !has_nginx() {
        return;
    }
    let servers: &[(&str, &str)] = match has_php() {
        true => &[("nginx", FILE), ("apache_prefork_php", MARIADB), ("nginx_fpm", MARIADB)],
        false => &[("nginx", FILE)],
    };
    let servers = match has_databases() {
        true => [servers, &[("nginx_fpm", POSTGRES), ("nginx_fpm", REDIS)]].concat(),
        false => servers.to_vec(),
    };
    for (turn, (server, page)) in (0..kills("STEND_KILLS", 5)).zip(servers.iter().cycle()) {
        let lifetime = ["trial", "run"][turn as usize % 2];
        let page = format!("lifetime = \"{lifetime}\", {page}");
        let plan = asking(server, &page).replace("blocks = 3", "blocks = 300");
        fs::write(place.path.join("plan.toml"), plan).expect("a plan");
        let running = place.start(&["run", "plan.toml", "--out", &format!("out{turn}")]);
        assert!(until(LIMIT, || !left().is_empty()).is_some(), "no service was put up");
        std::thread::sleep(kill::chance(Duration::from_secs(1)));
        let pid = running.kill();
        let gone = until(LIMIT, || left().is_empty() && place.left_by(pid).is_empty());
        assert!(gone.is_some(), "{:?} {:?}", left(), place.left_by(pid));
    }
}

/// Each server with its requests, and what its version says.
const SERVERS: [(&str, &str, &str); 6] = [
    ("nginx", "sizes = \"specweb96\", pages = 72, popularity = \"zipf\"", "nginx/"),
    ("apache_event", FILE, "Apache/"),
    (
        "apache_prefork_php",
        "page = \"php\", request_size = \"10 KiB\", cookie_size = \"1 KiB\"",
        "PHP",
    ),
    ("apache_prefork_php", MARIADB, "MariaDB"),
    ("nginx_fpm", "page = \"php\", request_size = \"100 KiB\", pages = 10", "PHP"),
    ("nginx_fpm", MARIADB, "MariaDB"),
];
const DATABASES: [(&str, &str, &str); 2] =
    [("apache_prefork_php", POSTGRES, "PostgreSQL"), ("nginx_fpm", REDIS, "Redis")];

#[test]
fn servers_give_files_and_pages_of_php_as_root_and_as_another_user() {
    let place = Place::new("services-apache");
    if !has_nginx() || !has_php() {
        return;
    }
    let databases = if has_databases() { &DATABASES[..] } else { &[] };
    // Apache and PostgreSQL refuse root, of a user namespace, too.
    let refuses_root = |server: &str, page: &str| server == "apache_event" || page == POSTGRES;
    for lab in ["root", "user"] {
        let all = SERVERS.iter().chain(databases).enumerate();
        let all = all.filter(|(_, (server, page, _))| lab == "root" || refuses_root(server, page));
        for (turn, (server, page, says)) in all {
            fs::write(place.path.join("plan.toml"), asking(server, page)).expect("a plan");
            let out = format!("{lab}{turn}");
            let run = place.stend(&["run", "plan.toml", "--lab", lab, "--out", &out]);
            let said = String::from_utf8_lossy(&run.stderr).into_owned();
            let records = fs::read_to_string(place.path.join(out).join("records.json"));
            let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
            let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
            assert!(
                faults.clone().all(moment::good_or_disturbed),
                "{:?}",
                faults.collect::<Vec<_>>()
            );
            let good = run.records.iter().find(|record| record.outcome.fault.is_none());
            let good = good.unwrap_or_else(|| panic!("{server} {page}: {said}"));
            let version = good.outcome.made_with["version"].to_string();
            assert!(version.contains(says), "{version}");
            assert!(good.outcome.work.errors.is_empty(), "{:?}", good.outcome.work.errors);
            assert_eq!(left(), Vec::<String>::new());
        }
    }
}

/// The median figure of the good records of a server with this setting, which have no errors.
#[cfg(feature = "tls")]
fn median_rate(run: &Run, server: &str, tls: &str) -> f64 {
    let is = |value: Option<&desk::record::Value>, word: &str| {
        value.and_then(|value| value.word()) == Some(word)
    };
    let good = run.records.iter().filter(|record| {
        record.outcome.fault.is_none()
            && is(record.trial.settings.get("tls"), tls)
            && is(record.trial.point.params.get("server"), server)
    });
    let rate = |record: &desk::record::TrialRecord| {
        let errors = &record.outcome.work.errors;
        assert!(errors.is_empty(), "{server} {tls}: {errors:?}");
        record.outcome.samples[0].quantity.value
    };
    let all: Vec<f64> = good.map(rate).collect();
    desk::stats::median(&all).expect("a good record")
}

#[cfg(feature = "tls")]
#[test]
fn a_full_handshake_costs_more_than_none_and_than_a_resumed_one() {
    must_encrypt("services-tls", &["nginx"]);
}

#[cfg(feature = "tls")]
#[test]
#[ignore = "a minute: ./test full"]
fn every_server_encrypts_and_a_full_handshake_costs_more_than_none() {
    must_encrypt("services-tls-all", &["apache_event", "nginx", "nginx_fpm", "builtin"]);
}

/// Runs these servers without TLS, with full and with resumed handshakes; builtin stands last.
#[cfg(feature = "tls")]
fn must_encrypt(name: &str, servers: &[&str]) {
    let place = Place::new(name);
    if !has_nginx() || !has_php() {
        return;
    }
    let method = PLAN.split_once("method.blocks").expect("a method").1;
    let plan = format!(
        "title = \"Web\"\nlab.clients = 1\nfactors.tls.levels = [\"off\", \"full\", \"resumed\"]\n\
         load.web = {{ workload = \"http\", concurrency = 4, requests_per_connection = 1, \
         over = {{ server = {servers:?} }} }}\nmethod.blocks{method}"
    );
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    for (lab, levels) in [("root", &["off", "full", "resumed"][..]), ("user", &["resumed"])] {
        let only = format!("tls={}", levels.join(","));
        let run = place.stend(&["run", "plan.toml", "--lab", lab, "--out", lab, "--only", &only]);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        let records = fs::read_to_string(place.path.join(lab).join("records.json"));
        let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
        let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
        assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
        let of = |server: &&str| -> Vec<f64> {
            levels.iter().map(|tls| median_rate(&run, server, tls)).collect()
        };
        let rates: Vec<Vec<f64>> = servers.iter().map(of).collect();
        if levels.len() == 3 {
            assert!(rates.iter().all(|of| of[1] < of[0]), "{rates:?}");
            // In a debug build the handshakes of our own server cost the same.
            let theirs = servers.iter().filter(|server| **server != "builtin").count();
            let all = |way: usize| rates[..theirs].iter().map(|of| of[way]).sum::<f64>();
            assert!(all(1) < all(2), "{rates:?}");
        }
    }
    assert_eq!(left(), Vec::<String>::new());
}

/// Settings of a server, baseline first; the load they are tried with; whether the second level is
/// the better one; what holds each down.
const SETTINGS: [(&str, &str, bool, [LimitKind; 2]); 4] = [
    (
        "requests_per_connection.levels = [1, \"all\"]",
        "server = \"nginx\"",
        true,
        [LimitKind::AllCpus; 2],
    ),
    (
        "tcp_nopush.levels = [\"off\", \"on\"]",
        "server = \"nginx\", pipelined = 16, response_size = \"1 KiB\"",
        false,
        [LimitKind::AllCpus; 2],
    ),
    (
        "tcp_nodelay.levels = [\"on\", \"off\"]",
        "server = \"nginx\", response_size = \"1 KiB\"",
        false,
        [LimitKind::AllCpus, LimitKind::DelayedAcks],
    ),
    (
        "opcache.levels = [\"off\", \"on\"]",
        "server = \"apache_prefork_php\", page = \"php\", php_functions = 500",
        true,
        [LimitKind::AllCpus; 2],
    ),
];

#[test]
#[ignore = "a minute: ./test full"]
fn settings_of_a_server_are_named_with_direction_and_cause() {
    let place = Place::new("services-settings");
    if !has_nginx() || !has_php() {
        return;
    }
    for (turn, (factor, load, is_better, causes)) in SETTINGS.into_iter().enumerate() {
        let method = PLAN.split_once("method.blocks").expect("a method").1;
        let method = method.replace("= 3", "= 10").replace("200 ms", "400 ms");
        let load = format!("load.web = {{ workload = \"http\", concurrency = 10, {load} }}");
        let plan = format!(
            "title = \"Web\"\nlab.clients = 1\nfactors.{factor}\n{load}\nmethod.blocks{method}"
        );
        fs::write(place.path.join("plan.toml"), plan).expect("a plan");
        let out = format!("settings{turn}");
        let run = place.stend(&["run", "plan.toml", "--out", &out]);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        let records = fs::read_to_string(place.path.join(out).join("records.json"));
        let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
        let found = analyse(&run);
        let right = if is_better { Verdict::Better } else { Verdict::Worse };
        let [one] = &found.comparisons[..] else { panic!("{factor}: {said}") };
        assert_eq!(one.verdict, right, "{factor}: {:?}", one.overall);
        let limits: Vec<LimitKind> = found.limits.iter().map(|limit| limit.kind).collect();
        assert_eq!(limits, causes, "{factor}");
    }
}

// One process of PHP, which waits for a database: neither fills a CPU, and others wait for it.
#[test]
fn processes_of_php_that_are_all_busy_are_the_limit() {
    let place = Place::new("services-workers");
    if !has_nginx() || !has_php() {
        return;
    }
    let page = "page = \"php_sql\", workers = 1, lifetime = \"run\"";
    let plan = asking("nginx_fpm", page).replace("concurrency = 4", "concurrency = 30");
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    let run = place.stend(&["run", "plan.toml", "--out", "out"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let records = fs::read_to_string(place.path.join("out/records.json"));
    let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
    let good = run.records.iter().filter(|record| record.outcome.fault.is_none());
    let queues = good.flat_map(|record| &record.readings);
    let mut queues: Vec<f64> = queues
        .filter(|reading| reading.probe == "accept" && reading.key == "queue")
        .map(|reading| reading.quantity.value)
        .collect();
    queues.sort_by(f64::total_cmp);
    let faults = run.records.iter().map(|record| record.outcome.fault.as_ref());
    assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
    // At a moment when nginx has not read them they wait in their sockets.
    match queues.get(queues.len() / 2) {
        None => println!("skipped: the machine disturbed every visit"),
        Some(median) => assert!(*median > 0.2, "{queues:?} {said}"),
    }
    assert_eq!(left(), Vec::<String>::new());
}

/// Programs that answer for nginx as told, and what the fault says of each.
const WRONG: [(&str, &str); 4] = [
    // Dies under load; its workers live on, and keep its port.
    ("$N \"$@\" & sleep 0.2; kill -9 $!; wait; echo 'out of cheese' >&2; exit 3", "out of cheese"),
    // Goes to the background, so that nobody has it.
    ("$N \"$@\" & exit 0", "it has ended (exit status: 0)"),
    // Fills its disk.
    ("dd if=/dev/zero of=/tmp/stend/fill bs=1M 2>/dev/null; exec $N \"$@\"", "512 MiB is full"),
    // Does not start.
    ("echo 'bind() to port failed' >&2; exit 1", "bind() to port failed"),
];
/// One that is never ready, which takes 15 s to be seen.
const SILENT: (&str, &str) = ("echo 'waits for good' >&2; exec sleep 60", "not ready within 15 s");

#[test]
fn a_service_that_fails_is_a_fault_in_its_words_and_the_run_goes_on() {
    let place = Place::new("services-wrong");
    if has_nginx() {
        WRONG.into_iter().for_each(|wrong| must_fail(&place, wrong));
    }
}

#[test]
#[ignore = "minutes: ./test full"]
fn a_service_that_is_never_ready_is_a_fault_in_its_words() {
    let place = Place::new("services-silent");
    if has_nginx() {
        must_fail(&place, SILENT);
    }
}

/// Each log of a fault is a file that the fault names; what a program says is in one of them.
fn logs_are_kept(run: &Run, (out, says): (&Path, &str)) {
    let mut texts = String::new();
    for record in &run.records {
        let fault = record.outcome.fault.as_ref().map_or_else(String::new, ToString::to_string);
        for log in &record.outcome.logs {
            assert!(fault.contains(&log.name), "{fault}");
            let file = fs::read_to_string(out.join(&log.name)).expect("a log");
            assert_eq!(file, log.text);
            texts.push_str(&file);
        }
    }
    let is_said = WRONG.iter().any(|(does, words)| does.contains("echo") && *words == says);
    assert!(!is_said || texts.contains(says), "{says}: {texts}");
}

/// Runs a plan in which nginx is such a program, and looks at its faults and at the other server.
fn must_fail(place: &Place, (does, says): (&str, &str)) {
    let plan = PLAN.replace(", over = { response_size = [\"1 B\", \"256 KiB\"] }", "");
    fs::write(place.path.join("plan.toml"), plan).expect("a plan");
    // The keeper of a service has a /tmp of its own.
    let name = place.path.file_name().expect("a name");
    let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&bin).expect("a directory");
    let script = format!("#!/bin/sh\nN=/usr/sbin/nginx\n[ \"$1\" = -v ] && exec $N -v\n{does}\n");
    fs::write(bin.join("nginx"), script).expect("a program");
    fs::set_permissions(bin.join("nginx"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = format!("PATH={}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let run = place.run(&["env", &path, kill::STEND, "run", "plan.toml", "--out", "out"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let records = fs::read_to_string(place.path.join("out/records.json"));
    fs::remove_dir_all(&bin).expect("a directory");
    let run: Run = serde_json::from_str(&records.expect(&said)).expect("a run");
    logs_are_kept(&run, (&place.path.join("out"), says));
    fs::remove_dir_all(place.path.join("out")).expect(&said);
    let of = |server: &str| {
        let is_it = |record: &&desk::record::TrialRecord| {
            record.trial.settings["server"].word() == Some(server)
        };
        run.records.iter().filter(is_it).map(|record| &record.outcome.fault).collect::<Vec<_>>()
    };
    let good = of("builtin").iter().filter(|fault| fault.is_none()).count();
    assert_eq!(good, 3, "the others are as ever: {said}");
    let faults = of("nginx");
    let named = |fault: &&Option<desk::record::Fault>| {
        fault.as_ref().is_some_and(|fault| fault.to_string().contains(says))
    };
    assert!(faults.iter().all(|fault| fault.is_some()), "{says}: {faults:?}");
    assert!(faults.iter().any(named), "{says}: {faults:?}");
    assert_eq!(left(), Vec::<String>::new());
}
