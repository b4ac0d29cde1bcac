//! Who we are, to others and to people.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::model::step::Identity;
use crate::world::Environment;

/// The identity of one run: no other has it, in this process or elsewhere.
///
/// The standard library's hashers have random keys from the system; two of them make 128 bits of it.
pub(super) fn identity(by: Option<&str>) -> Identity {
    let random = || RandomState::new().hash_one("kubectl-rollout2");
    Identity { holder: format!("{:016x}{:016x}", random(), random()), by: by.map(str::to_owned) }
}

/// `ada@laptop`, as far as the world tells.
pub(super) fn somebody(environment: &Environment, host: Option<&str>) -> Option<String> {
    let user = environment.text("USER").or(environment.text("LOGNAME")).or(environment.text("USERNAME"));
    let host = environment.text("HOSTNAME").or(host);
    match (user, host) {
        (Some(user), Some(host)) => Some(format!("{user}@{host}")),
        (Some(user), None) => Some(user.to_owned()),
        (None, host) => host.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_have_the_same_identity() {
        let (one, other) = (identity(None), identity(None));
        assert_ne!(one.holder, other.holder);
        assert_eq!(one.holder.len(), 32);
    }

    #[test]
    fn people_are_named_as_far_as_the_world_tells() {
        for (variables, host, name) in [
            (&[("USER", "ada"), ("HOSTNAME", "laptop")][..], None, Some("ada@laptop")),
            (&[("USER", "ada")], Some("box"), Some("ada@box")),
            (&[("LOGNAME", "ada")], None, Some("ada")),
            (&[], Some("pod-7"), Some("pod-7")),
            (&[], None, None),
        ] {
            let environment: Environment = variables.iter().copied().collect();
            assert_eq!(somebody(&environment, host).as_deref(), name);
        }
    }
}
