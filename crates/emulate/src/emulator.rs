//! Hosts of one's own over the path of a spec: each host of the spec is a network namespace, in which
//! commands run, and which other programs may enter.

use crate::device::Device;
use crate::error::{Asked, EmulateError};
use crate::forwarder::{Clock, Forwarder, Route, Watch};
use crate::interface::Interface;
use crate::os::{self, Tun, set_priority};
use crate::packet::{FlowKey, flow_key};
use serde::Serialize;
use skycell_records::{DelayStatistics, PortRecord};
use skycell_reference::RealPacket;
use skycell_spec::{FlowSpec, NetworkSpec};
use skycell_units::SimTime;
use std::collections::{BTreeMap, HashMap};
use std::io::{ErrorKind, stderr};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread::{self, Scope};
use std::time::Duration;

/// Most hosts: their addresses end in 1 to 254.
const MOST_HOSTS: usize = 254;
/// How often it is looked whether a command has ended, or the run.
const LOOK: Duration = Duration::from_millis(10);
const PRIORITY: i32 = 20;

/// A command that runs at a host.
#[derive(Clone, Debug)]
pub struct HostCommand {
    /// The host's name in the spec.
    pub host: String,
    /// A line for `sh -c`.
    pub line: String,
}

/// Where a host is that there is already.
#[derive(Clone, Debug)]
pub struct HostAt {
    /// The host's name in the spec.
    pub host: String,
    /// The file of its network namespace, if there is a / in it; else the interface of this machine that it is behind.
    pub at: String,
}

impl HostAt {
    fn is_interface(&self) -> bool {
        !self.at.contains('/')
    }
}

/// A host that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyHost {
    /// Its name in the spec.
    pub name: String,
    /// Its address; none of a host behind an interface, which has its own.
    pub address: Option<Ipv4Addr>,
    /// The file of its network namespace, for `nsenter --net=`, or the interface.
    pub at: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndedCommand {
    /// The host.
    pub host: String,
    /// The line.
    pub line: String,
    /// Exit code; none if the command was ended.
    pub exit_code: Option<i32>,
}

/// The results of an emulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Emulation {
    /// Release of the kernel.
    pub kernel: String,
    /// Time that it took, seconds.
    pub seconds: f64,
    /// The ports of the spec.
    pub ports: Vec<PortRecord>,
    /// How late packets were delivered.
    pub late: DelayStatistics,
    /// True if deliveries were late so rarely that the results can be trusted.
    pub is_good: bool,
    /// True if packets were forwarded with priority over the rest of this machine, which needs a
    /// privilege.
    pub has_priority: bool,
    /// The commands, in their order.
    pub commands: Vec<EndedCommand>,
}

/// Puts hosts onto the path of `spec` and runs commands at them, until the last one in the list has ended, for the
/// duration of the spec, or until `goes_on` returns false. `on_ready` is told the hosts before any command begins.
///
/// Hosts are network namespaces, new ones but for those that `at` says. Or `at` says an interface for each, between
/// which the path is then a bridge; all frames but those of ARP take it. A process that is not root's makes itself root
/// in a user namespace, for good.
///
/// # Errors
/// A command is for no host, the spec's flows do not fit, or the system refuses.
pub fn emulate(
    spec: &NetworkSpec,
    at: &[HostAt],
    commands: &[HostCommand],
    prints_to_error: bool,
    on_ready: &mut dyn FnMut(&[ReadyHost]),
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Emulation, EmulateError> {
    let plan = Plan::of(spec, at, commands)?;
    if !os::is_root() {
        os::become_root().asked("a user namespace")?;
    }
    let shared = Shared {
        running: AtomicBool::new(true),
        may_begin: AtomicBool::new(false),
        ends: Mutex::new(vec![None; commands.len()]),
        prints_to_error,
    };
    let forwarded = thread::scope(|scope| {
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for (name, number) in plan.hosts.iter().zip(1..) {
            let own = at.iter().find(|own| own.host == *name);
            let made = match own.filter(|own| own.is_interface()) {
                Some(own) => behind_interface(own),
                None => {
                    let address = Ipv4Addr::new(10, 9, 0, number);
                    let (sender, ready) = mpsc::channel();
                    let shared = &shared;
                    scope.spawn(move || {
                        let made = in_namespace(name, address, own);
                        let is_made = made.is_ok();
                        sender.send(made).ok();
                        if is_made {
                            shared.hold(scope, name, commands);
                        }
                    });
                    ready.recv().expect("a holder answers")
                }
            };
            let (host, device) = made.inspect_err(|_| shared.end())?;
            hosts.push(host);
            devices.push(device);
        }
        on_ready(&hosts);
        let forwarder = scope.spawn(|| forward(spec, &plan, devices, &shared));
        while !forwarder.is_finished() {
            if !goes_on() {
                shared.end();
            }
            thread::sleep(LOOK);
        }
        shared.end();
        forwarder.join().expect("a forwarder does not panic")
    });
    let mut emulation = forwarded?;
    let ends = shared
        .ends
        .into_inner()
        .expect("nobody panics with the ends");
    emulation.commands = commands
        .iter()
        .zip(ends)
        .map(|(command, exit_code)| EndedCommand {
            host: command.host.clone(),
            line: command.line.clone(),
            exit_code,
        })
        .collect();
    Ok(emulation)
}

/// A host behind an interface of this machine.
fn behind_interface(own: &HostAt) -> Result<(ReadyHost, Device), EmulateError> {
    let what = format!("the interface {} for {}", own.at, own.host);
    let interface = Interface::open(&own.at).asked(&what)?;
    let host = ReadyHost {
        name: own.host.clone(),
        address: None,
        at: own.at.clone(),
    };
    Ok((host, Device::Interface(interface)))
}

/// A host in a new namespace of this thread, or in one that there is, with a TUN device of its own.
fn in_namespace(
    name: &str,
    address: Ipv4Addr,
    own: Option<&HostAt>,
) -> Result<(ReadyHost, Device), EmulateError> {
    let (entered, what) = match own {
        Some(own) => (os::enter_namespace(&own.at), own.at.clone()),
        None => (os::new_namespace(), "a network namespace".to_owned()),
    };
    let tun = entered.and_then(|()| Tun::open(address));
    let tun = tun.asked(&format!("{what} with a TUN device for {name}"))?;
    let host = ReadyHost {
        name: name.to_owned(),
        address: Some(address),
        at: os::namespace_file(),
    };
    Ok((host, Device::Tun(tun)))
}

/// The state that the threads of an emulation share.
#[derive(Debug)]
struct Shared {
    /// True while the run continues.
    running: AtomicBool,
    /// True once packets are forwarded.
    may_begin: AtomicBool,
    /// Exit codes of commands, in their order.
    ends: Mutex<Vec<Option<i32>>>,
    /// True if commands print only to standard error.
    prints_to_error: bool,
}

impl Shared {
    fn goes_on(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.running.store(false, Ordering::Relaxed);
    }

    /// Holds the namespace of a host, which is this thread's, and has a thread in it for each of its commands.
    fn hold<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        host: &str,
        commands: &'scope [HostCommand],
    ) {
        while self.goes_on() && !self.may_begin.load(Ordering::Relaxed) {
            thread::sleep(LOOK);
        }
        for (at, command) in commands.iter().enumerate() {
            if command.host == host {
                // A thread has the namespace of the one that begins it.
                scope.spawn(move || self.run(at, command, at + 1 == commands.len()));
            }
        }
        while self.goes_on() {
            thread::sleep(LOOK);
        }
    }

    /// Runs a command until it ends, or the run does, which ends with the last one.
    fn run(&self, at: usize, command: &HostCommand, is_last: bool) {
        let exit_code = self.exit_code(command);
        self.ends.lock().expect("nobody panics with the ends")[at] = exit_code;
        if is_last {
            self.end();
        }
    }

    /// Returns the exit code of a command; none if it is ended, 127 if it could not begin, like a
    /// shell.
    fn exit_code(&self, command: &HostCommand) -> Option<i32> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command.line]).stdin(Stdio::null());
        if self.prints_to_error
            && let Ok(error) = stderr().as_fd().try_clone_to_owned()
        {
            shell.stdout(error);
        }
        let Ok(mut child) = os::begin(&mut shell) else {
            return Some(127);
        };
        while self.goes_on() {
            match child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(status)) => return status.code(),
                Err(_) => return None,
            }
        }
        child.kill().ok();
        child.wait().ok();
        None
    }
}

fn forward(
    spec: &NetworkSpec,
    plan: &Plan,
    devices: Vec<Device>,
    shared: &Shared,
) -> Result<Emulation, EmulateError> {
    let has_priority = match set_priority(PRIORITY) {
        Err(why) if why.kind() == ErrorKind::PermissionDenied => false,
        set => set.asked("a priority in real time").map(|()| true)?,
    };
    let mut forwarder = Forwarder::new(spec, devices, Clock::beginning_in(Duration::ZERO))?;
    let mut hosts = Hosts {
        plan,
        numbers: HashMap::new(),
        shared,
    };
    shared.may_begin.store(true, Ordering::Relaxed);
    let end = forwarder.run(&mut hosts, SimTime(spec.duration_ps))?;
    Ok(Emulation {
        kernel: os::kernel().asked("the kernel's release")?,
        seconds: end.as_secs_f64(),
        ports: forwarder.ports(end),
        is_good: forwarder.is_good(),
        late: forwarder.late(),
        has_priority,
        commands: Vec::new(),
    })
}

/// The hosts of a spec, and the flows by whose routes they reach each other.
#[derive(Debug)]
struct Plan {
    /// Names, in the order of the spec.
    hosts: Vec<String>,
    /// By the places of two hosts: a flow, and whether it leads from the one to the other.
    routes: BTreeMap<(usize, usize), (u32, bool)>,
    /// The places of both hosts of each flow.
    ends: Vec<(usize, usize)>,
}

impl Plan {
    fn of(
        spec: &NetworkSpec,
        at: &[HostAt],
        commands: &[HostCommand],
    ) -> Result<Self, EmulateError> {
        let ends = |flow: &FlowSpec| {
            let first = spec.vcs[flow.forward[0] as usize].path[0];
            let last = *flow.forward.last().expect("a route has VCs") as usize;
            (spec.links[first as usize].from, spec.vc_destination(last))
        };
        let pairs: Vec<(u32, u32)> = spec.flows.iter().map(ends).collect();
        let is_end = |node: u32| pairs.iter().any(|&(from, to)| node == from || node == to);
        let nodes: Vec<u32> = (0..spec.nodes.len() as u32)
            .filter(|&node| is_end(node))
            .collect();
        if nodes.is_empty() || nodes.len() > MOST_HOSTS {
            return Err(EmulateError::Unfit(format!(
                "{} hosts are ends of flows: there must be 2 to {MOST_HOSTS}",
                nodes.len()
            )));
        }
        let name = |&node: &u32| spec.nodes[node as usize].name.clone();
        let hosts: Vec<String> = nodes.iter().map(name).collect();
        let named = commands.iter().map(|own| &own.host);
        let mut named = named.chain(at.iter().map(|own| &own.host));
        if let Some(unknown) = named.find(|&own| !hosts.contains(own)) {
            return Err(EmulateError::Unfit(format!(
                "{unknown:?} is no host with a flow; there are {}",
                hosts.join(", ")
            )));
        }
        let behind = |host: &String| at.iter().any(|own| own.host == *host && own.is_interface());
        if hosts.iter().any(behind) && !(hosts.iter().all(behind) && commands.is_empty()) {
            return Err(EmulateError::Unfit(
                "where one host is behind an interface, all are, and none runs a command".into(),
            ));
        }
        let index = |node: u32| nodes.binary_search(&node).expect("an end of a flow");
        let mut routes = BTreeMap::new();
        for (&(from, to), flow) in pairs.iter().zip(0u32..) {
            routes
                .entry((index(from), index(to)))
                .or_insert((flow, true));
        }
        for (&(from, to), flow) in pairs.iter().zip(0u32..) {
            routes
                .entry((index(to), index(from)))
                .or_insert((flow, false));
        }
        Ok(Plan {
            hosts,
            routes,
            ends: pairs
                .iter()
                .map(|&(from, to)| (index(from), index(to)))
                .collect(),
        })
    }
}

struct Hosts<'a> {
    plan: &'a Plan,
    /// Connections that came by, numbered in their order.
    numbers: HashMap<FlowKey, u32>,
    shared: &'a Shared,
}

impl Watch for Hosts<'_> {
    fn route(&mut self, host: usize, to: usize, packet: &[u8]) -> Option<Route> {
        let &(flow, is_forward) = self.plan.routes.get(&(host, to))?;
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(flow_key(packet)).or_insert(next);
        Some(Route {
            flow,
            is_forward,
            number,
        })
    }

    fn arrives_at(&self, packet: &RealPacket) -> usize {
        let (source, destination) = self.plan.ends[packet.flow as usize];
        if packet.is_forward {
            destination
        } else {
            source
        }
    }

    fn on_delivered(&mut self, _now: SimTime, _host: usize) {}

    fn on_time(&mut self, now: SimTime) -> Option<SimTime> {
        self.shared
            .goes_on()
            .then(|| now + SimTime::from_millis(LOOK.as_millis() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Hosts a, b and c behind a router r; a flow from a to b over two VCs each way, and one from c to b.
    fn spec() -> NetworkSpec {
        let wan: Value = serde_json::from_str(include_str!("../../fast/tests/wan.json")).unwrap();
        let link = |name: &str, from: u32, to: u32| {
            let mut link = wan["links"][0].clone();
            link["name"] = json!(name);
            (link["from"], link["to"]) = (json!(from), json!(to));
            link
        };
        let ends = [(0, 1), (1, 0), (2, 1), (1, 2), (3, 1), (1, 3)];
        let mut flow = wan["flows"][0].clone();
        (flow["forward"], flow["reverse"]) = (json!([0, 3]), json!([2, 1]));
        let mut other = flow.clone();
        other["name"] = json!("other");
        (other["forward"], other["reverse"]) = (json!([4, 3]), json!([2, 5]));
        let vc = |id: u32| json!({"name": format!("vc{id}"), "path": [id], "class": "ubr", "policing": [], "gfr": null});
        let names = [("a", "host"), ("r", "router"), ("b", "host"), ("c", "host")];
        let mut value = wan.clone();
        value["nodes"] = json!(names.map(|(name, kind)| json!({"name": name, "kind": kind})));
        value["links"] = (0..6)
            .map(|id| link(&format!("link{id}"), ends[id].0, ends[id].1))
            .collect();
        value["vcs"] = (0..6).map(vc).collect();
        value["flows"] = json!([flow, other]);
        value["sources"] = json!([]);
        value["records"]["sampled_ports"] = json!([]);
        value["records"]["vc_sampled_ports"] = json!([]);
        NetworkSpec::from_json(&value.to_string()).unwrap()
    }

    #[test]
    fn hosts_reach_each_other_as_their_flows_do() {
        let plan = Plan::of(&spec(), &[], &[]).unwrap();
        assert_eq!(plan.hosts, ["a", "b", "c"]);
        let route = |from, to| plan.routes.get(&(from, to)).copied();
        assert_eq!(route(0, 1), Some((0, true)));
        assert_eq!(route(1, 0), Some((0, false)));
        assert_eq!(route(2, 1), Some((1, true)));
        assert_eq!(route(1, 2), Some((1, false)));
        // No flow leads from a to c.
        assert_eq!((route(0, 2), route(2, 0)), (None, None));
    }

    #[test]
    fn a_command_is_for_a_host_that_there_is() {
        let command = |host: &str| HostCommand {
            host: host.to_string(),
            line: String::new(),
        };
        assert!(Plan::of(&spec(), &[], &[command("c")]).is_ok());
        let error = Plan::of(&spec(), &[], &[command("r")])
            .unwrap_err()
            .to_string();
        assert_eq!(error, "\"r\" is no host with a flow; there are a, b, c");
    }

    #[test]
    fn all_hosts_are_behind_interfaces_or_none_is() {
        let at = |host: &str, at: &str| HostAt {
            host: host.to_string(),
            at: at.to_string(),
        };
        let refused = |at: &[HostAt]| Plan::of(&spec(), at, &[]).err().map(|why| why.to_string());
        let all = ["a", "b", "c"].map(|host| at(host, "eth0"));
        assert_eq!(refused(&all), None);
        assert!(refused(&all[..2]).unwrap().contains("all are"));
        assert_eq!(refused(&[at("a", "/run/netns/x")]), None);
        assert!(
            refused(&[at("r", "eth0")])
                .unwrap()
                .contains("no host with a flow")
        );
    }

    #[test]
    fn a_packet_goes_by_its_addresses_and_connections_are_numbered_as_they_come() {
        let plan = Plan::of(&spec(), &[], &[]).unwrap();
        let shared = Shared {
            running: AtomicBool::new(true),
            may_begin: AtomicBool::new(true),
            ends: Mutex::default(),
            prints_to_error: false,
        };
        let mut hosts = Hosts {
            plan: &plan,
            numbers: HashMap::new(),
            shared: &shared,
        };
        let packet = |to: u8, port: u8| {
            let mut packet = vec![0; 40];
            packet[0] = 0x45;
            packet[9] = 6;
            packet[12..20].copy_from_slice(&[10, 9, 0, 1, 10, 9, 0, to]);
            packet[21] = port;
            packet
        };
        let number =
            |route: Option<Route>| route.map(|route| (route.flow, route.is_forward, route.number));
        assert_eq!(number(hosts.route(0, 1, &packet(2, 7))), Some((0, true, 0)));
        assert_eq!(number(hosts.route(0, 1, &packet(2, 8))), Some((0, true, 1)));
        assert_eq!(number(hosts.route(0, 1, &packet(2, 7))), Some((0, true, 0)));
        // No flow leads from a to c.
        assert_eq!(hosts.route(0, 2, &packet(3, 7)), None);
    }
}
