//! The unified diff of two templates: hunks of YAML lines that say where in the template they are.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::time::Instant;

use serde_json::Value;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::lines::{Line, Places, lines};
use super::path::{Path, Step};

/// Lines that changed, with some around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Where the changed lines are: of each container, volume or other part of the template the
    /// innermost place that holds them all, `spec.containers[web]`. The root is the empty path.
    pub places: Vec<Path>,
    /// The lines, in order.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// Which side has it.
    pub side: Side,
    /// The YAML, raw.
    pub text: String,
    /// The bytes of `text` that differ from the line it replaces or is replaced by.
    pub changed: Vec<Range<usize>>,
}

/// The sides that a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Both.
    Both,
    /// FROM only.
    From,
    /// TO only.
    To,
}

/// A template as YAML, in the lines that hunks are made of.
#[must_use]
pub fn yaml(template: &Value) -> String {
    lines(template, &mut Places::default()).into_iter().map(|line| line.text + "\n").collect()
}

/// So many lines are searched in a moment, whatever is in them: at most the square of that in steps.
/// Without a deadline they come out the same on a machine that is busy with other things.
const QUICK: usize = 2_000;

/// The hunks that lead from one template to another, `context` equal lines around each change.
///
/// Lines are equal when their text and their place are, so a line of one container is never taken
/// for one of another. The search for the shortest diff ends at the deadline, whatever the texts;
/// what follows is right still, but not the shortest.
pub(super) fn hunks(from: &Value, to: &Value, context: usize, deadline: Option<Instant>) -> Vec<Hunk> {
    let mut places = Places::default();
    let (from, to) = (lines(from, &mut places), lines(to, &mut places));
    let search_ends = deadline.filter(|_| from.len() + to.len() > QUICK);
    let steps = capture_diff_slices_deadline(Algorithm::Myers, &from, &to, search_ends);
    // As much context as there are lines is all of it; more would overflow in there.
    group_diff_ops(steps, context.min(from.len() + to.len()))
        .into_iter()
        .map(|steps| {
            let sides = Sides { from: &from, to: &to, deadline };
            let lines = steps.iter().flat_map(|step| sides.lines_of(step)).collect();
            Hunk { places: sides.places_of(&steps, &places), lines }
        })
        .collect()
}

struct Sides<'a> {
    from: &'a [Line],
    to: &'a [Line],
    deadline: Option<Instant>,
}

impl Sides<'_> {
    fn lines_of(&self, step: &DiffOp) -> Vec<HunkLine> {
        let (from, to) = (&self.from[step.old_range()], &self.to[step.new_range()]);
        if step.tag() == DiffTag::Equal {
            return from.iter().map(|line| hunk_line(Side::Both, line, Vec::new())).collect();
        }
        let (mut from_changed, mut to_changed) = (vec![Vec::new(); from.len()], vec![Vec::new(); to.len()]);
        for (old, new) in pairs(from, to) {
            (from_changed[old], to_changed[new]) =
                changed_words(&from[old].text, &to[new].text, self.deadline);
        }
        let removed = from.iter().zip(from_changed).map(|(line, words)| hunk_line(Side::From, line, words));
        let added = to.iter().zip(to_changed).map(|(line, words)| hunk_line(Side::To, line, words));
        removed.chain(added).collect()
    }

    /// For each part of the template, the longest path that every changed line's place starts with.
    fn places_of(&self, steps: &[DiffOp], places: &Places) -> Vec<Path> {
        let changed = steps.iter().filter(|step| step.tag() != DiffTag::Equal);
        let lines =
            changed.flat_map(|step| self.from[step.old_range()].iter().chain(&self.to[step.new_range()]));
        let mut common: Vec<&[Step]> = Vec::new();
        let mut parts = HashMap::new();
        for steps in lines.map(|line| places.path(line.place).steps()) {
            let part = &steps[..steps.len().min(PART_DEPTH)];
            let known = *parts.entry(part).or_insert_with(|| {
                common.push(steps);
                common.len() - 1
            });
            let same = common[known].iter().zip(steps).take_while(|(one, other)| one == other).count();
            common[known] = &common[known][..same];
        }
        common.into_iter().map(Path::from).collect()
    }
}

/// How many steps lead to a part of a template that is worth naming: `spec.containers[web]` has three.
const PART_DEPTH: usize = 3;

fn hunk_line(side: Side, line: &Line, changed: Vec<Range<usize>>) -> HunkLine {
    HunkLine { side, text: line.text.clone(), changed }
}

/// The lines that replace each other: the same member of the same object, the next element of the
/// same list.
fn pairs(from: &[Line], to: &[Line]) -> Vec<(usize, usize)> {
    let what = |line: &Line| {
        let member =
            line.text.split_once(": ").map(|(member, _)| member.trim_start_matches([' ', '-']).to_owned());
        (line.place, member)
    };
    let mut waiting: HashMap<_, VecDeque<usize>> = HashMap::new();
    for (new, line) in to.iter().enumerate() {
        waiting.entry(what(line)).or_default().push_back(new);
    }
    let partner = |line| waiting.get_mut(&what(line)).and_then(VecDeque::pop_front);
    from.iter().map(partner).enumerate().filter_map(|(old, new)| Some((old, new?))).collect()
}

/// The bytes of two lines that differ, in whole words.
fn changed_words(from: &str, to: &str, deadline: Option<Instant>) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (from_ends, to_ends) = (word_ends(from), word_ends(to));
    let (from_words, to_words) = (words(from, &from_ends), words(to, &to_ends));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for step in capture_diff_slices_deadline(Algorithm::Myers, &from_words, &to_words, deadline) {
        if step.tag() != DiffTag::Equal {
            removed.extend(bytes_of(&from_ends, &step.old_range()));
            added.extend(bytes_of(&to_ends, &step.new_range()));
        }
    }
    (removed, added)
}

/// Where each word of a line ends, after a 0 for the start of the first. Letters, digits and what
/// holds a version together are one word, any other character is one by itself.
fn word_ends(line: &str) -> Vec<usize> {
    let joins = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let mut ends = vec![0];
    let mut before = None;
    for (at, character) in line.char_indices() {
        let continues = joins(character) && before.is_some_and(joins);
        if at > 0 && !continues {
            ends.push(at);
        }
        before = Some(character);
    }
    ends.push(line.len());
    ends
}

fn words<'a>(line: &'a str, ends: &[usize]) -> Vec<&'a str> {
    ends.windows(2).map(|word| &line[word[0]..word[1]]).collect()
}

/// The bytes that a run of words takes in its line.
fn bytes_of(ends: &[usize], run: &Range<usize>) -> Option<Range<usize>> {
    let bytes = ends[run.start]..ends[run.end];
    (!bytes.is_empty()).then_some(bytes)
}
