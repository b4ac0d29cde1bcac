//! Prints values as Go's `fmt` does with `%v`.

use serde_json::Value;

use super::path_node::Numbers;

/// Returns a value as Go prints it: `map[a:1 b:[x y]]`, `<nil>` for null.
#[must_use]
pub fn go_text(value: &Value, numbers: Numbers) -> String {
    let joined = |words: Vec<String>| words.join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            match number.as_f64().filter(|_| number.is_f64() || numbers == Numbers::Floats) {
                Some(float) => go_float(float),
                None => number.to_string(),
            }
        }
        Value::Array(elements) => {
            format!("[{}]", joined(elements.iter().map(|element| go_text(element, numbers)).collect()))
        }
        Value::Object(members) => {
            // Sorted, as serde_json keeps them.
            let words = members.iter().map(|(name, member)| format!("{name}:{}", go_text(member, numbers)));
            format!("map[{}]", joined(words.collect()))
        }
    }
}

/// Returns a float with the fewest digits that identify it; with an exponent from a million on, as
/// `2.147483647e+09`.
fn go_float(float: f64) -> String {
    let scientific = format!("{float:e}");
    let exponent = scientific
        .split_once('e')
        .and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)));
    match exponent {
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => float.to_string(),
    }
}
