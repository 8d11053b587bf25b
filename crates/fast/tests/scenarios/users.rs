//! Groups of users on the routes of a scenario's flows, beside some of these.

use super::{
    Dice, MILLISECOND, packets, scenario, several_classes, split, time_varying, uplinks,
    with_stepping,
};
use skycell_des::Stream;
use skycell_spec::*;

/// Scenarios with users that go with a number, and the kind of each.
pub fn networks_with_users(seed: u64) -> Vec<(&'static str, NetworkSpec)> {
    let only = |rest: u64, spec: Option<NetworkSpec>| spec.filter(|_| seed % 4 == rest);
    let drawn = [
        ("users of cells", Some(scenario(seed))),
        ("users of packets", Some(packets(seed))),
        (
            "users beside stepped ports",
            only(1, Some(with_stepping(scenario(seed), seed))),
        ),
        ("users over links that move", only(2, time_varying(seed))),
        ("users in classes", only(3, Some(several_classes(seed)))),
        ("users at an uplink", uplinks(seed)),
        ("users with proxies", split(scenario(seed), seed)),
        ("users of packets with proxies", split(packets(seed), seed)),
        (
            "users at an uplink with proxies",
            uplinks(seed).and_then(|spec| split(spec, seed)),
        ),
    ];
    let with =
        |(kind, spec): (&'static str, Option<NetworkSpec>)| Some((kind, with_users(spec?, seed)?));
    drawn.into_iter().filter_map(with).collect()
}

/// A scenario with users; none where it has no flows, or what does not go with users.
pub fn with_users(mut spec: NetworkSpec, seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "users"));
    if spec.flows.is_empty() || spec.sky.is_some() {
        return None;
    }
    let profiles = spec.flows.iter().map(|flow| flow.tcp.rwnd);
    let least_buffer = profiles.max().unwrap_or(0);
    let routes: Vec<UserRouteSpec> = spec
        .flows
        .iter()
        .map(|flow| UserRouteSpec {
            forward: flow.forward.clone(),
            reverse: flow.reverse.clone(),
            peps: flow
                .peps
                .iter()
                .map(|pep| of_users(pep, least_buffer))
                .collect(),
        })
        .collect();
    let groups = 1 + dice.below(3) as u32;
    let groups = (0..groups).map(|k| {
        let mut tcp = spec.flows[dice.below(spec.flows.len() as u64) as usize]
            .tcp
            .clone();
        tcp.handshake = true;
        UserGroupSpec {
            name: format!("group{k}"),
            count: 1 + dice.below(6) as u32,
            first_route: dice.below(routes.len() as u64) as u32,
            tcp,
            app: app(&mut dice),
            start: match dice.one_in(2) {
                true => StartSpec::At {
                    time_ps: dice.below(MILLISECOND),
                },
                false => StartSpec::Drawn {
                    from_ps: 0,
                    to_ps: 2 * MILLISECOND,
                },
            },
            every_ps: dice.pick(&[0, 0, MILLISECOND / 7]),
        }
    });
    let groups = groups.collect();
    spec.users = Some(UsersSpec { routes, groups });
    // Half of the runs have flows beside.
    let left = dice.pick(&[0, 0, 1, spec.flows.len()]);
    spec.flows.truncate(left);
    Some(spec)
}

/// A call over first links that are too slow. A packet is under way for ten times the time between two packets, so both ends
/// send, and lose packets, at the same events.
pub fn call_in_overload(seed: u64) -> Option<NetworkSpec> {
    const OCTETS: u32 = 200;
    let mut spec = with_users(packets(seed), seed)?;
    let users = spec.users.as_mut()?;
    (spec.flows, spec.sources) = (Vec::new(), Vec::new());
    users.routes.truncate(1);
    users.groups.truncate(1);
    let route = users.routes[0].clone();
    let path = |vcs: &[u32]| {
        let links = vcs
            .iter()
            .flat_map(|&vc| spec.vcs[vc as usize].path.clone());
        links.map(|link| link as usize).collect::<Vec<_>>()
    };
    let (forward, reverse) = (path(&route.forward), path(&route.reverse));
    for &link in forward.iter().chain(&reverse) {
        let link = &mut spec.links[link];
        if link.schedule.is_some() || link.channel.is_some() || link.delay_variation.is_some() {
            return None;
        }
        (link.loss_ppb, link.port.frame_gap_ps, link.delay_ps) = (0, 0, MILLISECOND / 10);
    }
    for first in [forward[0], reverse[0]] {
        let link = &mut spec.links[first];
        link.receivers.clear();
        link.framing.as_mut()?.rate_millibps = 10_000_000_000;
        let queue = &mut link.port.queues[0];
        (queue.capacity_cells, queue.counts_octets) = (Some(2), false);
        queue.policy = PolicySpec::TailDrop(TailDropSpec {});
    }
    let across = |&link: &usize| {
        let link = &spec.links[link];
        Some(link.framing?.time_ps(OCTETS.into()) + link.delay_ps)
    };
    let across_ps: u64 = reverse.iter().map(across).sum::<Option<u64>>()?;
    spec.links[reverse[0]].delay_ps += 10 - across_ps % 10;
    let group = &mut users.groups[0];
    (group.count, group.first_route) = (1, 0);
    group.start = StartSpec::At { time_ps: 0 };
    group.app = AppSpec::Call(CallSpec {
        packet_octets: OCTETS,
        interval_ps: across_ps / 10 + 1,
        playout_ps: MILLISECOND,
        ie: 0.0,
        bpl: 4.3,
        length: DistributionSpec::Constant {
            value_ps: spec.duration_ps,
        },
        pause: DistributionSpec::Constant { value_ps: 0 },
        count: Some(1),
    });
    spec.records = RecordSpec {
        traces: vec![TraceKind::Discards],
        delay_sources: Vec::new(),
        ..spec.records
    };
    Some(spec)
}

/// A proxy of a flow as one of users, of which any may have any profile.
fn of_users(pep: &PepSpec, least_buffer: u64) -> PepSpec {
    let mut own = pep.clone();
    own.buffer_octets = own.buffer_octets.max(least_buffer);
    own.tcp.handshake = true;
    own
}

/// Short times, many of which are equal.
fn times(dice: &mut Dice) -> DistributionSpec {
    dice.pick(&[
        DistributionSpec::Constant { value_ps: 0 },
        DistributionSpec::Constant {
            value_ps: MILLISECOND / 2,
        },
        DistributionSpec::Uniform {
            low_ps: 1,
            high_ps: MILLISECOND,
        },
        DistributionSpec::Exponential {
            mean_ps: MILLISECOND,
        },
    ])
}

fn app(dice: &mut Dice) -> AppSpec {
    match dice.below(5) {
        0 => AppSpec::Bulk(BulkSpec {
            size_octets: dice.pick(&[1, 3_000, 50_000]),
            count: dice.pick(&[None, Some(2)]),
            pause: times(dice),
            request_octets: dice.pick(&[1, 500, 5_000]),
        }),
        1 => AppSpec::Asks(AsksSpec {
            interval: dice.pick(&[
                DistributionSpec::Constant {
                    value_ps: MILLISECOND / 4,
                },
                DistributionSpec::Uniform {
                    low_ps: MILLISECOND / 9,
                    high_ps: MILLISECOND,
                },
                DistributionSpec::Exponential {
                    mean_ps: MILLISECOND,
                },
            ]),
            ask: sizes(dice),
            answer: sizes(dice),
            again_ps: dice.pick(&[None, Some(MILLISECOND), Some(MILLISECOND / 4)]),
            repeats: dice.pick(&[1, 3]),
        }),
        2 => AppSpec::Call(CallSpec {
            packet_octets: dice.pick(&[1, 200, 3_000]),
            interval_ps: MILLISECOND / dice.pick(&[5, 13]),
            playout_ps: MILLISECOND / 10,
            ie: 0.0,
            bpl: 4.3,
            length: dice.pick(&[
                DistributionSpec::Constant {
                    value_ps: 2 * MILLISECOND,
                },
                DistributionSpec::Exponential {
                    mean_ps: 2 * MILLISECOND,
                },
                DistributionSpec::Uniform {
                    low_ps: 1,
                    high_ps: 4 * MILLISECOND,
                },
            ]),
            pause: times(dice),
            count: dice.pick(&[None, Some(2)]),
        }),
        3 => AppSpec::Pages(pages(dice)),
        _ => AppSpec::Video(VideoSpec {
            ladder_millibps: vec![100_000_000, 1_000_000_000, 20_000_000_000],
            segment_ps: dice.pick(&[MILLISECOND, MILLISECOND / 3]),
            choice: dice.pick(&[VideoChoice::Rate, VideoChoice::Bola, VideoChoice::Bba]),
            rate_part: 0.9,
            rate_segments: 2,
            bola_least_ps: 2 * MILLISECOND,
            bba_reservoir_ps: MILLISECOND,
            bba_cushion_ps: 2 * MILLISECOND,
            buffer_ps: 5 * MILLISECOND,
            start_segments: 1 + dice.below(3) as u32,
            resume_segments: 1,
            length: dice.pick(&[
                DistributionSpec::Constant {
                    value_ps: 6 * MILLISECOND,
                },
                DistributionSpec::Exponential {
                    mean_ps: 2 * MILLISECOND,
                },
            ]),
            pause: times(dice),
            count: dice.pick(&[None, Some(2)]),
            request_octets: dice.pick(&[1, 500]),
        }),
    }
}

fn sizes(dice: &mut Dice) -> SizeSpec {
    dice.pick(&[
        SizeSpec::Constant { octets: 100 },
        SizeSpec::Constant { octets: 4_000 },
        SizeSpec::Extreme {
            mode: 120.0,
            scale: 36.0,
        },
    ])
}

/// Small pages, one after the other.
fn pages(dice: &mut Dice) -> PagesSpec {
    let part = |requests: f64, wave: u32, urgency: u32| FilePartSpec {
        requests,
        octets: 1.0,
        sigma: 1.5,
        wave,
        urgency,
    };
    PagesSpec {
        requests: vec![1, 2, 4, 9, 12],
        page_octets: dice.pick(&[
            vec![100, 500, 2_000, 5_000, 9_000],
            vec![40_000, 60_000, 90_000, 100_000, 200_000],
        ]),
        parts: vec![part(1.0, 1, 1), part(2.0, 1, 3), part(2.0, 2, 2)],
        origins: dice.pick(&[1, 3]),
        first_part: 0.4,
        protocol: dice.pick(&[Protocol::Http1, Protocol::Http2, Protocol::ByOrigin]),
        http1_part: 0.5,
        connections: dice.pick(&[1, 6]),
        dns: dice.pick(&[Dns::Server, Dns::None]),
        dns_ask_octets: 60,
        dns_answer_octets: 200,
        dns_again_ps: MILLISECOND / 2,
        hello_octets: 500,
        flight_octets: dice.pick(&[300, 4_000]),
        resumed_octets: 300,
        finished_octets: 100,
        resumed_part: 0.5,
        early_part: 0.5,
        request_octets: dice.pick(&[1, 500]),
        page_wait: times(dice),
        file_wait: times(dice),
        reading: times(dice),
        count: dice.pick(&[None, Some(2)]),
    }
}
