//! The exit codes that scripts rely on.

/// How a command ended. Each variant is a documented exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// 0: complete, changed, or nothing to do.
    #[default]
    Done,
    /// 1: not found, nothing matched, forbidden, unreachable, refused, conflict.
    Error,
    /// 2: a bad flag, a bad argument, an unreadable file. Nothing was written.
    Usage,
    /// 3: timed out, or still progressing with `--watch=false`, or stdout was closed. With `diff --exit-code`: the templates
    /// could not be compared.
    Unfinished,
    /// 4: the rollout, a batch or a check failed.
    Failed,
    /// 5: outdated pods remain because of a pause, a plan, `OnDelete` or a partition.
    Held,
    /// 1: the templates differ; only with `diff --exit-code`.
    Differs,
    /// 130: interrupted by SIGINT.
    Interrupted,
    /// 143: terminated by SIGTERM.
    Terminated,
    /// 129: ended by SIGHUP, because the terminal was closed.
    HungUp,
}

impl Exit {
    /// Returns the number that the process exits with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error | Self::Differs => 1,
            Self::Usage => 2,
            Self::Unfinished => 3,
            Self::Failed => 4,
            Self::Held => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
            Self::HungUp => 129,
        }
    }

    /// Returns the worse of two exit codes, for several targets. The order is 130, 143 and 129, 2, 1, 4, 3,
    /// 5, 0.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Done | Self::Differs => 0,
            Self::Held => 1,
            Self::Unfinished => 2,
            Self::Failed => 3,
            Self::Error => 4,
            Self::Usage => 5,
            Self::Terminated | Self::HungUp => 6,
            Self::Interrupted => 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_worst_of_several_targets_wins_in_the_documented_order() {
        let order = [
            Exit::Done,
            Exit::Held,
            Exit::Unfinished,
            Exit::Failed,
            Exit::Error,
            Exit::Usage,
            Exit::Terminated,
            Exit::Interrupted,
        ];
        for (weaker, stronger) in order.iter().zip(&order[1..]) {
            assert_eq!(weaker.worst(*stronger), *stronger);
            assert_eq!(stronger.worst(*weaker), *stronger);
        }
    }

    #[test]
    fn a_signal_has_its_number_above_128() {
        let codes = [Exit::HungUp, Exit::Interrupted, Exit::Terminated].map(Exit::code);
        assert_eq!(codes, [129, 130, 143]);
    }
}
