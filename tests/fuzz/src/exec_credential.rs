//! What a credential plugin prints: a credential, or a reason in one line that repeats nothing of it.

use rollout2::cluster::credential::exec_credential::read;

/// One output, for a kubeconfig that names a version and one that does not.
pub fn one(data: &[u8]) {
    for wanted in [None, Some("client.authentication.k8s.io/v1")] {
        match read(data, wanted) {
            Ok(credential) => {
                assert!(credential.token.is_some() || credential.identity.is_some());
                assert!(!format!("{credential:?}").contains("s3same"), "a secret in a debug dump");
            }
            Err(why) => {
                assert_eq!(why.lines().count(), 1, "{why}");
                assert!(why.len() < 200 && !why.contains("s3same"), "{why}");
            }
        }
    }
}
