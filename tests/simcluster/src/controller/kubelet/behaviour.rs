//! What a container does.

/// What a container does, told by the tag of its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Runs, and is ready soon.
    Well,
    /// `slow`: runs, and is ready late.
    Slow,
    /// `notready`: runs, and is never ready.
    NotReady,
    /// `bad`: its image cannot be pulled.
    BadImage,
    /// `config`: it refers to a `ConfigMap` that is not there.
    BadConfig,
    /// `crash`: it ends with an error, again and again.
    Crash,
    /// `oom`: it takes too much memory, again and again.
    OutOfMemory,
}

/// Tags as they are looked for, in this order.
const TAGS: [(&str, Behaviour); 6] = [
    ("bad", Behaviour::BadImage),
    ("crash", Behaviour::Crash),
    ("oom", Behaviour::OutOfMemory),
    ("config", Behaviour::BadConfig),
    ("notready", Behaviour::NotReady),
    ("slow", Behaviour::Slow),
];

impl Behaviour {
    /// What a container of this image does.
    pub(super) fn of_image(image: &str) -> Self {
        let tag = image.rsplit_once(':').map_or("", |(_, tag)| tag);
        TAGS.into_iter().find(|(word, _)| tag.contains(word)).map_or(Self::Well, |(_, behaviour)| behaviour)
    }

    /// Whether it becomes ready in the end.
    pub(super) fn works(self) -> bool {
        matches!(self, Self::Well | Self::Slow)
    }

    /// Whether it ends and is started again.
    pub(super) fn crashes(self) -> bool {
        matches!(self, Self::Crash | Self::OutOfMemory)
    }

    /// Whether it is never started at all.
    pub(super) fn never_starts(self) -> bool {
        matches!(self, Self::BadImage | Self::BadConfig)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tag_decides_the_behaviour() {
        assert_eq!(Behaviour::of_image("shop/bad-web:1.0"), Behaviour::Well);
        assert_eq!(Behaviour::of_image("shop/web:2.0-bad"), Behaviour::BadImage);
        assert_eq!(Behaviour::of_image("shop/web:2.0-notready"), Behaviour::NotReady);
        assert_eq!(Behaviour::of_image("shop/web"), Behaviour::Well);
    }
}
