//! What could come next on an unfinished command line, for the shell to offer.
//!
//! Whoever presses Tab waits for it with a hand on the keyboard: nothing is said on the way, and what
//! is not there in time is not offered.

use std::time::Duration;

use tokio::time::timeout;

use crate::cluster::kubeconfig::{self, Names};
use crate::cluster::listener::Listener;
use crate::cluster::source::Source;
use crate::command::gather::observe_revisions;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::access::Access;
use crate::model::candidate::{Candidate, NameForm};
use crate::model::history::History;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::resource_type::NAMESPACE;
use crate::model::selector::Selector;
use crate::model::workload::Workload;
use crate::render::completion::{self, Directive};
use crate::render::history::changes;
use crate::world::World;

/// The whole answer has to be there within 300 ms; starting the program and writing take some of them.
const PATIENCE: Duration = Duration::from_millis(250);

/// What could come next.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where to look things up.
    pub access: Access,
    /// What was typed of the word already.
    pub typed: String,
    /// What the command line itself knows.
    pub known: Vec<Candidate>,
    /// What has to be looked up.
    pub lookup: Option<Lookup>,
    /// What the shell is told besides.
    pub directive: Directive,
}

/// Something that has to be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The names of workloads.
    Names {
        /// Of these kinds.
        kinds: Vec<Kind>,
        /// How they are to be written.
        form: NameForm,
        /// The names that stand on the line already.
        but: Vec<String>,
    },
    /// The revisions of one workload.
    Revisions(Kind, String),
    /// Namespaces.
    Namespaces,
    /// Contexts of the kubeconfig.
    Contexts,
    /// Clusters of the kubeconfig.
    Clusters,
    /// Users of the kubeconfig.
    Users,
}

/// Answers a shell, and never with an error: there is no place to show it.
pub async fn run(request: Request, world: &mut World) -> Exit {
    run_on(Source::open, request, world).await
}

/// The same, on a source that `open` opens, should it come to that.
pub async fn run_on(
    open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source>,
    request: Request,
    world: &mut World,
) -> Exit {
    world.stdin_is_terminal = false; // a credential plugin that asks would ask in the middle of a line
    let mut candidates = request.known;
    if let Some(lookup) = &request.lookup {
        let found = timeout(PATIENCE, look_up(open, lookup, &request.access, world)).await;
        candidates.splice(0..0, found.ok().and_then(Result::ok).unwrap_or_default());
    }
    candidates.retain(|candidate| candidate.word.starts_with(&request.typed) && candidate.is_one_word());
    match world.out.write(&completion::answer(&candidates, request.directive)) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::Error,
    }
}

async fn look_up(
    open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source>,
    lookup: &Lookup,
    access: &Access,
    world: &mut World,
) -> Result<Vec<Candidate>> {
    let names = |world: &World| kubeconfig::names(&access.overrides, &world.environment);
    match lookup {
        Lookup::Contexts => return names(world).map(|Names { contexts, .. }| contexts),
        Lookup::Clusters => return names(world).map(|Names { clusters, .. }| clusters),
        Lookup::Users => return names(world).map(|Names { users, .. }| users),
        Lookup::Names { .. } | Lookup::Revisions(..) | Lookup::Namespaces => {}
    }
    let source = open(access, world, Listener::new(|_| ()))?;
    let namespace = match &access.namespace {
        Some(namespace) => namespace.clone(),
        None => source.default_namespace()?,
    };
    match lookup {
        Lookup::Names { kinds, form, but } => names_of(kinds, form, but, &namespace, &source).await,
        Lookup::Revisions(kind, name) => revisions_of(*kind, name, &namespace, &source).await,
        _ => {
            let name = |object: Object| Candidate::new(object.name(), "");
            source.list_as(&NAMESPACE, None, &Selector::default(), name).await
        }
    }
}

/// What may not be read of one kind does not keep the others from being offered.
async fn names_of(
    kinds: &[Kind],
    form: &NameForm,
    but: &[String],
    namespace: &str,
    source: &Source,
) -> Result<Vec<Candidate>> {
    let mut names = Vec::new();
    for kind in kinds {
        let candidate = |object| Workload::of(object).map(|workload| Candidate::of_workload(&workload, form));
        let listed = source.list_as(kind.type_(), Some(namespace), &Selector::default(), candidate).await;
        names.extend(listed.unwrap_or_default().into_iter().flatten());
    }
    names.retain(|candidate| !but.contains(&candidate.word));
    Ok(names)
}

/// The newest first: it is the last ones that somebody goes back to.
async fn revisions_of(kind: Kind, name: &str, namespace: &str, source: &Source) -> Result<Vec<Candidate>> {
    let object = source.get(kind.type_(), namespace, name).await?;
    let Some(workload) = object.and_then(Workload::of) else {
        return Ok(Vec::new());
    };
    let observed = observe_revisions(workload, source).await?;
    let history = History::of(&observed, source.now());
    let candidates = history.entries.iter().rev().map(|entry| {
        let is_current = observed.revisions.is_running(entry.revision);
        let mark = if is_current { "current: " } else { "" };
        Candidate::new(entry.revision.label(), format!("{mark}{}", changes(entry)))
    });
    Ok(candidates.collect())
}
