//! Changes as lines of a unified diff.

use serde_json::json;

use super::pod;
use crate::diff::{Diff, DiffSide, SecretValues};
use crate::revision::template::Template;

fn unified(from: &Template, to: &Template, context: usize) -> String {
    let mut lines = Vec::new();
    for hunk in Diff::between(from, to, SecretValues::Masked).hunks(context, None) {
        let nodes: Vec<String> = hunk.paths.iter().map(ToString::to_string).collect();
        lines.push(format!("@@ {} @@", nodes.join(", ")));
        for line in hunk.lines {
            let sign = match line.side {
                DiffSide::Both => ' ',
                DiffSide::From => '-',
                DiffSide::To => '+',
            };
            lines.push(format!("{sign}{}", line.text));
        }
    }
    lines.join("\n")
}

#[test]
fn a_new_element_is_in_its_place() {
    let env = |names: &[&str]| {
        let env: Vec<_> = names.iter().map(|name| json!({"name": name, "value": name})).collect();
        pod(&json!({"containers": [{"name": "web", "env": env}]}))
    };
    for (from, to, expected) in [
        (&["B", "D"][..], &["A", "B", "C", "D", "E"][..], "A B C D E"),
        (&["X", "B", "D"], &["A", "B", "C", "D"], "A B C D"),
        (&["D", "B"], &["A", "B", "C", "D"], "D B A C"),
    ] {
        let (from, to) = (env(from), env(to));
        let diff = Diff::between(&from, &to, SecretValues::Masked);
        let shown = diff.templates[1]["spec"]["containers"][0]["env"].clone();
        let names: Vec<_> = shown.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }
}

#[test]
fn hunks_have_paths() {
    let from = pod(&json!({"containers": [{"name": "a", "image": "a:1"},
        {"name": "web", "image": "shop/web:1.0", "args": ["--listen", ":80", "--quiet"], "env": [{"name": "CACHE", "value": "on"}]}],
        "volumes": [{"name": "v", "emptyDir": {}}]}));
    let to = pod(&json!({"containers": [
        {"name": "web", "image": "shop/web:1.1", "args": ["--listen", ":81"], "env": [{"name": "NOTE", "value": "a\nb"}]},
        {"name": "a", "image": "a:1"}],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]}));
    insta::assert_snapshot!(unified(&from, &to, 1), @r#"
    @@ spec.containers[web], spec.volumes[v] @@
         - --listen
    -    - :80
    -    - --quiet
    +    - :81
         env:
    -    - name: CACHE
    -      value: "on"
    -    image: shop/web:1.0
    +    - name: NOTE
    +      value: |-
    +        a
    +        b
    +    image: shop/web:1.1
         name: web
       volumes:
    -  - emptyDir: {}
    +  - emptyDir:
    +      sizeLimit: 1Gi
         name: v
    "#);
}
