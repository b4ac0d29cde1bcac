//! Snapshots and manifests: any text is read, or refused with an error of one line. Objects that were read can be
//! written and read again.

use rollout2::model::api::object::Object;
use rollout2::model::text::yaml::yaml;
use rollout2::render::json::kubectl_json;
use rollout2::snapshot::document::read_objects;

/// Reads one text.
pub fn one(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let objects = match read_objects(text.to_owned(), "x.yaml") {
        Ok(objects) => objects,
        Err(error) => {
            assert_eq!(error.exit().code(), 2);
            return assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    };
    for object in &objects {
        for written in [kubectl_json(object.json()), yaml(object.json())] {
            let again =
                read_objects(written.clone(), "again").unwrap_or_else(|error| panic!("{error:?}\n{written}"));
            let again: Vec<_> = again.iter().map(Object::json).collect();
            assert_eq!(again, [object.json()], "{written}");
        }
    }
}
