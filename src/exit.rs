//! The exit codes, which scripts rely on.

/// How a command ended. Each variant is one documented exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: complete, changed, or nothing to do.
    Done,
    /// 1: not found, nothing matched, forbidden, unreachable, refused, conflict.
    Error,
    /// 2: a bad flag, a bad argument, an unreadable file. Nothing was asked of the cluster.
    Usage,
    /// 3: timed out, or still going with `--watch=false`.
    Unfinished,
    /// 4: the rollout, a batch or a check failed.
    Failed,
    /// 5: outdated pods remain because something holds them: a pause, a plan, `OnDelete`, a partition.
    Held,
    /// 1: the templates differ, told to `diff --exit-code` only.
    Differs,
    /// 3: the templates could not be compared; what is 1 elsewhere, under `diff --exit-code`, which
    /// has given away its 1.
    Trouble,
    /// 130: interrupted by SIGINT.
    Interrupted,
    /// 143: ended by SIGTERM.
    Terminated,
}

impl Exit {
    /// The number the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error | Self::Differs => 1,
            Self::Usage => 2,
            Self::Unfinished | Self::Trouble => 3,
            Self::Failed => 4,
            Self::Held => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// The one that counts when several targets ended differently:
    /// 130/143 before 2, 1, 4, 3, 5 and 0.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }

    fn weight(self) -> u8 {
        match self {
            Self::Done | Self::Differs => 0,
            Self::Held => 1,
            Self::Unfinished => 2,
            Self::Failed => 3,
            Self::Error | Self::Trouble => 4,
            Self::Usage => 5,
            Self::Terminated => 6,
            Self::Interrupted => 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_worst_of_several_targets_wins_in_the_documented_order() {
        let order = [Exit::Done, Exit::Held, Exit::Unfinished, Exit::Failed, Exit::Error, Exit::Interrupted];
        for (weaker, stronger) in order.iter().zip(&order[1..]) {
            assert_eq!(weaker.worst(*stronger), *stronger);
            assert_eq!(stronger.worst(*weaker), *stronger);
        }
    }
}
