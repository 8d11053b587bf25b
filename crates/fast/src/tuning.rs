//! Numbers that decide when the engine takes a way that pays off for many. No record depends on them.

/// From which sizes on it pays to do things in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Inputs of a port of which the foremost frames are soon put into order; frames of more inputs wait in buckets.
    pub few_inputs: usize,
    /// How many frames before one comes to a port its line of the cache is asked for; after half of them that is read. At
    /// least two.
    pub asked_ahead: usize,
    /// Flows from which on it pays to ask for their state in advance; that of fewer is in the cache anyway.
    pub many_flows: usize,
    /// Between two looks at which entries of a time-varying link will still be asked for, at least so many more are kept.
    pub entries_kept: usize,
    /// Arrivals by one link, one after the other, after which the caller of the run has its turn. Nothing else comes between
    /// them, and of a large window there are hundreds of thousands.
    pub arrivals_at_once: u64,
    /// Frames that cross the borders of a region after which its turn ends early. Little waits for those who read them then,
    /// and it is still in the cache.
    pub crossings_at_once: usize,
    /// How the nodes are divided into regions; none leaves that to the engine.
    pub regions: Option<Regions>,
    /// True if what happens before counting begins is run in a thread beside the whole run.
    pub warms_up_beside: bool,
}

/// Regions of a network, which act beside one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// By node: its region, from 0 on.
    pub of_node: Vec<u32>,
    /// True if each has a thread.
    pub in_threads: bool,
}

impl Tuning {
    /// As runs have it.
    pub const USE: Tuning = Tuning {
        few_inputs: 64,
        asked_ahead: 20,
        many_flows: 200,
        entries_kept: 1024,
        arrivals_at_once: 1 << 13,
        crossings_at_once: 1 << 10,
        regions: None,
        warms_up_beside: false,
    };
    /// With which scenarios of a few flows take the ways of crowds, for tests.
    pub const SMALL: Tuning = Tuning {
        few_inputs: 4,
        asked_ahead: 2,
        many_flows: 1,
        entries_kept: 4,
        arrivals_at_once: 3,
        crossings_at_once: 2,
        regions: None,
        warms_up_beside: false,
    };
}
