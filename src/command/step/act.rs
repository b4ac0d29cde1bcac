//! What a stepper asks for, done: each brings what became of it.

use std::future::Future;

use super::check::{Checker, facts};
use super::{Asker, Request, nodes};
use crate::cluster::live::Cluster;
use crate::cluster::source::Source;
use crate::cluster::write::WriteOptions;
use crate::command::make::{Asked, Subject, ask};
use crate::command::owners;
use crate::command::remove::remove;
use crate::error::{Error, ErrorKind};
use crate::model::follow::{News, PodPlace};
use crate::model::hold::Hold;
use crate::model::observed::Observed;
use crate::model::patch::Patch;
use crate::model::step::{Batch, Checked, Removed, Seen, View, Wrote, is_as_it_was};
use crate::model::strategy;
use crate::model::workload::Workload;
use crate::render::narrator::Narrator;
use crate::render::screen::Screen;

/// Does what a stepper asks for.
pub(super) struct Hands {
    cluster: Cluster,
    field_manager: String,
    checker: Option<Checker>,
    narrator: Narrator,
    /// Whether it was said who may end the hold.
    has_warned: bool,
}

impl Hands {
    pub(super) fn new(request: &Request, asker: &Asker, cluster: &Cluster, narrator: &Narrator) -> Self {
        let checker =
            request.check.as_deref().map(|command| Checker::new(command, &asker.environment, narrator));
        Self {
            cluster: cluster.clone(),
            field_manager: request.field_manager.clone(),
            checker,
            narrator: narrator.clone(),
            has_warned: false,
        }
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn source(&self) -> Source {
        Source::Cluster(Box::new(self.cluster.clone()))
    }

    /// Says, before the write that holds, whose next apply may end the hold (design rule 13).
    pub(super) fn warn_once(&mut self, workload: &Workload, screen: &mut Screen<'_>) {
        let is_held = matches!(Hold::of(workload), Ok(Some(hold)) if hold.is_in_force(workload));
        if !std::mem::replace(&mut self.has_warned, true) && !is_held {
            owners::warn_before_a_hold(workload, &strategy::place(workload), screen);
        }
    }

    /// Makes one change of the workload.
    pub(super) fn write(&self, workload: &Workload, patch: Patch) -> impl Future<Output = Vec<Seen>> + use<> {
        let (source, workload) = (self.source(), workload.clone());
        let field_manager = self.field_manager.clone();
        async move {
            let options = WriteOptions { dry_run: false, field_manager: &field_manager };
            let wrote = match ask(&patch, &Subject::of(&workload), options, &source).await {
                Asked::Done(object) => match Workload::of(object) {
                    Some(workload) => Wrote::Done(Box::new(workload)),
                    None => Wrote::Unknown(no_workload(&workload)),
                },
                Asked::Conflict(conflict) => Wrote::Conflict(conflict),
                Asked::Not(error) => Wrote::Not(error),
                Asked::NotNow(error) => Wrote::Not(passing(&error)),
                Asked::Unknown(_, error) => Wrote::Unknown(error),
            };
            vec![Seen::Wrote(wrote)]
        }
    }

    /// Takes one pod down, if what decided on it still is so at this very moment: since then somebody may
    /// have paused it or taken it over, and a deletion tests nothing but the pod's uid.
    pub(super) fn remove(
        &self,
        workload: &Workload,
        pod: PodPlace,
        evict: bool,
    ) -> impl Future<Output = Vec<Seen>> + use<> {
        let (source, workload) = (self.source(), workload.clone());
        async move {
            let object = workload.object();
            let now = source.get(workload.kind().type_(), object.namespace(), object.name()).await;
            let removed = match now {
                Ok(Some(now)) if is_as_it_was(&workload, &now) => {
                    remove(&pod, object.namespace(), evict, &source).await
                }
                Ok(_) => Removed::Superseded,
                Err(error) => Removed::Not(passing(&error)),
            };
            vec![Seen::Removed(removed)]
        }
    }

    /// Runs the check of a batch.
    pub(super) fn check(
        &self,
        workload: &Workload,
        view: Option<&View>,
        batch: &Batch,
    ) -> impl Future<Output = Vec<Seen>> + use<> {
        let checker = self.checker.clone();
        let limit = view.and_then(|view| view.pacing.check.as_ref()).map(|check| check.timeout);
        let facts = facts(workload, view, batch);
        async move {
            let said = match (checker, limit) {
                (Some(checker), Some(limit)) => checker.run(&facts, limit).await,
                _ => Checked::NotRun, // nobody gave a command to run
            };
            vec![Seen::Checked(said)]
        }
    }

    /// Brings a look, and the nodes before it where it takes them to understand it.
    pub(super) fn nodes_and_look(&self, observed: Box<Observed>) -> impl Future<Output = Vec<Seen>> + use<> {
        let (source, narrator) = (self.source(), self.narrator.clone());
        async move {
            let nodes = nodes::at_last(&observed, &source, &narrator).await;
            vec![Seen::Nodes(nodes), Seen::News(News::Look(observed))]
        }
    }
}

/// What the server cannot do now, it may do later: another kind of failure than a no.
fn passing(error: &Error) -> Error {
    Error::new(ErrorKind::Unreachable, error.sentence())
}

fn no_workload(workload: &Workload) -> Error {
    Error::new(
        ErrorKind::Malformed,
        format!("the server's answer to the change of {} is another object", workload.target()),
    )
}
