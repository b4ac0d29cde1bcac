//! The ConfigMaps and Secrets that changed since a time, with the workloads that read them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::api::configuration::Configuration;
use crate::model::api::managed_fields::Authorship;
use crate::model::api::resource_type::ResourceType;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::configuration::{ConfigurationUse, configuration_of};
use crate::model::status::stale_configuration::{PodsReadingAtStart, pods_reading_at_start};

/// What identifies a ConfigMap or Secret: its kind, namespace and name.
type Key = (&'static str, String, String);

/// Returns what the live template of a workload reads.
fn uses_of(workload: &Workload) -> impl Iterator<Item = (Key, ConfigurationUse)> {
    let namespace = workload.object().namespace().to_owned();
    let uses = configuration_of(workload.template().json()).into_iter();
    uses.map(move |one| ((one.object.type_.title(), namespace.clone(), one.object.name.clone()), one))
}

fn key_of(object: &Configuration) -> Key {
    (object.type_.title(), object.namespace.clone(), object.name.clone())
}

/// The ConfigMaps and Secrets that live templates name.
#[derive(Clone, Debug, Default)]
pub struct NamedConfiguration(BTreeSet<Key>);

impl NamedConfiguration {
    /// Returns those of these workloads.
    #[must_use]
    pub fn of(workloads: &[Workload]) -> Self {
        Self(workloads.iter().flat_map(uses_of).map(|(key, _)| key).collect())
    }

    /// Returns the namespaces of those of a type.
    #[must_use]
    pub fn namespaces(&self, type_: &ResourceType) -> BTreeSet<&str> {
        let of_type = self.0.iter().filter(|(title, ..)| *title == type_.title());
        of_type.map(|(_, namespace, _)| namespace.as_str()).collect()
    }

    /// Whether an object is one of them.
    #[must_use]
    pub fn contains(&self, object: &Configuration) -> bool {
        self.0.contains(&key_of(object))
    }
}

/// A ConfigMap or Secret that changed.
#[derive(Clone, Debug)]
pub struct ConfigurationChange {
    /// The object.
    pub object: Configuration,
    /// Its last change.
    pub change: Authorship,
    /// The workloads whose live templates name it.
    pub readers: Vec<Workload>,
    /// Whether a container reads it only when it starts.
    pub is_read_at_start: bool,
    /// The pods with such containers; none if they are not readable.
    pub pods: Option<PodsReadingAtStart>,
}

/// The ConfigMaps and Secrets that changed since a time.
#[derive(Debug, Default)]
pub struct ConfigurationChanges {
    changed: BTreeMap<Key, ConfigurationChange>,
    undated: Vec<Configuration>,
}

impl ConfigurationChanges {
    /// Returns the changes of these objects, without their readers.
    #[must_use]
    pub fn of(objects: Vec<Configuration>) -> Self {
        let mut all = Self::default();
        for object in objects {
            let Some(change) = object.change.clone() else {
                all.undated.push(object);
                continue;
            };
            let (readers, pods) = (Vec::new(), Some(PodsReadingAtStart::default()));
            let key = key_of(&object);
            all.changed
                .insert(key, ConfigurationChange { object, change, readers, is_read_at_start: false, pods });
        }
        all
    }

    /// Adds a workload to what its live template names.
    pub fn add_reader(&mut self, observed: &Observation) {
        for (key, use_) in uses_of(&observed.workload) {
            let Some(changed) = self.changed.get_mut(&key) else { continue };
            changed.readers.push(observed.workload.clone());
            changed.is_read_at_start |= !use_.read_at_start.is_empty();
            changed.pods = changed.pods.filter(|_| observed.pods.is_some()).map(|pods| {
                let revisions = observed.revisions.iter();
                let own = pods_reading_at_start(observed, revisions, &changed.object, changed.change.time);
                PodsReadingAtStart {
                    started_before: pods.started_before + own.started_before,
                    total: pods.total + own.total,
                }
            });
        }
    }

    /// Returns the changes, newest first, and the objects whose metadata has no time of a change.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<ConfigurationChange>, Vec<Configuration>) {
        let mut changed: Vec<_> =
            self.changed.into_values().filter(|changed| !changed.readers.is_empty()).collect();
        changed.sort_by_key(|one| Reverse(one.change.time));
        (changed, self.undated)
    }
}
