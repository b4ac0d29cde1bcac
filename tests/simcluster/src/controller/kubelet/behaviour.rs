//! The behaviour of a container, which follows from the tag of its image.

/// What a container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Runs, and is ready soon. An init container ends with 0.
    Healthy,
    /// `slow`: runs, and is ready late. An init container ends late.
    Slow,
    /// `notready`: runs, and is never ready. An init container never ends.
    NotReady,
    /// `bad`: its image cannot be pulled.
    BadImage,
    /// `slowpull`: the pull of its image takes long.
    SlowPull,
    /// `config`: it refers to a `ConfigMap` that does not exist.
    BadConfig,
    /// `crash`: exits with 1 soon after each start.
    Crash,
    /// `crashlate`: exits with 1 some time after each start.
    CrashLate,
    /// `recovers`: exits with 1 soon after its first starts, and runs from its fourth restart on.
    Recovers,
    /// `oom`: exceeds its memory limit soon after each start.
    OutOfMemory,
    /// `slowstop`: takes long to end after SIGTERM.
    SlowStop,
    /// `nosigterm`: ignores SIGTERM.
    IgnoresSigterm,
}

/// The words that a tag is searched for, in this order.
const TAGS: [(&str, Behaviour); 11] = [
    ("bad", Behaviour::BadImage),
    ("crashlate", Behaviour::CrashLate),
    ("crash", Behaviour::Crash),
    ("recovers", Behaviour::Recovers),
    ("oom", Behaviour::OutOfMemory),
    ("config", Behaviour::BadConfig),
    ("notready", Behaviour::NotReady),
    ("slowpull", Behaviour::SlowPull),
    ("slowstop", Behaviour::SlowStop),
    ("slow", Behaviour::Slow),
    ("nosigterm", Behaviour::IgnoresSigterm),
];

impl Behaviour {
    /// Returns the behaviour of a container with this image.
    pub(super) fn of_image(image: &str) -> Self {
        let tag = image.rsplit_once(':').map_or("", |(_, tag)| tag);
        let found = TAGS.into_iter().find(|(word, _)| tag.contains(word));
        found.map_or(Self::Healthy, |(_, behaviour)| behaviour)
    }

    /// Whether it ends again and again.
    pub(super) fn crashes(self) -> bool {
        matches!(self, Self::Crash | Self::CrashLate | Self::Recovers | Self::OutOfMemory)
    }

    /// Whether the kubelet never starts it.
    pub(super) fn never_starts(self) -> bool {
        matches!(self, Self::BadImage | Self::BadConfig)
    }
}
