//! One change of one object, and all that can come of it.

use super::change::{DryRun, How};
use crate::cluster::source::Source;
use crate::cluster::write::{Fate, WriteFailure, WriteOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::model::conflict::Conflict;
use crate::model::object::Object;
use crate::model::patch::Patch;
use crate::model::resource_type::ResourceType;
use crate::model::workload::Workload;
use crate::render::screen::Screen;

/// What a write came to.
pub(super) enum Made {
    /// It was made; this is the object now.
    Done(Object),
    /// Somebody else changed what it relies on, and nothing was written.
    Conflict(Conflict),
}

/// How often a change is made again of the object as it is now, after a test failed of what is true
/// again or was always true: an absent map is there by now, or somebody changed it and changed it back.
const MOST_REWORDINGS: usize = 3;

/// What asking for a change came to, before anybody looks what became of it.
pub(super) enum Asked {
    /// It was made; this is the object now.
    Done(Object),
    /// Somebody else changed what it relies on, and nothing was written.
    Conflict(Conflict),
    /// Nothing was written.
    Not(Error),
    /// Nothing was written, because the server cannot do it now; a little later it may.
    NotNow(Error),
    /// Nobody knows whether this change was made.
    Unknown(Patch, Error),
}

/// Makes one change of one object. Never blindly twice: where the answer does not tell what became
/// of it, the object is read again, and what is true is said.
///
/// # Errors
/// When it was not made; when it was refused; when nobody knows.
pub(super) async fn make(
    patch: &Patch,
    subject: &Subject<'_>,
    how: &How,
    source: &Source,
    screen: &mut Screen<'_>,
) -> Result<Made> {
    let options = WriteOptions { dry_run: how.dry_run == DryRun::Server, field_manager: &how.field_manager };
    match ask(patch, subject, options, source).await {
        Asked::Done(object) => Ok(Made::Done(object)),
        Asked::Conflict(conflict) => Ok(Made::Conflict(conflict)),
        Asked::Not(error) | Asked::NotNow(error) => Err(error),
        Asked::Unknown(_, error) if options.dry_run => Err(error),
        Asked::Unknown(patch, error) => {
            let now = subject.read(source).await;
            subject.what_became_of(&patch, &error, now, screen)
        }
    }
}

/// Asks for one change of one object, in other words where only the words were wrong.
pub(super) async fn ask(
    patch: &Patch,
    subject: &Subject<'_>,
    options: WriteOptions<'_>,
    source: &Source,
) -> Asked {
    let mut patch = patch.clone();
    for _ in 0..MOST_REWORDINGS {
        let failure = match subject.patch(&patch, options, source).await {
            Ok(object) => return Asked::Done(object),
            Err(failure) => failure,
        };
        match failure.fate {
            Fate::Contended => continue,
            Fate::Gone => {
                let compat = subject.explained(failure).compat_sentence();
                return Asked::Not(subject.deleted().in_compat(compat));
            }
            Fate::Unchanged => return Asked::Not(subject.explained(failure)),
            Fate::NotNow => return Asked::NotNow(subject.explained(failure)),
            Fate::Unknown => return Asked::Unknown(patch, subject.explained(failure)),
            Fate::TestsFailed => {}
        }
        let now = match subject.read(source).await {
            Ok(now) => now,
            Err(error) => return Asked::NotNow(error),
        };
        if let Some(conflict) = Conflict::of(&patch, &now) {
            return Asked::Conflict(conflict);
        }
        if patch.was_read_from(&now) {
            return Asked::Not(subject.explained(failure)); // nobody was there: the patch itself is at fault
        }
        patch = patch.of_the_same_in(&now);
    }
    Asked::NotNow(Error::new(
        ErrorKind::Conflict,
        format!("{} is being changed all the time; nothing was written", subject.named()),
    ))
}

/// What is written to.
pub(super) struct Subject<'a> {
    type_: &'static ResourceType,
    object: &'a Object,
    failing: String,
}

impl<'a> Subject<'a> {
    /// A workload.
    pub(super) fn of(workload: &'a Workload) -> Self {
        Self { type_: workload.kind().type_(), object: workload.object(), failing: String::new() }
    }

    /// What keeps a revision of a workload.
    pub(super) fn revision_of(workload: &Workload, object: &'a Object) -> Self {
        Self { type_: workload.kind().revision_type(), object, failing: String::new() }
    }

    /// The words that kubectl puts before the server's sentence.
    pub(super) fn failing(self, words: impl Into<String>) -> Self {
        Self { failing: words.into(), ..self }
    }

    /// A failure with kubectl's words for it.
    fn explained(&self, failure: WriteFailure) -> Error {
        match failure.message.filter(|_| !self.failing.is_empty()) {
            Some(message) => failure.error.in_compat(format!("{}: {message}", self.failing)),
            None => failure.error,
        }
    }

    fn named(&self) -> String {
        format!("{} {:?}", self.type_.singular(), self.object.name())
    }

    async fn patch(
        &self,
        patch: &Patch,
        options: WriteOptions<'_>,
        source: &Source,
    ) -> Result<Object, WriteFailure> {
        source.patch(self.type_, self.object.namespace(), self.object.name(), patch, options).await
    }

    async fn read(&self, source: &Source) -> Result<Object> {
        let found = source.get(self.type_, self.object.namespace(), self.object.name()).await?;
        found.ok_or_else(|| self.deleted())
    }

    fn deleted(&self) -> Error {
        Error::new(
            ErrorKind::NotFound,
            format!("{} was deleted meanwhile; nothing was written", self.named()),
        )
    }

    /// After a request whose answer never came: it was made, it was not, or somebody else was there.
    fn what_became_of(
        &self,
        patch: &Patch,
        error: &Error,
        now: Result<Object>,
        screen: &mut Screen<'_>,
    ) -> Result<Made> {
        let named = self.named();
        match now {
            Ok(now) if patch.is_made_in(&now) => {
                screen.note(&format!("note: {}; {named} was read again, and the change is made", error.sentence()));
                Ok(Made::Done(now))
            }
            Ok(now) => match Conflict::of(patch, &now) {
                Some(conflict) => Ok(Made::Conflict(conflict)),
                None => Err(Error::new(
                    ErrorKind::Unreachable,
                    format!("the change of {named} was sent, and no answer came: it was read again, and it is as it was"),
                )
                .caused_by(error.sentence())
                .hint("the server may still make it: look again before you repeat the command")),
            },
            Err(_) => Err(Error::new(
                ErrorKind::Unreachable,
                format!("nobody knows whether {named} was changed: the change was sent, no answer came, and it could not be read again"),
            )
            .caused_by(error.sentence())
            .hint("repeat the command once the server answers: it changes nothing twice")),
        }
    }
}

/// The error that a conflict comes to: who changed what while `what` was being prepared.
pub(super) fn conflict(conflict: &Conflict, workload: &Workload, what: &str) -> Error {
    let kind = workload.kind().type_().singular();
    let name = workload.name();
    if conflict.replaced {
        return Error::new(
            ErrorKind::Conflict,
            format!("{kind} {name:?} was deleted and created again while {what}; nothing was written"),
        );
    }
    let manager = conflict.manager.as_deref().unwrap_or("somebody");
    let error = Error::new(
        ErrorKind::Conflict,
        format!("{kind} {name:?} was changed by {manager} while {what}; nothing was written"),
    );
    if conflict.changes.is_empty() { error } else { error.caused_by(conflict.changes.join("; ")) }
}
