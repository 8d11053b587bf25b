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

/// A moment, and the nodes of each path there.
struct At {
    at_ps: u64,
    paths: Vec<Vec<u32>>,
}

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
    /// What changes there and back between two looks goes unseen.
    fn changes(&mut self, steps_ps: &[u64]) -> Vec<u64> {
        let mut found = Vec::new();
        let mut known = self.at(steps_ps[0]);
        let all: Vec<usize> = (0..known.paths.len()).collect();
        for &step_ps in &steps_ps[1..] {
            let next = self.at(step_ps);
            self.halve(&known, &next, &all, &mut found);
            known = next;
        }
        found
    }

    /// Adds the changes of some paths after one moment and up to another, by halving the time between: as the
    /// search for the changes of a series does for each path alone, which looks into a half where the path
    /// differs at its ends.
    fn halve(&mut self, known: &At, next: &At, paths: &[usize], found: &mut Vec<u64>) {
        let differs = |path: &&usize| known.paths[**path] != next.paths[**path];
        let changed: Vec<usize> = paths.iter().filter(differs).copied().collect();
        if changed.is_empty() {
            return;
        }
        let apart_ps = next.at_ps - known.at_ps;
        if apart_ps <= self.precision_ps {
            found.push(next.at_ps);
            return;
        }
        let middle = self.at(known.at_ps + apart_ps / 2);
        self.halve(known, &middle, &changed, found);
        self.halve(&middle, next, &changed, found);
    }

    fn at(&mut self, at_ps: u64) -> At {
        self.builder.turn_to(at_ps);
        self.builder.take_routes(0, self.metric, None);
        let of = self.builder.nodes;
        let mut paths = Vec::new();
        for &[from, to] in self.pairs {
            for path in 0..self.paths {
                let label = path * of.destinations() + to as usize;
                let table = &self.builder.table[label * of.count()..][..of.count()];
                let mut nodes = vec![of.end_of(from as usize)];
                while let Some(&node) = nodes.last()
                    && node != NOWHERE
                    && node != of.end_of(label)
                    && nodes.len() <= HOP_LIMIT
                {
                    nodes.push(table[node as usize]);
                }
                paths.push(nodes);
            }
        }
        At { at_ps, paths }
    }
}
