//! The rollouts of several contexts: which template a workload has in each.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use crate::diff::portable_template::portable;
use crate::diff::{Diff, SecretValues};
use crate::kind::Workload;
use crate::revision::template::Template;
use crate::text::json::Digest;
use crate::text::plural::plural;
use crate::view::RolloutView;

/// The live template of a workload, without the fields that belong to its place. Its JSON is text, because that of thousands of
/// templates takes ten times the memory.
#[derive(Clone, Debug)]
pub struct LiveTemplate {
    digest: Digest,
    json: Arc<str>,
}

/// The texts of the templates that were read. Most contexts have the same templates, so each is in memory once.
#[derive(Debug, Default)]
pub struct TemplateTexts(RefCell<HashMap<Digest, Arc<str>>>);

impl TemplateTexts {
    /// Returns the template of a workload.
    pub fn template_of(&self, workload: &Workload) -> LiveTemplate {
        self.of(&workload.template())
    }

    /// Returns a template without the fields that belong to its place.
    pub fn of(&self, template: &Template) -> LiveTemplate {
        let template = portable(template);
        let digest = template.digest();
        let mut texts = self.0.borrow_mut();
        let json = Arc::clone(texts.entry(digest).or_insert_with(|| template.json().to_string().into()));
        LiveTemplate { digest, json }
    }
}

impl LiveTemplate {
    fn template(&self) -> Template {
        Template::new(&serde_json::from_str(&self.json).unwrap_or_default())
    }
}

/// A rollout of a context, with the live template of its workload.
#[derive(Clone, Debug)]
pub struct ContextRollout {
    /// The index of its context.
    pub context: usize,
    /// The rollout.
    pub view: RolloutView,
    /// The template.
    pub template: LiveTemplate,
}

impl std::borrow::Borrow<RolloutView> for ContextRollout {
    fn borrow(&self) -> &RolloutView {
        &self.view
    }
}

/// The namespace of a workload, and its type with its name: what it is called in every context.
type Name = (String, String);

/// The templates of the workloads that are in more than one context, each with a letter.
#[derive(Debug)]
pub struct TemplateLetters(BTreeMap<Name, Vec<LetteredTemplate>>);

/// A template, how many contexts have it, and since when the first one does.
#[derive(Debug)]
struct LetteredTemplate {
    template: LiveTemplate,
    contexts: usize,
    since: Option<Timestamp>,
}

impl TemplateLetters {
    /// Gives the template that most contexts have the letter A, the oldest of several.
    #[must_use]
    pub fn of(rollouts: &[ContextRollout]) -> Self {
        let all = rollouts.iter().map(|one| (&one.view.workload, &one.template, one.view.since));
        Self::of_templates(all)
    }

    /// As [`TemplateLetters::of`], of workloads, each with a template, and since when it has it.
    #[must_use]
    pub fn of_templates<'t>(
        all: impl IntoIterator<Item = (&'t Workload, &'t LiveTemplate, Option<Timestamp>)>,
    ) -> Self {
        let mut names = BTreeMap::<Name, Vec<LetteredTemplate>>::new();
        for (workload, template, since) in all {
            let known = names.entry(name_of(workload)).or_default();
            match known.iter_mut().find(|one| one.template.digest == template.digest) {
                Some(same) => {
                    same.contexts += 1;
                    same.since = [same.since, since].into_iter().flatten().min();
                }
                None => known.push(LetteredTemplate { template: template.clone(), contexts: 1, since }),
            }
        }
        names.retain(|_, templates| templates.iter().map(|one| one.contexts).sum::<usize>() > 1);
        for templates in names.values_mut() {
            templates.sort_by_key(|one| (Reverse(one.contexts), one.since.is_none(), one.since));
        }
        Self(names)
    }

    /// Returns the letter of a rollout's template; none for a workload of one context.
    #[must_use]
    pub fn letter(&self, rollout: &ContextRollout) -> Option<String> {
        self.letter_of(&rollout.view.workload, &rollout.template)
    }

    /// Returns the letter of a template of a workload; none for a workload of one context.
    #[must_use]
    pub fn letter_of(&self, workload: &Workload, template: &LiveTemplate) -> Option<String> {
        let templates = self.0.get(&name_of(workload))?;
        templates.iter().position(|one| one.template.digest == template.digest).map(letter)
    }

    /// Whether the contexts have different templates of a workload.
    #[must_use]
    pub fn differ(&self, rollout: &ContextRollout) -> bool {
        self.0.get(&name_of(&rollout.view.workload)).is_some_and(|templates| templates.len() > 1)
    }

    /// Returns one line for each workload with different templates: the images of A, and what changed from A to each other one.
    /// `with_namespaces` adds the namespace.
    #[must_use]
    pub fn lines(&self, with_namespaces: bool) -> Vec<String> {
        let differing = self.0.iter().filter(|(_, templates)| templates.len() > 1);
        let line = |((namespace, target), templates): (&Name, &Vec<LetteredTemplate>)| {
            let place = if with_namespaces { format!(" in namespace {namespace}") } else { String::new() };
            let mut parts =
                templates.iter().enumerate().map(|(index, one)| (letter(index), one.template.template()));
            let (first, from) = parts.next()?;
            let images = from.images().join(", ");
            let others = parts.map(|(letter, to)| {
                format!("{letter} {}", Diff::between(&from, &to, SecretValues::Masked).summary().join(", "))
            });
            let words: Vec<_> = std::iter::once(format!("{first} image {images}")).chain(others).collect();
            Some(format!("{target}{place} has {}: {}", plural(templates.len(), "template"), words.join("; ")))
        };
        differing.filter_map(line).collect()
    }
}

fn name_of(workload: &Workload) -> Name {
    (workload.object().namespace().to_owned(), workload.target())
}

/// Returns the letter of an index: A to Z, then AA, AB and so on.
fn letter(index: usize) -> String {
    let last = char::from(b'A' + u8::try_from(index % 26).unwrap_or_default());
    if index < 26 { last.to_string() } else { letter(index / 26 - 1) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Observation;
    use serde_json::json;

    fn rollout(context: usize, image: &str, since: &str) -> ContextRollout {
        let workload = Workload::of_json(&json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "uid": context.to_string()},
            "spec": {"template": {"metadata": {"creationTimestamp": context},
                "spec": {"containers": [{"name": "app", "image": image}]}}}}))
        .unwrap();
        let template = TemplateTexts::default().template_of(&workload);
        let view = RolloutView::of(&Observation::of_alone(workload), Timestamp::UNIX_EPOCH);
        let view = RolloutView { since: Some(since.parse().unwrap()), ..view };
        ContextRollout { context, view, template }
    }

    #[test]
    fn the_template_of_most_contexts_is_a_and_the_oldest_of_several() {
        let [early, late] = ["2026-11-20T13:00:00Z", "2026-11-20T14:00:00Z"];
        for (images, letters) in [
            (&[("web:1", late), ("web:2", early), ("web:1", late)][..], &["A", "B", "A"][..]),
            (&[("web:1", late), ("web:2", early)], &["B", "A"]),
            (&[("web:1", late), ("web:1", early)], &["A", "A"]),
        ] {
            let rollouts: Vec<_> = images
                .iter()
                .enumerate()
                .map(|(index, (image, since))| rollout(index, image, since))
                .collect();
            let all = TemplateLetters::of(&rollouts);
            let found: Vec<_> = rollouts.iter().filter_map(|rollout| all.letter(rollout)).collect();
            assert_eq!(found, letters, "{images:?}");
            assert_eq!(all.differ(&rollouts[0]), letters.contains(&"B"));
        }
        let alone = [rollout(0, "web:1", early)];
        assert_eq!(TemplateLetters::of(&alone).letter(&alone[0]), None);
    }

    #[test]
    fn a_line_has_the_changes_from_a() {
        let at = "2026-11-20T13:00:00Z";
        let rollouts = [rollout(0, "web:1", at), rollout(1, "web:1", at), rollout(2, "web:2", at)];
        let letters = TemplateLetters::of(&rollouts);
        assert_eq!(letters.lines(false), ["deployment/web has 2 templates: A image web:1; B image web:2"]);
        assert!(letters.lines(true)[0].starts_with("deployment/web in namespace shop has 2 templates"));
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 52].map(letter), ["A", "Z", "AA", "AB", "BA"]);
    }
}
