//! Knows where the threads of `tcp_stream` run in a simulated lab, and how busy its CPUs are.
//!
//! Must not know how the rate came about.

use super::flow::{Flow, Load};
use crate::engine::net::Cpus;
use crate::engine::net::streams::{StreamPlan, plan_streams, shared_out};
use desk::record::Settings;
use rig::lab::sim::Scene;

/// How busy the CPUs are.
pub(super) struct Busy {
    /// Share of each CPU of the system under test that the load takes.
    pub(super) cores: Vec<f64>,
    /// Of it, for received packets.
    pub(super) softirq: Vec<f64>,
    /// CPUs that each client keeps busy on a machine of its own; empty where there are none.
    pub(super) clients: Vec<f64>,
}

/// The streams, each on its CPUs; a client that has a machine of its own counts that one's.
pub(super) fn streams(scene: &Scene<'_>, params: &Settings) -> Vec<StreamPlan> {
    let all = numbers(scene.hold.cpus.logical);
    let mut streams = plan_streams(params, scene.clients, Cpus { server: &all, all: &all });
    if !scene.physics.clients_apart() {
        return streams;
    }
    let (mut client, mut here) = (0, 0);
    for stream in &mut streams {
        here = if stream.client == client { here + 1 } else { 0 };
        client = stream.client;
        stream.client_cpu = stream.client_cpu.map(|_| here % scene.physics.clients.cores);
    }
    streams
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 8192")]
fn numbers(cpus: f64) -> Vec<u32> {
    (0..cpus as u32).collect()
}

/// How busy the CPUs are under a flow.
pub(super) fn busy(scene: &Scene<'_>, load: &Load<'_>, flow: &Flow) -> Busy {
    let (physics, all) = (scene.physics, scene.hold.cpus.logical);
    let apart = physics.clients_apart();
    let streams = load.one_way * load.directions;
    let threads = if apart {
        load.one_way * load.sending(flow.sends, flow.receives)
    } else {
        streams * (flow.sends + flow.receives)
    };
    // Pinned pairs fill one CPU after the other, as do the server's ends of any pinned pair whose
    // clients are elsewhere; everything else spreads.
    let pinned = match load.word("placement") {
        "same" => true,
        "spread" => apart,
        _ => false,
    };
    let used = if pinned { all.min(streams) } else { all };
    let on = |cpus: f64, work: f64, core: u32| {
        if f64::from(core) < cpus { (work / cpus).min(1.0) } else { 0.0 }
    };
    let beside = f64::from(physics.softirq.cpus).min(all);
    let (place, moved) = if beside > 0.0 { (beside, flow.packets) } else { (used, 0.0) };
    let share = |core: &u32| (on(used, threads, *core) + on(place, moved, *core)).min(1.0);
    Busy {
        cores: numbers(all).iter().map(share).collect(),
        softirq: numbers(all).iter().map(|core| on(place, flow.packets, *core)).collect(),
        clients: if apart { clients(scene, load, flow) } else { Vec::new() },
    }
}

fn clients(scene: &Scene<'_>, load: &Load<'_>, flow: &Flow) -> Vec<f64> {
    let busy = load.one_way * load.sending(flow.client_receives, flow.client_sends);
    let most = f64::from(scene.physics.clients.cores);
    shared_out(busy, load.params, scene.clients).into_iter().map(|each| each.min(most)).collect()
}
