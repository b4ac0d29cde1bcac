//! Label selectors: as text in a query, and as `LabelSelector` objects.

use serde_json::Value;

use crate::{object, refusal::Refusal};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl Requirement {
    pub(super) fn holds(&self, value: &Value) -> bool {
        self.allows(object::at(value, &["metadata", "labels"]).unwrap_or(&Value::Null))
    }

    fn allows(&self, labels: &Value) -> bool {
        let label = labels.get(&self.key).and_then(Value::as_str);
        match &self.test {
            Test::Exists => label.is_some(),
            Test::Absent => label.is_none(),
            Test::In(wanted) => label.is_some_and(|label| wanted.iter().any(|one| one == label)),
            Test::NotIn(unwanted) => label.is_none_or(|label| unwanted.iter().all(|one| one != label)),
        }
    }
}

pub(super) fn parse_labels(text: &str) -> Result<Vec<Requirement>, Refusal> {
    split_outside_brackets(text)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            parse_requirement(part)
                .ok_or_else(|| Refusal::bad_request(format!("unable to parse requirement: found '{part}'")))
        })
        .collect()
}

/// Splits at commas, but not at those of `in (a,b)`.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

fn parse_requirement(part: &str) -> Option<Requirement> {
    if let Some(key) = part.strip_prefix('!') {
        return requirement(key, Test::Absent);
    }
    if let Some((head, values)) = part.split_once('(') {
        let values = values.strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
        let (key, word) = head.trim().rsplit_once(char::is_whitespace)?;
        return match word {
            "in" => requirement(key, Test::In(values)),
            "notin" => requirement(key, Test::NotIn(values)),
            _ => None,
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return requirement(key, Test::NotIn(vec![label_value(value)?]));
    }
    match part.split_once('=') {
        Some((key, value)) => {
            requirement(key, Test::In(vec![label_value(value.strip_prefix('=').unwrap_or(value))?]))
        }
        None => requirement(part, Test::Exists),
    }
}

fn requirement(key: &str, test: Test) -> Option<Requirement> {
    let key = key.trim();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    (!key.is_empty() && key.chars().all(plain)).then(|| Requirement { key: key.to_owned(), test })
}

fn label_value(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    text.chars().all(plain).then(|| text.to_owned())
}

/// Whether labels satisfy a `LabelSelector` object.
pub fn matches_labels(selector: &Value, labels: &Value) -> bool {
    let equal = object::at(selector, &["matchLabels"]).and_then(Value::as_object).into_iter().flatten();
    let equal = equal.map(|(key, value)| (key.as_str(), "In", vec![value]));
    let expressions = object::list(selector, &["matchExpressions"]).iter().map(|expression| {
        let values = object::list(expression, &["values"]).iter().collect();
        (object::text(expression, &["key"]), object::text(expression, &["operator"]), values)
    });
    equal.chain(expressions).all(|(key, operator, values)| {
        let values = values.into_iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let test = match operator {
            "In" => Test::In(values),
            "NotIn" => Test::NotIn(values),
            "Exists" => Test::Exists,
            "DoesNotExist" => Test::Absent,
            _ => return false,
        };
        Requirement { key: key.to_owned(), test }.allows(labels)
    })
}
