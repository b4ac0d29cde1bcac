//! `diff` of a workload with one elsewhere: in another namespace, in other contexts, or with another workload.

use super::comparison::{ComparedTemplates, LabelledTemplate, read_for};
use crate::cli::diff::{Elsewhere, Sides, TemplateRef};
use crate::cli::scope::NamedTarget;
use crate::cluster::concurrent::concurrently;
use crate::cluster::source::{ContextSource, Source, in_context};
use crate::command::targets::find_workload;
use crate::error::{Error, Result};
use crate::model::change::effect::UpdatedPods;
use crate::model::diff::portable_template::ComparableTemplates;
use crate::model::diff::{Diff, SecretValues};
use crate::model::kind::Workload;
use crate::model::observation::Observation;
use crate::render::diff::OtherWorkload;
use crate::render::message_writer::MessageWriter;

/// Compares a template of a workload with one of a workload elsewhere. Both are read concurrently.
pub(super) async fn compare(
    sides: &Sides,
    elsewhere: &Elsewhere,
    secrets: SecretValues,
    [source, other_source]: [&Source; 2],
    messages: &MessageWriter,
) -> Result<ComparedTemplates> {
    let (this, other) = tokio::join!(
        biased;
        this_side(sides, source, messages),
        other_side(sides, elsewhere, other_source, messages)
    );
    let this = this?;
    let other = other.map_err(|error| match &elsewhere.context {
        Some(context) => in_context(context, error),
        None => error,
    })?;
    Ok(joined(secrets, &this, other, [None, elsewhere.context.as_deref()]))
}

/// Compares the workload of the first context with that of each other one. All are read concurrently, and the error of one
/// hides no other comparison.
///
/// # Errors
/// When the workload of the first context cannot be read.
pub(super) async fn compare_contexts(
    sides: &Sides,
    elsewhere: &Elsewhere,
    secrets: SecretValues,
    contexts: &[ContextSource],
    messages: &MessageWriter,
) -> Result<Vec<Result<ComparedTemplates>>> {
    let reads = contexts.iter().enumerate().map(async |(index, context)| {
        let source = context.source.as_ref().map_err(Clone::clone)?;
        let messages = messages.in_context(&context.name, context.flags.clone());
        let read = match index {
            0 => this_side(sides, source, &messages).await,
            _ => other_side(sides, elsewhere, source, &messages).await,
        };
        read.map_err(|error| in_context(&context.name, error))
    });
    let mut read = concurrently(reads).await.into_iter();
    let first = read.next().unwrap_or_else(|| Err(Error::usage("no context is selected")))?;
    let names: Vec<_> = contexts.iter().map(|context| context.name.as_str()).collect();
    let others = read.zip(names.iter().skip(1));
    let pair = |(other, name): (Result<Side>, &&str)| {
        Ok(joined(secrets, &first, other?, [names.first().copied(), Some(*name)]))
    };
    Ok(others.map(pair).collect())
}

async fn this_side(sides: &Sides, source: &Source, messages: &MessageWriter) -> Result<Side> {
    read(find_workload(&sides.target, source).await?, &sides.from, source, messages).await
}

async fn other_side(
    Sides { target, to, .. }: &Sides,
    elsewhere: &Elsewhere,
    source: &Source,
    messages: &MessageWriter,
) -> Result<Side> {
    let namespace = elsewhere.namespace.as_ref().or(target.namespace.as_ref()).cloned();
    let other = elsewhere.workload.as_ref().unwrap_or(target).clone();
    let other = find_workload(&NamedTarget { namespace, ..other }, source).await?;
    read(other, to, source, messages).await
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

/// Compares two sides. `contexts` are the names of theirs, if there are several.
fn joined(secrets: SecretValues, this: &Side, other: Side, contexts: [Option<&str>; 2]) -> ComparedTemplates {
    let templates = ComparableTemplates::of(&this.template.template, &other.template.template);
    let [from, to] = labels(this, &other, contexts);
    let [from_context, context] = contexts.map(|name| name.map(str::to_owned));
    ComparedTemplates {
        from,
        to,
        live: None,
        digests: [templates.from.digest(), templates.to.digest()],
        diff: Diff::between(&templates.from, &templates.to, secrets),
        pod_update: UpdatedPods::default(),
        with: Some(OtherWorkload { workload: other.workload, context, not_compared: templates.not_compared }),
        workload: this.workload.clone(),
        from_context,
    }
}

/// Returns the names of the two sides. They have the parts in which the sides differ:
/// `namespace shop, live` and `context prod, namespace shop, revision 3`.
fn labels(this: &Side, other: &Side, contexts: [Option<&str>; 2]) -> [String; 2] {
    let reference = Some(other.workload.target()).filter(|other| *other != this.workload.target());
    let [this_namespace, other_namespace] =
        [this, other].map(|side| side.workload.object().namespace().to_owned());
    let shows_namespace = contexts[1].is_some() || this_namespace != other_namespace;
    let namespace = |name: String| shows_namespace.then(|| format!("namespace {name}"));
    let [this_context, other_context] = contexts.map(|name| name.map(|name| format!("context {name}")));
    let [this, other] = [this, other].map(|side| side.template.label.clone());
    [
        vec![this_context, namespace(this_namespace), Some(this)],
        vec![other_context, namespace(other_namespace), reference, Some(other)],
    ]
    .map(|parts| parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}
