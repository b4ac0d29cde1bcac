//! Kubeconfigs: any two files are merged, or refused with an error of one line.

use std::path::PathBuf;
use std::sync::OnceLock;

use rollout2::cluster::access::Access;
use rollout2::cluster::kubeconfig::overrides::Overrides;
use rollout2::cluster::kubeconfig::{KubeconfigList, names};
use rollout2::cluster::notice::Listener;
use rollout2::cluster::source::Source;
use rollout2::error::Error;
use rollout2::world::{Clock, Signals, Stream, World};

/// The separator of the two files.
const SEPARATOR: &[u8] = b"\n=====\n";

/// Reads two files from the list in `KUBECONFIG`.
pub fn one(data: &[u8]) {
    let middle = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (first, second) = middle.map_or((data, &[][..]), |at| (&data[..at], &data[at + SEPARATOR.len()..]));
    let paths = files().map(|path| path.display().to_string());
    for (path, text) in paths.iter().zip([first, second]) {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let environment = [("KUBECONFIG", paths.join(":"))].into_iter().collect();
    let mut world = World {
        environment,
        host: None,
        processes: rollout2::world::process::Processes::Unknown,
        clock: Clock::System,
        stdin: Box::new(std::io::empty()),
        stdin_is_terminal: false,
        signals: Signals::Ignored,
        out: Stream::new(std::io::sink(), None),
        err: Stream::new(std::io::sink(), None),
    };
    if let Err(error) = names(KubeconfigList::Contexts, &Overrides::default(), &world.environment) {
        assert_one_line(&error);
    }
    let access = Access::default();
    if let Err(error) = Source::open(&access, &mut world, Listener::new(|_| ())) {
        assert_one_line(&error);
    }
}

fn assert_one_line(error: &Error) {
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
}

/// Returns the paths of two files of this process, in memory if possible.
fn files() -> [PathBuf; 2] {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    let directory = DIRECTORY.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let directory = place.join(format!("rollout2-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap_or_else(|error| panic!("{error}"));
        directory
    });
    ["first", "second"].map(|name| directory.join(name))
}
