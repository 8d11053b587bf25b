//! The warm path does not allocate by the frame: twice the simulated time makes hardly any more
//! allocations, namely for the growth of what is kept.

use skycell_spec::NetworkSpec;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything to the system's allocator, which upholds the contract.
#[allow(unsafe_code)] // a global allocator cannot be written without
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(spec: &NetworkSpec, seconds: u64) -> (u64, u64) {
    let spec = NetworkSpec {
        duration_ps: seconds * 1_000_000_000_000,
        ..spec.clone()
    };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let records = skycell_fast::run(&spec, &mut |_| true).expect("the run succeeds");
    let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
    (count, records.flows.iter().map(|f| f.segments_sent).sum())
}

fn makes_hardly_more_when_longer(text: &str) {
    let mut spec = NetworkSpec::from_json(text).expect("a valid spec");
    // Samples are kept by their value, and new values come up for ever.
    spec.records.sampled_ports.clear();
    spec.records.vc_sampled_ports.clear();
    let (short, few) = allocations(&spec, 10);
    let (long, many) = allocations(&spec, 20);
    assert!(many - few > 200_000, "the second half has work to do");
    let extra = long.saturating_sub(short);
    // Rings and sets of holes still grow at a new peak, to twice their size.
    assert!(extra < 200, "{extra} allocations in the second half");
}

#[test]
fn a_longer_run_makes_hardly_more_allocations() {
    // 15 SACK sources over a WAN with EPD: `skycell run examples/ubr-wan.toml` has the like.
    makes_hardly_more_when_longer(include_str!("wan.json"));
    // SACK over three congested links, MSS 1460, one VC policed cell by cell: frames go in parts.
    makes_hardly_more_when_longer(include_str!("lot.json"));
}
