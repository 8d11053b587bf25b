//! The window that a receiver advertises, where it is not always the same.

use crate::auto_tuning::AutoTuning;
use crate::spec::{AdvertisedWindow, TcpSpec};
use skycell_units::Octets;

/// The rule of the receive window.
#[derive(Clone, Debug)]
pub(crate) enum ReceiveWindow {
    /// The octet after the last that the buffer has room for, which never moves back (4.4BSD).
    FreeBuffer(u64),
    /// rcv_ssthresh of Linux, which grows up to a constant.
    Growing(Octets),
    /// That, and what the application reads.
    AutoTuned(AutoTuning),
}

impl ReceiveWindow {
    /// As a connection begins; none where the window is always the same.
    pub(crate) fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        let window = match tcp.advertised_window {
            AdvertisedWindow::Constant => return None,
            AdvertisedWindow::FreeBuffer => ReceiveWindow::FreeBuffer(tcp.first_window()),
            AdvertisedWindow::Growing => ReceiveWindow::Growing(tcp.first_window()),
            AdvertisedWindow::AutoTuned => ReceiveWindow::AutoTuned(AutoTuning::new(tcp)),
        };
        Some(Box::new(window))
    }
}
