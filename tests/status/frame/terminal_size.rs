//! A stream reads the size of its terminal each time, since the user can resize it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use rollout2::world::{Stream, Terminal};

#[test]
fn the_terminal_size_is_read_each_time() {
    let width = Arc::new(AtomicU16::new(80));
    let current = Arc::clone(&width);
    let size = move || Terminal { width: current.load(Ordering::Relaxed), height: 24 };
    let stream = Stream::resizable(io::sink(), size);
    let copy = stream.clone();
    assert_eq!(stream.terminal(), Some(Terminal { width: 80, height: 24 }));
    width.store(40, Ordering::Relaxed);
    assert_eq!(stream.terminal(), Some(Terminal { width: 40, height: 24 }));
    assert_eq!(copy.terminal(), stream.terminal());
    assert_eq!(Stream::new(io::sink(), None).terminal(), None);
}
