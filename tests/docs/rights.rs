//! `krew/rbac.yaml`: its rights are sufficient for each verb, and each is necessary. Without one, the program
//! prints the text that docs/rbac.md lists.

use harness::prelude::*;
use rollout2::cli::definition;

use crate::docs::generated::root;
use crate::docs::setup::TestedCluster::{
    self, Changed, ChangedKruise, ChangedToCrash, CrashingSet, Kruise, LostPlan, Migration, PausedKruise,
    PausedShop, Shop, StuckSet,
};
use crate::docs::setup::{Right, run_as_user};

/// The arguments of each verb, separated by semicolons, with their clusters: every kind of workload, by name and by type.
const LINES: [(&str, TestedCluster, &str); 27] = [
    ("list", Shop, "; deploy,sts -o wide; --watch --timeout 5s"),
    ("list", Kruise, "; clonesets,asts,ads --watch --timeout 5s"),
    ("list", Migration, "jobs; jobs --watch --timeout 5s"),
    ("history", Shop, "deployment/web; ds/agent; sts/db; all; --since 1h; deployment/checkout --since 1h"),
    ("history", Kruise, "cloneset/web; asts/db; ads/agent; all"),
    ("diff", Shop, "deployment/web; ds/agent; sts/db"),
    ("diff", Kruise, "cloneset/web; asts/db; ads/agent"),
    ("preview", Shop, "-f tests/data/preview/shop.json"),
    ("preview", Kruise, "-f tests/data/preview/kruise.json"),
    (
        "status",
        Shop,
        "deployment/checkout --timeout 10s; ds/agent --timeout 10s; sts/db --timeout 10s; all --timeout 10s; \
         all --watch=false",
    ),
    ("status", CrashingSet, "sts/db --timeout 5s"),
    ("status", Migration, "job/migrate --timeout 5s; jobs --timeout 5s"),
    (
        "status",
        Kruise,
        "cloneset/web --timeout 10s; asts/db --timeout 10s; ads/agent --timeout 10s; all --watch=false",
    ),
    ("undo", Shop, "deployment/web; ds/agent; sts/db --cause x; all --yes"),
    ("undo", StuckSet, "sts/db --replace-stuck-pods"),
    ("undo", Kruise, "cloneset/web; asts/db; ads/agent; all --yes"),
    ("restart", Shop, "deployment/web; ds/agent; sts/db; all"),
    ("restart", StuckSet, "sts/db --replace-stuck-pods"),
    ("restart", Kruise, "cloneset/web; asts/db; ads/agent; all"),
    ("pause", Shop, "deployment/web; ds/agent; sts/db; all"),
    ("pause", Kruise, "cloneset/web; asts/db; ads/agent; all"),
    ("resume", PausedShop, "deployment/web; ds/agent; sts/db; all"),
    ("resume", LostPlan, "deployment/web --release-all"),
    ("resume", PausedKruise, "cloneset/web; asts/db; ads/agent; all"),
    (
        "step",
        Changed,
        "deployment/web --all --timeout 3m; sts/db --all --timeout 3m; ds/agent --all --timeout 3m; \
         ds/agent --evict --timeout 3m",
    ),
    ("step", ChangedToCrash, "sts/db --on-failure undo --timeout 3m"),
    (
        "step",
        ChangedKruise,
        "cloneset/web --all --timeout 3m; asts/db --all --timeout 3m; ads/agent --all --timeout 3m",
    ),
];

/// Defines a test of each role.
macro_rules! roles {
    ($($verb:ident)*) => {
        const TESTED: [&str; 10] = [$(stringify!($verb)),*];
        $(
            #[tokio::test(start_paused = true)]
            async fn $verb() {
                has_the_right_rights(stringify!($verb)).await;
            }
        )*
    };
}

roles!(list history diff preview status undo restart pause resume step);

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

fn lines_of(verb: &str) -> Vec<(TestedCluster, String)> {
    let of_verb = LINES.iter().filter(|(name, ..)| *name == verb);
    let lines = of_verb.flat_map(|(verb, cluster, lines)| {
        lines.split(';').map(move |args| (*cluster, format!("{verb} {}", args.trim()).trim().to_owned()))
    });
    lines.collect()
}

#[test]
fn every_verb_has_a_role_and_a_test() {
    let roles = roles();
    for verb in definition().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = verb.get_name();
        // Completion reads what the other verbs read, and prints no errors. `explain` and `version` read nothing.
        let needs_no_role = ["completion", "explain", "version"].contains(&name);
        let has_role = roles.iter().any(|(role, _)| role == name);
        assert!(has_role || needs_no_role, "krew/rbac.yaml has no role rollout2-{name}");
        assert!(TESTED.contains(&name) || needs_no_role, "the role of {name} is not tested here");
    }
}

/// Leaves out what only a user who may read Secrets and the like is told, and that they cannot be read. No role has these
/// rights (docs/rbac.md).
fn without_names(mut output: Output) -> Output {
    let of_rights = [
        " cannot start: the template names ",
        " could not be checked: no right to read ",
        "note: changes of Secrets are not listed: ",
    ];
    for text in [&mut output.stderr, &mut output.transcript] {
        let lines = text.split_inclusive('\n');
        *text = lines.filter(|line| !of_rights.iter().any(|words| line.contains(words))).collect();
    }
    output
}

/// With the rights of its role each command line of a verb does what it does for an administrator. Without any of them, one
/// of these lines prints the documented messages.
async fn has_the_right_rights(verb: &str) {
    let rights = roles().into_iter().find(|(role, _)| role == verb).unwrap().1;
    let mut whole = Vec::new();
    for (cluster, line) in lines_of(verb) {
        let (output, requests) = run_as_user(&line, cluster, Some(&rights)).await;
        let admin = without_names(run_as_user(&line, cluster, None).await.0);
        assert_eq!(without_names(output.clone()), admin, "{line}");
        whole.push((cluster, line, output, requests));
    }
    let page = std::fs::read_to_string(root().join("docs/rbac.md")).unwrap();
    let mut wrong = Vec::new();
    for missing in &rights {
        let rest: Vec<Right> = rights.iter().filter(|right| *right != missing).cloned().collect();
        let messages = messages_without(verb, missing);
        let (mut differs, mut missing_messages, mut printed) = (false, messages.to_vec(), String::new());
        for (cluster, line, output, requests) in
            whole.iter().filter(|(.., requests)| missing.is_used(requests))
        {
            let (less, fewer_requests) = run_as_user(line, *cluster, Some(&rest)).await;
            differs |= *output != less || *requests != fewer_requests;
            missing_messages.retain(|message| !less.stderr.contains(message));
            printed += &less.stderr;
            if differs && missing_messages.is_empty() && !messages.is_empty() {
                break; // other command lines would print the same messages
            }
            if messages.is_empty() && !is_the_same(verb, &less, output) {
                wrong.push(format!("{line} without {missing:?}: {}", less.stderr));
            }
        }
        if !differs && !is_for_an_expired_watch(verb, missing) {
            wrong.push(format!("{verb} does not need {missing:?}"));
        }
        for message in missing_messages {
            wrong.push(format!("{verb} without {missing:?} does not print {message:?}: {printed}"));
        }
        for message in messages.iter().filter(|message| !page.contains(&message.replace("gina", "..."))) {
            wrong.push(format!("docs/rbac.md does not list {message:?}"));
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
