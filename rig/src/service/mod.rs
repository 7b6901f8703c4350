//! Knows the programs under test that stend starts and owns: which there are, how one is put up,
//! counted and taken down.
//!
//! A service lives in namespaces of processes and mounts of its own, inside the network namespace
//! and the control group of its host. Its run directory is a file system in memory that nobody else
//! sees. When its keeper ends, for whatever reason, the kernel ends its processes and frees its
//! files.
//!
//! Gives: [`Service`], [`ALL`], [`find`], [`refuse`], [`software`], [`Wanted`],
//! [`Instance`], [`Kept`], [`keep`]; [`External`], a server that stend did not start.
//! Never: which load needs a service, or what a figure means.
//! Start reading at `instance.rs`, then `keep.rs`.

mod apache;
mod database;
mod external;
mod fpm;
mod instance;
mod keep;
mod kept;
mod mariadb;
mod nginx;
mod postgres;
mod redis;
mod root;
mod site;
mod told;

pub use external::External;
pub use instance::Instance;
pub use keep::keep;
pub use kept::{Files, Kept};
pub use site::Site;
pub use told::Wanted;

use crate::lab::{LabError, namespace};
use desk::record::{LoadPlan, Plan, Settings};
use root::Root;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;

/// Why something cannot be had, for the person.
pub type Why = String;

/// A program that has to be installed, and what is to be known of it.
#[derive(Clone, Copy)]
pub struct Software {
    /// What a plan or a person calls it.
    pub name: &'static str,
    /// The program, as it is called on PATH.
    pub program: &'static str,
    /// The packages of Debian that have it.
    pub package: &'static str,
    /// What it needs besides: directory, and how the name of a file there begins.
    pub files: &'static [(&'static str, &'static str)],
    /// Programs that tell what it is, and the options by which they do.
    pub versions: &'static [(&'static str, &'static [&'static str])],
}

/// A program under test: what makes it differ from another one.
#[derive(Clone, Copy)]
pub struct Service {
    /// What it is.
    pub software: Software,
    /// Writes its configuration into the run directory.
    pub prepare: fn(&Site) -> Result<(), Why>,
    /// Options by which it starts in the foreground.
    pub start: fn(&Site) -> Vec<String>,
    /// Requests that it has served, by its own count and with this one; an error until it is
    /// ready.
    pub requests: fn(&Site) -> Result<u64, Why>,
    /// What waits within it, where it tells.
    pub waiting: Option<Waiting>,
    /// The signal by which it ends.
    pub stop: Signal,
    /// What stands beside it, in the order in which it is started.
    pub companions: fn(&Site) -> Vec<&'static Companion>,
    /// Whether it serves as root.
    pub root: Root,
}

/// How many requests wait within a service for a worker, by its own status.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// Asks it.
    pub ask: fn(&Site) -> Result<u64, Why>,
    /// Requests that it serves for that.
    pub requests: u64,
}

/// A program that stands beside a service, in the same namespaces.
#[derive(Clone, Copy)]
pub struct Companion {
    /// What it is.
    pub software: Software,
    /// Its socket below the run directory, which is there once it serves.
    pub socket: &'static str,
    /// Writes its files into the run directory.
    pub prepare: fn(&Site) -> Result<(), Why>,
    /// Options by which it starts in the foreground.
    pub start: fn(&Site) -> Vec<String>,
    /// Tells it its content once it serves.
    pub fill: fn(&Site) -> Result<(), Why>,
    /// Whether it serves as root.
    pub root: Root,
}

impl Software {
    /// Where its program is: on PATH, or where Debian has what only root calls.
    ///
    /// # Errors
    /// When it is nowhere, with the command that installs it.
    pub fn path(&self) -> Result<PathBuf, Why> {
        let missing = |what: &str| format!("{what} is not on this machine: {}", self.fix());
        for (directory, begins) in self.files {
            found_in(directory, begins).map_err(|_| missing(&format!("{directory}/{begins}")))?;
        }
        program(self.program).ok_or_else(|| missing(self.program))
    }

    /// What it is, by the first lines of what its programs say.
    ///
    /// # Errors
    /// When it is not here, or one of them cannot be asked.
    pub fn version(&self) -> Result<String, Why> {
        self.path()?;
        let all: Result<Vec<String>, Why> =
            self.versions.iter().map(|(name, options)| first_line(name, options)).collect();
        Ok(all?.join("; "))
    }

    /// The command that installs it.
    #[must_use]
    pub fn fix(&self) -> String {
        format!("sudo apt-get install {}", self.package)
    }
}

/// The first line of what a program says.
fn first_line(name: &str, options: &[&str]) -> Result<String, Why> {
    let at =
        program(name).ok_or_else(|| format!("{name} is not on PATH, and tells the version"))?;
    let asked = Command::new(at).args(options).output().map_err(|e| format!("{name}: {e}"))?;
    let said = [asked.stdout, asked.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}

/// A program on PATH, or where Debian has what only root calls; it may have its version behind its
/// name, as `php-fpm8.2`.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from);
    let mut places = std::env::split_paths(&path).chain(usual).chain(postgres::places());
    places.find_map(|at| {
        let versioned = || {
            let found = found_in(&at.display().to_string(), name).ok()?;
            let version = found.strip_prefix(name)?;
            let is_version = version.chars().all(|c| c.is_ascii_digit() || c == '.');
            (is_version && !version.is_empty()).then(|| at.join(found.as_str()))
        };
        let own = Some(at.join(name)).filter(|own| own.is_file());
        own.or_else(versioned)
    })
}

/// The file of a directory whose name begins so; of several that with the highest version.
fn found_in(directory: &str, begins: &str) -> Result<String, Why> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let version = |name: &String| -> Vec<u32> {
        name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    };
    let found = names.filter(|name| name.starts_with(begins)).max_by_key(version);
    found.ok_or_else(|| format!("{directory} has no {begins}"))
}

/// All of them, sorted by name.
pub const ALL: &[Service] = &[apache::EVENT, apache::PREFORK_PHP, nginx::SERVICE, nginx::WITH_FPM];

/// Refuses a plan that asks for a service which is not on this machine, or for a server to which
/// no load may go, before it runs.
///
/// # Errors
/// The first of them, with the remedy.
pub fn refuse(plan: &Plan) -> Result<(), LabError> {
    for load in &plan.loads {
        for name in plan.servers(load) {
            if let Some(external) = External::of(name) {
                external.and_then(|it| it.refuse()).map_err(LabError::NoService)?;
            }
            let Some(service) = find(name) else { continue };
            service.software.path().map_err(LabError::NoService)?;
            namespace::try_own_processes().map_err(|e| LabError::NoService(no_namespaces(&e)))?;
            for site in told(plan, load) {
                let beside = (service.companions)(&site);
                beside
                    .into_iter()
                    .try_for_each(|companion| companion.software.path().map(|_| ()))
                    .map_err(LabError::NoService)?;
            }
        }
    }
    Ok(())
}

/// What a service of a load may be told: what is fixed, and that with each level of a factor.
fn told(plan: &Plan, load: &LoadPlan) -> Vec<Site> {
    let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
    let none = Settings::new();
    let switched = levels.map(|level| &level.settings).chain([&none]);
    let with = |settings: &Settings| {
        let all = load.fixed.iter().chain(settings);
        Site::told(all.map(|(key, value)| (key.clone(), value.to_string())).collect())
    };
    switched.map(with).collect()
}

/// That the kernel gives no place to a service, with the remedy.
fn no_namespaces(e: &LabError) -> Why {
    format!("{e}; a service needs root, or user namespaces (sysctl user.max_user_namespaces)")
}

/// All that has to be installed for one of them.
pub fn software() -> impl Iterator<Item = Software> {
    let beside = database::ALL.into_iter().chain([&fpm::COMPANION]);
    ALL.iter().map(|service| service.software).chain(beside.map(|companion| companion.software))
}

/// The service of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Service> {
    ALL.iter().find(|service| service.software.name == name)
}
