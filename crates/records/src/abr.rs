//! The counters of an ABR VC's rate control.

use serde::Serialize;

/// RM cells of an ABR connection, and what its rate came to.
///
/// Forward RM cells travel on the VC itself, backward ones on the VC the other way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AbrRecord {
    /// Forward RM cells that the source has sent, in the rate and beside it.
    pub forward_sent: u64,
    /// Of those, beside it.
    pub forward_out_of_rate: u64,
    /// Forward RM cells that the destination has received.
    pub forward_received: u64,
    /// Backward RM cells that it has sent.
    pub backward_sent: u64,
    /// Backward RM cells that it has dropped because the next one came.
    pub backward_replaced: u64,
    /// Backward RM cells that wait there at the end of the run.
    pub backward_waiting: u64,
    /// Backward RM cells that the source has received.
    pub backward_received: u64,
    /// Backward RM cells that switches on the way have made (BECN); they are none of those that were sent back.
    pub becn_sent: u64,
    /// Of those received, such cells.
    pub becn_received: u64,
    /// RM cells of both connections that reached the VC's end: its own forward ones, and the backward
    /// ones of the connection the other way.
    pub rm_cells_delivered: u64,
    /// ACR at the end of the run, thousandths of a cell a second.
    pub acr_millicells: u64,
}
