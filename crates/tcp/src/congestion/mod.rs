//! Congestion control: how cwnd grows in congestion avoidance, and what a loss leaves of it.
//!
//! Retransmissions and their times belong to [loss recovery](crate::recovery), growth of cwnd below
//! ssthresh to [slow start](crate::slow_start). [`Window`](crate::window::Window) holds cwnd and
//! ssthresh and asks.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
mod high_speed;
mod linux_cubic;
mod marked;
mod max_filter;
mod path_model;
mod prague;
mod reno;
mod vegas;

pub(crate) use path_model::{Lost, Path, PathModel, RateSample, burst_size as model_burst_size};
pub(crate) use reno::{HALF, growth as reno_growth};

use crate::kinds::{kinds, kinds_with_states};
use crate::spec::{SsthreshBasis, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};
use skycell_units::{Ecn, Octets};

pub use bbr::BbrSpec;
pub use bbr3::Bbr3Spec;
use cubic::Cubic;
pub use cubic::CubicSpec;
use dctcp::Dctcp;
pub use dctcp::DctcpSpec;
use high_speed::HighSpeed;
pub use high_speed::HighSpeedSpec;
use linux_cubic::LinuxCubic;
pub use linux_cubic::LinuxCubicSpec;
use prague::Prague;
pub use prague::PragueSpec;
use reno::{CountedAcks, CountedOctets, CountedSegments};
pub use reno::{RenoCongestionSpec, RenoGrowth};
use vegas::Vegas;
pub use vegas::VegasSpec;

kinds_with_states! {
    /// How cwnd grows in congestion avoidance and what a loss leaves of it.
    spec CongestionSpec {
        Reno(RenoCongestionSpec),
        Cubic(CubicSpec),
        LinuxCubic(LinuxCubicSpec),
        Bbr(BbrSpec),
        Bbr3(Bbr3Spec),
        Dctcp(DctcpSpec),
        Prague(PragueSpec),
        Vegas(VegasSpec),
        HighSpeed(HighSpeedSpec),
    }
    types { RenoGrowth, }
    /// The state of a congestion control, of any kind with state.
    state Congestion {
        CountedAcks,
        CountedOctets,
        CountedSegments,
        Cubic,
        LinuxCubic,
        Dctcp,
        Prague,
        Vegas,
        HighSpeed,
    }
}

/// The declared parameters of a congestion control, and what it asks of the rest of a sender.
pub(crate) trait CongestionRule: Rule {
    /// Its state as a connection opens; none for a kind that keeps nothing, so that what others keep
    /// costs its senders neither room nor time.
    fn state(&self) -> Option<Congestion> {
        None
    }

    /// Returns whether cwnd is counted in whole octets.
    fn is_whole(&self) -> bool {
        false
    }

    /// Returns whether a loss leaves whole segments.
    fn is_in_segments(&self) -> bool {
        false
    }

    /// See [`CongestionSpec::has_model`].
    fn has_model(&self) -> bool {
        false
    }

    /// See [`CongestionSpec::needs_round_trips`].
    fn needs_round_trips(&self) -> bool {
        false
    }

    /// See [`CongestionSpec::is_scalable`].
    fn is_scalable(&self) -> bool {
        false
    }

    /// Returns whether segments without a mark make cwnd grow while it is being reduced for others.
    fn grows_through_marks(&self) -> bool {
        false
    }

    /// The ECN field that says that queues may mark.
    fn ect(&self) -> Ecn {
        Ecn::Ect0
    }

    /// The value that a loss takes a part of.
    fn ssthresh_basis(&self) -> SsthreshBasis {
        SsthreshBasis::Cwnd
    }
}

impl CongestionSpec {
    /// Returns whether cwnd follows a model of the path: no loss cuts it, and slow start has no
    /// part in it. Such a control paces itself, and needs a sender that knows what is in flight.
    pub fn has_model(&self) -> bool {
        of_spec!(self, rule => rule.has_model())
    }

    /// Returns whether it needs a round trip of every ACK.
    pub fn needs_round_trips(&self) -> bool {
        of_spec!(self, rule => rule.needs_round_trips())
    }

    /// Returns whether the reduction by marks depends on their number: such a control needs an echo
    /// that says which segments were marked, and no other control asks for that.
    pub fn is_scalable(&self) -> bool {
        of_spec!(self, rule => rule.is_scalable())
    }

    pub(crate) fn is_whole(&self) -> bool {
        of_spec!(self, rule => rule.is_whole())
    }

    pub(crate) fn is_in_segments(&self) -> bool {
        of_spec!(self, rule => rule.is_in_segments())
    }

    pub(crate) fn grows_through_marks(&self) -> bool {
        of_spec!(self, rule => rule.grows_through_marks())
    }

    pub(crate) fn ect(&self) -> Ecn {
        of_spec!(self, rule => rule.ect())
    }

    pub(crate) fn ssthresh_basis(&self) -> SsthreshBasis {
        of_spec!(self, rule => rule.ssthresh_basis())
    }

    pub(crate) fn state(&self) -> Option<Congestion> {
        of_spec!(self, rule => rule.state())
    }
}

/// The state at an ACK of new data, as the host sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ack {
    /// Ticks of the host's clock.
    pub(crate) ticks: u64,
    /// RTT, smoothed, in eighths of a tick; 0 before the first sample.
    pub(crate) srtt_eighths: i64,
    /// segments_acked.
    pub(crate) segments: f64,
    /// The same in octets.
    pub(crate) octets: Octets,
    /// Everything below is acknowledged now.
    pub(crate) reached: u64,
    /// The next octet to send.
    pub(crate) next: u64,
    /// True if cwnd had no room for one more segment before it came.
    pub(crate) is_cwnd_limited: bool,
}

/// A round trip that an ACK has measured, before it makes cwnd grow. Times in picoseconds of the host's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The round trip.
    pub(crate) rtt_ps: u64,
    /// The same, smoothed.
    pub(crate) srtt_ps: u64,
    /// When the ACK came.
    pub(crate) now_ps: u64,
    /// Everything below is acknowledged now.
    pub(crate) reached: u64,
    /// The next octet to send.
    pub(crate) next: u64,
}

/// An ACK's report of marks, if it says which segments had them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// Octets that it acknowledges.
    pub(crate) octets: Octets,
    /// True if these were marked.
    pub(crate) are_marked: bool,
    /// Everything below is acknowledged now.
    pub(crate) reached: u64,
    /// The next octet to send.
    pub(crate) next: u64,
}

/// The rule of one kind, with what it keeps from one ACK to the next. Windows are in octets.
pub(crate) trait CongestionControl {
    /// Returns the amount that an ACK of new data adds to `cwnd` in congestion avoidance, outside
    /// recovery.
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64;

    /// An ACK has measured a round trip, and will make cwnd grow unless there is recovery.
    fn on_sample(&mut self, _sample: &Sample) {}

    /// Returns the amount that it adds in slow start, whose rule adds `growth`.
    fn on_ack_in_slow_start(&mut self, _tcp: &TcpSpec, _cwnd: f64, growth: f64, _ack: &Ack) -> f64 {
        growth
    }

    /// ssthresh after an ACK has made cwnd what it is, outside recovery.
    fn ssthresh(&mut self, ssthresh: f64, _cwnd: f64) -> f64 {
        ssthresh
    }

    /// A loss, found in whichever way, with `cwnd`: the part that it leaves.
    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64;

    /// A mark, the first that is answered of a window: the part that it leaves of `cwnd`.
    fn on_mark(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        self.on_loss(tcp, cwnd)
    }

    /// An ACK has come whose echo says which segments were marked, whatever else it means.
    fn on_marks(&mut self, _marks: &Marks) {}

    /// The retransmission timer has run out, and `on_loss` has been called.
    fn on_rto(&mut self) {}

    /// The application goes on after idling, as the host's clock has counted `ticks`.
    fn on_idle_end(&mut self, _tcp: &TcpSpec, _ticks: u64) {}
}

impl CongestionControl for Congestion {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        of_any!(self, rule => rule.on_ack(tcp, cwnd, ack))
    }

    fn on_sample(&mut self, sample: &Sample) {
        of_any!(self, rule => rule.on_sample(sample));
    }

    fn on_ack_in_slow_start(&mut self, tcp: &TcpSpec, cwnd: f64, growth: f64, ack: &Ack) -> f64 {
        of_any!(self, rule => rule.on_ack_in_slow_start(tcp, cwnd, growth, ack))
    }

    fn ssthresh(&mut self, ssthresh: f64, cwnd: f64) -> f64 {
        of_any!(self, rule => rule.ssthresh(ssthresh, cwnd))
    }

    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        of_any!(self, rule => rule.on_loss(tcp, cwnd))
    }

    fn on_mark(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        of_any!(self, rule => rule.on_mark(tcp, cwnd))
    }

    fn on_marks(&mut self, marks: &Marks) {
        of_any!(self, rule => rule.on_marks(marks));
    }

    fn on_rto(&mut self) {
        of_any!(self, rule => rule.on_rto());
    }

    fn on_idle_end(&mut self, tcp: &TcpSpec, ticks: u64) {
        of_any!(self, rule => rule.on_idle_end(tcp, ticks));
    }
}
