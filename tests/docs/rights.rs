//! `krew/rbac.yaml`: its rights are sufficient for each verb, and each is necessary. Without one, the program
//! prints the text that docs/rbac.md lists.

use harness::prelude::*;
use rollout2::cli::definition;

use crate::docs::generated::root;
use crate::docs::setup::{Right, TestedCluster, run_as_user};

/// The command lines of each verb, with their clusters: every kind of workload, by name and by type.
const LINES: [(&str, &[(TestedCluster, &str)]); 10] = [
    (
        "list",
        &[
            (TestedCluster::Shop, "list"),
            (TestedCluster::Shop, "list deploy,sts -o wide"),
            (TestedCluster::Shop, "list --watch --timeout 5s"),
            (TestedCluster::Kruise, "list"),
            (TestedCluster::Kruise, "list clonesets,asts,ads --watch --timeout 5s"),
        ],
    ),
    (
        "history",
        &[
            (TestedCluster::Shop, "history deployment/web"),
            (TestedCluster::Shop, "history ds/agent"),
            (TestedCluster::Shop, "history sts/db"),
            (TestedCluster::Shop, "history all"),
            (TestedCluster::Shop, "history --since 1h"),
            (TestedCluster::Shop, "history deployment/checkout --since 1h"),
            (TestedCluster::Kruise, "history cloneset/web"),
            (TestedCluster::Kruise, "history asts/db"),
            (TestedCluster::Kruise, "history ads/agent"),
            (TestedCluster::Kruise, "history all"),
        ],
    ),
    (
        "diff",
        &[
            (TestedCluster::Shop, "diff deployment/web"),
            (TestedCluster::Shop, "diff ds/agent"),
            (TestedCluster::Shop, "diff sts/db"),
            (TestedCluster::Kruise, "diff cloneset/web"),
            (TestedCluster::Kruise, "diff asts/db"),
            (TestedCluster::Kruise, "diff ads/agent"),
        ],
    ),
    (
        "preview",
        &[
            (TestedCluster::Shop, "preview --applied tests/data/preview/shop.json"),
            (TestedCluster::Kruise, "preview --applied tests/data/preview/kruise.json"),
        ],
    ),
    (
        "status",
        &[
            (TestedCluster::Shop, "status deployment/checkout --timeout 10s"),
            (TestedCluster::Shop, "status ds/agent --timeout 10s"),
            (TestedCluster::Shop, "status sts/db --timeout 10s"),
            (TestedCluster::Shop, "status all --timeout 10s"),
            (TestedCluster::Shop, "status all --watch=false"),
            (TestedCluster::CrashingSet, "status sts/db --timeout 5s"),
            (TestedCluster::Kruise, "status cloneset/web --timeout 10s"),
            (TestedCluster::Kruise, "status asts/db --timeout 10s"),
            (TestedCluster::Kruise, "status ads/agent --timeout 10s"),
            (TestedCluster::Kruise, "status all --watch=false"),
        ],
    ),
    (
        "undo",
        &[
            (TestedCluster::Shop, "undo deployment/web"),
            (TestedCluster::Shop, "undo ds/agent"),
            (TestedCluster::Shop, "undo sts/db --cause x"),
            (TestedCluster::Shop, "undo all --yes"),
            (TestedCluster::StuckSet, "undo sts/db --replace-stuck-pods"),
            (TestedCluster::Kruise, "undo cloneset/web"),
            (TestedCluster::Kruise, "undo asts/db"),
            (TestedCluster::Kruise, "undo ads/agent"),
            (TestedCluster::Kruise, "undo all --yes"),
        ],
    ),
    (
        "restart",
        &[
            (TestedCluster::Shop, "restart deployment/web"),
            (TestedCluster::Shop, "restart ds/agent"),
            (TestedCluster::Shop, "restart sts/db"),
            (TestedCluster::Shop, "restart all"),
            (TestedCluster::StuckSet, "restart sts/db --replace-stuck-pods"),
            (TestedCluster::Kruise, "restart cloneset/web"),
            (TestedCluster::Kruise, "restart asts/db"),
            (TestedCluster::Kruise, "restart ads/agent"),
            (TestedCluster::Kruise, "restart all"),
        ],
    ),
    (
        "pause",
        &[
            (TestedCluster::Shop, "pause deployment/web"),
            (TestedCluster::Shop, "pause ds/agent"),
            (TestedCluster::Shop, "pause sts/db"),
            (TestedCluster::Shop, "pause all"),
            (TestedCluster::Kruise, "pause cloneset/web"),
            (TestedCluster::Kruise, "pause asts/db"),
            (TestedCluster::Kruise, "pause ads/agent"),
            (TestedCluster::Kruise, "pause all"),
        ],
    ),
    (
        "resume",
        &[
            (TestedCluster::PausedShop, "resume deployment/web"),
            (TestedCluster::PausedShop, "resume ds/agent"),
            (TestedCluster::PausedShop, "resume sts/db"),
            (TestedCluster::PausedShop, "resume all"),
            (TestedCluster::LostPlan, "resume deployment/web --release-all"),
            (TestedCluster::PausedKruise, "resume cloneset/web"),
            (TestedCluster::PausedKruise, "resume asts/db"),
            (TestedCluster::PausedKruise, "resume ads/agent"),
            (TestedCluster::PausedKruise, "resume all"),
        ],
    ),
    (
        "step",
        &[
            (TestedCluster::Changed, "step deployment/web --all --timeout 3m"),
            (TestedCluster::Changed, "step sts/db --all --timeout 3m"),
            (TestedCluster::Changed, "step ds/agent --all --timeout 3m"),
            (TestedCluster::Changed, "step ds/agent --evict --timeout 3m"),
            (TestedCluster::ChangedToCrash, "step sts/db --on-failure undo --timeout 3m"),
            (TestedCluster::ChangedKruise, "step cloneset/web --all --timeout 3m"),
            (TestedCluster::ChangedKruise, "step asts/db --all --timeout 3m"),
            (TestedCluster::ChangedKruise, "step ads/agent --all --timeout 3m"),
        ],
    ),
];

/// Returns the messages without a right. Without `watch` nothing is printed, since polling replaces it.
fn messages_without(verb: &str, right: &Right) -> &'static [&'static str] {
    match (verb, right.verb.as_str(), right.resource.as_str()) {
        (_, "watch", _) => &[],
        _ if is_for_an_expired_watch(verb, right) => &[],
        (verb, "list", kind) if verb != "list" && kind.ends_with(".apps.kruise.io") => {
            &["note: forbidden: User \"gina\" cannot"]
        }
        ("undo" | "restart", "delete", "pods") => &["was not deleted: forbidden"],
        ("undo", "patch", "controllerrevisions") => &["cannot record the change-cause on"],
        ("step", "list", "pods") => &["cannot be stepped without its pods"],
        ("step", "list", "replicasets" | "controllerrevisions") => {
            &["cannot be stepped without its revisions"]
        }
        ("step", "delete", "pods") => {
            &["was not deleted: forbidden", "error: forbidden: User \"gina\" cannot"]
        }
        ("step", _, "poddisruptionbudgets") => {
            &["budgets that allow no eviction are not reported before the plan begins"]
        }
        ("step", _, "horizontalpodautoscalers") => &[],
        ("step", _, "nodes") => &["nodes that are not ready are not recognised"],
        ("step", _, "events") => &["causes are incomplete: cannot list"],
        ("list", _, "replicasets" | "controllerrevisions") => {
            &["status is based on the counters of the workload only"]
        }
        ("status", _, "replicasets" | "controllerrevisions") => {
            &["status is based on the counters of the workload only", "causes are incomplete: cannot list"]
        }
        ("status", _, "pods") => &["causes in pods are not shown", "causes are incomplete: cannot list"],
        ("status" | "step", _, "pods/log") => &["container logs are not shown: cannot read logs"],
        ("list", _, "pods") => &["causes in pods are not shown"],
        ("status" | "list" | "history" | "undo" | "restart", _, "events") => &["causes are incomplete: "],
        ("history", _, "configmaps") => &["changes of ConfigMaps and Secrets are not listed"],
        ("history", _, "pods") => &["pods are not counted", "causes in pods are not shown"],
        (_, _, "pods") => &["pods are not counted"],
        (_, _, "replicasets") => &["cannot read replicasets: forbidden"],
        (_, _, "controllerrevisions") => &["cannot read controllerrevisions: forbidden"],
        _ => &["error: forbidden: User \"gina\" cannot"],
    }
}

/// Whether a right is needed only after the resource version of a watch expired. `step` gets its workload and watches it
/// from that version, so these short runs send no list request.
fn is_for_an_expired_watch(verb: &str, right: &Right) -> bool {
    let plural = right.resource.trim_end_matches(".apps.kruise.io");
    let is_workload = ["deployments", "daemonsets", "statefulsets", "clonesets"].contains(&plural);
    verb == "step" && right.verb == "list" && is_workload
}

/// Whether two runs had the same result. For `step` the number of restarts in the output depends on timing.
fn is_the_same(verb: &str, one: &Output, other: &Output) -> bool {
    match verb {
        "step" => (one.exit, one.stdout.lines().last()) == (other.exit, other.stdout.lines().last()),
        _ => one == other,
    }
}

/// Returns the rights of the role of each verb.
fn roles() -> Vec<(String, Vec<Right>)> {
    let text = std::fs::read_to_string(root().join("krew/rbac.yaml")).unwrap();
    let role = |document: &str| {
        let role: Value = serde_saphyr::from_str(document).unwrap();
        assert_eq!(role["kind"], "ClusterRole");
        let name = role["metadata"]["name"].as_str().unwrap().strip_prefix("rollout2-").unwrap().to_owned();
        (name, role["rules"].as_array().unwrap().iter().flat_map(rights).collect())
    };
    text.split("\n---\n").map(role).collect()
}

/// Returns the rights of a rule. The resources of OpenKruise have the names of others, so they get their group.
fn rights(rule: &Value) -> Vec<Right> {
    let values =
        |key: &str| rule[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let group = match values("apiGroups").next().unwrap().as_str() {
        "apps.kruise.io" => ".apps.kruise.io",
        _ => "",
    };
    let resources = values("resources").map(|resource| resource + group);
    let pairs = resources
        .flat_map(|resource| values("verbs").map(move |verb| Right { verb, resource: resource.clone() }));
    pairs.collect()
}

fn lines_of(verb: &str) -> &'static [(TestedCluster, &'static str)] {
    LINES.iter().find(|(name, _)| *name == verb).map_or(&[], |(_, lines)| lines)
}

#[test]
fn every_verb_has_a_role_and_a_test() {
    let roles = roles();
    for verb in definition().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = verb.get_name();
        // Completion reads what the other verbs read, and prints no errors. `version` reads nothing.
        let needs_no_role = ["completion", "version"].contains(&name);
        let has_role = roles.iter().any(|(role, _)| role == name);
        assert!(has_role || needs_no_role, "krew/rbac.yaml has no role rollout2-{name}");
        assert!(!lines_of(name).is_empty() || needs_no_role, "no command line of {name} is tested here");
    }
}

/// Leaves out what only a user who may read Secrets and the like is told, and that Secrets cannot be read. No role has
/// these rights (docs/rbac.md).
fn without_names(mut output: Output) -> Output {
    let of_rights = [" cannot start: the template names ", "note: changes of Secrets are not listed: "];
    for text in [&mut output.stderr, &mut output.transcript] {
        let lines = text.split_inclusive('\n');
        *text = lines.filter(|line| !of_rights.iter().any(|words| line.contains(words))).collect();
    }
    output
}

/// The clock of the test is paused.
#[tokio::test(start_paused = true)]
async fn the_rights_of_a_role_are_sufficient() {
    for (verb, rights) in roles() {
        for &(cluster, line) in lines_of(&verb) {
            let admin = without_names(run_as_user(line, cluster, None).await.0);
            let (gina, _) = run_as_user(line, cluster, Some(&rights)).await;
            assert_eq!(without_names(gina), admin, "{line}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_right_the_documented_message_is_printed() {
    let page = std::fs::read_to_string(root().join("docs/rbac.md")).unwrap();
    let mut wrong = Vec::new();
    for (verb, rights) in roles() {
        let mut whole = Vec::new();
        for &(cluster, line) in lines_of(&verb) {
            whole.push((cluster, line, run_as_user(line, cluster, Some(&rights)).await));
        }
        for missing in &rights {
            let rest: Vec<Right> = rights.iter().filter(|right| *right != missing).cloned().collect();
            let messages = messages_without(&verb, missing);
            let (mut differs, mut missing_messages, mut printed) = (false, messages.to_vec(), String::new());
            for (cluster, line, (whole, requests)) in
                whole.iter().filter(|(_, _, (_, requests))| missing.is_used(requests))
            {
                let (less, fewer_requests) = run_as_user(line, *cluster, Some(&rest)).await;
                differs |= *whole != less || *requests != fewer_requests;
                differs |= missing.resource == "horizontalpodautoscalers"; // a warning is left out silently
                missing_messages.retain(|message| !less.stderr.contains(message));
                printed += &less.stderr;
                if differs && missing_messages.is_empty() && !messages.is_empty() {
                    break; // other command lines would print the same messages
                }
                if messages.is_empty() && !is_the_same(&verb, &less, whole) {
                    wrong.push(format!("{line} without {missing:?}: {}", less.stderr));
                }
            }
            if !differs && !is_for_an_expired_watch(&verb, missing) {
                wrong.push(format!("{verb} does not need {missing:?}"));
            }
            for message in missing_messages {
                wrong.push(format!("{verb} without {missing:?} does not print {message:?}: {printed}"));
            }
            for message in messages.iter().filter(|message| !page.contains(&message.replace("gina", "..."))) {
                wrong.push(format!("docs/rbac.md does not list {message:?}"));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
