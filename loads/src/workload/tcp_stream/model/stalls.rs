//! Knows what the ends of a stream wait for: the CPU, the other end, a buffer, a device.
//!
//! Must not know how fast the stream goes.

use super::capacity::Stage;
use super::{End, KEEN, Made, plan_sends, whole};

/// What TCP counts of the time of a sending end, microseconds; all 0 of a receiving one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stalls {
    /// With data in flight.
    pub(super) busy_us: u64,
    /// Of it, stopped by the window that the receiver offers.
    pub(super) receive_window_us: u64,
    /// Of it, stopped by its own buffer.
    pub(super) send_buffer_us: u64,
}

impl Made<'_> {
    /// Share of a CPU that the thread of an end has, and that it waits for.
    pub(super) fn thread(&self, end: &End<'_>) -> (f64, f64) {
        let flow = self.flow;
        let ran = match (end.client, end.sends) {
            (true, true) => flow.client_sends,
            (true, false) => flow.client_receives,
            (false, true) => flow.sends,
            (false, false) => flow.receives,
        };
        if flow.clients < 1.0 {
            // It is held back, and its server waits for it.
            let had = ran.min(flow.clients * KEEN);
            return if end.client { (had, KEEN - had) } else { (ran, 0.0) };
        }
        let apart = self.scene.physics.clients_apart();
        let wants = match flow.full {
            Some(Stage::Cpu) if apart => !end.client,
            Some(Stage::Cpu) => {
                let other = if end.sends { flow.receives } else { flow.sends };
                self.load.word("placement") == "same" || ran >= other
            }
            Some(Stage::ServerQuota) => !end.client,
            Some(Stage::ClientCpu | Stage::ClientQuota) => end.client,
            _ => false,
        };
        if wants { (ran, 1.0 - ran) } else { (ran, 0.0) }
    }

    /// What TCP counts of an end over so much time. What is slow behind the receiver fills its
    /// buffer, until its window is what the sender waits for; what is slow before the sender leaves
    /// nothing in flight.
    pub(super) fn stalls(&self, end: &End<'_>, time_us: u64) -> Stalls {
        if !end.sends {
            return Stalls::default();
        }
        let flow = self.flow;
        let transmits = plan_sends(end.plan);
        let part = |share: f64| {
            #[expect(clippy::cast_precision_loss, reason = "runs are below 2^53 us")]
            whole(time_us as f64 * share)
        };
        let all = Stalls { busy_us: time_us, ..Stalls::default() };
        let by_window = Stalls { receive_window_us: part(flow.idle), ..all };
        let starved = Stalls { busy_us: part(1.0 - flow.idle), ..all };
        match flow.full {
            Some(Stage::Cpu) if self.scene.physics.clients_apart() => {
                if transmits {
                    all
                } else {
                    by_window
                }
            }
            // Where the receiving end is the dearer one, the sender waits for its window.
            Some(Stage::Cpu) if flow.receives > flow.sends => {
                Stalls { receive_window_us: time_us / 4, ..all }
            }
            Some(Stage::ReceiveWindow) => by_window,
            Some(Stage::SendBuffer) => Stalls { send_buffer_us: part(flow.idle), ..all },
            Some(Stage::ClientCpu | Stage::ClientQuota) if transmits => by_window,
            Some(Stage::ClientCpu | Stage::ClientQuota) => starved,
            // The other way round: the slow end is the server.
            Some(Stage::ServerQuota) if transmits => starved,
            Some(Stage::ServerQuota) => by_window,
            // Its disk is the server's.
            Some(Stage::Disk) if transmits => starved,
            Some(Stage::Disk) => by_window,
            _ => all,
        }
    }
}
