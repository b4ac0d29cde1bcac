//! The unified diff of two templates, with the position of each line in the template.

use std::collections::HashMap;
use std::ptr;
use std::time::Instant;

use serde_json::Value;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::path;
use super::path::{PathStep, TemplatePath};
use crate::text::yaml;
use crate::text::yaml::{Layout, YamlLine};

/// Changed lines with their context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The positions of the changed lines. For each part of the template (`spec.containers[web]`)
    /// it is the longest path that contains them all. The root is the empty path.
    pub paths: Vec<TemplatePath>,
    /// The lines, in order.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// The side that has the line.
    pub side: DiffSide,
    /// The YAML, not escaped.
    pub text: String,
}

/// The side of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSide {
    /// Both sides.
    Both,
    /// FROM only.
    From,
    /// TO only.
    To,
}

/// Returns a template as YAML, in the same lines as the hunks.
#[must_use]
pub fn yaml(template: &Value) -> String {
    yaml::lines(template, Layout::Unfolded).into_iter().map(|line| line.text + "\n").collect()
}

/// Up to this many lines the search has no deadline. It takes at most the square of that in steps,
/// and the result does not depend on the load of the machine.
const QUICK: usize = 2_000;

/// Returns the hunks from one template to another, with `context` equal lines around each change.
///
/// Lines are equal if their text and their node are, so lines of different containers never match.
/// The search for the shortest diff stops at the deadline; the result is still correct.
pub(super) fn hunks(from: &Value, to: &Value, context: usize, deadline: Option<Instant>) -> Vec<Hunk> {
    let mut nodes = NodeIds::default();
    let (from, to) = (lines(from, &mut nodes), lines(to, &mut nodes));
    let search_ends = deadline.filter(|_| from.len() + to.len() > QUICK);
    let steps = capture_diff_slices_deadline(Algorithm::Myers, &from, &to, search_ends);
    // A larger context would overflow in the library.
    group_diff_ops(steps, context.min(from.len() + to.len()))
        .into_iter()
        .map(|steps| Hunk {
            paths: paths_of(&steps, [&from, &to], &nodes),
            lines: steps.iter().flat_map(|step| lines_of(step, [&from, &to])).collect(),
        })
        .collect()
}

fn lines_of(step: &DiffOp, [from, to]: [&[TemplateLine]; 2]) -> Vec<HunkLine> {
    let lines = |side, lines: &[TemplateLine]| -> Vec<HunkLine> {
        lines.iter().map(|line| HunkLine { side, text: line.text.clone() }).collect()
    };
    let (removed, added) = (&from[step.old_range()], &to[step.new_range()]);
    if step.tag() == DiffTag::Equal {
        return lines(DiffSide::Both, removed);
    }
    [lines(DiffSide::From, removed), lines(DiffSide::To, added)].concat()
}

/// Returns, for each part of the template, the longest common path of its changed lines.
fn paths_of(steps: &[DiffOp], [from, to]: [&[TemplateLine]; 2], nodes: &NodeIds) -> Vec<TemplatePath> {
    let changed = steps.iter().filter(|step| step.tag() != DiffTag::Equal);
    let lines = changed.flat_map(|step| from[step.old_range()].iter().chain(&to[step.new_range()]));
    let mut common: Vec<&[PathStep]> = Vec::new();
    let mut parts = HashMap::new();
    for steps in lines.map(|line| nodes.path(line.node).steps()) {
        let part = &steps[..steps.len().min(PART_DEPTH)];
        let known = *parts.entry(part).or_insert_with(|| {
            common.push(steps);
            common.len() - 1
        });
        let same = common[known].iter().zip(steps).take_while(|(one, other)| one == other).count();
        common[known] = &common[known][..same];
    }
    common.into_iter().map(TemplatePath::from).collect()
}

/// The number of steps that identify a part of a template: `spec.containers[web]` has three.
const PART_DEPTH: usize = 3;

/// One line of a template as YAML, and the object or list that it belongs to.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TemplateLine {
    text: String,
    node: NodeId,
}

/// The id of an object or list in the compared templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NodeId(usize);

/// The ids of the nodes of both templates. Equal paths have equal ids.
#[derive(Debug, Default)]
struct NodeIds {
    paths: Vec<TemplatePath>,
    known: HashMap<TemplatePath, NodeId>,
}

impl NodeIds {
    fn path(&self, node: NodeId) -> &TemplatePath {
        &self.paths[node.0]
    }

    fn node(&mut self, path: &TemplatePath) -> NodeId {
        *self.known.entry(path.clone()).or_insert_with(|| {
            self.paths.push(path.clone());
            NodeId(self.paths.len() - 1)
        })
    }

    /// Adds the objects and lists of a value, which is the member `name` of an object, by their addresses. An element without
    /// a key has the path of its list.
    fn add(
        &mut self,
        value: &Value,
        name: &str,
        path: &mut TemplatePath,
        ids: &mut HashMap<*const Value, NodeId>,
    ) {
        let is_node = |value: &Value| value.is_object() || value.is_array();
        ids.insert(ptr::from_ref(value), self.node(path));
        for (member, value) in value.as_object().into_iter().flatten().filter(|(_, value)| is_node(value)) {
            path.push(PathStep::Member(member.clone()));
            self.add(value, member, path, ids);
            path.pop();
        }
        let elements = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut keys = path::element_keys(name, elements).into_iter().flatten();
        for element in elements.iter().filter(|element| is_node(element)) {
            if let Some(key) = keys.next() {
                path.push(PathStep::Element(key));
                self.add(element, "", path, ids);
                path.pop();
            } else {
                self.add(element, "", path, ids);
            }
        }
    }
}

/// Returns a template as YAML, never folded.
fn lines(template: &Value, nodes: &mut NodeIds) -> Vec<TemplateLine> {
    let root = nodes.node(&TemplatePath::default());
    let mut ids = HashMap::new();
    nodes.add(template, "", &mut TemplatePath::default(), &mut ids);
    let line = |line: YamlLine<'_>| {
        let node = ids.get(&ptr::from_ref(line.node)).copied().unwrap_or(root);
        TemplateLine { text: line.text, node }
    };
    yaml::lines(template, Layout::Unfolded).into_iter().map(line).collect()
}
