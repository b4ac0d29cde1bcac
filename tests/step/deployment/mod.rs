//! Deployments: the update budget is raised, while no updated pod counts as available.

mod ground;
mod held;
mod meanwhile;
mod owners;
mod refused;
mod walking;
