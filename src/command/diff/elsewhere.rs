//! `diff` of a workload with one elsewhere: in another namespace or context, or with another workload.

use super::comparison::{ComparedTemplates, LabelledTemplate, read_for};
use crate::cli::diff::{Elsewhere, Sides, TemplateRef};
use crate::cli::scope::NamedTarget;
use crate::cluster::source::{Source, in_context};
use crate::command::targets::find_workload;
use crate::error::Result;
use crate::model::change::effect::UpdatedPods;
use crate::model::diff::portable_template::ComparableTemplates;
use crate::model::diff::{Diff, SecretValues};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::render::diff::OtherWorkload;
use crate::render::message_writer::MessageWriter;

/// Compares a template of a workload with one of a workload elsewhere. Both are read concurrently.
pub(super) async fn compare(
    Sides { target, from, to, .. }: &Sides,
    elsewhere: &Elsewhere,
    secrets: SecretValues,
    [source, other_source]: [&Source; 2],
    messages: &MessageWriter,
) -> Result<ComparedTemplates> {
    let this = async { read(find_workload(target, source).await?, from, source, messages).await };
    let other = async {
        let namespace = elsewhere.namespace.as_ref().or(target.namespace.as_ref()).cloned();
        let other = elsewhere.workload.as_ref().unwrap_or(target).clone();
        let other = find_workload(&NamedTarget { namespace, ..other }, other_source).await?;
        read(other, to, other_source, messages).await
    };
    let (this, other) = tokio::join!(biased; this, other);
    let (this, other) = (
        this?,
        other.map_err(|error| match &elsewhere.context {
            Some(context) => in_context(context, error),
            None => error,
        })?,
    );
    Ok(joined(secrets, elsewhere, this, other))
}

/// A workload and the template of it to compare.
struct Side {
    workload: Workload,
    template: LabelledTemplate,
}

/// Reads the template of a side. The live template needs no revisions.
async fn read(
    workload: Workload,
    word: &TemplateRef,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Side> {
    let observed = if *word == TemplateRef::Live {
        Observation::of_alone(workload)
    } else {
        read_for(&[word], workload, source, messages).await?
    };
    Ok(Side { template: LabelledTemplate::of(word, &observed)?, workload: observed.workload })
}

fn joined(secrets: SecretValues, elsewhere: &Elsewhere, this: Side, other: Side) -> ComparedTemplates {
    let templates = ComparableTemplates::of(&this.template.template, &other.template.template);
    let context = elsewhere.context.clone();
    let [from, to] = labels(&this, &other, context.as_deref());
    ComparedTemplates {
        from,
        to,
        live: None,
        digests: [templates.from.digest(), templates.to.digest()],
        diff: Diff::between(&templates.from, &templates.to, secrets),
        pod_update: UpdatedPods::default(),
        with: Some(OtherWorkload { workload: other.workload, context, not_compared: templates.not_compared }),
        workload: this.workload,
    }
}

/// Returns the names of the two sides. They have the parts in which the sides differ:
/// `namespace shop, live` and `context prod, namespace shop, revision 3`.
fn labels(this: &Side, other: &Side, context: Option<&str>) -> [String; 2] {
    let reference = Some(other.workload.target()).filter(|other| *other != this.workload.target());
    let [this_namespace, other_namespace] =
        [this, other].map(|side| side.workload.object().namespace().to_owned());
    let shows_namespace = context.is_some() || this_namespace != other_namespace;
    let namespace = |name: String| shows_namespace.then(|| format!("namespace {name}"));
    let context = context.map(|name| format!("context {name}"));
    let [this, other] = [this, other].map(|side| side.template.label.clone());
    [
        vec![namespace(this_namespace), Some(this)],
        vec![context, namespace(other_namespace), reference, Some(other)],
    ]
    .map(|parts| parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
