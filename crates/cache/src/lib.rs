//! Memory asked for before it is needed. Depends on nothing of ours.
//!
//! With thousands of flows nothing of one is in the processor's cache when its next segment comes. What is
//! asked for comes while others are dealt with; what is read without is waited for.

use prefetch_index::prefetch_index;

/// Asks for the line of the cache in which `it` begins, and waits for nothing. All that changes is time.
#[inline(always)]
pub fn ask_for<T>(it: &T) {
    prefetch_index(std::slice::from_ref(it), 0);
}
