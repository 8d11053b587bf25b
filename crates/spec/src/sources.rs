//! Sources: what sends cells or datagrams at its own pace, whatever becomes of them.

use crate::check::{RUN_MAX_PS, range, structure};
use crate::framing::LONGEST_PACKET;
use crate::{DistributionSpec, NetworkSpec, SpecError, StartSpec, VcSpec, WHOLE_PPB};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};
use skycell_units::Octets;

/// Least time of a list for each of its packets, where it is repeated.
const LEAST_PACKET_PS: u64 = 1_000;

/// A source of cells at the host where its VC begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SourceSpec {
    /// Name in the scenario, unique among the sources.
    pub name: String,
    /// VC that carries its cells, and nobody else's; the first of `datagram_route` where it has one.
    pub vc: u32,
    /// VCs that carry its frames one after the other, joined by routers, which may be those of
    /// TCP connections: each frame is handed over whole, as a UDP datagram is. Empty for cells.
    pub datagram_route: Vec<u32>,
    /// Time from one cell to the next while it sends, the reciprocal of its peak cell rate,
    /// picoseconds, above zero; 0 with a list of packets, which has their times, and for an echo.
    pub cell_interval_ps: u64,
    /// Cells of an AAL5 frame, above zero; 1 for cells without frames. The last frame of a burst is
    /// as long as the burst leaves it; a datagram is never cut. Of the packets of a list each has its own.
    pub frame_cells: u32,
    /// Octets of the IP packet that each datagram is; then `cell_interval_ps` is the time from one datagram to the
    /// next. Above zero where a VC of its route carries packets; the key is left out where it is 0. Of a list the longest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub datagram_octets: Octets,
    /// When it sends.
    pub pattern: SourcePattern,
    /// When it begins.
    pub start: StartSpec,
    /// Which of its frames, or of its datagrams in cells, it sends with CLP = 1; the key is left out where none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clp: Option<ClpSpec>,
}

/// Which frames of a source of cells have CLP = 1, all cells of a frame alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClpSpec {
    /// Each by itself with one probability, drawn from the stream `source/<name>/clp`.
    Drawn {
        /// The probability in parts of 10^9, above zero, at most 10^9.
        part_ppb: u32,
    },
    /// By a list, over and over.
    Pattern {
        /// CLP of the first frame, of the second and so on, at least one.
        bits: Vec<bool>,
    },
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SourcePattern {
    /// Always: constant bit rate.
    Constant,
    /// In bursts: a cell as an on time begins, and one after each interval that ends within it.
    OnOff {
        /// Length of a burst, drawn from the stream `source/<name>/on`.
        on: DistributionSpec,
        /// Time from the end of a burst to the next, drawn from the stream `source/<name>/off`.
        off: DistributionSpec,
        /// How far the source is into its first cycle, on time first, when it begins.
        phase: PhaseSpec,
    },
    /// Packets of a list, each with a time and a length of its own, as datagrams.
    Trace {
        /// When each is sent, picoseconds from the start of the source, not descending, at most 100 days.
        times_ps: Vec<u64>,
        /// Octets of each as an IP packet, 1 to 65535; in cells it goes behind LLC/SNAP.
        octets: Vec<Octets>,
        /// The list begins anew after this time, over and over, picoseconds, above zero and not before its last
        /// packet; none for once.
        period_ps: Option<u64>,
    },
    /// In listed bursts: a cell as each begins, and one after each interval that ends within it.
    Bursts {
        /// When each begins, picoseconds from the start of the source, at most 100 days.
        begins_ps: Vec<u64>,
        /// How long each lasts, picoseconds, above zero, at most up to the begin of the next.
        lengths_ps: Vec<u64>,
    },
    /// Answers each datagram of another source at once, as a host answers pings.
    Echo {
        /// Id of the other source, whose route ends where this one begins; it is no echo.
        of: u32,
    },
}

/// A place in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseSpec {
    /// A given one.
    At {
        /// Picoseconds from the begin of the cycle.
        offset_ps: u64,
    },
    /// Uniform over [0, below), drawn from the stream `source/<name>/phase`.
    Drawn {
        /// Picoseconds, above zero.
        below_ps: u64,
    },
}

/// A list of packets has times and lengths that packets can have, and says itself what its source says.
pub(crate) fn validate_trace(i: usize, source: &SourceSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("sources[{i}].{key}");
    let SourcePattern::Trace {
        times_ps,
        octets,
        period_ps,
    } = &source.pattern
    else {
        return Ok(());
    };
    if source.datagram_route.is_empty() {
        return Err(structure(at("pattern"), "needs a datagram_route"));
    }
    let (Some(&last), Some(&longest)) = (times_ps.last(), octets.iter().max()) else {
        return Err(structure(at("pattern"), "needs at least one packet"));
    };
    if times_ps.len() != octets.len() {
        let problem = "needs as many times as octets";
        return Err(structure(at("pattern"), problem));
    }
    if !times_ps.is_sorted() {
        return Err(structure(at("pattern.times_ps"), "must not descend"));
    }
    for (key, time) in [("times_ps", Some(last)), ("period_ps", *period_ps)] {
        if let Some(time) = time.filter(|&time| time > RUN_MAX_PS) {
            return Err(range(
                at(&format!("pattern.{key}")),
                time,
                "at most 100 days",
            ));
        }
    }
    // A shorter one is a slip of the pen that no run would come to the end of.
    let shortest = last.max(times_ps.len() as u64 * LEAST_PACKET_PS);
    if let Some(period) = period_ps.filter(|&period| period < shortest) {
        let allowed =
            "a nanosecond and more for each packet, and no less than the last of times_ps";
        return Err(range(at("pattern.period_ps"), period, allowed));
    }
    let allowed = 1..=LONGEST_PACKET;
    if let Some(faulty) = octets.iter().find(|&octets| !allowed.contains(octets)) {
        return Err(range(at("pattern.octets"), faulty, "1 to 65535"));
    }
    if source.datagram_octets != longest {
        let allowed = "the longest of pattern.octets";
        return Err(range(
            at("datagram_octets"),
            source.datagram_octets,
            allowed,
        ));
    }
    if source.cell_interval_ps != 0 {
        let (got, allowed) = (source.cell_interval_ps, "0 with a list of packets");
        return Err(range(at("cell_interval_ps"), got, allowed));
    }
    Ok(())
}

/// An echo answers datagrams that come to where it begins, and has no times of its own.
pub(crate) fn validate_echo(spec: &NetworkSpec, i: usize) -> Result<(), SpecError> {
    let source = &spec.sources[i];
    let at = |key: &str| format!("sources[{i}].{key}");
    let SourcePattern::Echo { of } = source.pattern else {
        return Ok(());
    };
    let Some(asking) = spec.sources.get(of as usize) else {
        return Err(structure(at("pattern.of"), "no such source"));
    };
    let is_echo = |source: &SourceSpec| matches!(source.pattern, SourcePattern::Echo { .. });
    if is_echo(asking) || asking.datagram_route.is_empty() || source.datagram_route.is_empty() {
        let problem = "an echo answers datagrams with datagrams, and no other echo";
        return Err(structure(at("pattern.of"), problem));
    }
    let last = *asking.datagram_route.last().expect("it is not empty") as usize;
    if spec.vc_destination(last) != spec.vc_source(source.vc as usize) {
        let problem = "the datagrams of the other source end where an echo begins";
        return Err(structure(at("vc"), problem));
    }
    if source.datagram_octets != asking.datagram_octets {
        let allowed = "as many as of what it answers";
        let path = at("datagram_octets");
        return Err(range(path, source.datagram_octets, allowed));
    }
    if source.frame_cells != asking.frame_cells {
        let allowed = "as many as of what it answers";
        return Err(range(at("frame_cells"), source.frame_cells, allowed));
    }
    if source.cell_interval_ps != 0 {
        let (got, allowed) = (source.cell_interval_ps, "0 for an echo");
        return Err(range(at("cell_interval_ps"), got, allowed));
    }
    let of_same = spec.sources[..i].iter();
    if of_same
        .into_iter()
        .any(|other| other.pattern == source.pattern)
    {
        return Err(structure(at("pattern.of"), "a source has one echo"));
    }
    Ok(())
}

/// Bursts of a list come one after the other.
pub(crate) fn validate_bursts(i: usize, source: &SourceSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("sources[{i}].pattern.{key}");
    let SourcePattern::Bursts {
        begins_ps,
        lengths_ps,
    } = &source.pattern
    else {
        return Ok(());
    };
    if begins_ps.len() != lengths_ps.len() {
        let problem = "needs as many as begins_ps";
        return Err(structure(at("lengths_ps"), problem));
    }
    let mut free_from = 0;
    for (&begin, &length) in begins_ps.iter().zip(lengths_ps) {
        if begin > RUN_MAX_PS {
            return Err(range(at("begins_ps"), begin, "at most 100 days"));
        }
        if begin < free_from {
            return Err(structure(at("begins_ps"), "none before the last has ended"));
        }
        if length == 0 || length > RUN_MAX_PS {
            let allowed = "above 0, at most 100 days";
            return Err(range(at("lengths_ps"), length, allowed));
        }
        free_from = begin + length;
    }
    Ok(())
}

/// CLP is that of cells, which a VC without a rule of its own for that bit carries as they are; a datagram has them on one
/// VC only.
pub(crate) fn validate_clp(
    i: usize,
    source: &SourceSpec,
    vc: &VcSpec,
    has_no_clp: bool,
) -> Result<(), SpecError> {
    let at = |key: &str| format!("sources[{i}].{key}");
    let Some(clp) = &source.clp else {
        return Ok(());
    };
    if has_no_clp || source.datagram_route.len() > 1 {
        let problem = "is that of cells of one VC with a path: packets, and datagrams behind a router, have none";
        return Err(structure(at("clp"), problem));
    }
    if vc.gfr.is_some() || vc.abr.is_some() {
        let problem = "the VC's contract of GFR or its rate control says which cells have CLP = 1";
        return Err(structure(at("clp"), problem));
    }
    match clp {
        ClpSpec::Drawn { part_ppb } if *part_ppb == 0 || *part_ppb > WHOLE_PPB => {
            let allowed = "above 0, at most 1000000000";
            Err(range(at("clp.part_ppb"), part_ppb, allowed))
        }
        ClpSpec::Pattern { bits } if bits.is_empty() => {
            Err(structure(at("clp.bits"), "needs at least one"))
        }
        _ => Ok(()),
    }
}
