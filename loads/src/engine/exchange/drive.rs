//! Knows the conductor's side of an exchange: which threads there are, how connections are made.
//!
//! Must not know factors or probes, nor the course of a trial.

use super::Recipe;
use super::check::{Evidence, check};
use super::order::{Order, Threads};
use super::part::{Exchange, FromPart, Side, ToPart};
use crate::engine::net::{Course, Cpus, cpus, opening};
use desk::record::{Fault, Value};
use rig::lab::{Lab, LabError};
use rig::service::Instance;
use rig::workload::{Checked, Edges, Job, Workload};
use std::marker::PhantomData;
use std::time::Duration;

/// What a host lacks for a load, if anything.
type Lacks = Option<String>;

/// The conductor's side of a workload of requests and responses.
pub struct Exchanges<E> {
    recipe: &'static Recipe,
    course: Course,
    evidence: Evidence,
    exchange: PhantomData<E>,
}

impl<E: Exchange> Exchanges<E> {
    /// Nothing is staged yet.
    #[must_use]
    pub fn new(recipe: &'static Recipe) -> Self {
        let (course, evidence) = (Course::default(), Evidence::default());
        Self { recipe, course, evidence, exchange: PhantomData }
    }

    /// Listens, then connects, and waits until all stands.
    fn open(&mut self, lab: &mut Lab, link: &str, order: &Order) -> Result<Lacks, LabError> {
        let external = E::external(order).map(|at| at.ip());
        let Threads { at, server, clients } = &self.evidence.threads;
        let address = external.unwrap_or_else(|| lab.address_of(*at, link));
        let listen = ToPart::Listen(address, server.clone(), order.clone());
        let is_service = E::service(order).is_some();
        let longest = if is_service { Instance::LONGEST } else { opening::longest(0) };
        let mut told = self.course.stage::<Side<E>>(lab, vec![(*at, listen)], longest)?;
        let Some(FromPart::Listening(ports, version)) = told.pop() else { return Ok(None) };
        let mut orders = vec![(*at, ToPart::Accept)];
        for client in lab.client_indexes().filter(|client| client != at) {
            let theirs = clients.iter().filter(|thread| thread.host == client).cloned().collect();
            let connect = ToPart::Connect(address, ports.clone(), theirs, order.clone());
            orders.push((client, connect));
        }
        let all = clients.iter().map(|thread| thread.connections.len());
        let connections = all.sum::<usize>() + order.beside.len();
        self.evidence.version = version;
        let prepared =
            E::BULK.map_or(Duration::ZERO, |bulk| (bulk.staging)(&order.params, connections));
        let longest = opening::longest(connections) + prepared;
        let mut lacks = None;
        for told in self.course.stage::<Side<E>>(lab, orders, longest)? {
            match told {
                FromPart::Lacks(what) => lacks = lacks.or(Some(what)),
                FromPart::Standing(found) => self.evidence.found.extend(found),
                FromPart::Listening(..) => {}
            }
        }
        Ok(lacks)
    }
}

/// The key of a data set, as a record has it.
fn told(key: String) -> (String, Value) {
    ("data_set".into(), Value::Word(key))
}

impl<E: Exchange> Workload for Exchanges<E> {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        self.course = Course::new(self.recipe.spec.name, lab, job);
        let [server, all] = cpus::of(lab).map_err(LabError::into_fault)?;
        let cpus = Cpus { server: &server, all: &all };
        let order = Order::of(self.recipe, job, lab.clients(), &server)?;
        let kind = (cpus, E::ANEW, E::BULK.is_some());
        let mut threads = Threads::of(self.recipe.spec, job, lab.clients(), kind);
        if E::service(&order).is_some() {
            threads.join_servers();
        }
        let is_silent = E::is_silent(&order);
        if is_silent {
            threads.server.clear();
        }
        self.evidence = Evidence {
            host_names: self.course.hosts.iter().map(|at| lab.name(*at).to_owned()).collect(),
            asked: job.trial.point.params.clone(),
            threads,
            version: None,
            is_silent,
            sizes: (order.request as u64, order.response as u64),
            each: order.each,
            found: E::data_set(&order).map(told).into_iter().collect(),
            life: None,
        };
        match self.open(lab, job.link, &order).map_err(LabError::into_fault)? {
            Some(what) => Err(Fault::NotAvailable { what }),
            None => Ok(()),
        }
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        let life = self.course.run::<Side<E>>(lab, edges).map_err(LabError::into_fault)?;
        self.evidence.life = Some(life);
        Ok(())
    }

    fn check(&self) -> Result<Checked, Fault> {
        check(self.recipe, &self.evidence)
    }
}
