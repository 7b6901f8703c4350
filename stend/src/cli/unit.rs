//! Knows the units of systemd: the one that brings back at every boot what a run left switched, and
//! the one that runs the agent of a machine.
//!
//! Must not know what an agent serves, nor what is brought back.

use super::error::CliError;
use super::{OK, invoked};
use clap::Args;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a unit is written, or taken away.
#[derive(Debug, Args)]
pub struct Place {
    /// Directory that is the root of the system
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Take the unit away again
    #[arg(long)]
    pub uninstall: bool,
}

/// A unit that every boot starts.
#[derive(Debug)]
pub struct Unit {
    name: &'static str,
    /// The verb that writes it.
    verb: &'static str,
    text: String,
}

impl Unit {
    /// It comes after the settings of the distribution, which would be taken for ours.
    ///
    /// # Errors
    /// When the path of this program is not known.
    pub fn restore() -> Result<Self, CliError> {
        let binary = word(&std::env::current_exe()?);
        let text = format!(
            "[Unit]\nDescription=Bring back settings that an interrupted run of stend left\n\
             ConditionDirectoryNotEmpty=/var/lib/stend/journal\nAfter=systemd-sysctl.service\n\n\
             [Service]\nType=oneshot\nExecStart={binary} factors restore\n\n\
             [Install]\nWantedBy=multi-user.target\n"
        );
        Ok(Self { name: "stend-restore.service", verb: "factors", text })
    }

    /// The agent with its directory, at an address. When it ends, its guardian brings everything
    /// back, so systemd must end the agent alone (`KillMode=process`). It makes control groups
    /// below its own (`Delegate`). A sandbox of systemd would hide settings that a run switches.
    ///
    /// # Errors
    /// When the path of this program or of the directory is not known.
    #[cfg(feature = "machines")]
    pub fn agent(address: std::net::SocketAddr, directory: &Path) -> Result<Self, CliError> {
        let binary = word(&std::env::current_exe()?);
        let directory = word(&std::path::absolute(directory)?);
        let text = format!(
            "[Unit]\nDescription=Agent of a stend lab: carries out the orders of its conductor\n\
             Wants=network-online.target\nAfter=network-online.target stend-restore.service\n\n\
             [Service]\nExecStart={binary} agent listen {address} --dir {directory}\n\
             Restart=on-failure\nRestartSec=1\nKillMode=process\nDelegate=yes\n\
             LimitNOFILE=1048576\nUMask=0077\n\n\
             [Install]\nWantedBy=multi-user.target\n"
        );
        Ok(Self { name: "stend-agent.service", verb: "agent", text })
    }

    /// Where the unit and its link stand below a root.
    fn places(&self, root: &Path) -> (PathBuf, PathBuf) {
        let units = root.join("etc/systemd/system");
        (units.join(self.name), units.join("multi-user.target.wants").join(self.name))
    }

    /// Writes the unit and the link that makes the boot start it, or takes both away.
    ///
    /// # Errors
    /// When they cannot be written or removed.
    pub fn put(&self, place: &Place, out: &mut impl Write) -> Result<u8, CliError> {
        if place.uninstall { self.remove(&place.root, out) } else { self.install(&place.root, out) }
    }

    fn install(&self, root: &Path, out: &mut impl Write) -> Result<u8, CliError> {
        let (unit, link) = self.places(root);
        let fail = |path: &Path| {
            let path = path.to_path_buf();
            move |source| CliError::Unit { path, source }
        };
        let folder = link.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(fail(folder))?;
        fs::write(&unit, &self.text).map_err(fail(&unit))?;
        remove(&link).map_err(fail(&link))?;
        std::os::unix::fs::symlink(format!("../{}", self.name), &link).map_err(fail(&link))?;
        writeln!(out, "wrote {}\nlinked {}", unit.display(), link.display())?;
        let (verb, shown) = (self.verb, root.display());
        writeln!(out, "undo: {} {verb} install-unit --root {shown} --uninstall", invoked())?;
        Ok(OK)
    }

    fn remove(&self, root: &Path, out: &mut impl Write) -> Result<u8, CliError> {
        let (unit, link) = self.places(root);
        for path in [link, unit] {
            let was = path.symlink_metadata().is_ok();
            remove(&path).map_err(|source| CliError::Unit { path: path.clone(), source })?;
            writeln!(out, "{} {}", if was { "removed" } else { "not there:" }, path.display())?;
        }
        Ok(OK)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A path as one word of a unit, in which `%` begins a specifier and `"` ends the word
/// (systemd.service(5)).
fn word(path: &Path) -> String {
    let path = path.display().to_string();
    let path = path.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{path}\"")
}
