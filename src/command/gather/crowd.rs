//! Many workloads at once: one list of each type for all of them.

use std::collections::HashMap;

use k8s_openapi::jiff::Timestamp;

use super::belongings::Belongings;
use super::{Scope, observe};
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::event::Events;
use crate::model::kind::Kind;
use crate::model::observed::Observed;
use crate::model::selector::Selector;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// So many workloads of a place are asked about one by one, which brings nothing but their own. More of them
/// take fewer requests together.
const FEW: usize = 8;

/// A namespace, or all of them.
type Place = Option<String>;

/// What is to be seen of some workloads, with as few requests as that takes.
pub struct Crowd<'a> {
    source: &'a Source,
    everywhere: bool,
    /// The workloads of each place, by uid.
    owners: HashMap<Place, HashMap<String, Kind>>,
    belongings: HashMap<Place, Belongings>,
    warnings: HashMap<Place, Option<Events>>,
}

impl<'a> Crowd<'a> {
    /// The workloads of a scope.
    #[must_use]
    pub fn of(scope: &Scope, workloads: &[Workload], source: &'a Source) -> Self {
        let everywhere = scope.all_namespaces && workloads.len() > FEW;
        let mut crowd = Self {
            source,
            everywhere,
            owners: HashMap::new(),
            belongings: HashMap::new(),
            warnings: HashMap::new(),
        };
        for workload in workloads {
            let owners = crowd.owners.entry(crowd.place(workload)).or_default();
            owners.insert(workload.object().uid().to_owned(), workload.kind());
        }
        crowd
    }

    /// Sees what there is to see of one workload's rollout, but for warnings. Its verdict follows from the
    /// workload alone, so everything else is done without where it cannot be read, which is said once.
    ///
    /// # Errors
    /// When something else goes wrong than that it may not be read.
    pub async fn glimpse(&mut self, workload: Workload, screen: &mut Screen<'_>) -> Result<Observed> {
        let place = self.place(&workload);
        let Some(owners) = self.owners.get(&place).filter(|owners| owners.len() > FEW) else {
            return observe::glimpse(workload, self.source, screen).await;
        };
        Selector::of_workload(workload.object())?; // without a usable one nothing belongs to it
        if !self.belongings.contains_key(&place) {
            let belongings = Belongings::read(place.as_deref(), owners, self.source, screen).await?;
            self.belongings.insert(place.clone(), belongings);
        }
        Ok(self.belongings.entry(place).or_default().observed(workload))
    }

    /// The warnings around a workload, read once for all of its place; none when they may not be read, which
    /// is said once.
    ///
    /// # Errors
    /// When something else goes wrong than that they may not be read.
    pub async fn warnings(&mut self, workload: &Workload, screen: &mut Screen<'_>) -> Result<Option<Events>> {
        let place = self.place(workload);
        if let Some(warnings) = self.warnings.get(&place) {
            return Ok(warnings.clone());
        }
        let warnings = observe::warnings(place.as_deref(), self.source, screen).await?;
        self.warnings.insert(place, warnings.clone());
        Ok(warnings)
    }

    /// The time by which ages are told.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.source.now()
    }

    /// Where what belongs to a workload is read from.
    fn place(&self, workload: &Workload) -> Place {
        (!self.everywhere).then(|| workload.object().namespace().to_owned())
    }
}
