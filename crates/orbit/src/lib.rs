//! Constellations: where satellites are, what they see and link to, and the delay of paths over time.
//!
//! The crate knows no network and no Python. An [`OrbitSpec`] goes in; positions, paths and series
//! come out, with every delay in whole picoseconds, as an engine wants them. Formulas use `libm`, so
//! that patterns give the same numbers on every machine.

pub mod absent;
pub mod accuracy;
mod acquired;
pub mod changes;
pub mod decay;
pub mod earth;
pub mod elements;
pub mod ephemeris;
pub mod frames;
pub mod graph;
pub mod hidden;
pub mod links;
pub mod motion;
pub mod network;
pub mod passes;
pub mod path;
pub mod pattern;
pub mod route;
pub mod series;
pub mod sky;
pub mod slots;
pub mod spec;
pub mod spread;
pub mod station;
pub mod tle_faults;
pub mod tree;
pub mod vector;

pub use absent::{Absences, Absent};
pub use changes::Change;
pub use hidden::Hidden;
pub use motion::{Fleet, Judged, LeftOut};
pub use network::{Ground, ListedRoute, Metric, NetworkRequest, Outage, Routing, Terrestrial};
pub use path::{NoPath, Path};
pub use series::{Progress, Series, SeriesRequest};
pub use sky::{Sky, World};
pub use spec::OrbitSpec;
pub use spread::Spread;

/// Mean elements of one satellite.
pub use sgp4::Elements;

/// Why nothing can be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OrbitError {
    /// The spec has no meaning.
    #[error("{0}")]
    Spec(String),
    /// Mean elements or ephemerides without a moment in time.
    #[error("satellites of elements and ephemerides need a rotation that is tied to UTC")]
    NoStartDate,
    /// A table of routes has a route over a link that there never is.
    #[error(
        "node {node} forwards to label {label} over node {next} from {at_ps} ps on, and the two are \
         never linked"
    )]
    NoLink {
        /// Number of the node.
        node: u32,
        /// Number of the label.
        label: u16,
        /// Number of the next node.
        next: u32,
        /// When the route begins.
        at_ps: u64,
    },
    /// The caller gave it up.
    #[error("given up")]
    Cancelled,
}
