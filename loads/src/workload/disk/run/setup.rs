//! Knows how a ring is asked for: by which flags, and what is handed over at once.
//!
//! Must not know what goes through it.

use crate::engine::alone::Order;
use crate::engine::ring::Completions;
use crate::workload::disk::spec::RING;
use rig::metal::Unready;

/// What a ring is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many operations a call hands over.
    pub submission: Submission,
    /// Who calls, and when completions are handled.
    pub completions: Completions,
    /// Whether the file and all buffers are registered before the first operation.
    pub registered: bool,
    /// Whether it is no ring where they cannot be.
    pub strict: bool,
}

/// How many operations a call hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// Every operation by itself.
    Each,
    /// All that the last completions made room for.
    Batch,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            submission: Submission::Each,
            completions: Completions::Cooperative,
            registered: true,
            strict: false,
        }
    }
}

impl Setup {
    /// What a trial asks for; none of an engine that has no ring.
    ///
    /// # Errors
    /// Parameters of a ring without one, or such as exclude each other.
    pub fn read(order: &Order) -> Result<Option<Self>, Unready> {
        let refused = |why: String| Err(Unready::NotAvailable(why));
        if order.word("engine") == "pread" {
            let set = |name: &str, usual: &str| !["", usual].contains(&order.word(name));
            return match RING.iter().find(|param| set(param.name, param.default)) {
                None => Ok(None),
                Some(param) => {
                    let (name, asked) = (param.name, order.word(param.name));
                    refused(format!("{name} = {asked} needs engine = \"uring\"; leave it out"))
                }
            };
        }
        let is_deferred = order.word("task_run") == "deferred";
        let completions = match order.word("polled_submission") {
            "on" if is_deferred => {
                return refused(
                    "task_run = deferred cannot be with polled_submission = on: a thread of the \
                     kernel handles the completions; leave one of them out"
                        .into(),
                );
            }
            "on" => Completions::Polled,
            _ if is_deferred => Completions::Deferred,
            _ => Completions::Cooperative,
        };
        let submission = match order.word("submission") {
            "batch" => Submission::Batch,
            _ => Submission::Each,
        };
        let asked = order.word("registered_buffers");
        let (registered, strict) = (asked != "off", asked == "on");
        Ok(Some(Self { submission, completions, registered, strict }))
    }

    /// Why the kernel did not make such a ring, with the remedy.
    #[must_use]
    pub fn refused(self, why: &std::io::Error) -> Unready {
        Unready::NotAvailable(match self.completions {
            // A kernel without any rings says something else.
            Completions::Deferred if why.raw_os_error() == Some(libc::EINVAL) => format!(
                "task_run = \"deferred\": the kernel refuses it: {why}; Linux has it from 6.1 on; \
                 take task_run = \"cooperative\""
            ),
            Completions::Polled if why.raw_os_error() != Some(libc::ENOSYS) => format!(
                "polled_submission = \"on\": the kernel refuses it: {why}; take \
                 polled_submission = \"off\""
            ),
            _ => format!(
                "engine = \"uring\": the kernel or its filter of system calls refuses io_uring: \
                 {why}; take engine = \"pread\""
            ),
        })
    }
}

/// Why the file or the buffers could not be registered, with the remedy.
#[must_use]
pub fn unregistered(bytes: usize, why: &std::io::Error) -> Unready {
    Unready::NotAvailable(format!(
        "registered_buffers = \"on\": the kernel refuses to lock {bytes} B of buffers: {why}; \
         raise the limit of locked memory (ulimit -l), or take registered_buffers = \"auto\""
    ))
}
