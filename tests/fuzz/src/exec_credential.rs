//! The output of a credential plugin: it gives a credential, or an error of one line without any text of the output.

use rollout2::cluster::credential::exec_plugin::read_credential;

/// Reads one output, for a kubeconfig with and without an API version.
pub fn one(data: &[u8]) {
    for wanted in [None, Some("client.authentication.k8s.io/v1")] {
        match read_credential(data, wanted) {
            Ok(credential) => {
                assert!(credential.user.token.is_some() || credential.user.client_key_data.is_some());
                assert!(!format!("{credential:?}").contains("s3same"), "a secret in the `Debug` output");
            }
            Err(why) => {
                assert_eq!(why.lines().count(), 1, "{why}");
                assert!(why.len() < 200 && !why.contains("s3same"), "{why}");
            }
        }
    }
}
