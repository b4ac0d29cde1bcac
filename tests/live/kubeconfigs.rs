//! The choice of the kubeconfig, and its format.

use harness::Run;
use serde_json::json;

use crate::setup::{Ground, directory, file};

const HISTORY: [&str; 2] = ["history", "deployment/web"];

#[tokio::test]
async fn missing_files_of_the_list_are_skipped_and_the_first_value_wins() {
    let (first, second) = (Ground::of("shop"), Ground::of("shop"));
    let [one, two] = [&first, &second].map(|ground| file("config", &ground.kubeconfig().to_string()));
    let list = format!("/does/not/exist:{}:{}:", one.display(), two.display());
    let ended = Run::of(HISTORY).env("KUBECONFIG", list).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!((first.lines().len(), second.lines().len()), (3, 0));
}

#[tokio::test]
async fn the_default_kubeconfig_is_read_unless_the_variable_is_set() {
    let ground = Ground::of("shop");
    let home = directory();
    std::fs::create_dir(home.join(".kube")).unwrap();
    std::fs::write(home.join(".kube/config"), ground.kubeconfig().to_string()).unwrap();
    assert_eq!(Run::of(HISTORY).env("HOME", &home).run_here().await.exit, 0);
    assert_eq!(ground.lines().len(), 3);
    let ended = Run::of(HISTORY).env("HOME", &home).env("KUBECONFIG", "/does/not/exist").run_here().await;
    assert!(ended.stderr.contains("no cluster is configured"), "{}", ended.stderr);
}

#[tokio::test]
async fn paths_in_a_kubeconfig_are_relative_to_it() {
    let ground = Ground::of("shop");
    let home = directory();
    let (certificate, key) = ground.served.client_certificate("admin").unwrap();
    for (name, text) in
        [("ca.crt", ground.served.authority_certificate()), ("me.crt", certificate), ("me.key", key)]
    {
        std::fs::write(home.join(name), text).unwrap();
    }
    let mut kubeconfig = ground.kubeconfig();
    kubeconfig["clusters"][0]["cluster"] = json!({"server": ground.served.url(), "certificate-authority": "ca.crt", "certificate-authority-data": ""});
    kubeconfig["users"][0]["user"] =
        json!({"client-certificate": "me.crt", "client-key": "./me.key", "token": ""});
    std::fs::write(home.join("config"), kubeconfig.to_string()).unwrap();
    let ended = Run::of(HISTORY).env("KUBECONFIG", home.join("config")).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
}

#[tokio::test]
async fn the_newline_of_a_token_file_is_removed() {
    let ground = Ground::of("shop");
    let token = file("token", "first\n");
    let mut kubeconfig = ground.kubeconfig();
    kubeconfig["users"][0]["user"] = json!({"tokenFile": token});
    ground.cluster.users(|users| users.grant_token("first", "admin", None));
    let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(ground.cluster.requests()[0].header("authorization"), "Bearer first");

    ground.cluster.forget_requests();
    kubeconfig["users"][0]["user"]["token"] = json!("stale");
    let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "the file wins over the token beside it");
    assert_eq!(ground.cluster.requests()[0].header("authorization"), "Bearer first");

    std::fs::remove_file(token).unwrap();
    kubeconfig["users"][0]["user"]["token"] = json!("first");
    let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "the token serves where there is no file");

    kubeconfig["users"][0]["user"].as_object_mut().unwrap().remove("token");
    let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
    assert!(ended.stderr.starts_with("error: cannot read the token file"), "{}", ended.stderr);
    assert_eq!(ended.exit, 1);
}

#[tokio::test]
async fn an_invalid_kubeconfig_is_a_one_line_file_error() {
    for text in ["{", "clusters: 7", "- a\n- b", "\u{0}"] {
        let ended = Run::of(HISTORY).env("KUBECONFIG", file("config", text)).run_here().await;
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", 2), "{text}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{text}: {}", ended.stderr);
    }
    for (flag, hint) in
        [("--context", "get-contexts"), ("--cluster", "get-clusters"), ("--user", "get-users")]
    {
        let ended = Ground::of("shop").run(HISTORY).arg(flag).arg("nope").run_here().await;
        assert!(ended.stderr.contains("\"nope\"") && ended.stderr.contains(hint), "{}", ended.stderr);
        assert_eq!(ended.exit, 2);
    }
    let ended = Run::of(HISTORY).arg("--kubeconfig").arg("/does/not/exist").run_here().await;
    assert!(ended.stderr.contains("/does/not/exist does not exist"), "{}", ended.stderr);
}

#[tokio::test]
async fn removed_auth_providers_are_refused_with_a_hint() {
    let ground = Ground::of("shop");
    for (provider, hint) in
        [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin"), ("magic", "users[].user.exec")]
    {
        let mut kubeconfig = ground.kubeconfig();
        kubeconfig["users"][0]["user"] = json!({"auth-provider": {"name": provider}});
        let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
        assert_eq!(ended.exit, 1);
    }
}

#[tokio::test]
async fn an_oidc_token_is_sent() {
    let ground = Ground::of("shop");
    // {"alg":"none"} . {"exp":4102444800} . nothing
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.";
    ground.cluster.users(|users| users.grant_token(token, "admin", None));
    let mut kubeconfig = ground.kubeconfig();
    kubeconfig["users"][0]["user"] =
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}});
    let ended = crate::setup::run_with(&kubeconfig, HISTORY).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(ground.cluster.requests()[0].header("authorization"), format!("Bearer {token}"));
}
