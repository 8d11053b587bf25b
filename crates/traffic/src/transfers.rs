//! Transfers of one size, one after the other: when each is acknowledged, and when it has come.

use crate::{Flow, Outbox};
use skycell_apps::Draw;
use skycell_spec::{DistributionSpec, TrafficSpec};
use skycell_units::{Octets, SimTime};

/// Transfers of a flow that arrive one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deliveries {
    /// Id of the flow.
    flow: u32,
    /// Octets of each.
    octets: Octets,
    /// Octets of all up to the next.
    end: Octets,
}

impl Deliveries {
    /// Those of the flow `id`, if its traffic is transfers.
    pub(crate) fn of(id: u32, traffic: &TrafficSpec) -> Option<Self> {
        match *traffic {
            TrafficSpec::Transfers { size_octets, .. } => Some(Deliveries {
                flow: id,
                octets: size_octets,
                end: size_octets,
            }),
            TrafficSpec::Persistent | TrafficSpec::Web(_) => None,
        }
    }
}

impl Flow {
    /// The source has heard something: a transfer may be acknowledged, and the next one due.
    pub(crate) fn on_transfer_progress(&mut self, now: SimTime, out: &mut Outbox) {
        let TrafficSpec::Transfers {
            size_octets,
            count,
            idle,
            new_connection,
        } = self.application.traffic
        else {
            return;
        };
        let application = &mut *self.application;
        if let Some(since) = application.transfer_since
            && self.sender.is_all_acked()
        {
            application.transfer_since = None;
            application.transfers += 1;
            if application.traces_transfers {
                let trace = &mut out.traces.transfers;
                trace.push(application.id, since.0, now.0, size_octets);
            }
            if new_connection {
                application.closing_since = Some(now);
                self.sender.close(now, &mut out.forward);
            } else {
                self.plan_next(now, count, idle);
            }
        }
        if !self.sender.is_open()
            && let Some(since) = self.application.connected_since.take()
        {
            let application = &mut *self.application;
            application.connected += now - since;
            let closing_since = application.closing_since.take().unwrap_or(now);
            application.closing += now - closing_since;
            application.closings += 1;
            self.plan_next(now, count, idle);
        }
    }

    fn plan_next(&mut self, now: SimTime, count: Option<u32>, idle: DistributionSpec) {
        let application = &mut *self.application;
        if count.is_none_or(|count| application.transfers < u64::from(count)) {
            let idle = idle.draw(&mut application.idle_stream);
            self.application_due = now + SimTime(idle);
        }
    }

    /// Something has arrived at the destination: transfers may be whole there.
    pub(crate) fn trace_deliveries(&mut self, now: SimTime, out: &mut Outbox) {
        let delivered = self.receiver.counters().octets_delivered;
        let Some(next) = &mut self.application.deliveries else {
            return;
        };
        while next.end <= delivered {
            let trace = &mut out.traces.deliveries;
            trace.push(next.flow, now.0, next.octets);
            next.end += next.octets;
        }
    }

    /// Stops tracing arrived transfers, because the flow does not end here.
    pub(crate) fn give_up_deliveries(&mut self) -> Option<Deliveries> {
        self.destination.traces_deliveries = false;
        self.application.deliveries.take()
    }

    /// It traces the transfers of the flow that come to its end.
    pub(crate) fn take_deliveries(&mut self, deliveries: Option<Deliveries>) {
        self.destination.traces_deliveries = deliveries.is_some();
        self.application.deliveries = deliveries;
    }
}
