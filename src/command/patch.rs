//! Applies one JSON Patch to one object, and resolves conflicts and unknown results.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::stop_signals::StopSignals;
use crate::cluster::source::Source;
use crate::cluster::write::{WriteOptions, WriteOutcome};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::resource_type::ResourceType;
use crate::model::change::written::{Conflict, Written, is_applied};
use crate::model::engine::StopSignal;
use crate::model::finding::{Finding, Reason};
use crate::model::kind::Workload;
use crate::render::message_writer::MessageWriter;

/// How often a patch is sent at most: again after a 409 of the server, and rebuilt when a test failed and no conflict is
/// left. A map that was absent exists now, or another client changed a field and changed it back.
const MAX_ATTEMPTS: u32 = 3;

/// How long a read may take that reports what became of a write, after a signal ended the command.
const READ_AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// The hint after a write without an answer. Each patch tests what it overwrites, so that a write which is applied late, and
/// the repeated one, change the object once.
const REPEAT: &str = "repeat the command when the API server answers; it never applies a change twice";

/// Applies a patch to an object. If no answer arrives, it reads the object, and never sends the patch again: a command that
/// is repeated tests the object again. An object that is unchanged then is a failed write, and not an unknown one.
pub(super) async fn apply(
    patch: &Patch,
    target: &PatchTarget,
    options: WriteOptions<'_>,
    source: &Source,
    messages: &MessageWriter,
) -> Written {
    let mut patch = patch.clone();
    match attempt(&mut patch, target, options, source).await {
        Written::Unknown(error) if !options.dry_run => {
            let now = target.read(source).await;
            target.resolve_unknown(&patch, &error, now, messages)
        }
        result => result,
    }
}

/// Sends a patch. After a 409 and a pause it is sent again; if a test failed although no tested field has changed, it reads
/// the object, and sends the patch rebuilt from it; three times at most.
pub(super) async fn attempt(
    patch: &mut Patch,
    target: &PatchTarget,
    options: WriteOptions<'_>,
    source: &Source,
) -> Written {
    let PatchTarget { type_, namespace, name } = target;
    let cluster = match source.writable() {
        Ok(cluster) => cluster,
        Err(error) => return Written::Refused(error),
    };
    let mut last = None; // a webhook may have refused the change
    for tries in 0..MAX_ATTEMPTS {
        let patched = cluster.patch(type_, namespace, name, patch, options).await;
        let (error, outcome) = match patched {
            Ok(object) => return Written::Stored(object),
            Err(failed) => failed,
        };
        match outcome {
            WriteOutcome::Conflict => {
                last = Some(error);
                if tries + 1 < MAX_ATTEMPTS {
                    sleep(cluster.pause_before_retry(tries)).await;
                }
                continue;
            }
            WriteOutcome::Gone => return Written::Refused(target.deleted()),
            WriteOutcome::Unchanged => return Written::Refused(error),
            WriteOutcome::Unavailable => return Written::Unavailable(error),
            WriteOutcome::Unknown => return Written::Unknown(error),
            WriteOutcome::TestsFailed => {}
        }
        let now = match target.read(source).await {
            Ok(now) => now,
            Err(unread) => return Written::Unavailable(unread),
        };
        if let Some(conflict) = Conflict::of(patch, &now) {
            return Written::Conflict(conflict);
        }
        if patch.is_based_on(&now) {
            return Written::Refused(error); // the patch itself is wrong
        }
        *patch = patch.rebased_on(&now);
        last = Some(error);
    }
    let error = Error::new(
        ErrorKind::Conflict,
        format!("{} keeps changing; nothing was written after {MAX_ATTEMPTS} attempts", target.label()),
    );
    Written::Unavailable(last.into_iter().fold(error, Error::caused_by))
}

/// The object that a patch is applied to.
#[derive(Clone, Debug)]
pub(super) struct PatchTarget {
    type_: &'static ResourceType,
    namespace: String,
    name: String,
}

impl PatchTarget {
    /// Targets a workload.
    pub(super) fn of(workload: &Workload) -> Self {
        Self::of_object(workload.kind().type_(), workload.object())
    }

    /// Targets the object that stores a revision of a workload.
    pub(super) fn of_revision(workload: &Workload, object: &Object) -> Self {
        let kind = workload.kind();
        Self::of_object(kind.revisions().type_().unwrap_or(kind.type_()), object)
    }

    fn of_object(type_: &'static ResourceType, object: &Object) -> Self {
        Self { type_, namespace: object.namespace().to_owned(), name: object.name().to_owned() }
    }

    fn label(&self) -> String {
        format!("{} {:?}", self.type_.cli_name, self.name)
    }

    /// Returns the error for a write whose answer the command did not wait for, because a signal ended it. Reads the object once
    /// to report what is known; a second signal, or a server that does not answer in time, ends that.
    pub(super) async fn unanswered_at(
        &self,
        patch: &Patch,
        stop: StopSignal,
        stops: &mut StopSignals,
        source: &Source,
    ) -> Error {
        let read = timeout(READ_AFTER_SIGNAL, self.read(source));
        let now = tokio::select! {
            biased;
            _ = stops.next() => None,
            read = read => read.ok().and_then(Result::ok),
        };
        let label = self.label();
        let known = match now {
            Some(now) if is_applied(patch, &now) => format!("{label} was changed"),
            Some(now) if Conflict::of(patch, &now).is_none() => {
                format!("{label} is unchanged, and the API server may still apply the change")
            }
            _ => format!("it is unknown whether {label} was changed"),
        };
        Error::new(
            ErrorKind::Unreachable,
            format!("{} while the change had no answer; {known}", stop.words()),
        )
    }

    async fn read(&self, source: &Source) -> Result<Object> {
        let found = source.get(self.type_, &self.namespace, &self.name).await?;
        found.ok_or_else(|| self.deleted())
    }

    fn deleted(&self) -> Error {
        Error::new(
            ErrorKind::NotFound,
            format!("{} was deleted meanwhile; nothing was written", self.label()),
        )
    }

    /// Returns the result of a patch without an answer, from the object as it is `now`.
    fn resolve_unknown(
        &self,
        patch: &Patch,
        error: &Error,
        now: Result<Object>,
        messages: &MessageWriter,
    ) -> Written {
        let label = self.label();
        match now {
            Ok(now) if is_applied(patch, &now) => {
                let text = format!("{error}; read {label} again: the change was applied");
                messages.finding(&Finding::note(Reason::Written, text));
                Written::Stored(now)
            }
            Ok(now) => match Conflict::of(patch, &now) {
                Some(conflict) => Written::Conflict(Conflict { is_unanswered: true, ..conflict }),
                None => Written::Unavailable(Error::new(
                    ErrorKind::Unreachable,
                    format!("{label} is unchanged: no answer to the change, so it was read again"),
                )
                .caused_by(error.clone())
                .hint(REPEAT)),
            },
            Err(_) => Written::Unknown(Error::new(
                ErrorKind::Unreachable,
                format!("cannot tell whether {label} was changed: no answer to the change, and it cannot be read again"),
            )
            .caused_by(error.clone())
            .hint(REPEAT)),
        }
    }
}
