//! Acknowledgements that take the places of others.

use super::*;
use skycell_switch::PureAck;

/// The same without a limit, in which acknowledgements take the places of others.
fn port_filtering_acks() -> Port {
    let mut link = link_of_packets(r#"{"kind": "tail_drop"}"#);
    link.port.queues[0].capacity_cells = None;
    link.port.ack_filter = true;
    port_at(&link)
}

/// Offers a packet of the flow with number `flow`, by name `frame`, which acknowledges up to an octet or does something else.
fn offer_ack(port: &mut Port, frame: u32, flow: u32, acknowledgement: Option<u64>) -> Verdict {
    port.on_frame(SimTime(frame.into()), PortVc(0), 1, |_| Cell {
        frame: FrameId(frame),
        flow,
        octets: 40,
        ack: acknowledgement.map(|acknowledgement| PureAck {
            connection: 0,
            acknowledgement,
            ece: false,
        }),
        ..packet(frame)
    })
}

#[test]
fn an_acknowledgement_takes_the_place_of_the_last_of_its_flow_that_waits() {
    let mut port = port_filtering_acks();
    offer_ack(&mut port, 0, 1, Some(100));
    port.begin_sending(SimTime(0)); // and stays, whatever comes
    offer_ack(&mut port, 1, 1, Some(200));
    offer_ack(&mut port, 2, 3, Some(700));
    offer_ack(&mut port, 3, 1, Some(300)); // in the place of 1, before 2
    offer_ack(&mut port, 4, 3, None); // SACK blocks, say
    offer_ack(&mut port, 5, 3, Some(800)); // which it does not overtake
    offer_ack(&mut port, 6, 3, Some(900)); // in the place of 5
    offer_ack(&mut port, 7, 1, Some(300)); // a duplicate
    offer_ack(&mut port, 8, 1, Some(400));
    let gone: Vec<_> = port.discarded.drain(..).collect();
    let gone: Vec<_> = gone
        .iter()
        .map(|(cell, why)| (cell.frame.0, *why))
        .collect();
    let filtered = DiscardReason::Filtered;
    assert_eq!(gone, [(1, filtered), (5, filtered)]);
    let record = port.record("p", SimTime(9), false);
    assert_eq!((record.arrived, record.queued), (9, 7));
    assert_eq!((record.discarded.filtered, record.queue.max), (2, 7));
    assert_eq!(record.octets.unwrap().queued, 7 * 40);
    let mut sent = Vec::new();
    let mut now = SimTime(40_000_000);
    loop {
        sent.push(port.sending().0.frame.0);
        port.on_departure(now, 0, Some(1));
        let Some(leaves) = port.begin_sending(now) else {
            break;
        };
        now = leaves;
    }
    assert_eq!(sent, [0, 3, 2, 4, 6, 7, 8]);
}
