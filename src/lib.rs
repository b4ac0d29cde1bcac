//! The library behind `kubectl rollout2`: what it reads, explains and drives.
//!
//! The rooms, and the only way they may depend on each other:
//!
//! ```text
//! cli  ->  command  ->  { cluster, render }  ->  model
//! ```
//!
//! [`error`], [`exit`] and [`world`] are common ground: every room may use them, and they use none.
//! `tests/arrows` holds the code to this.

pub mod cli;
pub mod cluster;
pub mod command;
pub mod error;
pub mod exit;
pub mod model;
pub mod render;
pub mod world;

use std::ffi::OsString;

use cli::Understood;
use exit::Exit;
use world::World;

/// Runs one command line in a world: the whole program.
///
/// The first of `args` is the program's own name. Everything the run prints goes to the world's
/// streams, and how it ended is the exit code.
pub async fn run(args: impl IntoIterator<Item = OsString>, world: &mut World) -> Exit {
    match cli::understand(args, world) {
        Understood::Command(command) => command::run(*command, world).await,
        Understood::Completion(request) => command::complete::run(*request, world).await,
        Understood::Answered(exit) => exit,
    }
}
