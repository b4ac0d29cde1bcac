//! The `kubectl-rollout2` binary: the library's `run` in this process's world.

use rollout2::world::World;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let exit = rollout2::run(std::env::args_os(), &mut World::of_this_process()).await;
    // Not by returning: the runtime would wait for whatever still waits for the system, such as a name
    // that no name server answers for, after all has been said.
    std::process::exit(exit.code().into());
}
