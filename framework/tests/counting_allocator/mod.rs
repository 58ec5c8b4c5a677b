//! Counting wrapper around the system allocator, shared by the tests of all crates that guarantee
//! not to allocate.

#![allow(
    unsafe_code,
    reason = "an allocator cannot be written without it; this one forwards to the system allocator"
)]
#![allow(dead_code, reason = "each test reads only the counts it needs")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Number of this thread's allocations so far.
    pub(crate) static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has allocated and not freed; negative if it freed those of other
    /// threads.
    pub(crate) static LIVE: Cell<i64> = const { Cell::new(0) };
    /// Largest value of `LIVE` since `PEAK` was last set.
    pub(crate) static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(more: usize, less: usize) {
    let live = LIVE.get() + more as i64 - less as i64;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

struct Counting;

// SAFETY: the system allocator does all the work; counting does not allocate, because the
// thread-local counter is initialized by a constant and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        count(layout.size(), 0);
        // SAFETY: the caller upholds the contract of `System`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // Old and new memory may exist at once while the block is moved.
        count(size, 0);
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
