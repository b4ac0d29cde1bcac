//! Printed commands that are pasted into a shell execute nothing else, whatever text the cluster contains.

use rollout2::cli::definition;

use crate::security::commands::{COMMANDS, OutputFormat};
use crate::security::setup::{NAMESPACE, cluster, shop, trouble};
use serde_json::Value;

/// The beginning of each command that the program prints.
const PROGRAMS: [&str; 10] = [
    "kubectl rollout2 ",
    "kubectl get ",
    "kubectl delete ",
    "kubectl describe ",
    "kubectl annotate ",
    "kubectl auth ",
    "kubectl kustomize ",
    "kubectl config ",
    "helm rollback ",
    "curl ",
];

/// The only command with a redirection. It contains no text from the cluster.
const RECORD: &str = "kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml > snapshot.yaml";

/// A token of a shell line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `&&` or `|` between two commands of the program.
    Separator,
}

/// Splits a shell line into tokens by the rules of POSIX (2.2 and 2.3), as far as the commands of the program need them.
///
/// # Errors
/// The first character with a special meaning: expansion, redirection, comment or end.
fn tokenize(line: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut word) = (Vec::new(), None::<String>);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ' ' => tokens.extend(word.take().map(Token::Word)),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(other) => word.push(other),
                        None => return Err("a quote that does not end".to_owned()),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next().ok_or("a backslash at the end")?),
            '&' if characters.peek() == Some(&'&') => {
                characters.next();
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Separator);
            }
            '|' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Separator);
            }
            other if other.is_control() || "&;<>()$`\"*?[]#~{}!".contains(other) => {
                return Err(format!("{other:?} after {:?}", word.unwrap_or_default()));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

/// Returns the commands in a line, each as its words, from the first command to the end of the line.
fn commands(line: &str) -> Option<Result<Vec<Vec<String>>, String>> {
    let begins = |at: &usize| *at == 0 || line[..*at].ends_with([' ', '(']);
    let start = PROGRAMS.iter().filter_map(|program| line.find(program).filter(begins)).min()?;
    if &line[start..] == RECORD {
        return None;
    }
    Some(tokenize(&line[start..]).map(|tokens| {
        let commands = tokens.split(|token| *token == Token::Separator);
        let args = |command: &[Token]| {
            let args = command.iter().filter_map(|token| match token {
                Token::Word(word) => Some(word.clone()),
                Token::Separator => None,
            });
            args.collect()
        };
        commands.map(args).collect()
    }))
}

/// Returns the first mistake in a command, if there is one. `names` are the names of objects.
fn mistake_in(command: &[String], names: &[String]) -> Option<String> {
    let Some((program, args)) = command.split_first() else { return Some("an empty command".to_owned()) };
    if !["kubectl", "helm", "curl"].contains(&program.as_str()) {
        return Some(format!("unknown program {program:?}"));
    }
    if program == "kubectl" && args.first().is_some_and(|word| word == "rollout2") {
        let args = std::iter::once("kubectl-rollout2").chain(args[1..].iter().map(String::as_str));
        if let Err(mistake) = definition().try_get_matches_from(args)
            && mistake.use_stderr()
        {
            return Some(mistake.to_string());
        }
    }
    let is_name = |word: &str| names.iter().any(|name| name == word) || is_placeholder(word);
    let is_own_word =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./%".contains(c));
    args.iter().find_map(|word| {
        let object = word.split_once('/').map_or(word.as_str(), |(_, name)| name);
        (!is_name(object) && !is_own_word(word)).then(|| format!("unexpected word {word:?}"))
    })
}

fn is_placeholder(word: &str) -> bool {
    word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Returns the first mistake in the commands of an output, if there is one.
pub(crate) fn first_mistake(printed: &str, names: &[String]) -> Option<String> {
    printed.lines().filter_map(|line| Some((line, commands(line)?))).find_map(|(line, commands)| {
        let wrong = match commands {
            Err(wrong) => Some(wrong),
            Ok(commands) => commands.iter().find_map(|command| mistake_in(command, names)),
        };
        wrong.map(|wrong| format!("{wrong} in {line}"))
    })
}

/// Texts with different special meanings in a shell.
const HOSTILE: [&str; 16] = [
    "; touch x #",
    " touch x",
    "$(touch x)",
    "`touch x`",
    "' ; touch x '",
    "\" && touch x \"",
    "| sh",
    "& touch x",
    "> x",
    "\ntouch x",
    "*",
    "!!",
    "\\",
    "{a,b}",
    " --all",
    "-n kube-system",
];

/// Returns the names of all objects, namespaces and nodes.
pub(crate) fn names(snapshot: &Value) -> Vec<String> {
    let items = snapshot["items"].as_array().unwrap();
    let of = |pointer: &str| {
        let all = items.iter().filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned));
        all.collect::<Vec<_>>()
    };
    ["/metadata/name", "/metadata/namespace", "/spec/nodeName"]
        .iter()
        .flat_map(|pointer| of(pointer))
        .collect()
}

/// The fields whose text can be part of a printed command.
const FIELDS: [&str; 8] = [
    "/metadata/name",
    "/metadata/namespace",
    "/spec/nodeName",
    "/metadata/annotations/meta.helm.sh~1release-name",
    "/metadata/annotations/kubectl-rollout2~1held",
    "/metadata/managedFields/0/manager",
    "/metadata/ownerReferences/0/name",
    "/kind",
];

/// Returns the snapshot with a text in a field of every object: appended to the value, or instead of it. Each object has
/// the text after that of the object before it.
fn with(snapshot: &Value, place: &str, first: usize, appended: bool) -> Value {
    let mut hostile = snapshot.clone();
    for (index, item) in hostile["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        let text = HOSTILE[(first + index) % HOSTILE.len()];
        let is_workload =
            ["Deployment", "StatefulSet", "DaemonSet"].contains(&item["kind"].as_str().unwrap());
        if place.contains("annotations") && is_workload {
            item["metadata"]["annotations"]["app.kubernetes.io/managed-by"] = "Helm".into();
            item["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "Helm".into();
            let (_, key) = place.rsplit_once('/').unwrap();
            item["metadata"]["annotations"][key.replace("~1", "/")] = "web".into();
        }
        if let Some(value) = item.pointer_mut(place) {
            let before = if appended { value.as_str().unwrap_or_default() } else { "" };
            *value = format!("{before}{text}").into();
        }
    }
    hostile
}

#[tokio::test(start_paused = true)]
async fn a_printed_command_is_one_command_for_any_field() {
    let mut wrong = Vec::new();
    for snapshot in [shop(), trouble()] {
        let names = names(&snapshot);
        for place in FIELDS {
            for (first, appended) in [(0, true), (4, true), (8, true), (12, true), (0, false)] {
                let hostile = with(&snapshot, place, first, appended).to_string();
                for args in ["status all -A --watch=false", "undo all -n shop --dry-run=client"] {
                    let run = harness::Run::of(args.split(' ')).args(["--from", "-"]).stdin(hostile.clone());
                    let output = run.run_async().await;
                    let found = first_mistake(&output.transcript, &names);
                    wrong.extend(found.map(|found| format!("{place} {first}: {args}: {found}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} times\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn printed_commands_of_every_verb_are_valid() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for snapshot in [shop(), trouble()] {
        let names = names(&snapshot);
        let cluster = cluster(&snapshot, "out of luck");
        for (args, format, _) in COMMANDS.iter().filter(|(_, format, _)| *format == OutputFormat::Text) {
            let run = harness::Run::of(args.split(' ')).in_process(cluster.service(), NAMESPACE);
            let output = run.run_async().await;
            seen += output.transcript.lines().filter(|line| commands(line).is_some()).count();
            let found = first_mistake(&output.transcript, &names);
            wrong.extend(found.map(|found| format!("{args} ({format:?}): {found}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 15, "only {seen} commands were printed");
}

#[test]
fn the_detector_finds_unquoted_words_only() {
    let names = ["web".to_owned(), "shop".to_owned()];
    for wrong in [
        "hint: helm rollback web; touch x #",
        "hint: kubectl rollout2 undo deployment/web && touch x",
        "hint: kubectl delete pod $(touch x)",
        "hint: kubectl delete pod web\u{7}",
        "hint: kubectl rollout2 undo deployment/web --no-such-flag",
        "hint: kubectl get deployments -n 'a b'",
        "hint: kubectl get 'x",
    ] {
        assert!(first_mistake(wrong, &names).is_some(), "{wrong}");
    }
    for right in [
        "no command; $(touch x)",
        "to keep Helm's own record right: helm rollback web",
        "hint: kubectl rollout2 resume deployment/web -n shop && kubectl rollout2 step statefulset/NAME -n NAMESPACE",
        "hint: kubectl rollout2 step statefulset/web --check COMMAND_OF_THE_PLAN",
    ] {
        assert_eq!(first_mistake(right, &names), None, "{right}");
    }
}
