//! The TCP parameters of a run's flows, each kept once.

use skycell_spec::TcpSpec;
use std::sync::Arc;

/// How many different parameters are looked through.
const LOOKED_THROUGH: usize = 16;

/// TCP parameters, handed out to share: flows that agree in them find them in one place of memory.
#[derive(Debug, Default)]
pub struct SharedTcp(Vec<Arc<TcpSpec>>);

impl SharedTcp {
    /// `tcp`, shared with an earlier flow that has the same.
    pub(crate) fn share(&mut self, tcp: TcpSpec) -> Arc<TcpSpec> {
        let latest = self.0.iter().rev().take(LOOKED_THROUGH);
        if let Some(same) = latest.into_iter().find(|known| ***known == tcp) {
            return same.clone();
        }
        let tcp = Arc::new(tcp);
        self.0.push(tcp.clone());
        tcp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::spec;
    use skycell_spec::TrafficSpec;

    #[test]
    fn equal_parameters_are_kept_once() {
        let tcp = spec(TrafficSpec::Persistent, false).tcp;
        let other = TcpSpec {
            mss: tcp.mss + 1,
            ..tcp.clone()
        };
        let mut shared = SharedTcp::default();
        let [a, b, c] = [tcp.clone(), other, tcp].map(|tcp| shared.share(tcp));
        assert!(Arc::ptr_eq(&a, &c) && !Arc::ptr_eq(&a, &b));
        assert_eq!(b.mss, a.mss + 1);
    }
}
