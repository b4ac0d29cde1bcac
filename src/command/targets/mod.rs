//! The targets of a command: which workloads it is about, and how they are found.

pub(super) mod manifest;

use std::borrow::Borrow;
use std::collections::HashSet;

use self::manifest::{kind_of, with_rollouts};
use super::context::CommandOutcome;
use super::inputs::TargetScope;
use crate::cli::scope::{NamedTarget, TargetWord};
use crate::cluster::concurrent::concurrently;
use crate::cluster::list::ListQuery;
use crate::cluster::objects::read::{Parts, read_one, reread};
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::{Kind, Workload};
use crate::model::observation::Observation;
use crate::model::text::shell_command::{Word, command};
use crate::model::text::untrusted;
use crate::render::message_writer::MessageWriter;
use crate::render::ui::Ui;

/// The workloads of a scope, each once and in the order of the command line, or what is kept of them.
#[derive(Debug)]
pub struct FoundTargets<T = Workload> {
    /// The workloads.
    pub workloads: Vec<T>,
    /// The errors of single targets, which do not stop the search for the others. A search that found nothing has one too,
    /// because a pipeline must notice a misspelled selector, unless `--allow-empty` is set.
    pub outcome: CommandOutcome,
    /// What is to be printed about the search.
    pub(super) notes: Vec<Finding>,
}

/// Reads the revisions and pods of a workload for a write, and prints what is missing.
///
/// # Errors
/// When the revisions cannot be read, and when the pods cannot be read for another reason than missing permission.
pub async fn read_for_write(
    workload: Workload,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Observation> {
    let (observed, notes) = read_one(workload, Parts::WRITE, source).await;
    messages.findings_once(&notes);
    observed
}

/// Reads a workload again, as [`read_for_write`].
///
/// # Errors
/// As [`reread`] and [`read_for_write`].
pub(super) async fn read_again(
    found: &Workload,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Observation> {
    read_for_write(reread(found, source).await?, source, messages).await
}

/// Finds the workloads of a scope, and keeps what `keep` makes of each. There may be thousands, and most of their memory is
/// in fields that few commands need.
///
/// # Errors
/// When the search cannot start, because there is no valid namespace.
pub async fn find_workloads<T: Borrow<Workload>>(
    scope: &TargetScope,
    keep: impl Fn(Workload) -> T,
    source: &Source,
    ui: &mut Ui,
) -> Result<FoundTargets<T>> {
    let mut found = TargetFinder::new(scope, source, true)?.search(scope, keep).await;
    ui.messages.findings(&std::mem::take(&mut found.notes));
    Ok(found)
}

/// Finds the one workload of a command.
///
/// # Errors
/// When the workload does not exist or cannot be read.
pub async fn find_workload(target: &NamedTarget, source: &Source) -> Result<Workload> {
    let scope = TargetScope { namespace: target.namespace.clone(), ..TargetScope::default() };
    let finder = TargetFinder { source, namespace: namespace_of(&scope, source)?, suggests_names: true };
    finder.named(target.kind, &target.name, None).await
}

/// Finds the workloads of one command.
pub(super) struct TargetFinder<'a> {
    source: &'a Source,
    /// The namespace; `None` for all of them, and where every manifest has its own.
    namespace: Option<String>,
    suggests_names: bool,
}

impl<'a> TargetFinder<'a> {
    /// Creates the finder of a scope. `suggests_names` adds a similar name to the error of a missing workload, which needs a
    /// list.
    ///
    /// # Errors
    /// When there is no valid namespace.
    pub(super) fn new(scope: &TargetScope, source: &'a Source, suggests_names: bool) -> Result<Self> {
        let lacks_one = |object: &Object| object.namespace().is_empty() && kind_of(object).is_some();
        let needs_one = !scope.targets.is_empty() || scope.manifests.iter().flatten().any(lacks_one);
        let namespace = if needs_one { namespace_of(scope, source)? } else { None };
        Ok(Self { source, namespace, suggests_names })
    }

    /// Searches the workloads of a scope once: gets each named one, and lists each type. Keeps what `keep` makes of each, and each
    /// once: two arguments, or two manifests, may mean one, whose second write would conflict with the first one.
    pub(super) async fn search<T: Borrow<Workload>>(
        &self,
        scope: &TargetScope,
        keep: impl Fn(Workload) -> T,
    ) -> FoundTargets<T> {
        let mut found =
            FoundTargets { workloads: Vec::new(), outcome: CommandOutcome::default(), notes: Vec::new() };
        found
            .outcome
            .errors
            .extend(scope.manifests.iter().filter_map(|declared| declared.as_ref().err().cloned()));
        self.find_manifests(scope, &keep, &mut found).await;
        let answers = scope.targets.iter().map(async |word| match word {
            TargetWord::Named(kind, name) => Ok(vec![keep(self.named(*kind, name, None).await?)]),
            TargetWord::All(kind) | TargetWord::IfServed(kind) => self.all(*kind, scope, &keep).await,
        });
        let answers = concurrently(answers).await;
        for (word, answer) in scope.targets.iter().zip(answers) {
            match (word, answer) {
                (_, Ok(workloads)) => found.workloads.extend(workloads),
                // Neither the server nor the snapshot has the kind, which `all` only includes where it is.
                (TargetWord::IfServed(_), Err(error)) if is_absent(&error) => {}
                (TargetWord::IfServed(_), Err(error)) if error.kind() == ErrorKind::Refused => {
                    found.notes.push(Finding::note(Reason::Incomplete, error.to_string()));
                }
                (TargetWord::All(_), Err(error))
                    if error.kind() == ErrorKind::NotReadable && scope.targets.len() > 1 =>
                {
                    found.notes.push(Finding::note(Reason::Incomplete, error.to_string()));
                }
                (_, Err(error)) => found.outcome.errors.push(error),
            }
        }
        let mut seen = HashSet::new();
        found.workloads.retain(|kept| {
            let workload: &Workload = kept.borrow();
            let object = workload.object(); // a recorded one may have no uid
            seen.insert([object.uid(), object.namespace(), &workload.reference()].map(str::to_owned))
        });
        if found.workloads.is_empty() && found.outcome.errors.is_empty() {
            // The note is kubectl's line.
            let (note, place) = match self.namespace.as_ref().filter(|_| scope.manifests.is_empty()) {
                Some(name) => {
                    (format!("No resources found in {name} namespace."), format!(" in namespace {name:?}"))
                }
                None => ("No resources found".to_owned(), String::new()),
            };
            let error = Error::new(ErrorKind::NotFound, format!("no workload found{place}"));
            found.notes.push(Finding::info(Reason::NotFound, note));
            found.notes.extend(self.missing_namespace().await);
            found.outcome.printed.extend(Some(error).filter(|_| !scope.allow_empty));
        }
        found
    }

    /// Finds the workloads of all manifests, in the order of the files.
    async fn find_manifests<T>(
        &self,
        scope: &TargetScope,
        keep: impl Fn(Workload) -> T,
        found: &mut FoundTargets<T>,
    ) {
        let declared = scope.manifests.iter().flatten();
        let with_rollouts = with_rollouts(declared, scope.includes_read_only, &mut found.notes);
        let answers = with_rollouts.iter().map(|(declared, kind)| self.find_declared(declared, *kind, scope));
        for answer in concurrently(answers).await {
            match answer {
                // As in kubectl, a workload that the selector does not match is skipped silently.
                Ok(workload) if !scope.selector.matches(workload.object()) => {}
                Ok(workload) => found.workloads.push(keep(workload)),
                Err(error) => found.outcome.errors.push(error),
            }
        }
    }

    async fn find_declared(
        &self,
        declared: &Object,
        kind: &'static dyn Kind,
        scope: &TargetScope,
    ) -> Result<Workload> {
        let namespace = Some(declared.namespace()).filter(|namespace| !namespace.is_empty());
        namespace.map_or(Ok(()), untrusted::check_namespace)?;
        let workload = self.named(kind, declared.name(), namespace).await?;
        match (namespace, &scope.namespace) {
            (Some(declared), Some(asked)) if declared != asked => Err(other_namespace(declared, asked)),
            _ => Ok(workload),
        }
    }

    /// Gets a workload by name with all its fields, in `namespace` or else in the namespace of the command.
    pub(super) async fn named(
        &self,
        kind: &'static dyn Kind,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Workload> {
        let type_ = kind.type_();
        let Some(namespace) = namespace.or(self.namespace.as_deref()) else {
            return Err(Error::usage("a resource cannot be retrieved by name across all namespaces")
                .hint("name its namespace with -n"));
        };
        untrusted::check_object(name)?; // the name may come from a manifest, unchecked
        if self.source.is_live() {
            untrusted::check_namespace(namespace)?; // a snapshot may hold namespaces of any name
        }
        let Some(object) = self.source.get(type_, namespace, name).await? else {
            if self.is_missing(namespace).await? {
                return Err(no_namespace(namespace));
            }
            return Err(self.not_found(kind, namespace, name).await);
        };
        workload(kind, object)
    }

    /// Lists all workloads of a type that the selectors match.
    async fn all<T>(
        &self,
        kind: &'static dyn Kind,
        scope: &TargetScope,
        keep: impl Fn(Workload) -> T,
    ) -> Result<Vec<T>> {
        let query = scope.query(kind, self.namespace.as_deref());
        // A snapshot does not know fields.
        let is_selected = |object: &Object| scope.fields.matches(object);
        let read = |object| Some(object).filter(is_selected).map(|object| workload(kind, object).map(&keep));
        let found = self.source.list(&query, read).await?;
        found.into_iter().collect()
    }

    /// Whether a namespace does not exist. As in kubectl, the namespace `default` is never checked.
    async fn is_missing(&self, namespace: &str) -> Result<bool> {
        Ok(namespace != "default" && !self.source.has_namespace(namespace).await?)
    }

    /// Returns a note if the namespace of the search does not exist, which a search that found nothing does not show.
    async fn missing_namespace(&self) -> Option<Finding> {
        let namespace = self.namespace.as_deref()?;
        let is_missing = self.is_missing(namespace).await.unwrap_or_default();
        is_missing.then(|| Finding::note(Reason::NotFound, format!("there is no namespace {namespace:?}")))
    }

    /// Returns the "not found" error. Its hint is the nearest name in the namespace, or for a live cluster a
    /// kubectl command.
    async fn not_found(&self, kind: &'static dyn Kind, namespace: &str, name: &str) -> Error {
        let type_ = kind.type_();
        let error = Error::new(
            ErrorKind::NotFound,
            format!("no {} {name:?} in namespace {namespace:?}", type_.cli_name),
        );
        if !self.suggests_names {
            return error; // without a hint, so that no list is needed
        }
        let everything = ListQuery::of(type_, Some(namespace));
        let names = self.source.list(&everything, |one| Some(one.name().to_owned())).await;
        let names = names.unwrap_or_default(); // the error is about the missing workload
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        match similar::get_close_matches(name, &names, 1, 0.6)[..] {
            [near, ..] => error.hint(format!("did you mean {}/{near}?", type_.cli_name)),
            [] if self.source.is_live() => {
                // kubectl reads `statefulsets` as those of `apps/v1`.
                let resource = if kind.is_built_in() { type_.plural } else { &type_.resource() };
                let words = [Word::name(resource, "TYPE"), Word::in_namespace(namespace)];
                error.hint(command("kubectl get {}{}", words))
            }
            [] => error,
        }
    }
}

fn workload(kind: &dyn Kind, object: Object) -> Result<Workload> {
    Workload::of(object).ok_or_else(|| Error::usage(format!("{} have no rollouts", kind.type_().plural)))
}

fn no_namespace(namespace: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no namespace {namespace:?}"))
        .hint("kubectl get namespaces")
}

fn other_namespace(declared: &str, asked: &str) -> Error {
    Error::usage(format!(
        "the namespace from the provided object {declared:?} does not match the namespace {asked:?}. \
         You must pass '--namespace={declared}' to perform this operation."
    ))
}

/// Whether the server or the snapshot has no objects of a type at all.
pub(super) fn is_absent(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::NotReadable
}

/// Returns the namespace of a search; `None` for all of them.
pub(super) fn namespace_of(scope: &TargetScope, source: &Source) -> Result<Option<String>> {
    match &scope.namespace {
        _ if scope.all_namespaces => Ok(None),
        Some(namespace) => Ok(Some(namespace.clone())),
        None => {
            let namespace = source.default_namespace()?;
            if source.is_live() {
                untrusted::check_namespace(&namespace)?; // it comes from the kubeconfig, unchecked
            }
            Ok(Some(namespace))
        }
    }
}
