//! Bad inputs: the exit code and the message of each.

use harness::Run;

use crate::man_pages::words;

/// A command line, its exit code, and the lines on stderr. `SHOP` and `BROKEN` are recorded objects, and `DIR` has files
/// that are no manifests.
type BadInput = (&'static str, u8, &'static [&'static str]);

#[expect(clippy::needless_raw_string_hashes, reason = "one form for the whole table")]
const BAD_INPUTS: &[BadInput] = &[
    ("frobnicate", 2, &[r#"error: unknown verb "frobnicate""#, r#"hint: kubectl rollout2 --help"#]),
    ("statsu deployment/web", 2, &[r#"error: unknown verb "statsu""#, r#"hint: did you mean status?"#]),
    ("help nosuch", 2, &[r#"error: unknown verb "nosuch""#, r#"hint: kubectl rollout2 --help"#]),
    (
        "status",
        2,
        &[
            r#"error: required resource not specified"#,
            r#"hint: name a workload, such as deployment/web, or a type, such as deployment"#,
        ],
    ),
    ("status deploymnt/web", 2, &[r#"error: unknown type "deploymnt""#, r#"hint: did you mean deployment?"#]),
    (
        "status deployment/web/x",
        2,
        &[r#"error: arguments in resource/name form may not have more than one slash"#],
    ),
    (
        "status deploy/web sts",
        2,
        &[
            r#"error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form"#,
            r#"hint: write every target as TYPE/NAME, or one TYPE followed by names"#,
        ],
    ),
    (
        "status deploy/",
        2,
        &[r#"error: arguments in resource/name form must have a single resource and name"#],
    ),
    (
        "status deployment/wbe SHOP",
        1,
        &[r#"error: no deployment "wbe" in namespace "shop""#, r#"hint: did you mean deployment/web?"#],
    ),
    ("status deployment/We_b SHOP", 1, &[r#"error: no deployment "We_b" in namespace "shop""#]),
    (
        "status deployment/web -n 'a b'",
        2,
        &[
            r#"error: "a b" is not a valid namespace name"#,
            r#"hint: use up to 63 lower-case letters, digits and '-', with a letter or digit at both ends"#,
        ],
    ),
    (
        "status deployment/web --timeot 5m",
        2,
        &[r#"error: unexpected argument '--timeot' found"#, r#"hint: did you mean --timeout?"#],
    ),
    (
        "list --al SHOP",
        2,
        &[
            r#"error: unexpected argument '--al' found"#,
            r#"hint: did you mean --all-namespaces or --allow-empty?"#,
        ],
    ),
    (
        "diff deployment/web --to preious SHOP",
        2,
        &[
            r#"error: unexpected argument '--to' found"#,
            r#"hint: --to is a flag of undo, step; kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "undo --all",
        2,
        &[
            r#"error: unexpected argument '--all' found"#,
            r#"hint: --all is a flag of step; kubectl rollout2 undo --help"#,
        ],
    ),
    (
        "--timeout 5m status deployment/web",
        2,
        &[r#"error: unexpected argument '--timeout' found"#, r#"hint: write --timeout after status"#],
    ),
    (
        "status deployment/web --serv https://x",
        2,
        &[r#"error: unexpected argument '--serv' found"#, r#"hint: did you mean --server?"#],
    ),
    (
        "status deployment/web --watch false",
        2,
        &[
            r#"error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form"#,
            r#"hint: to read once: --watch=false, in one word"#,
        ],
    ),
    (
        "diff deployment/web preious SHOP",
        1,
        &[
            r#"error: no revision preious in the history; there are 1, 3, 4, 5"#,
            r#"hint: did you mean previous?"#,
        ],
    ),
    (
        "status deployment/web --revision 99 SHOP",
        1,
        &[r#"error: no revision 99 in the history; there are 1, 3, 4, 5"#],
    ),
    (
        "status deployment/web --revision 6 --watch=false SHOP",
        4,
        &[r#"error: desired revision (6) is different from the running revision (5)"#],
    ),
    (
        "step statefulset/db --to 9 --dry-run SHOP",
        1,
        &[
            r#"error: --to 9 is more than the 5 pods of statefulset/db; nothing was written"#,
            r#"hint: all of them are --to 100%, or --all"#,
        ],
    ),
    (
        "step deployment/web --max-unavailable 100% --dry-run SHOP",
        1,
        &[r#"error: --max-unavailable 100% would let all 4 pods of deployment/web be down at a time"#],
    ),
    (
        "step deployment/web statefulset/db",
        2,
        &[r#"error: step takes one workload, unexpected argument "statefulset/db""#],
    ),
    (
        "step deployment/web --by 1.5",
        2,
        &[r#"error: --by "1.5": it must be a number of pods, such as 2, or per cent, such as 25%"#],
    ),
    (
        "step deployment",
        2,
        &[r#"error: exactly one workload must be named"#, r#"hint: write it as statefulset/db"#],
    ),
    (
        "undo deployment/web --dry-run=srver",
        2,
        &[r#"error: Invalid dry-run value (srver). Must be "none", "server", or "client"."#],
    ),
    (
        "undo deployment/web --plain",
        2,
        &[
            r#"error: --timeout, --fail-fast and --plain have an effect only with --wait"#,
            r#"hint: add --wait"#,
        ],
    ),
    (
        "list deployment/web SHOP",
        2,
        &[
            r#"error: list shows all workloads of a type, not deployment/web"#,
            r#"hint: kubectl rollout2 status deployment/web --watch=false"#,
        ],
    ),
    (
        "status deployments.app/web SHOP",
        2,
        &[r#"error: unknown type "deployments.app""#, r#"hint: did you mean deployments?"#],
    ),
    (
        "diff deployment/web --with-file nope.yaml SHOP",
        2,
        &[r#"error: cannot read nope.yaml: No such file or directory"#],
    ),
    (
        "status --from",
        2,
        &[
            r#"error: a value is required for '--from <FILE|DIR|->' but none was supplied"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status -f DIR/binary.yaml SHOP",
        2,
        &[
            r#"error: cannot parse DIR/binary.yaml as YAML: line 1 column 1: a character that YAML does not allow"#,
        ],
    ),
    (
        "status deployment/web -z",
        2,
        &[r#"error: unexpected argument '-z' found"#, r#"hint: kubectl rollout2 status --help"#],
    ),
    (
        "status deployment/web --timeout 5",
        2,
        &[
            r#"error: invalid value '5' for '--timeout <DURATION>': expected a duration with a unit, such as 90s or 1h30m"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --timeout=-5s",
        2,
        &[r#"error: --timeout cannot be negative"#, r#"hint: for no limit: --timeout 0"#],
    ),
    (
        "status deployment/web --stable soon",
        2,
        &[
            r#"error: invalid value 'soon' for '--stable <DURATION>': expected a duration with a unit, such as 90s or 1h30m"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --until nosuch",
        2,
        &[
            r#"error: invalid value 'nosuch' for '--until <GOAL>' [possible values: updated, available, complete, old-gone]"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --watch=maybe",
        2,
        &[
            r#"error: invalid value 'maybe' for '--watch[=<BOOL>]': expected true or false"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --fail-on nosuch",
        2,
        &[
            r#"error: invalid value 'nosuch' for '--fail-on <CAUSE[=GRACE]>': "nosuch" is not a cause; near ones are node-selector, unschedulable, init-crash; --help lists all"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --fail-on crash",
        2,
        &[
            r#"error: invalid value 'crash' for '--fail-on <CAUSE[=GRACE]>': "crash" is not a cause; near ones are crash-loop, init-crash, paused; --help lists all"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --fail-on crash-loop=x",
        2,
        &[
            r#"error: invalid value 'crash-loop=x' for '--fail-on <CAUSE[=GRACE]>': expected a duration with a unit, such as 90s or 1h30m"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --undo-on-failure --watch=false",
        2,
        &[r#"error: --undo-on-failure must follow the rollout: remove --watch=false and --from"#],
    ),
    (
        "status -A deploy --undo-on-failure",
        2,
        &[
            r#"error: --undo-on-failure writes, and -A is allowed only for reads"#,
            r#"hint: select a namespace with -n"#,
        ],
    ),
    (
        "status deploy -l a=b=c",
        2,
        &[
            r#"error: the selector "a=b=c" is not valid: cannot read "a=b=c""#,
            r#"hint: write it as app=web,tier!=cache or 'env in (prod,test)'"#,
        ],
    ),
    (
        "status deploy/web -l app=web",
        2,
        &[r#"error: selectors and the all flag cannot be used when passing resource/name arguments"#],
    ),
    ("status deploy -l app=nope SHOP", 1, &[r#"No resources found in shop namespace."#]),
    (
        "status deployment/web --revision x?",
        2,
        &[
            r#"error: "x?" is not a revision"#,
            r#"hint: use a number from kubectl rollout2 history, current, previous, -N, the name of its object, hash:HASH or sha256:DIGEST"#,
        ],
    ),
    (
        "status deployment/web -v x",
        2,
        &[
            r#"error: invalid value 'x' for '--v <LEVEL>': expected a whole number, such as 3"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --as-user-extra x",
        2,
        &[r#"error: --as-user-extra "x" has no '=' between a key and a value"#],
    ),
    (
        "status deployment/web --as-group admins",
        1,
        &[
            r#"error: no cluster is configured: no kubeconfig has a current context"#,
            r#"hint: to list contexts: kubectl config get-contexts; choose one with --context, or a file with --kubeconfig"#,
        ],
    ),
    (
        "status deployment/web --request-timeout x",
        2,
        &[
            r#"error: invalid value 'x' for '--request-timeout <DURATION>': expected a duration such as 30s or 2m, or a number of seconds"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --color sometimes",
        2,
        &[
            r#"error: invalid value 'sometimes' for '--color <WHEN>' [possible values: auto, always, never]"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "status deployment/web --server nosuch://x",
        2,
        &[
            r#"error: the server "nosuch://x" is not the address of an API server"#,
            r#"hint: write it as https://HOST:PORT"#,
        ],
    ),
    ("status deployment/web --kubeconfig nosuch", 2, &[r#"error: the kubeconfig nosuch does not exist"#]),
    (
        "status deployment/web --from nosuch.json",
        2,
        &[r#"error: cannot read nosuch.json: No such file or directory"#],
    ),
    (
        "status deployment/web --from DIR/unclosed.yaml",
        2,
        &[r#"error: cannot parse DIR/unclosed.yaml as YAML: line 1 column 4: unclosed bracket '['"#],
    ),
    (
        "status deployment/web --from DIR/cut.json",
        2,
        &[r#"error: cannot parse DIR/cut.json as JSON: line 1 column 21: it ends early"#],
    ),
    ("status deployment/web --from DIR/empty.yaml", 2, &[r#"error: DIR/empty.yaml is empty"#]),
    (
        "status deployment/web --from DIR/text.yaml",
        2,
        &[
            r#"error: DIR/text.yaml does not contain Kubernetes objects: it has a value that is not a JSON object"#,
            r#"hint: record one with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml"#,
        ],
    ),
    ("status -f nosuch.yaml SHOP", 2, &[r#"error: the path "nosuch.yaml" does not exist"#]),
    (
        "status -f DIR/without-kind.yaml SHOP",
        2,
        &[
            r#"error: DIR/without-kind.yaml does not contain Kubernetes objects: it has a value that has no kind"#,
            r#"hint: a manifest has apiVersion, kind and metadata.name, as for kubectl apply -f"#,
        ],
    ),
    (
        "status -f DIR/text.yaml SHOP",
        2,
        &[
            r#"error: DIR/text.yaml does not contain Kubernetes objects: it has a value that is not a JSON object"#,
            r#"hint: a manifest has apiVersion, kind and metadata.name, as for kubectl apply -f"#,
        ],
    ),
    (
        "status -f DIR/service.yaml SHOP",
        1,
        &[
            r#"note: skipped objects without rollouts: service/web"#,
            r#"error: the manifests contain no workload"#,
        ],
    ),
    (
        "status -f https://x/y.yaml",
        2,
        &[
            r#"error: -f does not fetch from a URL"#,
            r#"hint: curl -sSL https://x/y.yaml | kubectl rollout2 ... -f -"#,
        ],
    ),
    (
        "status -k dir",
        2,
        &[r#"error: -k is not supported"#, r#"hint: kubectl kustomize dir | kubectl rollout2 ... -f -"#],
    ),
    (
        "status deployment/web -f x.yaml",
        2,
        &[r#"error: resource/name arguments cannot be provided when a path is specified"#],
    ),
    (
        "history deployment/web --revision 99 SHOP -n shop",
        1,
        &[r#"error: no revision 99 in the history; there are 1, 3, 4, 5"#],
    ),
    (
        "history deployment/web --revision -99 SHOP -n shop",
        1,
        &[r#"error: no revision -99 in the history; there are 1, 3, 4, 5"#],
    ),
    (
        "history deployment/web --revision sha256:12",
        2,
        &[r#"error: "sha256:12" is not a digest: it needs 6 to 64 hexadecimal digits"#],
    ),
    (
        "history deployment/web -o wid",
        2,
        &[
            r#"error: invalid value 'wid' for '--output <FORM>' [possible values: wide, json, yaml, name]"#,
            r#"hint: did you mean wide?"#,
        ],
    ),
    ("diff", 2, &[r#"error: required resource not specified"#, r#"hint: write it as deployment/web"#]),
    (
        "diff deployment",
        2,
        &[r#"error: exactly one workload must be named"#, r#"hint: write it as deployment/web"#],
    ),
    (
        "diff deployment/web 1 2 3",
        2,
        &[
            r#"error: diff compares two revisions, unexpected argument "3""#,
            r#"hint: kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "diff deployment/web 99 SHOP -n shop",
        1,
        &[
            r#"error: no revision 99 in the history; there are 1, 3, 4, 5"#,
            r#"hint: kubectl rollout2 history deployment/web -n shop"#,
        ],
    ),
    (
        "diff deployment/web -U x",
        2,
        &[
            r#"error: invalid value 'x' for '--unified <N>': expected a whole number, such as 3"#,
            r#"hint: kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "diff deployment/web -U -1",
        2,
        &[
            r#"error: invalid value '-1' for '--unified <N>': expected a whole number, such as 3"#,
            r#"hint: kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "diff deployment/web -U 99999999999999999999999",
        2,
        &[
            r#"error: invalid value '99999999999999999999999' for '--unified <N>': the number is too large"#,
            r#"hint: kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "diff deployment/web --stat -o json",
        2,
        &[
            r#"error: the argument '--stat' cannot be used with '--output <FORM>'"#,
            r#"hint: kubectl rollout2 diff --help"#,
        ],
    ),
    (
        "diff deployment/fresh BROKEN",
        1,
        &[
            r#"error: deployment/fresh has only one revision: there is no earlier one to compare"#,
            r#"hint: kubectl rollout2 diff deployment/fresh -n broken current live"#,
        ],
    ),
    (
        "undo deployment/web SHOP",
        2,
        &[r#"error: a snapshot cannot be changed"#, r#"hint: to see the change: add --dry-run=client"#],
    ),
    (
        "undo deployment/web --dry-run=foo",
        2,
        &[r#"error: Invalid dry-run value (foo). Must be "none", "server", or "client"."#],
    ),
    (
        "undo deployment/web --timeout 5m",
        2,
        &[
            r#"error: --timeout, --fail-fast and --plain have an effect only with --wait"#,
            r#"hint: add --wait"#,
        ],
    ),
    (
        "undo deployment/web --wait --dry-run",
        2,
        &[r#"error: --wait cannot be used with --dry-run, which changes nothing"#],
    ),
    (
        "undo deployment/web -o patch",
        2,
        &[r#"error: -o patch prints the patch instead of sending it"#, r#"hint: add --dry-run=client"#],
    ),
    (
        "undo deployment/web --to 99999999999999999999",
        2,
        &[r#"error: "99999999999999999999" is larger than any revision number"#],
    ),
    (
        "undo deployment/web --to nosuch --dry-run SHOP -n shop",
        1,
        &[
            r#"error: no revision nosuch in the history; there are 1, 3, 4, 5"#,
            r#"hint: kubectl rollout2 history deployment/web -n shop"#,
        ],
    ),
    (
        "undo -A deploy",
        2,
        &[
            r#"error: this verb writes, and -A is allowed only for verbs that read"#,
            r#"hint: select a namespace with -n"#,
        ],
    ),
    (
        "undo deployment/fresh --dry-run BROKEN",
        1,
        &[
            r#"error: deployment/fresh has no revision to roll back to"#,
            r#"hint: kubectl rollout2 history deployment/fresh -n broken"#,
        ],
    ),
    (
        "undo deployment/paused --dry-run BROKEN",
        1,
        &[
            r#"error: deployment/paused is paused; resume it first"#,
            r#"hint: kubectl rollout2 undo deployment/paused -n broken --resume"#,
        ],
    ),
    (
        "restart",
        2,
        &[
            r#"error: required resource not specified"#,
            r#"hint: name a workload, such as deployment/web, or a type, such as deployment"#,
        ],
    ),
    (
        "restart pod/x SHOP",
        2,
        &[r#"error: a snapshot cannot be changed"#, r#"hint: to see the change: add --dry-run=client"#],
    ),
    (
        "pause deployment",
        1,
        &[
            r#"error: no cluster is configured: no kubeconfig has a current context"#,
            r#"hint: to list contexts: kubectl config get-contexts; choose one with --context, or a file with --kubeconfig"#,
        ],
    ),
    (
        "resume deployment/web extra/thing/x",
        2,
        &[r#"error: arguments in resource/name form may not have more than one slash"#],
    ),
    ("step statefulset/db --by 0", 2, &[r#"error: --by "0": it must be at least 1"#]),
    (
        "step statefulset/db --by x",
        2,
        &[r#"error: --by "x": it must be a number of pods, such as 2, or per cent, such as 25%"#],
    ),
    ("step statefulset/db --by 200%", 2, &[r#"error: --by "200%": it must be at most 100%"#]),
    (
        "step statefulset/db --soak abc",
        2,
        &[
            r#"error: invalid value 'abc' for '--soak <DURATION>': expected a duration with a unit, such as 90s or 1h30m"#,
            r#"hint: kubectl rollout2 step --help"#,
        ],
    ),
    (
        "step statefulset/db --check",
        2,
        &[
            r#"error: a value is required for '--check <COMMAND>' but none was supplied"#,
            r#"hint: kubectl rollout2 step --help"#,
        ],
    ),
    (
        "step statefulset/db --by 1 --to 3 --all",
        2,
        &[
            r#"error: the argument '--to <N|N%>' cannot be used with '--all'"#,
            r#"hint: kubectl rollout2 step --help"#,
        ],
    ),
    (
        "step statefulset/db --max-unavailable 0",
        2,
        &[r#"error: --max-unavailable "0": it must be at least 1"#],
    ),
    (
        "step statefulset/db --on-failure nosuch",
        2,
        &[
            r#"error: invalid value 'nosuch' for '--on-failure <REACTION>' [possible values: hold, undo]"#,
            r#"hint: kubectl rollout2 step --help"#,
        ],
    ),
    (
        "step statefulset/db --canary",
        2,
        &[r#"error: unexpected argument '--canary' found"#, r#"hint: did you mean --no-canary?"#],
    ),
    (
        "completion",
        2,
        &[
            r#"error: the following required arguments were not provided: <SHELL>"#,
            r#"hint: kubectl rollout2 completion --help"#,
        ],
    ),
    (
        "version -o xml",
        2,
        &[
            r#"error: invalid value 'xml' for '--output <FORM>' [possible values: json]"#,
            r#"hint: kubectl rollout2 version --help"#,
        ],
    ),
    (
        "status deployment/web --pods --plain",
        2,
        &[
            r#"error: the argument '--pods' cannot be used with '--plain'"#,
            r#"hint: kubectl rollout2 status --help"#,
        ],
    ),
    (
        "undo deployment/web --yes -i",
        2,
        &[
            r#"error: the argument '--yes' cannot be used with '--interactive'"#,
            r#"hint: kubectl rollout2 undo --help"#,
        ],
    ),
];

const DIRECTORY: &str = "tests/papers/bad_inputs/";

/// Words of Rust's standard library and of its crates, which mean nothing to a user.
const WORDS_OF_RUST: [&str; 10] = [
    "EOF",
    "\\u{",
    "os error",
    "invalid digit",
    "target type",
    "subcommand",
    "Some(",
    "None",
    "Err(",
    "panicked",
];

#[test]
fn every_bad_input_has_its_code_and_its_message() {
    assert!(BAD_INPUTS.len() >= 60, "{}", BAD_INPUTS.len());
    let mut wrong = Vec::new();
    for (line, exit, lines) in BAD_INPUTS {
        let line = line
            .replace("SHOP", "--from tests/data/shop/snapshot.json")
            .replace("BROKEN", "--from tests/data/broken/snapshot.json")
            .replace("DIR/", DIRECTORY);
        let ended = Run::of(words(&line)).run();
        let stderr = ended.stderr.replace(DIRECTORY, "DIR/");
        if (ended.exit, stderr.lines().collect::<Vec<_>>().as_slice()) != (*exit, *lines)
            || !ended.stdout.is_empty()
        {
            wrong.push(format!("$ {line}\n{stderr}=> {}", ended.exit));
        }
        if let Some(word) = WORDS_OF_RUST.iter().find(|word| stderr.contains(**word)) {
            wrong.push(format!("$ {line}\n{stderr}has {word:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// An error is one lowercase sentence. kubectl's own messages keep their words.
#[test]
fn every_message_has_the_same_form() {
    let forms = ["error: ", "hint: ", "note: ", "No resources found"];
    for (line, _, lines) in BAD_INPUTS {
        for text in *lines {
            assert!(forms.iter().any(|form| text.starts_with(form)), "{line}: {text}");
            assert!(
                !text.ends_with('.') || text.starts_with("No resources") || text.contains("dry-run"),
                "{line}: {text}"
            );
        }
    }
}
