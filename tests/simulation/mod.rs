//! The simulated control plane, compared with recordings of a real one: the API server and the controllers of
//! `simcluster`. (They are not tests of that package, whose profile would optimise them.)

mod api;
mod controllers;
