//! Networks as columns: paths walked hop by hop, threads, and tables that are read.

use super::*;
use crate::series::NO_PATH_PS;
use crate::spec::OrbitSpec;
use skycell_sky::{Courses, LossReason, NO_LINK, Rows, walk};

pub(super) const EPOCHS: usize = 150;

/// A star with a seam that moves, links that switch off near the poles, four stations of which the
/// last sees satellites now and then, and delays beside those of light.
pub(super) fn world(access: &str, links: &str) -> World {
    let station = |name: &str, latitude: f64, longitude: f64, mask: f64| {
        format!(
            r#"{{"name": "{name}", "latitude_deg": {latitude}, "longitude_deg": {longitude},
            "height_km": 0.0, "mask_deg": {mask}, "horizon_deg": [], "longest_km": null,
            "gso_exclusion_deg": 0.0}}"#
        )
    };
    let stations = [
        station("a", 48.9, 2.4, 10.0),
        station("b", -33.9, 151.2, 10.0),
        station("c", 69.7, 19.0, 10.0),
        station("d", 1.3, 103.8, 50.0),
    ];
    let pairs: Vec<String> = (0..4)
        .flat_map(|a| {
            (0..4)
                .filter(move |b| *b != a)
                .map(move |b| format!("[{a}, {b}]"))
        })
        .collect();
    let text = format!(
        r#"{{"shells": [{{"from": "pattern", "pattern": {{"kind": "star", "planes": 6,
            "satellites_per_plane": 11, "altitude_km": 780.0, "inclination_deg": 86.4,
            "raan_step_deg": 31.6, "phase_step_deg": 16.4}}, "links": {links}}}],
        "rotation": {{"kind": "uniform", "angle_at_start_deg": 0.0}}, "shape": "wgs84",
        "light_km_s": 299792.458, "limits": {{"max_length_km": 5000.0, "clearance_km": 80.0}},
        "given_links": [], "stations": [{}], "pairs": [{}],
        "access": {access}, "route": "shortest",
        "extra": {{"satellite_ps": 700001, "ground_ps": 30000003}}}}"#,
        stations.join(","),
        pairs.join(",")
    );
    World::new(
        OrbitSpec::from_json(&text).unwrap(),
        [0, 3_000_000_000_000_000],
    )
    .unwrap()
}

pub(super) const ANY: &str = r#"{"rule": "any", "hold": false, "slots": null}"#;
pub(super) const HIGHEST: &str = r#"{"rule": "highest", "hold": true, "slots": null}"#;
pub(super) const SLOTS: &str = r#"{"rule": "least_used", "hold": false,
    "slots": {"period_ps": 15000000000000, "phase_ps": 4000000000000, "seed": 1}}"#;
pub(super) const GRID: &str =
    r#"{"kind": "grid", "seam": "matched", "cross_plane_below_deg": 60.0}"#;

pub(super) fn request(step_ps: u64, threads: usize, metric: Metric) -> NetworkRequest {
    NetworkRequest {
        start_ps: 5_000_000_000_000,
        step_ps,
        epochs: EPOCHS,
        threads,
        routing: Routing::Least(metric),
        has_port_per_station: false,
        outages: Vec::new(),
        ground: Ground {
            stations: 4,
            ..Ground::default()
        },
        spread: None,
        precision_ps: None,
        interruption_ps: 0,
    }
}

pub(super) fn network(world: &World, request: &NetworkRequest) -> Columns {
    world.network(request, &mut |_| true).unwrap()
}

pub(super) const STEP_PS: u64 = 10_000_000_000_000;

#[test]
fn paths_walked_hop_by_hop_are_those_of_the_series_to_the_picosecond() {
    for access in [ANY, HIGHEST, SLOTS] {
        let world = world(access, GRID);
        let request = request(STEP_PS, 2, Metric::Delay);
        let columns = network(&world, &request);
        assert_eq!(columns.route_without_link(), None);
        let series = SeriesRequest {
            start_ps: request.start_ps,
            step_ps: request.step_ps,
            steps: EPOCHS,
            threads: 2,
            with_links: false,
            precision_ps: None,
        };
        let series = world.series(&series, &mut |_| true).unwrap();
        let (mut rows, mut courses) = (Rows::new(&columns), Courses::new(&columns));
        let (mut found, mut without) = (vec![0; series.delays_ps.len()], 0);
        for epoch in 0..EPOCHS {
            rows.bring_all(epoch as u32);
            for (pair, [from, to]) in world.spec.pairs.iter().enumerate() {
                let node = world.fleet.len() as u32 + from;
                let path = walk(&rows, &mut courses, node, *to as u16, epoch as u32);
                assert!(path.lost.is_none_or(|reason| reason == LossReason::NoRoute));
                let delay_ps = path.delays_ps.iter().sum();
                let is_lost = path.lost.is_some();
                without += u32::from(is_lost);
                found[pair * EPOCHS + epoch] = if is_lost { NO_PATH_PS } else { delay_ps };
            }
        }
        assert!(without > 0, "the last station sees nothing at times");
        assert_eq!(found, series.delays_ps, "{access}");
    }
}

#[test]
fn one_thread_and_three_give_the_same_columns() {
    for (access, metric) in [
        (ANY, Metric::Delay),
        (ANY, Metric::Hops),
        (SLOTS, Metric::Delay),
    ] {
        let world = world(access, GRID);
        let [one, three] = [1, 3].map(|threads| {
            let columns = network(&world, &request(STEP_PS, threads, metric));
            columns.to_octets()
        });
        assert!(one == three, "{access}, {metric:?}");
    }
}

#[test]
fn steps_too_long_for_a_difference_begin_new_intervals_of_the_same_delays() {
    // Within ten minutes planes come nearer at the poles by more than 2 ms.
    const LONG_PS: u64 = 600_000_000_000_000;
    let links = r#"{"kind": "grid", "seam": "none", "cross_plane_below_deg": 90.0}"#;
    let world = world(ANY, links);
    let columns = network(&world, &request(LONG_PS, 2, Metric::Delay));
    let adjacent = columns.course_interval.windows(2).any(|course| {
        let mut own = course[0] as usize + 1..course[1] as usize;
        own.any(|row| columns.interval_epochs(row - 1).end == columns.interval_epoch[row])
    });
    assert!(adjacent);
    let mut courses = Courses::new(&columns);
    let mut sky = world.sky(0);
    for epoch in 0..EPOCHS {
        sky.turn_to(columns.epoch_ps[epoch]);
        sky.find_links();
        for satellite in 0..world.fleet.len() as u32 {
            for (neighbour, delay_ps) in sky.graph().row(satellite) {
                let link = columns.link_to(satellite, neighbour).map(u32::from);
                let link = columns.links(satellite).start + link.unwrap();
                assert_eq!(courses.delay_ps(link, epoch as u32), Some(delay_ps));
            }
        }
    }
}

/// Links of the shortest path from a node in links alone, by breadth.
fn least_links(
    columns: &Columns,
    courses: &mut Courses<'_>,
    from: u32,
    to: u32,
    epoch: u32,
) -> usize {
    let satellites = (columns.nodes() - columns.labels()) as u32;
    let (mut reached, mut known, mut count) = (vec![from], vec![from], 0);
    while !reached.contains(&to) {
        count += 1;
        let mut next = Vec::new();
        for node in reached
            .into_iter()
            .filter(|&node| node == from || node < satellites)
        {
            for link in columns.links(node) {
                let end = columns.link_to[link as usize];
                if courses.delay_ps(link, epoch).is_some() && !known.contains(&end) {
                    known.push(end);
                    next.push(end);
                }
            }
        }
        reached = next;
    }
    count
}

#[test]
fn paths_by_hops_have_the_fewest_links() {
    let world = world(ANY, GRID);
    let [by_hops, by_delay] =
        [Metric::Hops, Metric::Delay].map(|metric| network(&world, &request(STEP_PS, 2, metric)));
    let (mut courses, mut links) = (Courses::new(&by_hops), [0, 0]);
    let mut rows = [&by_hops, &by_delay].map(Rows::new);
    for epoch in (0..EPOCHS as u32).step_by(7) {
        for [from, to] in [[0u32, 1u32], [1, 2], [2, 0]] {
            let node = world.fleet.len() as u32 + from;
            for (rows, sum) in rows.iter_mut().zip(&mut links) {
                rows.bring_all(epoch);
                let own = walk(
                    rows,
                    &mut Courses::new(rows.columns()),
                    node,
                    to as u16,
                    epoch,
                );
                assert_eq!(own.lost, None);
                *sum += own.links.len();
            }
            let end = world.fleet.len() as u32 + to;
            let own = walk(&rows[0], &mut courses, node, to as u16, epoch);
            let least = least_links(&by_hops, &mut courses, node, end, epoch);
            assert_eq!(own.links.len(), least);
        }
    }
    assert!(
        links[0] < links[1],
        "the shortest by delay have more links at times: {links:?}"
    );
}

/// The routes of columns as a table.
fn table_of(columns: &Columns) -> Vec<ListedRoute> {
    let mut routes = Vec::new();
    let mut add = |epoch: u32, node: usize, label: u16, link: u16| {
        let next = (link != NO_LINK).then(|| {
            let first = columns.node_link[node] as usize;
            columns.link_to[first + usize::from(link)]
        });
        let node = node as u32;
        routes.push(ListedRoute {
            epoch,
            node,
            label,
            next,
        });
    };
    for node in 0..columns.nodes() {
        for label in 0..columns.labels() {
            let link = columns.route_first[node * columns.labels() + label];
            add(0, node, label as u16, link);
        }
        for row in columns.node_change[node] as usize..columns.node_change[node + 1] as usize {
            let (epoch, label) = (columns.change_epoch[row], columns.change_label[row]);
            add(epoch, node, label, columns.change_link[row]);
        }
    }
    routes
}

#[test]
fn routes_of_a_table_give_the_columns_that_the_table_is_of() {
    let world = world(ANY, GRID);
    let mut request = request(STEP_PS, 2, Metric::Delay);
    let columns = network(&world, &request);
    let mut table = table_of(&columns);
    request.routing = Routing::Listed(table.clone());
    assert!(network(&world, &request) == columns);
    // A table may say again what is in force, as Hypatia's does where an interface changes.
    let last = EPOCHS as u32 - 1;
    let firsts = table.iter().filter(|route| route.epoch == 0);
    let again: Vec<ListedRoute> = firsts
        .filter(|first| {
            let is_same = |own: &&ListedRoute| (own.node, own.label) == (first.node, first.label);
            table.iter().filter(is_same).count() == 1
        })
        .map(|first| ListedRoute {
            epoch: last,
            ..*first
        })
        .collect();
    assert!(!again.is_empty());
    table.extend(again);
    request.routing = Routing::Listed(table);
    assert!(network(&world, &request) == columns);
}

#[test]
fn a_route_between_nodes_that_are_never_linked_is_refused() {
    let world = world(ANY, GRID);
    let mut request = request(STEP_PS, 1, Metric::Delay);
    // Satellites 0 and 5 stand at opposite sides of a plane.
    request.routing = Routing::Listed(vec![ListedRoute {
        epoch: 2,
        node: 0,
        label: 1,
        next: Some(5),
    }]);
    let refused = OrbitError::NoLink {
        node: 0,
        label: 1,
        next: 5,
        at_ps: request.start_ps + 2 * STEP_PS,
    };
    assert_eq!(world.network(&request, &mut |_| true), Err(refused));
}

#[test]
fn links_that_are_out_of_order_do_not_exist_and_no_route_takes_them() {
    let world = world(ANY, GRID);
    let whole = network(&world, &request(STEP_PS, 1, Metric::Delay));
    let satellites = world.fleet.len() as u32;
    // The first hop of station 0 to station 1 as the run begins, and the link behind it.
    let rows = Rows::new(&whole);
    let first = rows.next(satellites, 1).expect("a route");
    let satellite = whole.link_to[first as usize];
    let second = rows.next(satellite, 1).expect("a route");
    let behind = whole.link_to[second as usize];
    let outage = |node: u32, other: Option<u32>, from: u32, until: u32| Outage {
        node,
        other,
        from,
        until,
    };
    let mut asked = request(STEP_PS, 2, Metric::Delay);
    asked.outages = vec![
        outage(satellite, Some(behind), 0, 2),
        outage(satellite, None, 2, 4),
        outage(satellites, None, 4, 5),
    ];
    let columns = network(&world, &asked);
    assert_eq!(columns.route_without_link(), None);
    let mut courses = Courses::new(&columns);
    let link = |columns: &Columns, from: u32, to: u32| {
        let own = columns.link_to(from, to).expect("a link");
        columns.links(from).start + u32::from(own)
    };
    let up = link(&columns, satellites, satellite);
    let on = columns
        .link_to(satellite, behind)
        .map(|own| columns.links(satellite).start + u32::from(own));
    let mut exists = |link: Option<u32>| {
        [0, 1, 2, 3, 4, 5]
            .map(|epoch| link.is_some_and(|link| courses.delay_ps(link, epoch).is_some()))
    };
    assert_eq!(exists(Some(up))[..5], [true, true, false, false, false]);
    assert_eq!(exists(on)[..4], [false; 4]);
    let mut rows = Rows::new(&columns);
    let mut nexts = Vec::new();
    for epoch in 0..6 {
        rows.bring_all(epoch);
        nexts.push(rows.next(satellites, 1));
    }
    // A station that is out of order has no next hop, and has one again behind.
    assert!(nexts[3].is_some() && nexts[4].is_none() && nexts[5].is_some());
    assert_ne!(
        nexts[2].map(|link| columns.link_to[link as usize]),
        Some(satellite)
    );
    // Behind all outages routes are those of the whole network.
    let mut without = Rows::new(&whole);
    rows.bring_all(EPOCHS as u32 - 1);
    without.bring_all(EPOCHS as u32 - 1);
    let ends = |columns: &Columns, rows: &Rows<&Columns>| -> Vec<Option<u32>> {
        let next = |node: u32| {
            rows.next(node, 1)
                .map(|link| columns.link_to[link as usize])
        };
        (0..columns.nodes() as u32).map(next).collect()
    };
    assert_eq!(ends(&columns, &rows), ends(&whole, &without));
}

#[test]
fn a_link_to_the_ground_carries_nothing_until_the_station_has_turned() {
    for access in [ANY, HIGHEST] {
        let world = world(access, GRID);
        let plain = network(&world, &request(STEP_PS, 1, Metric::Delay));
        let two_steps = NetworkRequest {
            interruption_ps: STEP_PS + 1,
            ..request(STEP_PS, 2, Metric::Delay)
        };
        let later = network(&world, &two_steps);
        let stations = world.fleet.len() as u32..plain.nodes() as u32;
        let mut turned = 0;
        for node in stations {
            let exist = |columns: &Columns, epoch: u32| -> Vec<u32> {
                let mut courses = Courses::new(columns);
                let own = columns.links(node);
                let own = own.filter(|&link| courses.delay_ps(link, epoch).is_some());
                own.map(|link| columns.link_to[link as usize]).collect()
            };
            for epoch in 0..EPOCHS as u32 {
                let before = epoch.saturating_sub(2)..=epoch;
                let used = exist(&plain, epoch);
                let since = |satellite: &u32| {
                    before
                        .clone()
                        .all(|epoch| exist(&plain, epoch).contains(satellite))
                };
                let expected: Vec<u32> = used.iter().copied().filter(since).collect();
                assert_eq!(exist(&later, epoch), expected, "{node} at {epoch}");
                turned += u32::from(expected != used);
            }
        }
        assert!(turned > 0);
    }
}
