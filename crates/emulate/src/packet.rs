//! The fields of an IPv4 packet that the forwarder reads, and the one field that it writes.

use skycell_units::Ecn;
use std::net::Ipv4Addr;

/// Octets of an IPv4 header without options.
const LEAST_HEADER: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A TCP segment in an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpSegment {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    /// Octets of payload.
    pub(crate) payload: usize,
}

/// Returns whether it is an IPv4 packet with a complete header.
pub(crate) fn is_ipv4(packet: &[u8]) -> bool {
    packet.len() >= LEAST_HEADER && packet[0] >> 4 == 4
}

/// The TCP segment of an IPv4 packet, if it carries one with a whole header.
pub(crate) fn tcp(packet: &[u8]) -> Option<TcpSegment> {
    let header = usize::from(packet[0] & 15) * 4;
    if packet[9] != TCP || packet.len() < header + 20 {
        return None;
    }
    let port = |at: usize| u16::from_be_bytes([packet[header + at], packet[header + at + 1]]);
    let offset = usize::from(packet[header + 12] >> 4) * 4;
    Some(TcpSegment {
        source_port: port(0),
        destination_port: port(2),
        payload: packet.len().saturating_sub(header + offset),
    })
}

/// Where an IPv4 packet goes.
pub(crate) fn destination(packet: &[u8]) -> Ipv4Addr {
    Ipv4Addr::new(packet[16], packet[17], packet[18], packet[19])
}

/// The key of a flow: protocol, both addresses, and the octets at the place of TCP's and UDP's
/// ports.
pub(crate) type FlowKey = (u8, [u8; 8], [u8; 4]);

/// The flow of an IPv4 packet; a fragment, and what has no ports, has none of them. What is no IPv4 packet is one flow.
pub(crate) fn flow_key(packet: &[u8]) -> FlowKey {
    if !is_ipv4(packet) {
        return (0, [0; 8], [0; 4]);
    }
    let header = usize::from(packet[0] & 15) * 4;
    let has_ports = matches!(packet[9], TCP | UDP) && (packet[6] & 0x3f, packet[7]) == (0, 0);
    let addresses = packet[12..20].try_into().expect("eight octets");
    let ports = packet.get(header..header + 4).filter(|_| has_ports);
    let ports = ports.map_or([0; 4], |ports| ports.try_into().expect("four octets"));
    (packet[9], addresses, ports)
}

/// The ECN field of an IPv4 packet (RFC 3168 section 5); that of what is none is not read.
pub(crate) fn ecn(packet: &[u8]) -> Ecn {
    if !is_ipv4(packet) {
        return Ecn::NotEct;
    }
    match packet[1] & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Sets CE, and has the header's checksum follow (RFC 1624 equation 3).
pub(crate) fn mark(packet: &mut [u8]) {
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] |= 3;
    let after = word(packet, 0);
    let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    let checksum = !(sum as u16);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 octets of IP, 32 of TCP with the timestamps option, and a payload; ports 40001 and 5001.
    fn segment(payload: usize, tos: u8) -> Vec<u8> {
        let mut packet = vec![0; 52 + payload];
        packet[..2].copy_from_slice(&[0x45, tos]);
        packet[9] = TCP;
        packet[20..24].copy_from_slice(&[0x9c, 0x41, 0x13, 0x89]);
        packet[32] = 8 << 4;
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// RFC 1071: the complement of the sum of the words in ones' complement.
    fn checksum(packet: &[u8]) -> u16 {
        let words = packet[..20].chunks(2);
        let sum: u32 = words.map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn ports_and_payload_are_read() {
        let found = tcp(&segment(1_448, 0)).unwrap();
        assert_eq!((found.source_port, found.destination_port), (40_001, 5_001));
        assert_eq!(found.payload, 1_448);
        assert_eq!(tcp(&segment(0, 0)).unwrap().payload, 0);
        let mut udp = segment(10, 0);
        udp[9] = 17;
        assert_eq!(tcp(&udp), None);
        assert_eq!(tcp(&segment(0, 0)[..30]), None);
        assert!(!is_ipv4(&[0x60; 40]));
    }

    #[test]
    fn a_flow_is_known_by_its_ports_where_a_packet_has_them() {
        let (one, mut other) = (segment(10, 0), segment(1_000, 2));
        assert_eq!(flow_key(&one), flow_key(&other));
        other[21] += 1;
        assert_ne!(flow_key(&one), flow_key(&other));
        // The second fragment of a datagram, and an echo request, begin with whatever they carry.
        for (at, value) in [(7, 185), (9, 1)] {
            let mut portless = one.clone();
            portless[at] = value;
            assert_eq!(flow_key(&portless).2, [0; 4]);
        }
    }

    #[test]
    fn a_mark_sets_ce_and_keeps_the_checksum_right() {
        for (tos, before) in [(1, Ecn::Ect1), (2, Ecn::Ect0), (0xb8 | 2, Ecn::Ect0)] {
            let mut packet = segment(100, tos);
            assert_eq!(ecn(&packet), before);
            assert_eq!(checksum(&packet), 0); // with its own checksum in it
            mark(&mut packet);
            assert_eq!(ecn(&packet), Ecn::Ce);
            assert_eq!(packet[1], tos | 3);
            assert_eq!(checksum(&packet), 0);
        }
    }
}
