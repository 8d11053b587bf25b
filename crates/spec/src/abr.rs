//! ABR VCs, the ports that control their rates, and whether their MCRs find room.

use crate::check::{range, structure};
use crate::check_classes::refused;
use crate::{LinkSpec, NetworkSpec, NodeKind, ServiceClass, SourcePattern, SpecError, VcSpec};
use skycell_declare::{Context, Rule};

/// Thousandths of a cell a second times picoseconds between cells.
const MILLICELLS_PS: u64 = 1_000_000_000_000_000;

impl NetworkSpec {
    /// Refuses an ABR VC whose rate cannot be controlled.
    pub(crate) fn validate_abr(&self, i: usize, vc: &VcSpec) -> Result<(), SpecError> {
        let refuse = |key: &str, problem: &str| {
            let path = format!("vcs[{i}].{key}");
            Err(structure(path, problem))
        };
        let Some(abr) = &vc.abr else {
            if vc.class == ServiceClass::Abr {
                return refuse("abr", "a VC of class abr needs a rate control");
            }
            return Ok(());
        };
        if vc.class != ServiceClass::Abr {
            return refuse("abr", "belongs to a VC of class abr");
        }
        if vc.gfr.is_some() {
            return refuse(
                "gfr",
                "a VC of class abr has MCR by its rate control, and no GFR contract",
            );
        }
        if self.carries_packets(i) {
            return refuse("abr", "belongs to cells, and the VC carries packets");
        }
        let refusal = abr.check(&Context::default());
        refusal.map_err(|refusal| refused(refusal, &format!("vcs[{i}].abr")))?;
        let back = self.vcs.get(abr.return_vc as usize);
        let Some((back, theirs)) = back.and_then(|back| Some((back, back.abr?))) else {
            return refuse("abr.return_vc", "must be an ABR VC");
        };
        if theirs.return_vc as usize != i {
            return refuse("abr.return_vc", "the VC the other way names this one");
        }
        // A link on the way may lead to other nodes at other times; the next link says to which.
        let nodes = |path: &[u32]| -> Vec<u32> {
            let links = path
                .iter()
                .filter_map(|&link| self.links.get(link as usize));
            let last = links.clone().next_back().map(|link| link.to);
            links.map(|link| link.from).chain(last).collect()
        };
        let mirrors = |(there, back): (&[u32], &[u32])| {
            let mut mirrored = nodes(back);
            mirrored.reverse();
            nodes(there) == mirrored
        };
        let changes = |vc: &VcSpec| {
            let rerouting = vc.rerouting.as_ref();
            rerouting.map(|own| (own.times_ps.clone(), own.loses_cells))
        };
        if changes(vc) != changes(back) || !vc.paths().zip(back.paths()).all(mirrors) {
            let problem = "the VC the other way comes by the same nodes";
            return refuse("abr.return_vc", problem);
        }
        for &link in vc.paths().flatten() {
            let port = &self.links[link as usize];
            let is_cut = self.nodes[port.from as usize].vs_vd.is_some();
            if is_cut && port.port.scheduler.serves_vcs() {
                let problem =
                    "virtual sources order the cells of their VCs, and the scheduler does, too";
                return Err(structure(format!("links[{link}].port.scheduler"), problem));
            }
        }
        Ok(())
    }

    /// Refuses virtual sources and destinations beside switches.
    pub(crate) fn validate_vs_vd(&self) -> Result<(), SpecError> {
        for (i, node) in self.nodes.iter().enumerate() {
            let Some(vs_vd) = &node.vs_vd else { continue };
            let at = format!("nodes[{i}].vs_vd");
            if node.kind != NodeKind::Switch {
                return Err(structure(at, "switches cut the control loops of VCs"));
            }
            let refusal = vs_vd.check(&Context::default());
            refusal.map_err(|refusal| refused(refusal, &at))?;
        }
        Ok(())
    }

    /// Refuses an ABR VC's MCR that a link has no room for beside other MCRs and the rates of CBR sources
    /// (af-tm-0056, connection admission control). Without ABR VCs a link may be promised more than it has.
    pub(crate) fn validate_admission(&self) -> Result<(), SpecError> {
        // Thousandths of a cell a second, of the time between cells in picoseconds, which is rounded: at
        // least so many.
        let at_least = |interval_ps: u64| MILLICELLS_PS / interval_ps.saturating_add(1);
        let mcr_of = |vc: &VcSpec| match (&vc.abr, &vc.gfr) {
            (Some(abr), _) => abr.mcr_millicells,
            (None, Some(gfr)) => at_least(gfr.mcr_interval_ps),
            (None, None) => 0,
        };
        let promised: Vec<u64> = self.vcs.iter().map(mcr_of).collect();
        let of_abr = |vc: &VcSpec| vc.abr.map_or(0, |abr| abr.mcr_millicells);
        let of_abr: Vec<u64> = self.vcs.iter().map(of_abr).collect();
        let mut constant = vec![0; self.vcs.len()];
        for source in &self.sources {
            let vc = source.vc as usize;
            let is_policed = !self.vcs[vc].policing.is_empty();
            let is_constant = matches!(source.pattern, SourcePattern::Constant);
            if self.vcs[vc].class == ServiceClass::Cbr && is_constant && !is_policed {
                constant[vc] += at_least(source.cell_interval_ps);
            }
        }
        let cells = self.links.iter().enumerate();
        for (id, link) in cells.filter(|(_, link)| link.framing.is_none()) {
            let over = |rates: &[u64]| -> u64 {
                let all = self.vcs.iter().zip(rates);
                let crossing =
                    all.filter(|(vc, _)| vc.paths().flatten().any(|&link| link == id as u32));
                crossing.map(|(_, rate)| rate).sum()
            };
            let (mcrs, peaks) = (over(&promised), over(&constant));
            let of_abr = over(&of_abr);
            let room = MILLICELLS_PS / link.cell_time_ps;
            if of_abr > 0 && mcrs + peaks > room {
                let mut got = format!("MCRs of {mcrs} thousandths of a cell a second");
                if peaks > 0 {
                    got += &format!(" beside {peaks} of class cbr");
                }
                let allowed = format!("at most the link's rate, {room}");
                return Err(range(format!("links[{id}]"), got, &allowed));
            }
        }
        Ok(())
    }

    /// Refuses a rate algorithm where it has nothing to control, or no fixed rate to divide.
    pub(crate) fn validate_rate_algorithm(
        &self,
        link: &LinkSpec,
        path: &str,
    ) -> Result<(), SpecError> {
        let Some(algorithm) = &link.port.rate_algorithm else {
            return Ok(());
        };
        let at = format!("{path}.port.rate_algorithm");
        if self.nodes[link.from as usize].kind != NodeKind::Switch {
            return Err(structure(at, "switches control rates"));
        }
        let schedule = link.schedule.as_ref();
        if schedule.is_some_and(|schedule| !schedule.cell_times_ps.is_empty()) {
            return Err(structure(
                at,
                "divides a fixed rate, and the link's changes",
            ));
        }
        let Some(queue) = link.port.queue_of(ServiceClass::Abr) else {
            return Err(structure(at, "the port has no queue for abr"));
        };
        let context = Context {
            capacity_cells: link.port.queues[queue].capacity_cells,
            ..Context::default()
        };
        let refusal = algorithm.check(&context);
        refusal.map_err(|refusal| refused(refusal, &at))
    }
}
