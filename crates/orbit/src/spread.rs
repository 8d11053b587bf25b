//! Several paths to a destination: each label of it has next hops of its own.
//!
//! The candidates of a node are its neighbours that are strictly nearer to the destination than itself, so
//! that no path has a loop (RFC 5286, inequality 2: the downstream path criterion). Nodes choose in the order of their
//! least costs, and a candidate counts if the whole path over it, as the nodes before have chosen, is within
//! the bound. The neighbour on the path of least cost is always such a candidate: its own path is at most
//! its least cost and the allowed part of that. Of several candidates a node takes the one of the highest
//! weight for the label, by a hash over node, neighbour and label (RFC 2991: highest random
//! weight): a candidate that comes or goes moves the labels that choose it, and no other ones.

use crate::route::Gateway;
use crate::tree::{Mesh, Tree, UNREACHED};

/// Next node where there is none.
const NOWHERE: u32 = u32::MAX;

/// Several labels of each destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Labels of each destination, above 1; the first has the path of least cost.
    pub paths: u16,
    /// Most by which the others are longer than the least, in parts of a million.
    pub detour_ppm: u32,
}

/// A link of a node that does not forward.
#[derive(Clone, Copy, Debug)]
pub struct LeafLink {
    /// Node at its end, which forwards.
    pub to: u32,
    /// Cost to that node, above 0.
    pub out: u64,
    /// Cost from that node, above 0.
    pub back: u64,
}

/// The links of a node that does not forward, in the order of their ends.
pub type Leaf = Vec<LeafLink>;

/// Next hops of one label of a destination.
#[derive(Default)]
pub struct Detours {
    costs: Vec<u64>,
    next: Vec<u32>,
    down: Vec<u64>,
    /// Hash of the label.
    label: u64,
}

impl Detours {
    /// Chooses next hops beside those of a tree that is at the moment of the mesh.
    ///
    /// `gateways` are those that the tree has followed, the label is given by the node where it ends and by
    /// its number among the labels that end there, and `most` gives the bound of a path's cost by the least one.
    pub fn follow(
        &mut self,
        mesh: &Mesh,
        tree: &Tree,
        gateways: &[Gateway],
        (end, number): (u32, u16),
        most: impl Fn(u64) -> u64,
    ) {
        let label = mixed(u64::from(end) << 16 | u64::from(number));
        self.label = label;
        let nodes = tree.costs().len();
        self.costs.clear();
        self.costs.resize(nodes, UNREACHED);
        self.next.clear();
        self.next.resize(nodes, NOWHERE);
        self.down.resize(nodes, UNREACHED);
        for &(node, cost) in gateways {
            self.down[node as usize] = cost;
        }
        for &node in tree.order() {
            let least = tree.costs()[node as usize];
            if least >= UNREACHED {
                break;
            }
            let most = most(least);
            let down = self.down[node as usize];
            let straight = (down <= most).then_some((end, down));
            let nearer = mesh.links(node).filter_map(|(to, cost)| {
                let is_nearer = tree.costs()[to as usize] < least;
                let whole = cost + self.costs[to as usize];
                (is_nearer && whole <= most).then_some((to, whole))
            });
            if let Some((next, cost)) = chosen(label, node, straight.into_iter().chain(nearer)) {
                self.next[node as usize] = next;
                self.costs[node as usize] = cost;
            }
        }
        for &(node, _) in gateways {
            self.down[node as usize] = UNREACHED;
        }
    }

    /// Next node of one that forwards and has a path.
    pub fn next(&self, node: u32) -> u32 {
        self.next[node as usize]
    }

    /// Next node of one that does not forward, by its least cost and the bound; `u32::MAX` for none.
    pub fn of_leaf(&self, leaf: &Leaf, tree: &Tree, node: u32, (least, most): (u64, u64)) -> u32 {
        let nearer = leaf.iter().filter_map(|link| {
            let is_nearer = tree.costs()[link.to as usize] < least;
            let whole = link.out + self.costs[link.to as usize];
            (is_nearer && whole <= most).then_some((link.to, whole))
        });
        chosen(self.label, node, nearer).map_or(NOWHERE, |(next, _)| next)
    }
}

/// The candidate of the highest weight for a label, by its hash, with the cost over it; of equal weights that
/// of the highest number.
fn chosen(
    label: u64,
    node: u32,
    candidates: impl Iterator<Item = (u32, u64)>,
) -> Option<(u32, u64)> {
    let weight = |next: u32| mixed(label ^ (u64::from(node) << 32 | u64::from(next)));
    candidates
        .map(|(next, cost)| ((weight(next), next), cost))
        .max_by_key(|candidate| candidate.0)
        .map(|((_, next), cost)| (next, cost))
}

/// A number of 64 bits mixed so that each bit of it depends on all: the finalizer of SplitMix64 (Steele, Lea
/// and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figure 16).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
