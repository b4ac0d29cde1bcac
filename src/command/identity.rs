//! The identity of this process in a lease, and the user's name in annotations.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::model::step::Identity;
use crate::world::Environment;

/// Returns a unique identity for one run, for the holder of a lease.
///
/// The 128 random bits come from the keys of two hashers of the standard library.
pub(super) fn identity(by: Option<&str>) -> Identity {
    let random = || RandomState::new().hash_one("kubectl-rollout2");
    Identity { holder: format!("{:016x}{:016x}", random(), random()), by: by.map(str::to_owned) }
}

/// Returns `USER@HOST` from the environment: `ada@laptop`. One of the two may be missing.
pub(super) fn user_at_host(environment: &Environment, host: Option<&str>) -> Option<String> {
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
    fn a_missing_user_or_host_is_left_out() {
        for (variables, host, name) in [
            (&[("USER", "ada"), ("HOSTNAME", "laptop")][..], None, Some("ada@laptop")),
            (&[("USER", "ada")], Some("box"), Some("ada@box")),
            (&[("LOGNAME", "ada")], None, Some("ada")),
            (&[], Some("pod-7"), Some("pod-7")),
            (&[], None, None),
        ] {
            let environment: Environment = variables.iter().copied().collect();
            assert_eq!(user_at_host(&environment, host).as_deref(), name);
        }
    }
}
