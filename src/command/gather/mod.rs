//! From the words of the command line to what was seen of each workload.

mod belongings;
mod crowd;
mod declared;
mod named;
mod nodes;
mod observe;
mod place;

pub use crowd::Crowd;
pub use named::{Details, Refusal};
pub use nodes::{disruption_budgets, nodes};
pub use observe::{observe, observe_revisions, whole_revisions};

use std::io::Read;

use self::named::Search;
use self::place::Place;

use super::can_do_without;
use crate::cluster::manifest;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::manifest::{Declared, Manifests};
use crate::model::selector::Selector;
use crate::model::target::{Ask, AskedType};
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// Which workloads a command is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// What was named.
    pub asks: Vec<Ask>,
    /// What their labels must match.
    pub selector: Selector,
    /// The namespace that was asked for.
    pub namespace: Option<String>,
    /// Whether all namespaces were asked for.
    pub all_namespaces: bool,
    /// The manifests that name workloads.
    pub manifests: Manifests,
    /// What those manifests named, once they were read.
    pub declared: Vec<Declared>,
    /// Those that could not be read.
    pub unread: Vec<Error>,
}

impl Scope {
    /// Whether it was not named one by one what is meant.
    #[must_use]
    pub fn is_a_search(&self) -> bool {
        self.asks.iter().any(|ask| matches!(ask, Ask::Every(_)))
    }

    /// Reads the manifests, before anything is asked of a cluster.
    pub fn read_manifests(&mut self, stdin: &mut dyn Read) {
        for declared in manifest::read(&self.manifests, stdin) {
            match declared {
                Ok(declared) => self.declared.push(declared),
                Err(error) => self.unread.push(error),
            }
        }
    }
}

/// What a scope turned out to hold, in the order asked.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// What could not be had. One failure does not stop the rest.
    pub errors: Vec<Error>,
    /// kubectl's line for a scope that holds nothing, when that is so.
    pub nothing_found: Option<String>,
}

/// Finds the workloads that a scope names. `refusal` is for objects that are none.
///
/// # Errors
/// When nothing can be looked for at all: a type without rollouts, no namespace to look in.
pub async fn workloads(
    scope: &Scope,
    refusal: Refusal,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Gathered> {
    workloads_with(scope, Details::All, refusal, source, screen).await
}

/// The same, with no more than the `details` that somebody looks at.
///
/// # Errors
/// As [`workloads`].
pub async fn workloads_with(
    scope: &Scope,
    details: Details,
    refusal: Refusal,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Gathered> {
    if !screen.is_compat() {
        refuse_other_types(&scope.asks)?;
    }
    let search = Search { source, refusal, details, place: Place::of(scope, source)? };
    let mut gathered = Gathered { errors: scope.unread.clone(), ..Gathered::default() };
    declared::gather(scope, &search, screen, &mut gathered).await;
    for ask in &scope.asks {
        match ask {
            Ask::Named(type_, name) => match search.named(*type_, name, None).await {
                Ok(workload) => gathered.workloads.push(workload),
                Err(error) => gathered.errors.push(error),
            },
            Ask::Every(type_) => match search.every(*type_, &scope.selector).await {
                Ok(workloads) => gathered.workloads.extend(workloads),
                Err(error) if can_do_without(&error) && scope.asks.len() > 1 => {
                    screen.note(&format!("note: {}", error.sentence()));
                }
                Err(error) => gathered.errors.push(error),
            },
        }
    }
    if gathered.workloads.is_empty() && gathered.errors.is_empty() && scope.declared.is_empty() {
        gathered.nothing_found = Some(search.place.nothing_found());
    }
    Ok(gathered)
}

/// Finds the one workload that a scope of one name is about.
///
/// # Errors
/// As [`workloads`], and when it is not there.
pub async fn workload(
    scope: &Scope,
    refusal: Refusal,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Workload> {
    let mut gathered = workloads(scope, refusal, source, screen).await?;
    match (gathered.workloads.pop(), gathered.errors.pop()) {
        (_, Some(error)) => Err(error),
        (Some(workload), None) => Ok(workload),
        (None, None) => Err(Error::new(ErrorKind::NotFound, "there is no such workload")),
    }
}

/// Only `--compat` looks for the object first, as kubectl does.
fn refuse_other_types(asks: &[Ask]) -> Result<()> {
    for ask in asks {
        let (Ask::Named(type_, _) | Ask::Every(type_)) = ask;
        if let AskedType::Other(other) = type_ {
            return Err(Error::usage(format!("{} have no rollouts", other.plural()))
                .hint("name a deployment, a daemonset or a statefulset"));
        }
    }
    Ok(())
}
