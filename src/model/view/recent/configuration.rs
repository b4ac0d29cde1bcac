//! The ConfigMaps and Secrets that changed since a time, with the workloads that read them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::api::configuration::{Configuration, ConfigurationKey};
use crate::model::api::managed_fields::Authorship;
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::model::revision::configuration::uses_of;
use crate::model::status::stale_configuration::{PodsReadingAtStart, pods_reading_at_start};

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
    changed: BTreeMap<ConfigurationKey, ConfigurationChange>,
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
            let key = object.key();
            all.changed
                .insert(key, ConfigurationChange { object, change, readers, is_read_at_start: false, pods });
        }
        all
    }

    /// Adds a workload to what its live template names.
    pub fn add_reader(&mut self, observed: &Observation) {
        for (key, of_template) in uses_of(&observed.workload) {
            let Some(changed) = self.changed.get_mut(&key) else { continue };
            changed.readers.push(observed.workload.clone());
            changed.is_read_at_start |= !of_template.read_at_start.is_empty();
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
