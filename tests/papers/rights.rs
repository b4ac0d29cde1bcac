//! `krew/rbac.yaml`: its rights are sufficient for each verb, and each is necessary. Without one, the program
//! prints the text that docs/rbac.md lists.

use harness::Output;
use rollout2::cli::definition;
use serde_json::Value;

use crate::generated::root;
use crate::setup::{On, Right, run_as_user};

/// The command lines of each verb, with their clusters: every kind of workload, by name and by type.
const LINES: [(&str, &[(On, &str)]); 9] = [
    ("list", &[(On::Shop, "list"), (On::Shop, "list deploy,sts -o wide")]),
    (
        "history",
        &[
            (On::Shop, "history deployment/web"),
            (On::Shop, "history ds/agent"),
            (On::Shop, "history sts/db"),
            (On::Shop, "history all"),
        ],
    ),
    ("diff", &[(On::Shop, "diff deployment/web"), (On::Shop, "diff ds/agent"), (On::Shop, "diff sts/db")]),
    (
        "status",
        &[
            (On::Shop, "status deployment/checkout --timeout 10s"),
            (On::Shop, "status ds/agent --timeout 10s"),
            (On::Shop, "status sts/db --timeout 10s"),
            (On::Shop, "status all --timeout 10s"),
            (On::Shop, "status all --watch=false"),
            (On::CrashingSet, "status sts/db --timeout 5s"),
        ],
    ),
    (
        "undo",
        &[
            (On::Shop, "undo deployment/web"),
            (On::Shop, "undo ds/agent"),
            (On::Shop, "undo sts/db --cause x"),
            (On::Shop, "undo all"),
            (On::StuckSet, "undo sts/db --replace-stuck-pods"),
        ],
    ),
    (
        "restart",
        &[
            (On::Shop, "restart deployment/web"),
            (On::Shop, "restart ds/agent"),
            (On::Shop, "restart sts/db"),
            (On::Shop, "restart all"),
            (On::StuckSet, "restart sts/db --replace-stuck-pods"),
        ],
    ),
    (
        "pause",
        &[
            (On::Shop, "pause deployment/web"),
            (On::Shop, "pause ds/agent"),
            (On::Shop, "pause sts/db"),
            (On::Shop, "pause all"),
        ],
    ),
    (
        "resume",
        &[
            (On::PausedShop, "resume deployment/web"),
            (On::PausedShop, "resume ds/agent"),
            (On::PausedShop, "resume sts/db"),
            (On::PausedShop, "resume all"),
        ],
    ),
    (
        "step",
        &[
            (On::Changed, "step deployment/web --all --timeout 3m"),
            (On::Changed, "step sts/db --all --timeout 3m"),
            (On::Changed, "step ds/agent --all --timeout 3m"),
            (On::Changed, "step ds/agent --evict --timeout 3m"),
            (On::ChangedForTheWorse, "step sts/db --on-failure undo --timeout 3m"),
        ],
    ),
];

/// Returns the messages without a right. Without `watch` nothing is printed, since polling replaces it.
fn said_without(verb: &str, right: &Right) -> &'static [&'static str] {
    match (verb, right.verb.as_str(), right.resource.as_str()) {
        (_, "watch", _) | ("step", "list", "deployments" | "statefulsets" | "daemonsets") => &[],
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
            &["so budgets that allow no eviction are not reported before the plan begins"]
        }
        ("step", _, "nodes") => &["so nodes that are not ready are not recognised"],
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
        ("status" | "list", _, "events") => &["causes are incomplete: "],
        (_, _, "pods") => &["pods are not counted"],
        (_, _, "replicasets") => &["cannot read replicasets: forbidden"],
        (_, _, "controllerrevisions") => &["cannot read controllerrevisions: forbidden"],
        _ => &["error: forbidden: User \"gina\" cannot"],
    }
}

/// Whether a right is used only when the server has forgotten the version from which a watch continues. `step`
/// gets its workload and watches it from there, so these short runs list none.
fn is_for_an_expired_watch(verb: &str, right: &Right) -> bool {
    verb == "step"
        && right.verb == "list"
        && ["deployments", "daemonsets", "statefulsets"].contains(&right.resource.as_str())
}

/// Whether two runs had the same result. For `step` the number of restarts in the output depends on timing.
fn is_the_same(verb: &str, one: &Output, other: &Output) -> bool {
    match verb {
        "step" => (one.exit, one.stdout.lines().last()) == (other.exit, other.stdout.lines().last()),
        _ => one == other,
    }
}

/// The rights of each role, by the verb it is for.
fn roles() -> Vec<(String, Vec<Right>)> {
    let text = std::fs::read_to_string(root().join("krew/rbac.yaml")).unwrap();
    let role = |document: &str| {
        let role: Value = serde_saphyr::from_str(document).unwrap();
        assert_eq!(role["kind"], "ClusterRole");
        let name = role["metadata"]["name"].as_str().unwrap().strip_prefix("rollout2-").unwrap().to_owned();
        (
            name,
            role["rules"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|rule| is_of_kubernetes(rule))
                .flat_map(rights)
                .collect(),
        )
    };
    text.split("\n---\n").map(role).collect()
}

/// Whether a rule is about types that every server has. The clusters of these tests have no OpenKruise.
fn is_of_kubernetes(rule: &Value) -> bool {
    rule["apiGroups"][0] != "apps.kruise.io"
}

fn rights(rule: &Value) -> Vec<Right> {
    let words =
        |key: &str| rule[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let pairs = words("resources")
        .flat_map(|resource| words("verbs").map(move |verb| Right { verb, resource: resource.clone() }));
    pairs.collect()
}

fn lines_of(verb: &str) -> &'static [(On, &'static str)] {
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
        assert!(!lines_of(name).is_empty() || needs_no_role, "no line of {name} is tried in this test");
    }
}

/// The test's clock is paused.
#[tokio::test(start_paused = true)]
async fn exactly_these_rights_suffice() {
    for (verb, rights) in roles() {
        for &(on, line) in lines_of(&verb) {
            let (admin, _) = run_as_user(line, on, None).await;
            let (gina, _) = run_as_user(line, on, Some(&rights)).await;
            assert_eq!(gina, admin, "{line}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_one_right_the_documented_message_is_printed() {
    let page = std::fs::read_to_string(root().join("docs/rbac.md")).unwrap();
    let mut wrong = Vec::new();
    for (verb, rights) in roles() {
        let mut whole = Vec::new();
        for &(on, line) in lines_of(&verb) {
            whole.push((on, line, run_as_user(line, on, Some(&rights)).await));
        }
        for missing in &rights {
            let rest: Vec<Right> = rights.iter().filter(|right| *right != missing).cloned().collect();
            let said = said_without(&verb, missing);
            let (mut differs, mut unsaid, mut heard) = (false, said.to_vec(), String::new());
            for (on, line, (whole, asked)) in whole.iter().filter(|(_, _, (_, asked))| missing.is_used(asked))
            {
                let (less, asked_less) = run_as_user(line, *on, Some(&rest)).await;
                differs |= *whole != less || *asked != asked_less;
                unsaid.retain(|words| !less.stderr.contains(words));
                heard += &less.stderr;
                if said.is_empty() && !is_the_same(&verb, &less, whole) {
                    wrong.push(format!("{line} without {missing:?}: {}", less.stderr));
                }
            }
            if !differs && !is_for_an_expired_watch(&verb, missing) {
                wrong.push(format!("{verb} does not need {missing:?}"));
            }
            for words in unsaid {
                wrong.push(format!("{verb} without {missing:?} does not say {words:?}: {heard}"));
            }
            for words in said.iter().filter(|words| !page.contains(&words.replace("gina", "..."))) {
                wrong.push(format!("docs/rbac.md does not list {words:?}"));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
