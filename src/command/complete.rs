//! Shell completion: returns the candidates for the next word of a command line.
//!
//! Completion prints no notes and no errors, and offers nothing that takes longer than `LOOKUP_TIMEOUT`.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::timeout;

use super::inputs;
use crate::cli::completion::request::{Lookup, Request};
use crate::cluster::access::Access;
use crate::cluster::kubeconfig::{KubeconfigList, names};
use crate::cluster::list::ListQuery;
use crate::cluster::notice::Listener;
use crate::cluster::objects::read::read_revisions;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::api::object::Object;
use crate::model::api::resource_type::NAMESPACE;
use crate::model::kind::{Kind, Workload};
use crate::model::text::untrusted::is_object_name;
use crate::model::view::history::History;
use crate::render::completion::{self, Candidate};
use crate::render::history::changes;
use crate::world::World;

/// How long a lookup may take, with the credential plugin. Those of clouds take more than a second.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

/// Prints the candidates, read from the source that `open` returns. Opens it only for a lookup in a cluster. Ignores errors
/// of the lookup, because a shell has no place to show them.
pub async fn run(
    open: impl FnOnce(&Access, &mut World, Listener) -> Result<Source>,
    request: Request,
    world: &mut World,
) -> Exit {
    world.stdin_is_terminal = false; // a credential plugin must not prompt in the middle of a line
    let mut candidates = request.known;
    if let (Some(lookup), Some(common)) = (&request.lookup, &request.common) {
        let found = timeout(LOOKUP_TIMEOUT, look_up(open, lookup, &inputs::access(common), world)).await;
        candidates.splice(0..0, found.ok().and_then(Result::ok).unwrap_or_default());
    }
    let mut offered = BTreeSet::new();
    candidates.retain(|candidate| {
        candidate.word.starts_with(&request.typed)
            && candidate.is_one_word()
            && offered.insert(candidate.word.clone())
    });
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
    let list = match lookup {
        Lookup::Contexts { .. } => Some(KubeconfigList::Contexts),
        Lookup::Clusters => Some(KubeconfigList::Clusters),
        Lookup::Users => Some(KubeconfigList::Users),
        Lookup::Names { .. } | Lookup::Revisions { .. } | Lookup::Namespaces => None,
    };
    if let Some(list) = list {
        let names = names(list, &access.overrides, &world.environment)?;
        let prefix = if let Lookup::Contexts { prefix } = lookup { prefix.as_str() } else { "" };
        let candidate = |(name, description)| Candidate::new(format!("{prefix}{name}"), description);
        return Ok(names.into_iter().map(candidate).collect());
    }
    let source = open(access, world, Listener::new(|_| ()))?;
    let namespace = match &access.namespace {
        Some(namespace) => namespace.clone(),
        None => source.default_namespace()?,
    };
    match lookup {
        Lookup::Names { kinds, prefix, exclude } => {
            names_of(kinds, prefix, exclude, &namespace, &source).await
        }
        Lookup::Revisions { kind, name, current_last } => {
            revisions_of(*kind, name, *current_last, &namespace, &source).await
        }
        _ => {
            let name =
                |object: Object| is_object_name(object.name()).then(|| Candidate::new(object.name(), ""));
            source.list(&ListQuery::of(&NAMESPACE, None), name).await
        }
    }
}

/// Lists the names of workloads. A kind that cannot be listed adds none.
async fn names_of(
    kinds: &[&'static dyn Kind],
    prefix: &str,
    exclude: &[String],
    namespace: &str,
    source: &Source,
) -> Result<Vec<Candidate>> {
    let mut names = Vec::new();
    for kind in kinds {
        // Any other name would be a flag or a command of a hostile server.
        let candidate = |object: Object| {
            is_object_name(object.name()).then_some(())?;
            let workload = Workload::of(object)?;
            let images = workload.template().images().join(", ");
            Some(Candidate::new(format!("{prefix}{}", workload.name()), images))
        };
        let listed = source.list(&ListQuery::of(kind.type_(), Some(namespace)), candidate).await;
        names.extend(listed.unwrap_or_default());
    }
    names.retain(|candidate| !exclude.contains(&candidate.word));
    Ok(names)
}

/// Lists the revisions of a workload, newest first.
async fn revisions_of(
    kind: &'static dyn Kind,
    name: &str,
    current_last: bool,
    namespace: &str,
    source: &Source,
) -> Result<Vec<Candidate>> {
    let object = source.get(kind.type_(), namespace, name).await?;
    let Some(workload) = object.and_then(Workload::of) else {
        return Ok(Vec::new());
    };
    let observed = read_revisions(workload, source).await?;
    let history = History::of(&observed, source.now());
    let mut candidates: Vec<_> = history
        .entries
        .iter()
        .rev()
        .map(|entry| {
            let is_current = observed.revisions.is_current(entry.revision);
            let mark = if is_current { "current: " } else { "" };
            (is_current, Candidate::new(entry.revision.label(), format!("{mark}{}", changes(entry))))
        })
        .collect();
    candidates.sort_by_key(|(is_current, _)| *is_current && current_last);
    Ok(candidates.into_iter().map(|(_, candidate)| candidate).collect())
}
