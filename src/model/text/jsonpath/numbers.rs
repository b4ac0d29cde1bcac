//! What the numbers of a document are in Go.

/// What the numbers of a document are in Go. It decides how they are printed and compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Integers and floats, as in objects that kubectl reads without a Go type.
    #[default]
    Exact,
    /// Floats, as in objects with a Go type, which `kubectl rollout` prints.
    Floats,
}
