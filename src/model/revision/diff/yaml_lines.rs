//! A template as lines of YAML, each with its position in the template.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::path::{PathStep, TemplatePath};
use super::{block_scalar, list_keys};

/// One line, and the object or list it belongs to. The line that opens an object belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct YamlLine {
    pub(super) text: String,
    pub(super) node: NodeId,
}

/// The id of an object or list in the compared templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(usize);

/// The ids of the nodes of both templates. Equal paths have equal ids.
#[derive(Debug, Default)]
pub(super) struct NodeIds {
    paths: Vec<TemplatePath>,
    known: HashMap<TemplatePath, NodeId>,
}

impl NodeIds {
    pub(super) fn path(&self, node: NodeId) -> &TemplatePath {
        &self.paths[node.0]
    }

    fn node(&mut self, path: &TemplatePath) -> NodeId {
        *self.known.entry(path.clone()).or_insert_with(|| {
            self.paths.push(path.clone());
            NodeId(self.paths.len() - 1)
        })
    }
}

/// Returns a value as block YAML: sorted members, lists not indented, as kubectl writes it.
///
/// The documents of `-o yaml` have an emitter of their own, which folds lines and orders keys as go-yaml does. Hunks need
/// unfolded lines, and the part of the template that each line belongs to.
pub(super) fn lines(value: &Value, nodes: &mut NodeIds) -> Vec<YamlLine> {
    let node = nodes.node(&TemplatePath::default());
    let mut writer = LineWriter { lines: Vec::new(), nodes, here: TemplatePath::default(), node };
    match value {
        Value::Object(members) if !members.is_empty() => writer.members(String::new(), members, 0),
        Value::Array(elements) if !elements.is_empty() => writer.elements("", "", elements, 0),
        scalar => writer.line(block_scalar::inline(scalar)),
    }
    writer.lines
}

struct LineWriter<'a> {
    lines: Vec<YamlLine>,
    nodes: &'a mut NodeIds,
    here: TemplatePath,
    node: NodeId,
}

impl LineWriter<'_> {
    fn line(&mut self, text: String) {
        self.lines.push(YamlLine { text, node: self.node });
    }

    /// Writes the members of an object, the first one after `start` on its line.
    fn members(&mut self, start: String, members: &Map<String, Value>, indent: usize) {
        let mut start = Some(start);
        for (name, value) in members {
            let start = start.take().unwrap_or_else(|| " ".repeat(indent));
            self.member(format!("{start}{}:", block_scalar::text_inline(name)), name, value, indent);
        }
    }

    fn member(&mut self, start: String, name: &str, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.within(PathStep::Member(name.to_owned()), |writer| {
                    writer.line(start);
                    writer.members(" ".repeat(indent + 2), members, indent + 2);
                });
            }
            Value::Array(elements) if !elements.is_empty() => {
                self.within(PathStep::Member(name.to_owned()), |writer| {
                    writer.line(start);
                    writer.elements(&" ".repeat(indent), name, elements, indent);
                });
            }
            scalar => self.scalar(&format!("{start} "), scalar, indent + 2),
        }
    }

    /// Writes the elements of a list, the first one after `start` on its line.
    fn elements(&mut self, start: &str, list: &str, elements: &[Value], indent: usize) {
        let keys = list_keys::keys(list, elements);
        for (index, element) in elements.iter().enumerate() {
            let start = if index == 0 { format!("{start}- ") } else { format!("{}- ", " ".repeat(indent)) };
            match keys.as_ref().map(|keys| PathStep::Element(keys[index].clone())) {
                Some(step) => self.within(step, |writer| writer.element(start, element, indent + 2)),
                // An element without a key has no node of its own.
                None => self.element(start, element, indent + 2),
            }
        }
    }

    fn element(&mut self, start: String, element: &Value, indent: usize) {
        match element {
            Value::Object(members) if !members.is_empty() => self.members(start, members, indent),
            Value::Array(elements) if !elements.is_empty() => self.elements(&start, "", elements, indent),
            scalar => self.scalar(&start, scalar, indent),
        }
    }

    fn scalar(&mut self, start: &str, value: &Value, indent: usize) {
        let Some((header, lines)) = value.as_str().and_then(block_scalar::literal) else {
            return self.line(format!("{start}{}", block_scalar::inline(value)));
        };
        self.line(format!("{start}{header}"));
        for line in lines {
            self.line(if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(indent)) });
        }
    }

    fn within(&mut self, step: PathStep, write: impl FnOnce(&mut Self)) {
        let outer = self.node;
        self.here.push(step);
        self.node = self.nodes.node(&self.here);
        write(self);
        self.here.pop();
        self.node = outer;
    }
}
