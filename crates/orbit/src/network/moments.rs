//! When links and routes are looked at: at every step, and where the paths of pairs change between two.

use super::looks::Builder;
use super::nodes::Nodes;
use super::{CHUNK, Metric, NOWHERE, NetworkRequest, Routing};
use crate::OrbitError;
use crate::series::{Access, Progress, shared};
use crate::sky::World;
use skycell_sky::HOP_LIMIT;

/// The moments of the epochs, ascending.
pub(super) struct Moments {
    pub(super) at_ps: Vec<u64>,
}

impl Moments {
    pub(super) fn find(
        world: &World,
        request: &NetworkRequest,
        nodes: &Nodes,
        access: &[Access],
        go_on: Progress,
    ) -> Result<Self, OrbitError> {
        let mut at_ps: Vec<u64> = (0..request.epochs)
            .map(|step| request.at_ps(step))
            .collect();
        if let (Some(precision_ps), Routing::Least(metric)) =
            (request.precision_ps, &request.routing)
        {
            let chunks = request.epochs.div_ceil(CHUNK);
            let done = shared(request.threads, chunks, (0.2, 0.7), go_on, |chunk| {
                let mut search = Search {
                    builder: Builder::new(world, request, nodes, access),
                    pairs: &world.spec.pairs,
                    paths: request.paths(),
                    metric: *metric,
                    precision_ps,
                };
                let first = chunk * CHUNK;
                search.changes(&at_ps[first..request.epochs.min(first + CHUNK + 1)])
            })?;
            at_ps.extend(done.into_iter().flatten());
            at_ps.sort_unstable();
            at_ps.dedup();
        }
        Ok(Moments { at_ps })
    }
}

/// A moment, and the nodes of all paths there, one path after another.
type At = (u64, Vec<u32>);

/// The search for changes of paths.
struct Search<'a, 'b> {
    builder: Builder<'a>,
    /// Source and destination by their labels.
    pairs: &'b [[u32; 2]],
    /// Labels of each destination.
    paths: usize,
    metric: Metric,
    precision_ps: u64,
}

impl Search<'_, '_> {
    /// The moments of changes after the first of some steps and up to the last one.
    ///
    /// Halves each time between two steps whose paths differ, as the search for the changes of a series does.
    /// What changes there and back between two looks goes unseen.
    fn changes(&mut self, steps_ps: &[u64]) -> Vec<u64> {
        let mut found = Vec::new();
        let mut known = self.at(steps_ps[0]);
        for &step_ps in &steps_ps[1..] {
            // What is still to be looked at, the earliest last.
            let mut later = vec![self.at(step_ps)];
            while let Some(next) = later.last() {
                let apart_ps = next.0 - known.0;
                if next.1 == known.1 {
                    known = later.pop().expect("the one looked at");
                } else if apart_ps > self.precision_ps {
                    let middle = self.at(known.0 + apart_ps / 2);
                    later.push(middle);
                } else {
                    known = later.pop().expect("the one looked at");
                    found.push(known.0);
                }
            }
        }
        found
    }

    fn at(&mut self, at_ps: u64) -> At {
        self.builder.turn_to(at_ps);
        self.builder.take_routes(0, self.metric, None);
        let mut nodes = Vec::new();
        let of = self.builder.nodes;
        for &[from, to] in self.pairs {
            for path in 0..self.paths {
                let label = path * of.destinations() + to as usize;
                let table = &self.builder.table[label * of.count()..][..of.count()];
                let mut node = of.end_of(from as usize);
                for _ in 0..=HOP_LIMIT {
                    nodes.push(node);
                    if node == NOWHERE || node == of.end_of(label) {
                        break;
                    }
                    node = table[node as usize];
                }
            }
        }
        (at_ps, nodes)
    }
}
