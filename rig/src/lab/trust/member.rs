//! Knows what each end keeps in its directory: the conductor its lab, an agent its part in one.
//!
//! Must not know how an agent gets its part, nor how the ends speak.

use super::authority::{self, Authority, Identity, Role};
use super::home::Home;
use super::register::Register;
use super::{TrustError, now_s};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const LAB: &str = "lab.json";
const AGENT: &str = "agent.json";
const AUTHORITY: Pair = Pair { certificate: "ca.crt", key: "ca.key" };
const CONDUCTOR: Pair = Pair { certificate: "conductor.crt", key: "conductor.key" };
const MEMBER: Pair = Pair { certificate: "agent.crt", key: "agent.key" };

/// Names of the files of an identity.
struct Pair {
    certificate: &'static str,
    key: &'static str,
}

impl Pair {
    fn read(&self, home: &Home) -> Result<Identity, TrustError> {
        Ok(Identity { certificate: home.read(self.certificate)?, key: home.read(self.key)? })
    }

    fn write(&self, home: &Home, identity: &Identity) -> Result<(), TrustError> {
        home.write(self.key, &identity.key)?;
        home.write(self.certificate, &identity.certificate)
    }
}

/// Refuses a directory that is somebody's already.
fn free(path: &Path) -> Result<(), TrustError> {
    for (file, what) in [(LAB, "the directory of a lab"), (AGENT, "joined to a lab")] {
        if path.join(file).exists() {
            return Err(TrustError::Taken { path: path.into(), what });
        }
    }
    Ok(())
}

/// The end that gives orders.
#[derive(Clone, Debug)]
pub struct Conductor {
    home: Home,
}

impl Conductor {
    /// Makes a lab in a directory.
    ///
    /// # Errors
    /// When it holds one already, others may read it, or it cannot be written.
    pub fn init(path: &Path) -> Result<Self, TrustError> {
        free(path)?;
        let home = Home::make(path)?;
        let held = home.lock()?;
        free(path)?;
        let lab = authority::lab_name()?;
        let authority = Authority::make(&lab)?;
        AUTHORITY.write(&home, &authority.identity())?;
        CONDUCTOR.write(&home, &authority.identify(Role::Conductor, "conductor")?)?;
        let conductor = Self { home };
        // The last file: without it there is no lab.
        conductor.keep(&Register::new(lab))?;
        drop(held);
        Ok(conductor)
    }

    /// The lab in a directory.
    ///
    /// # Errors
    /// When there is none, or others may read it.
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        if !path.join(LAB).exists() {
            return Err(TrustError::NoLab { path: path.into() });
        }
        Ok(Self { home: Home::open(path)? })
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// Who belongs to it at this moment.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn register(&self) -> Result<Register, TrustError> {
        let fail = |what: String| TrustError::File {
            path: self.path().join(LAB),
            source: std::io::Error::other(what),
        };
        Register::of(&self.home.read(LAB)?).map_err(fail)
    }

    /// Removes a host: its certificate is refused from now on.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn remove(&self, name: &str) -> Result<(), TrustError> {
        self.change(|register| register.remove(name, now_s()))
    }

    /// Changes the list of who belongs to the lab, as one step beside other processes.
    pub(super) fn change(
        &self,
        how: impl FnOnce(&mut Register) -> Result<(), TrustError>,
    ) -> Result<(), TrustError> {
        let _held = self.home.lock()?;
        let mut register = self.register()?;
        how(&mut register)?;
        self.keep(&register)
    }

    /// What signs.
    pub(super) fn authority(&self) -> Result<Authority, TrustError> {
        Authority::of(&self.register()?.lab, &AUTHORITY.read(&self.home)?)
    }

    /// The certificate of what signs.
    pub(super) fn root(&self) -> Result<Vec<u8>, TrustError> {
        self.home.read(AUTHORITY.certificate)
    }

    /// As agents know it.
    pub(super) fn identity(&self) -> Result<Identity, TrustError> {
        CONDUCTOR.read(&self.home)
    }

    fn keep(&self, register: &Register) -> Result<(), TrustError> {
        let text = serde_json::to_vec_pretty(register);
        self.home.write(LAB, &text.map_err(|e| TrustError::Certificate(e.to_string()))?)
    }
}

/// The end that serves.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The lab to which it belongs.
    pub lab: String,
    /// Its name there.
    pub name: String,
    /// Certificate of what signs there.
    pub(super) root: Vec<u8>,
    pub(super) identity: Identity,
}

/// What an agent keeps beside keys.
#[derive(Serialize, Deserialize)]
struct Part {
    lab: String,
    name: String,
}

impl Agent {
    /// Says why a directory cannot become that of an agent.
    ///
    /// # Errors
    /// When it is that of a lab or of an agent already, or cannot be one.
    pub(super) fn prepare(path: &Path) -> Result<(), TrustError> {
        free(path)?;
        Home::make(path).map(|_| ())
    }

    /// The part in a lab that a directory holds.
    ///
    /// # Errors
    /// When it holds none, or others may read it.
    pub fn open(path: &Path) -> Result<Self, TrustError> {
        if !path.join(AGENT).exists() {
            return Err(TrustError::NotJoined { path: path.into() });
        }
        let home = Home::open(path)?;
        let fail = |e: serde_json::Error| TrustError::File {
            path: PathBuf::from(path).join(AGENT),
            source: e.into(),
        };
        let Part { lab, name } = serde_json::from_slice(&home.read(AGENT)?).map_err(fail)?;
        let root = home.read(AUTHORITY.certificate)?;
        Ok(Self { lab, name, root, identity: MEMBER.read(&home)? })
    }

    /// Keeps it in a directory that is nobody's.
    pub(super) fn keep(&self, path: &Path) -> Result<(), TrustError> {
        let home = Home::make(path)?;
        let _held = home.lock()?;
        free(path)?;
        home.write(AUTHORITY.certificate, &self.root)?;
        MEMBER.write(&home, &self.identity)?;
        let part = Part { lab: self.lab.clone(), name: self.name.clone() };
        let text = serde_json::to_vec(&part);
        home.write(AGENT, &text.map_err(|e| TrustError::Certificate(e.to_string()))?)
    }
}
