//! Faults: actions on selected requests.

mod action;
mod requests;

pub use self::{
    action::{FaultAction, StoreChange},
    requests::Requests,
};
use crate::request::Route;

/// An action on selected requests, always or a limited number of times.
#[derive(Clone, Debug)]
pub struct Fault {
    requests: Requests,
    act: FaultAction,
    skip: usize,
    times: Option<usize>,
    /// Whether it has applied to a request.
    is_used: bool,
}

impl Fault {
    /// Returns the fault that does `action` to each of these requests.
    pub fn on(requests: Requests, act: FaultAction) -> Self {
        Self { requests, act, skip: 0, times: None, is_used: false }
    }

    /// Skips the first `requests` requests that match.
    pub fn after(self, requests: usize) -> Self {
        Self { skip: requests, ..self }
    }

    /// Applies to this many requests.
    pub fn times(self, times: usize) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Applies to one request.
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
        self.is_used = true;
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

    /// Returns the faults for a number of requests that applied to none.
    pub(crate) fn unused(&self) -> Vec<Fault> {
        self.0.iter().filter(|fault| fault.times.is_some() && !fault.is_used).cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns all actions on a request.
    pub(crate) fn strike(&mut self, route: &Route, continued: bool) -> Vec<FaultAction> {
        self.0.iter_mut().filter_map(|fault| fault.strike(route, continued)).collect()
    }
}
