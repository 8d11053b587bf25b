//! Records of the regions of a network, put together: what each counted is a part of the whole.

use crate::pep::joined_web;
use crate::{Discards, FlowRecord, LinkLosses, VcRecord, WebRecord};

/// Adds counters to those of another region.
macro_rules! add {
    ($all:expr, $more:expr; $($field:ident),* $(,)?) => {
        $($all.$field += $more.$field;)*
    };
}

impl FlowRecord {
    /// The row of a flow, from one in which its source is right and one in which its destination is; in each, the other
    /// end has never acted.
    #[must_use]
    pub fn of_ends(source: FlowRecord, destination: &FlowRecord) -> FlowRecord {
        let webs = source.web.clone().zip(destination.web.clone());
        FlowRecord {
            control_segments: source.control_segments + destination.control_segments,
            web: webs.map(|(of_server, of_user)| WebRecord::of_ends(of_server, of_user)),
            ..source.with_destination(destination)
        }
    }

    /// The row with what another says of its destination.
    #[must_use]
    pub(crate) fn with_destination(self, other: &FlowRecord) -> FlowRecord {
        FlowRecord {
            octets_delivered: other.octets_delivered,
            octets_received: other.octets_received,
            octets_highest: other.octets_highest,
            segments_received: other.segments_received,
            segments_duplicate: other.segments_duplicate,
            acks_sent: other.acks_sent,
            segments_marked: other.segments_marked,
            octets_waiting: other.octets_waiting,
            delay_mean_ps: other.delay_mean_ps,
            delay_min_ps: other.delay_min_ps,
            delay_max_ps: other.delay_max_ps,
            ..self
        }
    }
}

impl WebRecord {
    /// The same of a server and a user: the user's end sends requests, the server's answers them.
    fn of_ends(of_server: WebRecord, of_user: WebRecord) -> WebRecord {
        let controls = of_server.request_stream.control_segments;
        let mut whole = joined_web(of_server, of_user);
        whole.request_stream.control_segments += controls;
        whole
    }
}

impl VcRecord {
    /// Adds the cells and frames that another region has counted. What one region alone keeps, where the VC begins or
    /// ends, is left as it is.
    pub fn add_cells(&mut self, other: &VcRecord) {
        add!(self, other; cells_offered, cells_delivered, cells_nonconforming, cells_tagged, cells_policed,
            cells_queued, cells_in_transit, frames_offered, frames_delivered, cells_whole, frames_corrupt, frames_crc,
            cells_corrupt, cells_open, frames_eligible, cells_eligible, frames_tagged, frames_oversized,
            frames_inconsistent, frames_refused, cells_refused);
        add_discards(&mut self.cells_discarded, &other.cells_discarded);
        add_losses(&mut self.cells_lost, &other.cells_lost);
    }
}

fn add_discards(all: &mut Discards, more: &Discards) {
    add!(all, more; overflow, rest_of_frame, above_threshold, over_fair_share, vc_threshold, drawn, tagged, delayed,
        pushed_out, policed, filtered);
}

fn add_losses(all: &mut LinkLosses, more: &LinkLosses) {
    add!(all, more; handover, drawn, off_path, header, misinserted, check, no_route, out_of_range, hop_limit);
}
