//! Memory asked for before it is needed.
//!
//! With thousands of flows nothing of one is in the processor's cache when its next segment comes. What is
//! asked for comes while others are dealt with; what is read without is waited for.

use prefetch_index::prefetch_index;

/// Octets of a line of the cache.
pub const LINE: usize = 64;

/// Asks for the line of the cache in which `it` begins, and waits for nothing. All that changes is time.
#[inline(always)]
pub fn prefetch<T>(it: &T) {
    prefetch_index(std::slice::from_ref(it), 0);
}

/// Asks for the `line`-th line after that in which `it` begins, whatever lies there.
#[inline(always)]
pub fn prefetch_line(it: &u64, line: usize) {
    prefetch_index(std::slice::from_ref(it), line * (LINE / size_of::<u64>()));
}
