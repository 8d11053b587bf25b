//! Early Packet Discard.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Discards the frames that begin while the queue is above a threshold: X > R.
///
/// Source: NASA/CR-1999-209158, ICCCN'97 section 5.1; 98-0876R1 section 4.1.
#[derive(Clone, Debug)]
pub struct Epd {
    /// R, cells.
    threshold: u32,
}

impl Epd {
    /// EPD with R = `threshold` cells.
    pub fn new(threshold: u32) -> Self {
        Epd { threshold }
    }
}

impl BufferPolicy for Epd {
    fn on_frame(&mut self, _vc: u32, view: &BufferView) -> Option<DiscardReason> {
        (view.queued > self.threshold).then_some(DiscardReason::AboveThreshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_discarded_above_the_threshold_and_not_at_it() {
        let mut epd = Epd::new(90);
        let view = |queued| BufferView {
            queued,
            vc_queued: 0,
            active_vcs: 1,
            capacity: 100,
            ..BufferView::default()
        };
        assert_eq!(epd.on_frame(0, &view(90)), None);
        assert_eq!(
            epd.on_frame(0, &view(91)),
            Some(DiscardReason::AboveThreshold)
        );
    }
}
