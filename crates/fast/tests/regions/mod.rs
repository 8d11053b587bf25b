//! Networks in regions leave what they leave as a whole.

use crate::scenarios::by_label;
use crate::{compare_all, first_difference_of};
use skycell_des::Stream;
use skycell_fast::{Regions, Tuning};
use skycell_sky::Courses;
use skycell_spec::NetworkSpec;

/// Turns that a run of a scenario may take.
const TURNS: u64 = 2_000;

/// The regions, joined where a link between two is so short that a run would take too many turns.
fn without_short_links_between(spec: &NetworkSpec, mut of_node: Vec<u32>) -> Vec<u32> {
    let columns = spec.sky.as_ref().expect("a network by label").columns();
    let from = columns.link_from();
    for epoch in 0..columns.epochs() as u32 {
        let mut courses = Courses::by_link(columns);
        for ((&from, &to), link) in from.iter().zip(&columns.link_to).zip(0u32..) {
            let Some(delay_ps) = courses.delay_ps(link, epoch) else {
                continue;
            };
            let [one, other] = [from, to].map(|node| of_node[node as usize]);
            if delay_ps * TURNS < spec.duration_ps {
                let joined = of_node.iter_mut().filter(|region| **region == other);
                joined.for_each(|region| *region = one);
            }
        }
    }
    of_node
}

/// Each fourth scenario by label in regions, one thread for all or one for each, against one region. Which node is of which
/// is drawn: in two of three scenarios each node by itself, whatever links lie between.
#[test]
fn regions_forward_alike_by_label() {
    compare_all(&|seed| {
        if !seed.is_multiple_of(4) {
            return Vec::new();
        }
        let spec = by_label(seed);
        let one = skycell_fast::run(&spec, &mut |_| true).expect("it runs");
        let mut stream = Stream::new(seed, "regions");
        for count in [1, 2, 3, 5] {
            let nodes = 0..spec.nodes.len() as u64;
            let of_node: Vec<u32> = match stream.uniform(0, 3) {
                0 => nodes
                    .map(|node| (node * count / spec.nodes.len() as u64) as u32)
                    .collect(),
                _ => nodes.map(|_| stream.uniform(0, count) as u32).collect(),
            };
            let of_node = without_short_links_between(&spec, of_node);
            for in_threads in [false, true] {
                let tuning = Tuning {
                    regions: Some(Regions {
                        of_node: of_node.clone(),
                        in_threads,
                    }),
                    ..Tuning::USE
                };
                let several = skycell_fast::run_tuned(&spec, &tuning, &mut |_| true);
                let several = several.expect("it runs in regions");
                let found = first_difference_of(&one, several);
                assert_eq!(
                    found, None,
                    "by label {seed}, {of_node:?}, threads: {in_threads}"
                );
            }
        }
        Vec::new()
    });
}
