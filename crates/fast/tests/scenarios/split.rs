//! Flows whose connections are split by proxies at routers.

use super::Dice;
use skycell_des::Stream;
use skycell_spec::*;

/// The same with some of the flows split, where they cross routers both ways; none where none does.
pub fn split(mut spec: NetworkSpec, seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "proxies"));
    let profiles: Vec<TcpSpec> = spec.flows.iter().map(|flow| flow.tcp.clone()).collect();
    for at in 0..spec.flows.len() {
        let flow = &spec.flows[at];
        let mut web_dice = Dice(Stream::new(seed, &format!("proxies of web users/{at}")));
        if matches!(flow.traffic, TrafficSpec::Web(_)) && web_dice.one_in(2) {
            continue;
        }
        let joined = |route: &[u32]| -> Vec<u32> {
            let inner = &route[..route.len() - 1];
            inner
                .iter()
                .map(|&vc| spec.vc_destination(vc as usize))
                .collect()
        };
        let (there, mut back) = (joined(&flow.forward), joined(&flow.reverse));
        back.reverse();
        let mut nodes = Vec::new();
        let mut from = 0;
        for node in there {
            // In the same order both ways, and each once.
            let found = back[from..].iter().position(|&other| other == node);
            if let Some(found) = found
                && back.iter().filter(|&&other| other == node).count() == 1
                && !dice.one_in(4)
            {
                nodes.push(node);
                from += found + 1;
            }
        }
        let mut rwnd = flow.tcp.rwnd;
        let peps = nodes.into_iter().map(|node| {
            let tcp = dice.pick(&profiles);
            let before = std::mem::replace(&mut rwnd, tcp.rwnd);
            PepSpec {
                node,
                buffer_octets: before + dice.pick(&[0, 1, 10_000, 1_000_000]),
                tcp,
            }
        });
        spec.flows[at].peps = peps.collect();
    }
    let is_split = spec.flows.iter().any(|flow| !flow.peps.is_empty());
    is_split.then_some(spec)
}
