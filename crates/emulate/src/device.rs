//! Devices behind which hosts are, and the hosts that their packets are for.

use crate::interface::{Frame, Interface, Mac, PAYLOAD};
use crate::os::Tun;
use crate::packet::{destination, is_ipv4};
use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;

/// The device behind which a host is.
#[derive(Debug)]
pub(crate) enum Device {
    /// A device of the path's own, in the host's namespace.
    Tun(Tun),
    /// An interface of this machine.
    Interface(Interface),
}

impl Device {
    /// Returns the next packet that the host has sent; none if there is nothing now.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match self {
            Device::Tun(tun) => tun.receive(buffer),
            Device::Interface(interface) => interface.receive(buffer),
        }
    }

    /// Hands the host what came from one that is behind a device of the same kind.
    pub(crate) fn send(&self, data: &[u8]) -> io::Result<()> {
        match self {
            Device::Tun(tun) => tun.send(data),
            Device::Interface(interface) => interface.send(data),
        }
    }

    /// Octets before the packet in what it receives.
    pub(crate) fn header(&self) -> usize {
        match self {
            Device::Tun(_) => 0,
            Device::Interface(_) => PAYLOAD,
        }
    }

    pub(crate) fn fd(&self) -> RawFd {
        match self {
            Device::Tun(tun) => tun.fd(),
            Device::Interface(interface) => interface.fd(),
        }
    }
}

/// Whom something is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addressee {
    /// The host of this place.
    Host(usize),
    /// All others, at once: it is no packet.
    Others,
    /// Nobody that is known.
    Nobody,
}

/// Which host has which address: 10.9.0.1 and so on behind devices of the path's own, by its frames behind an
/// interface, as a bridge learns it (IEEE 802.1D section 7.8).
#[derive(Debug)]
pub(crate) struct Addresses {
    hosts: usize,
    stations: HashMap<Mac, usize>,
}

impl Addresses {
    pub(crate) fn new(hosts: usize) -> Self {
        Addresses {
            hosts,
            stations: HashMap::new(),
        }
    }

    /// Whom a packet is for.
    pub(crate) fn of_packet(&self, packet: &[u8]) -> Addressee {
        let to = is_ipv4(packet).then(|| usize::from(destination(packet).octets()[3]));
        match to {
            Some(to) if (1..=self.hosts).contains(&to) => Addressee::Host(to - 1),
            _ => Addressee::Nobody,
        }
    }

    /// Whom a frame from a host is for, and notes that its sender is there.
    pub(crate) fn of_frame(&mut self, from: usize, frame: Frame<'_>) -> Addressee {
        self.stations.insert(frame.source(), from);
        if frame.is_arp() {
            return Addressee::Others;
        }
        match self.stations.get(&frame.destination()) {
            Some(&to) if to == from => Addressee::Nobody,
            Some(&to) => Addressee::Host(to),
            None if self.hosts == 2 => Addressee::Host(1 - from),
            None => Addressee::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::tests::frame;

    #[test]
    fn a_packet_is_for_the_host_of_its_address() {
        let addresses = Addresses::new(3);
        let to = |last: u8| {
            let mut packet = vec![0x45; 20];
            packet[16..20].copy_from_slice(&[10, 9, 0, last]);
            addresses.of_packet(&packet)
        };
        assert_eq!(to(1), Addressee::Host(0));
        assert_eq!(to(3), Addressee::Host(2));
        // 10.9.0.0 and 10.9.0.255 are nobody, and so is what is no IPv4.
        assert_eq!(
            [to(0), to(4), to(255), addresses.of_packet(&[0x60; 40])],
            [Addressee::Nobody; 4]
        );
    }

    #[test]
    fn a_frame_is_for_the_host_whose_frames_had_its_address() {
        let (one, other, unknown) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2; 6]);
        let mut three = Addresses::new(3);
        let mut to = |from: usize, source: Mac, to: Mac, kind: u16| {
            three.of_frame(from, Frame(&frame(source, to, kind, &[0; 46])))
        };
        let (ip, arp) = (0x0800, 0x0806);
        assert_eq!(to(0, one, [255; 6], arp), Addressee::Others);
        assert_eq!(to(2, other, one, ip), Addressee::Host(0));
        assert_eq!(to(0, one, other, ip), Addressee::Host(2));
        assert_eq!(to(0, one, unknown, ip), Addressee::Nobody);
        // Of another one on the same side.
        assert_eq!(to(0, [4; 6], one, ip), Addressee::Nobody);
        let mut two = Addresses::new(2);
        let sent = frame(one, unknown, ip, &[0; 46]);
        assert_eq!(two.of_frame(0, Frame(&sent)), Addressee::Host(1));
        assert_eq!(
            two.of_frame(1, Frame(&frame(other, unknown, ip, &[0; 46]))),
            Addressee::Host(0)
        );
    }
}
