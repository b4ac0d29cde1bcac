//! A plan that is ours, and what is known of it at a moment.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::document::Document;
use super::end::{End, Why};
use super::kind;
use super::next::{self, Next};
use super::pacing::{Pacing, Reach};
use super::phase::Pursuit;
use super::plan::{Begun, Plan};
use super::show::left_out;
use super::spot::{Sight, Spot, allowed, unavailable};
use super::stepper::Stepper;
use crate::model::follow::Moment;

/// A plan that is ours, and all that is known of it at a moment.
pub(super) struct Scene<'a> {
    pub(super) pursuit: &'a Pursuit,
    pub(super) document: &'a Document,
    /// The batch that soaked and was checked under our eyes.
    pub(super) passed: Option<usize>,
    pub(super) sight: Sight<'a>,
    pub(super) spots: Vec<Spot<'a>>,
    pub(super) now: Moment,
    /// The places of the batch that is under way: begun, not done, and there still.
    places: HashSet<&'a str>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        pursuit: &'a Pursuit,
        document: &'a Document,
        passed: Option<usize>,
        sight: Sight<'a>,
        now: Moment,
    ) -> Self {
        let batch = document.plan.under_way().filter(|batch| passed != Some(batch.number));
        let begun: HashSet<&str> =
            batch.into_iter().flat_map(|batch| &batch.places).map(String::as_str).collect();
        let spots = sight.spots();
        let is_there = spots.iter().any(|spot| begun.contains(spot.name.as_str()));
        let places = if is_there { begun } else { HashSet::new() };
        Self { pursuit, document, passed, sight, spots, now, places }
    }

    pub(super) fn plan(&self) -> &'a Plan {
        &self.document.plan
    }

    pub(super) fn pacing(&self) -> &'a Pacing {
        &self.document.plan.pacing
    }

    pub(super) fn reach(&self) -> Reach {
        self.plan().reach.unwrap_or(Reach::Next)
    }

    /// The batch that is under way: begun, not done, and with places that there still are.
    pub(super) fn batch(&self) -> Option<&'a Begun> {
        self.plan().under_way().filter(|_| !self.places.is_empty())
    }

    /// Whether a place is of the batch that is under way.
    pub(super) fn is_in_batch(&self, spot: &Spot<'_>) -> bool {
        self.places.contains(spot.name.as_str())
    }

    /// The places where everything must be well before it goes on: all that are released, because a pod
    /// that fails on the new revision later says as much of it as one that fails at once. A node that fails
    /// later need not, and can be [excused](Spot::is_excused).
    pub(super) fn watched(&self) -> impl Iterator<Item = &Spot<'a>> {
        self.spots.iter().filter(|spot| self.is_watched(spot))
    }

    /// The places where everything must have been well for all of the soak.
    pub(super) fn soaking(&self) -> impl Iterator<Item = &Spot<'a>> {
        self.watched().filter(|spot| spot.soaks)
    }

    /// Whether everything must be well at a place before it goes on.
    pub(super) fn is_watched(&self, spot: &Spot<'_>) -> bool {
        let is_forgiven = self.pursuit.forgiven.contains(&spot.name) && !self.is_in_batch(spot);
        spot.is_released && spot.kept.is_none() && !spot.is_excused(self.pacing()) && !is_forgiven
    }

    /// Whether released pods are on their way, or places of the batch wait for their turn.
    pub(super) fn is_moving(&self) -> bool {
        self.spots.iter().any(|spot| self.is_awaited(spot))
    }

    /// Whether a place is one that the batch is not done without. Those that wait for their turn and whose
    /// node is not ready by now are passed over where that can be.
    pub(super) fn is_awaited(&self, spot: &Spot<'_>) -> bool {
        let passes_over = kind::passes_over(&self.sight.observed.workload);
        let its_turn_comes =
            || spot.waits() && self.is_in_batch(spot) && !(passes_over && spot.unready_node.is_some());
        self.is_watched(spot) && !spot.is_well() || its_turn_comes()
    }

    /// How many pods may be unavailable at a time.
    pub(super) fn allowed(&self) -> usize {
        allowed(self.pacing(), self.spots.len())
    }

    /// How many more pods may go down now; none where more are down than may be.
    pub(super) fn free(&self) -> Option<usize> {
        self.allowed().checked_sub(self.unavailable())
    }

    /// How many pods count as unavailable.
    pub(super) fn unavailable(&self) -> usize {
        unavailable(self.counting(), self.pacing())
    }

    /// The places that count as being without an available pod.
    pub(super) fn missing(&self) -> impl Iterator<Item = &Spot<'a>> {
        self.counting().filter(|spot| spot.is_missing(self.pacing()))
    }

    fn counting(&self) -> impl Iterator<Item = &Spot<'a>> {
        self.spots.iter().filter(|spot| !self.pursuit.forgiven.contains(&spot.name))
    }

    /// How long everything that soaks has to be well now.
    pub(super) fn soak(&self) -> Duration {
        match self.is_final() {
            _ if self.pursuit.complete => Duration::ZERO,
            true => self.pacing().soak + self.pacing().final_soak,
            false => self.pacing().soak,
        }
    }

    /// For how long everything that soaks has been well.
    pub(super) fn healthy(&self) -> Duration {
        self.pursuit.soak.healthy(self.soaking(), self.now)
    }

    pub(super) fn has_soaked(&self) -> bool {
        !self.is_moving() && self.healthy() >= self.soak()
    }

    /// Whether the last batch is done, and only the end of the plan is left.
    pub(super) fn is_final(&self) -> bool {
        self.batch().is_none() && !self.spots.iter().any(Spot::waits)
    }

    pub(super) fn next(&self) -> Next {
        let before = if self.is_back_to_canary() { None } else { self.plan().batch.as_ref() };
        let before = before.map_or(0, |batch| batch.number);
        next::next(&self.sight.observed.workload, &self.spots, self.pacing(), self.reach(), before)
    }

    /// Whether everything that was released went away with a scale-down.
    pub(super) fn is_back_to_canary(&self) -> bool {
        self.plan().batch.is_some() && next::updated(&self.spots) == 0
    }

    /// Nothing is left but what is passed over, because its nodes are not ready or not selected. Who has
    /// released nothing of the selected ones is told so by the exit code too.
    pub(super) fn left_out(&self) -> End {
        match left_out(self.spots.iter().filter(|spot| spot.is_outdated()), self.pacing()) {
            nodes if nodes.is_empty() => self.not_selected().unwrap_or_else(|| self.reached()),
            nodes => End::Stopped(Why::OnUnreadyNodes(nodes)),
        }
    }

    /// The nodes that are not ready and that nothing of ours waits for, with pods of the new revision.
    pub(super) fn lost_nodes(&self) -> Vec<String> {
        let is_lost = |spot: &&Spot<'_>| spot.is_new && !spot.is_available && spot.is_excused(self.pacing());
        let nodes: BTreeSet<_> =
            self.spots.iter().filter(is_lost).filter_map(|spot| spot.unready_node.clone()).collect();
        nodes.into_iter().collect()
    }

    fn not_selected(&self) -> Option<End> {
        let others = self.spots.iter().filter(|spot| spot.is_not_selected()).count();
        (others > 0 && self.passed.is_none()).then_some(End::Stopped(Why::NotSelected { others }))
    }

    /// How many pods run the new revision, of how many.
    pub(super) fn reached(&self) -> End {
        let updated = self.spots.iter().filter(|spot| spot.is_new).count();
        End::Reached { updated, of: self.spots.len() }
    }
}

impl Stepper {
    /// What is known of a plan that is ours.
    pub(super) fn scene<'a>(
        &'a self,
        pursuit: &'a Pursuit,
        document: &'a Document,
        now: Moment,
    ) -> Option<Scene<'a>> {
        let sight = self.sight(self.observed()?, document, now);
        Some(Scene::new(pursuit, document, self.passed, sight, now))
    }

    /// When time alone changes what to do for a plan that is ours.
    pub(super) fn pursuit_due(&self, pursuit: &Pursuit, now: Moment) -> Option<Duration> {
        let document = self.document()?;
        let scene = self.scene(pursuit, &document, now)?;
        let left = scene.soak().saturating_sub(scene.healthy());
        let soaked = (!scene.is_moving()).then_some(now.elapsed + left);
        pursuit.spent.due(document.plan.pacing.batch_timeout).into_iter().chain(soaked).min()
    }
}
