//! Decodes JSON within a memory budget, and without `managedFields`, which is half of an object's size.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::memory_budget::{MemoryBudget, OBJECT};
use crate::model::api::resource_type::{CONFIG_MAP, ResourceType, SECRET};
use crate::model::kind;

/// `metadata.managedFields`: who wrote which field.
const MANAGED: &[&str] = &["metadata", "managedFields"];

/// Decodes JSON, and skips the member at one path.
#[derive(Debug)]
pub(crate) struct ItemSeed<'b> {
    skipped: &'static [&'static str],
    budget: &'b mut MemoryBudget,
}

impl<'b> ItemSeed<'b> {
    /// Skips nothing.
    pub(crate) fn whole(budget: &'b mut MemoryBudget) -> Self {
        Self { skipped: &[], budget }
    }

    /// Returns the seed for a type. Only the `managedFields` of workloads, ConfigMaps and Secrets are used.
    pub(crate) fn of(type_: &ResourceType, budget: &'b mut MemoryBudget) -> Self {
        let is_used = kind::of_type(type_).is_some() || [&CONFIG_MAP, &SECRET].contains(&type_);
        let skipped = if is_used { &[] } else { MANAGED };
        Self { skipped, budget }
    }

    /// Returns the value, if it fits into the budget.
    fn within<E: Error>(self, value: Value) -> Result<Value, E> {
        let is_within = match &value {
            Value::String(text) => self.budget.take_text(text),
            _ => self.budget.take_value(),
        };
        if is_within { Ok(value) } else { Err(too_large()) }
    }
}

/// Why JSON was not read.
pub(crate) const TOO_LARGE: &str = "too large for the memory that it may take";

fn too_large<E: Error>() -> E {
    E::custom(TOO_LARGE)
}

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.within(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.within(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.within(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.within(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.within(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.within(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(ItemSeed::whole(self.budget))? {
            all.push(item);
        }
        self.within(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if !self.budget.take_member(&name, all.len()) {
                return Err(too_large());
            }
            let inner = match self.skipped {
                [last] if *last == name => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
                [first, skipped @ ..] if *first == name => skipped,
                _ => &[],
            };
            let value = members.next_value_seed(ItemSeed { skipped: inner, budget: self.budget })?;
            all.insert(name, value);
        }
        self.within(Value::Object(all))
    }
}

/// Parses one JSON document; none when it is invalid or exceeds the memory limit of an object.
pub(crate) fn read_json(text: &[u8]) -> Option<Value> {
    let mut budget = MemoryBudget::new(OBJECT);
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = ItemSeed::whole(&mut budget).deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(skipped: &'static [&'static str], json: &str) -> Value {
        let mut budget = MemoryBudget::new(1 << 20);
        ItemSeed { skipped, budget: &mut budget }
            .deserialize(&mut serde_json::Deserializer::from_str(json))
            .unwrap()
    }

    #[test]
    fn only_managed_fields_are_skipped() {
        let json = json!({
            "managedFields": [1, -2, 3.5, null, true, "x\n"], "spec": {"metadata": {"managedFields": 1}},
            "metadata": {"name": "a", "managedFields": [{"f:spec": {}}], "labels": {"managedFields": "b"}},
        });
        let mut unmanaged = json.clone();
        unmanaged["metadata"].as_object_mut().unwrap().remove("managedFields");
        assert_eq!(read(MANAGED, &json.to_string()), unmanaged);
        assert_eq!(read(&[], &json.to_string()), json);
        for other in ["7", "-7", "1.5", "null", "true", "\"x\"", "[]", "{}", "{\"metadata\": 7}"] {
            assert_eq!(read(MANAGED, other), serde_json::from_str::<Value>(other).unwrap(), "{other}");
        }
    }

    #[test]
    fn json_that_is_large_in_memory_is_rejected() {
        assert_eq!(read_json(b" {\"a\": [1, \"x\"]} "), Some(serde_json::json!({"a": [1, "x"]})));
        for wrong in ["", "{", "1 2"] {
            assert_eq!(read_json(wrong.as_bytes()), None);
        }
        let objects = format!("[{}{{}}]", "{\"a\":1},".repeat(200_000));
        assert_eq!(read_json(objects.as_bytes()), None, "{} bytes", objects.len());
        let numbers = format!("[{}1]", "1,".repeat(200_000));
        assert!(read_json(numbers.as_bytes()).is_some());
    }
}
