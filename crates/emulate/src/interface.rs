//! Network interfaces that this machine has, behind which hosts are: their frames, as a bridge sees them.
#![allow(unsafe_code)] // calls of the C library; each says why it is sound

use crate::os::{ask, checked, named};
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Octets of `struct virtio_net_hdr` (linux/virtio_net.h), which stands before each frame: it says whether the checksum
/// is yet to be made, as for frames that have never been on a wire, and whether several packets go as one.
const OFFLOADS: usize = 10;
/// Where that says so, and what it says of one packet.
const OFFLOAD_KIND: usize = 1;
const ONE_PACKET: u8 = 0;
/// Of `packet(7)`, where the C library has no name for it.
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// Octets that wait in the kernel for the forwarder: none is to be lost there.
const WAITING_OCTETS: libc::c_int = 64 << 20;

/// An interface whose frames come here and nowhere else.
#[derive(Debug)]
pub(crate) struct Interface {
    name: String,
    socket: File,
}

impl Interface {
    /// Of this thread's namespace; it must be up, and be no interface of the machine's own.
    ///
    /// # Errors
    /// There is none of this name, it is down, it has an IPv4 address, or the system refuses.
    pub(crate) fn open(name: &str) -> io::Result<Self> {
        let refused = |why: String| Err(io::Error::other(why));
        if name.len() >= libc::IFNAMSIZ {
            return refused(format!("no interface has a name of {} octets", name.len()));
        }
        // SAFETY: takes no pointer; the descriptor is new and ours alone.
        let socket = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?)
        };
        let fd = socket.as_raw_fd();
        let mut request = named(name.as_bytes());
        ask(fd, libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: the kernel has written the flags.
        let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
        if flags & libc::IFF_UP == 0 {
            return refused(format!("it is down: ip link set {name} up"));
        }
        let of_addresses = crate::os::socket(libc::SOCK_DGRAM)?;
        let mut request = named(name.as_bytes());
        if ask(of_addresses.as_raw_fd(), libc::SIOCGIFADDR, &mut request).is_ok() {
            return refused(format!(
                "it has an address, so that this machine answers beside the path: ip address flush dev {name}"
            ));
        }
        let mut request = named(name.as_bytes());
        ask(fd, libc::SIOCGIFINDEX, &mut request)?;
        // SAFETY: the kernel has written the index.
        let index = unsafe { request.ifr_ifru.ifru_ifindex };
        set(fd, libc::SOL_PACKET, PACKET_VNET_HDR, &1)?;
        set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1)?;
        // Beyond the system's limit where this may be; else up to it.
        set(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &WAITING_OCTETS)
            .or_else(|_| set(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &WAITING_OCTETS))?;
        // SAFETY: all zeros are an address of no interface.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: a whole `sockaddr_ll` of that length.
        checked(unsafe { libc::bind(fd, (&raw const address).cast(), length) })?;
        // SAFETY: all zeros are a membership of no interface.
        let mut all: libc::packet_mreq = unsafe { zeroed() };
        all.mr_ifindex = index;
        all.mr_type = libc::PACKET_MR_PROMISC as u16;
        set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)?;
        Ok(Interface {
            name: name.to_owned(),
            socket: socket.into(),
        })
    }

    /// The next frame that came, behind what says of its offloads; none where there is none now.
    ///
    /// # Errors
    /// The system refuses, or several packets came as one: no link carries such.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        let octets = match (&self.socket).read(buffer) {
            Ok(octets) => octets,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        if octets < PAYLOAD {
            return Ok(None);
        }
        if buffer[OFFLOAD_KIND] != ONE_PACKET {
            let name = &self.name;
            return Err(io::Error::other(format!(
                "several packets come as one from {name}, which leaves it to a network card to cut them: `ethtool -K \
                 {name} gro off` here, `ethtool -K INTERFACE tso off gso off` at the host behind it"
            )));
        }
        Ok(Some(&buffer[..octets]))
    }

    /// Hands a frame over as it was received.
    pub(crate) fn send(&self, frame: &[u8]) -> io::Result<()> {
        (&self.socket).write_all(frame)
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// Octets of an Ethernet header.
const ETHERNET: usize = 14;
/// Where what a frame carries begins.
pub(crate) const PAYLOAD: usize = OFFLOADS + ETHERNET;
const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;

/// A frame as it was received, with what says of its offloads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a>(pub(crate) &'a [u8]);

/// An address of the link layer.
pub(crate) type Mac = [u8; 6];

impl<'a> Frame<'a> {
    fn header(self) -> &'a [u8] {
        &self.0[OFFLOADS..PAYLOAD]
    }

    pub(crate) fn destination(self) -> Mac {
        self.header()[..6].try_into().expect("six octets")
    }

    pub(crate) fn source(self) -> Mac {
        self.header()[6..12].try_into().expect("six octets")
    }

    fn kind(self) -> u16 {
        u16::from_be_bytes([self.header()[12], self.header()[13]])
    }

    /// Returns whether the frame is an ARP frame, which is no packet and does not take the path.
    pub(crate) fn is_arp(self) -> bool {
        self.kind() == ARP
    }

    /// Returns the payload; for an IPv4 packet without the padding of a short frame.
    pub(crate) fn packet(self) -> &'a [u8] {
        let data = &self.0[PAYLOAD..];
        if self.kind() != IPV4 || data.len() < 4 {
            return data;
        }
        let total = usize::from(u16::from_be_bytes([data[2], data[3]]));
        &data[..total.min(data.len())]
    }
}

/// Sets an option of a socket.
fn set<T>(fd: RawFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` has `length` octets and lives through the call.
    checked(unsafe {
        libc::setsockopt(fd, level, option, std::ptr::from_ref(value).cast(), length)
    })
    .map(drop)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A frame as it is received.
    pub(crate) fn frame(source: Mac, destination: Mac, kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; OFFLOADS];
        frame.extend(destination);
        frame.extend(source);
        frame.extend(kind.to_be_bytes());
        frame.extend(payload);
        frame
    }

    #[test]
    fn a_frame_says_who_it_is_from_and_what_it_carries() {
        let mut packet = vec![0x45, 0, 0, 28];
        packet.resize(46, 0); // padded to the least frame of Ethernet
        let (one, other) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let of_ip = frame(other, one, IPV4, &packet);
        let of_ip = Frame(&of_ip);
        assert_eq!((of_ip.destination(), of_ip.source()), (one, other));
        assert_eq!(of_ip.packet().len(), 28);
        assert!(!of_ip.is_arp());
        let of_ipv6 = frame(other, one, 0x86dd, &[0x60; 46]);
        assert_eq!(Frame(&of_ipv6).packet().len(), 46);
        assert!(Frame(&frame(other, one, ARP, &[0; 46])).is_arp());
    }

    #[test]
    fn an_interface_that_there_is_not_or_with_an_address_is_refused() {
        let said = |name: &str| Interface::open(name).unwrap_err().to_string();
        assert!(said("of-sixteen-chars").contains("16 octets"));
        // Without the right to raw sockets there is no more to be tried.
        if crate::os::is_root() {
            assert!(said("nowhere0").contains("No such device"));
            assert!(said("lo").contains("it has an address"));
        }
    }
}
