//! What of the cluster's objects concerns a target.

use crate::model::follow::TargetId;
use crate::model::kind::Kind;
use crate::model::object::Object;
use crate::model::selector::Selector;
use crate::model::workload::Workload;

/// A target, and how what belongs to it is told from the rest of its namespace.
#[derive(Debug)]
pub(super) struct Interest {
    pub(super) target: TargetId,
    pub(super) kind: Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    uid: String,
    /// Without a usable one nothing belongs to it, which is what its controller finds too.
    pub(super) selector: Option<Selector>,
}

impl Interest {
    pub(super) fn of(target: TargetId, found: &Workload) -> Self {
        let object = found.object();
        Self {
            target,
            kind: found.kind(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            selector: Selector::of_workload(object).ok(),
        }
    }

    /// Whether an object of the target's kind is the target, or one that took its name.
    pub(super) fn is_it(&self, object: &Object) -> bool {
        object.kind() == self.kind.type_().title() && object.name() == self.name
    }

    /// Whether it is the controller of this uid: that of an object which keeps one of its revisions.
    pub(super) fn is_controller(&self, uid: &str) -> bool {
        !uid.is_empty() && self.uid == uid
    }

    /// Whether a pod may be the target's. Whose it is, its owner says later.
    pub(super) fn selects(&self, pod: &Object) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(pod))
    }

    /// Whether an event may be about the target or something that belongs to it: what belongs to a
    /// workload has a name that begins with its name.
    pub(super) fn is_told_of(&self, event: &Object) -> bool {
        let about = event.text("/involvedObject/name").unwrap_or_default();
        let rest = about.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}
