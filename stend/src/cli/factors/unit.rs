//! Knows the unit of systemd that brings back, at every boot, what a run left switched.

use crate::cli::error::CliError;
use crate::cli::{OK, invoked};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "stend-restore.service";

/// Where the unit and its link stand below a root.
fn places(root: &Path) -> (PathBuf, PathBuf) {
    let units = root.join("etc/systemd/system");
    (units.join(NAME), units.join("multi-user.target.wants").join(NAME))
}

/// Writes the unit and the link that makes the boot start it.
///
/// # Errors
/// When they cannot be written.
pub(super) fn install(root: &Path, out: &mut impl Write) -> Result<u8, CliError> {
    let (unit, link) = places(root);
    let binary = std::env::current_exe()?;
    let text = text(&binary);
    let fail = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CliError::Unit { path, source }
    };
    let folder = link.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(fail(folder))?;
    fs::write(&unit, text).map_err(fail(&unit))?;
    remove(&link).map_err(fail(&link))?;
    std::os::unix::fs::symlink(format!("../{NAME}"), &link).map_err(fail(&link))?;
    writeln!(out, "wrote {}\nlinked {}", unit.display(), link.display())?;
    let shown = root.display();
    writeln!(out, "undo: {} factors install-unit --root {shown} --uninstall", invoked())?;
    Ok(OK)
}

/// Takes both away.
///
/// # Errors
/// When they cannot be removed.
pub(super) fn uninstall(root: &Path, out: &mut impl Write) -> Result<u8, CliError> {
    let (unit, link) = places(root);
    for path in [link, unit] {
        let was = path.symlink_metadata().is_ok();
        remove(&path).map_err(|source| CliError::Unit { path: path.clone(), source })?;
        writeln!(out, "{} {}", if was { "removed" } else { "not there:" }, path.display())?;
    }
    Ok(OK)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The unit. It comes after the settings of the distribution, which would be taken for ours.
fn text(binary: &Path) -> String {
    // In a unit `%` begins a specifier and `"` ends the word (systemd.service(5)).
    let path = binary.display().to_string();
    let path = path.replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "[Unit]\nDescription=Bring back settings that an interrupted run of stend left\n\
         ConditionDirectoryNotEmpty=/var/lib/stend/journal\nAfter=systemd-sysctl.service\n\n\
         [Service]\nType=oneshot\nExecStart=\"{path}\" factors restore\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}
