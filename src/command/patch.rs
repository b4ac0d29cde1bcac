//! Applies one JSON Patch to one object, and resolves conflicts and unknown results.

use crate::cluster::source::Source;
use crate::cluster::write::{WriteOptions, WriteOutcome};
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::api::patch::Patch;
use crate::model::api::resource_type::ResourceType;
use crate::model::change::write_result::{Conflict, WriteResult, is_applied};
use crate::model::kind::Workload;
use crate::render::message_writer::MessageWriter;

/// How often a patch is sent at most: again after a 409 of the server, and rebuilt when a test failed and no conflict is
/// left. A map that was absent exists now, or another client changed a field and changed it back.
const MAX_ATTEMPTS: usize = 3;

/// Applies a patch to an object. Never sends a patch again while its result is unknown: then it reads the object and compares.
pub(super) async fn apply(
    patch: &Patch,
    target: &PatchTarget<'_>,
    options: WriteOptions<'_>,
    source: &Source,
    messages: &MessageWriter,
) -> WriteResult {
    let mut patch = patch.clone();
    match attempt(&mut patch, target, options, source).await {
        WriteResult::Unknown(error) if !options.dry_run => {
            let now = target.read(source).await;
            target.resolve_unknown(&patch, &error, now, messages)
        }
        result => result,
    }
}

/// Sends a patch. After a 409 it is sent again; if a test failed although no tested field has changed, it reads the object,
/// and sends the patch rebuilt from it; three times at most.
pub(super) async fn attempt(
    patch: &mut Patch,
    target: &PatchTarget<'_>,
    options: WriteOptions<'_>,
    source: &Source,
) -> WriteResult {
    let PatchTarget { type_, object } = target;
    let cluster = match source.writable() {
        Ok(cluster) => cluster,
        Err(error) => return WriteResult::Refused(error),
    };
    let mut last = None; // a webhook may have refused the change
    for _ in 0..MAX_ATTEMPTS {
        let patched = cluster.patch(type_, object.namespace(), object.name(), patch, options).await;
        let failure = match patched {
            Ok(object) => return WriteResult::Stored(object),
            Err(failure) => failure,
        };
        match failure.outcome {
            WriteOutcome::Conflict => {
                last = Some(failure.error);
                continue;
            }
            WriteOutcome::Gone => return WriteResult::Refused(target.deleted()),
            WriteOutcome::Unchanged => return WriteResult::Refused(failure.error),
            WriteOutcome::Unavailable => return WriteResult::Unavailable(failure.error),
            WriteOutcome::Unknown => return WriteResult::Unknown(failure.error),
            WriteOutcome::TestsFailed => {}
        }
        let now = match target.read(source).await {
            Ok(now) => now,
            Err(error) => return WriteResult::Unavailable(error),
        };
        if let Some(conflict) = Conflict::of(patch, &now) {
            return WriteResult::Conflict(conflict);
        }
        if patch.is_based_on(&now) {
            return WriteResult::Refused(failure.error); // the patch itself is wrong
        }
        *patch = patch.rebased_on(&now);
        last = Some(failure.error);
    }
    let error = Error::new(
        ErrorKind::Conflict,
        format!("{} keeps changing; nothing was written after {MAX_ATTEMPTS} attempts", target.label()),
    );
    WriteResult::Unavailable(last.into_iter().fold(error, Error::caused_by))
}

/// The object that a patch is applied to.
pub(super) struct PatchTarget<'a> {
    type_: &'static ResourceType,
    object: &'a Object,
}

impl<'a> PatchTarget<'a> {
    /// Targets a workload.
    pub(super) fn of(workload: &'a Workload) -> Self {
        Self { type_: workload.kind().type_(), object: workload.object() }
    }

    /// Targets the object that stores a revision of a workload.
    pub(super) fn of_revision(workload: &Workload, object: &'a Object) -> Self {
        Self { type_: workload.kind().revisions().type_(), object }
    }

    fn label(&self) -> String {
        format!("{} {:?}", self.type_.cli_name(), self.object.name())
    }

    async fn read(&self, source: &Source) -> Result<Object> {
        let found = source.get(self.type_, self.object.namespace(), self.object.name()).await?;
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
    ) -> WriteResult {
        let label = self.label();
        match now {
            Ok(now) if is_applied(patch, &now) => {
                messages.err_line(&format!("note: {error}; read {label} again: the change was applied"));
                WriteResult::Stored(now)
            }
            Ok(now) => match Conflict::of(patch, &now) {
                Some(conflict) => WriteResult::Conflict(Conflict { is_unanswered: true, ..conflict }),
                None => WriteResult::Unknown(Error::new(
                    ErrorKind::Unreachable,
                    format!("no answer to the change of {label}; read it again: it is unchanged"),
                )
                .caused_by(error.clone())
                .hint("the API server may still apply the change: check the object before you repeat the command")),
            },
            Err(_) => WriteResult::Unknown(Error::new(
                ErrorKind::Unreachable,
                format!("cannot tell whether {label} was changed: no answer to the change, and it cannot be read again"),
            )
            .caused_by(error.clone())
            .hint("repeat the command when the API server answers; it never applies a change twice")),
        }
    }
}
