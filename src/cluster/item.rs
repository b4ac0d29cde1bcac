//! One item of a list, read without a member that is half of it and that few look at.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::model::kind::Kind;
use crate::model::resource_type::ResourceType;

/// Reads JSON, but for the member at a place, which is skipped as it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    skipped: &'static [&'static str],
}

impl Item {
    /// All of it.
    pub(super) const WHOLE: Self = Self { skipped: &[] };
    /// All but `metadata.managedFields`: who wrote which field.
    const UNMANAGED: Self = Self { skipped: &["metadata", "managedFields"] };

    /// What is looked at of a type: who wrote what matters of the workloads alone.
    pub(super) fn of(type_: &ResourceType) -> Self {
        if Kind::of(type_.title()).is_some() { Self::WHOLE } else { Self::UNMANAGED }
    }
}

impl<'de> DeserializeSeed<'de> for Item {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Item {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match self.skipped {
                [last] if *last == name => drop(members.next_value::<IgnoredAny>()?),
                [first, skipped @ ..] if *first == name => {
                    all.insert(name, members.next_value_seed(Self { skipped })?);
                }
                _ => drop(all.insert(name, members.next_value()?)),
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(item: Item, json: &str) -> Value {
        item.deserialize(&mut serde_json::Deserializer::from_str(json)).unwrap()
    }

    #[test]
    fn nothing_but_the_managed_fields_is_left_out() {
        let json = json!({
            "managedFields": [1, -2, 3.5, null, true, "x\n"], "spec": {"metadata": {"managedFields": 1}},
            "metadata": {"name": "a", "managedFields": [{"f:spec": {}}], "labels": {"managedFields": "b"}},
        });
        let mut unmanaged = json.clone();
        unmanaged["metadata"].as_object_mut().unwrap().remove("managedFields");
        assert_eq!(read(Item::UNMANAGED, &json.to_string()), unmanaged);
        assert_eq!(read(Item::WHOLE, &json.to_string()), json);
        for other in ["7", "-7", "1.5", "null", "true", "\"x\"", "[]", "{}", "{\"metadata\": 7}"] {
            assert_eq!(
                read(Item::UNMANAGED, other),
                serde_json::from_str::<Value>(other).unwrap(),
                "{other}"
            );
        }
    }
}
