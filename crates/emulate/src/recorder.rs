//! Records Linux's own TCP over the path of a spec: a flow of the spec is a connection between two network
//! namespaces, and what the kernel says of it is read after each acknowledgement.

use crate::device::Device;
use crate::error::{Asked, EmulateError};
use crate::forwarder::{Clock, Forwarder, Route, Watch};
use crate::os::{self, TcpInfo, Tun, set_priority, tcp_info};
use crate::packet::tcp;
use serde::Serialize;
use skycell_records::{DelayStatistics, PortRecord};
use skycell_reference::RealPacket;
use skycell_spec::{FlowSpec, NetworkSpec, StartSpec, TrafficSpec};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Addresses of the hosts: the first is the source of the first flow.
const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 9, 0, 1), Ipv4Addr::new(10, 9, 0, 2)];
/// The port at which hosts listen; flow i has the port `FIRST_PORT` + i at its source.
const PORT: u16 = 5_001;
const FIRST_PORT: u16 = 40_001;
/// Time between two looks at windows, for their means.
const SAMPLE: SimTime = SimTime::from_millis(10);
/// Time for all threads to be ready before a run begins.
const LEAD: Duration = Duration::from_millis(50);
/// Priorities of the hosts' threads and of the forwarder, which nothing may hold up: a sender that is kept from
/// running while it holds its socket's lock would delay acknowledgements.
const HOST_PRIORITY: i32 = 10;
const FORWARDER_PRIORITY: i32 = 20;
/// `tcpi_ca_state` from which segments are lost.
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
/// The kernel's ssthresh while there is none.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// How the sockets of both hosts are set up.
#[derive(Clone, Debug)]
pub struct Sockets {
    /// Congestion control of each flow's sender, by the kernel's name; as many as flows.
    pub congestion: Vec<String>,
    /// Files below /proc/sys/net/ipv4 and what is written to them in both namespaces.
    pub settings: Vec<(String, String)>,
}

/// The recording of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowRecording {
    /// When it began to connect, seconds.
    pub start_s: f64,
    /// Octets that the receiver has read.
    pub read_octets: Octets,
    /// From the start to the acknowledgement of the last octet of a transfer, seconds.
    pub completion_s: Option<f64>,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Times that the kernel went to recovery.
    pub recoveries: u32,
    /// Times that it went to loss, by the retransmission timer.
    pub timeouts: u32,
    /// When ssthresh was first set, seconds from the start.
    pub exit_s: Option<f64>,
    /// cwnd just before, segments.
    pub exit_segments: Option<u32>,
    /// When it first went to recovery or loss, seconds from the start.
    pub first_loss_s: Option<f64>,
    /// cwnd just before, segments.
    pub first_loss_segments: Option<u32>,
    /// Mean of cwnd every 10 ms, from when it was connected, segments.
    pub mean_cwnd: f64,
}

/// The results of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    /// Release of the kernel.
    pub kernel: String,
    /// Time that it took, seconds: the duration of the spec, or less where all transfers were over.
    pub seconds: f64,
    /// The ports of the spec.
    pub ports: Vec<PortRecord>,
    /// How late packets were delivered.
    pub late: DelayStatistics,
    /// True if deliveries were late so rarely that the results can be trusted.
    pub is_good: bool,
    /// The flows of the spec.
    pub flows: Vec<FlowRecording>,
}

/// Runs the flows of `spec` on this machine's kernel, over the spec's path. `goes_on` is asked now and then, and
/// returns false to cancel.
///
/// # Errors
/// The spec has no two hosts, or asks its flows for what a recorder cannot make them do; the system refuses;
/// or `goes_on` cancelled.
pub fn record(
    spec: &NetworkSpec,
    sockets: &Sockets,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Recording, EmulateError> {
    let plans = plans(spec)?;
    if sockets.congestion.len() != plans.len() {
        let problem = "each flow needs the name of a congestion control";
        return Err(EmulateError::Unfit(problem.to_string()));
    }
    // This thread's namespaces go with it.
    let running = AtomicBool::new(true);
    thread::scope(|scope| {
        let recorder = scope.spawn(|| record_here(spec, sockets, &plans, &running));
        while !recorder.is_finished() {
            if !goes_on() {
                running.store(false, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(20));
        }
        recorder.join().expect("a recorder does not panic")
    })
}

/// The task of a flow.
#[derive(Clone, Debug)]
struct Plan {
    /// Which of the hosts sends.
    source: usize,
    start: SimTime,
    /// Octets of its transfer; none for endless data.
    size: Option<Octets>,
    /// Data packets that never reach the path, ascending, the next one first.
    lost: VecDeque<u64>,
}

impl Plan {
    fn of(flow: &FlowSpec, source: usize) -> Result<Self, EmulateError> {
        let unfit = |what: &str| Err(EmulateError::Unfit(format!("flow {}: {what}", flow.name)));
        let StartSpec::At { time_ps } = flow.start else {
            return unfit("it is recorded only with a given start");
        };
        let size = match flow.traffic {
            TrafficSpec::Persistent => None,
            TrafficSpec::Transfers {
                size_octets,
                count: Some(1),
                ..
            } => Some(size_octets),
            _ => return unfit("it is recorded only with endless data, or one transfer"),
        };
        if flow.loss_script.at_cwnd_octets.is_some() {
            return unfit("the forwarder does not know cwnd, and loses nothing by it");
        }
        Ok(Plan {
            source,
            start: SimTime(time_ps),
            size,
            lost: flow.loss_script.transmissions.iter().copied().collect(),
        })
    }
}

/// Returns the task of each flow; all flows are between the same two hosts, in either direction.
fn plans(spec: &NetworkSpec) -> Result<Vec<Plan>, EmulateError> {
    let ends = |flow: &FlowSpec| {
        let first = spec.vcs[flow.forward[0] as usize].path[0];
        let last = *flow.forward.last().expect("a route has VCs") as usize;
        (spec.links[first as usize].from, spec.vc_destination(last))
    };
    let unfit = || EmulateError::Unfit("flows are recorded only between two hosts".to_string());
    let (one, other) = spec.flows.first().map(ends).ok_or_else(unfit)?;
    spec.flows
        .iter()
        .map(|flow| match ends(flow) {
            (source, destination) if (source, destination) == (one, other) => Plan::of(flow, 0),
            (source, destination) if (source, destination) == (other, one) => Plan::of(flow, 1),
            _ => Err(unfit()),
        })
        .collect()
}

/// A host in a new namespace of this thread: its device, the sockets of the flows that it sends, and the one at which
/// it listens.
struct Host {
    tun: Tun,
    /// With the flows' places.
    senders: Vec<(usize, TcpStream)>,
    listener: TcpListener,
}

impl Host {
    fn new(number: usize, sockets: &Sockets, plans: &[Plan]) -> Result<Self, EmulateError> {
        let own = HOSTS[number];
        os::new_namespace().asked("a network namespace")?;
        let tun = Tun::open(own).asked("a TUN device")?;
        for (name, value) in &sockets.settings {
            fs::write(format!("/proc/sys/net/ipv4/{name}"), value).asked(name)?;
        }
        let flows = (FIRST_PORT..)
            .zip(&sockets.congestion)
            .zip(plans)
            .enumerate();
        let senders = flows
            .filter(|(_, (_, plan))| plan.source == number)
            .map(|(flow, ((port, congestion), _))| {
                let socket = os::tcp_socket(SocketAddrV4::new(own, port), congestion);
                let stream = socket.map(TcpStream::from);
                Ok((flow, stream.asked(&format!("a socket with {congestion}"))?))
            })
            .collect::<Result<_, EmulateError>>()?;
        let listener = TcpListener::bind(SocketAddrV4::new(own, PORT));
        Ok(Host {
            tun,
            senders,
            listener: listener.asked("a listening socket")?,
        })
    }
}

fn record_here(
    spec: &NetworkSpec,
    sockets: &Sockets,
    plans: &[Plan],
    running: &AtomicBool,
) -> Result<Recording, EmulateError> {
    let mut tuns = Vec::new();
    let mut senders = Vec::new();
    let mut listeners = Vec::new();
    for number in 0..HOSTS.len() {
        let host = Host::new(number, sockets, plans)?;
        tuns.push(Device::Tun(host.tun));
        senders.extend(host.senders);
        listeners.push(host.listener);
    }
    senders.sort_by_key(|(flow, _)| *flow);
    let senders: Vec<TcpStream> = senders.into_iter().map(|(_, stream)| stream).collect();
    let reads: Vec<AtomicU64> = plans.iter().map(|_| AtomicU64::new(0)).collect();
    let has_ended = AtomicBool::new(false);
    let receivers: Vec<Receiver> = listeners
        .into_iter()
        .enumerate()
        .map(|(number, listener)| Receiver {
            listener,
            connections: plans.iter().filter(|plan| plan.source != number).count(),
            reads: &reads,
            accepted: Mutex::default(),
            has_ended: &has_ended,
        })
        .collect();
    // All threads before whatever else runs on this machine.
    set_priority(HOST_PRIORITY).asked("a priority in real time")?;
    let clock = Clock::beginning_in(LEAD);
    let mut recorder = Recorder {
        flows: plans.iter().map(Watched::new).collect(),
        senders: &senders,
        reads: &reads,
        running,
        next_sample: SimTime::ZERO,
    };
    let mut forwarder = Forwarder::new(spec, tuns, clock)?;
    let has_ended = &has_ended;
    let (end, read_octets) = thread::scope(|scope| {
        for receiver in &receivers {
            scope.spawn(move || receiver.accept(scope));
        }
        let threads: Vec<_> = senders
            .iter()
            .zip(plans)
            .map(|(stream, plan)| {
                let begin = clock.instant(plan.start);
                let to = SocketAddrV4::new(HOSTS[1 - plan.source], PORT);
                scope
                    .spawn(move || send(stream, to, begin, plan.size, has_ended))
                    .thread()
                    .clone()
            })
            .collect();
        let ready = set_priority(FORWARDER_PRIORITY).asked("a priority in real time");
        let end = ready.and_then(|()| forwarder.run(&mut recorder, SimTime(spec.duration_ps)));
        let read_octets = reads.iter().map(|octets| octets.load(Ordering::Relaxed));
        let read_octets: Vec<Octets> = read_octets.collect();
        // Wakes up whoever still waits, before what it waits for.
        has_ended.store(true, Ordering::Relaxed);
        threads.iter().for_each(Thread::unpark);
        senders.iter().for_each(os::shut_down);
        receivers.iter().for_each(Receiver::shut_down);
        (end, read_octets)
    });
    let end = end?;
    if !running.load(Ordering::Relaxed) {
        return Err(EmulateError::Cancelled);
    }
    let flows = recorder.flows.iter().zip(read_octets);
    Ok(Recording {
        kernel: os::kernel().asked("the kernel's release")?,
        seconds: end.as_secs_f64(),
        ports: forwarder.ports(end),
        is_good: forwarder.is_good(),
        late: forwarder.late(),
        flows: flows.map(|(flow, read)| flow.recording(read)).collect(),
    })
}

/// Connects when the flow begins, and writes until all is written or the connection ends.
fn send(
    mut stream: &TcpStream,
    to: SocketAddrV4,
    begin: Instant,
    size: Option<Octets>,
    has_ended: &AtomicBool,
) {
    while Instant::now() < begin {
        if has_ended.load(Ordering::Relaxed) {
            return;
        }
        thread::park_timeout(begin.saturating_duration_since(Instant::now()));
    }
    if os::connect(stream, to).is_err() {
        return; // the recording has nothing of it
    }
    let block = [0; 1 << 16];
    let mut left = size.unwrap_or(Octets::MAX);
    while left > 0 {
        let octets = left.min(block.len() as Octets) as usize;
        match stream.write(&block[..octets]) {
            Ok(written) => left -= written as Octets,
            Err(_) => return, // the run is over
        }
    }
}

/// The receiver of a host.
#[derive(Debug)]
struct Receiver<'a> {
    listener: TcpListener,
    /// How many flows end here.
    connections: usize,
    /// Octets that were read, by flow.
    reads: &'a [AtomicU64],
    accepted: Mutex<Vec<TcpStream>>,
    /// True if the run is over.
    has_ended: &'a AtomicBool,
}

impl Receiver<'_> {
    /// Accepts the connections of all flows that end here, and has a thread read each.
    fn accept<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>) {
        for _ in 0..self.connections {
            let Ok((stream, from)) = self.listener.accept() else {
                return; // the run is over
            };
            let Ok(second) = stream.try_clone() else {
                return;
            };
            self.streams().push(second);
            if self.has_ended.load(Ordering::Relaxed) {
                os::shut_down(&stream); // `shut_down` may not have seen it
            }
            let octets = &self.reads[usize::from(from.port() - FIRST_PORT)];
            scope.spawn(|| read(stream, octets));
        }
    }

    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.accepted
            .lock()
            .expect("nobody panics with the streams")
    }

    /// Ends what waits for a connection or for octets.
    fn shut_down(&self) {
        os::shut_down(&self.listener);
        self.streams().iter().for_each(os::shut_down);
    }
}

fn read(mut stream: TcpStream, octets: &AtomicU64) {
    let mut block = vec![0; 1 << 18];
    while let Ok(read @ 1..) = stream.read(&mut block) {
        octets.fetch_add(read as u64, Ordering::Relaxed);
    }
}

/// A flow as it is watched.
struct Watched {
    plan: Plan,
    /// Data packets that came by.
    data_packets: u64,
    last: TcpInfo,
    cwnd_sum: u64,
    samples: u64,
    exit: Option<(SimTime, u32)>,
    first_loss: Option<(SimTime, u32)>,
    done: Option<SimTime>,
    recoveries: u32,
    timeouts: u32,
}

impl Watched {
    fn new(plan: &Plan) -> Self {
        Watched {
            plan: plan.clone(),
            data_packets: 0,
            last: TcpInfo::default(),
            cwnd_sum: 0,
            samples: 0,
            exit: None,
            first_loss: None,
            done: None,
            recoveries: 0,
            timeouts: 0,
        }
    }

    /// Returns whether a data packet that passes is one of the prescribed losses.
    fn loses(&mut self) -> bool {
        let is_lost = self.plan.lost.front() == Some(&self.data_packets);
        if is_lost {
            self.plan.lost.pop_front();
        }
        self.data_packets += 1;
        is_lost
    }

    /// The kernel says so at `now`.
    fn look(&mut self, now: SimTime, info: TcpInfo) {
        let last = std::mem::replace(&mut self.last, info);
        if last.cwnd == 0 {
            return; // the first look
        }
        self.recoveries += u32::from(info.state == RECOVERY && last.state < RECOVERY);
        self.timeouts += u32::from(info.state == LOSS && last.state != LOSS);
        if self.exit.is_none() && info.ssthresh < NO_SSTHRESH {
            self.exit = Some((now, last.cwnd));
        }
        if self.first_loss.is_none() && info.state >= RECOVERY {
            self.first_loss = Some((now, last.cwnd));
        }
        let size = self.plan.size;
        if self.done.is_none() && size.is_some_and(|size| info.octets_acked >= size) {
            self.done = Some(now);
        }
    }

    fn recording(&self, read_octets: Octets) -> FlowRecording {
        let since = |time: SimTime| time.since(self.plan.start).as_secs_f64();
        FlowRecording {
            start_s: self.plan.start.as_secs_f64(),
            read_octets,
            completion_s: self.done.map(since),
            retransmissions: self.last.retransmissions,
            recoveries: self.recoveries,
            timeouts: self.timeouts,
            exit_s: self.exit.map(|(time, _)| since(time)),
            exit_segments: self.exit.map(|(_, cwnd)| cwnd),
            first_loss_s: self.first_loss.map(|(time, _)| since(time)),
            first_loss_segments: self.first_loss.map(|(_, cwnd)| cwnd),
            mean_cwnd: self.cwnd_sum as f64 / self.samples.max(1) as f64,
        }
    }
}

struct Recorder<'a> {
    flows: Vec<Watched>,
    senders: &'a [TcpStream],
    reads: &'a [AtomicU64],
    running: &'a AtomicBool,
    next_sample: SimTime,
}

impl Recorder<'_> {
    /// Looks at the flows that a host sends, or at all of them for a sample.
    fn look(&mut self, now: SimTime, host: Option<usize>) {
        let is_sample = host.is_none();
        for (flow, sender) in self.flows.iter_mut().zip(self.senders) {
            if now < flow.plan.start || host.is_some_and(|host| host != flow.plan.source) {
                continue;
            }
            let info = tcp_info(sender.as_raw_fd()).filter(|info| info.is_connected);
            let Some(info) = info else { continue };
            flow.look(now, info);
            if is_sample {
                flow.cwnd_sum += u64::from(info.cwnd);
                flow.samples += 1;
            }
        }
    }

    fn is_done(&self) -> bool {
        let flows = self.flows.iter().zip(self.reads);
        flows.into_iter().all(|(flow, read)| {
            let size = flow.plan.size.unwrap_or(Octets::MAX);
            flow.done.is_some() && read.load(Ordering::Relaxed) >= size
        })
    }
}

impl Watch for Recorder<'_> {
    fn route(&mut self, host: usize, _to: usize, packet: &[u8]) -> Option<Route> {
        let segment = tcp(packet)?;
        let is_forward = segment.destination_port == PORT;
        let port = if is_forward {
            segment.source_port
        } else {
            segment.destination_port
        };
        let flow = port.checked_sub(FIRST_PORT)?;
        let watched = self.flows.get_mut(usize::from(flow))?;
        if is_forward != (host == watched.plan.source) {
            return None;
        }
        if is_forward && segment.payload > 0 && watched.loses() {
            return None;
        }
        let flow = u32::from(flow);
        Some(Route {
            flow,
            is_forward,
            number: 2 * flow + u32::from(!is_forward),
        })
    }

    fn arrives_at(&self, packet: &RealPacket) -> usize {
        let source = self.flows[packet.flow as usize].plan.source;
        if packet.is_forward {
            1 - source
        } else {
            source
        }
    }

    fn on_delivered(&mut self, now: SimTime, host: usize) {
        self.look(now, Some(host));
    }

    fn on_time(&mut self, now: SimTime) -> Option<SimTime> {
        if now >= self.next_sample {
            self.look(now, None);
            self.next_sample += SAMPLE;
        }
        let goes_on = self.running.load(Ordering::Relaxed) && !self.is_done();
        goes_on.then_some(self.next_sample)
    }
}
