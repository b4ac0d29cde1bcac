//! A template as lines of YAML, each of which knows where in the template it is.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::path::{Path, Step};
use super::{keys, scalar};

/// One line, and the object or list it belongs to: the line that opens one is the first of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) place: Place,
}

/// An object or list in the templates that are compared, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place(usize);

/// The places of both templates: equal paths are one place.
#[derive(Debug, Default)]
pub(super) struct Places {
    paths: Vec<Path>,
    known: HashMap<Path, Place>,
}

impl Places {
    pub(super) fn path(&self, place: Place) -> &Path {
        &self.paths[place.0]
    }

    fn place(&mut self, path: &Path) -> Place {
        *self.known.entry(path.clone()).or_insert_with(|| {
            self.paths.push(path.clone());
            Place(self.paths.len() - 1)
        })
    }
}

/// A value as block YAML: members sorted by name, lists not indented, as kubectl writes it.
///
/// Written here and not by a YAML library, because a library does not tell which line came from
/// where, and a hunk has to say.
pub(super) fn lines(value: &Value, places: &mut Places) -> Vec<Line> {
    let place = places.place(&Path::default());
    let mut writer = Writer { lines: Vec::new(), places, here: Path::default(), place };
    match value {
        Value::Object(members) if !members.is_empty() => writer.members(String::new(), members, 0),
        Value::Array(elements) if !elements.is_empty() => writer.elements("", "", elements, 0),
        scalar => writer.line(scalar::inline(scalar)),
    }
    writer.lines
}

struct Writer<'a> {
    lines: Vec<Line>,
    places: &'a mut Places,
    here: Path,
    place: Place,
}

impl Writer<'_> {
    fn line(&mut self, text: String) {
        self.lines.push(Line { text, place: self.place });
    }

    /// The members of an object, the first one after `start` on its line.
    fn members(&mut self, start: String, members: &Map<String, Value>, indent: usize) {
        let mut start = Some(start);
        for (name, value) in members {
            let start = start.take().unwrap_or_else(|| " ".repeat(indent));
            self.member(format!("{start}{}:", scalar::text_inline(name)), name, value, indent);
        }
    }

    fn member(&mut self, start: String, name: &str, value: &Value, indent: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.within(Step::Member(name.to_owned()), |writer| {
                    writer.line(start);
                    writer.members(" ".repeat(indent + 2), members, indent + 2);
                });
            }
            Value::Array(elements) if !elements.is_empty() => {
                self.within(Step::Member(name.to_owned()), |writer| {
                    writer.line(start);
                    writer.elements(&" ".repeat(indent), name, elements, indent);
                });
            }
            scalar => self.scalar(&format!("{start} "), scalar, indent + 2),
        }
    }

    /// The elements of a list, the first one after `start` on its line.
    fn elements(&mut self, start: &str, list: &str, elements: &[Value], indent: usize) {
        let keys = keys::keys(list, elements);
        for (index, element) in elements.iter().enumerate() {
            let start = if index == 0 { format!("{start}- ") } else { format!("{}- ", " ".repeat(indent)) };
            match keys.as_ref().map(|keys| Step::Element(keys[index].clone())) {
                Some(step) => self.within(step, |writer| writer.element(start, element, indent + 2)),
                // What has no key has no place of its own, nor has anything in it.
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
        let Some((indicator, lines)) = value.as_str().and_then(scalar::literal) else {
            return self.line(format!("{start}{}", scalar::inline(value)));
        };
        self.line(format!("{start}{indicator}"));
        for line in lines {
            self.line(if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(indent)) });
        }
    }

    fn within(&mut self, step: Step, write: impl FnOnce(&mut Self)) {
        let outer = self.place;
        self.here.push(step);
        self.place = self.places.place(&self.here);
        write(self);
        self.here.pop();
        self.place = outer;
    }
}
