//! ABR VCs, the ports that control their rates, and whether their MCRs find room.

use crate::check::{range, structure};
use crate::check_classes::refused;
use crate::{LinkSpec, NetworkSpec, NodeKind, ServiceClass, SpecError, VcSpec};
use skycell_declare::{Rule, Surroundings};

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
        if vc.rerouting.is_some() {
            return refuse(
                "rerouting",
                "RM cells come back over the switches that they crossed",
            );
        }
        if self.carries_packets(i) {
            return refuse("abr", "belongs to cells, and the VC carries packets");
        }
        let refusal = abr.check(&Surroundings::default());
        refusal.map_err(|refusal| refused(refusal, &format!("vcs[{i}].abr")))?;
        let back = self.vcs.get(abr.return_vc as usize);
        let Some((back, theirs)) = back.and_then(|back| Some((back, back.abr?))) else {
            return refuse("abr.return_vc", "must be an ABR VC");
        };
        if theirs.return_vc as usize != i {
            return refuse("abr.return_vc", "the VC the other way names this one");
        }
        let turns = |link: &u32| {
            let link = self.links.get(*link as usize);
            link.and_then(|link| link.schedule.as_ref())
                .is_some_and(|schedule| !schedule.to.is_empty())
        };
        if vc.path.iter().any(turns) {
            return refuse("abr", "its links lead to the same nodes all the time");
        }
        let nodes = |path: &[u32]| -> Vec<u32> {
            let links = path
                .iter()
                .filter_map(|&link| self.links.get(link as usize));
            let first = links.clone().take(1).map(|link| link.from);
            first.chain(links.map(|link| link.to)).collect()
        };
        let mut mirrored = nodes(&back.path);
        mirrored.reverse();
        if nodes(&vc.path) != mirrored {
            let problem = "the VC the other way comes by the same nodes";
            return refuse("abr.return_vc", problem);
        }
        Ok(())
    }

    /// Refuses MCRs that a link has no room for: af-tm-0056, connection admission control.
    pub(crate) fn validate_admission(&self) -> Result<(), SpecError> {
        for (id, link) in self
            .links
            .iter()
            .enumerate()
            .filter(|(_, l)| l.framing.is_none())
        {
            let crosses = |vc: &&VcSpec| vc.path.contains(&(id as u32));
            let promised = self.vcs.iter().filter(crosses).filter_map(|vc| vc.abr);
            let promised: u64 = promised.map(|abr| abr.mcr_millicells).sum();
            // Thousandths of a cell a second, of a cell time in picoseconds.
            let room = 1_000_000_000_000_000 / link.cell_time_ps;
            if promised > room {
                let path = format!("links[{id}]");
                let got = format!("MCRs of {promised} thousandths of a cell a second");
                return Err(range(
                    path,
                    got,
                    &format!("at most the link's rate, {room}"),
                ));
            }
        }
        Ok(())
    }

    /// Refuses a rate algorithm where it has nothing to control, or no fixed rate to divide.
    pub(crate) fn validate_rate_algorithm(
        &self,
        i: usize,
        link: &LinkSpec,
    ) -> Result<(), SpecError> {
        let Some(algorithm) = &link.port.rate_algorithm else {
            return Ok(());
        };
        let at = format!("links[{i}].port.rate_algorithm");
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
        let around = Surroundings {
            capacity_cells: link.port.queues[queue].capacity_cells,
            ..Surroundings::default()
        };
        let refusal = algorithm.check(&around);
        refusal.map_err(|refusal| refused(refusal, &at))
    }
}
