//! Knows PHP as processes of its own (`php-fpm`), which stand beside a web server and are asked by
//! FastCGI over a socket.
//!
//! Must not know which server asks, or for what.

use super::root::Root;
use super::{Companion, Site, Software, Why};

/// The row.
pub const COMPANION: Companion = Companion {
    software: Software {
        name: "php_fpm",
        program: "php-fpm",
        package: "php-fpm",
        files: &[],
        versions: &[("php-fpm", &["-v"])],
    },
    socket: SOCKET,
    prepare,
    start,
    fill: |_| Ok(()),
    root: Root::Serves,
};

/// Where it is asked, below the run directory.
pub const SOCKET: &str = "fpm/socket";

/// Where it tells how many of its processes work, by processes that run no pages.
pub const STATUS_SOCKET: &str = "fpm/status";

/// The path by which it is asked for that.
pub const STATUS: &str = "/stend-status-php";

/// Processes that run pages, for each CPU: more wait than work where a page computes.
const EACH_CPU: usize = 8;

/// In place of the machine's file; its extensions are loaded all the same. A page holds the largest
/// body twice.
pub const PHP_INI: &str = "memory_limit = 512M\npost_max_size = 128M\ndisplay_errors = stderr\n";

fn prepare(site: &Site) -> Result<(), Why> {
    // Only here may the cache be switched on.
    let cache = site.setting("opcache", "on");
    let ini = format!("{PHP_INI}opcache.enable = {cache}\nopcache.file_update_protection = 0\n");
    site.write("php.ini", ini.as_bytes())?;
    site.write("fpm/conf", configuration(site).as_bytes())
}

/// All processes stand before the first request comes, and none ends.
fn configuration(site: &Site) -> String {
    let directory = site.directory.display();
    let children = match site.setting("workers", "cpus") {
        "cpus" => (EACH_CPU * site.cpus).to_string(),
        number => number.to_owned(),
    };
    // Who is not root of the machine has no other user to become.
    let user = if site.is_root { "user = nobody\ngroup = nogroup" } else { "user = root" };
    format!(
        "[global]\npid = {directory}/fpm/pid\nerror_log = {directory}/log\n\
         [www]\n{user}\nlisten = {directory}/{SOCKET}\nlisten.mode = 0666\n\
         listen.backlog = 4096\npm = static\npm.max_children = {children}\n\
         pm.status_path = {STATUS}\npm.status_listen = {directory}/{STATUS_SOCKET}\n"
    )
}

fn start(site: &Site) -> Vec<String> {
    let path = |name: &str| site.path(name).display().to_string();
    let options = ["-F", "-R", "-c", &path("php.ini"), "-y", &path("fpm/conf")];
    options.map(str::to_owned).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn settings_are_in_the_configuration() {
        let of = |settings: &[(&str, &str)], is_root| {
            let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            let site = Site::told(BTreeMap::from_iter(settings));
            configuration(&Site { directory: "/tmp/x".into(), is_root, cpus: 3, ..site })
        };
        let usual = of(&[], true);
        for line in ["max_children = 24\n", "pm = static\n", "user = nobody\n", "= /tmp/x/fpm/soc"]
        {
            assert!(usual.contains(line), "{line}: {usual}");
        }
        let other = of(&[("workers", "7")], false);
        for line in ["max_children = 7\n", "user = root\n"] {
            assert!(other.contains(line), "{line}: {other}");
        }
    }
}
