//! Knows Apache httpd: its configuration with the module `event`, and with `prefork` and PHP in its
//! processes; its count of requests (`mod_status`).
//!
//! Must not know what is asked of it.

use super::database::database;
use super::fpm::PHP_INI;
use super::root::Root;
use super::{Service, Site, Software, Why};
use rustix::process::Signal;

/// Threads of some processes, which keep idle connections without one.
pub const EVENT: Service = Service {
    software: Software {
        name: "apache_event",
        program: "apache2",
        package: "apache2-bin",
        files: &[],
        versions: &[("apache2", &["-v"])],
    },
    prepare: |site| prepare(site, &Mpm::Event),
    ..PREFORK_PHP
};

/// A process for each connection, with PHP in it.
pub const PREFORK_PHP: Service = Service {
    software: Software {
        name: "apache_prefork_php",
        program: "apache2",
        package: "libapache2-mod-php",
        files: &[(MODULES, "libphp")],
        versions: &[("apache2", &["-v"]), ("php", &["-v"])],
    },
    prepare: |site| prepare(site, &Mpm::PreforkPhp),
    start: |site| vec!["-f".into(), configured(site), "-D".into(), "FOREGROUND".into()],
    requests: |site| number(&site.get(STATUS)?),
    // One whose workers are all busy does not answer; its connections wait in the kernel.
    waiting: None,
    stop: Signal::TERM,
    companions: |site| database(site).into_iter().collect(),
    root: Root::OfMachine,
};

/// Where Debian has its modules.
const MODULES: &str = "/usr/lib/apache2/modules";
/// Where it tells its counts.
const STATUS: &str = "/stend-status?auto";
/// Connections that are served at once, as the documentation of either module has it.
const PREFORK: u32 = 256;
const EVENTS: u32 = 400;
/// Threads of a process, the same.
const THREADS: u32 = 25;
/// Most connections at once that a plan may ask for.
const MOST: u32 = 1024;

enum Mpm {
    Event,
    PreforkPhp,
}

fn configured(site: &Site) -> String {
    site.path("httpd.conf").display().to_string()
}

fn prepare(site: &Site, mpm: &Mpm) -> Result<(), Why> {
    let php = match mpm {
        Mpm::Event => None,
        Mpm::PreforkPhp => Some(super::found_in(MODULES, "libphp")?),
    };
    site.write("php.ini", PHP_INI.as_bytes())?;
    site.write("httpd.conf", configuration(site, mpm, php.as_deref())?.as_bytes())
}

/// The module of processes, all of which stand before the first request comes: in a window of
/// seconds the kernel would be asked for them, not the server.
fn processes(site: &Site, mpm: &Mpm) -> Result<String, Why> {
    let usual = if matches!(mpm, Mpm::Event) { EVENTS } else { PREFORK };
    let asked: u32 = site.setting("workers", "cpus").parse().unwrap_or(usual).min(MOST);
    Ok(match mpm {
        Mpm::Event => {
            let servers = asked.div_ceil(THREADS);
            let threads = asked.div_ceil(servers);
            let all = servers * threads;
            if all != asked {
                return Err(format!(
                    "workers = {asked} cannot be: {servers} processes have as many threads each; \
                     write {all}"
                ));
            }
            format!(
                "LoadModule mpm_event_module {MODULES}/mod_mpm_event.so\nServerLimit {servers}\n\
                 StartServers {servers}\nThreadsPerChild {threads}\n\
                 MaxRequestWorkers {all}\nMinSpareThreads 1\nMaxSpareThreads {all}\n",
            )
        }
        Mpm::PreforkPhp => format!(
            "LoadModule mpm_prefork_module {MODULES}/mod_mpm_prefork.so\nServerLimit {asked}\n\
             StartServers {asked}\nMaxRequestWorkers {asked}\nMinSpareServers 1\n\
             MaxSpareServers {asked}\n"
        ),
    })
}

/// What is left out of the defaults would be another experiment: a limit on the requests of a
/// connection, and 5 s after which an idle one ends.
fn configuration(site: &Site, mpm: &Mpm, php: Option<&str>) -> Result<String, Why> {
    let directory = site.directory.display();
    let user = if site.is_root { "User nobody\nGroup nogroup\n" } else { "" };
    // By default a page that is younger than 2 s is compiled for every request, whatever the cache.
    let php = php.map_or_else(String::new, |file| {
        let cache = site.setting("opcache", "on");
        format!(
            "LoadModule php_module {MODULES}/{file}\nPHPIniDir {directory}\n\
             php_admin_flag opcache.enable {cache}\n\
             php_admin_value opcache.file_update_protection 0\n\
             <FilesMatch \\.php$>\nSetHandler application/x-httpd-php\n</FilesMatch>\n"
        )
    });
    let access = match site.setting("access_log", "off") {
        "off" => String::new(),
        _ => format!("CustomLog {directory}/access \"%h %l %u %t \\\"%r\\\" %>s %b\"\n"),
    };
    let processes = processes(site, mpm)?;
    Ok(format!(
        "ServerRoot {directory}\nDefaultRuntimeDir {directory}\nPidFile {directory}/pid\n\
         ErrorLog {directory}/log\nServerName stend\nListen {plain}\nListenBacklog 4096\n{user}\
         {processes}\
         LoadModule authz_core_module {MODULES}/mod_authz_core.so\n\
         LoadModule status_module {MODULES}/mod_status.so\n{php}{access}\
         KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 300\n\
         DocumentRoot {directory}/www\n\
         <Directory {directory}/www>\nRequire all granted\nAllowOverride None\n</Directory>\n\
         <Location /stend-status>\nSetHandler server-status\n</Location>\n{secure}",
        plain = site.plain,
        secure = secure(site),
    ))
}

/// The listener with TLS.
fn secure(site: &Site) -> String {
    if !site.is_encrypted() {
        return String::new();
    }
    let (address, directory) = (site.address, site.directory.display());
    format!(
        "LoadModule ssl_module {MODULES}/mod_ssl.so\nListen {address}\n\
         <VirtualHost {address}>\nServerName stend\nSSLEngine on\nSSLProtocol TLSv1.3\n\
         SSLCertificateFile {directory}/tls/certificate\n\
         SSLCertificateKeyFile {directory}/tls/key\n</VirtualHost>\n"
    )
}

/// Of `Total Accesses: 7`, the number.
fn number(status: &str) -> Result<u64, Why> {
    let line = status.lines().find_map(|line| line.strip_prefix("Total Accesses: "));
    line.and_then(|word| word.trim().parse().ok()).ok_or_else(|| format!("no count in '{status}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::net::{Ipv4Addr, SocketAddr};

    fn site(settings: &[(&str, &str)]) -> Site {
        let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Site {
            directory: "/tmp/x".into(),
            address: SocketAddr::from((Ipv4Addr::new(198, 18, 0, 1), 8080)),
            plain: SocketAddr::from((Ipv4Addr::new(198, 18, 0, 1), 8081)),
            settings: BTreeMap::from_iter(settings),
            cpus: 3,
            is_root: true,
        }
    }

    #[test]
    fn its_count_is_read() {
        assert_eq!(number("ServerVersion: Apache\nTotal Accesses: 123\nLoad1: 0\n"), Ok(123));
        assert!(number("Total kBytes: 1").is_err());
    }

    #[test]
    fn settings_are_in_the_configuration() {
        let event = configuration(&site(&[]), &Mpm::Event, None).unwrap();
        for line in ["MaxRequestWorkers 400", "User nobody", "Listen 198.18.0.1:8081"] {
            assert!(event.contains(line), "{line}: {event}");
        }
        assert!(!event.contains("php") && !event.contains("CustomLog"));
        let set = [("workers", "7"), ("opcache", "off"), ("access_log", "on")];
        let php = configuration(&site(&set), &Mpm::PreforkPhp, Some("libphp8.2.so")).unwrap();
        for line in ["StartServers 7\n", "opcache.enable off", "libphp8.2.so", "CustomLog /tmp/x/"]
        {
            assert!(php.contains(line), "{line}: {php}");
        }
        assert!(!php.contains("ssl"));
        let tls = configuration(&site(&[("tls", "full")]), &Mpm::Event, None).unwrap();
        for line in ["Listen 198.18.0.1:8081\n", "Listen 198.18.0.1:8080\n", "8080>\nServerName"] {
            assert!(tls.contains(line), "{line}: {tls}");
        }
        let event = |workers| configuration(&site(&[("workers", workers)]), &Mpm::Event, None);
        assert!(event("26").unwrap().contains("ThreadsPerChild 13\nMaxRequestWorkers 26\n"));
        assert!(event("401").unwrap_err().contains("write 408"));
    }
}
