//! kubectl's preferences say which credential plugins may run.

use std::path::PathBuf;

use harness::prelude::*;

use harness::files::{directory, file, program};

/// A server, a plugin that prints a valid token, and the directory of the plugin.
struct Plugin {
    server: Cluster,
    path: PathBuf,
}

impl Plugin {
    fn new() -> Self {
        let server = Cluster::recorded("shop").served();
        server.sim.users(|users| users.grant_token("brought", "admin"));
        let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": {"token": "brought"}});
        Self { server, path: program("cloud-login", &format!("echo '{credential}'")) }
    }

    /// Runs a command whose plugin is `cloud-login`, by its path or in `$PATH`.
    async fn run(&self, by_path: bool, args: &[&str], environment: &[(&str, &str)]) -> Output {
        let command =
            if by_path { self.path.to_string_lossy().into_owned() } else { "cloud-login".to_owned() };
        let mut kubeconfig = self.server.kubeconfig();
        kubeconfig["users"][0]["user"] = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "command": command, "interactiveMode": "Never"}});
        let search = format!("{}:/usr/bin:/bin", self.path.parent().unwrap().display());
        let run =
            Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig).args(args).env("PATH", search);
        environment.iter().fold(run, |run, (name, value)| run.env(*name, *value)).run_async().await
    }
}

/// Returns a file of preferences with these lines.
fn kuberc(lines: &str) -> String {
    let text = format!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n{lines}");
    file("kuberc", &text).display().to_string()
}

#[tokio::test]
async fn the_policy_of_the_preferences_is_followed() {
    let plugin = Plugin::new();
    let path = plugin.path.display();
    let list =
        |entry: &str| format!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{entry}]");
    for (lines, allowed) in [
        ("aliases: []", [true, true]),
        ("credentialPluginPolicy: AllowAll", [true, true]),
        ("credentialPluginPolicy: DenyAll", [false, false]),
        ("credentialPluginPolicy: Sometimes", [false, false]),
        ("credentialPluginPolicy: 7", [false, false]),
        ("credentialPluginPolicy: Allowlist", [false, false]),
        ("credentialPluginAllowlist: [{name: cloud-login}]", [false, false]),
        (&list("{name: cloud-login}"), [true, true]),
        (&list(&format!("{{name: {path}}}")), [true, true]),
        (&list(&format!("{{name: other}}, {{command: {path}}}")), [true, true]),
        (&list(&format!("{{name: other, command: {path}}}")), [false, false]),
        (&list("{name: ''}, {}, other, {name: login}, {name: /bin/cloud-login}"), [false, false]),
    ] {
        let kuberc = kuberc(lines);
        for (by_path, allowed) in [true, false].into_iter().zip(allowed) {
            let output = plugin.run(by_path, &["--kuberc", &kuberc], &[]).await;
            assert_eq!(output.exit, u8::from(!allowed), "{lines}: {}", output.stderr);
            let reason = format!("is not allowed by {kuberc}: ");
            assert_eq!(output.stderr.contains(&reason), !allowed, "{lines}: {}", output.stderr);
        }
    }
}

#[tokio::test]
async fn the_preferences_are_those_of_kubectl() {
    let plugin = Plugin::new();
    let home = directory();
    std::fs::create_dir(home.join(".kube")).unwrap();
    let deny = kuberc("credentialPluginPolicy: DenyAll");
    let allow = kuberc("");
    let home = home.to_str().unwrap();
    // No file is no policy.
    plugin.run(true, &[], &[("HOME", home)]).await.ends(0);
    std::fs::copy(&deny, format!("{home}/.kube/kuberc")).unwrap();
    for (args, environment, exit) in [
        (&[][..], &[("HOME", home)][..], 1),
        (&[], &[("HOME", home), ("KUBERC", &allow)], 0),
        (&[], &[("HOME", home), ("KUBERC", "off")], 0),
        (&[], &[("HOME", home), ("KUBECTL_KUBERC", "false")], 0),
        (&["--kuberc", "off"], &[("HOME", home)], 0),
        (&[], &[("KUBERC", &deny)], 1),
        (&["--kuberc", &allow], &[("KUBERC", &deny)], 0),
        (&["--kuberc", "/does/not/exist"], &[], 2),
        (&[], &[("KUBERC", "/does/not/exist")], 2),
    ] {
        let output = plugin.run(true, args, environment).await;
        assert_eq!(output.exit, exit, "{args:?} {environment:?}: {}", output.stderr);
    }
    // Without a plugin the file is not read.
    let run = plugin.server.command(["history", "deployment/web"]).env("KUBERC", "/does/not/exist");
    run.run_async().await.ends(0);
}
