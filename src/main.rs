//! The `kubectl-rollout2` binary, which calls the library's `run`.

use rollout2::world::World;
use rollout2::world::process::disable_core_dumps;

#[expect(clippy::print_stderr, reason = "a panic hook has no other stream")]
fn main() {
    disable_core_dumps();
    // Print only the location of a panic, since its message may contain text from the cluster. The release build
    // cannot unwind, and would abort with a signal.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        eprintln!("error: kubectl-rollout2 {} has a fault at {place}", env!("CARGO_PKG_VERSION"));
        std::process::exit(1);
    }));
    run();
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> ! {
    let exit = rollout2::run(std::env::args_os(), &mut World::of_this_process()).await;
    // Returning would wait for blocking tasks of the runtime, such as a DNS look-up that hangs, or a question.
    std::process::exit(exit.code().into())
}
