//! System calls of Linux that the standard library does not offer: namespaces, TUN devices, TCP's
//! own view of a connection, and real-time priority.
#![allow(unsafe_code)] // calls of the C library; each says why it is sound

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::Duration;

/// Octets of the longest packet of a TUN device.
pub(crate) const MTU: usize = 1500;
/// Packets that wait in the kernel for the forwarder: none is to be lost there.
const WAITING_PACKETS: u32 = 50_000;
/// `tcpi_state` before a connection (include/net/tcp_states.h).
const TCP_SYN_SENT: u8 = 2;
const TCP_CLOSE: u8 = 7;
/// The kernel puts the first number that is free.
const DEVICE: &[u8] = b"tun%d";
/// Hosts' addresses are 10.9.0.1, 10.9.0.2 and so on.
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);

pub(crate) fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Release of the kernel.
pub(crate) fn kernel() -> io::Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Ok(release.trim().to_string())
}

/// Puts this thread into a network namespace of its own.
pub(crate) fn new_namespace() -> io::Result<()> {
    // SAFETY: takes no pointer.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Puts this thread into the network namespace of a file, such as one in /run/netns or /proc/PID/ns/net.
pub(crate) fn enter_namespace(file: &str) -> io::Result<()> {
    let file = File::open(file)?;
    // SAFETY: takes no pointer.
    checked(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Returns whether this process runs as root, perhaps in a user namespace.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes no pointer and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Puts this process, which must have one thread only, into a user namespace of its own, in which it is root.
pub(crate) fn become_root() -> io::Result<()> {
    // SAFETY: take no pointer and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: takes no pointer.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    // user_namespaces(7): a process without rights may map itself alone, and no groups.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// A TUN device, as which the host in this thread's namespace sees the path.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Of this thread's namespace, with an address, from which all other hosts are reached.
    pub(crate) fn open(address: Ipv4Addr) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        let mut request = named(DEVICE);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        ask(file.as_raw_fd(), libc::TUNSETIFF, &mut request)?;
        let socket = socket(libc::SOCK_DGRAM)?;
        let fd = socket.as_raw_fd();
        request.ifr_ifru.ifru_addr = socket_address(address);
        ask(fd, libc::SIOCSIFADDR, &mut request)?;
        request.ifr_ifru.ifru_netmask = socket_address(MASK);
        ask(fd, libc::SIOCSIFNETMASK, &mut request)?;
        request.ifr_ifru.ifru_mtu = MTU as libc::c_int;
        ask(fd, libc::SIOCSIFMTU, &mut request)?;
        ask(fd, libc::SIOCGIFINDEX, &mut request)?;
        // SAFETY: the kernel has written the index.
        set_queue(unsafe { request.ifr_ifru.ifru_ifindex }, WAITING_PACKETS)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        ask(fd, libc::SIOCSIFFLAGS, &mut request)?;
        let mut request = named(b"lo");
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        ask(fd, libc::SIOCSIFFLAGS, &mut request)?;
        Ok(Tun { file })
    }

    /// The next packet that the host has sent; none where there is none now.
    pub(crate) fn receive<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match (&self.file).read(buffer) {
            Ok(octets) => Ok(Some(&buffer[..octets])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands the host a packet.
    pub(crate) fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write_all(packet)
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Returns a request about the device with this name.
pub(crate) fn named(device: &[u8]) -> libc::ifreq {
    // SAFETY: all zeros are an `ifreq` without a name.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(device) {
        *to = *from as libc::c_char;
    }
    request
}

/// An `ioctl` about a network device.
pub(crate) fn ask(fd: RawFd, what: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: `request` is a whole `ifreq`, which all requests here take.
    checked(unsafe { libc::ioctl(fd, what, request) }).map(drop)
}

/// Sets how many packets wait in front of a device: RTM_NEWLINK with IFLA_TXQLEN (rtnetlink(7)). The `ioctl` for it
/// is refused in a user namespace.
fn set_queue(index: libc::c_int, packets: u32) -> io::Result<()> {
    const LENGTH: u32 = 40;
    const NEW_LINK: u16 = 16;
    const WITH_ANSWER: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    const QUEUE_LENGTH: u16 = 13;
    let mut message = Vec::with_capacity(LENGTH as usize);
    // struct nlmsghdr: length, kind, flags, number, sender.
    message.extend(LENGTH.to_ne_bytes());
    message.extend([NEW_LINK.to_ne_bytes(), WITH_ANSWER.to_ne_bytes()].concat());
    message.extend([0; 8]);
    // struct ifinfomsg: family and kind, index, flags and which of them change.
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    message.extend([0; 8]);
    // struct rtattr: length and kind, then the value.
    message.extend([8u16.to_ne_bytes(), QUEUE_LENGTH.to_ne_bytes()].concat());
    message.extend(packets.to_ne_bytes());
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: takes no pointer; the descriptor is new and ours alone.
    let mut socket = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
        File::from_raw_fd(checked(fd)?)
    };
    socket.write_all(&message)?;
    let mut answer = [0; 4_096];
    let octets = socket.read(&mut answer)?;
    // struct nlmsgerr behind the header: 0, or an error with its sign changed.
    match answer.get(16..20).filter(|_| octets >= 20) {
        Some(&[0, 0, 0, 0]) => Ok(()),
        Some(error) => {
            let error = i32::from_ne_bytes(error.try_into().expect("four octets"));
            Err(io::Error::from_raw_os_error(-error))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let ip = address.octets();
    let mut data = [0; 14];
    for (to, from) in data[2..6].iter_mut().zip(ip) {
        *to = from as libc::c_char;
    }
    libc::sockaddr {
        sa_family: libc::AF_INET as libc::sa_family_t,
        sa_data: data,
    }
}

pub(crate) fn socket(kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer; the descriptor is new and ours alone.
    let fd = checked(unsafe { libc::socket(libc::AF_INET, kind | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until one of the open files has something to be read, or for so long.
pub(crate) fn wait(files: impl Iterator<Item = RawFd>, at_most: Duration) -> io::Result<()> {
    let mut waited: Vec<libc::pollfd> = files
        .map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let time = libc::timespec {
        tv_sec: at_most.as_secs() as libc::time_t,
        tv_nsec: at_most.subsec_nanos().into(),
    };
    let count = waited.len() as libc::nfds_t;
    // SAFETY: the list has `count` entries, and both pointers live through the call.
    let result = unsafe {
        libc::ppoll(
            waited.as_mut_ptr(),
            count,
            &raw const time,
            std::ptr::null(),
        )
    };
    match checked(result) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Puts this thread, and those that it begins, before all others of lower priority, 0 among the others.
pub(crate) fn set_priority(priority: libc::c_int) -> io::Result<()> {
    let policy = if priority > 0 {
        libc::SCHED_FIFO
    } else {
        libc::SCHED_OTHER
    };
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the pointer lives through the call; 0 is this thread.
    checked(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Begins a command in this thread's namespaces, as the first process of one of its own: whatever it begins
/// ends with it, and it ends with this thread.
pub(crate) fn begin(command: &mut Command) -> io::Result<Child> {
    // SAFETY: takes no pointer.
    checked(unsafe { libc::unshare(libc::CLONE_NEWPID) })?;
    let dies_with_parent = || {
        let kill = libc::SIGKILL as libc::c_ulong;
        // SAFETY: takes no pointer.
        checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, kill) }).map(drop)
    };
    // SAFETY: between fork and exec it calls what may be called there, and touches no memory of ours.
    unsafe { command.pre_exec(dies_with_parent) }.spawn()
}

/// The file by which others enter this thread's network namespace.
pub(crate) fn namespace_file() -> String {
    // SAFETY: takes no pointer and cannot fail.
    let thread = unsafe { libc::gettid() };
    format!("/proc/{}/task/{thread}/ns/net", std::process::id())
}

/// A TCP socket with this port of its own and this congestion control, not yet connected.
pub(crate) fn tcp_socket(own: SocketAddrV4, congestion: &str) -> io::Result<OwnedFd> {
    let socket = socket(libc::SOCK_STREAM)?;
    let fd = socket.as_raw_fd();
    let length = congestion.len() as libc::socklen_t;
    let name = congestion.as_ptr().cast();
    // SAFETY: `name` has `length` octets.
    checked(unsafe {
        libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name, length)
    })?;
    let address = internet_address(own);
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: a whole `sockaddr_in` of that length.
    checked(unsafe { libc::bind(fd, (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// Connects a socket; returns when it is connected.
pub(crate) fn connect(socket: &impl AsRawFd, to: SocketAddrV4) -> io::Result<()> {
    let address = internet_address(to);
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: a whole `sockaddr_in` of that length.
    checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })
        .map(drop)
}

/// Ends both directions of a socket, or what a listening one waits for: who waits for it wakes up. One that
/// was never connected has nothing to end.
pub(crate) fn shut_down(socket: &impl AsRawFd) {
    // SAFETY: takes no pointer.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
}

fn internet_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    }
}

/// The kernel's view of a connection (`struct tcp_info` of linux/tcp.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// True if the SYN has been answered.
    pub(crate) is_connected: bool,
    /// `tcpi_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub(crate) state: u8,
    /// Segments.
    pub(crate) cwnd: u32,
    /// Segments.
    pub(crate) ssthresh: u32,
    pub(crate) retransmissions: u32,
    pub(crate) octets_acked: u64,
}

/// Returns the kernel's view of a connection; none while there is none.
pub(crate) fn tcp_info(socket: RawFd) -> Option<TcpInfo> {
    let mut data = [0u8; 256];
    let mut length = data.len() as libc::socklen_t;
    let into = data.as_mut_ptr().cast();
    // SAFETY: `data` has `length` octets, of which the kernel writes as many as it has.
    let result = unsafe {
        libc::getsockopt(
            socket,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            into,
            &raw mut length,
        )
    };
    (result == 0).then(|| read_tcp_info(&data))
}

/// Offsets as in linux/tcp.h: 8 octets, 24 words of 4, then words of 8 octets.
fn read_tcp_info(data: &[u8; 256]) -> TcpInfo {
    let word = |index: usize| {
        let at = 8 + 4 * index;
        u32::from_ne_bytes(data[at..at + 4].try_into().expect("four octets"))
    };
    TcpInfo {
        is_connected: !matches!(data[0], TCP_SYN_SENT | TCP_CLOSE),
        state: data[1],
        ssthresh: word(17),
        cwnd: word(18),
        retransmissions: word(23),
        octets_acked: u64::from_ne_bytes(data[120..128].try_into().expect("eight octets")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_tells_window_and_octets_of_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[0; 5_000]).unwrap();
        receiver.read_exact(&mut [0; 5_000]).unwrap();
        // The acknowledgement over the loopback device comes before the data are read, or soon.
        let acked = || tcp_info(sender.as_raw_fd()).unwrap().octets_acked;
        while acked() < 5_000 {
            std::thread::yield_now();
        }
        let info = tcp_info(sender.as_raw_fd()).unwrap();
        // RFC 6928 gives ten segments to begin with; the SYN counts as an octet.
        assert!(info.cwnd >= 10 && info.cwnd < 1_000, "{info:?}");
        assert!(info.is_connected);
        assert_eq!((info.state, info.retransmissions), (0, 0));
        assert!(info.ssthresh > 1_000_000);
        assert!(info.octets_acked <= 5_001);
    }
}
