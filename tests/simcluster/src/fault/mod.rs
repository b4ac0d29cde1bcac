//! Faults: actions on selected requests.

mod action;
mod requests;

pub use self::{action::FaultAction, requests::Requests};
use crate::request::Route;

/// An action on selected requests, always or a limited number of times.
#[derive(Clone, Debug)]
pub struct Fault {
    requests: Requests,
    act: FaultAction,
    skip: usize,
    times: Option<usize>,
}

impl Fault {
    /// Returns the fault that does `action` to each of these requests.
    #[must_use]
    pub fn on(requests: Requests, act: FaultAction) -> Self {
        Self { requests, act, skip: 0, times: None }
    }

    /// Skips the first `requests` requests that match.
    #[must_use]
    pub fn after(self, requests: usize) -> Self {
        Self { skip: requests, ..self }
    }

    /// Applies to this many requests.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Applies to one request.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// Returns the action on a request if the fault applies to it, and counts the request.
    fn strike(&mut self, route: &Route, continued: bool) -> Option<FaultAction> {
        if !self.requests.include(route, continued) || self.times == Some(0) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.times = self.times.map(|times| times - 1);
        Some(self.act.clone())
    }
}

/// The active faults, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns all actions on a request.
    pub(crate) fn strike(&mut self, route: &Route, continued: bool) -> Vec<FaultAction> {
        self.0.iter_mut().filter_map(|fault| fault.strike(route, continued)).collect()
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;
    use crate::{
        request::{Query, Verb},
        resource::PODS,
    };

    #[test]
    fn a_fault_hits_its_target_as_often_as_configured() {
        let mut faults = Faults::default();
        faults
            .add(Fault::on(Requests::of(Verb::Get, &PODS).named("a"), FaultAction::Stall).after(1).times(2));
        let mut hits =
            |path: &str| faults.strike(&Route::of(&Method::GET, path, &Query::default()), false).len();
        let (mine, other) = ("/api/v1/namespaces/n/pods/a", "/api/v1/namespaces/n/pods/b");
        assert_eq!([mine, mine, other, mine, mine].map(&mut hits), [0, 1, 0, 1, 0]);
    }
}
