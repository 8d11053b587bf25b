//! The satellites and their links at a moment as a graph, in compressed rows.

/// Rows of neighbours, each in the order of their numbers, with the delay of the link to them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where the row of each satellite begins; one more than satellites.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    delays_ps: Vec<u64>,
}

impl Graph {
    /// Fills the graph anew.
    ///
    /// `links` are pairs of different satellites below `satellites`, none twice.
    pub fn fill(
        &mut self,
        satellites: usize,
        links: &[[u32; 2]],
        delay_ps: impl Fn([u32; 2]) -> u64,
    ) {
        self.starts.clear();
        self.starts.resize(satellites + 1, 0);
        for end in links.iter().flatten() {
            self.starts[*end as usize + 1] += 1;
        }
        for satellite in 0..satellites {
            self.starts[satellite + 1] += self.starts[satellite];
        }
        self.neighbours.clear();
        self.neighbours.resize(2 * links.len(), 0);
        let mut next = self.starts.clone();
        for &[a, b] in links {
            for (from, to) in [(a, b), (b, a)] {
                let slot = &mut next[from as usize];
                self.neighbours[*slot as usize] = to;
                *slot += 1;
            }
        }
        self.delays_ps.clear();
        for satellite in 0..satellites {
            let row = self.starts[satellite] as usize..self.starts[satellite + 1] as usize;
            self.neighbours[row.clone()].sort_unstable();
            for slot in row {
                let ends = [satellite as u32, self.neighbours[slot]];
                self.delays_ps.push(delay_ps(ends));
            }
        }
    }

    /// Number of satellites.
    pub fn satellites(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Where each satellite's row begins, and one beyond the last; neighbours and delays row after row,
    /// each row by its neighbours' numbers.
    pub fn slots(&self) -> (&[u32], &[u32], &[u64]) {
        (&self.starts, &self.neighbours, &self.delays_ps)
    }

    /// Neighbours of a satellite and the delays to them, in the order of their numbers.
    pub fn row(&self, satellite: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let row =
            self.starts[satellite as usize] as usize..self.starts[satellite as usize + 1] as usize;
        self.neighbours[row.clone()]
            .iter()
            .copied()
            .zip(self.delays_ps[row].iter().copied())
    }

    /// Delay of the link between two satellites; none where there is no link.
    pub fn delay_ps(&self, a: u32, b: u32) -> Option<u64> {
        self.row(a).find(|(to, _)| *to == b).map(|(_, delay)| delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_each_link_at_both_ends_in_order() {
        let mut graph = Graph::default();
        graph.fill(4, &[[2, 0], [0, 1], [3, 2]], |[a, b]| u64::from(a * 10 + b));
        let rows: Vec<Vec<_>> = (0..4).map(|s| graph.row(s).collect()).collect();
        assert_eq!(
            rows,
            [
                vec![(1, 1), (2, 2)],
                vec![(0, 10)],
                vec![(0, 20), (3, 23)],
                vec![(2, 32)]
            ]
        );
        assert_eq!(graph.delay_ps(3, 2), Some(32));
        assert_eq!(graph.delay_ps(3, 1), None);
    }
}
