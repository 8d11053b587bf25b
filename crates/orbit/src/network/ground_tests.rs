//! Places that forward, points behind them, several labels a destination, and epochs at changes of paths.

use super::tests::{ANY, EPOCHS, GRID, HIGHEST, SLOTS, STEP_PS, network, request, world};
use super::*;
use crate::series::NO_PATH_PS;
use skycell_sky::{Courses, Rows, walk};

const NONE: &str = r#"{"kind": "none"}"#;
const FAR: u128 = u128::MAX / 4;

/// Two stations, and two gateways with a point behind them.
fn of_two_stations(request: &mut NetworkRequest) {
    let link = |(site, ms): (u32, u64)| Terrestrial {
        site,
        delay_ps: ms * 1_000_000_000,
    };
    request.ground = Ground {
        stations: 2,
        stations_relay: false,
        terrestrial: [(2, 40), (3, 4)].map(link).to_vec(),
    };
}

fn without_pairs(mut world: World) -> World {
    world.spec.pairs.clear();
    world
}

/// Which nodes forward: satellites, and of the places those that the request names.
fn forwards(world: &World, request: &NetworkRequest, node: u32) -> bool {
    let sites = world.stations.len() as u32;
    match node.checked_sub(world.fleet.len() as u32) {
        None => true,
        Some(site) if site == sites => false,
        Some(site) => request.ground.stations_relay || site as usize >= request.ground.stations,
    }
}

/// The links that exist at an epoch: both ends, and the cost as (links where these count, delay).
fn links_at(columns: &Columns, epoch: u32, metric: Metric) -> Vec<(u32, u32, u128)> {
    let (mut courses, from) = (Courses::new(columns), columns.link_from());
    let links = (0..columns.link_to.len() as u32).filter_map(|link| {
        let delay_ps = u128::from(courses.delay_ps(link, epoch)?.max(1));
        let links = match metric {
            Metric::Delay => 0,
            Metric::Hops => 1 << 100,
        };
        let link = link as usize;
        Some((from[link], columns.link_to[link], links + delay_ps))
    });
    links.collect()
}

/// Bellman and Ford: the least cost from every node to a destination, over nodes that forward.
fn plain(nodes: usize, links: &[(u32, u32, u128)], end: u32, is_relay: &[bool]) -> Vec<u128> {
    let mut costs = vec![FAR; nodes];
    costs[end as usize] = 0;
    loop {
        let before = costs.clone();
        for &(from, to, cost) in links {
            if to == end || is_relay[to as usize] {
                let over = cost + costs[to as usize];
                costs[from as usize] = costs[from as usize].min(over);
            }
        }
        if costs == before {
            return costs;
        }
    }
}

/// Worlds and requests that differ in what forwards.
fn cases() -> Vec<(World, NetworkRequest)> {
    let mut cases = Vec::new();
    for (access, links, metric) in [
        (ANY, GRID, Metric::Delay),
        (ANY, NONE, Metric::Delay),
        (ANY, NONE, Metric::Hops),
        (HIGHEST, GRID, Metric::Hops),
        (SLOTS, NONE, Metric::Delay),
    ] {
        for relays in [0, 1, 2] {
            let mut own = request(STEP_PS, 2, metric);
            own.epochs = 40;
            match relays {
                0 => of_two_stations(&mut own),
                1 => own.ground.stations_relay = true,
                _ => own.ground.stations = 3,
            }
            cases.push((without_pairs(world(access, links)), own));
        }
    }
    cases
}

#[test]
fn paths_over_sites_that_forward_are_those_of_bellman_and_ford() {
    let (mut with, mut without, mut over_sites) = (0, 0, 0);
    for (world, request) in cases() {
        let Routing::Least(metric) = request.routing else {
            unreachable!("routes are computed")
        };
        let columns = network(&world, &request);
        assert_eq!(columns.route_without_link(), None);
        let nodes = columns.nodes();
        let is_relay: Vec<bool> = (0..nodes as u32)
            .map(|node| forwards(&world, &request, node))
            .collect();
        let mut rows = Rows::new(&columns);
        for epoch in 0..request.epochs as u32 {
            rows.bring_all(epoch);
            let links = links_at(&columns, epoch, metric);
            for label in 0..columns.labels() {
                let end = columns.label_node[label];
                let least = plain(nodes, &links, end, &is_relay);
                for from in (0..nodes as u32).filter(|&from| from != end) {
                    let (mut node, mut cost) = (from, 0);
                    while node != end {
                        assert!(node == from || is_relay[node as usize]);
                        let Some(link) = rows.next(node, label as u16) else {
                            cost = FAR;
                            break;
                        };
                        let to = columns.link_to[link as usize];
                        let own = links.iter().find(|own| (own.0, own.1) == (node, to));
                        cost += own.expect("a route has its link").2;
                        over_sites += u32::from(to as usize >= world.fleet.len() && to != end);
                        node = to;
                    }
                    assert_eq!(cost, least[from as usize].min(FAR), "{from} to {end}");
                    *(if cost == FAR { &mut without } else { &mut with }) += 1;
                }
            }
        }
    }
    assert!(with > 1000 && without > 1000 && over_sites > 1000);
}

#[test]
fn each_path_comes_nearer_with_each_link_and_is_within_its_bound() {
    let (mut longer, mut all) = (0, 0);
    for (world, mut request) in cases() {
        let Routing::Least(metric) = request.routing else {
            unreachable!("routes are computed")
        };
        let one = network(&world, &request);
        request.spread = Some(Spread {
            paths: 4,
            detour_ppm: 200_000,
        });
        let columns = network(&world, &request);
        let (nodes, ends) = (columns.nodes(), one.labels());
        assert_eq!(columns.labels(), 4 * ends);
        let is_relay: Vec<bool> = (0..nodes as u32)
            .map(|node| forwards(&world, &request, node))
            .collect();
        let (mut rows, mut rows_of_one) = (Rows::new(&columns), Rows::new(&one));
        for epoch in 0..request.epochs as u32 {
            rows.bring_all(epoch);
            rows_of_one.bring_all(epoch);
            let links = links_at(&columns, epoch, metric);
            for label in 0..columns.labels() {
                let end = columns.label_node[label];
                let least = plain(nodes, &links, end, &is_relay);
                for from in (0..nodes as u32).filter(|&from| from != end) {
                    let known = least[from as usize];
                    if label < ends {
                        let own = (
                            rows.next(from, label as u16),
                            rows_of_one.next(from, label as u16),
                        );
                        assert_eq!(own.0, own.1, "the first path is that of one path");
                    }
                    let (mut node, mut cost) = (from, 0);
                    while node != end && known < FAR {
                        let link = rows.next(node, label as u16).expect("a path");
                        let to = columns.link_to[link as usize];
                        assert!(least[to as usize] < least[node as usize]);
                        let own = links.iter().find(|own| (own.0, own.1) == (node, to));
                        cost += own.expect("a route has its link").2;
                        node = to;
                    }
                    if known >= FAR {
                        assert_eq!(rows.next(from, label as u16), None);
                        continue;
                    }
                    match metric {
                        Metric::Delay => assert!(cost <= known + known / 5),
                        Metric::Hops => assert_eq!(cost >> 100, known >> 100),
                    }
                    all += 1;
                    longer += u32::from(cost > known);
                }
            }
        }
    }
    assert!(
        longer * 20 > all,
        "{longer} of {all} paths are longer than the least"
    );
}

#[test]
fn threads_do_not_change_what_forwards_spreads_or_changes_between_steps() {
    for access in [ANY, HIGHEST, SLOTS] {
        let mut world = world(access, GRID);
        world.spec.pairs = vec![[0, 1], [1, 2], [2, 0]];
        let [one, three] = [1, 3].map(|threads| {
            let mut own = request(STEP_PS, threads, Metric::Delay);
            of_two_stations(&mut own);
            own.spread = Some(Spread {
                paths: 3,
                detour_ppm: 100_000,
            });
            own.precision_ps = Some(1_000_000_000);
            network(&world, &own).to_octets()
        });
        assert!(one == three, "{access}");
    }
}

#[test]
fn epochs_between_steps_are_the_changes_of_the_series_with_their_delays() {
    const PRECISION_PS: u64 = 1_000_000;
    for access in [ANY, HIGHEST, SLOTS] {
        let world = world(access, GRID);
        let mut own = request(STEP_PS, 2, Metric::Delay);
        own.precision_ps = Some(PRECISION_PS);
        let columns = network(&world, &own);
        let series = SeriesRequest {
            start_ps: own.start_ps,
            step_ps: own.step_ps,
            steps: EPOCHS,
            threads: 2,
            with_links: false,
            precision_ps: Some(PRECISION_PS),
        };
        let series = world.series(&series, &mut |_| true).unwrap();
        let steps = (0..EPOCHS).map(|step| own.at_ps(step));
        let mut expected: Vec<u64> = steps
            .chain(series.changes.iter().map(|own| own.at_ps))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        assert!(series.changes.len() > 20, "{access}");
        assert_eq!(columns.epoch_ps, expected, "{access}");
        for change in &series.changes {
            let epoch = columns.epoch_ps.binary_search(&change.at_ps).unwrap() as u32;
            let mut rows = Rows::new(&columns);
            rows.bring_all(epoch);
            let [from, to] = world.spec.pairs[change.pair as usize];
            let node = columns.label_node[from as usize];
            let path = walk(&rows, &mut Courses::new(&columns), node, to as u16, epoch);
            let delay_ps = match path.lost {
                None => path.delays_ps.iter().sum(),
                Some(_) => NO_PATH_PS,
            };
            let after_ps = change
                .after
                .as_ref()
                .map_or(NO_PATH_PS, |path| path.delay_ps());
            assert_eq!(delay_ps, after_ps, "{access}, at {}", change.at_ps);
        }
    }
}

#[test]
fn what_a_place_on_the_ground_cannot_be_is_refused() {
    let mut world = world(ANY, GRID);
    world.spec.pairs = vec![[0, 1]];
    let refused = |change: fn(&mut NetworkRequest)| {
        let mut own = request(STEP_PS, 1, Metric::Delay);
        change(&mut own);
        let found = world.network(&own, &mut |_| true);
        assert!(matches!(found, Err(OrbitError::Spec(_))), "{found:?}");
    };
    refused(|own| own.ground.stations = 5);
    refused(|own| own.ground.stations = 1);
    refused(|own| {
        of_two_stations(own);
        own.ground.terrestrial[0].site = 1;
    });
    refused(|own| {
        of_two_stations(own);
        own.ground.terrestrial.push(own.ground.terrestrial[0]);
    });
    refused(|own| {
        own.spread = Some(Spread {
            paths: u16::MAX,
            detour_ppm: 1,
        });
    });
    refused(|own| {
        own.routing = Routing::Listed(Vec::new());
        own.precision_ps = Some(1);
    });
}
