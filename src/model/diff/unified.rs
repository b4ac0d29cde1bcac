//! The unified diff of two templates, with the position of each line in the template.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::path;
use super::path::{PathStep, TemplatePath};
use crate::model::text::yaml;
use crate::model::text::yaml::{Layout, Places};

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
    lines(template, &mut NodeIds::default()).into_iter().map(|line| line.text + "\n").collect()
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
    for steps in lines.map(|line| nodes.path(line.place).steps()) {
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
type TemplateLine = yaml::YamlLine<NodeId>;

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
}

impl Places for NodeIds {
    type Place = NodeId;

    fn member(&mut self, within: NodeId, name: &str) -> NodeId {
        let mut path = self.path(within).clone();
        path.push(PathStep::Member(name.to_owned()));
        self.node(&path)
    }

    /// An element without a key has no node of its own.
    fn elements(&mut self, within: NodeId, list: &str, elements: &[Value]) -> Vec<NodeId> {
        let Some(keys) = path::element_keys(list, elements) else { return vec![within; elements.len()] };
        let mut path = self.path(within).clone();
        let element = |key| {
            path.push(PathStep::Element(key));
            let node = self.node(&path);
            path.pop();
            node
        };
        keys.into_iter().map(element).collect()
    }
}

/// Returns a template as YAML, never folded.
fn lines(template: &Value, nodes: &mut NodeIds) -> Vec<TemplateLine> {
    let root = nodes.node(&TemplatePath::default());
    yaml::lines(template, Layout::Unfolded, nodes, root)
}
