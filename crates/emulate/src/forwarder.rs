//! Between hosts: takes what they send into the network of a spec, and hands it over when it is due.

use crate::device::{Addressee, Addresses, Device};
use crate::error::{Asked, EmulateError};
use crate::interface::Frame;
use crate::os::wait;
use crate::packet::{ecn, mark};
use skycell_records::{CellDelays, DelayStatistics, PortRecord};
use skycell_reference::{Delivery, LiveNetwork, RealPacket};
use skycell_spec::NetworkSpec;
use skycell_units::{Ecn, SimTime};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Lateness of deliveries, its 99th percentile, above which a run is not good: a fraction of what hosts notice
/// by themselves, as their timers and their coalescing of packets work in milliseconds.
pub(crate) const MOST_LATE: Duration = Duration::from_millis(1);

/// Before a delivery the forwarder no longer sleeps: about what waking up takes.
const AWAKE: SimTime = SimTime(60_000_000);

/// Octets of the longest packet, and of what is before it.
const LONGEST: usize = 1 << 16;

/// The time of a run, which begins a little after its making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Instant,
}

impl Clock {
    /// A clock whose run begins in `lead`.
    pub(crate) fn beginning_in(lead: Duration) -> Self {
        Clock {
            epoch: Instant::now() + lead,
        }
    }

    /// Time since the beginning; 0 before it.
    pub(crate) fn now(&self) -> SimTime {
        let elapsed = Instant::now().saturating_duration_since(self.epoch);
        SimTime(elapsed.as_nanos() as u64 * 1_000)
    }

    /// The moment of a time of the run.
    pub(crate) fn instant(&self, time: SimTime) -> Instant {
        self.epoch + Duration::from_nanos(time.0 / 1_000)
    }
}

/// The way of a packet that a host has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Place in the spec of the flow whose VCs it takes.
    pub(crate) flow: u32,
    /// True from that flow's source to its destination.
    pub(crate) is_forward: bool,
    /// Number of its flow for queues by flow.
    pub(crate) number: u32,
}

/// Who watches the hosts while the forwarder works, and says where packets go.
pub(crate) trait Watch {
    /// The way of a packet that a host has sent to another; none for one that never reaches the path.
    fn route(&mut self, host: usize, to: usize, packet: &[u8]) -> Option<Route>;
    /// The host that a packet arrives at which took a route.
    fn arrives_at(&self, packet: &RealPacket) -> usize;
    /// A host has been handed a packet.
    fn on_delivered(&mut self, now: SimTime, host: usize);
    /// It is `now`; returns when to be asked again, or none to end.
    fn on_time(&mut self, now: SimTime) -> Option<SimTime>;
}

/// Real hosts and the network between them.
pub(crate) struct Forwarder<'a> {
    clock: Clock,
    devices: Vec<Device>,
    addresses: Addresses,
    network: LiveNetwork<'a>,
    due: VecDeque<Delivery>,
    late: CellDelays,
}

impl<'a> Forwarder<'a> {
    /// Of hosts behind devices.
    pub(crate) fn new(
        spec: &'a NetworkSpec,
        devices: Vec<Device>,
        clock: Clock,
    ) -> Result<Self, EmulateError> {
        Ok(Forwarder {
            clock,
            addresses: Addresses::new(devices.len()),
            devices,
            network: LiveNetwork::new(spec)?,
            due: VecDeque::new(),
            late: CellDelays::new(0),
        })
    }

    /// Forwards until the watch ends it, or until `end`; returns when that was.
    pub(crate) fn run(
        &mut self,
        watch: &mut impl Watch,
        end: SimTime,
    ) -> Result<SimTime, EmulateError> {
        let mut asked_again = SimTime::ZERO;
        loop {
            let mut now = self.clock.now();
            if now >= end {
                self.network.advance(SimTime(end.0 - 1));
                return Ok(end);
            }
            let has_read = self.take_sent(watch)?;
            let has_delivered = self.deliver(watch)?;
            if has_delivered {
                // What it has brought about is read first.
                self.take_sent(watch)?;
                now = self.clock.now();
            }
            if now >= asked_again {
                match watch.on_time(now) {
                    Some(next) => asked_again = next,
                    None => return Ok(now),
                }
            }
            if !has_read && !has_delivered {
                self.sleep(asked_again.min(end))?;
            }
        }
    }

    /// Takes into the network what hosts have sent; whether there was something.
    fn take_sent(&mut self, watch: &mut impl Watch) -> Result<bool, EmulateError> {
        let mut buffer = [0; LONGEST];
        let mut has_read = false;
        for host in 0..self.devices.len() {
            while let Some(data) = self.devices[host]
                .receive(&mut buffer)
                .asked("reading from a device")?
            {
                has_read = true;
                let (addressee, packet) = match &self.devices[host] {
                    Device::Tun(_) => (self.addresses.of_packet(data), data),
                    Device::Interface(_) => {
                        let frame = Frame(data);
                        (self.addresses.of_frame(host, frame), frame.packet())
                    }
                };
                match addressee {
                    Addressee::Nobody => {}
                    Addressee::Others => self.pass(host, data)?,
                    Addressee::Host(to) => {
                        if let Some(route) = watch.route(host, to, packet) {
                            self.offer(route, packet, data);
                        }
                    }
                }
            }
        }
        Ok(has_read)
    }

    /// Hands all other hosts what is no packet.
    fn pass(&self, from: usize, data: &[u8]) -> Result<(), EmulateError> {
        let others = self.devices.iter().enumerate();
        for (_, device) in others.filter(|&(host, _)| host != from) {
            device.send(data).asked("writing to a device")?;
        }
        Ok(())
    }

    /// Takes a packet into the network, and `data` with it.
    fn offer(&mut self, route: Route, packet: &[u8], data: &[u8]) {
        let now = self.clock.now();
        self.network.advance(now);
        let packet = RealPacket {
            flow: route.flow,
            is_forward: route.is_forward,
            route_index: 0,
            number: route.number,
            ecn: ecn(packet),
            octets: packet.len() as u32,
            data: data.to_vec(),
        };
        self.network.offer(now, packet);
    }

    /// Hands over one packet that is due, if there is one.
    fn deliver(&mut self, watch: &mut impl Watch) -> Result<bool, EmulateError> {
        self.network.advance(self.clock.now());
        self.due.extend(self.network.delivered());
        let Some(Delivery { at, mut packet }) = self.due.pop_front() else {
            return Ok(false);
        };
        let host = watch.arrives_at(&packet);
        let ip = &mut packet.data[self.devices[host].header()..];
        if packet.ecn == Ecn::Ce && ecn(ip) != Ecn::Ce {
            mark(ip);
        }
        let now = self.clock.now();
        self.late.add(now.since(at).0);
        self.devices[host]
            .send(&packet.data)
            .asked("writing to a device")?;
        watch.on_delivered(now, host);
        Ok(true)
    }

    /// Sleeps until something is due, hosts send something, or `at_most`.
    fn sleep(&self, at_most: SimTime) -> Result<(), EmulateError> {
        let event = self.network.next_event().unwrap_or(SimTime::NEVER);
        let arrival = self.network.next_arrival().unwrap_or(SimTime::NEVER);
        let until = at_most.min(event).min(arrival.since(AWAKE));
        let rest = until.since(self.clock.now());
        if rest > SimTime::ZERO {
            let files = self.devices.iter().map(Device::fd);
            wait(files, Duration::from_nanos(rest.0 / 1_000)).asked("waiting for packets")?;
        }
        Ok(())
    }

    /// How late deliveries were.
    pub(crate) fn late(&self) -> DelayStatistics {
        self.late.record(0).delay
    }

    /// Returns whether deliveries were late by no more than [`MOST_LATE`] in 99 of 100 cases.
    pub(crate) fn is_good(&self) -> bool {
        u128::from(self.late().p99_ps) <= MOST_LATE.as_nanos() * 1_000
    }

    /// Returns the counters of the ports at `end`.
    pub(crate) fn ports(&self, end: SimTime) -> Vec<PortRecord> {
        self.network.ports(end)
    }
}
