//! Proportional scaling of several sets during a rollout.

use serde_json::Value;

use super::annotations;
use super::size::max_surge;
use crate::controller::count;
use crate::controller::owner::age_order;

/// Returns the new sizes of `sets`, which have `allowed` pods in total, with the index of each set in the order of
/// the writes.
///
/// Each set gets its share of the pods to add or remove. The largest set gets the remainder.
pub(super) fn proportional_sizes(deployment: &Value, sets: &[&Value], allowed: i64) -> Vec<(usize, i64)> {
    let total: i64 = sets.iter().map(|set| count::wanted(set)).sum();
    let to_add = allowed - total;
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_by(|one, other| {
        let (one, other) = (sets[*one], sets[*other]);
        let by_size = count::wanted(other).cmp(&count::wanted(one));
        let by_age = age_order(one).cmp(&age_order(other));
        by_size.then(if to_add > 0 { by_age.reverse() } else { by_age })
    });
    let mut added = 0;
    let mut sizes: Vec<(usize, i64)> = Vec::new();
    for place in order {
        let share = share(deployment, sets[place], to_add, added);
        added += share;
        sizes.push((place, count::wanted(sets[place]) + share));
    }
    if let Some((_, largest)) = sizes.first_mut() {
        *largest = (*largest + to_add - added).max(0);
    }
    sizes
}

/// Returns the part of `to_add` for a set, when `added` of it has been distributed.
fn share(deployment: &Value, set: &Value, to_add: i64, added: i64) -> i64 {
    if count::wanted(set) == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let fraction = fraction(deployment, set);
    if to_add > 0 { fraction.min(to_add - added) } else { fraction.max(to_add - added) }
}

/// Returns how much a set grows if it keeps its share of the maximum number of pods.
fn fraction(deployment: &Value, set: &Value) -> i64 {
    let (wanted, size) = (count::wanted(deployment), count::wanted(set));
    if wanted == 0 {
        return -size;
    }
    let noted: i64 = annotations::get(set, annotations::MAXIMUM).parse().unwrap_or(0);
    let before = if noted == 0 { count::status(deployment, "replicas") } else { noted };
    if before == 0 {
        return 0;
    }
    let exact = size * (wanted + max_surge(deployment));
    // Rounds half up.
    (2 * exact + before).div_euclid(2 * before) - size
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(replicas: i64, surge: i64) -> Value {
        let rolling = json!({ "maxSurge": surge, "maxUnavailable": 0 });
        json!({ "spec": { "replicas": replicas, "strategy": { "type": "RollingUpdate", "rollingUpdate": rolling } } })
    }

    fn set(name: &str, replicas: i64, maximum: i64) -> Value {
        let annotations = json!({ annotations::MAXIMUM: maximum.to_string() });
        json!({ "metadata": { "name": name, "creationTimestamp": name, "annotations": annotations }, "spec": { "replicas": replicas } })
    }

    fn scaled(deployment: &Value, sizes: &[i64], maximum: i64) -> Vec<i64> {
        let names = ["a", "b", "c"];
        let sets: Vec<Value> =
            sizes.iter().zip(names).map(|(size, name)| set(name, *size, maximum)).collect();
        let allowed =
            count::wanted(deployment) + if count::wanted(deployment) > 0 { max_surge(deployment) } else { 0 };
        let mut shared = proportional_sizes(deployment, &sets.iter().collect::<Vec<_>>(), allowed);
        shared.sort_unstable();
        shared.into_iter().map(|(_, size)| size).collect()
    }

    /// Rows of Kubernetes' `TestScale`: the oldest set stands first.
    #[test]
    fn pods_are_shared_in_proportion() {
        assert_eq!(scaled(&deployment(12, 0), &[5, 5], 10), [6, 6]);
        assert_eq!(scaled(&deployment(6, 0), &[5, 5], 10), [3, 3]);
        assert_eq!(scaled(&deployment(20, 0), &[8, 2], 10), [16, 4]);
        assert_eq!(scaled(&deployment(5, 0), &[7, 3], 10), [3, 2]);
        assert_eq!(scaled(&deployment(0, 0), &[5, 5], 10), [0, 0]);
        assert_eq!(scaled(&deployment(0, 3), &[5, 3], 13), [0, 0]);
    }

    #[test]
    fn the_rounding_remainder_goes_to_the_largest() {
        assert_eq!(scaled(&deployment(11, 0), &[5, 5], 10), [5, 6], "the newer of two equals");
        assert_eq!(scaled(&deployment(5, 0), &[5, 5], 10), [2, 3], "the older of two equals loses first");
    }
}
