//! What every verb runs with, besides its request and its output.

use crate::cluster::access::Access;
use crate::cluster::source::Source;
use crate::world::process::Processes;
use crate::world::{Environment, Signals};

/// What every verb runs with, besides its request and its output.
pub struct Context<'a> {
    /// Where objects are read and written.
    pub source: &'a Source,
    /// Where the other workload of a `diff` is, if it is elsewhere.
    pub other_source: Option<&'a Source>,
    /// The flags that chose the source, for programs that connect to it too.
    pub access: &'a Access,
    /// The environment variables, for programs that a verb starts.
    pub environment: Environment,
    /// The user and the host: `ada@laptop`.
    pub user: Option<String>,
    /// The signals that stop the command.
    pub signals: Signals,
    /// The processes of the host, of which one may hold the lock of a plan.
    pub processes: Processes,
}
