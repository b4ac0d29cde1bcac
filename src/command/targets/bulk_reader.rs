//! Reads the owned objects of several workloads together.

use std::collections::HashMap;

use k8s_openapi::jiff::Timestamp;

use super::TargetScope;
use super::observe::{Details, Owned, or_note};
use super::owned_objects::OwnedObjects;
use crate::cluster::concurrently::concurrently;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::event::{Event, Events};
use crate::model::api::selector::Selector;
use crate::model::status::observation::Observation;
use crate::model::status::verdict::verdict;
use crate::model::workload::Workload;
use crate::model::workload::verdict::RolloutState;
use crate::render::screen::Screen;

/// Up to this many workloads of a namespace are read one by one, which returns only their own objects. For
/// more workloads, one list of each type in the namespace takes fewer requests.
const BULK_THRESHOLD: usize = 8;

/// A namespace, or none for all of them.
type Namespace = Option<String>;

/// Reads the owned objects of a scope with few requests, most of them concurrent.
pub struct BulkReader<'a> {
    source: &'a Source,
    /// Whether the lists are those of the whole cluster.
    all_namespaces: bool,
    /// Up to this many workloads of a namespace are read one by one.
    threshold: usize,
    /// The owned objects of namespaces with many workloads.
    many: HashMap<Namespace, OwnedObjects>,
    /// The owned objects of single workloads, by target and namespace. A workload may be named twice.
    few: HashMap<(String, String), Vec<Owned>>,
    warnings: HashMap<Namespace, Result<Vec<Event>>>,
}

impl<'a> BulkReader<'a> {
    /// Reads the revisions of workloads, and the further `details`.
    ///
    /// # Errors
    /// When a list for many workloads fails for another reason than missing permission. The error of a
    /// workload that is read alone is returned when it is observed.
    pub async fn read(
        scope: &TargetScope,
        workloads: &[Workload],
        details: Details,
        source: &'a Source,
    ) -> Result<Self> {
        let mut reader = Self::of(scope, workloads, BULK_THRESHOLD, source);
        reader.read_owned(workloads, details).await?;
        Ok(reader)
    }

    /// Reads what `status` needs: revisions, pods, and the warning events of namespaces with
    /// incomplete rollouts.
    ///
    /// # Errors
    /// As [`BulkReader::read`].
    pub async fn read_for_status(
        scope: &TargetScope,
        workloads: &[Workload],
        source: &'a Source,
    ) -> Result<Self> {
        let mut reader = Self::of(scope, workloads, BULK_THRESHOLD, source);
        reader.read_status(workloads).await?;
        Ok(reader)
    }

    /// As [`BulkReader::read_for_status`], with one list for each type and namespace scope, however few workloads
    /// there are.
    ///
    /// # Errors
    /// As [`BulkReader::read`].
    pub async fn read_for_list(
        scope: &TargetScope,
        workloads: &[Workload],
        source: &'a Source,
    ) -> Result<Self> {
        let mut reader = Self::of(scope, workloads, 0, source);
        reader.read_status(workloads).await?;
        Ok(reader)
    }

    async fn read_status(&mut self, workloads: &[Workload]) -> Result<()> {
        let is_incomplete = |workload: &&Workload| {
            verdict(&Observation::of_alone((*workload).clone())).state != RolloutState::Complete
        };
        let mut namespaces: Vec<_> =
            workloads.iter().filter(is_incomplete).map(|workload| self.namespace(workload)).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        let source = self.source;
        let warnings =
            concurrently(namespaces.iter().map(|namespace| source.list_warnings(namespace.as_deref())));
        let (read, warnings) = tokio::join!(biased; self.read_owned(workloads, Details::STATUS), warnings);
        read?;
        self.warnings = namespaces.into_iter().zip(warnings).collect();
        Ok(())
    }

    fn of(scope: &TargetScope, workloads: &[Workload], threshold: usize, source: &'a Source) -> Self {
        let all_namespaces = scope.all_namespaces && workloads.len() > threshold;
        let (many, few, warnings) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { source, all_namespaces, threshold, many, few, warnings }
    }

    async fn read_owned(&mut self, workloads: &[Workload], details: Details) -> Result<()> {
        let mut namespaces = HashMap::<Namespace, Vec<&Workload>>::new();
        for workload in workloads {
            namespaces.entry(self.namespace(workload)).or_default().push(workload);
        }
        let (many, few): (Vec<_>, Vec<_>) =
            namespaces.into_iter().partition(|(_, workloads)| workloads.len() > self.threshold);
        let many = many.into_iter().map(async |(namespace, workloads)| {
            let read = OwnedObjects::read(namespace.as_deref(), &workloads, details, self.source);
            Ok((namespace.clone(), Box::pin(read).await?))
        });
        let few = few.into_iter().flat_map(|(_, workloads)| workloads);
        let few =
            few.map(async |workload| (key(workload), Owned::read(workload, details, self.source).await));
        let (many, few) = tokio::join!(biased; concurrently(many), concurrently(few));
        self.many = many.into_iter().collect::<Result<_>>()?;
        for (key, owned) in few {
            self.few.entry(key).or_default().push(owned);
        }
        Ok(())
    }

    /// Returns the observation of a workload. Moves its objects out, so that they can be freed. Forbidden pods
    /// are left out with a note.
    ///
    /// # Errors
    /// When the revisions could not be read, and when the pods could not be read for another reason than
    /// missing permission.
    pub fn observe(&mut self, workload: Workload, screen: &mut Screen<'_>) -> Result<Observation> {
        self.take(&workload)?.observation(workload, screen)
    }

    /// Returns the observation of a workload for its status. The verdict needs only the workload, so forbidden
    /// revisions and pods are left out with a note.
    ///
    /// # Errors
    /// When a list failed for another reason than missing permission.
    pub fn observe_for_status(&mut self, workload: Workload, screen: &mut Screen<'_>) -> Result<Observation> {
        self.take(&workload)?.observation_for_status(workload, screen)
    }

    fn take(&mut self, workload: &Workload) -> Result<Owned> {
        Selector::of_workload(workload.object())?; // a workload without a valid selector owns no pods
        let namespace = self.namespace(workload);
        let owned = match self.many.get_mut(&namespace) {
            Some(many) => Some(many.take(workload)),
            None => self.few.get_mut(&key(workload)).and_then(Vec::pop),
        };
        owned.ok_or_else(|| Error::new(ErrorKind::Malformed, format!("{} was not read", workload.target())))
    }

    /// Returns the warning events of a workload's namespace, listed once for all of its workloads. None with a
    /// note if they are forbidden.
    ///
    /// # Errors
    /// When the list fails for another reason than missing permission.
    pub async fn warnings(&mut self, workload: &Workload, screen: &mut Screen<'_>) -> Result<Option<Events>> {
        let namespace = self.namespace(workload);
        let warnings = match self.warnings.get(&namespace) {
            Some(warnings) => warnings.clone(),
            None => self.source.list_warnings(namespace.as_deref()).await,
        };
        self.warnings.insert(namespace, warnings.clone());
        Ok(or_note(warnings, "causes are incomplete", screen)?.map(Events::of))
    }

    /// Returns the API server's time, for ages.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.source.now()
    }

    /// Returns the namespace to list the owned objects of a workload in; none for all namespaces.
    fn namespace(&self, workload: &Workload) -> Namespace {
        (!self.all_namespaces).then(|| workload.object().namespace().to_owned())
    }
}

/// Returns the key of a workload: its target and namespace.
fn key(workload: &Workload) -> (String, String) {
    (workload.target(), workload.object().namespace().to_owned())
}
