//! Tokens and passwords are in the memory of this process, and a core dump is a file that others may read.

/// Makes this process, and those that it starts, leave no core dump (`RLIMIT_CORE`). Windows writes none
/// unless an administrator configures that for a program.
pub fn disable_core_dumps() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // It can only fail for a limit above the maximum, and there is none below 0.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    }
}
