//! The behaviour of a container, which follows from the tag of its image.

/// What a container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Runs, and is ready soon.
    Healthy,
    /// `slow`: runs, and is ready late.
    Slow,
    /// `notready`: runs, and is never ready.
    NotReady,
    /// `bad`: its image cannot be pulled.
    BadImage,
    /// `config`: it refers to a `ConfigMap` that does not exist.
    BadConfig,
    /// `crash`: exits with 1 soon after each start.
    Crash,
    /// `recovers`: exits with 1 soon after its first starts, and runs from its fourth restart on.
    Recovers,
    /// `done`: runs for a while, and exits with 0 if nothing restarts it.
    Completes,
    /// `oom`: exceeds its memory limit soon after each start.
    OutOfMemory,
}

/// The words that a tag is searched for, in this order.
const TAGS: [(&str, Behaviour); 8] = [
    ("bad", Behaviour::BadImage),
    ("crash", Behaviour::Crash),
    ("recovers", Behaviour::Recovers),
    ("oom", Behaviour::OutOfMemory),
    ("done", Behaviour::Completes),
    ("config", Behaviour::BadConfig),
    ("notready", Behaviour::NotReady),
    ("slow", Behaviour::Slow),
];

impl Behaviour {
    /// Returns the behaviour of a container with this image.
    pub(super) fn of_image(image: &str) -> Self {
        let tag = image.rsplit_once(':').map_or("", |(_, tag)| tag);
        let found = TAGS.into_iter().find(|(word, _)| tag.contains(word));
        found.map_or(Self::Healthy, |(_, behaviour)| behaviour)
    }

    /// Returns the exit code and the reason of each end of one that crashes.
    pub(super) fn crash(self) -> (i64, &'static str) {
        if self == Self::OutOfMemory { (137, "OOMKilled") } else { (1, "Error") }
    }

    /// Whether it ends again and again.
    pub(super) fn crashes(self) -> bool {
        matches!(self, Self::Crash | Self::Recovers | Self::OutOfMemory)
    }
}
